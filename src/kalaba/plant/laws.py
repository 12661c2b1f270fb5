"""What drives a run: control laws as expressions, evaluated at every stage, or sampled Python functions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from kalaba.boundary import checked_pairs, is_a, shown
from kalaba.constrain.kernels.functions import bounded, expressions, law_values
from kalaba.constrain.kernels.laws import law_by_limbs
from kalaba.errors import ExpressionError, ModelError
from kalaba.model.acting import Sampled
from kalaba.model.text.expressions import parse
from kalaba.model.text.resolve import is_known, unknown_word
from kalaba.space.arrays import Array
from kalaba.tolerances import WITHIN_BOUNDS

if TYPE_CHECKING:
    from kalaba.constrain.kernels.laws import LimbLaw
    from kalaba.control.goals import Goal
    from kalaba.derive.equations import Equations
    from kalaba.model.text.expressions import Expression
    from kalaba.model.topology.partition import Partition
    from kalaba.native.backend import Evaluator
    from kalaba.plant.plant import Plant, Trace
    from kalaba.plant.state import State


def read(plant: Plant, text: str | float | Expression, what: str, names: Iterable[str] = ()) -> Expression:
    """Read an expression over all words of a plant; an unknown word is an error with its position.

    `names` are what the caller knows besides, as a whole text: they are offered in the place of an unknown word.
    """
    machine = plant.machine
    try:
        expression = parse(text)
    except ExpressionError as error:
        raise ExpressionError(f"{what}: {error.problem}", error.text, error.position, error.remedy) from None
    parameters = [parameter.name for parameter in machine.parameters]
    scalars = {*plant.coordinates, *plant.velocities, *machine.displacements, *parameters}
    for name in sorted(expression.names):
        if not is_known(name, scalars, machine.frames):
            places = (f"{frame}.{axis}" for frame in machine.frames for axis in "xyz")
            raise unknown_word(expression, name, what, [*names, *scalars, *places])
    for name in sorted(expression.frames - set(machine.frames)):
        raise unknown_word(expression, name, what, machine.frames)
    return expression


@dataclass(frozen=True, slots=True, eq=False)
class Limited:
    """What a sampled law has motors give, where these may not give all that it wants; used as an array it is efforts.

    Arguments:
        efforts: one per motor, N or N·m
        missing: what it wanted beyond them, one number per motor, zero or more
    """

    efforts: Array
    missing: Array

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:  # noqa: FBT001  (NumPy's own)
        return np.array(self.efforts, dtype=dtype, copy=copy)

    def __len__(self) -> int:
        return len(self.efforts)

    def __getitem__(self, motor: int) -> float:
        return float(self.efforts[motor])


def limited(wanted: ArrayLike | Limited, low: Array, high: Array) -> Limited:
    """What motors give of what is wanted of them, within bounds; what was missing before is still missing."""
    before = wanted if isinstance(wanted, Limited) else Limited(np.asarray(wanted, dtype=float), np.zeros(len(low)))
    given = np.clip(before.efforts, low, high)
    beyond = np.abs(before.efforts - given)
    is_beyond = beyond > WITHIN_BOUNDS * np.maximum(np.abs(low), np.abs(high))
    return Limited(given, before.missing + np.where(is_beyond, beyond, 0.0))


# Of the equations, of the rows that are kept (1) or not (0), and of numbers from the start.
Expressions = Callable[["Equations", "ca.SX", "ca.SX"], list["ca.SX"]]
InLimbs = Callable[["Partition"], "LimbLaw | None"]  # None: for this machine there is no such form


@dataclass(frozen=True)
class Law:
    """The motors' efforts as expressions of state and time. Motors give no more than their limits.

    Arguments:
        text: what it says, for people and files
        motors: makes the efforts from the equations, the mask of the rows and the numbers; one expression per motor
        is_feedback: whether it reads the state
        shape: with the text this tells its code apart
        numbers: numbers that follow from the start; others need no new code
        pushes: makes the generalised force on every velocity, as no motor gives it; None = there is none
        bounds: lowest and highest effort per motor that it promised to keep, N or N·m; None = the motors' limits
        limbs: the motors' efforts limb by limb, for a machine with limbs that are alike; not beside pushes
    """

    text: str
    motors: Expressions
    is_feedback: bool
    shape: str = ""
    numbers: tuple[float, ...] = ()
    pushes: Expressions | None = None
    bounds: tuple[Array, Array] | None = None
    limbs: InLimbs | None = None

    @property
    def label(self) -> str:
        """What tells its code apart."""
        return f"{self.text} {self.shape}".rstrip()

    def range(self, plant: Plant) -> tuple[Array, Array]:
        """What each motor may give at the least and the most."""
        return (-plant.limits, plant.limits) if self.bounds is None else self.bounds

    def inputs(self, equations: Equations, mask: ca.SX | None = None, numbers: ca.SX | None = None) -> list[ca.SX]:
        """All held inputs under the law, one expression per motor before its limit; sampled forces pass through.

        After them come the pushes, if there are any: they stand next in a kernel's inputs. Without symbols for its
        numbers they are constants.
        """
        rows = ca.SX.ones(len(equations.machine.rows)) if mask is None else mask
        symbols = ca.SX(ca.DM(self.numbers)) if numbers is None else numbers
        motors, u = self.motors(equations, rows, symbols), equations.symbols.u
        pushes = [] if self.pushes is None else self.pushes(equations, rows, symbols)
        return motors + [u[i] for i in range(len(motors), u.shape[0])] + pushes


@runtime_checkable
class Controller(Protocol):
    """A control given as a value: for a machine and the state it starts from it has a law.

    A class of one's own inherits from it and writes `law`; the other members then have defaults. One that has all four
    by itself, for instance as fields of a dataclass, is a controller without inheriting.
    """

    @abstractmethod
    def law(self, plant: Plant, start: State) -> Law | Sampled:
        """The law, in expressions; or a function to be sampled, where expressions cannot say it."""

    def start(self, plant: Plant) -> State:
        """Where a run begins unless it is told otherwise; by default at the machine's start."""
        return plant.start

    @property
    def duration(self) -> float | None:
        """How long it takes, s; None if it does not end."""
        return None

    @property
    def goals(self) -> tuple[Goal, ...]:
        """What it is to meet, so that a run can be measured against it."""
        return ()


def written(texts: Mapping[str, str | float | Expression]) -> str:
    """{motor: expression} on one line, each as it is read: what a run says of its control."""
    return "; ".join(f"{name}={parse(text).canonical}" for name, text in texts.items())


@dataclass(frozen=True)
class MotorTexts(Controller):
    """The control {motor: expression}; motors without one are idle."""

    texts: Mapping[str, str | float]

    def law(self, plant: Plant, start: State) -> Law:  # expressions count from nothing
        """The expressions as a law."""
        plant.motors(tuple(self.texts), "control")
        texts = {name: read(plant, text, f"control.{name}") for name, text in self.texts.items()}

        def motors(equations: Equations, _: ca.SX, __: ca.SX) -> list[ca.SX]:
            value = equations.kinematics.value
            return [value(texts[name]) if name in texts else ca.SX(0) for name in plant.actuators]

        fixed = {"t", *(parameter.name for parameter in plant.machine.parameters)}
        return Law(
            text=written(texts),
            motors=motors,
            is_feedback=any(expression.frames or expression.names - fixed for expression in texts.values()),
        )


@dataclass(frozen=True)
class SampledControl(Controller):
    """A sampled Python function as a control."""

    function: Sampled

    def law(self, plant: Plant, start: State) -> Sampled:  # the function reads the state
        """The function itself."""
        return self.function


Control = Mapping[str, str | float] | Sampled | Controller


def controller(control: Control, what: str) -> Controller:
    """A control in any of its forms as a Controller; `what` asks for it, for the error of what is none."""
    if isinstance(control, Mapping):
        return MotorTexts(dict(checked_pairs(control, f"{what}: control", "{motor: expression}")))
    if isinstance(control, Sampled):
        return SampledControl(control)
    if is_a(control, Controller) and not isinstance(control, type):
        return control
    kinds = "{motor: expression}, a controller such as kb.Carry(...), or kb.Sampled(...)"
    raise ModelError(f"{what}: expected control as {kinds}, got {shown(control)}.")


class LawCode(NamedTuple):
    """A law as a function of a plant: what traces it, what tells its code apart, and its numbers."""

    trace: Trace
    label: str
    numbers: tuple[float, ...]


def law_function(plant: Plant, chosen: Law, *, limited: bool = True) -> Evaluator:
    """The values of all held inputs under a law: what motors give, or what is asked of them. Sampled forces pass.

    The bounds are numbers of the kernel: without them, and with others, it is the same kernel.
    """
    code = law_code(plant, chosen, limited=limited)
    return plant.function("control", code.trace, code.label, numbers=code.numbers)


def law_code(plant: Plant, chosen: Law, *, limited: bool = True, side_by_side: bool = False) -> LawCode:
    """What `law_function` compiles; with `side_by_side` for a kernel whose lanes are needed for several states."""
    motors, count = len(plant.actuators), len(chosen.numbers)
    low, high = chosen.range(plant) if limited else (np.full(motors, -np.inf), np.full(motors, np.inf))

    def values(equations: Equations, mask: ca.SX, numbers: ca.SX) -> list[ca.SX]:
        u = chosen.inputs(equations, mask, numbers[:count])
        lowest, highest = numbers[count : count + motors], numbers[count + motors :]
        return [bounded(u[i], lowest[i], highest[i]) for i in range(motors)] + u[motors:]

    numbers = (*chosen.numbers, *low.tolist(), *high.tolist())
    trace = _limb_trace(plant, chosen, side_by_side=side_by_side)
    if trace is not None:
        return LawCode(trace, f"{chosen.label} limbs", numbers)
    return LawCode(_trace_of(plant, values, len(numbers)), chosen.label, numbers)


def _limb_trace(plant: Plant, law: Law, *, side_by_side: bool) -> Trace | None:
    """What traces a law limb by limb; None where the law has no such form, or the machine no limbs."""
    machine = plant.limb_machine
    if machine is not None and side_by_side:
        machine = machine.one_by_one()
    form = None if law.limbs is None or machine is None else law.limbs(machine.partition)
    if machine is None or form is None:
        return None

    return lambda _: law_by_limbs(machine, form, len(law.numbers))


def traced_function(plant: Plant, name: str, values: Expressions, label: str, numbers: tuple[float, ...]) -> Evaluator:
    """An evaluator of expressions of a law; `label` tells its code apart, `numbers` may be any.

    Native code is told at each call which rows are kept. Elsewhere no choice is at hand: that of the start is taken.
    """
    return plant.function(name, _trace_of(plant, values, len(numbers)), label, numbers=numbers)


def _trace_of(plant: Plant, values: Expressions, count: int) -> Trace:
    """What traces expressions of a law with so many numbers."""

    def chosen(equations: Equations, mask: ca.SX, symbols: ca.SX) -> list[ca.SX]:
        if not plant.backend.is_native:
            mask = ca.SX(ca.DM((plant.choice.mask > 0).astype(float)))
        return values(equations, mask, symbols)

    return lambda e: law_values(e, chosen, count)


def trace_map(equations: Equations) -> ca.Function:
    """B(q), column by column."""
    return expressions(equations, lambda e: [e.actuation_map.reshape((-1, 1))])
