"""Object space: the motion of arms that hold objects, written in the velocities of the objects.

H(q) s̈ + τ_b(q, v) = W(q) τ, with ṡ the velocity of the carried body's centre of mass, its angular velocity (world axes)
and the rates of the object's joints. It is the same motion as the plant's, in as many equations as there are freedoms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.control.allocation import Allocation, LeastSquares
from kalaba.cooperate import equations, sharing
from kalaba.cooperate.arms import Split, split
from kalaba.errors import ControlError, ModelError
from kalaba.kinematics.objects import coordinates as kinematics
from kalaba.kinematics.objects import follow
from kalaba.kinematics.objects.opened import Opened, configuration
from kalaba.plant.arguments import checked

if TYPE_CHECKING:
    from kalaba.cooperate.arms import Extra
    from kalaba.cooperate.sharing import Internal
    from kalaba.kinematics.objects.coordinates import Reading
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State

Array = NDArray[np.float64]
SINGULAR = 1e-8  # of the largest singular value: less is no arm that can follow
FOLLOWS = 1e-6  # the measure of an arm below which its rates would be a million times what is asked
TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")


class Model(NamedTuple):
    """All of the model at a state: d velocities of the objects, n of the plant, k motors."""

    inertia: Array  # H, (d, d)
    bias: Array  # τ_b, (d,)
    force_map: Array  # W, (d, k)
    velocity_map: Array  # T, (n, d): v = T ṡ
    convective: Array  # γ, (n,): v̇ = T s̈ + γ
    speed_map: Array  # S, (d, n): ṡ = S v


@dataclass(frozen=True)
class ObjectSpace:
    """A machine of arms and objects in the velocities of the objects. Made by `object_space`.

    Torques are one number a motor, in the order of `plant.actuators`. A state is `kb.State(q, v)`, closed and
    consistent; t matters to forces that depend on it. Forces that a run samples count as zero.
    """

    plant: Plant
    split: Split = field(repr=False)

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of ṡ: `body.centre.vx` to `body.centre.wz` of a body that floats, then rates of joints by name."""
        machine = self.plant.machine
        free = [machine.bodies[i] for i in self.split.free]
        floating = {j for body in free for j in range(body.v_index, body.v_index + 6)}
        rest = [j for j in self.split.objects if j not in floating] + [j for arm in self.split.arms for j in arm.lead]
        twists = (f"{body.name}.centre.{word}" for body in free for word in TWIST)
        return (*twists, *(self.plant.velocities[j] for j in rest))

    @property
    def arms(self) -> tuple[str, ...]:
        """Names of the arms."""
        return tuple(arm.name for arm in self.split.arms)

    @property
    def grasps(self) -> tuple[str, ...]:
        """Names of the connections between arms and objects."""
        return tuple(hold.name for hold in self.split.holds)

    @cached_property
    def arm_motors(self) -> tuple[int, ...]:
        """Indices of the motors that drive an arm."""
        return sharing.arm_motors(self.plant.machine, self.split)

    @cached_property
    def units(self) -> tuple[str, ...]:
        """N or N*m, one a motor."""
        machine = self.plant.machine
        return tuple(sharing.unit_of(machine, actuator) for actuator in machine.actuators)

    def model(self, state: State, t: float = 0.0) -> Model:
        """Everything at a state, from one call of the compiled code."""
        d, n, k = len(self.coordinates), len(self.plant.velocities), len(self.plant.actuators)
        function = self.plant.function("object_space", lambda found: equations.model(found, self.split), self._label)
        values = function(self.plant.inputs(*state, t))
        shapes = ((d, d), (d,), (d, k), (n, d), (n,), (d, n))
        parts, rest = _unpack(values, shapes)
        self._check_arms(rest)
        return Model(*parts)

    def inertia(self, state: State) -> Array:
        """H: symmetric, positive definite."""
        return self.model(state).inertia

    def bias(self, state: State, t: float = 0.0) -> Array:
        """τ_b: Coriolis, centrifugal, gravity, elastic and damping terms, less the applied forces."""
        return self.model(state, t).bias

    def force_map(self, state: State) -> Array:
        """W with F = W τ."""
        return self.model(state).force_map

    def velocity_map(self, state: State) -> Array:
        """T with v = T ṡ."""
        return self.model(state).velocity_map

    def convective(self, state: State) -> Array:
        """γ with v̇ = T s̈ + γ: the acceleration of the plant while ṡ stays."""
        return self.model(state).convective

    def speeds(self, state: State) -> Array:
        """ṡ of a state."""
        return np.asarray(self.model(state).speed_map @ np.asarray(state.v, dtype=float))

    def rates(self, state: State, speeds: ArrayLike) -> Array:
        """Rates of all joints, those of the arms among them, while the objects move by ṡ: v = T ṡ."""
        wanted = checked(speeds, len(self.coordinates), "speeds", self.coordinates)
        return np.asarray(self.velocity_map(state) @ wanted)

    def accelerations(self, state: State, acceleration: ArrayLike) -> Array:
        """Accelerations of all joints while the objects, moving as in the state, accelerate by s̈: v̇ = T s̈ + γ."""
        wanted = checked(acceleration, len(self.coordinates), "acceleration", self.coordinates)
        found = self.model(state)
        return np.asarray(found.velocity_map @ wanted + found.convective)

    def object_acceleration(self, state: State, acceleration: ArrayLike) -> Array:
        """The acceleration of the objects from one of the plant that keeps the rows: s̈ = S (v̇ − γ), as S T = 1."""
        given = checked(acceleration, len(self.plant.velocities), "acceleration", self.plant.velocities)
        found = self.model(state)
        return np.asarray(found.speed_map @ (given - found.convective))

    @cached_property
    def opened(self) -> Opened:
        """The machine with every grasp let go."""
        return Opened(self)

    def read(self, q: State | ArrayLike, near: State | ArrayLike | None = None) -> Reading:
        """Where the objects are, from the joint angles of the arms alone: poses, joints and the whole q.

        `q` holds the arms' coordinates, or all of them, of which the objects' are not read. A thread's travel counts
        its turns; other angles of the objects lie whole turns nearest to `near`, or between −π and π. Grasps that are
        no welds are put together, by search from `near` (default: the start). Modes of beams stay as there.

        Raises a KinematicsError where arms disagree on a body, by more than 1e-9 m or rad, and where they leave
        something open.
        """
        return kinematics.read(self, q, near)

    def reach(
        self,
        pose: Any = None,  # noqa: ANN401
        joints: Mapping[str, float] | None = None,
        near: State | ArrayLike | None = None,
        singular: float = FOLLOWS,
    ) -> Array:
        """The whole q in which the arms hold the objects at a pose, with their joints as given; rows close to 1e-12.

        `pose` is that of the body that floats, a `kb.Pose` or what `plant.pose` gives, or poses by name; what is not
        given stays as in `near` (default: the start). Each arm is solved alone within its joints' limits and takes the
        solution nearest to `near`: of all its branches where it has a spherical wrist, else the one that a search
        from there finds. Angles are continued to the turn nearest to it.

        Raises a KinematicsError with the arm, the pose and the gap where an arm cannot follow, and with its measure
        where that is not above `singular`.
        """
        placed = follow.place(self, pose, joints or {}, configuration(self, near))
        return follow.reach(self, placed, singular)

    def branches(
        self,
        pose: Any = None,  # noqa: ANN401
        joints: Mapping[str, float] | None = None,
        near: State | ArrayLike | None = None,
    ) -> dict[str, tuple[Array, ...]]:
        """For each arm the whole q of all its branches, the nearest first, with all else as `reach` has it.

        An arm that holds by a weld must have a spherical wrist. Any of another kind gives the one that is found.
        """
        return follow.branches(self, self.reach(pose, joints, near, singular=-np.inf))

    def acceleration(self, state: State, torques: ArrayLike, t: float = 0.0) -> Array:
        """s̈ = H⁻¹ (W τ − τ_b)."""
        found = self.model(state, t)
        force = found.force_map @ self.checked_torques(torques)
        return np.asarray(np.linalg.solve(found.inertia, force - found.bias))

    def torques(
        self,
        state: State,
        acceleration: ArrayLike,
        share: Allocation = LeastSquares(),
        motors: tuple[str, ...] | None = None,
        given: Mapping[str, float] | None = None,
        t: float = 0.0,
    ) -> Array:
        """Torques that accelerate the objects by s̈, shared among motors: W τ = H s̈ + τ_b.

        `motors` are by default all that drive an arm; `given` holds torques of others, such as a drive in a joint of
        the object; the rest is zero.
        """
        wanted = checked(acceleration, len(self.coordinates), "acceleration", self.coordinates)
        shared = sharing.motors(self, motors, given or {})
        sharing.check_units(self, shared, share)
        if share == LeastSquares() and not given and (found := self._least(state, wanted, shared, t)) is not None:
            return found
        model = self.model(state, t)
        force = model.inertia @ wanted + model.bias
        return sharing.share_force(self, model.force_map, force, share, shared, given or {})

    def internal(self, state: State, motors: tuple[str, ...] | None = None) -> Internal:
        """Torques that load the objects and move nothing: an orthonormal basis, and the projector on them."""
        return sharing.internal(self.model(state).force_map, sharing.motors(self, motors, {}))

    def squeeze(self, state: State, first: str, second: str, newtons: float) -> Array:
        """Torques by which two grasps of one body press on it along the line between them, and nothing else."""
        return sharing.squeeze(self, state, (first, second), newtons)

    def grasp_wrenches(self, state: State, torques: ArrayLike, t: float = 0.0) -> dict[str, Array]:
        """Wrench of each arm on its object, at the origin of the connection's child: force, moment, world axes."""
        given = self.checked_torques(torques)
        found = {}
        for hold in self.split.holds:
            reaction = self.plant.reaction(hold.name, *state, actuation=given, t=t)
            wrench = np.concatenate([reaction.force, reaction.torque])  # on the child
            found[hold.name] = -wrench if hold.is_child_on_arm else wrench
        return found

    def checked_torques(self, torques: ArrayLike) -> Array:
        """Refuse torques that are not one number a motor."""
        return checked(torques, len(self.plant.actuators), "torques", self.plant.actuators)

    @cached_property
    def _label(self) -> str:
        return repr(self.split)

    def _least(self, state: State, wanted: Array, motors: tuple[int, ...], t: float) -> Array | None:
        """Torques of least squares from compiled code; None where they miss the force."""
        d = len(wanted)
        if len(motors) < d:
            return None
        trace = lambda found: equations.least_torques(found, self.split, motors)  # noqa: E731
        function = self.plant.function("least_torques", trace, f"{motors} {self._label}")
        inputs = self.plant.inputs(*state, t)
        inputs[self.plant.layout.u][:d] = wanted
        (found, missing, force), rest = _unpack(function(inputs), ((len(motors),), (d,), (d,)))
        self._check_arms(rest)
        if not np.abs(missing).max() <= sharing.REACHED * np.abs(force).max():
            return None
        torques = np.zeros(len(self.plant.actuators))
        torques[list(motors)] = found
        return torques

    def _check_arms(self, values: Array) -> None:
        """Refuse a state at which an arm's rows do not determine the rates that follow."""
        first = 0
        for arm in self.split.arms:
            size = len(arm.rows)
            if not size:
                continue
            matrix = values[first : first + size * size].reshape((size, size), order="F")
            first += size * size
            sigma = np.linalg.svd(matrix, compute_uv=False) if np.isfinite(matrix).all() else np.zeros(1)
            if not sigma[-1] > SINGULAR * sigma[0]:
                names = ", ".join(self.plant.velocities[j] for j in arm.follow)
                raise ControlError(
                    f"{self.plant.system.name}: arm {arm.name} is singular here, smallest singular value "
                    f"{sigma[-1]:.3g} of {sigma[0]:.3g} for {names}. Move it away, or name other rates in extra=."
                )


def _unpack(values: Array, shapes: tuple[tuple[int, ...], ...]) -> tuple[list[Array], Array]:
    """Matrices that stand one after the other, column by column, and what is left."""
    found, first = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        found.append(values[first : first + size].reshape(shape, order="F"))
        first += size
    return found, values[first:]


def object_space(system: System | Plant, extra: Extra | None = None) -> ObjectSpace:
    """The model of arms and objects in the velocities of the objects.

    Objects are trees on a Free body that other trees hold by Connections; those others are the arms. An arm with more
    joint rates than rows lends some to ṡ: name them as `extra={"left": ("link3.angle",)}`, or the best conditioned at
    the start are taken.
    """
    from kalaba.plant.plant import build

    if not hasattr(system, "machine"):
        raise ModelError(f"object_space: expected a System or a Plant, got {system!r}. Load one with kb.load(...).")
    plant = build(system)
    return ObjectSpace(plant, split(plant, extra))
