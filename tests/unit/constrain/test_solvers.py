"""All ways to solve agree, on random problems with dependent rows and with massless directions."""

import numpy as np
import pytest

from kalaba.constrain.solvers import KKT, MaskedLDL, NullSpace, Problem, UdwadiaKalaba, is_singular, mass_weight

SOLVERS = (MaskedLDL(), UdwadiaKalaba(), KKT(), NullSpace())
AGREE = 1e-8


def random_problem(seed: int, massless: int = 0, dependent: int = 0) -> Problem:
    """Rows that are consistent: b = A a for some a; massless directions are held by rows."""
    rng = np.random.default_rng(seed)
    n, m = 8, 4
    B = rng.normal(size=(n, n - massless))
    M = B @ B.T
    A = rng.normal(size=(m, n))
    A = np.vstack([A, rng.normal(size=(dependent, m)) @ A])[rng.permutation(m + dependent)]
    return Problem(M, rng.normal(size=n), A, A @ rng.normal(size=n))


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
@pytest.mark.parametrize("massless", [0, 1, 3])
@pytest.mark.parametrize("dependent", [0, 1, 3])
@pytest.mark.parametrize("seed", range(3))
def test_the_motion_obeys_newton_the_rows_and_dalembert(solver, massless, dependent, seed):
    problem = random_problem(seed, massless, dependent)
    M, Q, A, b = problem
    acceleration, force = solver.solve(problem)
    size = 1 + np.abs(acceleration).max()
    assert A @ acceleration == pytest.approx(b, abs=AGREE * size)
    assert M @ acceleration - Q - force == pytest.approx(np.zeros(8), abs=AGREE * size)
    tangent = np.linalg.svd(A)[2][4:]
    assert tangent @ force == pytest.approx(np.zeros(4), abs=AGREE * size)  # no virtual work


@pytest.mark.parametrize("massless", [0, 2])
@pytest.mark.parametrize("dependent", [0, 2])
@pytest.mark.parametrize("seed", range(5))
def test_all_solvers_agree(massless, dependent, seed):
    problem = random_problem(seed, massless, dependent)
    first, *others = (solver.solve(problem) for solver in SOLVERS)
    for other in others:
        assert other.acceleration == pytest.approx(first.acceleration, rel=1e-7, abs=1e-7)
        assert other.constraint_force == pytest.approx(first.constraint_force, rel=1e-7, abs=1e-7)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
def test_without_rows_it_is_newton_alone(solver):
    M, Q, *_ = random_problem(1)
    acceleration, force = solver.solve(Problem(M, Q, np.zeros((0, 8)), np.zeros(0)))
    assert acceleration == pytest.approx(np.linalg.solve(M, Q), rel=1e-7)
    assert force == pytest.approx(np.zeros(8), abs=AGREE)


@pytest.mark.parametrize("factor", [1e-3, 1.0, 1e3])
def test_the_motion_of_a_singular_mass_does_not_depend_on_the_weight(factor):
    """M + w AᵀA and Q + w Aᵀb in the places of M and Q: the same motion for every w > 0."""
    M, Q, A, b = problem = random_problem(2, massless=2, dependent=1)
    w = factor * mass_weight(M, A)
    filled = Problem(M + w * A.T @ A, Q + w * A.T @ b, A, b)
    expected = UdwadiaKalaba().solve(problem).acceleration
    assert UdwadiaKalaba().solve(filled).acceleration == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_the_literal_equation_is_gauss_least_constraint():
    """Of all accelerations that obey the rows, the one nearest to the free one in the metric of M."""
    problem = random_problem(3, dependent=1)
    M, Q, A, _ = problem
    acceleration = UdwadiaKalaba().solve(problem).acceleration
    free = np.linalg.solve(M, Q)
    least = (acceleration - free) @ M @ (acceleration - free)
    rng = np.random.default_rng(0)
    tangent = np.linalg.svd(A)[2][4:].T
    for _ in range(20):
        other = acceleration + tangent @ rng.normal(size=4) * 0.1
        assert (other - free) @ M @ (other - free) > least


def test_a_singular_mass_is_told_apart_from_a_small_one():
    assert is_singular(np.diag([1.0, 0.0]))
    assert is_singular(np.ones((2, 2)))
    assert not is_singular(np.diag([1e6, 1e-6]))  # units, not rank
    assert not is_singular(np.zeros((0, 0)))
    assert is_singular(np.zeros((2, 2)))


def test_units_of_the_rows_do_not_change_the_motion():
    M, Q, A, b = problem = random_problem(4, dependent=2)
    scale = np.array([1e3, 1.0, 1e-3, 1.0, 10.0, 0.1])
    for solver in (MaskedLDL(), UdwadiaKalaba(), NullSpace()):
        expected = solver.solve(problem).acceleration
        found = solver.solve(Problem(M, Q, scale[:, None] * A, scale * b)).acceleration
        assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("sizes", [(1.0, 1.0, 1.0), (1e-9, 1.0, 1e5), (1e-12, 1e-18, 1e-15), (1e12, 1e9, 1e15)])
def test_whether_a_mass_matrix_is_singular_does_not_depend_on_units(sizes):
    units = np.sqrt(np.outer(sizes, sizes))
    M = np.array([[2.0, 0.5, 0.1], [0.5, 1.0, 0.3], [0.1, 0.3, 1.5]])
    assert not is_singular(M * units)
    lost = np.array([1.0, -2.0, 1.0])  # a motion without inertia
    T = np.linalg.svd(lost[None])[2][1:]
    assert is_singular(T.T @ T * units)
