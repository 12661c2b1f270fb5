"""Assembly on problems that are curves and points of plain numbers."""

from dataclasses import dataclass

import numpy as np
import pytest

from kalaba.constrain.rows import Sizes
from kalaba.plant.assembly import assemble, close, least_change, weighted_step


@dataclass
class Ellipse:
    """Stay on (x/a)² + (y/b)² = 1; `metric` measures the change; below y = 0 is a false root."""

    metric: np.ndarray
    a: float = 2.0
    b: float = 1.0
    is_flipped_below: bool = False

    @property
    def sizes(self):
        return Sizes(np.ones(1), np.ones(2))

    def size(self, q):
        return max(1.0, np.abs(q).max())

    def evaluate(self, q):
        x, y = q
        return (
            np.array([(x / self.a) ** 2 + (y / self.b) ** 2 - 1]),
            np.array([[2 * x / self.a**2, 2 * y / self.b**2]]),
            self.metric,
        )

    def retract(self, q, step):
        return q + step

    def difference(self, q, origin):
        return q - origin

    def flipped(self, q):
        return self.is_flipped_below and q[1] < 0


@pytest.mark.parametrize("metric", [np.eye(2), np.array([[5.0, 0.5], [0.5, 0.2]])])
@pytest.mark.parametrize("guess", [(2.2, 0.4), (0.4, 1.6), (1.0, 0.5), (-1.5, -1.2)])
def test_the_change_is_least_in_the_metric(metric, guess):
    problem, guess = Ellipse(metric), np.array(guess)
    found = assemble(problem, guess, np.ones(2))
    angle = np.linspace(0, 2 * np.pi, 200_001)
    curve = np.column_stack([2 * np.cos(angle), np.sin(angle)])
    lengths = np.einsum("ij,jk,ik->i", curve - guess, metric, curve - guess)
    assert found.is_closed
    assert problem.difference(found.q, guess) @ metric @ problem.difference(found.q, guess) <= lengths.min() + 1e-9


def test_closing_is_exact_to_rounding():
    found = close(Ellipse(np.eye(2)), np.array([3.0, 0.2]))
    assert found.is_closed
    assert np.abs(found.residual).max() < 1e-14


def test_what_is_closed_already_stays_where_it_is():
    q = np.array([2.0, 0.0])
    assert assemble(Ellipse(np.eye(2)), q, np.ones(2)).q == pytest.approx(q, abs=1e-14)


def test_a_false_root_is_left_for_a_true_one():
    found = assemble(Ellipse(np.eye(2), is_flipped_below=True), np.array([0.1, -1.1]), np.ones(2))
    assert found.is_closed
    assert found.q[1] > 0


def test_what_must_not_move_keeps_tries_in_its_place():
    """Only x may be tried elsewhere; with y below zero refused there is nothing to find, and it says so."""

    class Fixed(Ellipse):
        def evaluate(self, q):
            residual, A, M = super().evaluate(q)
            return residual, A * [1.0, 0.0], M

    found = assemble(Fixed(np.eye(2), is_flipped_below=True), np.array([0.5, -0.5]), np.array([1.0, 0.0]))
    assert not found.is_closed
    assert found.q[1] == pytest.approx(-0.5)


def test_what_cannot_close_is_given_back_with_its_gap():
    class Raised(Ellipse):
        def evaluate(self, q):
            residual, A, M = super().evaluate(q)
            return residual + 2.0, A, M  # the sum of squares is never −1

    found = assemble(Raised(np.eye(2)), np.array([0.5, 0.5]), np.ones(2))
    assert not found.is_closed
    assert found.residual[0] == pytest.approx(1.0, abs=1e-3)


def test_a_residual_that_is_not_finite_ends_quietly():
    class Broken(Ellipse):
        def evaluate(self, q):
            return np.array([np.nan]), np.array([[1.0, 1.0]]), self.metric

    assert not close(Broken(np.eye(2)), np.array([0.5, 0.5])).is_closed


def test_least_change_gives_back_what_it_was_given_when_that_is_nearer():
    """From the far end of the ellipse the nearest point of the same branch is found, never a farther one."""
    problem, guess = Ellipse(np.eye(2)), np.array([1.9, 0.1])
    start = close(problem, np.array([-1.9, 0.1]))
    found = least_change(problem, start.q, guess)
    assert found.is_closed
    assert np.linalg.norm(found.q - guess) <= np.linalg.norm(start.q - guess) + 1e-12


@pytest.mark.parametrize("seed", range(4))
def test_a_weighted_step_is_the_shortest_that_solves(seed):
    rng = np.random.default_rng(seed)
    B = rng.normal(size=(6, 6))
    M, A = B @ B.T + 0.1 * np.eye(6), rng.normal(size=(3, 6))
    A = np.vstack([A, A[0] - 2 * A[1]])  # a dependent row
    rhs = A @ rng.normal(size=6)
    x = weighted_step(A, M, rhs)
    assert A @ x == pytest.approx(rhs, abs=1e-10)
    tangent = np.linalg.svd(A)[2][3:]
    assert tangent @ M @ x == pytest.approx(np.zeros(3), abs=1e-9)  # M-orthogonal to all that it could leave out


def test_a_step_in_a_metric_without_full_rank_is_finite():
    metric = np.diag([1.0, 0.0, 1e-18])
    x = weighted_step(np.array([[1.0, 1.0, 0.0]]), metric, np.array([1.0]))
    assert x[0] + x[1] == pytest.approx(1.0)
    assert abs(x[2]) < 1e-6


def test_no_rows_ask_for_no_step():
    assert weighted_step(np.zeros((0, 3)), np.eye(3), np.zeros(0)) == pytest.approx(np.zeros(3))


def test_rows_of_any_size_count_alike():
    """A row in millimetres and one in kilometres are both met."""
    A = np.array([[1e3, 0.0], [0.0, 1e-5]])
    assert weighted_step(A, np.eye(2), np.array([1e3, 2e-5])) == pytest.approx([1.0, 2.0])


@dataclass
class Line:
    """One number x that closes where a function of it is zero; every place that was looked at."""

    function: object
    slope: object
    places: list

    sizes = Sizes(np.ones(1), np.ones(1))

    def size(self, q):
        return max(1.0, abs(q[0]))

    def evaluate(self, q):
        self.places.append(float(q[0]))
        return np.array([self.function(q[0])]), np.array([[self.slope(q[0])]]), np.eye(1)

    def retract(self, q, step):
        return q + step

    def difference(self, q, origin):
        return q - origin

    def flipped(self, _q):
        return False


def visited(function, slope, start):
    line = Line(function, slope, [])
    found = close(line, np.array([start]))
    return found, line.places


def test_steps_are_newtons_and_none_is_longer_than_it_may_be():
    found, places = visited(lambda x: 5 * x, lambda _: 5.0, 1.5)
    assert places == pytest.approx([1.5, 0.9, 0.3, 0.0], abs=1e-15)
    assert found.is_closed
    _, places = visited(lambda x: x**2 - 1, lambda x: 2 * x, 1.1)
    assert places[1] == pytest.approx(1.1 - 0.21 / 2.2)


def test_a_step_that_does_not_help_is_halved():
    """The slope is told ten times too small: steps of 0.6 pass the root by so much that the third half comes nearer."""
    found, places = visited(lambda x: x, lambda _: 0.1, 0.08)
    assert places[:5] == pytest.approx([0.08, -0.52, -0.22, -0.07, -0.07 + 0.6])
    assert found.is_closed == (abs(found.q[0]) < 1e-12)


def test_nothing_is_halved_where_all_is_closed_to_rounding():
    """Below 1e-13 a step that does not help ends it."""
    found, places = visited(lambda x: 5e-14 if x == 0.0 else 6e-14, lambda _: 1.0, 0.0)
    assert len(places) == 2
    assert (found.q[0], found.is_closed) == (0.0, True)
    found, places = visited(lambda x: 5e-13 if x == 0.0 else 6e-13, lambda _: 1.0, 0.0)
    assert len(places) == 1 + 9
    assert found.q[0] == 0.0
    assert found.is_closed  # to ten times the rounding that is looked for


def test_steps_that_bring_next_to_nothing_end_it():
    """Residuals that shrink by a ten-thousandth: four such steps in a row are enough."""
    _, places = visited(lambda x: np.exp(-1e-4 * x), lambda x: -np.exp(-1e-4 * x), 0.0)
    assert len(places) == 60 + 1  # all are cut short, so they are no sign
    _, places = visited(lambda x: np.exp(-1e-4 * x), lambda x: -2 * np.exp(-1e-4 * x), 0.0)
    assert len(places) == 1 + 4
