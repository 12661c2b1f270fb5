"""What files show of links, as Visual parts: what URDF, SDF and MJCF have in common."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from kalaba.errors import FileError
from kalaba.files.source import Source
from kalaba.model.appearance import CylinderShape, Shape, SphereShape
from kalaba.model.names import WORLD
from kalaba.model.options import OneOf, Option
from kalaba.space.numeric_pose import NumericPose

Placed = tuple[Shape, NumericPose]
HERE = NumericPose(np.zeros(3), np.eye(3))
NO_MESH = "mesh files that are not in the folders that were given (roots=, --root), left out"
MESHES = Option(default=True, allowed=OneOf((True, False)), description="whether shapes in mesh files are shown")


def visual_name(frame: str, number: int) -> str:
    """The name of the shape of that number on a frame."""
    return f"{'ground' if frame == WORLD else frame}.visual{number}"


def colour_of(numbers: tuple[float, ...]) -> tuple[float, ...]:
    """Red, green and blue of a colour that may have an opacity, each from 0 to 1."""
    return tuple(min(max(part, 0.0), 1.0) for part in numbers[:3])


def capsule(radius: float, length: float) -> list[Placed]:
    """A cylinder along z with a ball at each end; `length` is the cylinder's, m."""
    ends = [NumericPose(np.array([0.0, 0.0, end * length / 2]), np.eye(3)) for end in (-1, 1)]
    return [(CylinderShape(radius, length), HERE), *((SphereShape(radius), end) for end in ends)]


def mesh_file(source: Source, name: str, where: str) -> Path | None:
    """The mesh file of a name; None and a note if it is not there: nothing but the picture needs it."""
    try:
        path = source.look_for(name, where)
    except FileError:  # it leads out of the folders
        path = None
    if path is None:
        source.notes.add(NO_MESH, name)
    return path
