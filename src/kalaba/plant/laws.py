"""What drives a run: control laws as expressions, evaluated at every stage, or sampled Python functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from kalaba.errors import ControlError, ExpressionError, near
from kalaba.model.parts import Sampled
from kalaba.model.text.expressions import parse
from kalaba.model.text.resolve import is_known, unknown_word

if TYPE_CHECKING:
    import casadi as ca

    from kalaba.constrain.kernels.laws import LawShare, LimbLaw
    from kalaba.derive.equations import Equations
    from kalaba.model.text.expressions import Expression
    from kalaba.model.topology.partition import Partition
    from kalaba.native.backend import Evaluator
    from kalaba.plant.plant import Plant, Trace
    from kalaba.plant.state import State

Array = NDArray[np.float64]


def read(plant: Plant, text: Any, what: str) -> Expression:  # noqa: ANN401
    """Read an expression over all words of a plant; an unknown word is an error with its position."""
    machine = plant.machine
    try:
        expression = parse(text)
    except ExpressionError as error:
        raise ExpressionError(f"{what}: {error.problem}", error.text, error.position, error.remedy) from None
    parameters = [parameter.name for parameter in machine.parameters]
    scalars = {*plant.coordinates, *plant.velocities, *machine.displacements, *parameters}
    for name in sorted(expression.names):
        if not is_known(name, scalars, machine.frames):
            raise unknown_word(expression, name, what, [*scalars, *(f"{f}.{c}" for f in machine.frames for c in "xyz")])
    for name in sorted(expression.frames - set(machine.frames)):
        raise unknown_word(expression, name, what, machine.frames)
    return expression


Efforts = Callable[["Equations", "ca.SX", "ca.SX"], list["ca.SX"]]
InLimbs = Callable[["Partition"], "LimbLaw | None"]  # None: for this machine there is no such form
Bounds = Sequence["float | ca.SX"]


@dataclass(frozen=True)
class Law:
    """The motors' efforts as expressions of state and time. Motors give no more than their limits."""

    text: str  # what it says, for people and files
    motors: Efforts  # of the equations, of the rows that are kept (1) or not (0), and of its numbers
    is_feedback: bool  # whether it reads the state
    shape: str = ""  # with the text this tells its code apart
    numbers: tuple[float, ...] = ()  # of the start: others need no new code
    pushes: Efforts | None = None  # on every velocity, as no motor does
    bounds: tuple[Array, Array] | None = None  # that it promised to keep, motor by motor; None: the motors' limits
    limbs: InLimbs | None = None  # the motors' efforts limb by limb, for a machine with limbs; not beside pushes

    @property
    def label(self) -> str:
        """What tells its code apart."""
        return f"{self.text} {self.shape}".rstrip()

    def range(self, plant: Plant) -> tuple[Array, Array]:
        """What each motor may give at the least and the most."""
        return (-plant.limits, plant.limits) if self.bounds is None else self.bounds

    def inputs(self, equations: Equations, kept: ca.SX | None = None, numbers: ca.SX | None = None) -> list[ca.SX]:
        """All held inputs under the law, one expression a motor before its limit; sampled forces pass through.

        After them come the pushes, if there are any: they stand next in a kernel's inputs. Without symbols for its
        numbers they are constants.
        """
        import casadi as ca

        rows = ca.SX.ones(len(equations.machine.rows)) if kept is None else kept
        own = ca.SX(ca.DM(self.numbers)) if numbers is None else numbers
        motors, u = self.motors(equations, rows, own), equations.symbols.u
        pushes = [] if self.pushes is None else self.pushes(equations, rows, own)
        return motors + [u[i] for i in range(len(motors), u.shape[0])] + pushes


@runtime_checkable
class Controller(Protocol):
    """A control given as a value: for a machine and the state it starts from it has a law."""

    def law(self, plant: Plant, start: State) -> Law | Sampled:
        """The law, in expressions; or a function to be sampled, where expressions cannot say it."""


def law(plant: Plant, control: Mapping[str, Any]) -> Law:
    """Read a control law {motor: expression}; motors without one are idle."""
    for name in control:
        if name not in plant.actuators:
            raise ControlError(f"control: {plant.system.name} has no actuator {name!r}; {near(name, plant.actuators)}")
    texts = {name: read(plant, text, f"control.{name}") for name, text in control.items()}

    def motors(found: Equations, _: ca.SX, __: ca.SX) -> list[ca.SX]:
        import casadi as ca

        return [found.kinematics.value(texts[name]) if name in texts else ca.SX(0) for name in plant.actuators]

    fixed = {"t", *(parameter.name for parameter in plant.machine.parameters)}
    return Law(
        text="; ".join(f"{name}={expression.canonical}" for name, expression in texts.items()),
        motors=motors,
        is_feedback=any(expression.frames or expression.names - fixed for expression in texts.values()),
    )


def law_of(plant: Plant, control: Any, start: State) -> Law | Sampled | None:  # noqa: ANN401
    """What a control drives a machine with: a law, a sampled function, or nothing."""
    if isinstance(control, Mapping):
        return law(plant, control)
    if isinstance(control, Sampled) or control is None:
        return control
    found: Law | Sampled = control.law(plant, start)
    return found


def law_function(plant: Plant, chosen: Law, *, limited: bool = True) -> Evaluator:
    """The values of all held inputs under a law; sampled forces pass through. What it asks for, or what motors give."""
    low, high = (bound.tolist() for bound in chosen.range(plant)) if limited else ([], [])
    label = f"{chosen.label} | {low} {high}"
    trace = _limb_trace(plant, chosen, low, high)
    if trace is not None:
        return plant.function("control", trace, f"{label} limbs", numbers=chosen.numbers)
    trace = partial(_trace, chosen=chosen, low=low, high=high)
    return plant.function("control", trace, label, numbers=chosen.numbers)


def _limb_trace(plant: Plant, chosen: Law, low: list[float], high: list[float]) -> Trace | None:
    """What traces a law limb by limb; None where the law has no such form, or the machine no limbs."""
    if chosen.limbs is None or plant.parted is None:
        return None
    limbs, form = plant.parted, chosen.limbs(plant.parted.parted)
    if form is None:
        return None

    def cut(share: LawShare, efforts: list[ca.SX]) -> list[ca.SX]:
        if not low:
            return efforts
        least, most = ([[bound[i] for i in motors] for motors in share.motors] for bound in (low, high))
        return within(efforts, share.constants(least), share.constants(most))

    from kalaba.constrain.kernels.laws import law_by_limbs

    return lambda _: law_by_limbs(limbs, form, len(chosen.numbers), cut)


def within(efforts: list[ca.SX], low: Bounds, high: Bounds) -> list[ca.SX]:
    """Efforts cut off at what motors may give; unlike min and max, this keeps NaN."""
    import casadi as ca

    found = []
    for effort, least, most in zip(efforts, map(ca.SX, low), map(ca.SX, high), strict=True):
        upper = effort if _is_infinite(most) else ca.if_else(ca.gt(effort, most), most, effort)
        found.append(upper if _is_infinite(least) else ca.if_else(ca.lt(upper, least), least, upper))
    return found


def _is_infinite(bound: ca.SX) -> bool:
    return bool(bound.is_constant() and np.isinf(float(bound)))


def _trace(equations: Equations, chosen: Law, low: list[float], high: list[float]) -> ca.Function:
    from kalaba.constrain.kernels.functions import law_values

    def values(found: Equations, kept: ca.SX, numbers: ca.SX) -> list[ca.SX]:
        u = chosen.inputs(found, kept, numbers)
        return within(u[: len(low)], low, high) + u[len(low) :]

    return law_values(equations, values, len(chosen.numbers))


def trace_map(equations: Equations) -> ca.Function:
    """B(q), column by column."""
    from kalaba.constrain.kernels.functions import expressions

    return expressions(equations, lambda found: [found.actuation_map.reshape((-1, 1))])
