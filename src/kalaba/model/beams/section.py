"""Sections of beams: by their geometry (area, second moments, torsion constant), or by their stiffness alone."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

from kalaba.model.solids import Evaluate
from kalaba.space.number import Number, scalar


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle: `height` along y, `width` along z."""

    height: Number = scalar("m", "height of the section, along y")
    width: Number = scalar("m", "width of the section, along z")

    def area(self, value: Evaluate) -> Any:  # noqa: ANN401
        """A = b h."""
        return value(self.height) * value(self.width)

    def second_moment(self, direction: int, value: Evaluate) -> Any:  # noqa: ANN401
        """I = b h³/12 for bending along y (1), h b³/12 along z (2)."""
        h, b = value(self.height), value(self.width)
        return b * h**3 / 12 if direction == 1 else h * b**3 / 12

    def torsion_constant(self, value: Evaluate) -> Any:  # noqa: ANN401
        """J ≈ a³b³ / (3.58 (a² + b²)): Saint-Venant's approximation, within 2 % of a square, exact for none."""
        h, b = value(self.height), value(self.width)
        return h**3 * b**3 / (3.58 * (h**2 + b**2))


@dataclass(frozen=True, slots=True)
class Circle:
    """A solid circle."""

    radius: Number = scalar("m", "radius of the section")

    def area(self, value: Evaluate) -> Any:  # noqa: ANN401
        """A = π r²."""
        return pi * value(self.radius) ** 2

    def second_moment(self, direction: int, value: Evaluate) -> Any:  # noqa: ANN401, ARG002
        """I = π r⁴/4."""
        return pi * value(self.radius) ** 4 / 4

    def torsion_constant(self, value: Evaluate) -> Any:  # noqa: ANN401
        """J = π r⁴/2."""
        return pi * value(self.radius) ** 4 / 2


@dataclass(frozen=True, slots=True)
class Tube:
    """A circular tube."""

    outer: Number = scalar("m", "outer radius of the section")
    inner: Number = scalar("m", "inner radius of the section")

    def area(self, value: Evaluate) -> Any:  # noqa: ANN401
        """A = π (R² − r²)."""
        return pi * (value(self.outer) ** 2 - value(self.inner) ** 2)

    def second_moment(self, direction: int, value: Evaluate) -> Any:  # noqa: ANN401, ARG002
        """I = π (R⁴ − r⁴)/4."""
        return pi * (value(self.outer) ** 4 - value(self.inner) ** 4) / 4

    def torsion_constant(self, value: Evaluate) -> Any:  # noqa: ANN401
        """J = π (R⁴ − r⁴)/2."""
        return pi * (value(self.outer) ** 4 - value(self.inner) ** 4) / 2


@dataclass(frozen=True, slots=True)
class SectionNumbers:
    """A section given by its area and moments."""

    section_area: Number = scalar("m^2", "area of the section")
    moment_y: Number = scalar("m^4", "second moment of area for bending along y")
    moment_z: Number = scalar("m^4", "second moment of area for bending along z", 0.0)
    torsion: Number = scalar("m^4", "torsion constant", 0.0)

    def area(self, value: Evaluate) -> Any:  # noqa: ANN401
        """A as given."""
        return value(self.section_area)

    def second_moment(self, direction: int, value: Evaluate) -> Any:  # noqa: ANN401
        """I as given."""
        return value(self.moment_y if direction == 1 else self.moment_z)

    def torsion_constant(self, value: Evaluate) -> Any:  # noqa: ANN401
        """J as given."""
        return value(self.torsion)


@dataclass(frozen=True, slots=True)
class Stiffness:
    """A section given by what it weighs and how stiff it is; its beam has neither density nor Young's modulus.

    Bending: ρA ẅ + EI w⁗ = 0; torsion: ρI_p θ̈ = GJ θ″.
    """

    line_density: Number = scalar("kg/m", "mass per length, ρA")
    bending_y: Number = scalar("N*m^2", "stiffness of bending along y, EI")
    bending_z: Number = scalar("N*m^2", "stiffness of bending along z, EI", 0.0)
    torsion: Number = scalar("N*m^2", "stiffness of torsion, GJ", 0.0)
    polar: Number = scalar("kg*m", "polar moment of inertia per length, ρI_p", 0.0)


Section = Rectangle | Circle | Tube | SectionNumbers | Stiffness
