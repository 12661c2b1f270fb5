"""Elements that stand in many places of a URDF."""

from __future__ import annotations

import math

from kalaba.files.xml_tree import Element
from kalaba.space.pose import Axis, Pose


def origin(element: Element, tag: str = "origin") -> Pose:
    """Where an element is: <origin xyz rpy>, or another of that form."""
    place = element.first(tag)
    if place is None:
        return Pose()
    rpy = place.numbers("rpy", 3, (0.0, 0.0, 0.0))
    return Pose(place.numbers("xyz", 3, (0.0, 0.0, 0.0)), rpy=rpy if any(rpy) else None)


def axis(element: Element, tag: str = "axis") -> Axis:
    """The direction <axis xyz>, of length one here; x where none is given."""
    direction = element.first(tag)
    if direction is None:
        return Axis(1.0, 0.0, 0.0)
    components = direction.numbers("xyz", 3, (1.0, 0.0, 0.0))
    length = math.hypot(*components)
    if not 1e-150 < length < 1e150:  # whose square is a number
        raise element.error(f"{tag}: expected a direction, got {direction.get('xyz')!r}")
    return Axis(*components)
