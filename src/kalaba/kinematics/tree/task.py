"""A frame to be put at a pose: where it is to be, what a search reads at a configuration, and how it moves on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalaba import tolerances
from kalaba.errors import ModelError
from kalaba.kinematics.tree.bounds import bounded_step, nearest_within, null_space
from kalaba.kinematics.tree.chain import Limits, movers
from kalaba.kinematics.tree.hinges import skew
from kalaba.plant.arguments import checked
from kalaba.plant.readings import FrameReading, ScalarReadings
from kalaba.space.arrays import Array
from kalaba.space.configuration import difference, displaced, unit
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose
from kalaba.space.rotations import from_pose, quaternion_of, rotation_of, rotation_vector

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant

STEPS = 120  # of a descent at the most
FAR = 0.7  # rad, or of how far the machine or the target stands: largest change of a coordinate in one step
SLOW_STEPS = 8  # so many in a row lead nowhere
NEAREST_STEPS = 200  # towards the guess at the most


class Target(NamedTuple):
    """Where a frame is wanted in the world."""

    position: Array  # (3,)
    rotation: Array  # (3, 3)

    @property
    def text(self) -> str:
        """For people."""
        x, e = self.position, quaternion_of(self.rotation)
        return f"({x[0]:.4g}, {x[1]:.4g}, {x[2]:.4g}) m, quaternion ({e[0]:.4g}, {e[1]:.4g}, {e[2]:.4g}, {e[3]:.4g})"


def target_of(pose: Pose | NumericPose) -> Target:
    """Read a Pose of the model, whose numbers must be plain, or one that `plant.pose` gave."""
    if isinstance(pose, Pose):
        try:
            position, quaternion = from_pose(pose, float)
        except ValueError as error:
            raise ModelError(f"pose: expected plain numbers, got {pose!r}. Expressions belong in a System.") from error
        return Target(checked(position, 3, "pose.position", "xyz"), rotation_of(quaternion))
    if not isinstance(pose, NumericPose):
        raise ModelError(f"pose: expected kb.Pose(position, rpy=...) or what plant.pose gives, got {pose!r}.")
    R = np.asarray(pose.rotation, dtype=float)
    if R.shape != (3, 3) or not np.abs(R.T @ R - np.eye(3)).max() < tolerances.ROTATION_MATRIX or np.linalg.det(R) < 0:
        raise ModelError(
            f"pose.rotation: expected a rotation matrix, got {pose.rotation!r}. Give its axes as unit columns."
        )
    return Target(checked(pose.position, 3, "pose.position", "xyz"), R)


def gap(position: Array, rotation: Array, target: Target) -> Array:
    """(6,): x − x_d, then the rotation vector φ of R R_dᵀ, both in world axes."""
    return np.concatenate([position - target.position, rotation_vector(rotation @ target.rotation.T)])


def turn_rates(vector: Array) -> Array:
    """(3, 3): the rate of a rotation vector φ by the angular velocity ω in world axes.

    With φ̇ = J⁻¹ ω and θ = |φ|::

        J⁻¹ = 1 − ½ [φ] + (1/θ² − (1 + cos θ)/(2 θ sin θ)) [φ]²        θ < 2π

    Reference: Barfoot (2017), State Estimation for Robotics, section 7.1.
    """
    S = skew(vector)
    half = float(np.linalg.norm(vector)) / 2
    # 1/θ² − (1 + cos θ)/(2 θ sin θ) = (1 − h cot h)/θ² with h = θ/2
    factor = 1 / 12 if half < tolerances.SMALL_TURN else (1 - half / math.tan(half)) / (4 * half * half)
    return np.asarray(np.eye(3) - S / 2 + factor * S @ S)


class Look(NamedTuple):
    """What is seen at a configuration, in the machine's sizes: lengths are parts of its own, per step of the movers."""

    gap: Array  # (6,): position, then rotation vector
    jacobian: Array  # (6, movers): rate of the gap
    values: Array  # limited displacements
    gradient: Array  # (limited, movers)

    @property
    def size(self) -> float:
        """Length of the gap, a radian counted as the machine's length."""
        return float(np.linalg.norm(self.gap))


@dataclass(frozen=True)
class Task:
    """Put a frame of a plant at a target within limits."""

    plant: Plant
    frame: str
    target: Target
    limits: Limits

    @cached_property
    def movers(self) -> NDArray[np.bool_]:
        """The velocities that may be used."""
        return movers(self.plant.machine, self.frame)

    @cached_property
    def sizes(self) -> Array:
        """Of the gap: the machine's length for metres, 1 for angles."""
        return self.plant.scales.twist

    @cached_property
    def steps(self) -> Array:
        """Of the movers."""
        return self.plant.scales.velocities[self.movers]

    @cached_property
    def within(self) -> Limits:
        """The limits, in the sizes of their displacements."""
        limits, sizes = self.limits, self._limited
        return Limits(limits.names, limits.low / sizes, limits.high / sizes)

    @cached_property
    def _limited(self) -> Array:
        """Sizes of the limited displacements."""
        displacements = self.plant.machine.displacements
        lengths = [displacements[name].unit == "m" for name in self.limits.names]
        return np.where(lengths, self.plant.scales.length, 1.0)

    @cached_property
    def _farthest(self) -> Array:
        """The longest step of the movers: metres by how far the machine or the target stands."""
        scales = self.plant.scales
        reach = max(scales.reach, float(np.abs(self.target.position).max()))
        return FAR * np.where(self.movers_travel, reach, 1.0)

    @cached_property
    def movers_travel(self) -> NDArray[np.bool_]:
        """Which of the movers are lengths."""
        units = np.array([velocity.unit for velocity in self.plant.machine.velocities])
        return np.asarray(units[self.movers] == "m/s")

    @cached_property
    def box(self) -> tuple[Array, Array]:
        """Lowest and highest q."""
        return self.limits.box(self.plant.machine)

    @property
    def unlimited(self) -> Task:
        """The same without limits."""
        return replace(self, limits=Limits.none())

    def look(self, q: Array) -> Look:
        """Gap, its rate, and the limited displacements."""
        plant, n = self.plant, len(self.plant.velocities)
        place, *scalars = plant.watch((self.frame, *self.limits.names), plant.inputs(q))
        frame, limited = FrameReading.of(place), ScalarReadings.of(scalars, n)
        away = gap(frame.position, frame.rotation, self.target)
        J = frame.jacobian[:, self.movers]
        J[3:] = turn_rates(away[3:]) @ J[3:]
        return self.sized(away, J, limited)

    def sized(self, away: Array, rates: Array, limited: ScalarReadings) -> Look:
        """What is seen, in the sizes."""
        gradients = limited.gradients[:, self.movers] * self.steps / self._limited[:, np.newaxis]
        rates = rates * self.steps / self.sizes[:, np.newaxis]
        return Look(away / self.sizes, rates, limited.values / self._limited, gradients)

    def away(self, look: Look) -> Array:
        """The gap in m and rad."""
        return np.asarray(look.gap * self.sizes)

    def is_met(self, look: Look) -> bool:
        """Whether the pose is reached within the limits."""
        scale = max(1.0, float(np.abs(self.target.position).max()) / self.plant.scales.length)
        return bool(np.abs(look.gap).max() <= tolerances.POSE_MET * scale) and not self.beyond(look)

    def beyond(self, look: Look, within: float = -tolerances.BEYOND_LIMIT) -> tuple[str, ...]:
        """Names of displacements outside their limits, or nearer to one than `within`, of their sizes."""
        room = np.minimum(look.values - self.within.low, self.within.high - look.values)
        return tuple(name for name, left in zip(self.limits.names, room, strict=True) if left < within)

    def rows(self, look: Look) -> tuple[Array, Array, Array]:
        """(G, low, high): what the limits leave to a step, low ≤ G Δ ≤ high."""
        return look.gradient, self.within.low - look.values, self.within.high - look.values

    def moved(self, q: Array, step: Array) -> Array:
        """Move along a step of the movers, not too far; quaternions turn, rounding stays within limits."""
        full, way = np.zeros(len(self.plant.velocities)), step * self.steps
        full[self.movers] = way / max(float((np.abs(way) / self._farthest).max(initial=0.0)), 1.0)
        return np.clip(displaced(self.plant.machine, q, full), *self.box)

    def way(self, q: Array, origin: Array) -> Array:
        """The step of the movers, in their sizes, between configurations; twice the vector part for quaternions."""
        step = difference(self.plant.machine, q, origin, len(self.plant.velocities))
        return np.asarray(step[self.movers] / self.steps)

    def starts(self, guess: Array, count: int) -> Iterator[Array]:
        """The guess, then configurations all over the limits, the same at every call."""
        rng = np.random.default_rng(1)
        low, high = self.box
        yield np.clip(guess, low, high)
        reach = self.plant.scales.length * max(1.0, self.look(guess).size)
        for _ in range(count - 1):
            q = guess.copy()
            for i, j in self.plant.machine.scalar_pairs:
                if self.movers[j]:
                    wide = math.pi if self.plant.machine.coordinates[i].unit == "rad" else reach
                    start = low[i] if np.isfinite(low[i]) else min(guess[i], high[i]) - wide
                    end = high[i] if np.isfinite(high[i]) else max(guess[i], low[i]) + wide
                    q[i] = rng.uniform(start, end)
            for i, j in self.plant.machine.quaternions:
                if self.movers[j]:
                    q[i : i + 4] = rng.normal(size=4)
            yield unit(self.plant.machine, q)


def descend(task: Task, q: Array) -> tuple[Array, Look]:
    """Make the gap e smaller until it is nothing or stays, as Levenberg and Marquardt do.

    A step Δ solves::

        (JᵀJ + ν|e|²) Δ = −Jᵀe        low ≤ G Δ ≤ high

    Damping that falls with |e|² keeps Newton's pace near a solution, and finds solutions at singular poses too.
    """
    look, weight, slow = task.look(q), 0.1, 0
    for _ in range(STEPS):
        size = look.size
        if size < tolerances.GAP_EXACT or slow > SLOW_STEPS:
            break
        step = bounded_step(look.jacobian, -look.gap, weight * size**2, task.rows(look))
        trial = task.moved(q, step)
        ahead = task.look(trial)
        slow = slow + 1 if ahead.size > tolerances.STEP_SLOW * size else 0
        if ahead.size < size:
            q, look, weight = trial, ahead, max(weight / 5, 1e-8)
        elif size < tolerances.GAP_ROUNDING:
            break
        else:
            weight *= 10
    return q, look


def nearest(task: Task, q: Array, guess: Array) -> tuple[Array, Look]:
    """Of the solutions that joints can move through, the one with the least |q − guess|, near a first one.

    With Z the directions that leave the frame still, each step goes by −Zᵀ(q − guess) along them, within the limits,
    and back onto the pose; where that throws it about, steps become shorter.
    """
    first = (q, task.look(q))
    damping, previous = 1.0, math.inf
    for _ in range(NEAREST_STEPS):
        look = task.look(q)
        Z = null_space(look.jacobian, tolerances.FREE_DIRECTION)
        if not Z.shape[1]:
            return first
        back = np.linalg.lstsq(look.jacobian, -look.gap, rcond=tolerances.FREE_DIRECTION)[0]
        G, low, high = task.rows(look)
        wanted = -Z.T @ (task.way(q, guess) + back)
        along = nearest_within(wanted, G @ Z, low - G @ back, high - G @ back)
        size = float(np.abs(along).max())
        damping = max(damping / 2, 1 / 64) if size > 0.9 * previous else damping
        q, previous = task.moved(q, back + damping * Z @ along), size
        if size < tolerances.POSE_MET:
            break
    last = descend(task, q)
    lengths = [float(np.linalg.norm(task.way(there, guess))) for there, _ in (first, last)]
    return last if task.is_met(last[1]) and lengths[1] <= lengths[0] else first
