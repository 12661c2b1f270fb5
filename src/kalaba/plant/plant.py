"""Plant: a machine ready to be evaluated. Built from a System; joins derivation, constraints and a backend.

Every quantity comes from a function traced once (see `constrain/kernels/`) and evaluated by the backend. Nothing
is derived or compiled before it is asked for.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, get_args

import numpy as np
from numpy.typing import ArrayLike

from kalaba.boundary import called, check_arguments, check_choice, shown
from kalaba.constrain.kernels.matrices import required
from kalaba.constrain.kernels.pairs import has_long_trees
from kalaba.constrain.kernels.standard import STANDARD
from kalaba.constrain.layout import Layout
from kalaba.constrain.solvers import MaskedLDL, Motion, Problem, Solver, UdwadiaKalaba, is_singular, mass_weight
from kalaba.derive.dynamics import Method
from kalaba.derive.equations import Equations, equations_of
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.errors import ControlError, ModelError, near
from kalaba.hints import is_ordinary, is_text
from kalaba.model.fingerprint import fingerprint
from kalaba.model.system import System
from kalaba.model.topology.partners import partners
from kalaba.native.backend import Backend, Evaluator, Native
from kalaba.native.recent import Recent
from kalaba.plant import floating
from kalaba.plant.arguments import WRENCH, as_real, as_state, checked, checked_configuration, pushed_frames
from kalaba.plant.as_found import settle_as_found
from kalaba.plant.batch import Asked, answers, ask_each, batch_of, packed
from kalaba.plant.choice import Choice, first_choice, keep_rows, rows_at
from kalaba.plant.derivatives import Derivatives, derivatives
from kalaba.plant.evaluate import Quick, batch_motion
from kalaba.plant.evaluate import motion as motion_at
from kalaba.plant.guess import first_guess
from kalaba.plant.lanes import Traced
from kalaba.plant.laws import trace_map
from kalaba.plant.projection import instant
from kalaba.plant.reaction import Reaction, reaction
from kalaba.plant.readings import JACOBIAN, PLACE, TURN, by_columns, frame_function, moved, watch_function
from kalaba.plant.reference import projected
from kalaba.plant.scales import Scales, scales_of
from kalaba.plant.start import find_start
from kalaba.plant.state import Energy, State, as_number
from kalaba.plant.step import Stepping, one_step
from kalaba.plant.variants import interpreted, limb_machine, variant
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose

if TYPE_CHECKING:
    import casadi as ca

    from kalaba.constrain.kernels.limb_machine import LimbMachine
    from kalaba.model.machine import Machine
    from kalaba.native import Kernel
    from kalaba.plant.choice import Choice
    from kalaba.plant.derivatives import Derivatives
    from kalaba.plant.reaction import Reaction

Trace = Callable[["Equations"], "ca.Function"]
Value = TypeVar("Value")
Numbers = Mapping[str, ArrayLike]  # parameters by name: one number, or one per state
KeptRows = Literal["all", "start", "here"]
ROWS_KEPT: tuple[KeptRows, ...] = get_args(KeptRows)


class RebuildWarning(UserWarning):
    """A new value changes the structure of the equations: they are derived and compiled again."""


@dataclass(frozen=True)
class Plant:
    """A machine that can be evaluated. Made by `build`; pickles as its System and choices.

    What is asked at a state (`motion`, `jacobian`, `energy`, ...) takes a batch too: a leading axis on any argument,
    one entry per state; arguments without it hold for all states, and results have that axis. `parameters` are numbers
    by name instead of the plant's own, each one number or one per state; they need no build.

    Arguments:
        system: the machine, described
        method: how equations are derived
        backend: how functions are evaluated
        solver: how the constrained motion is solved
    """

    system: System
    method: Method
    backend: Backend
    solver: Solver
    _functions: Recent[Evaluator] = field(default_factory=partial(Recent, 64), init=False, repr=False, compare=False)
    _lanes: Recent[tuple[Kernel, Array]] = field(
        default_factory=partial(Recent, 64), init=False, repr=False, compare=False
    )
    _values: Recent[Any] = field(default_factory=partial(Recent, 16), init=False, repr=False, compare=False)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as the System and the choices."""
        return Plant, (self.system, self.method, self.backend, self.solver)

    @property
    def machine(self) -> Machine:
        """The System laid out flat."""
        return self.system.machine

    @cached_property
    def equations(self) -> Equations:
        """The derived equations."""
        return equations_of(self.machine, self.method)

    @cached_property
    def layout(self) -> Layout:
        """Where q, v and the rest stand in the packed input."""
        return Layout.of(self.machine)

    @cached_property
    def parameters(self) -> Array:
        """Values of the parameters that are symbols in the equations."""
        return np.array([parameter.value for parameter in self.machine.free_parameters], dtype=float)

    @cached_property
    def key(self) -> str:
        """What tells this plant's code apart from others'."""
        return f"{fingerprint(self.machine)} {self.method!r}"

    @cached_property
    def coordinates(self) -> tuple[str, ...]:
        """Names of q."""
        return tuple(c.name for c in self.machine.coordinates)

    @cached_property
    def velocities(self) -> tuple[str, ...]:
        """Names of v."""
        return tuple(c.name for c in self.machine.velocities)

    @cached_property
    def actuators(self) -> tuple[str, ...]:
        """Names of the motors."""
        return tuple(actuator.name for actuator in self.machine.actuators)

    @cached_property
    def limits(self) -> Array:
        """What each motor may give at the most, N or N·m; infinite where nothing limits it."""
        return np.array([actuator.limit for actuator in self.machine.actuators], dtype=float)

    def motors(self, names: Sequence[str], what: str) -> tuple[int, ...]:
        """Indices of motors by name; `what` asks for them, for the error of a name that is none.

        Arguments:
            names: names of motors
            what: who asks for them, for the message of an error
        """
        check_arguments(Plant.motors, locals(), ControlError)
        for name in names:
            if name not in self.actuators:
                raise ControlError(f"{what}: {self.system.name} has no actuator {name!r}; {near(name, self.actuators)}")
        return tuple(self.actuators.index(name) for name in names)

    @property
    def is_native(self) -> bool:
        """Whether compiled kernels with a row choice solve its motion, so that the compiled loop can run it."""
        return self.backend.is_native and self.solver.is_compiled

    @cached_property
    def constraints(self) -> tuple[str, ...]:
        """Names of the constraint rows."""
        return self.machine.rows

    @property
    def outputs(self) -> tuple[str, ...]:
        """Names of the outputs."""
        return tuple(output.name for output in self.machine.outputs)

    @cached_property
    def start(self) -> State:
        """The start: assembled, consistent."""
        return find_start(self)

    @cached_property
    def scales(self) -> Scales:
        """The machine's own length, mass and time, and the sizes of its coordinates, velocities and rows."""
        return scales_of(self)

    @cached_property
    def is_singular(self) -> bool:
        """Whether the mass matrix leaves some motion without inertia."""
        return is_singular(self.scales.sizes.of_metric(self.mass_matrix(first_guess(self))))

    @cached_property
    def row_weights(self) -> Array:
        """The weights w in AᵀwA beside a singular mass matrix, one per row; 1 where it is not."""
        if not self.is_singular:
            return np.ones(len(self.constraints))
        q = first_guess(self)
        A, sizes = self.constraint(q, np.zeros(len(self.velocities)))[0], self.scales.sizes
        return mass_weight(sizes.of_metric(self.mass_matrix(q)), sizes.of_rows(A)) / sizes.rows**2

    @cached_property
    def quick(self) -> Quick:
        """Forward dynamics at the least cost of a call, where nothing is out of the ordinary."""
        return Quick(self)

    @cached_property
    def stepping(self) -> Stepping:
        """The compiled step of a native plant."""
        return Stepping(self)

    @cached_property
    def choice(self) -> Choice:
        """The rows chosen at the start."""
        return first_choice(self)

    @cached_property
    def limb_machine(self) -> LimbMachine | None:
        """The hub and limbs of a machine with many limbs that are alike, compiled once for all of them; else None."""
        return limb_machine(self)

    @property
    def solved_by_limbs(self) -> LimbMachine | None:
        """The same, unless the mass matrix is singular: then they cannot solve."""
        return None if self.limb_machine is None or self.is_singular else self.limb_machine

    @cached_property
    def has_long_trees(self) -> bool:
        """Whether the mass matrix has blocks that are better not written out."""
        return self.is_native and has_long_trees(self.machine, self.method)

    def function(
        self, name: str, trace: Trace, label: str = "", *, numbers: tuple[float, ...] = (), seldom: bool = False
    ) -> Evaluator:
        """An evaluator by name. `label` tells its code apart; `numbers`, put after the parameters, may be any.

        Arguments:
            name: name of the function
            trace: makes it from the equations, where it is not compiled yet
            label: what tells its code apart from that of other functions of this name
            numbers: values of symbols that it has after the parameters
            seldom: whether it is called too seldom to be worth much compiling
        """
        place = f"{(full := f'{name} {label}')} {numbers}"

        def make() -> Evaluator:
            values = np.concatenate([self.parameters, numbers])
            return self.backend.evaluator(
                name,
                f"{self.key} {full}",
                lambda: trace(self.equations),
                values,
                seldom=seldom,
                partners=lambda: partners(self.machine),
            )

        return self._functions.get(place, make)

    def standard(self, name: str) -> Evaluator:
        """One of the functions of `constrain/kernels/standard.py`, in the form that this machine needs.

        Arguments:
            name: its name there
        """
        self._check_standard(name)
        return self.function(name, *variant(self, name), seldom=STANDARD[name].is_seldom)

    def interpreted(self, name: str) -> Evaluator:
        """A standard function in CasADi's interpreter: for what is evaluated too seldom to be compiled.

        Arguments:
            name: its name in `constrain/kernels/standard.py`
        """
        self._check_standard(name)
        return self._functions.get(f"{name} interpreted", lambda: interpreted(self, name))

    def once(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """A value that follows from this machine and the key alone, made when it is first asked for.

        Arguments:
            key: what tells it apart from other values
            make: makes it
        """
        check_arguments(Plant.once, locals())
        if not is_ordinary(key):
            raise ModelError(f"{self.system.name}.once: expected a text or a tuple as a key, got {shown(key)}.")
        called(hash, f"{self.system.name}.once: key", key)
        value: Value = self._values.get(key, lambda: called(make, "once"))
        return value

    def lanes(self, name: str, lanes: int) -> tuple[Kernel, Array]:
        """The kernel of a standard function that works on several states at a time, and its prepared store.

        Arguments:
            name: its name in `constrain/kernels/standard.py`
            lanes: how many states at a time
        """
        check_arguments(Plant.lanes, locals())
        self._check_standard(name)
        function = Traced(name, *variant(self, name, lanes))
        return self._in_lanes(function, lanes, with_partners=not STANDARD[name].is_seldom)

    def traced_lanes(self, function: Traced, lanes: int) -> tuple[Kernel, Array]:
        """The same of a function that is no standard one.

        Arguments:
            function: its name, what traces it, and what tells its code apart
            lanes: how many states at a time
        """
        if not isinstance(function, Traced):
            check_arguments(Plant.traced_lanes, locals())
        return self._in_lanes(function, lanes, with_partners=True)

    def unbound_lanes(self, function: Traced, lanes: int, *, with_partners: bool = True) -> Kernel:
        """The machine code of such a function without parameters put in: it may have further numbers.

        Arguments:
            function: its name, what traces it, and what tells its code apart
            lanes: how many states at a time
            with_partners: no where one state is evaluated without them: what comes out is then equal to the bit
        """
        check_arguments(Plant.unbound_lanes, locals())
        name, trace, label = function
        return self.backend.kernel(
            name,
            f"{self.key} {name} {label}",
            lambda: trace(self.equations),
            lanes,
            partners=lambda: partners(self.machine) if with_partners else {},
        )

    def _in_lanes(self, function: Traced, lanes: int, *, with_partners: bool) -> tuple[Kernel, Array]:
        def make() -> tuple[Kernel, Array]:
            kernel = self.unbound_lanes(function, lanes, with_partners=with_partners)
            return kernel, kernel.store(self.parameters)

        return self._lanes.get(f"{function.name} {function.label} lanes {lanes}", make)

    def pack(self, q: ArrayLike, v: ArrayLike = 0.0, t: float = 0.0, *, rows: KeptRows = "all") -> Array:
        """Pack a state as it is, with nothing that acts on it; see `constrain/layout.py`.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s); zero if not given
            t: time, s
            rows: which rows the mask keeps. "all": for functions that do not solve. "start": those chosen at the start,
                for native kernels and laws. "here": those chosen at this state, which must obey them, for functions of
                the whole machine. With both of the latter w is that of a singular mass matrix
        """
        check_arguments(Plant.pack, locals())
        sizes = ((len(self.coordinates),), (len(self.velocities),))
        if np.shape(q) != sizes[0] or np.shape(v) not in ((), sizes[1]):
            raise ModelError(
                f"{self.system.name}: expected q and v of shapes {sizes[0]} and {sizes[1]}, got {np.shape(q)} and "
                f"{np.shape(v)}."
            )
        return self._kept(self.layout.pack(q, v, t), rows)

    def _kept(self, packed: Array, rows: KeptRows) -> Array:
        """A packed state with the mask of the rows that are kept."""
        if rows != "all":
            keep_rows(self, packed, self.choice.mask if rows == "start" else rows_at(self, packed).mask)
        return packed

    def _check_standard(self, name: str) -> None:
        """Refuse what is no name of a standard function."""
        if not is_text(name) or name not in STANDARD:
            raise ModelError(f"{self.system.name}: no function {shown(name)}; {near(name, STANDARD)}")

    def _check_packed(self, inputs: Array) -> None:
        """Refuse what is no packed state of this machine."""
        if not isinstance(inputs, np.ndarray) or inputs.shape != (self.layout.size,):
            raise ModelError(
                f"{self.system.name}: expected a packed state of {self.layout.size} numbers, got {shown(inputs)}. "
                "plant.inputs(q, v, t) gives one."
            )

    def inputs(self, q: ArrayLike, v: ArrayLike | None = None, t: float = 0.0, *, rows: KeptRows = "all") -> Array:
        """Pack a state after checking it; see `pack`.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s); zero if not given
            t: time, s
            rows: which rows the mask keeps
        """
        speed = np.zeros(len(self.velocities)) if v is None else checked(v, len(self.velocities), "v", self.velocities)
        time = checked((t,), 1, "t", ("time",))[0]
        if not is_text(rows) or rows not in ROWS_KEPT:
            raise ModelError(
                f"{self.system.name}: rows: expected {' or '.join(map(repr, ROWS_KEPT))}, got {shown(rows)}."
            )
        return self._kept(self.layout.pack(checked_configuration(q, self.machine), speed, time), rows)

    def evaluate(self, name: str, inputs: Array) -> dict[str, Array]:
        """Evaluate a standard function and name its outputs.

        Arguments:
            name: its name in `constrain/kernels/standard.py`
            inputs: a packed state, see `pack`
        """
        function = self.standard(name)
        self._check_packed(inputs)
        values = function(inputs)
        return {key: values[part] for key, part in function.outputs.items()}

    def mass_matrix(self, q: ArrayLike, *, parameters: Numbers | None = None) -> Array:
        """M(q), (n_v, n_v).

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        (mass,) = answers(self, "system_matrices", ("mass",), Asked(q, parameters=parameters))
        n = len(self.velocities)
        return by_columns(mass, n, n)

    def bias(self, q: ArrayLike, v: ArrayLike, *, parameters: Numbers | None = None) -> Array:
        """Coriolis, centrifugal, gravity, elastic and damping terms, (n_v,).

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        (bias,) = answers(self, "system_matrices", ("bias",), Asked(q, v, parameters=parameters))
        return bias

    def required_force(
        self, q: ArrayLike, v: ArrayLike, acceleration: ArrayLike, *, parameters: Numbers | None = None
    ) -> Array:
        """M v̇ + bias, (n_v,): inverse dynamics, the generalised force Q + Qc with which a machine has an acceleration.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            acceleration: v̇, one number per velocity (m/s², rad/s²)
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        n = len(self.velocities)
        rates = as_real(acceleration, n, "acceleration")
        if rates.ndim < 1 or rates.shape[-1] != n:
            raise ModelError(f"acceleration: expected shape ({n},), or a batch (count, {n}), got {rates.shape}.")
        asked = Asked(q, v, force=rates, parameters=parameters)
        (force,) = answers(self, Traced("required", required), ("force",), asked)
        return force

    def constraint(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, parameters: Numbers | None = None
    ) -> tuple[Array, Array]:
        """A, (rows, n_v), and b, (rows,), with A v̇ = b.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            t: time, s
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        asked = Asked(q, v, t, parameters=parameters)
        matrix, rhs = answers(self, "system_matrices", ("matrix", "rhs"), asked)
        return by_columns(matrix, len(self.constraints), len(self.velocities)), rhs

    def residual(self, q: ArrayLike, t: ArrayLike = 0.0, *, parameters: Numbers | None = None) -> Array:
        """Value of every row at position level, (rows,); zero for rows at velocity level.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            t: time, s
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        (value,) = answers(self, "system_matrices", ("value",), Asked(q, None, t, parameters=parameters))
        return value

    def velocity_residual(
        self, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, parameters: Numbers | None = None
    ) -> Array:
        """Rate of every row, (rows,); the row itself at velocity level.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            t: time, s
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        (rate,) = answers(self, "system_matrices", ("rate",), Asked(q, v, t, parameters=parameters))
        return rate

    def problem(self, inputs: Array) -> Problem:
        """M, Q, A and b at packed inputs.

        Arguments:
            inputs: a packed state, see `packed`
        """
        self._check_packed(inputs)
        return instant(self, inputs).problem

    def motion(  # noqa: PLR0913  (a state and all that acts on it)
        self,
        q: ArrayLike,
        v: ArrayLike,
        force: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        actuation: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        *,
        parameters: Numbers | None = None,
    ) -> Motion:
        """The constrained motion at a state: acceleration and constraint force.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities (m/s, rad/s)
            force: generalised force, one number per velocity (N, N·m)
            t: time, s
            actuation: one number per motor (N, N·m)
            wrenches: {frame: (force, torque)} at the frame's origin, world axes (N, N·m)
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        if wrenches is None and parameters is None:
            motion = self.quick(q, v, force, t, actuation)  # type: ignore[arg-type]  # which refuses times
            if motion is not None:
                return motion
        asked = Asked(q, v, t, force, actuation, wrenches, parameters)
        if asked.is_batch:
            return batch_motion(batch_of(self, asked))
        return motion_at(self, packed(self, asked))

    def packed(
        self,
        q: ArrayLike,
        v: ArrayLike,
        force: ArrayLike | None = None,
        t: float = 0.0,
        actuation: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
    ) -> Array:
        """Pack a state and all that acts on it.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            force: generalised force beside all others, one number per velocity (N, N·m); zero if not given
            t: time, s
            actuation: one number per motor (N, N·m); zero if not given
            wrenches: {frame: (force, torque)} at the frame's origin, world axes (N, N·m); none if not given
        """
        packed = self.inputs(q, v, t)
        if force is not None:
            packed[self.layout.f] = checked(force, len(self.velocities), "force", self.velocities)
        if actuation is not None:
            packed[self.layout.u][: len(self.actuators)] = checked(
                actuation, len(self.actuators), "actuation", self.actuators
            )
        for frame, wrench in pushed_frames(wrenches):
            packed[self.layout.f] += self.jacobian(frame, q).T @ checked(wrench, 6, f"wrench on {frame}", WRENCH)
        return packed

    def pose(self, frame: str, q: ArrayLike, *, parameters: Numbers | None = None) -> NumericPose:
        """Position and rotation of a frame in the world.

        Arguments:
            frame: name of a body, or of a frame on one
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        asked = Asked(q, parameters=parameters)
        position, turn = answers(self, frame_function(self, frame), (("entry0", PLACE), ("entry0", TURN)), asked)
        return NumericPose(position, by_columns(turn, 3, 3))

    def jacobian(self, frame: str, q: ArrayLike, *, parameters: Numbers | None = None) -> Array:
        """(6, n_v): linear velocity of the frame's origin, then angular velocity, world axes.

        Arguments:
            frame: name of a body, or of a frame on one
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        asked = Asked(q, parameters=parameters)
        (entries,) = answers(self, frame_function(self, frame), (("entry0", JACOBIAN),), asked)
        return by_columns(entries, 6, len(self.velocities))

    def velocity(self, frame: str, q: ArrayLike, v: ArrayLike, *, parameters: Numbers | None = None) -> Array:
        """Linear velocity of a frame's origin, then angular velocity, world axes, (6,).

        Arguments:
            frame: name of a body, or of a frame on one
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        asked = Asked(q, v, parameters=parameters)
        (entries,) = answers(self, frame_function(self, frame), (("entry0", JACOBIAN),), asked)
        return moved(by_columns(entries, 6, len(self.velocities)), as_real(v, len(self.velocities), "v"))

    def watch(self, names: tuple[str, ...], inputs: Array) -> list[Array]:
        """Readings of named scalars (value, gradient) and frames (position, rotation, Jacobian); see `readings.py`.

        Arguments:
            names: names of coordinates, displacements and frames
            inputs: a packed state, see `inputs`
        """
        if not isinstance(names, tuple | list) or not is_ordinary(names):
            raise ModelError(f"{self.system.name}: expected a tuple of names, got {shown(names)}.")
        names = tuple(names)
        scalars = {*self.coordinates, *self.machine.displacements}
        for name in names:
            if not is_text(name) or (name not in self.machine.frames and name not in scalars):
                raise ModelError(f"{self.system.name}: no frame {shown(name)}; {near(name, self.machine.frames)}")
        self._check_packed(inputs)
        if not names:
            return []
        function = self.function(*watch_function(names))
        values = function(inputs)
        return [values[part] for part in function.outputs.values()]

    def actuation_map(self, q: ArrayLike, *, parameters: Numbers | None = None) -> Array:
        """B(q), (n_v, motors): generalised force of the motors is B u.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        (values,) = answers(self, Traced("actuation", trace_map), ("values",), Asked(q, parameters=parameters))
        return by_columns(values, len(self.velocities), len(self.actuators))

    def energy(self, q: ArrayLike, v: ArrayLike, *, parameters: Numbers | None = None) -> Energy:
        """Kinetic and potential energy.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        asked = Asked(q, v, parameters=parameters)
        kinetic, potential = answers(self, "observe", ("kinetic", "potential"), asked)
        return Energy(as_number(kinetic), as_number(potential))

    def momentum(self, q: ArrayLike, v: ArrayLike, *, parameters: Numbers | None = None) -> Array:
        """Linear momentum, then angular momentum about the world's origin, (6,).

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        (momentum,) = answers(self, "observe", ("momentum",), Asked(q, v, parameters=parameters))
        return momentum

    def centre_of_mass(self, q: ArrayLike) -> Array:
        """Centre of mass of the whole machine in the world.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
        """
        return floating.centre_of_mass(self, q)

    def generalised_jacobian(self, frame: str, q: ArrayLike, base: str | None = None) -> Array:
        """J* of space robots, (6, n_v): a frame's velocity while its tree floats without momentum.

        Arguments:
            frame: name of a body, or of a frame on one
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            base: name of the floating base; that of the frame's tree if not given
        """
        check_arguments(Plant.generalised_jacobian, locals())
        return floating.generalised_jacobian(self, frame, q, base)

    def reaction_null(self, q: ArrayLike, base: str | None = None, *, attitude_only: bool = False) -> Array:
        """(n_v, k): rates that leave a floating base still, or only its attitude.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            base: name of the floating base; needed if there are several
            attitude_only: whether the base may be pushed along
        """
        check_arguments(Plant.reaction_null, locals())
        return floating.reaction_null(self, q, base, attitude_only=attitude_only)

    def output(
        self, name: str, q: ArrayLike, v: ArrayLike, t: ArrayLike = 0.0, *, parameters: Numbers | None = None
    ) -> Any:  # noqa: ANN401  (a float, or an array of one per state)
        """The value of one of the machine's outputs, by its name.

        Arguments:
            name: name of the output
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            t: time, s
            parameters: {parameter: value} instead of the plant's own, in the parameters' units

        Returns:
            a float; of a batch an array, (count,)
        """
        if not is_text(name) or name not in self.outputs:
            raise ModelError(f"{self.system.name}: no output {shown(name)}; {near(name, self.outputs)}")
        place = self.outputs.index(name)
        asked = Asked(q, v, t, parameters=parameters)
        (value,) = answers(self, "observe", (("outputs", slice(place, place + 1)),), asked)
        return as_number(value)

    def reaction(  # noqa: PLR0913  (a state and all that acts on it, as in `motion`)
        self,
        connection: str,
        q: ArrayLike,
        v: ArrayLike,
        *,
        force: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        actuation: ArrayLike | None = None,
        wrenches: Mapping[str, ArrayLike] | None = None,
        parameters: Numbers | None = None,
    ) -> Reaction:
        """The wrench that a connection carries, its components that are not unique flagged.

        Arguments:
            connection: its name
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            force: generalised force beside all others, one number per velocity (N, N·m); zero if not given
            t: time, s
            actuation: one number per motor (N, N·m); zero if not given
            wrenches: {frame: (force, torque)} at the frame's origin, world axes (N, N·m); none if not given
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        if not is_text(connection):
            raise ModelError(f"{self.system.name}: expected the name of a connection, got {shown(connection)}.")
        asked = Asked(q, v, t, force, actuation, wrenches, parameters)
        return ask_each(self, lambda plant, inputs: reaction(plant, connection, inputs), asked)

    def derivatives(
        self,
        q: ArrayLike,
        v: ArrayLike,
        force: ArrayLike | None = None,
        t: ArrayLike = 0.0,
        *,
        parameters: Numbers | None = None,
    ) -> Derivatives:
        """Derivatives of the motion on the constraints' tangent space.

        Arguments:
            q: configuration, one number per coordinate (m, rad, unit quaternions)
            v: velocities, one number per velocity (m/s, rad/s)
            force: generalised force beside all others, one number per velocity (N, N·m); zero if not given
            t: time, s
            parameters: {parameter: value} instead of the plant's own, in the parameters' units
        """
        return ask_each(self, derivatives, Asked(q, v, t, force, parameters=parameters))

    def project(self, state: State | tuple[ArrayLike, ArrayLike], t: ArrayLike = 0.0) -> State:
        """The nearest state that obeys every row and its rate, as after each step of a run: for measured states.

        Least change in the mass metric, with the rows that are independent there; quaternions are made unit. A leading
        batch axis on q, v and t makes it a batch.

        Arguments:
            state: a State or (q, v)
            t: time, s; for rows that move by themselves

        Raises:
            ConstraintError: no closed configuration is near
        """
        return projected(self, as_state(state, f"{self.system.name}.project"), t)

    def step(self, state: State, actuation: ArrayLike | None = None, dt: float = 1e-3, t: float = 0.0) -> State:
        """Advance a state by dt with held actuation: one Runge-Kutta step, then projection.

        Arguments:
            state: a State (q, v)
            actuation: one number per motor (N, N·m); zero if not given
            dt: step, s
            t: time at which the step begins, s
        """
        return self.stepping.quick(state, actuation, dt, t) or one_step(self, state, actuation, dt, t)

    def with_parameters(self, values: Mapping[str, float]) -> Plant:
        """The same code with other numbers; a number that shapes the equations rebuilds them, with a warning.

        Arguments:
            values: {parameter: value}, in the parameters' units
        """
        changed = Plant(self.system.with_parameters(values), self.method, self.backend, self.solver)
        if changed.key != self.key:
            names = ", ".join(values)
            warnings.warn(
                f"{self.system.name}: {names} changes structure; deriving again", RebuildWarning, stacklevel=2
            )
        return changed


def build(
    system: System | Plant,
    method: Method | None = None,
    backend: Backend | None = None,
    solver: Solver | None = None,
) -> Plant:
    """Make a Plant of a System: derive, compile, assemble the start, each when it is first needed.

    Arguments:
        system: a System; a Plant is given back as it is
        method: how equations are derived; NewtonEuler() if not given
        backend: how functions are evaluated; Native() if not given
        solver: how the constrained motion is solved; MaskedLDL() if not given, on the Interpreted backend the literal
            UdwadiaKalaba()

    Raises:
        ModelError: for anything that is no System
    """
    if isinstance(system, Plant):
        return system
    if not isinstance(system, System):
        raise ModelError(
            f"build: expected a System or a Plant, got {shown(system)}. Load one by name with kb.load(...)."
        )
    chosen: Backend = Native() if backend is None else backend
    check_choice(chosen, Backend, "build: backend", "kb.Interpreted()")
    check_choice(NewtonEuler() if method is None else method, Method, "build: method", "kb.Lagrange()")
    check_choice(MaskedLDL() if solver is None else solver, Solver, "build: solver", "kb.KKT()")
    default: Solver = MaskedLDL() if chosen.is_native else UdwadiaKalaba()
    settled = settle_as_found(system)
    return Plant(settled, NewtonEuler() if method is None else method, chosen, solver or default)
