"""Pieces of a URDF that is written: numbers, shapes, joints and what they follow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from xml.sax.saxutils import quoteattr

import numpy as np

from kalaba.model.appearance import MachineVisual
from kalaba.space.pose import Axis
from kalaba.tolerances import LINEAR_FOLLOWING


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
