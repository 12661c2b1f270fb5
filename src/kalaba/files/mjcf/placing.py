"""Where things of an MJCF file are: its five ways to write an orientation."""

from __future__ import annotations

import math

import numpy as np

from kalaba.files.mjcf.document import Compiler
from kalaba.files.xml_tree import Element
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.rotations import multiply, rotation_of, turn
from kalaba.tolerances import SHORTEST_DIRECTION

HERE = NumericPose(np.zeros(3), np.eye(3))
MOST_TURNED = 1_000_000.0  # rad or degrees: beyond it an angle has lost half of its digits


def placed(element: Element, compiler: Compiler) -> NumericPose:
    """The pose that an element gives by `pos=` and an orientation."""
    return NumericPose(np.array(element.numbers("pos", 3, (0.0, 0.0, 0.0))), oriented(element, compiler))


def oriented(element: Element, compiler: Compiler) -> Array:
    """The rotation that an element gives by quat, axisangle, euler, xyaxes or zaxis."""
    if "axisangle" in element.attributes:
        *axis, angle = element.numbers("axisangle", 4)
        return rotation_of(turn(unit(element, np.array(axis), "axisangle") * radians(element, angle, compiler)))
    if "euler" in element.attributes:
        angles = [radians(element, angle, compiler) for angle in element.numbers("euler", 3)]
        return _euler(angles, compiler.euler_sequence)
    if "xyaxes" in element.attributes:
        both = np.array(element.numbers("xyaxes", 6))
        x = unit(element, both[:3], "xyaxes")
        y = unit(element, both[3:] - x * (x @ both[3:]), "xyaxes")
        return np.column_stack([x, y, np.cross(x, y)])
    if "zaxis" in element.attributes:
        return turned_onto(unit(element, np.array(element.numbers("zaxis", 3)), "zaxis"))
    quaternion = np.array(element.numbers("quat", 4, (1.0, 0.0, 0.0, 0.0)))
    return rotation_of(unit(element, quaternion, "quat"))


def unit(element: Element, vector: Array, what: str) -> Array:
    """A vector at unit length."""
    largest = float(np.abs(vector).max())
    if not largest > SHORTEST_DIRECTION:
        raise element.error(f"{what}: expected a direction, got a vector of length {largest:g}")
    scaled = vector / largest  # whose square does not overflow
    return np.asarray(scaled / np.linalg.norm(scaled))


def radians(element: Element, angle: float, compiler: Compiler) -> float:
    """An angle of a file in rad."""
    if abs(angle) > MOST_TURNED:
        raise element.error(f"expected an angle of some turns, got {angle:g}")
    return angle * compiler.degree


def turned_onto(z: Array) -> Array:
    """The least rotation that brings the z axis onto a unit vector."""
    axis = np.cross((0.0, 0.0, 1.0), z)
    sine = float(np.linalg.norm(axis))
    if sine < SHORTEST_DIRECTION:
        axis, sine = np.array([1.0, 0.0, 0.0]), 0.0
    return rotation_of(turn(axis / (sine or 1.0) * math.atan2(sine, z[2])))


def _euler(angles: list[float], sequence: str) -> Array:
    """Turns about axes in sequence: lower case about the axes as turned so far, upper case about fixed ones."""
    total = np.array([1.0, 0.0, 0.0, 0.0])
    for angle, letter in zip(angles, sequence, strict=True):
        step = np.zeros(3)
        step["xyz".index(letter.lower())] = angle
        total = multiply(total, turn(step)) if letter.islower() else multiply(turn(step), total)
    return rotation_of(total)
