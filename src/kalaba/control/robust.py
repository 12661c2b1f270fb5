"""What a control law does about a model that is wrong: a robust term, or an estimate of what is missing.

A law that believes other numbers than the machine has leaves an acceleration d of each goal unaccounted for::

    ë + 2 ζ ω ė + ω² e = d − w        e wanted minus found, w what is added to the wanted acceleration

With z = ė + λ e, λ = ζ ω (for ζ > 1: ω (ζ − √(ζ² − 1))) and κ = max(ω² (1 − ζ²), 0), V = ½ z² + ½ κ e² obeys::

    V̇ = −(2 ζ ω − λ) z² − κ λ e² + z (d − w)

so that w need only oppose z, and where z is small e is: |e| ≤ max |z| / λ once a start has died out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

import casadi as ca

from kalaba.errors import ControlError, near
from kalaba.paths.checks import finite, positive
from kalaba.space.number import measured

if TYPE_CHECKING:
    from kalaba.control.goals import Rows
    from kalaba.derive.equations import Equations
    from kalaba.plant.plant import Plant

Model = tuple[tuple[str, float], ...]


@runtime_checkable
class Correction(Protocol):
    """What a law does about a model that is wrong; whoever inherits from it writes one of the two."""

    def term(self, error: ca.SX) -> ca.SX:
        """The acceleration w to add at once, for the errors z; by default none."""
        return ca.SX.zeros(error.shape[0])

    @property
    def learning(self) -> float:
        """The gain Γ of an estimate that grows with the errors, 1/s²; 0: nothing is learnt."""
        return 0.0


@dataclass(frozen=True, slots=True)
class Robust(Correction):
    """A term that overrules whatever is smaller than a bound: w = ρ z / (|z| + ε), goal by goal.

    With |d| < ρ it ends in |z| ≤ ε |d| / (ρ − |d|) for ζ ≥ 1: there V = ½ z² falls wherever |z| is larger. d counts
    what the term itself does not reach, (1 − S Ŝ⁺) w, so that ρ must exceed it too. Near z = 0 the term is a gain of
    ρ/ε, which the step of the run or the rate of the drive must resolve: ε well above ρ · step.

    Reference: Corless and Leitmann (1981), IEEE Trans. Automatic Control 26(5), 1139-1144; for servo constraints Chen
    and Zhang (2010), J. Franklin Institute 347(1), 69-86.

    Arguments:
        bound: ρ, m/s² or rad/s², the units of each goal
        width: ε, m/s or rad/s
    """

    bound: float = measured("m/s^2", "rad/s^2")
    width: float = measured("m/s", "rad/s")

    if TYPE_CHECKING:

        def __init__(self, bound: float, width: float) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "bound", positive(self.bound, "Robust.bound"))
        object.__setattr__(self, "width", positive(self.width, "Robust.width"))

    def term(self, error: ca.SX) -> ca.SX:
        """The acceleration w to add, for the errors z."""
        return self.bound * error / (ca.fabs(error) + self.width)


@dataclass(frozen=True, slots=True)
class Adaptive(Correction):
    """An estimate of what is missing, goal by goal, that grows while there is an error: w = d̂, d̂' = Γ z, d̂(0) = 0.

    V + (d − d̂)²/2Γ falls while d is constant, so z ends at zero; a d that changes leaves |z| about |ḋ|/Γ. For ζ ≥ 1
    z̈ + (2 ζ ω − λ) ż + Γ z = ḋ: it rings at √Γ where Γ is large. The estimate is a number of the drive: the law is
    sampled at the servo's rate, and √Γ must be well below it.

    Reference: Slotine and Li (1991), Applied Nonlinear Control, chapter 8.

    Arguments:
        gain: Γ, 1/s²
    """

    gain: float = measured("1/s^2")

    if TYPE_CHECKING:

        def __init__(self, gain: float) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", positive(self.gain, "Adaptive.gain"))

    @property
    def learning(self) -> float:
        """Γ."""
        return self.gain


def combined_error(equations: Equations, rows: Rows, frequency: float, damping: float) -> ca.SX:
    """The errors z = ė + λ e of all goals."""
    slope = frequency * (damping - sqrt(max(damping**2 - 1, 0.0)))
    return rows.aim.velocity - ca.mtimes(rows.matrix, equations.symbols.v) + slope * rows.aim.error


def checked_model(plant: Plant, model: Mapping[str, Any]) -> Model:
    """The numbers that a controller believes; they may differ from the machine's wherever these are symbols."""
    known = {parameter.name: parameter for parameter in plant.machine.parameters}
    for name in model:
        if name not in known:
            raise ControlError(f"servo.model: {plant.system.name} has no parameter {name!r}; {near(name, known)}")
        if known[name].is_structure:
            raise ControlError(
                f"servo.model: {name} shapes the equations, of which a law has only the machine's own. "
                f"Leave it as it is: {known[name].value:g}."
            )
    return tuple((name, finite(value, f"servo.model.{name}")) for name, value in model.items())


def believed(equations: Equations, model: Model, values: list[ca.SX]) -> list[ca.SX]:
    """Expressions with a model's numbers in the places of the machine's."""
    if not model:
        return values
    names = [parameter.name for parameter in equations.machine.free_parameters]
    p = [equations.symbols.p[names.index(name)] for name, _ in model]
    substituted: list[ca.SX] = ca.substitute(values, p, [ca.SX(number) for _, number in model])
    return substituted
