"""Platform space: a parallel robot in the speeds of its platform, with the loads of its legs beside the motors.

G [u; λ] = H ṡ + h, as `kalaba/derive/platform_speeds.py` derives it. It is the same motion as the plant's, in as many
equations as the platform has speeds; a leg that takes away a freedom is a column of G.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import check_arguments
from kalaba.constrain.kernels.functions import expressions
from kalaba.constrain.rows import independent_rows
from kalaba.control.allocation import Allocation, LeastSquares
from kalaba.derive.kane import Kane
from kalaba.derive.platform_speeds import PlatformEquations, PlatformSplit, platform_equations
from kalaba.errors import ControlError, ModelError, near
from kalaba.plant.arguments import checked
from kalaba.plant.choice import rows_at
from kalaba.plant.plant import Plant, build
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.rotations import zyx_angles, zyx_rate_map
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.model.system import System

TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")


class PlatformModel(NamedTuple):
    """All of the model at a state: p speeds, n velocities of the plant, k motors and l loads."""

    force_map: Array  # G, (p, k + l)
    inertia: Array  # H, (p, p)
    bias: Array  # h, (p,)
    velocity_map: Array  # T, (n, p): v = T s
    convective: Array  # γ, (n,): v̇ = T ṡ + γ
    load_rhs: Array  # c, (l,): C ṡ = c, where Cᵀ are the last columns of G


class PlatformAngles(NamedTuple):
    """The attitude of a platform as papers write it: R = Rz(α) Ry(β) Rx(γ)."""

    angles: Array  # α, β, γ, rad
    rate_map: Array  # J_d, (3, 3): ω = J_d (α̇, β̇, γ̇), world axes


@dataclass(frozen=True)
class PlatformSpace:
    """A parallel robot in the speeds of its platform. Made by `platform_space`.

    A `state` is `kb.State(q, v)`, closed and consistent; the time `t` (s) matters to forces that depend on it. Speeds
    and accelerations are in the order of `speeds` (m, rad, s), forces in that of `forces` (N, N·m).

    Arguments:
        plant: the machine
        split: which speeds lead and which rows follow
    """

    plant: Plant
    split: PlatformSplit = field(repr=False)

    @cached_property
    def speeds(self) -> tuple[str, ...]:
        """Names of s: `platform.vx` to `platform.wz`, world axes, then rates that legs lend."""
        twist = (f"{self.split.frame}.{TWIST[i]}" for i in self.split.twist)
        return (*twist, *(self.plant.velocities[j] for j in self.split.lent))

    @cached_property
    def loads(self) -> tuple[str, ...]:
        """Names of the rows whose forces λ load the platform."""
        return tuple(self.plant.constraints[i] for i in self.split.loads)

    @cached_property
    def forces(self) -> tuple[str, ...]:
        """Names of the columns of G: motors, then loads."""
        return (*self.plant.actuators, *self.loads)

    @cached_property
    def equations(self) -> PlatformEquations:
        """The same as expressions, derived by Kane: `latex("force_map")`, `function("force_map")` and the like."""
        from kalaba.derive.equations import equations_of

        return platform_equations(equations_of(self.plant.machine, Kane()), self.split)

    def model(self, state: State, t: float = 0.0) -> PlatformModel:
        """Everything at a state, from one call of the compiled code.

        Arguments:
            state: q and v, closed and consistent
            t: time, s

        Raises:
            ControlError: where the platform's speeds do not decide how the legs move
        """
        check_arguments(PlatformSpace.model, locals(), ControlError)
        p, n, k = len(self.speeds), len(self.plant.velocities), len(self.forces)
        function = self.plant.function("platform_space", self._traced, repr(self.split))
        values = function(self.plant.inputs(*state, t))
        shapes = ((p, k), (p, p), (p,), (n, p), (n,), (len(self.loads),))
        ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
        parts = [
            part.reshape(shape, order="F") for part, shape in zip(np.split(values, ends[:-1]), shapes, strict=True)
        ]
        model = PlatformModel(*parts)
        if not np.abs(model.velocity_map).max() < 1 / tolerances.LEG_FOLLOWS:  # not a number is refused too
            raise ControlError(
                f"{self.plant.system.name}: a leg is singular here; the speeds of {self.split.frame} do not decide how "
                "it moves. Leave this configuration, or name other rows in loads=."
            )
        return model

    def required(self, state: State, acceleration: ArrayLike, t: float = 0.0) -> Array:
        """H ṡ + h: the force along every speed that an acceleration takes.

        Arguments:
            state: q and v, closed and consistent
            acceleration: ṡ, m/s² and rad/s², in the order of `speeds`
            t: time, s
        """
        check_arguments(PlatformSpace.required, locals(), ControlError)
        model = self.model(state, t)
        return np.asarray(model.inertia @ self._checked(acceleration) + model.bias)

    def share(
        self,
        state: State,
        acceleration: ArrayLike,
        allocation: Allocation = LeastSquares(),
        *,
        with_loads: bool = False,
        t: float = 0.0,
    ) -> Array:
        """Motors' efforts and loads, G [u; λ] = H ṡ + h, of which the allocation chooses one.

        Arguments:
            state: q and v, closed and consistent
            acceleration: ṡ, m/s² and rad/s², in the order of `speeds`; it must keep the loaded rows
            allocation: how the motors share
            with_loads: let the loads count as motors do. The squares of N and N·m then add up: the result depends on
                the unit of length. By default they follow from the efforts
            t: time, s
        """
        check_arguments(PlatformSpace.share, locals(), ControlError)
        model = self.model(state, t)
        force, k = model.inertia @ self._checked(acceleration) + model.bias, len(self.plant.actuators)
        G, limits = model.force_map, self.plant.limits
        if with_loads:
            return allocation.allocate(
                G, force, np.concatenate([limits, np.full(len(self.loads), np.inf)]), self.speeds
            )
        C = G[:, k:]
        free = np.linalg.svd(C.T)[2][C.shape[1] :].T if C.shape[1] else np.eye(len(force))
        efforts = allocation.allocate(free.T @ G[:, :k], free.T @ force, limits)
        loads = np.linalg.lstsq(C, force - G[:, :k] @ efforts, rcond=None)[0] if C.shape[1] else np.zeros(0)
        return np.concatenate([efforts, loads])

    def acceleration(self, state: State, actuation: ArrayLike, t: float = 0.0) -> tuple[Array, Array]:
        """ṡ and λ under given efforts: H ṡ − Cᵀ λ = W u − h and C ṡ = c.

        Arguments:
            state: q and v, closed and consistent
            actuation: u, one effort per motor, N or N·m
            t: time, s
        """
        check_arguments(PlatformSpace.acceleration, locals(), ControlError)
        k, model = len(self.plant.actuators), self.model(state, t)
        u = checked(actuation, k, "actuation", self.plant.actuators)
        W, C, p = model.force_map[:, :k], model.force_map[:, k:].T, len(self.speeds)
        matrix = np.block([[model.inertia, -C.T], [C, np.zeros((len(C), len(C)))]])
        solved = np.linalg.solve(matrix, np.concatenate([W @ u - model.bias, model.load_rhs]))
        return solved[:p], solved[p:]

    def partial_velocities(self, q: ArrayLike) -> dict[str, Array]:
        """v* of the centre of mass and ω*, (6, p), of every body: its velocity is that times s.

        Arguments:
            q: configuration, m and rad
        """
        check_arguments(PlatformSpace.partial_velocities, locals(), ControlError)
        function = self.plant.function("platform_partial", self._traced_partial, repr(self.split), seldom=True)
        p, bodies = len(self.speeds), self.plant.machine.bodies
        values = function(self.plant.inputs(q)).reshape((6 * len(bodies), p), order="F")
        return {
            body.name: np.vstack([values[6 * i + 3 : 6 * i + 6], values[6 * i : 6 * i + 3]])
            for i, body in enumerate(bodies)
        }

    def angles(self, q: ArrayLike) -> PlatformAngles:
        """Z-Y-X angles of the frame, and the map of their rates to its angular velocity.

        Arguments:
            q: configuration, m and rad
        """
        check_arguments(PlatformSpace.angles, locals(), ControlError)
        angles = zyx_angles(self.plant.pose(self.split.frame, q).rotation)
        return PlatformAngles(angles, zyx_rate_map(angles))

    def _checked(self, acceleration: ArrayLike) -> Array:
        return checked(acceleration, len(self.speeds), "acceleration", self.speeds)

    def _traced(self, whole: Equations) -> ca.Function:
        def values(one: Equations) -> list[ca.SX]:
            e = platform_equations(one, self.split)
            parts = (e.force_map, e.platform_inertia, e.platform_bias, e.velocity_map, e.convective, e.load_rhs)
            return [ca.vec(ca.densify(part)) for part in parts]

        return expressions(whole, values)

    def _traced_partial(self, whole: Equations) -> ca.Function:
        return expressions(
            whole, lambda one: [ca.vec(ca.densify(platform_equations(one, self.split).partial_velocities))]
        )


def platform_space(system: System | Plant, frame: str = "platform", loads: Sequence[str] = ()) -> PlatformSpace:
    """The model of a parallel robot in the speeds of its platform.

    Speeds are the components of the frame's twist that the open tree leaves independent, and rates of legs that can
    move while the frame rests. Rows are taken in their order: those that decide how a leg follows the platform come
    first, those that a platform moved at will would break are loads. All is decided at the start.

    Arguments:
        system: the machine, as a System or a Plant
        frame: name of the platform, or of a frame on it
        loads: names of rows that are to be loads; by default the last ones of each leg

    Raises:
        ModelError: no such frame or row, or a frame that does not move
    """
    check_arguments(platform_space, locals(), ControlError)
    plant = build(system)
    if frame not in plant.machine.frames:
        raise ModelError(f"{plant.system.name}: no frame {frame!r}; {near(frame, plant.machine.frames)}")
    for row in loads:
        if row not in plant.constraints:
            raise ModelError(f"{plant.system.name}: no row {row!r} in loads=; {near(row, plant.constraints)}")
    return PlatformSpace(plant, _split(plant, frame, [plant.constraints.index(row) for row in loads]))


def _split(plant: Plant, frame: str, named: Sequence[int]) -> PlatformSplit:
    """Take speeds and rows one by one, each if it says something new, until all velocities are decided."""
    here = rows_at(plant, plant.inputs(plant.start.q))
    n, A, J = len(plant.velocities), here.matrix, plant.jacobian(frame, plant.start.q)
    span = _Span(here.metric)
    twist = [i for i in range(6) if span.takes(J[i])]
    if not twist:
        raise ModelError(f"{plant.system.name}: {frame} does not move. Take a frame on the platform.")
    follow = [i for i in range(len(A)) if i not in named and span.takes(A[i])]
    lent = [j for j in range(n) if len(span.rows) < n and span.takes(np.eye(n)[j])]
    own = _Span(here.metric, [A[i] for i in follow])
    loads = [i for i in range(len(A)) if i not in follow and own.takes(A[i])]
    missing = [plant.constraints[i] for i in named if i not in loads]
    if missing:
        raise ModelError(
            f"{plant.system.name}: loads= names {counted(len(missing), 'row')} that the others imply, "
            f"{', '.join(missing)}. Leave them out."
        )
    return PlatformSplit(frame, tuple(twist), tuple(lent), tuple(follow), tuple(loads))


class _Span:
    """Rows taken so far; one more is taken if it is independent of them."""

    def __init__(self, metric: Array, rows: Sequence[Array] = ()) -> None:
        self.metric = metric
        self.rows = list(rows)

    def takes(self, row: Array) -> bool:
        """Whether a row is new, and if so keep it."""
        if not independent_rows(self.metric, np.array([*self.rows, row])).rank > len(self.rows):
            return False
        self.rows.append(row)
        return True
