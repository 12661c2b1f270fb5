"""Samples are where their distribution has them, and follow from the seed alone."""

import math
import warnings

import numpy as np
import pytest
from scipy import stats

import kalaba as kb
from kalaba.studies.sampling import drawn

RULES = (kb.studies.Random(), kb.studies.LatinHypercube(), kb.studies.Sobol())
COUNT = 1024
CRITICAL = 1.95 / math.sqrt(COUNT)  # of Kolmogorov and Smirnov: exceeded by one seed in a thousand


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_samples_have_the_distribution_of_their_variable(rule):
    variables = (kb.uniform(3, 5), kb.normal(1, 2), kb.log_uniform(0.1, 10), kb.choice([1, 2, 4]), kb.spaced(0, 1, 3))
    values = drawn(rule, variables, COUNT, 1)
    known = (stats.uniform(3, 2), stats.norm(1, 2), stats.loguniform(0.1, 10))
    for column, distribution in zip(values.T, known, strict=False):
        assert stats.kstest(column, distribution.cdf).statistic < CRITICAL
    for column, options in ((values[:, 3], {1, 2, 4}), (values[:, 4], {0.0, 0.5, 1.0})):
        numbers, counts = np.unique(column, return_counts=True)
        assert set(numbers) == options
        assert abs(counts / COUNT - 1 / 3).max() < 4 * math.sqrt(2 / 9 / COUNT)  # four deviations


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: type(rule).__name__)
def test_the_same_seed_gives_the_same_samples_and_another_one_others(rule):
    one, again, other = (drawn(rule, (kb.uniform(0, 1),) * 2, 16, seed) for seed in (5, 5, 6))
    assert one.tobytes() == again.tobytes()
    assert (one != other).all()


def test_samples_of_a_smaller_random_study_are_the_first_of_a_larger_one():
    small, large = (drawn(kb.studies.Random(), (kb.uniform(0, 1),) * 3, n, 1) for n in (10, 100))
    assert small.tobytes() == large[:10].tobytes()


def test_a_latin_hypercube_has_one_sample_in_each_slice():
    values = drawn(kb.studies.LatinHypercube(), (kb.uniform(0, 50),) * 2, 50, 3)
    for column in values.T:
        assert sorted(column.astype(int)) == list(range(50))


def test_a_grid_has_every_combination_and_the_last_changes_fastest():
    study = kb.Study("four-bar", {"a": kb.choice([3, 1]), "b": kb.spaced(0, 1, 3)}, {"x": "final(t)"})
    expected = [[3, 0], [3, 0.5], [3, 1], [1, 0], [1, 0.5], [1, 1]]
    assert study.design.tolist() == expected
    assert study.count == 6


def test_sets_for_indices_differ_in_one_variable_each():
    rule = kb.studies.SobolIndices(8)
    values = drawn(rule, (kb.uniform(0, 1),) * 3, rule.count((kb.uniform(0, 1),) * 3, None), 1)
    A, B, *mixed = values.reshape(5, 8, 3)
    for column, both in enumerate(mixed):
        assert (both[:, column] == B[:, column]).all()
        others = [i for i in range(3) if i != column]
        assert (both[:, others] == A[:, others]).all()


def test_no_quantile_is_infinite():
    for variable in (kb.normal(0, 1), kb.log_uniform(1e-300, 1e300), kb.uniform(-1e300, 0), kb.choice([1.0])):
        assert np.isfinite(drawn(kb.studies.Random(), (variable,), 1000, 1)).all()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: kb.uniform(5, 3), "the smaller number first"),
        (lambda: kb.uniform(-1.7e308, 1.7e308), "expected finite numbers"),
        (lambda: kb.log_uniform(0, 3), "above 0"),
        (lambda: kb.normal(0, 0), "deviation above 0"),
        (lambda: kb.normal(math.inf, 1), "finite"),
        (lambda: kb.choice([]), "from 1 to"),
        (lambda: kb.choice([math.inf]), "finite"),
        (lambda: kb.spaced(0, 1, 1), "whole number from 2"),
        (lambda: kb.studies.SobolIndices(3), "power of 2"),
    ],
)
def test_what_cannot_be_varied_over_is_refused(make, words):
    with pytest.raises(kb.KalabaError, match=words):
        make()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sampling": kb.studies.Grid()}, "a grid has values"),
        ({"vary": {"a": kb.choice([1, 2])}, "sampling": kb.studies.Grid(), "samples": 3}, "2 combinations, got 3"),
        ({"sampling": kb.studies.SobolIndices(4), "samples": 10}, "take 12 samples"),
        ({"samples": 0}, "from 1 to"),
        ({"samples": 10**9}, "from 1 to"),
        ({"vary": {}}, "numbers to vary"),
        ({"measure": {"status": "final(t)"}}, "cannot be the name"),
        ({"measure": {"a": "final(t)"}}, "cannot be the name"),
        ({"measure": {"two words": "final(t)"}}, "cannot be the name"),
        ({"seed": -1}, "seed"),
        ({"measure": {"x": "peek(t)"}}, "did you mean peak"),
    ],
)
def test_a_study_that_cannot_be_is_refused(settings, words):
    usual = {"vary": {"a": kb.uniform(0, 1)}, "measure": {"x": "final(t)"}}
    with warnings.catch_warnings(), pytest.raises(kb.KalabaError, match=words):
        kb.Study("four-bar", **{**usual, **settings})
