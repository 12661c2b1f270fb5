"""Pieces of a URDF that is written: numbers, shapes, and the joints that a joint is made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np

from kalaba.model.appearance import MachineVisual
from kalaba.space.pose import Axis
from kalaba.tolerances import LINEAR_FOLLOWING

Pieces = list[tuple[str, Axis | None]]


@dataclass(frozen=True, slots=True)
class Moved:
    """One joint of the file.

    Arguments:
        name: its name in the file
        type: as URDF calls it
        displacement: name of what it is here; "" for joints of none or several
        axis: its direction
        limits: lowest and highest displacement
    """

    name: str
    type: str
    displacement: str = ""
    axis: Axis | None = None
    limits: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Followed:
    """What a displacement follows: factor · joint + offset; no joint: it is held at the offset."""

    joint: Moved | None
    factor: float
    offset: float


def near_whole(factor: float) -> float:
    """A whole number where a factor is one but for rounding."""
    return float(round(factor)) if abs(factor - round(factor)) < LINEAR_FOLLOWING else float(factor)


def term(factor: float, name: str, offset: float) -> str:
    """Factor · (name − offset), in short."""
    shifted = f"({name} - {offset!r})" if offset else name
    return shifted if factor == 1.0 else f"{factor!r}*{shifted}"


def words(numbers: Iterable[float]) -> str:
    """Numbers with all their digits."""
    return " ".join(repr(float(entry)) for entry in numbers)


def geometry(visual: MachineVisual) -> str:
    """A shape as the file calls it."""
    sizes = {entry.name: getattr(visual.shape, entry.name) for entry in fields(visual.shape)}
    keys = {"file": "filename"}
    attributes = [
        f"{keys.get(key, key)}={quoteattr(value if isinstance(value, str) else words(np.atleast_1d(value)))}"
        for key, value in sizes.items()
    ]
    return f"<{visual.shape.name} {' '.join(attributes)}/>"


PIECES: dict[str, Callable[[Any], Pieces]] = {  # kind of joint → types of joints in the file, with their axes
    "Weld": lambda _: [("fixed", None)],
    "Revolute": lambda joint: [("continuous", joint.axis)],
    "Prismatic": lambda joint: [("prismatic", joint.axis)],
    "Cylindrical": lambda joint: [("prismatic", joint.axis), ("continuous", joint.axis)],
    "Universal": lambda joint: [("continuous", joint.axis1), ("continuous", joint.axis2)],
    "Planar": lambda joint: [*(("prismatic", axis) for axis in joint.normal.across()), ("continuous", joint.normal)],
    "Free": lambda _: [("floating", None)],
}
