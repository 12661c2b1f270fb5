"""Pictures of bodies as geoms without mass or contact: shapes that a machine has, or the forms of its solids."""

from __future__ import annotations

import numpy as np

from kalaba.files.mjcf.placing import HERE, turned_onto
from kalaba.files.mjcf.skeleton import Skeleton, placed
from kalaba.files.xml_out import Tag
from kalaba.model.appearance import BoxShape, CylinderShape, Shape, SphereShape
from kalaba.model.solids import Bar, Cuboid, Form, Roller
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose

THIN = 0.04  # of a bar's length: its radius
Drawn = tuple[str, list[float], NumericPose]


def add_pictures(skeleton: Skeleton) -> None:
    """Draw all bodies; shapes of files are left out."""
    machine = skeleton.machine
    for visual in machine.visuals:
        carrier, pose = skeleton.on_body(visual.frame)
        drawn = _of_shape(visual.shape)
        if drawn is None:
            skeleton.notes.add("meshes for pictures are left out", visual.name)
            continue
        place = skeleton.contents[carrier].then(pose).then(skeleton.pose(visual.at))
        geom = _add(skeleton.elements[carrier], place, drawn)
        if visual.colour is not None:
            geom.attributes["rgba"] = np.array([*visual.colour, 1.0])
    shown = {skeleton.on_body(visual.frame)[0] for visual in machine.visuals}
    for index, body in enumerate(machine.bodies):
        form = None if index in shown else body.solid.form(skeleton.value)
        drawn = None if form is None else _of_form(form)
        if drawn is not None:
            _add(skeleton.elements[index], skeleton.contents[index], drawn)


def _add(element: Tag, at: NumericPose, drawn: Drawn) -> Tag:
    kind, sizes, pose = drawn
    where = placed(at.then(pose))
    return element.add("geom", type=kind, size=np.array(sizes), **where, mass=0.0, contype="0", conaffinity="0")


def _of_shape(shape: Shape) -> Drawn | None:
    match shape:
        case BoxShape(size):
            return _if_any("box", [edge / 2 for edge in size])
        case CylinderShape(radius, length):
            return _if_any("cylinder", [radius, length / 2])
        case SphereShape(radius):
            return _if_any("sphere", [radius])
    return None


def _of_form(form: Form) -> Drawn | None:
    match form:
        case Cuboid(edges):
            return _if_any("box", [edge / 2 for edge in edges])
        case Roller(radius, length, axis):
            return _if_any("cylinder", [radius, length / 2], _along(np.array(axis.components), 0.0))
        case Bar(length, axis):
            pose = _along(np.array(axis.components), length / 2)
            return _if_any("capsule", [THIN * length, length / 2], pose)
    return None


def _along(axis: Array, distance: float) -> NumericPose:
    return NumericPose(distance * axis, turned_onto(axis))


def _if_any(kind: str, sizes: list[float], pose: NumericPose = HERE) -> Drawn | None:
    return (kind, [float(size) for size in sizes], pose) if all(size > 0 for size in sizes) else None
