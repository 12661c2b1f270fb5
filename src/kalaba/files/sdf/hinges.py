"""Joints of an SDF file: which links they join, where, along which axes, and what acts along them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from kalaba.files.sdf.scopes import HERE, Scope, is_true, number_of, numbers_in, text_of
from kalaba.files.source import Notes
from kalaba.files.tree import limits_of
from kalaba.files.xml_tree import Element
from kalaba.joints import Joint, Prismatic, Revolute, Screw, Spherical, Universal, Weld
from kalaba.space.arrays import Array
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Axis
from kalaba.tolerances import RIGHT_ANGLE, SHORTEST_DIRECTION

GEARBOX = "gearbox"
REVOLUTE2 = "revolute2"
FREEDOMS = {
    "fixed": 0,
    "revolute": 1,
    "continuous": 1,
    "prismatic": 1,
    "screw": 1,
    "universal": 2,
    REVOLUTE2: 2,
    "ball": 3,
}
DISPLACEMENTS = {
    "revolute": ("angle",),
    "continuous": ("angle",),
    "prismatic": ("travel",),
    "screw": ("angle",),
    "universal": ("angle1", "angle2"),
}
AXES_IN_MODEL = (1, 4)  # last version in which axes are in the axes of the model
ENDLESS = 1e16  # what the format writes for a limit that is none


@dataclass(frozen=True)
class Hinge:
    """A joint, read.

    Arguments:
        name: its full name in the file
        element: where it stands
        kind: its type
        parent: full name of the link that it is on
        child: full name of the link that it moves
        pose: where it is in the world, as the file draws it
        axes: unit vectors in the world: one per axis
    """

    name: str
    element: Element
    kind: str
    parent: str
    child: str
    pose: NumericPose
    axes: tuple[Array, ...]

    @property
    def is_driven(self) -> bool:
        """Whether something may act along it."""
        axis = self.element.first("axis")
        return axis is not None and (axis.first("dynamics") is not None or axis.first("limit") is not None)

    @property
    def freedoms(self) -> int:
        """How many coordinates it has in a tree."""
        return FREEDOMS[self.kind]

    def joint(self, frame: Array, notes: Notes, *, is_reversed: bool = False, is_cut: bool = False) -> Joint:
        """The joint of a body on which the axes of `frame` (columns, in the world) are drawn.

        A reversed one moves its parent on its child: by the same angle about the opposite axis.
        """
        sign = -1.0 if is_reversed else 1.0
        directions = [_axis(sign * (frame.T @ axis)) for axis in self.axes]
        limits = None if is_cut else self._limits(notes)
        makers: dict[str, Callable[[], Joint]] = {
            "fixed": Weld,
            "ball": Spherical,
            "revolute": lambda: Revolute(directions[0], limits=limits),
            "continuous": lambda: Revolute(directions[0]),
            "prismatic": lambda: Prismatic(directions[0], limits=limits),
            "screw": lambda: Screw(directions[0], self._pitch()),
            "universal": lambda: Universal(directions[-1 if is_reversed else 0], directions[0 if is_reversed else -1]),
        }
        return makers["universal" if self.kind == REVOLUTE2 else self.kind]()

    @property
    def has_square_axes(self) -> bool:
        """Whether its two axes are at right angles."""
        return abs(float(self.axes[0] @ self.axes[1])) <= RIGHT_ANGLE

    def _pitch(self) -> float:
        """Travel per turn, m, positive for a right-hand thread; older files give −2π over it."""
        if self.element.first("screw_thread_pitch") is not None:
            return number_of(self.element, "screw_thread_pitch", 1.0)
        ratio = number_of(self.element, "thread_pitch", 1.0)
        if ratio == 0:
            raise self.element.error("thread_pitch: expected a number other than zero")
        return -2 * math.pi / ratio

    def _limits(self, notes: Notes) -> tuple[float, float] | None:
        axis = self.element.first("axis")
        limit = None if axis is None else axis.first("limit")
        if limit is None:
            return None
        low, high = number_of(limit, "lower", -ENDLESS), number_of(limit, "upper", ENDLESS)
        low, high = (-math.inf if low <= -ENDLESS else low), (math.inf if high >= ENDLESS else high)
        if not low <= 0.0 <= high:  # zero is where the file draws it
            notes.add("limits that the pose of the file does not keep, left out", self.name)
            return None
        return None if low == high == 0.0 and limit.first("lower") is None else limits_of(low, high, notes, self.name)


def _axis(components: Array) -> Axis:
    """A direction, whose zeros and ones stay exact where they are rounding."""
    rounded = np.round(components)
    is_rounding = np.abs(components - rounded) < SHORTEST_DIRECTION
    return Axis(*np.where(is_rounding, rounded, components).tolist())


def read_hinge(scope: Scope, name: str, element: Element) -> Hinge:
    """Read a joint of a scope."""
    kind = element.required("type")
    if kind not in {*FREEDOMS, GEARBOX}:
        raise element.error(f"type: expected one of {', '.join((*FREEDOMS, GEARBOX))}, got {kind!r}")
    ends = []
    for tag in ("parent", "child"):
        end = text_of(element, tag)
        if not end:
            raise element.error(f"expected a <{tag}> in it, got none")
        ends.append(scope.body_of(end, element))
    if ends[0] == ends[1]:
        raise element.error(f"expected two links, got {ends[0]!r} as parent and child")
    pose = scope.pose.then(scope.pose_of(name, element))
    return Hinge(scope.full(name), element, kind, ends[0], ends[1], pose, _axes(scope, element, kind, pose))


def _axes(scope: Scope, element: Element, kind: str, pose: NumericPose) -> tuple[Array, ...]:
    tags = {"fixed": (), "ball": (), "universal": ("axis", "axis2"), REVOLUTE2: ("axis", "axis2")}
    tags[GEARBOX] = ("axis", "axis2")
    return tuple(_direction(scope, element, tag, pose) for tag in tags.get(kind, ("axis",)))


def _direction(scope: Scope, element: Element, tag: str, pose: NumericPose) -> Array:
    """A unit vector in the world."""
    axis = element.first(tag)
    direction = None if axis is None else axis.first("xyz")
    if axis is None or direction is None:
        components, frame = np.array([0.0, 0.0, 1.0]), ""
    else:
        components = np.array(numbers_in(direction, 3))
        frame = direction.get("expressed_in")
    length = float(np.linalg.norm(components))
    if not SHORTEST_DIRECTION < length < math.inf:
        raise element.error(f"{tag}: expected a direction, got one of length {length:g}")
    in_model = axis is not None and (is_true(axis, "use_parent_model_frame") or scope.version <= AXES_IN_MODEL)
    if frame:
        rotation = scope.pose.then(scope.pose_of(frame, element)).rotation
    else:
        rotation = scope.pose.rotation if in_model else pose.rotation
    return np.asarray(rotation @ components / length)


def origin_in(pose: NumericPose, body: NumericPose) -> Array:
    """Where a joint is on a body, m; what is rounding is zero."""
    position = pose.seen_from(body).position
    size = max(1.0, float(np.abs(pose.position - HERE.position).max()))
    return np.where(np.abs(position) < SHORTEST_DIRECTION * size * 10, 0.0, position)
