"""Screw: a thread."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import casadi as ca

from kalaba.boundary import shown
from kalaba.errors import ModelError
from kalaba.hints import is_text
from kalaba.joints.formulas import Gap, InWorld, JointMotion, Labels, Velocity, off_labels, tilt_labels
from kalaba.joints.joint import Joint, along_the_other_way, direction
from kalaba.joints.marker import Glyph, Marker, Shape
from kalaba.space.arrays import Array
from kalaba.space.number import Number, scalar
from kalaba.space.pose import Axis, AxisLike, Z
from kalaba.space.rotations import travel_along, turn_about
from kalaba.space.symbolic import about, vector

TURN = 2 * math.pi
COORDINATES = {"angle": "rad", "travel": "m"}


@dataclass(frozen=True, slots=True)
class Screw(Joint):
    """A thread: its coordinate is the angle, or the travel pitch·angle/2π; pitch in metres per turn.

    Arguments:
        axis: direction of the thread: kb.Z or three numbers
        pitch: travel per turn, m; negative: a left-hand thread
        q: the coordinate as a number or an expression of declared coordinates, rad or m; None: it is a coordinate
        by: "angle" or "travel": which of the two is the coordinate. With the angle a machine's equations are far better
            conditioned: a fine thread makes a large mass of a small inertia, I (2π/pitch)²
    """

    wound_rows: ClassVar[tuple[str, ...]] = ("thread",)
    axis: Axis = direction(Z)
    pitch: Number = scalar("m", "pitch, travel per turn", 0.01)
    q: Number | None = None
    by: str = "angle"

    if TYPE_CHECKING:

        def __init__(
            self, axis: AxisLike = Z, pitch: Number = 0.01, q: Number | None = None, by: str = "angle"
        ) -> None: ...

    def __post_init__(self) -> None:
        if not is_text(self.by) or self.by not in COORDINATES:
            raise ModelError(f"Screw.by: expected 'angle' or 'travel', got {shown(self.by)}.")
        super(Screw, self).__post_init__()

    @property
    def displacements(self) -> Labels:  # type: ignore[override]
        """Angle or travel."""
        return ((self.by, COORDINATES[self.by]),)

    @property
    def _radians(self) -> Number:
        """Radians per unit of the coordinate."""
        return 1 if self.by == "angle" else 2 * ca.pi / self.pitch

    @property
    def _metres(self) -> Number:
        """Metres per unit of the coordinate."""
        return self.pitch / (2 * ca.pi) if self.by == "angle" else 1

    def check_value(self, path: str, value: float) -> None:
        """Refuse a thread that does not advance."""
        if path.endswith(".pitch") and value == 0:
            raise ModelError(f"{path}: expected metres per turn other than zero, got 0. Use Revolute for a hinge.")

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """R(axis, angle), p = axis · (h/2π) angle; both constant in child axes."""
        a, turned, moved = vector(self.axis), self._radians, self._metres
        return JointMotion.steady(about(self.axis, turned * q[0]), a * (moved * q[0]), (a * turned, a * moved))

    def velocity(self, world: InWorld) -> Velocity:
        """Spin about the axis, and the travel that comes with it."""
        along = world.fixed(self.axis) * world.rates[0]
        return along * self._radians, along * self._metres

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """The travel d counts the turns: of the angles that give the rotation, the one nearest to 2π d/pitch."""
        travel = travel_along(self.axis, position)
        if self.by == "travel":
            return (travel,)
        angle = turn_about(self.axis, rotation)
        turns = travel / float(self.pitch)
        return (angle + TURN * round(turns - angle / TURN),)

    def displacements_in(self, gap: Gap) -> list[ca.SX]:
        """The travel, or the angle that belongs to it: the travel counts the turns."""
        return [gap.along(self.axis) / self._metres]

    @property
    def turned_over(self) -> Screw:
        """The same with its axis turned round."""
        return along_the_other_way(self, self.axis)

    @property
    def screw_axis(self) -> Axis:
        """Its axis."""
        return self.axis

    @property
    def row_labels(self) -> Labels:
        """Those of a cylindrical joint, and the thread."""
        return (*off_labels(self.axis), *tilt_labels(self.axis), ("thread", "m"))

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """Close the thread by (h/2π) (s cos kd − c sin kd) with k = 2π/h, s = y1·x2, c = x1·x2: zero at any turn."""
        sine, _ = self._ahead(gap)
        return [*gap.off(self.axis), *gap.tilt(self.axis), self.pitch / (2 * ca.pi) * sine]

    def alignment(self, gap: Gap) -> ca.SX:
        """Cosine between the axes, and between the angle and the one that the travel asks for."""
        return ca.fmin(gap.straight(self.axis), self._ahead(gap)[1])

    def wound_values(self, gap: Gap) -> list[ca.SX]:
        """The thread closes once per turn: (h/2π) times the angle itself, whose sine is the row."""
        return [self.pitch / (2 * ca.pi) * ca.atan2(*self._ahead(gap))]

    def _ahead(self, gap: Gap) -> tuple[ca.SX, ca.SX]:
        """Sine and cosine of the angle, less that which belongs to the travel."""
        x, y = (vector(axis) for axis in self.axis.across())
        turned = ca.mtimes(gap.R, x)
        s, c = ca.dot(y, turned), ca.dot(x, turned)
        phase = 2 * ca.pi / self.pitch * gap.along(self.axis)
        return s * ca.cos(phase) - c * ca.sin(phase), c * ca.cos(phase) + s * ca.sin(phase)

    @property
    def marker(self) -> Marker:
        """A guide, and a strut to the seat."""
        return Marker((Glyph(Shape.SLEEVE, self.axis),), has_strut=True, makes_block=True)
