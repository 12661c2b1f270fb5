"""Solids: what a body is made of. Each gives mass, centre of mass, inertia and tip from its numbers.

`mass_properties(value)` works with any kind of number: `value` turns what stands in a field into a float or a
CasADi expression. Inertia is about the centre of mass in body axes, in the order xx, yy, zz, xy, xz, yz, where
xy is the entry of the inertia matrix (minus the product of inertia).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kalaba.boundary import check_fields, entries_of
from kalaba.errors import ModelError
from kalaba.hints import is_ordinary
from kalaba.space.number import Number, as_numbers, scalar, vector
from kalaba.space.pose import ZERO3, Axis, AxisLike, PointLike, Vector3, X, Z, as_axis
from kalaba.tolerances import TRIANGLE

if TYPE_CHECKING:
    from kalaba.model.beams.beam import Beam

Evaluate = Callable[[Any], Any]
INERTIA_PARTS = ("xx", "yy", "zz", "xy", "xz", "yz")


class MassProperties(NamedTuple):
    """Mass, centre of mass, central inertia and tip of a solid, in body axes."""

    mass: Any
    com: tuple[Any, Any, Any]
    inertia: tuple[Any, ...]  # xx, yy, zz, xy, xz, yz
    tip: tuple[Any, Any, Any] | None


class Cuboid(NamedTuple):
    """A picture's cuboid about the body's origin."""

    edges: tuple[float, float, float]  # m

    @property
    def reach(self) -> float:
        """How far from the origin it reaches, about."""
        return max(self.edges) / 2


class Roller(NamedTuple):
    """A picture's cylinder about the body's origin."""

    radius: float  # m
    length: float
    axis: Axis

    @property
    def reach(self) -> float:
        """How far from the origin it reaches, about."""
        return max(self.radius, self.length / 2)


class Bar(NamedTuple):
    """A picture's bar from the body's origin to its tip."""

    length: float  # m
    axis: Axis

    @property
    def reach(self) -> float:
        """Nothing beyond its tip, which is a frame of its own."""
        return 0.0


Form = Cuboid | Roller | Bar


@dataclass(frozen=True, slots=True)
class AnySolid:
    """What a body is made of: all that is asked of it."""

    def mass_properties(self, value: Evaluate) -> MassProperties:
        """Mass, centre of mass, central inertia and tip."""
        raise NotImplementedError(f"{type(self).__name__}: a solid has mass. Write mass_properties(value).")

    def check_numbers(self, path: str, value: Evaluate) -> None:
        """Refuse numbers that its kind cannot have; a LookupError where a number is not yet known."""

    def form(self, value: Evaluate) -> Form | None:
        """How it is drawn; None: by the places of all that sits on it."""
        return None

    @property
    def must_be_possible(self) -> bool:
        """Whether an inertia that no solid can have is refused."""
        return True

    @property
    def beam(self) -> Beam | None:
        """The beam that it is, or None: it is rigid."""
        return None

    @property
    def mode_units(self) -> tuple[str, ...]:
        """Units of its modal coordinates; none: it is rigid."""
        return ()

    @property
    def modes(self) -> int:
        """Number of modal coordinates."""
        return len(self.mode_units)

    def readings(self, name: str) -> list[tuple[str, str, str]]:
        """What can be read of its bending, in a body of that name: name, unit, expression of the modes."""
        return []


@dataclass(frozen=True, slots=True)
class Solid(AnySolid):
    """A rigid solid given by its numbers; inertia (3 or 6 numbers, or 3×3) about the centre of mass.

    Arguments:
        mass: its mass, kg
        com: centre of mass in body axes, m; the body's origin if not given
        inertia: about the centre of mass in body axes, kg·m²: (xx, yy, zz), (xx, yy, zz, xy, xz, yz) or 3×3; zero if
            not given
        tip: where the frame `name.tip` is, m; None: there is none
        as_given: take the inertia as it is, even if no solid can have it: what robots' files hold now and then; False:
            such an inertia is refused
    """

    mass: Number = scalar("kg", "mass")
    com: Vector3 = vector("m", "centre of mass", ZERO3)
    inertia: tuple[Number, ...] = vector("kg*m^2", "central inertia", (0.0, 0.0, 0.0), INERTIA_PARTS)
    tip: Vector3 | None = vector("m", "tip", None)
    as_given: bool = False

    if TYPE_CHECKING:

        def __init__(
            self,
            mass: Number,
            com: PointLike = ZERO3,
            inertia: PointLike | Sequence[PointLike] = (0.0, 0.0, 0.0),
            tip: PointLike | None = None,
            as_given: bool = False,  # noqa: FBT001, FBT002  (a field)
        ) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "com", as_numbers(self.com, 3, "Solid.com"))
        object.__setattr__(self, "inertia", _six(self.inertia))
        if self.tip is not None:
            object.__setattr__(self, "tip", as_numbers(self.tip, 3, "Solid.tip"))
        check_fields(self, but=("mass", "com", "inertia", "tip"))

    def mass_properties(self, value: Evaluate) -> MassProperties:
        """Give the numbers as they are."""
        tip = None if self.tip is None else _three(self.tip, value)
        return MassProperties(value(self.mass), _three(self.com, value), tuple(map(value, self.inertia)), tip)

    @property
    def must_be_possible(self) -> bool:
        """Unless its inertia is to be taken as given."""
        return not self.as_given


@dataclass(frozen=True, slots=True)
class Rod(AnySolid):
    """A thin rod from the body's origin along `axis`: com at half length, inertia m l²/12, tip at its end.

    Arguments:
        length: from the body's origin to the tip, m
        mass: its mass, kg
        axis: its direction in body axes: kb.X or three numbers
    """

    length: Number = scalar("m", "length")
    mass: Number = scalar("kg", "mass")
    axis: Axis = X

    if TYPE_CHECKING:

        def __init__(self, length: Number, mass: Number, axis: AxisLike = X) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", as_axis(self.axis))

    def check_numbers(self, path: str, value: Evaluate) -> None:
        """A length of zero or more."""
        _check_size(f"{path}.length", value(self.length))

    def mass_properties(self, value: Evaluate) -> MassProperties:
        """Scale everything by the length."""
        length, mass = value(self.length), value(self.mass)
        a = self.axis.components
        across = mass * length * length / 12
        return MassProperties(mass, _along(a, length / 2), _axial(a, across, 0.0), _along(a, length))

    def form(self, value: Evaluate) -> Form:
        """A bar."""
        return Bar(value(self.length), self.axis)


@dataclass(frozen=True, slots=True)
class Box(AnySolid):
    """A homogeneous cuboid, its centre at the body's origin.

    Arguments:
        size: edge lengths along x, y and z, m
        mass: its mass, kg
    """

    size: Vector3 = vector("m", "edge length")
    mass: Number = scalar("kg", "mass")

    if TYPE_CHECKING:

        def __init__(self, size: PointLike, mass: Number) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", as_numbers(self.size, 3, "Box.size"))

    def check_numbers(self, path: str, value: Evaluate) -> None:
        """Edges of zero or more."""
        for axis, edge in zip("xyz", self.size, strict=True):
            _check_size(f"{path}.size.{axis}", value(edge))

    def mass_properties(self, value: Evaluate) -> MassProperties:
        """I_xx = m (b² + c²) / 12, and so on."""
        mass = value(self.mass)
        xx, yy, zz = (value(edge) ** 2 * mass / 12 for edge in self.size)
        return MassProperties(mass, (0.0, 0.0, 0.0), (yy + zz, zz + xx, xx + yy, 0.0, 0.0, 0.0), None)

    def form(self, value: Evaluate) -> Form:
        """Itself."""
        return Cuboid(_three(self.size, value))


@dataclass(frozen=True, slots=True)
class Cylinder(AnySolid):
    """A homogeneous cylinder along `axis`, its centre at the body's origin.

    Arguments:
        radius: its radius, m
        length: its length along the axis, m
        mass: its mass, kg
        axis: its direction in body axes: kb.Z or three numbers
    """

    radius: Number = scalar("m", "radius")
    length: Number = scalar("m", "length")
    mass: Number = scalar("kg", "mass")
    axis: Axis = Z

    if TYPE_CHECKING:

        def __init__(self, radius: Number, length: Number, mass: Number, axis: AxisLike = Z) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "axis", as_axis(self.axis))

    def check_numbers(self, path: str, value: Evaluate) -> None:
        """A radius and a length of zero or more."""
        _check_size(f"{path}.radius", value(self.radius))
        _check_size(f"{path}.length", value(self.length))

    def mass_properties(self, value: Evaluate) -> MassProperties:
        """I = m r²/2 along the axis, m (3 r² + l²) / 12 across it."""
        mass, square = value(self.mass), value(self.radius) ** 2
        across = mass * (3 * square + value(self.length) ** 2) / 12
        return MassProperties(mass, (0.0, 0.0, 0.0), _axial(self.axis.components, across, mass * square / 2), None)

    def form(self, value: Evaluate) -> Form:
        """Itself."""
        return Roller(value(self.radius), value(self.length), self.axis)


def _check_size(path: str, length: float) -> None:
    if not length >= 0.0:
        raise ModelError(
            f"{path}: expected a length of zero or more, got {length:g} m. Turn the axis, if it is meant so."
        )


def _six(inertia: Any) -> tuple[Number, ...]:
    is_flat = isinstance(inertia, np.ndarray) and not inertia.ndim
    rows = entries_of(inertia) if is_ordinary(inertia) and not is_flat else ()
    if len(rows) == 3 and all(isinstance(row, tuple | list | np.ndarray) and len(row) == 3 for row in rows):
        rows = (rows[0][0], rows[1][1], rows[2][2], rows[0][1], rows[0][2], rows[1][2])
    if len(rows) == 3:
        rows = (*rows, 0.0, 0.0, 0.0)
    return as_numbers(rows, 6, "Solid.inertia (3 diagonal entries, 6 entries or 3×3)")


def _three(numbers: Vector3, value: Evaluate) -> tuple[Any, Any, Any]:
    return value(numbers[0]), value(numbers[1]), value(numbers[2])


def _along(axis: tuple[float, float, float], distance: Any) -> tuple[Any, Any, Any]:
    return axis[0] * distance, axis[1] * distance, axis[2] * distance


def _axial(a: tuple[float, float, float], across: Any, along: Any) -> tuple[Any, ...]:
    """Inertia of a body of revolution: across·(1 − aaᵀ) + along·aaᵀ."""
    pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
    return tuple(across * ((1.0 if i == j else 0.0) - a[i] * a[j]) + along * (a[i] * a[j]) for i, j in pairs)


def judge(path: str, solid: AnySolid, value: Evaluate) -> None:
    """Refuse a solid that cannot exist, first by what its own kind asks of its numbers."""
    solid.check_numbers(path, value)
    properties = solid.mass_properties(value)
    if not properties.mass >= 0.0:
        raise ModelError(f"{path}.mass: expected a mass of zero or more, got {properties.mass:g} kg. Check its sign.")
    if solid.must_be_possible and (moments := impossible_moments(properties.inertia)) is not None:
        raise ModelError(
            f"{path}.inertia: expected principal moments that obey the triangle inequality (each at most the sum "
            f"of the other two), got {moments} kg*m^2. Check units and the point it is taken about."
        )


def impossible_moments(inertia: Sequence[float]) -> str | None:
    """The principal moments, in words, of an inertia that breaks the triangle inequality; None: a solid can have it."""
    xx, yy, zz, xy, xz, yz = inertia
    principal = np.linalg.eigvalsh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=float))
    slack = TRIANGLE * max(principal[2], 0.0)
    if principal[0] < -slack or principal[0] + principal[1] < principal[2] - slack - 1e-300:
        return ", ".join(f"{moment:g}" for moment in principal)
    return None
