"""A joint of a machine as joints of SDF in a row, drawn where the machine starts."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np

from kalaba.files.moving import PIECES
from kalaba.joints import Joint
from kalaba.space.arrays import Array

Value = Callable[[Any], float]


@dataclass(frozen=True, slots=True)
class Piece:
    """A joint of the file.

    Arguments:
        kind: its type
        axes: unit vectors, in axes of the child
        places: which displacements of the machine's joint it has
        pitch: travel per turn of a screw, m
    """

    kind: str
    axes: tuple[Array, ...] = ()
    places: tuple[int, ...] = ()
    pitch: float = 0.0


def pieces(joint: Joint, seat: Array, value: Value, held: Collection[int] = ()) -> list[Piece] | None:
    """The joints that make up a joint, all of them at the child's origin; None: SDF has none that do.

    All but the last are fixed in the seat but for turns about their own axes: cross, cylinder and plane.

    Arguments:
        joint: the joint
        seat: (3, 3), axes of its seat in those of the child, as drawn
        value: a number of the model → a float
        held: places of displacements that do not move
    """
    if not held and joint.kind in WHOLE:
        return [WHOLE[joint.kind](joint, seat, value)]
    if joint.kind not in PIECES:
        return None
    parts = PIECES[joint.kind](joint)
    moving = [
        Piece(
            "prismatic" if kind == "prismatic" else "revolute",
            (_components(axis) if place == len(parts) - 1 else seat @ _components(axis),),
            (place,),
        )
        for place, (kind, axis) in enumerate(parts)
        if axis is not None and place not in held
    ]
    return moving or [Piece("fixed")]


def _components(axis: Any) -> Array:  # noqa: ANN401  (an Axis)
    return np.array([float(entry) for entry in axis.components])


def _screw(joint: Any, _: Array, value: Value) -> Piece:  # noqa: ANN401  (a Screw)
    return Piece("screw", (_components(joint.axis),), (0,), value(joint.pitch))


def _cross(joint: Any, seat: Array, _: Value) -> Piece:  # noqa: ANN401  (a Universal)
    return Piece("universal", (seat @ _components(joint.axis1), _components(joint.axis2)), (0, 1))


def _ball(_: Any, _seat: Array, _value: Value) -> Piece:  # noqa: ANN401  (a Spherical)
    return Piece("ball")


WHOLE: dict[str, Callable[[Any, Array, Value], Piece]] = {"Screw": _screw, "Universal": _cross, "Spherical": _ball}
