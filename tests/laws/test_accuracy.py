"""No run of random machines, speeds and steps is wrong without a word, and few right ones are warned of."""

import pytest

from accuracy_study import Case, study
from study_machines import STRUCTURES

MOST_WARNED = 0.02  # of the runs that are right
FEW, MANY = 10, 250  # runs per kind of machine


def cases(kind: str, count: int) -> list[Case]:
    first = list(STRUCTURES).index(kind)
    return list(study(range(first, first + count * len(STRUCTURES), len(STRUCTURES))))


def silent(runs: list[Case]) -> list[Case]:
    """Those that are wrong, or that nothing can tell right from wrong, and said nothing."""
    return [case for case in runs if case.outcome in {"wrong, silent", "no truth, silent"}]


@pytest.mark.parametrize("kind", STRUCTURES)
def test_no_run_is_wrong_without_a_word(kind):
    runs = cases(kind, FEW)
    assert len(runs) >= FEW - 1
    assert silent(runs) == []
    assert [case for case in runs if case.outcome == "right, warned"] == []


@pytest.mark.long
@pytest.mark.parametrize("kind", STRUCTURES)
def test_no_run_of_many_is_wrong_without_a_word(kind):
    runs = cases(kind, MANY)
    assert silent(runs) == []
    right = [case for case in runs if case.outcome.startswith("right")]
    assert sum(case.outcome == "right, warned" for case in right) <= MOST_WARNED * len(right)
