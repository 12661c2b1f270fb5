"""What drives a run: control laws as expressions, evaluated at every stage, or sampled Python functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.errors import ControlError, ExpressionError, near
from kalaba.model.expression import parse
from kalaba.model.parts import Sampled
from kalaba.model.resolve import is_known, unknown_word

if TYPE_CHECKING:
    import casadi as ca

    from kalaba.backend import Evaluator
    from kalaba.derive.equations import Equations
    from kalaba.model.expression import Expression
    from kalaba.plant import Plant

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


@dataclass(frozen=True)
class Law:
    """Expressions for motors; the others are idle. Motors give no more than their limits."""

    texts: tuple[tuple[str, Expression], ...]

    @property
    def label(self) -> str:
        """What tells its code apart."""
        return "; ".join(f"{name}={expression.canonical}" for name, expression in self.texts)


def law(plant: Plant, control: Mapping[str, Any]) -> Law:
    """Read a control law {motor: expression}."""
    for name in control:
        if name not in plant.actuators:
            message = f"control: {plant.system.name} has no actuator {name!r}; {near(name, plant.actuators)}"
            raise ControlError(message)
    return Law(tuple((name, read(plant, text, f"control.{name}")) for name, text in control.items()))


def law_function(plant: Plant, chosen: Law) -> Evaluator:
    """The values of all held inputs under a law; sampled forces pass through."""
    limits = ",".join(repr(actuator.limit) for actuator in plant.machine.actuators)
    return plant.function("control", lambda equations: _trace(equations, chosen), f"{chosen.label} | {limits}")


def _trace(equations: Equations, chosen: Law) -> ca.Function:
    import casadi as ca

    from kalaba.constrain.functions import expressions

    texts = dict(chosen.texts)

    def values(found: Equations) -> list[ca.SX]:
        u = []
        for actuator in found.machine.actuators:
            value = found.kinematics.value(texts[actuator.name]) if actuator.name in texts else ca.SX(0)
            if np.isfinite(actuator.limit):
                value = value / ca.fmax(1, ca.fabs(value) / actuator.limit)  # unlike min and max, keeps NaN
            u.append(value)
        return u + [found.symbols.u[i] for i in range(len(u), found.symbols.u.shape[0])]

    return expressions(equations, values)


@dataclass
class Sampler:
    """A sampled function at work: when it is due, what it drives, its discrete state."""

    source: Sampled
    part: slice  # of the held inputs
    names: tuple[str, ...]
    limits: Array
    state: Any
    count: int = 0

    @property
    def due(self) -> float:
        """Time of the next sample."""
        return self.count * self.source.period

    def sample(self, t: float, q: Array, v: Array) -> Array:
        """Call the function and check what it returns."""
        if self.source.state is None:
            given = self.source.function(t, q, v)
        else:
            given, self.state = self.source.function(t, q, v, self.state)
        self.count += 1
        if isinstance(given, Mapping):
            for name in given:
                if name not in self.names:
                    message = f"Sampled at t = {t:g}: no input {name!r}; {near(name, self.names)}"
                    raise ControlError(message)
            given = [given.get(name, 0.0) for name in self.names]
        values = np.atleast_1d(np.asarray(given, dtype=float))
        if values.shape != (len(self.names),) or not np.isfinite(values).all():
            message = f"Sampled at t = {t:g}: expected {len(self.names)} finite numbers, got {given!r}."
            raise ControlError(message)
        return np.asarray(np.clip(values, -self.limits, self.limits))


def samplers(plant: Plant, control: Any) -> list[Sampler]:  # noqa: ANN401
    """All sampled functions of a run: the control, and Force parts."""
    found = []
    motors = len(plant.actuators)
    if isinstance(control, Sampled):
        limits = np.array([actuator.limit for actuator in plant.machine.actuators])
        found.append(Sampler(control, slice(0, motors), plant.actuators, limits, control.state))
    inputs = plant.machine.sampled_inputs
    for force in plant.machine.forces:
        for half in ("force", "torque"):
            source = getattr(force, half)
            if isinstance(source, Sampled):
                first = motors + inputs.index(f"{force.name}.{half}.x")
                part = slice(first, first + 3)
                found.append(Sampler(source, part, ("x", "y", "z"), np.full(3, np.inf), source.state))
    return found


def trace_map(equations: Equations) -> ca.Function:
    """B(q), column by column."""
    from kalaba.constrain.functions import expressions

    return expressions(equations, lambda found: [found.actuation_map.reshape((-1, 1))])
