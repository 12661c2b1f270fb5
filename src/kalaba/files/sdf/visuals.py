"""What the links of an SDF file look like: <visual> elements as Visual parts."""

from __future__ import annotations

from collections.abc import Iterator

from kalaba.files.pictured import HERE, Placed, capsule, colour_of, mesh_file, visual_name
from kalaba.files.sdf.scopes import Scope, number_of, numbers_in, text_of
from kalaba.files.tree import as_pose
from kalaba.files.xml_tree import Element
from kalaba.model.appearance import BoxShape, CylinderShape, MeshShape, SphereShape, Visual

NOT_DRAWN = "shapes that pictures leave out"
INVISIBLE = 1.0  # transparency
QUIET = {"plane", "empty"}  # the ground, which pictures draw by themselves


def visuals_of(scope: Scope, link: str, element: Element, frame: str, *, with_meshes: bool) -> Iterator[Visual]:
    """The shapes of a link of a scope, on its frame here.

    Arguments:
        scope: the model that the link is in
        link: its name there
        element: the <link>
        frame: its name here
        with_meshes: whether shapes in mesh files are taken along
    """
    number = 0
    for visual in element.all("visual"):
        if number_of(visual, "transparency", 0.0) >= INVISIBLE:
            continue
        place = scope.pose_in(visual, link).seen_from(scope.pose_of(link, visual))
        for shape, pose in _shapes(visual, scope, with_meshes=with_meshes):
            number += 1
            at = as_pose(place.then(pose))
            yield Visual(visual_name(frame, number), frame, shape, at, _colour(visual, scope))


def _colour(visual: Element, scope: Scope) -> tuple[float, ...] | None:
    """Red, green and blue; None: none is given."""
    material = visual.first("material")
    if material is None:
        return None
    diffuse = material.first("diffuse") or material.first("ambient")
    if diffuse is None:
        if material.first("script") is not None:
            scope.source.notes.add("materials in scripts, left out", text_of(material.require("script"), "name"))
        return None
    numbers = diffuse.read_numbers(diffuse.text, None, diffuse.tag)
    if len(numbers) not in {3, 4}:
        raise diffuse.error(f"expected four numbers, got {diffuse.text[:60]!r}")
    return colour_of(numbers)


def _shapes(visual: Element, scope: Scope, *, with_meshes: bool) -> list[Placed]:
    """What is drawn, and where on the visual."""
    geometry = visual.first("geometry")
    for element in () if geometry is None else geometry:
        match element.tag:
            case "box":
                return [(BoxShape(_lengths(element, "size", 3)), HERE)]
            case "cylinder":
                return [(CylinderShape(_length(element, "radius"), _length(element, "length")), HERE)]
            case "sphere":
                return [(SphereShape(_length(element, "radius")), HERE)]
            case "capsule":
                return capsule(_length(element, "radius"), _length(element, "length"))
            case "mesh":
                return _mesh(element, scope) if with_meshes else []
        if element.tag not in QUIET:
            scope.source.notes.add(NOT_DRAWN, f"<{element.tag}>")
    return []


def _length(element: Element, tag: str) -> float:
    return _lengths(element, tag, 1)[0]


def _lengths(element: Element, tag: str, count: int) -> tuple[float, ...]:
    lengths = numbers_in(element.require(tag), count)
    if any(length < 0 for length in lengths):
        raise element.error(f"{tag}: expected lengths of zero or more, got {element.require(tag).text[:60]!r}")
    return lengths


def _mesh(element: Element, scope: Scope) -> list[Placed]:
    scale = element.first("scale")
    path = mesh_file(scope.source, element.require("uri").text, element.where)
    if path is None:
        return []
    return [(MeshShape(str(path), (1.0, 1.0, 1.0) if scale is None else numbers_in(scale, 3)), HERE)]
