"""What the bodies of an MJCF file weigh: from <inertial>, or from their geoms, within the bounds of the compiler."""

from __future__ import annotations

import numpy as np

from kalaba.files.mjcf.bodies import Link, Tree
from kalaba.files.mjcf.document import Compiler
from kalaba.files.mjcf.meshes import Meshes, refuse_fitted
from kalaba.files.mjcf.placing import placed
from kalaba.files.mjcf.shapes import NOTHING, Lump, Shape, together
from kalaba.files.xml_tree import Element
from kalaba.space.arrays import Array


def lumps(tree: Tree, meshes: Meshes) -> list[Lump]:
    """Mass, centre of mass and inertia of every body, the world's first (nothing)."""
    compiler = tree.compiler
    bodies = [NOTHING, *(_bounded(_lump(link, meshes, compiler), compiler) for link in tree.links[1:])]
    total = sum(body.mass for body in bodies)
    if compiler.total_mass is None or not total > 0:
        return bodies
    return [body.scaled(compiler.total_mass / total) for body in bodies]


def _lump(link: Link, meshes: Meshes, compiler: Compiler) -> Lump:
    by_shapes = compiler.inertia_from_shapes
    is_given = link.inertial is not None
    if by_shapes == "false" or (by_shapes == "auto" and is_given):
        return _given(link.inertial, compiler) if link.inertial is not None else NOTHING
    low, high = compiler.inertia_groups
    counted = [shape for shape in link.shapes if low <= shape.group <= high]
    if not counted and link.inertial is not None:
        return _given(link.inertial, compiler)
    return together([_shape_lump(shape, meshes) for shape in counted if not shape.has_no_mass])


def _shape_lump(shape: Shape, meshes: Meshes) -> Lump:
    if shape.kind == "mesh":
        return meshes.lump(shape)
    refuse_fitted(shape)
    return shape.lump()


def _given(element: Element, compiler: Compiler) -> Lump:
    """An <inertial>: diagonal in its own axes, or in full (xx, yy, zz, xy, xz, yz) in the body's."""
    mass = element.number("mass")
    if mass < 0:
        raise element.error(f"mass: expected zero or more, got {mass:g}")
    pose = placed(element, compiler)
    if "fullinertia" in element.attributes:
        xx, yy, zz, xy, xz, yz = element.numbers("fullinertia", 6)
        return Lump(mass, pose.position, np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    moments = element.numbers("diaginertia", 3, (0.0, 0.0, 0.0))
    return Lump(mass, np.zeros(3), np.diag(moments)).moved(pose)


def _bounded(lump: Lump, compiler: Compiler) -> Lump:
    """At least the least mass and moments, and balanced where the compiler is told so."""
    mass, inertia = max(lump.mass, compiler.least_mass), lump.inertia
    moments, axes = np.linalg.eigh(inertia)
    changed = np.maximum(moments, compiler.least_inertia) if compiler.least_inertia > 0 else moments
    if compiler.is_balanced and changed[0] + changed[1] < changed[2]:
        changed = np.full(3, changed.mean())
    if not np.array_equal(changed, moments):
        inertia = _along(axes, changed)
    return Lump(mass, lump.centre, inertia)


def _along(axes: Array, moments: Array) -> Array:
    return np.asarray(axes @ np.diag(moments) @ axes.T)
