"""Beams: solids that bend. Euler-Bernoulli with assumed modes in a frame that is tangent at the root.

A Beam lies along x of its body. Its shapes are functions of ξ = x/length on [0, 1]; each has a coordinate `body.mode1`,
`body.mode2`, ...: bending along the first axis, along the second, then torsion. Bending modes are in metres at the tip,
torsion modes in radians there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from math import isfinite
from typing import TYPE_CHECKING, Any

from kalaba.boundary import check_whole, entries_of, shown
from kalaba.errors import ModelError
from kalaba.model.beams.section import Section
from kalaba.model.beams.shapes import MOST, ClampedFree, Shapes, table
from kalaba.model.solids import AnySolid, Evaluate, MassProperties
from kalaba.space.number import Number, check_number, nested, plain, quantities, scalar
from kalaba.space.pose import Axis, AxisLike, Y, Z, as_axis

LETTERS = {"y": 1, "z": 2}
MATERIAL = ("density", "young")


@dataclass(frozen=True, slots=True)
class Beam(AnySolid):
    """A slender elastic beam from the body's origin along x.

    It bends along each axis of `bending` (Y, Z or both) with its own set of `shapes`, and twists with `torsion` sine
    shapes. With `foreshortening` points move towards the root as the beam bends, u = −½ ∫ w′² dx, with every term of
    the kinetic energy that follows. `damping` is the ratio of every mode of the beam held at its root with nothing at
    its tip. With a kb.Stiffness as the section there is no density, Young's modulus or Poisson's ratio to give; any
    other needs the first two.

    Arguments:
        length: from root to tip, m
        section: its cross-section, such as kb.Rectangle(0.05, 0.05)
        density: of the material, kg/m³
        young: Young's modulus, Pa
        shapes: functions that its bending is made of, such as kb.ClampedFree(3); one clamped-free mode if not given
        foreshortening: whether points move towards the root as the beam bends
        bending: directions it bends along: kb.Y, kb.Z or both
        torsion: number of torsion shapes; none if not given
        poisson: Poisson's ratio, for torsion
        damping: damping ratio of every mode
        tip_mass: point mass at the tip, kg
    """

    length: Number = scalar("m", "length")
    section: Section = nested("section")
    density: Number = scalar("kg/m^3", "density", 0.0)
    young: Number = scalar("Pa", "Young's modulus", 0.0)
    shapes: Shapes = field(default_factory=lambda: ClampedFree(1))
    foreshortening: bool = False
    bending: tuple[Axis, ...] = (Y,)
    torsion: int = 0
    poisson: Number = scalar("1", "Poisson's ratio, for torsion", 0.3)
    damping: Number = scalar("1", "modal damping ratio", 0.0)
    tip_mass: Number = scalar("kg", "point mass at the tip", 0.0)

    if TYPE_CHECKING:

        def __init__(  # noqa: PLR0913, PLR0917  (the fields)
            self,
            length: Number,
            section: Section,
            density: Number = 0.0,
            young: Number = 0.0,
            shapes: Shapes = ClampedFree(1),
            foreshortening: bool = False,  # noqa: FBT001, FBT002  (as the field)
            bending: Axis | Iterable[AxisLike] = (Y,),
            torsion: int = 0,
            poisson: Number = 0.3,
            damping: Number = 0.0,
            tip_mass: Number = 0.0,
        ) -> None: ...

    def __post_init__(self) -> None:
        bending: Any = self.bending
        if not isinstance(bending, Axis | tuple | list):
            raise ModelError(f"Beam.bending: expected kb.Y, kb.Z or both, got {shown(bending)}.")
        axes = (bending,) if isinstance(bending, Axis) else entries_of(bending)
        object.__setattr__(self, "bending", tuple(as_axis(axis) for axis in axes))
        if not axes or any(axis not in (Y, Z) for axis in self.bending) or len(set(self.bending)) != len(axes):
            raise ModelError(
                f"Beam.bending: expected kb.Y, kb.Z or both, got {shown(bending)}. The beam itself lies along x."
            )
        if not isinstance(self.section, Section):
            raise ModelError(
                f"Beam.section: expected a section such as kb.Rectangle(0.05, 0.05), got {shown(self.section)}."
            )
        if not isinstance(self.shapes, Shapes):
            raise ModelError(f"Beam.shapes: expected shapes such as kb.ClampedFree(3), got {shown(self.shapes)}.")
        check_whole(self.torsion, "Beam.torsion", 0, MOST)
        for quantity in quantities(self):
            check_number(f"Beam.{quantity.path}", quantity.value)
        with suppress(LookupError):  # expressions are judged when the System knows their values
            self.check_numbers("Beam", plain)
        table(self.shapes)  # refuses shapes that cannot be told apart

    def check_numbers(self, path: str, value: Evaluate) -> None:
        """Refuse a length, mass or stiffness of zero or less, where the numbers are known."""
        for name, number, hint in self._above_zero(value):
            if not (number > 0 and isfinite(number)):
                raise ModelError(f"{path}.{name}: expected more than zero, got {shown(number)}.{hint}")
        if not self.section.needs_material:
            for name in MATERIAL:
                if (number := value(getattr(self, name))) != 0:
                    raise ModelError(
                        f"{path}.{name}: expected none beside a kb.Stiffness, got {shown(number)}. Leave it out."
                    )
        for name in ("damping", "tip_mass"):
            number = value(getattr(self, name))
            if not (number >= 0 and isfinite(number)):
                raise ModelError(f"{path}.{name}: expected zero or more, got {shown(number)}.")

    def _above_zero(self, value: Evaluate) -> Iterator[tuple[str, Any, str]]:
        """What must be more than zero: name, number, and what to do where it is not."""
        yield "length", value(self.length), ""
        if self.section.needs_material:
            for name in MATERIAL:
                yield name, value(getattr(self, name)), " Give it, or take a kb.Stiffness as the section."
        bending = {axis.letter: plane for axis, plane in zip(self.bending, self.planes, strict=True)}
        yield from self.section.above_zero(bending, value, twists=self.torsion > 0)

    def line_density(self, value: Evaluate) -> Any:
        """Mass per length, ρA."""
        return self.section.mass_per_length(value(self.density), value)

    def bending_stiffness(self, plane: int, value: Evaluate) -> Any:
        """E I for bending along y (1) or z (2)."""
        return self.section.bending_stiffness(plane, value(self.young), value)

    def torsion_stiffness(self, value: Evaluate) -> Any:
        """G J, with G = E/(2 (1 + ν))."""
        return self.section.torsion_stiffness(value(self.young) / (2 * (1 + value(self.poisson))), value)

    def polar_inertia(self, value: Evaluate) -> Any:
        """Moment of inertia about the beam's own axis per length, ρ (I_y + I_z)."""
        return self.section.polar_inertia(value(self.density), value)

    @property
    def planes(self) -> tuple[int, ...]:
        """The directions of bending as indices: 1 for y, 2 for z."""
        return tuple(LETTERS[axis.letter] for axis in self.bending)

    @property
    def bending_modes(self) -> int:
        """Number of coordinates of bending; those of torsion come after them."""
        return self.shapes.count * len(self.bending)

    @property
    def mode_units(self) -> tuple[str, ...]:
        """Units of the modal coordinates."""
        return ("m",) * self.bending_modes + ("rad",) * self.torsion

    @property
    def beam(self) -> Beam:
        """Itself."""
        return self

    def mass_properties(self, value: Evaluate) -> MassProperties:
        """Those of the straight beam, its turning about its own axis included."""
        length, point = value(self.length), value(self.tip_mass)
        mass = self.line_density(value) * length
        total = mass + point
        centre = length * (mass / 2 + point) / total
        across = mass * length * length / 3 + point * length * length - total * centre * centre
        polar = self.polar_inertia(value) * length
        return MassProperties(total, (centre, 0.0, 0.0), (polar, across, across, 0.0, 0.0, 0.0), (length, 0.0, 0.0))

    def readings(self, name: str) -> list[tuple[str, str, str]]:
        """Deflection, slope and twist of the tip: name, unit, expression of the modes."""
        shapes, count, listed = table(self.shapes), self.shapes.count, []
        for plane in range(len(self.bending)):
            modes = [f"{name}.mode{plane * count + i + 1}" for i in range(count)]
            suffix = "" if plane == 0 else str(plane + 1)
            listed.append((f"{name}.tip_deflection{suffix}", "m", _sum(shapes.tip, modes)))
            listed.append((f"{name}.tip_slope{suffix}", "rad", f"({_sum(shapes.tip_slope, modes)})/{name}.length"))
        twists = [f"{name}.mode{self.bending_modes + i + 1}" for i in range(self.torsion)]
        if twists:
            listed.append((f"{name}.tip_twist", "rad", _sum([1.0] * len(twists), twists)))
        return listed


def _sum(factors: Iterable[float], names: list[str]) -> str:
    return " + ".join(f"({factor!r})*{name}" for factor, name in zip(map(float, factors), names, strict=True))
