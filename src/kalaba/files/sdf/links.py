"""Links of an SDF file: where they are drawn, and their mass."""

from __future__ import annotations

import math
from dataclasses import dataclass

from kalaba.files.sdf.scopes import Scope, number_of, raw_pose, text_of
from kalaba.files.source import Notes
from kalaba.files.tree import MASSLESS, solid_of
from kalaba.files.xml_tree import Element
from kalaba.model.solids import INERTIA_PARTS, Solid
from kalaba.space.numeric_pose import NumericPose

DEFAULT = Solid(1.0, inertia=(1.0, 1.0, 1.0))  # of a link without <inertial>, by the specification
ONES = {"xx": 1.0, "yy": 1.0, "zz": 1.0}  # of an <inertia> that does not say
NO_MECHANICS = ("collision", "sensor", "light", "battery", "audio_source", "projector")


@dataclass(frozen=True)
class Link:
    """A link, read.

    Arguments:
        name: its full name in the file
        pose: where it is in the world, as the file draws it
        solid: its mass
        is_static: whether it is a part of the world
    """

    name: str
    pose: NumericPose
    solid: Solid
    is_static: bool


def read_link(scope: Scope, name: str, element: Element, notes: Notes) -> Link:
    """Read a link of a scope."""
    full = scope.full(name)
    for tag in NO_MECHANICS:
        if element.first(tag) is not None:
            notes.add("shapes, sensors and the like of links, left out", f"<{tag}>")
    if text_of(element, "gravity", "1").lower() in {"0", "false"}:
        notes.add("links without gravity: it acts on them here", full)
    if text_of(element, "kinematic").lower() in {"1", "true"}:
        notes.add("kinematic links: they are moved by forces here", full)
    pose = scope.pose.then(scope.pose_of(name, element))
    return Link(full, pose, _solid(element, full, notes), scope.is_static)


def _solid(element: Element, name: str, notes: Notes) -> Solid:
    inertial = element.first("inertial")
    if inertial is None:
        notes.add("links without <inertial>: 1 kg and 1 kg·m², as the specification has it", name)
        return DEFAULT
    if inertial.get("auto") in {"1", "true"}:
        notes.add("inertia worked out from shapes (auto): taken as it is written", name)
    mass = number_of(inertial, "mass", 1.0)
    if not 0 <= mass < math.inf:
        raise inertial.error(f"{name}: expected a mass of zero or more, got {mass:g} kg")
    matrix = inertial.first("inertia")
    six = [
        ONES.get(pair, 0.0) if matrix is None else number_of(matrix, f"i{pair}", ONES.get(pair, 0.0))
        for pair in INERTIA_PARTS
    ]
    if not all(map(math.isfinite, six)):
        raise inertial.error(f"{name}: expected an inertia in finite numbers")
    at = raw_pose(inertial)
    if (place := inertial.first("pose")) is not None and (place.get("relative_to") or place.get("frame")):
        notes.add("poses of inertials are taken in the axes of their link", name)
    if mass == 0 and not any(six):
        return MASSLESS
    return solid_of(mass, tuple(at.position.tolist()), at.rotation, six, notes, name)
