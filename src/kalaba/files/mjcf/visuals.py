"""What the bodies of an MJCF file look like: geoms of the groups that MuJoCo shows, as Visual parts."""

from __future__ import annotations

import re

import numpy as np

from kalaba.files.mjcf.machine import Assembly
from kalaba.files.mjcf.placing import unit
from kalaba.files.mjcf.shapes import Shape as Geom
from kalaba.files.pictured import HERE, Placed, capsule, mesh_file, visual_name
from kalaba.files.tree import as_pose
from kalaba.files.xml_tree import Element
from kalaba.model.appearance import BoxShape, CylinderShape, MeshShape, SphereShape, Visual
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.rotations import rotation_of

SHOWN_GROUPS = 2  # groups up to this one are drawn; the others are for contact or inertia, as a rule
NOT_DRAWN = "shapes that pictures leave out"


def add_visuals(assembly: Assembly) -> None:
    """Add the shapes of all bodies, the ground's too but for planes."""
    assets = assembly.document.section("asset")
    materials = {asset.get("name"): asset for asset in assets if asset.tag == "material"}
    meshes = assembly.meshes.elements
    for index, link in enumerate(assembly.tree.links):
        frame, number = assembly.frame(index), 0
        for geom in link.shapes:
            colour = _colour(geom.element, materials)
            if geom.group > SHOWN_GROUPS or colour is None:
                continue
            for shape, pose in _drawn(geom, assembly, meshes):
                number += 1
                at = as_pose(geom.pose.then(pose))
                assembly.parts.append(Visual(visual_name(frame, number), frame, shape, at, colour[:3] or None))


def _colour(geom: Element, materials: dict[str, Element]) -> tuple[float, ...] | None:
    """Red, green, blue; empty if none is given; None if it cannot be seen."""
    holder = geom if "rgba" in geom.attributes else materials.get(geom.get("material"))
    if holder is None or "rgba" not in holder.attributes:
        return ()
    *colour, opacity = (min(max(part, 0.0), 1.0) for part in holder.numbers("rgba", 4))
    return tuple(colour) if opacity > 0 else None


def _drawn(geom: Geom, assembly: Assembly, meshes: dict[str, Element]) -> list[Placed]:
    """The shapes of a geom and where they are on it."""
    sizes = geom.sizes
    match geom.kind:
        case "sphere":
            return [(SphereShape(sizes[0]), HERE)]
        case "box":
            return [(BoxShape(tuple(2 * size for size in sizes)), HERE)]
        case "cylinder":
            return [(CylinderShape(sizes[0], 2 * sizes[1]), HERE)]
        case "capsule":
            return capsule(sizes[0], 2 * sizes[1])
        case "mesh":
            return _mesh(geom, assembly, meshes)
    if geom.kind != "plane":
        assembly.notes.add(NOT_DRAWN, geom.element.get("name") or geom.kind)
    return []


def _mesh(geom: Geom, assembly: Assembly, meshes: dict[str, Element]) -> list[Placed]:
    """A mesh file, if it is there and of a kind that others read; scaled before it is moved by refpos and refquat."""
    element = meshes.get(geom.element.get("mesh"))
    if element is None or not re.search(r"\.(stl|obj)$", element.get("file"), re.IGNORECASE):
        assembly.notes.add(NOT_DRAWN, geom.element.get("mesh"))
        return []
    path = mesh_file(assembly.document.source, assembly.meshes.path(element.get("file")), element.where)
    if path is None:
        return []
    scale = np.array(element.numbers("scale", 3, (1.0, 1.0, 1.0)))
    turned = rotation_of(unit(element, np.array(element.numbers("refquat", 4, (1.0, 0.0, 0.0, 0.0))), "refquat"))
    moved = np.array(element.numbers("refpos", 3, (0.0, 0.0, 0.0)))
    if not np.array_equal(turned, np.eye(3)) and not np.all(scale == scale[0]):
        assembly.notes.add(NOT_DRAWN, element.get("file"))  # a skewed mesh
        return []
    pose = NumericPose(-scale * (turned.T @ moved), turned.T)
    return [(MeshShape(str(path), tuple(scale.tolist())), pose)]
