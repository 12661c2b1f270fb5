"""The one rank decision: right rank, good rows, in any order and any unit."""

import numpy as np
import pytest

from kalaba.constrain.rows import (
    Sizes,
    choose_rows,
    dependencies,
    hand_up_rows,
    independent_rows,
    pivots,
    take_own_rows,
)
from kalaba.tolerances import LIMB_MEETS, ROW_NOTHING

RNG = np.random.default_rng(20240617)
FIRST = RNG.bit_generator.state


def random_mass(n):
    W = RNG.normal(size=(n, n))
    return W @ W.T + 0.1 * np.eye(n)


@pytest.fixture(autouse=True)
def own_numbers():
    """Every test draws the same numbers, whatever ran before it."""
    RNG.bit_generator.state = FIRST


def random_rows(m, n, rank):
    return RNG.normal(size=(m, rank)) @ RNG.normal(size=(rank, n))


def kept_condition(mass, matrix, mask):
    """Condition of the kept rows in the metric in which forces are computed, each of length 1."""
    B = np.linalg.solve(np.linalg.cholesky(mass), matrix[mask > 0].T).T
    B /= np.linalg.norm(B, axis=1, keepdims=True)
    return np.linalg.cond(B)


@pytest.mark.parametrize(("m", "n", "rank"), [(1, 1, 1), (3, 5, 3), (5, 3, 3), (12, 12, 7), (20, 8, 5), (30, 40, 25)])
def test_rank_of_random_sets_is_found_in_any_order(m, n, rank):
    M, A = random_mass(n), random_rows(m, n, rank)
    for _ in range(5):
        mask = np.full(m, 7.0)
        assert choose_rows(M, A[RNG.permutation(m)], mask) == rank
        assert set(mask) <= {0.0, 1.0}
        assert mask.sum() == rank


def test_a_hundred_rows_of_rank_sixty_lose_no_digits_in_any_order():
    """Against the SVD: the acceleration b = A x by the kept rows alone, to 1e-11."""
    n, m, rank = 70, 100, 60
    M, A = random_mass(n), random_rows(m, n, rank)
    b = A @ RNG.normal(size=n)
    L = np.linalg.cholesky(M)
    exact = np.linalg.solve(L.T, np.linalg.pinv(A @ np.linalg.inv(L.T), rcond=1e-10) @ b)
    for order in (np.arange(m), RNG.permutation(m)):
        mask = np.zeros(m)
        assert choose_rows(M, A[order], mask) == rank
        kept, rhs = A[order][mask > 0], b[order][mask > 0]
        G = kept @ np.linalg.solve(M, kept.T)
        found = np.linalg.solve(M, kept.T @ np.linalg.solve(G, rhs))
        assert np.abs(found - exact).max() < 1e-11 * np.abs(exact).max()


def test_scaling_rows_over_six_decades_changes_no_rank_and_keeps_good_rows():
    M, A = random_mass(12), random_rows(18, 12, 9)
    for _ in range(20):
        scaled = A * 10.0 ** RNG.uniform(-3, 3, size=(18, 1))
        mask = np.zeros(18)
        assert choose_rows(M, scaled, mask) == 9
        assert kept_condition(M, scaled, mask) < 1e5  # plain greedy: some 1e2; strength weighs in


def test_a_vanished_row_is_left_out():
    A = np.array([[1e-14, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    mask = np.zeros(3)
    assert choose_rows(np.eye(3), A, mask) == 2
    assert mask.tolist() == [0.0, 1.0, 1.0]


def test_no_row_is_kept_where_all_have_vanished():
    mask = np.ones(2)
    assert choose_rows(np.eye(3), np.zeros((2, 3)), mask) == 0
    assert mask.tolist() == [0.0, 0.0]


def test_a_weak_row_makes_way_for_a_strong_one():
    A = np.array([[0.01, 0.0], [1.0, 0.0]])
    mask = np.zeros(2)
    assert choose_rows(np.eye(2), A, mask) == 1
    assert mask.tolist() == [0.0, 1.0]


def test_of_equal_rows_the_first_is_kept():
    A = np.array([[1.0, 2.0], [1.0 + 1e-15, 2.0], [0.97, 1.94]])
    mask = np.zeros(3)
    assert choose_rows(np.eye(2), A, mask) == 1
    assert mask.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(("distance", "rank"), [(1e-13, 1), (1e-8, 1), (1e-6, 2), (1e-3, 2)])
def test_rows_nearer_than_1e_7_count_as_dependent(distance, rank):
    A = np.array([[1.0, 0.0], [1.0, distance]])
    assert choose_rows(np.eye(2), A, np.zeros(2)) == rank


@pytest.mark.parametrize("mass", [np.diag([1.0, -1.0]), np.zeros((2, 2)), np.ones((2, 2)), np.full((2, 2), np.nan)])
def test_a_mass_matrix_that_is_not_positive_definite_is_told(mass):
    mask = np.ones(1)
    assert choose_rows(mass, np.ones((1, 2)), mask) == -1
    assert mask.tolist() == [0.0]


def test_no_rows_have_rank_zero():
    assert choose_rows(np.eye(2), np.zeros((0, 2)), np.zeros(0)) == 0


def test_arguments_other_than_the_mask_are_left_alone():
    M, A = random_mass(4), random_rows(5, 4, 2)
    before = M.copy(), A.copy()
    choose_rows(M, A, np.zeros(5))
    assert np.array_equal(before[0], M)
    assert np.array_equal(before[1], A)


def test_dependencies_give_the_rows_left_out():
    M, A = random_mass(8), random_rows(9, 8, 5)
    mask = np.zeros(9)
    choose_rows(M, A, mask)
    C = dependencies(M, A, mask)
    assert C.shape == (4, 5)
    np.testing.assert_allclose(C @ A[mask > 0], A[mask == 0], atol=1e-11)  # 1e-15 times a condition of some 1e3


@pytest.mark.parametrize(("m", "n", "rank"), [(0, 3, 0), (5, 3, 3), (12, 12, 7), (20, 8, 5)])
def test_free_directions_are_all_that_the_rows_leave(m, n, rank):
    M, A = random_mass(n), random_rows(m, n, rank)
    rows = independent_rows(M, A)
    T, Z = rows.free_directions(), rows.free_directions(mass_orthonormal=True)
    assert T.shape == Z.shape == (n, n - rank)
    np.testing.assert_allclose(T.T @ T, np.eye(n - rank), atol=1e-13)
    np.testing.assert_allclose(Z.T @ M @ Z, np.eye(n - rank), atol=1e-11)
    for directions in (T, Z):  # rows of length 1 to 10, condition of the kept ones up to 1e2
        assert np.abs(A @ directions).max(initial=0.0) < 1e-11


def test_all_rows_follow_from_those_kept_with_the_rank_that_was_decided():
    M, A = random_mass(8), random_rows(20, 8, 5)
    A[3] = A[4] + 1e-9 * RNG.normal(size=8)  # counts as dependent, and is not
    rows = independent_rows(M, A)
    P = rows.from_kept()
    assert np.linalg.matrix_rank(P) == rows.rank == 5
    assert np.linalg.matrix_rank(P @ A[rows.kept], tol=1e-12) == 5
    np.testing.assert_allclose(P @ A[rows.kept], A, atol=1e-7)


def test_of_rows_that_say_the_same_the_one_at_position_level_is_kept():
    A = np.array([[1.0, 2.0, 0.0], [2.0, 4.0, 0.0]])
    for is_velocity_level in ((True, False), (False, True)):
        rows = independent_rows(np.eye(3), A, is_velocity_level)
        assert rows.kept.tolist() == [not moving for moving in is_velocity_level]


def test_a_metric_that_is_not_positive_definite_decides_nothing():
    rows = independent_rows(np.diag([1.0, 0.0]), np.array([[1.0, 0.0]]))
    assert rows.rank == -1
    assert not rows.kept.any()


@pytest.mark.parametrize(("free_rows", "expected"), [(2, [1.0, 2.0, 3.0]), (1, [1.0, 2.0, 1.0]), (0, [1.0, 1.0, 1.0])])
def test_a_limb_hands_up_first_what_its_own_joints_meet_least(free_rows: int, expected: list[float]):
    matrix = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.99, 0.01, 0.1]])  # two columns of the limb, one of the hub
    tables = tuple(np.array(t) for t in ([0, 3], [0, 1, 2], [0, 2], [0, 1]))
    mask = np.ones(3)
    hand_up_rows(matrix.ravel().copy(), mask, (tables, free_rows), 3)
    assert mask.tolist() == expected


@pytest.mark.parametrize("kept", [(1.0, 1.0, 1.0, 1.0), (1.0, 0.0, 1.0, 1.0), (0.0, 0.0, 0.0, 1.0)])
def test_pivots_are_those_of_elimination_without_exchanges(kept):
    """By definition: pivot k is det G_k / det G_{k-1} of the leading blocks of G = A M⁻¹ Aᵀ of the rows kept."""
    mask = np.array(kept)
    M, A = random_mass(6), random_rows(4, 6, 4)
    G = (A @ np.linalg.solve(M, A.T))[np.ix_(mask > 0, mask > 0)]
    minors = [1.0, *(np.linalg.det(G[:k, :k]) for k in range(1, len(G) + 1))]
    expected = np.zeros(4)
    expected[mask > 0] = np.divide(minors[1:], minors[:-1])
    np.testing.assert_allclose(pivots(M, A, mask), expected, rtol=1e-9)  # conditions up to 1e4


def test_rows_beyond_the_velocities_have_no_pivot_and_a_singular_metric_none_at_all():
    assert pivots(np.eye(2), random_rows(3, 2, 2), np.ones(3))[2] == 0.0
    assert pivots(np.diag([1.0, 0.0]), np.eye(2), np.ones(2)) is None


@pytest.mark.parametrize("size", [0.9, 1.1])
@pytest.mark.parametrize("moving", [False, True])
def test_what_counts_as_nothing_is_the_same_beside_rows_at_velocity_level(size, moving):
    A = np.diag([1.0, size * ROW_NOTHING, 1.0])
    rows = independent_rows(np.eye(3), A, (moving, False, False))
    assert rows.kept.tolist() == [True, size > 1, True]
    small = independent_rows(np.eye(3), size * ROW_NOTHING * np.eye(3), (False, False, False))
    assert small.rank == (3 if size > 1 else 0)
    beside = independent_rows(np.eye(3), 1.5 * ROW_NOTHING * np.eye(3), (True, False, False), vanished=ROW_NOTHING)
    assert beside.kept.tolist() == [False, True, True]  # the row at velocity level counts for less


def test_a_limb_takes_what_is_farthest_in_its_own_columns_and_subtracts_it():
    """Of rows in the limb's two columns: the longest first, then the longest of what is left of the others."""
    matrix = np.array([[0.6, 0.0, 5.0], [0.9, 0.3, 7.0], [0.6, 0.2, 1.0], [0.0, LIMB_MEETS * 0.5, 3.0]])
    tables = tuple(np.array(t) for t in ([0, 4], [0, 1, 2, 3], [0, 2], [0, 1]))
    rows, mask = matrix.ravel().copy(), np.ones(4)
    take_own_rows(rows, mask, tables, 0, 3)
    assert mask.tolist() == [-1.0, -1.0, 1.0, 1.0]
    left = rows.reshape(4, 3)
    direction = np.array([0.9, 0.3]) / np.hypot(0.9, 0.3)
    other = np.array([-direction[1], direction[0]])
    np.testing.assert_allclose(left[1, :2], [0.9, 0.3])
    np.testing.assert_allclose(left[0, :2], (matrix[0, :2] @ other) * other, atol=1e-15)
    np.testing.assert_allclose(left[2:, :2], 0.0, atol=1e-15)  # the two taken span its columns
    np.testing.assert_allclose(left[:, 2], matrix[:, 2])  # columns of others are left alone


def test_of_two_limbs_the_row_of_which_least_is_left_goes_up_first():
    matrix = np.diag([0.9, 0.015, 0.01, 0.9])
    matrix[[1, 2], [0, 3]] = 1e-9
    tables = tuple(np.array(t) for t in ([0, 2, 4], [0, 1, 2, 3], [0, 2, 4], [0, 1, 2, 3]))
    mask = np.ones(4)
    hand_up_rows(matrix.ravel().copy(), mask, (tables, 1), 4)
    assert mask.tolist() == [1.0, 1.0, 2.0, 1.0]


def test_rows_left_out_are_neither_taken_nor_handed_up():
    matrix = np.array([[1.0, 0.0], [0.0, 0.01]])
    tables = tuple(np.array(t) for t in ([0, 2], [0, 1], [0, 2], [0, 1]))
    for kept, expected in (([0.0, 0.0], [0.0, 0.0]), ([0.0, 1.0], [0.0, 2.0]), ([1.0, 0.0], [1.0, 0.0])):
        mask = np.array(kept)
        hand_up_rows(matrix.ravel().copy(), mask, (tables, 1), 2)
        assert mask.tolist() == expected


def test_sizes_measure_rows_and_metrics_and_their_even_ones_are_powers_of_two():
    sizes = Sizes(np.array([3.0, 0.3]), np.array([5.0, 0.7, 1.4]))
    A, W = RNG.normal(size=(2, 3)), random_mass(3)
    np.testing.assert_allclose(sizes.of_rows(A), np.diag([1 / 3.0, 1 / 0.3]) @ A @ np.diag([5.0, 0.7, 1.4]))
    np.testing.assert_allclose(sizes.of_metric(W), np.diag([5.0, 0.7, 1.4]) @ W @ np.diag([5.0, 0.7, 1.4]))
    assert [part.tolist() for part in sizes.even] == [[4.0, 0.25], [4.0, 0.5, 1.0]]
    assert sizes.some(np.array([False, True])).rows.tolist() == [0.3]


def test_free_directions_and_dependencies_are_measured_in_the_sizes():
    sizes = Sizes(np.array([3.0, 0.3, 2.0]), np.array([5.0, 0.7, 1.4, 0.2]))
    M, A = random_mass(4), random_rows(3, 4, 2)
    rows = independent_rows(M, A, sizes=sizes)
    T, Z = rows.free_directions(), rows.free_directions(mass_orthonormal=True)
    np.testing.assert_allclose(
        (T / sizes.velocities[:, None]).T @ (T / sizes.velocities[:, None]), np.eye(2), atol=1e-13
    )
    np.testing.assert_allclose(Z.T @ M @ Z, np.eye(2), atol=1e-12)
    for directions in (T, Z):
        np.testing.assert_allclose(A @ directions, 0.0, atol=1e-12)
    measured = sizes.of_rows(A)
    np.testing.assert_allclose(rows.from_kept() @ measured[rows.kept], measured, atol=1e-12)
