"""Beams: solids that bend. Euler-Bernoulli with assumed modes in a frame that is tangent at the root.

A Beam lies along x of its body. Its shapes are functions of ξ = x/length on [0, 1], scaled to 1 at the tip; each has a
coordinate `body.mode1`, `body.mode2`, ... in metres, so the deflection of the tip is their sum.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kalaba.errors import ModelError
from kalaba.model.number import Number, nested, scalar
from kalaba.model.pose import Axis, Y, Z, as_axis
from kalaba.model.section import Section
from kalaba.model.shapes import ClampedFree, Shapes
from kalaba.model.solid import Evaluate, MassProperties

LETTERS = {"y": 1, "z": 2}


@dataclass(frozen=True, slots=True)
class Beam:
    """A slender elastic beam from the body's origin along x.

    It bends along each axis of `bending` (Y, Z or both) with its own set of `shapes`. With `foreshortening` points move
    towards the root as the beam bends, u = −½ ∫ w′² dx, with every term of the kinetic energy that follows.
    """

    length: Number = scalar("m", "length")
    section: Section = nested("section")
    density: Number = scalar("kg/m^3", "density")
    young: Number = scalar("Pa", "Young's modulus")
    shapes: Shapes = field(default_factory=lambda: ClampedFree(1))
    foreshortening: bool = False
    bending: tuple[Axis, ...] = (Y,)
    damping: Number = scalar("1", "modal damping ratio", 0.0)

    def __post_init__(self) -> None:
        given: Any = self.bending
        axes = (given,) if isinstance(given, Axis) else tuple(given)
        object.__setattr__(self, "bending", tuple(as_axis(axis) for axis in axes))
        if not axes or any(axis not in (Y, Z) for axis in self.bending) or len(set(self.bending)) != len(axes):
            message = f"Beam.bending: expected kb.Y, kb.Z or both, got {given!r}. The beam itself lies along x."
            raise ModelError(message)
        for name in ("length", "density", "young"):
            value = getattr(self, name)
            if not isinstance(value, str) and not value > 0:
                message = f"Beam.{name}: expected more than zero, got {value!r}."
                raise ModelError(message)

    @property
    def planes(self) -> tuple[int, ...]:
        """The directions of bending as indices: 1 for y, 2 for z."""
        return tuple(LETTERS[axis.letter] for axis in self.bending)

    @property
    def modes(self) -> int:
        """Number of modal coordinates."""
        return self.shapes.count * len(self.bending)

    def mass_properties(self, value: Evaluate) -> MassProperties:
        """Those of the straight beam, turning about its own axis included."""
        length, area = value(self.length), self.section.area(value)
        mass = value(self.density) * area * length
        across = mass * length * length / 12
        polar = (
            value(self.density) * length * (self.section.second_moment(1, value) + self.section.second_moment(2, value))
        )
        return MassProperties(mass, (length / 2, 0.0, 0.0), (polar, across, across, 0.0, 0.0, 0.0), (length, 0.0, 0.0))


def readings(beam: Beam, name: str) -> list[tuple[str, str, str]]:
    """Deflection and slope of the tip along each axis of bending: name, unit, expression of the modes."""
    from kalaba.model.shapes import table

    ends = beam.shapes.evaluate(np.array([1.0]))[0][:, 0]
    slopes = table(beam.shapes).tip_slope
    found = []
    for plane in range(len(beam.bending)):
        modes = [f"{name}.mode{plane * beam.shapes.count + i + 1}" for i in range(beam.shapes.count)]
        suffix = "" if plane == 0 else str(plane + 1)
        found.append((f"{name}.tip_deflection{suffix}", "m", _sum(ends, modes)))
        found.append((f"{name}.tip_slope{suffix}", "rad", f"({_sum(slopes, modes)})/{name}.length"))
    return found


def _sum(factors: Iterable[float], names: list[str]) -> str:
    return " + ".join(f"({factor!r})*{name}" for factor, name in zip(map(float, factors), names, strict=True))
