from dataclasses import replace

import pytest

from kalaba.errors import IntegrationError
from kalaba.steppers import ButcherTableau, DormandPrince, RungeKutta4
from kalaba.steppers.tableau import _density, _trees


def test_rooted_trees_are_all_there():
    assert [len(_trees(size)) for size in range(1, 8)] == [1, 1, 2, 4, 9, 20, 48]  # Cayley's numbers
    assert sorted(_density(tree) for tree in _trees(4)) == [4, 8, 12, 24]


@pytest.mark.parametrize("tableau", [RungeKutta4.tableau, DormandPrince.tableau])
def test_a_wrong_coefficient_is_refused(tableau):
    weights = (tableau.weights[0] + 1e-9, *tableau.weights[1:])
    with pytest.raises(IntegrationError, match="weights: a condition of order 1"):
        replace(tableau, weights=weights)


def test_a_wrong_stage_coefficient_is_refused():
    with pytest.raises(IntegrationError, match=r"stage 2: the coefficients of a sum to 0\.4, but c is 0\.5"):
        replace(RungeKutta4.tableau, matrix=((), (0.4,), (0.0, 0.5), (0.0, 0.0, 1.0)))


def test_an_order_not_reached_is_refused():
    with pytest.raises(IntegrationError, match="order 5"):
        replace(RungeKutta4.tableau, order=5)


def test_a_wrong_error_estimate_is_refused():
    with pytest.raises(IntegrationError, match="embedded: a condition of order 1"):
        replace(DormandPrince.tableau, embedded=(0.1, *DormandPrince.tableau.embedded[1:]))


def test_a_wrong_dense_output_is_refused():
    rows = ((1.0, -2.0, 1.0, 0.0), *DormandPrince.tableau.dense[1:])
    with pytest.raises(IntegrationError, match=r"dense output at 0\.3"):
        replace(DormandPrince.tableau, dense=rows)


def test_dense_output_ends_at_the_step():
    assert DormandPrince.tableau.dense_weights(1.0) == pytest.approx(DormandPrince.tableau.weights, abs=1e-14)


def test_rows_of_the_wrong_length_are_refused():
    with pytest.raises(IntegrationError, match="needs rows of 0 to 1 coefficients"):
        ButcherTableau(nodes=(0.0, 0.5), matrix=((), ()), weights=(0.0, 1.0), order=1)
    with pytest.raises(IntegrationError, match="need one γ above 0"):
        ButcherTableau(nodes=(0.0, 0.5), matrix=((), (0.5, 0.0)), weights=(0.0, 1.0), order=1)
    with pytest.raises(IntegrationError, match="weights of a tableau of 2 stages has 1 entries"):
        ButcherTableau(nodes=(0.0, 0.5), matrix=((), (0.5,)), weights=(1.0,), order=1)
