"""Rows chosen by the compiled loop, beside the same choice in NumPy; and what becomes of rows that are left out."""

import numpy as np
import pytest

from kalaba.compiled import Integration, Kernels, Schedule, Status
from kalaba.constrain import rows
from kalaba.constrain.rows import choose_rows, hand_up_rows, metric_factor, unit_rows
from kalaba.steppers import RungeKutta4
from kalaba.tolerances import ROW_FADED, ROW_INDEPENDENT, ROW_NOTHING, ROW_VANISHED
from unit.steppers.sample_kernels import code, pendulum, pendulum_lost, pendulum_project, slots, still_motion, told_rows

HANGING = (0.6, -0.8, 0.8, 0.6)  # on the circle, at speed 1 along it


def random_mass(rng, n, decades=0.0):
    W = rng.normal(size=(n, n))
    units = 10.0 ** rng.uniform(-decades, decades, size=n)
    return (W @ W.T + 0.1 * np.eye(n)) * np.outer(units, units)


def random_rows(rng, m, n, rank, decades):
    A = rng.normal(size=(m, rank)) @ rng.normal(size=(rank, n))
    return A * 10.0 ** rng.uniform(-decades, decades, size=(m, 1))


def near_rows(rng, m, n):
    """Rows that lie within 1e-9 to 1e-2 of a plane, some of them too near to count."""
    A = random_rows(rng, m, n, 2, 0.0)
    return A + 10.0 ** rng.uniform(-9, -2, size=(m, 1)) * rng.normal(size=(m, n))


def sets(seed):
    """Rows of many kinds with their mass matrix: plain, dependent, in mixed units, weak, vanished, nearly dependent."""
    rng = np.random.default_rng(seed)
    for m, n, rank, decades in [(1, 1, 1, 0), (4, 6, 4, 0), (7, 5, 3, 0), (9, 8, 5, 2), (12, 6, 6, 5), (6, 9, 4, 9)]:
        yield random_mass(rng, n, decades / 3), random_rows(rng, m, n, rank, decades)
    yield random_mass(rng, 7), near_rows(rng, 10, 7)
    weak = random_rows(rng, 8, 6, 4, 0.0)
    weak[::2] *= 10.0 ** np.array([[-13.0], [-7.0], [-4.0], [-1.5]])
    yield random_mass(rng, 6), weak


def compiled_choice(mass, matrix, **words):
    """What the loop takes at the start of a run, with kernels that answer M and A."""
    (m, n), values = matrix.shape, np.concatenate([mass.ravel(), matrix.T.ravel()])
    rows_kernel = code(told_rows, 1, len(values), *values)
    kernels = Kernels(slots(n, n, 0, m), motion=code(still_motion, 1, n, m), rows=rows_kernel, **words)
    integration = Integration(kernels, RungeKutta4(0.1), Schedule(1.0), np.zeros(2 * n))
    integration.advance(steps=1)
    return integration


@pytest.mark.parametrize("seed", range(12))
def test_the_loop_takes_the_rows_that_numpy_takes(seed):
    for M, A in sets(seed):
        mask = np.zeros(len(A))
        rank = choose_rows(M, A, mask)
        integration = compiled_choice(M, A)
        assert integration.mask[:, 0].tolist() == mask.tolist()
        assert integration.trajectory().choices[0].rank == rank


@pytest.mark.parametrize("free_rows", [0, 1, 2])
@pytest.mark.parametrize("seed", range(6))
def test_limbs_hand_up_in_the_loop_what_they_do_in_numpy(seed, free_rows):
    """Two limbs of two rows and two columns each beside a hub of two; one row per limb is met by the hub alone."""
    rng = np.random.default_rng(seed)
    M, A = np.diag(rng.uniform(0.5, 2.0, size=6)), rng.normal(size=(4, 6))
    A[[1, 3], :4] *= 10.0 ** rng.uniform(-5, -3, size=(2, 1))
    tables = tuple(np.array(part) for part in ([0, 2, 4], [0, 1, 2, 3], [0, 2, 4], [0, 1, 2, 3]))
    mask, weights = np.zeros(4), np.zeros(4)
    choose_rows(M, A, mask)
    hand_up_rows(unit_rows(metric_factor(M), A, weights).ravel(), mask, (tables, free_rows), 6)
    assert np.sum(mask > 1.0) == free_rows
    assert compiled_choice(M, A, limbs=(tables, free_rows)).mask[:, 0].tolist() == mask.tolist()


@pytest.mark.parametrize("seed", range(12))
def test_rows_are_scaled_and_weighed_as_in_numpy(seed):
    for M, A in sets(seed):
        m, n = A.shape
        factor, found, weights, least = M.ravel().copy(), A.ravel().copy(), np.zeros(m), np.full(m, ROW_NOTHING)
        assert rows.factorise(factor, n)
        lower = metric_factor(M)
        np.testing.assert_allclose(np.tril(factor.reshape(n, n)), lower, rtol=1e-9, atol=1e-12 * np.abs(lower).max())
        rows.scale_rows(factor, found, weights, least, m, n)
        wanted_weights = np.zeros(m)
        wanted = unit_rows(lower, A, wanted_weights)
        np.testing.assert_allclose(found.reshape(m, n), wanted, rtol=0, atol=1e-10)
        np.testing.assert_allclose(weights, wanted_weights, rtol=1e-10)


def test_a_row_is_not_stretched_to_length_one_only_where_it_has_vanished():
    """ROW_VANISHED is a ratio of lengths, of which squares are summed."""
    for size in (0.3, 1e-2, 1e-4, 2 * ROW_VANISHED, 0.1 * ROW_VANISHED):
        A = np.array([[1.0, 0.0], [0.0, size]])
        for found in (scaled(A)[0], unit_rows(np.eye(2), A, np.zeros(2))):
            assert found[1, 1] == pytest.approx(min(1.0, size / ROW_VANISHED), rel=1e-12)


def scaled(matrix):
    m, n = matrix.shape
    found, weights = matrix.ravel().copy(), np.zeros(m)
    rows.scale_rows(np.eye(n).ravel(), found, weights, np.full(m, ROW_NOTHING), m, n)
    return found.reshape(m, n), weights


def test_strength_counts_from_a_tenth_of_the_longest_row_on():
    for size, weight in ((1.0, 1.0), (0.2, 1.0), (0.05, 0.5), (1e-4, 1e-3), (1e-9, 1e-5)):
        _, weights = scaled(np.array([[0.0, 2.0], [2.0 * size, 0.0]]))
        assert weights[1] == pytest.approx(weight, rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_rows_taken_are_orthonormal_even_if_they_were_near(seed):
    """Twice is enough: once would leave 1e-16 over the distance, some 1e-10 here."""
    rng = np.random.default_rng(seed)
    A = random_rows(rng, 6, 8, 3, 0.0)
    A[3:] = A[:3] + 1e-6 * rng.normal(size=(3, 8))
    found, weights = scaled(A)
    flat, mask = found.ravel().copy(), np.zeros(6)
    while (row := rows.farthest_row(flat, weights, mask, 6, 8)) >= 0:
        rows.take_row(flat, mask, 6, 8, row)
    assert mask.sum() == 6
    taken = flat.reshape(6, 8)
    assert np.abs(taken @ taken.T - np.eye(6)).max() < 1e-14


@pytest.mark.parametrize("distance", [0.3 * ROW_INDEPENDENT, 3 * ROW_INDEPENDENT])
def test_the_loop_and_numpy_draw_the_same_line(distance):
    A = np.array([[1.0, 0.0, 0.0], [1.0, distance, 0.0]])
    mask = np.zeros(2)
    assert choose_rows(np.eye(3), A, mask) == (1 if distance < ROW_INDEPENDENT else 2)
    assert compiled_choice(np.eye(3), A).mask[:, 0].tolist() == mask.tolist()


def test_a_mass_matrix_that_is_singular_but_for_rounding_is_told_by_both():
    for smallest, status in ((1e-13, Status.RUNNING), (1e-15, Status.SINGULAR)):
        M = np.array([[1.0, 1.0], [1.0, 1.0 + smallest]])
        assert (metric_factor(M) is None) == (status is Status.SINGULAR)
        assert compiled_choice(M, np.array([[1.0, 0.0]])).status[0] is status


@pytest.mark.parametrize(("shrunk", "is_kept"), [(0.1 * ROW_FADED, False), (10 * ROW_FADED, True)])
def test_a_row_that_was_longer_has_faded(shrunk, is_kept):
    """Of the largest entry that it ever had: another row, which is as small from the start, stays."""
    A = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]])
    integration = compiled_choice(np.eye(3), A)
    assert integration.mask[:, 0].tolist() == [1.0, 1.0]
    store = integration._kernels.rows.store
    first = 2 + 9  # after lanes, count and M; A column by column
    store[first : first + 6, 0] = (A * shrunk).T.ravel()
    integration._workspace.arrays["rank"][:] = -1  # to be chosen again
    integration.advance(steps=1)
    assert integration.mask[:, 0].tolist() == [float(is_kept)] * 2
    fresh = compiled_choice(np.eye(3), A * shrunk)
    assert fresh.mask[:, 0].tolist() == [1.0, 1.0]


def pendulum_run(kernels, end=0.05):
    integration = Integration(kernels, RungeKutta4(0.001), Schedule(end), HANGING)
    integration.advance()
    return integration.trajectory()


@pytest.mark.parametrize(("offset", "status"), [(1e-8, Status.INCONSISTENT), (1e-10, Status.DONE)])
def test_a_row_left_out_contradicts_the_others_from_1e_9_on(offset, status):
    trajectory = pendulum_run(pendulum(offset=offset / 3))  # the row is three times the gap
    assert trajectory.status is status
    assert trajectory.row == (2 if status is Status.INCONSISTENT else -1)


@pytest.mark.parametrize(("residual", "status"), [(1e-8, Status.RESIDUAL), (1e-10, Status.DONE)])
def test_a_projection_may_leave_1e_9(residual, status):
    assert pendulum_run(pendulum(project=code(pendulum_lost, 1, residual))).status is status


@pytest.mark.parametrize(("slip", "status"), [(1e-5, Status.INCONSISTENT), (1e-7, Status.DONE)])
def test_rows_that_agree_in_value_may_contradict_in_speed(slip, status):
    """Of the largest speed, at least 1: ROW_SPEED_CLOSED."""
    trajectory = pendulum_run(pendulum(project=code(pendulum_project, 1, 0.0, slip)))
    assert trajectory.status is status
    assert trajectory.row == (2 if status is Status.INCONSISTENT else -1)
