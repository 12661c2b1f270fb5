"""Sections of beams: by their geometry (area, second moments, torsion constant), or by their stiffness alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import pi, sqrt
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from kalaba.model.solids import Evaluate
from kalaba.space.number import Number, scalar

if TYPE_CHECKING:
    import casadi as ca

    Scalar: TypeAlias = float | ca.SX  # what `value` gives
    Positive: TypeAlias = tuple[str, Scalar, str]  # name, number, what to do where it is not above zero

ALONG_Y = 1  # direction of bending; 2 is along z
SLENDER = 1 / 60  # radius over length that a beam without geometry is drawn with
HalfEdges = tuple[float, float]


class Section:
    """What a beam asks of its section. Numbers go through `value`, so they may be floats or CasADi expressions."""

    __slots__ = ()
    needs_material: ClassVar[bool] = True  # the beam has density and Young's modulus

    def mass_per_length(self, density: Scalar, value: Evaluate) -> Scalar:
        """Mass per length, ρA."""
        raise NotImplementedError

    def bending_stiffness(self, direction: int, young: Scalar, value: Evaluate) -> Scalar:
        """E I for bending along y (1) or z (2)."""
        raise NotImplementedError

    def torsion_stiffness(self, shear: Scalar, value: Evaluate) -> Scalar:
        """G J, with the shear modulus G."""
        raise NotImplementedError

    def polar_inertia(self, density: Scalar, value: Evaluate) -> Scalar:
        """Moment of inertia about the beam's axis per length, ρ (I_y + I_z)."""
        raise NotImplementedError

    def above_zero(self, bending: dict[str, int], value: Evaluate, *, twists: bool) -> Iterator[Positive]:
        """What must be more than zero: name, number, and what to do where it is not.

        `bending` maps the letters of the directions of bending to their indices.
        """
        raise NotImplementedError

    def outline(self, length: float, value: Evaluate) -> HalfEdges | float:
        """Half of its edges along y and z, or its radius: what a picture of a beam of this length shows."""
        raise NotImplementedError


class Geometric(Section):
    """A section given by its area and moments of area."""

    __slots__ = ()

    def area(self, value: Evaluate) -> Scalar:
        """A."""
        raise NotImplementedError

    def second_moment(self, direction: int, value: Evaluate) -> Scalar:
        """I for bending along y (1) or z (2)."""
        raise NotImplementedError

    def torsion_constant(self, value: Evaluate) -> Scalar:
        """J."""
        raise NotImplementedError

    def mass_per_length(self, density: Scalar, value: Evaluate) -> Scalar:
        """ρ A."""
        return density * self.area(value)

    def bending_stiffness(self, direction: int, young: Scalar, value: Evaluate) -> Scalar:
        """E I."""
        return young * self.second_moment(direction, value)

    def torsion_stiffness(self, shear: Scalar, value: Evaluate) -> Scalar:
        """G J."""
        return shear * self.torsion_constant(value)

    def polar_inertia(self, density: Scalar, value: Evaluate) -> Scalar:
        """ρ (I_y + I_z)."""
        return density * (self.second_moment(1, value) + self.second_moment(2, value))

    def above_zero(self, bending: dict[str, int], value: Evaluate, *, twists: bool) -> Iterator[Positive]:
        """Area, second moments of the directions of bending, and for torsion its constant."""
        yield "section area", self.area(value), ""
        for letter, direction in bending.items():
            yield f"section second moment for bending along {letter}", self.second_moment(direction, value), ""
        if twists:
            yield "section torsion constant", self.torsion_constant(value), ""


@dataclass(frozen=True, slots=True)
class Rectangle(Geometric):
    """A rectangle: `height` along y, `width` along z.

    Arguments:
        height: edge length along y, m
        width: edge length along z, m
    """

    height: Number = scalar("m", "height of the section, along y")
    width: Number = scalar("m", "width of the section, along z")

    if TYPE_CHECKING:

        def __init__(self, height: Number, width: Number) -> None: ...

    def area(self, value: Evaluate) -> Scalar:
        """A = b h."""
        return value(self.height) * value(self.width)

    def second_moment(self, direction: int, value: Evaluate) -> Scalar:
        """I = b h³/12 for bending along y (1), h b³/12 along z (2)."""
        h, b = value(self.height), value(self.width)
        return b * h**3 / 12 if direction == 1 else h * b**3 / 12

    def torsion_constant(self, value: Evaluate) -> Scalar:
        """J ≈ a³b³ / (3.58 (a² + b²)): Saint-Venant's approximation, within 2 % of a square, exact for none."""
        h, b = value(self.height), value(self.width)
        return h**3 * b**3 / (3.58 * (h**2 + b**2))

    def outline(self, length: float, value: Evaluate) -> HalfEdges:
        """Half the height and half the width."""
        return value(self.height) / 2, value(self.width) / 2


@dataclass(frozen=True, slots=True)
class Circle(Geometric):
    """A solid circle.

    Arguments:
        radius: radius of the section, m
    """

    radius: Number = scalar("m", "radius of the section")

    if TYPE_CHECKING:

        def __init__(self, radius: Number) -> None: ...

    def area(self, value: Evaluate) -> Scalar:
        """A = π r²."""
        return pi * value(self.radius) ** 2

    def second_moment(self, direction: int, value: Evaluate) -> Scalar:
        """I = π r⁴/4."""
        return pi * value(self.radius) ** 4 / 4

    def torsion_constant(self, value: Evaluate) -> Scalar:
        """J = π r⁴/2."""
        return pi * value(self.radius) ** 4 / 2

    def outline(self, length: float, value: Evaluate) -> float:
        """The radius."""
        return float(value(self.radius))


@dataclass(frozen=True, slots=True)
class Tube(Geometric):
    """A circular tube.

    Arguments:
        outer: outer radius, m
        inner: inner radius, m
    """

    outer: Number = scalar("m", "outer radius of the section")
    inner: Number = scalar("m", "inner radius of the section")

    if TYPE_CHECKING:

        def __init__(self, outer: Number, inner: Number) -> None: ...

    def area(self, value: Evaluate) -> Scalar:
        """A = π (R² − r²)."""
        return pi * (value(self.outer) ** 2 - value(self.inner) ** 2)

    def second_moment(self, direction: int, value: Evaluate) -> Scalar:
        """I = π (R⁴ − r⁴)/4."""
        return pi * (value(self.outer) ** 4 - value(self.inner) ** 4) / 4

    def torsion_constant(self, value: Evaluate) -> Scalar:
        """J = π (R⁴ − r⁴)/2."""
        return pi * (value(self.outer) ** 4 - value(self.inner) ** 4) / 2

    def outline(self, length: float, value: Evaluate) -> float:
        """The outer radius."""
        return float(value(self.outer))


@dataclass(frozen=True, slots=True)
class SectionNumbers(Geometric):
    """A section given by its area and moments.

    Arguments:
        section_area: area, m²
        moment_y: second moment of area for bending along y, m⁴
        moment_z: second moment of area for bending along z, m⁴
        torsion: torsion constant, m⁴
    """

    section_area: Number = scalar("m^2", "area of the section")
    moment_y: Number = scalar("m^4", "second moment of area for bending along y")
    moment_z: Number = scalar("m^4", "second moment of area for bending along z", 0.0)
    torsion: Number = scalar("m^4", "torsion constant", 0.0)

    if TYPE_CHECKING:

        def __init__(
            self, section_area: Number, moment_y: Number, moment_z: Number = 0.0, torsion: Number = 0.0
        ) -> None: ...

    def area(self, value: Evaluate) -> Scalar:
        """A as given."""
        return value(self.section_area)

    def second_moment(self, direction: int, value: Evaluate) -> Scalar:
        """I as given."""
        return value(self.moment_y if direction == 1 else self.moment_z)

    def torsion_constant(self, value: Evaluate) -> Scalar:
        """J as given."""
        return value(self.torsion)

    def outline(self, length: float, value: Evaluate) -> float:
        """The radius of a circle of its area."""
        return sqrt(value(self.section_area) / pi)


@dataclass(frozen=True, slots=True)
class Stiffness(Section):
    """A section given by what it weighs and how stiff it is; its beam has neither density nor Young's modulus.

    Bending: ρA ẅ + EI w⁗ = 0; torsion: ρI_p θ̈ = GJ θ″.

    Arguments:
        line_density: mass per length, ρA, kg/m
        bending_y: stiffness of bending along y, EI, N·m²
        bending_z: stiffness of bending along z, EI, N·m²
        torsion: stiffness of torsion, GJ, N·m²
        polar: polar moment of inertia per length, ρI_p, kg·m
    """

    line_density: Number = scalar("kg/m", "mass per length, ρA")
    bending_y: Number = scalar("N*m^2", "stiffness of bending along y, EI")
    bending_z: Number = scalar("N*m^2", "stiffness of bending along z, EI", 0.0)
    torsion: Number = scalar("N*m^2", "stiffness of torsion, GJ", 0.0)
    polar: Number = scalar("kg*m", "polar moment of inertia per length, ρI_p", 0.0)

    needs_material: ClassVar[bool] = False

    if TYPE_CHECKING:

        def __init__(
            self,
            line_density: Number,
            bending_y: Number,
            bending_z: Number = 0.0,
            torsion: Number = 0.0,
            polar: Number = 0.0,
        ) -> None: ...

    def mass_per_length(self, density: Scalar, value: Evaluate) -> Scalar:
        """As given."""
        return value(self.line_density)

    def bending_stiffness(self, direction: int, young: Scalar, value: Evaluate) -> Scalar:
        """As given."""
        return value(self.bending_y if direction == ALONG_Y else self.bending_z)

    def torsion_stiffness(self, shear: Scalar, value: Evaluate) -> Scalar:
        """As given."""
        return value(self.torsion)

    def polar_inertia(self, density: Scalar, value: Evaluate) -> Scalar:
        """As given."""
        return value(self.polar)

    def above_zero(self, bending: dict[str, int], value: Evaluate, *, twists: bool) -> Iterator[Positive]:
        """Mass per length, stiffness in the directions of bending, and what torsion needs."""
        yield "section.line_density", value(self.line_density), ""
        for letter, direction in bending.items():
            yield f"section.bending_{letter}", self.bending_stiffness(direction, None, value), ""
        if twists:
            yield "section.torsion", value(self.torsion), ""
            yield "section.polar", value(self.polar), " Torsion needs an inertia to turn."

    def outline(self, length: float, value: Evaluate) -> float:
        """A slender round bar."""
        return SLENDER * length
