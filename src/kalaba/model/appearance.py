"""Appearance: shapes that a picture shows on a frame. They have no mass and change no equation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from kalaba.boundary import shown
from kalaba.errors import ModelError
from kalaba.model.names import check_frame, check_path
from kalaba.model.parts import fixed_pose
from kalaba.space.number import as_numbers, is_number, quantities
from kalaba.space.pose import Floats, PointLike, Pose, PoseLike


@dataclass(frozen=True, slots=True)
class Shape:
    """What is drawn, about the origin of its place; `name` is its word in files."""

    name: ClassVar[str] = ""


@dataclass(frozen=True, slots=True)
class BoxShape(Shape):
    """A cuboid.

    Arguments:
        size: edge lengths along x, y and z, m
    """

    name: ClassVar[str] = "box"
    size: tuple[float, ...]

    if TYPE_CHECKING:

        def __init__(self, size: PointLike) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", _lengths(self.size, 3, "BoxShape.size"))


@dataclass(frozen=True, slots=True)
class CylinderShape(Shape):
    """A cylinder along z.

    Arguments:
        radius: m
        length: m
    """

    name: ClassVar[str] = "cylinder"
    radius: float
    length: float

    def __post_init__(self) -> None:
        _lengths((self.radius, self.length), 2, "CylinderShape: radius and length")


@dataclass(frozen=True, slots=True)
class SphereShape(Shape):
    """A ball.

    Arguments:
        radius: m
    """

    name: ClassVar[str] = "sphere"
    radius: float

    def __post_init__(self) -> None:
        _lengths((self.radius,), 1, "SphereShape.radius")


@dataclass(frozen=True, slots=True)
class MeshShape(Shape):
    """Triangles in a file: .stl, .obj, .dae, ...; read when a picture is drawn.

    Arguments:
        file: path of the file
        scale: factors along x, y and z
    """

    name: ClassVar[str] = "mesh"
    file: str
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)

    if TYPE_CHECKING:

        def __init__(self, file: str, scale: PointLike = (1.0, 1.0, 1.0)) -> None: ...

    def __post_init__(self) -> None:
        if not isinstance(self.file, str) or not self.file:
            raise ModelError(f"MeshShape.file: expected the path of a file, got {shown(self.file)}.")
        scale = as_numbers(self.scale, 3, "MeshShape.scale")
        if not all(is_number(factor) for factor in scale):
            raise ModelError(f"MeshShape.scale: expected three numbers, got {self.scale!r}.")
        object.__setattr__(self, "scale", scale)


def _lengths(content: object, count: int, what: str) -> tuple[float, ...]:
    lengths = as_numbers(content, count, what)
    if not all(is_number(length) and float(length) >= 0.0 for length in lengths):
        raise ModelError(f"{what}: expected {count} lengths of zero or more, got {shown(content)}.")
    return tuple(float(length) for length in lengths)


@dataclass(frozen=True, slots=True)
class Visual:
    """A shape on a frame, for pictures. A body that has some is drawn by them.

    Arguments:
        name: its name; words with dots between them are one name
        parent: name of the frame it moves with
        shape: what is drawn: kb.BoxShape, kb.CylinderShape, kb.SphereShape or kb.MeshShape
        at: where on that frame: a Pose, or a position in m; plain numbers
        colour: red, green and blue from 0 to 1; None: the colour of its body
    """

    name: str
    parent: str
    shape: Shape
    at: Pose = Pose()
    colour: tuple[float, ...] | None = None

    if TYPE_CHECKING:

        def __init__(
            self, name: str, parent: str, shape: Shape, at: PoseLike = Pose(), colour: Floats | None = None
        ) -> None: ...

    def __post_init__(self) -> None:
        check_path(self.name, "Visual")
        check_frame(self.parent, f"{self.name}.parent")
        if not isinstance(self.shape, Shape):
            raise ModelError(f"{self.name}.shape: expected a shape, kb.BoxShape((1, 1, 1)), got {shown(self.shape)}.")
        object.__setattr__(self, "at", fixed_pose(self.at, self.name))
        if any(isinstance(quantity.value, str) for quantity in quantities(self.at)):
            raise ModelError(f"{self.name}.at: expected plain numbers, got {self.at!r}. Put a Frame there instead.")
        if self.colour is not None:
            object.__setattr__(self, "colour", _colour(self.colour, f"{self.name}.colour"))


def _colour(content: object, what: str) -> tuple[float, ...]:
    parts = as_numbers(content, 3, what)
    if not all(is_number(part) and 0.0 <= float(part) <= 1.0 for part in parts):
        raise ModelError(f"{what}: expected red, green and blue from 0 to 1, got {shown(content)}.")
    return tuple(float(part) for part in parts)


@dataclass(frozen=True, slots=True)
class MachineVisual:
    """A shape in a machine laid out flat: `frame` is a full name."""

    name: str
    frame: str
    shape: Shape
    at: Pose
    colour: tuple[float, ...] | None
