"""Object space: the motion of arms that hold objects, written in the velocities of the objects.

H(q) s̈ + τ_b(q, v) = W(q) τ, with ṡ the velocity of the carried body's centre of mass, its angular velocity (world axes)
and the rates of the object's joints. It is the same motion as the plant's, in as many equations as there are freedoms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kalaba.boundary import check_arguments
from kalaba.control.allocation import Allocation, LeastSquares
from kalaba.cooperate import equations, sharing
from kalaba.cooperate.arms import Extra, check_arms, split
from kalaba.kinematics.objects import coordinates as kinematics
from kalaba.kinematics.objects import follow
from kalaba.kinematics.objects.holding import Split
from kalaba.kinematics.objects.opened import Opened, configuration
from kalaba.model.system import System
from kalaba.model.units import actuator_units
from kalaba.plant.arguments import checked
from kalaba.plant.plant import Plant, build
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose
from kalaba.tolerances import ARM_FOLLOWS, FORCE_REACHED

if TYPE_CHECKING:
    from kalaba.cooperate.sharing import Internal
    from kalaba.kinematics.objects.coordinates import Reading

AnyPose = Pose | NumericPose  # written by people, or given by `plant.pose`
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

    Torques are one number per motor, in the order of `plant.actuators` (N or N·m, see `units`). A `state` is
    `kb.State(q, v)`, closed and consistent; the time `t` (s) matters to forces that depend on it. Forces that a run
    samples count as zero. Velocities ṡ and accelerations s̈ are in the order of `coordinates` (m, rad, s).

    Arguments:
        plant: the machine of arms and objects
        split: which velocities are the objects', which the arms'
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
        """N or N*m, one per motor; an empty text where the displacement that it drives does not say."""
        return actuator_units(self.plant.machine)

    def model(self, state: State, t: float = 0.0) -> Model:
        """Everything at a state, from one call of the compiled code.

        Arguments:
            state: q and v, closed and consistent
            t: time, s
        """
        check_arguments(ObjectSpace.model, locals())
        d, n, k = len(self.coordinates), len(self.plant.velocities), len(self.plant.actuators)
        function = self.plant.function("object_space", partial(equations.model, split=self.split), self._label)
        values = function(self.plant.inputs(*state, t))
        parts, holding = _unpack(values, ((d, d), (d,), (d, k), (n, d), (n,), (d, n)))
        check_arms(self.plant, self.split.arms, holding)
        return Model(*parts)

    def inertia(self, state: State) -> Array:
        """H: symmetric, positive definite.

        Arguments:
            state: q and v, closed and consistent
        """
        return self.model(state).inertia

    def bias(self, state: State, t: float = 0.0) -> Array:
        """τ_b: Coriolis, centrifugal, gravity, elastic and damping terms, less the applied forces.

        Arguments:
            state: q and v, closed and consistent
            t: time, s
        """
        return self.model(state, t).bias

    def force_map(self, state: State) -> Array:
        """W with F = W τ.

        Arguments:
            state: q and v, closed and consistent
        """
        return self.model(state).force_map

    def velocity_map(self, state: State) -> Array:
        """T with v = T ṡ.

        Arguments:
            state: q and v, closed and consistent
        """
        return self.model(state).velocity_map

    def convective(self, state: State) -> Array:
        """γ with v̇ = T s̈ + γ: the acceleration of the plant while ṡ stays.

        Arguments:
            state: q and v, closed and consistent
        """
        return self.model(state).convective

    def speeds(self, state: State) -> Array:
        """ṡ of a state.

        Arguments:
            state: q and v, closed and consistent
        """
        return np.asarray(self.model(state).speed_map @ np.asarray(state.v, dtype=float))

    def rates(self, state: State, speeds: ArrayLike) -> Array:
        """Rates of all joints, those of the arms among them, while the objects move by ṡ: v = T ṡ.

        Arguments:
            state: q and v, closed and consistent
            speeds: ṡ, m/s and rad/s, in the order of `coordinates`
        """
        wanted = checked(speeds, len(self.coordinates), "speeds", self.coordinates)
        return np.asarray(self.velocity_map(state) @ wanted)

    def accelerations(self, state: State, acceleration: ArrayLike) -> Array:
        """Accelerations of all joints while the objects, moving as in the state, accelerate by s̈: v̇ = T s̈ + γ.

        Arguments:
            state: q and v, closed and consistent
            acceleration: s̈, m/s² and rad/s², in the order of `coordinates`
        """
        wanted = checked(acceleration, len(self.coordinates), "acceleration", self.coordinates)
        model = self.model(state)
        return np.asarray(model.velocity_map @ wanted + model.convective)

    def object_acceleration(self, state: State, acceleration: ArrayLike) -> Array:
        """Acceleration of the objects from v̇ of the plant, which keeps the rows: s̈ = S (v̇ − γ), since S T = 1.

        Arguments:
            state: q and v, closed and consistent
            acceleration: v̇ of the plant, m/s² and rad/s²
        """
        rates = checked(acceleration, len(self.plant.velocities), "acceleration", self.plant.velocities)
        model = self.model(state)
        return np.asarray(model.speed_map @ (rates - model.convective))

    @cached_property
    def opened(self) -> Opened:
        """The machine with every grasp let go."""
        return Opened(self.plant, self.split)

    def read(self, q: State | ArrayLike, near: State | ArrayLike | None = None) -> Reading:
        """Where the objects are, from the joint angles of the arms alone: poses, joints and the whole q.

        A thread's travel counts its turns; other angles of the objects lie within half a turn of `near`, or of zero
        without it. Grasps that are no welds are put together by search from `near`. Modes of beams stay as there.

        Arguments:
            q: the arms' coordinates, or all of them, of which the objects' are not read (m, rad)
            near: a state or a q from which searches begin; by default the start

        Raises:
            KinematicsError: arms disagree on a body by more than 1e-9 m or rad, or they leave something open
        """
        check_arguments(ObjectSpace.read, locals())
        return kinematics.read(self.opened, q, near)

    def reach(
        self,
        pose: AnyPose | Mapping[str, AnyPose] | None = None,
        joints: Mapping[str, float] | None = None,
        near: State | ArrayLike | None = None,
        singular: float = ARM_FOLLOWS,
    ) -> Array:
        """The whole q in which the arms hold the objects at a pose, with their joints as given; rows close to 1e-12.

        Each arm is solved alone within its joints' limits and takes the solution nearest to `near`: of all its branches
        where it has a spherical wrist, else the one that a search from there finds. Angles are continued to the nearest
        turn.

        Arguments:
            pose: of the body that floats, a `kb.Pose` or what `plant.pose` gives, or poses by name of body
            joints: values of the objects' joints by name (m, rad)
            near: a state or a q; what is not given stays as it is there; by default the start
            singular: least measure of an arm

        Raises:
            KinematicsError: an arm cannot follow (with the pose and the gap), or its measure is not above `singular`
        """
        check_arguments(ObjectSpace.reach, locals())
        placed = follow.place(self.opened, pose, joints or {}, configuration(self.plant, near))
        return follow.reach(self.opened, placed, singular)

    def branches(
        self,
        pose: AnyPose | Mapping[str, AnyPose] | None = None,
        joints: Mapping[str, float] | None = None,
        near: State | ArrayLike | None = None,
    ) -> dict[str, tuple[Array, ...]]:
        """For each arm the whole q of all its branches, the nearest first, with all else as `reach` has it.

        An arm that holds by a weld must have a spherical wrist. Any other arm gives the one that a search finds.

        Arguments:
            pose: of the body that floats, or poses by name of body
            joints: values of the objects' joints by name (m, rad)
            near: a state or a q; by default the start
        """
        check_arguments(ObjectSpace.branches, locals())
        return follow.branches(self.opened, self.reach(pose, joints, near, singular=-np.inf))

    def acceleration(self, state: State, torques: ArrayLike, t: float = 0.0) -> Array:
        """s̈ = H⁻¹ (W τ − τ_b).

        Arguments:
            state: q and v, closed and consistent
            torques: τ, one effort per motor, N or N·m
            t: time, s
        """
        model = self.model(state, t)
        force = model.force_map @ self.checked_torques(torques)
        return np.asarray(np.linalg.solve(model.inertia, force - model.bias))

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

        Arguments:
            state: q and v
            acceleration: s̈, m/s² and rad/s²
            share: which of the torques that give it are chosen
            motors: names of those that share; by default all that drive an arm
            given: torques of other motors by name, such as a drive in a joint of the object; all others are zero
            t: time, s
        """
        check_arguments(ObjectSpace.torques, locals())
        wanted = checked(acceleration, len(self.coordinates), "acceleration", self.coordinates)
        shared = sharing.motors(self, motors, given or {})
        sharing.check_units(self, shared, share)
        if share == LeastSquares() and not given and (least := self._least(state, wanted, shared, t)) is not None:
            return least
        model = self.model(state, t)
        force = model.inertia @ wanted + model.bias
        return sharing.share_force(self, model.force_map, force, share, shared, given or {})

    def internal(self, state: State, motors: tuple[str, ...] | None = None) -> Internal:
        """Torques that load the objects and move nothing: an orthonormal basis, and the projector on them.

        Arguments:
            state: q and v
            motors: names of those that may give torques; by default all that drive an arm
        """
        return sharing.internal(self.model(state).force_map, sharing.motors(self, motors, {}))

    def squeeze(self, state: State, first: str, second: str, newtons: float) -> Array:
        """Torques by which two grasps of one body press on it along the line between them, and nothing else.

        Arguments:
            state: q and v
            first: name of a grasp
            second: name of another grasp of the same body
            newtons: the force of either, N; a negative one pulls
        """
        check_arguments(ObjectSpace.squeeze, locals())
        return sharing.squeeze(self, state, (first, second), newtons)

    def grasp_wrenches(self, state: State, torques: ArrayLike, t: float = 0.0) -> dict[str, Array]:
        """Wrench of each arm on its object, at the origin of the connection's child: force, moment, world axes.

        Arguments:
            state: q and v, closed and consistent
            torques: τ, one effort per motor, N or N·m
            t: time, s
        """
        check_arguments(ObjectSpace.grasp_wrenches, locals())
        actuation = self.checked_torques(torques)
        wrenches = {}
        for hold in self.split.holds:
            reaction = self.plant.reaction(hold.name, *state, actuation=actuation, t=t)
            wrench = np.concatenate([reaction.force, reaction.torque])  # on the child
            wrenches[hold.name] = -wrench if hold.is_child_on_arm else wrench
        return wrenches

    def checked_torques(self, torques: ArrayLike) -> Array:
        """Refuse torques that are not one number per motor.

        Arguments:
            torques: one effort per motor, N or N·m
        """
        return checked(torques, len(self.plant.actuators), "torques", self.plant.actuators)

    @cached_property
    def _label(self) -> str:
        return repr(self.split)

    def _least(self, state: State, wanted: Array, motors: tuple[int, ...], t: float) -> Array | None:
        """Torques of least squares from compiled code; None where they miss the force."""
        d = len(wanted)
        if len(motors) < d:
            return None
        trace = partial(equations.least_torques, split=self.split, motors=motors)
        function = self.plant.function("least_torques", trace, f"{motors} {self._label}")
        inputs = self.plant.inputs(*state, t)
        inputs[self.plant.layout.u][:d] = wanted
        (shared, missing, force), holding = _unpack(function(inputs), ((len(motors),), (d,), (d,)))
        check_arms(self.plant, self.split.arms, holding)
        if not np.abs(missing).max() <= FORCE_REACHED * np.abs(force).max():
            return None
        torques = np.zeros(len(self.plant.actuators))
        torques[list(motors)] = shared
        return torques


def _unpack(values: Array, shapes: tuple[tuple[int, ...], ...]) -> tuple[list[Array], Array]:
    """Matrices that stand one after the other, column by column, and the values behind them."""
    matrices, first = [], 0
    for shape in shapes:
        size = int(np.prod(shape))
        matrices.append(values[first : first + size].reshape(shape, order="F"))
        first += size
    return matrices, values[first:]


def object_space(system: System | Plant, extra: Extra | None = None) -> ObjectSpace:
    """The model of arms and objects in the velocities of the objects.

    Objects are trees on a Free body that other trees hold by Connections; those others are the arms. An arm with more
    joint rates than rows lends some of them to ṡ.

    Arguments:
        system: arms and objects, as a System or a Plant
        extra: by name of arm the joint rates that it lends, `{"left": ("link3.angle",)}`; by default those that are
            best conditioned at the start

    Raises:
        ModelError: no object is held, a grasp is no Connection, or an arm has fewer joint rates than rows
    """
    check_arguments(object_space, locals())
    plant = build(system)
    return ObjectSpace(plant, split(plant, extra))
