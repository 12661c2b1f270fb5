"""Interactive assembly: a frame is pulled to a place and the machine follows, its loops closed.

Each step goes along the rows towards the goal, as near as it can, with the least kinetic energy, as assembly does::

    min ½ Δᵀ M Δ        A Δ = 0        J Δ = e (least squares)

and Newton steps −M⁻¹Aᵀ G⁺ φ then close the loops to rounding.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kalaba.constrain.rows import Sizes
from kalaba.plant.assembly import close, weighted_step
from kalaba.plant.readings import FrameReading
from kalaba.plant.start import closing
from kalaba.space.arrays import Array
from kalaba.space.rotations import rotation_vector
from kalaba.tolerances import DRAG_GAIN, DRAG_NEAR, DRAG_OUT_OF_REACH

if TYPE_CHECKING:
    from kalaba.plant.assembly import Closable
    from kalaba.plant.plant import Plant

Goal = tuple[Array, Array | None]  # position, and rotation if it is asked for
STEPS = 25  # at most, for one move of the hand
HALVINGS = 6
MASSLESS = 1e-9  # of the mean: the inertia that directions without any are given in the metric
FARTHEST = 0.3  # rad, or of the machine's length: the largest change of a coordinate in one step


class Dragged(NamedTuple):
    """Where a pull has led."""

    q: Array
    residual: float  # the largest of all rows at position level
    gap: float  # m: how far the frame stays from its goal


def drag(plant: Plant, frame: str, q: ArrayLike, position: ArrayLike, rotation: ArrayLike | None = None) -> Dragged:
    """Pull a frame towards a position, and an attitude if given; the machine goes as far as it can, closed.

    A configuration that is no longer closed, or that flips a joint to its false root, is not taken.
    """
    problem = closing(plant)
    goal: Goal = np.asarray(position, dtype=float), None if rotation is None else np.asarray(rotation, dtype=float)
    best = close(problem, np.array(q, dtype=float)).q
    for _ in range(STEPS):
        error, J = _pull(plant, frame, best, goal)
        if np.linalg.norm(error) < DRAG_NEAR:
            break
        _, A, M = problem.evaluate(best)
        sizes = Sizes(problem.sizes.rows, plant.scales.velocities)
        step = sizes.velocities * _step(sizes.of_rows(A), sizes.of_metric(M), J * sizes.velocities, error)
        step /= max(float((np.abs(step) / sizes.velocities).max(initial=0.0)) / FARTHEST, 1.0)
        nearer = _nearer(problem, best, step, lambda at: _left(plant, frame, at, goal))
        if nearer is None:
            break
        best = nearer
    residual = problem.evaluate(best)[0]
    left = plant.scales.length * _left(plant, frame, best, (goal[0], None))
    return Dragged(best, float(np.abs(residual).max(initial=0.0)), left)


def _nearer(problem: Closable, q: Array, step: Array, left: Callable[[Array], float]) -> Array | None:
    """A closed configuration along a step that is nearer to the goal; None if there is none."""
    before = left(q)
    for halving in range(HALVINGS):
        closed = close(problem, problem.retract(q, step / 2**halving))
        if closed.is_closed and not problem.flipped(closed.q) and left(closed.q) < (1 - DRAG_GAIN) * before:
            return closed.q
    return None


def _left(plant: Plant, frame: str, q: Array, goal: Goal) -> float:
    return float(np.linalg.norm(_pull(plant, frame, q, goal)[0]))


def _pull(plant: Plant, frame: str, q: Array, goal: Goal) -> tuple[Array, Array]:
    """What is left to go, of the machine's length and rad, and the Jacobian of the frame."""
    reading, sizes = FrameReading.of(plant.watch((frame,), plant.inputs(q))[0]), plant.scales.twist[:, np.newaxis]
    error = (goal[0] - reading.position) / plant.scales.length
    if goal[1] is None:
        return error, reading.jacobian[:3] / sizes[:3]
    return np.concatenate([error, rotation_vector(goal[1] @ reading.rotation.T)]), reading.jacobian / sizes


def _step(A: Array, M: Array, J: Array, error: Array) -> Array:  # symbols of the equation above
    """Solve for Δ = P z, where P z is z less the part that the rows forbid, in the metric of M."""
    n = len(M)
    along = np.eye(n) - np.column_stack([weighted_step(A, M, column) for column in A.T]) if len(A) else np.eye(n)
    lower = np.linalg.cholesky(M + MASSLESS * np.trace(M) / n * np.eye(n))
    reach = np.linalg.solve(lower, (J @ along).T).T  # J P L⁻ᵀ
    y = np.linalg.lstsq(reach, error, rcond=DRAG_OUT_OF_REACH)[0]
    return np.asarray(along @ np.linalg.solve(lower.T, y))
