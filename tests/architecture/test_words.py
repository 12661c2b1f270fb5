"""Messages read right: counts go with their nouns, and a remedy speaks only of what there is."""

import ast
import re
from pathlib import Path

import pytest

from architecture.source_tree import label, source_files
from kalaba.plant import failures
from kalaba.units import counted

AFTER_A_COUNT = re.compile(r" (?:[a-z]+ )?[a-z]{3,}s\b")
NEVER_ONE = {  # a count that is followed by a plural, and why it cannot be 1 or is written with care
    "control/allocation/min_max.py": "some of several motors",
    "cooperate/grasp.py": "more bodies than one",
    "export/tex.py": "parts of a long matrix",
    "kinematics/tree/closed_form.py": "hinges of an arm; a verb follows",
    "steppers/tableau.py": "the entries of a faulty tableau",
}


def plain_counts(text: str) -> list[str]:
    """Places of an f-string where the length of something stands before a plural."""
    places = []
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.JoinedStr):
            for value, after in zip(node.values, node.values[1:], strict=False):
                is_length = isinstance(value, ast.FormattedValue) and ast.unparse(value.value).startswith("len(")
                if is_length and isinstance(after, ast.Constant) and AFTER_A_COUNT.match(after.value):
                    places.append(f"{ast.unparse(value.value)}{after.value}")
    return places


@pytest.mark.parametrize("path", source_files(), ids=label)
def test_lengths_before_a_plural_are_counted(path: Path):
    places = plain_counts(path.read_text(encoding="utf-8"))
    assert places == [] or label(path) in NEVER_ONE


def test_a_plain_count_is_found():
    assert plain_counts('f"{len(x)} rows of rank {r}"') == ["len(x) rows of rank "]
    assert plain_counts("""f"{counted(len(x), 'row')} of rank {r}, {len(x)} x {len(y)}" """) == []


@pytest.mark.parametrize(
    ("count", "noun", "words"),
    [(1, "row", "1 row"), (0, "row", "0 rows"), (2, "body", "2 bodies"), (1, "body", "1 body"), (3, "key", "3 keys")],
)
def test_counts_go_with_their_nouns(count, noun, words):
    assert counted(count, noun) == words


def test_a_failure_speaks_only_of_what_there_is():
    assert failures.NOT_FINITE.words("", "", "step", "") == "the state is no longer finite. Try a smaller step."
    with_law = failures.NOT_FINITE.words("", "", "step", "control law")
    assert with_law == "the state is no longer finite. Try a smaller step, or check the control law."
    nameless = failures.INCONSISTENT.words("", "", "step", "")
    assert nameless == "no motion obeys all rows; a row contradicts the others. Remove one of them."
    assert "pin.x contradicts the others" in failures.INCONSISTENT.words("", "pin.x", "step", "")
