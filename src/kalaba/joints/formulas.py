"""What the formulas of a joint kind are written with: its motion on a seat, its seat in the world, the gap of a cut.

The seat is the parent's frame at `at`; the child sits on it, moved by the joint. A row of a cut is a polynomial in
R = R1ᵀR2 and the gap d between seat 1 and child 2, so that its derivatives exist where it is closed. With the joint
axis z and a right-handed triad (x, y, z)::

    a point kept on a point      d                       Weld and Spherical: in world axes, others: in seat axes
    a point kept on an axis      d_x, d_y
    an axis kept on an axis      rx = −y1·z2, ry = x1·z2
    no turn at all               ½ vee(R − Rᵀ)
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca

from kalaba.space.pose import Axis, X, Y, Z
from kalaba.space.symbolic import vector, vee

Labels = tuple[tuple[str, str], ...]  # (name, unit)
Velocity = tuple[ca.SX, ca.SX]  # angular velocity; velocity of the origin
IDENTITY = ca.SX(ca.DM.eye(3))
ZERO = ca.SX.zeros(3)


@dataclass(frozen=True)
class JointMotion:
    """Pose and velocity of a child on its seat: (ω; v) = S u in child axes, u the joint rates.

    Arguments:
        rotation: R, child to seat, (3, 3)
        position: p, child origin in seat axes, (3,), m
        motion: S, (6, n_u), rows ω then v, child axes
        drift: Ṡ u at constant u, (6,)
    """

    rotation: ca.SX
    position: ca.SX
    motion: ca.SX
    drift: ca.SX

    @classmethod
    def steady(cls, rotation: ca.SX, position: ca.SX, *columns: Velocity) -> JointMotion:
        """A motion whose S is constant; one column (ω, v) per rate."""
        S = ca.horzcat(ca.SX(6, 0), *(ca.vertcat(*column) for column in columns))
        return cls(rotation, position, S, ca.SX.zeros(6))


@dataclass(frozen=True)
class InWorld:
    """A joint that moves, seen from the world.

    Arguments:
        seat: rotation of the seat to the world, (3, 3)
        child: rotation of the child to the world, (3, 3)
        q: the joint's coordinates, m, rad
        rates: joint rates u, m/s, rad/s
    """

    seat: ca.SX
    child: ca.SX
    q: ca.SX
    rates: ca.SX

    def fixed(self, axis: Axis) -> ca.SX:
        """A direction that is fixed in the seat, in world axes."""
        return ca.mtimes(self.seat, vector(axis))

    def carried(self, axis: Axis) -> ca.SX:
        """A direction that turns with the child, in world axes."""
        return ca.mtimes(self.child, vector(axis))


@dataclass(frozen=True)
class Gap:
    """How a child frame sits on its seat.

    Arguments:
        seat: rotation of the seat to the world, (3, 3)
        child: rotation of the child to the world, (3, 3)
        world: origin of the child minus that of the seat, world axes, m
    """

    seat: ca.SX
    child: ca.SX
    world: ca.SX

    @property
    def d(self) -> ca.SX:
        """Child minus seat, seat axes."""
        return ca.mtimes(self.seat.T, self.world)

    @property
    def R(self) -> ca.SX:  # noqa: N802  (R = R1ᵀ R2)
        """Child axes in seat axes."""
        return ca.mtimes(self.seat.T, self.child)

    def turn_world(self) -> ca.SX:
        """½ vee(R − Rᵀ) in world axes."""
        return vee(ca.mtimes(self.child, self.seat.T))

    def off(self, axis: Axis) -> list[ca.SX]:
        """Gap across an axis; its names are `off_labels`."""
        return [ca.dot(self.d, vector(across)) for across in _named_across(axis)]

    def along(self, axis: Axis) -> ca.SX:
        """Gap along an axis."""
        return ca.dot(self.d, vector(axis))

    def tilt(self, axis: Axis) -> list[ca.SX]:
        """The two turns that take the child's axis off the seat's; their names are `tilt_labels`.

        R a is a + θ × a to first order, so θ_e = e·(a × R a).
        """
        a = vector(axis)
        turned = ca.mtimes(self.R, a)
        theta = ca.cross(a, turned)
        return [ca.dot(theta, vector(across)) for across in _named_across(axis)]

    def turn(self, axis: Axis) -> ca.SX:
        """Angle of the child about an axis that seat and child share, between −π and π."""
        x, y = (vector(across) for across in axis.across())
        turned = ca.mtimes(self.R, x)
        return ca.atan2(ca.dot(y, turned), ca.dot(x, turned))

    def straight(self, axis: Axis) -> ca.SX:
        """Cosine between the child's axis and the seat's: −1 where `tilt` vanishes with the axis reversed."""
        return ca.dot(vector(axis), ca.mtimes(self.R, vector(axis)))


def _named_across(axis: Axis) -> tuple[Axis, Axis]:
    """The two directions across an axis, as rows are named: coordinate axes in the order x, y, z if possible."""
    if not axis.letter:
        return axis.across()
    index = "xyz".index(axis.letter)
    first, second = (unit for i, unit in enumerate((X, Y, Z)) if i != index)
    return first, second


GAP_LABELS: Labels = (("x", "m"), ("y", "m"), ("z", "m"))
TURN_LABELS: Labels = (("rx", "rad"), ("ry", "rad"), ("rz", "rad"))


def off_labels(axis: Axis) -> Labels:
    """Names and units of the two rows that keep a point on an axis.

    Arguments:
        axis: direction of the line, in the seat
    """
    if not axis.letter:
        return (("d1", "m"), ("d2", "m"))
    return tuple(label for label in GAP_LABELS if label[0] != axis.letter)


def tilt_labels(axis: Axis) -> Labels:
    """Names and units of the two rows that keep an axis aligned.

    Arguments:
        axis: direction that seat and child share
    """
    if not axis.letter:
        return (("r1", "rad"), ("r2", "rad"))
    return tuple(label for label in TURN_LABELS if label[0] != f"r{axis.letter}")
