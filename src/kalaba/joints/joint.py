"""Joint: all that is asked of a joint kind. The same words build a tree (Body) and close a cut (Connection).

A kind is one frozen dataclass in one file, here or in a program of yours. It must say

    `displacements`                  names and units of the numbers that move its child
    `pose` or `motion`               where these put the child on its seat (the other one is then worked out)
    `row_labels`, `row_values`       what it takes away where it closes a cut

and may say more: each member of the class tells what it is for and what holds if a kind is silent. Fields are marked:
`direction(default)` is an axis (structure), `scalar(unit, description)` a number (a parameter of the model). A kind is
known by its name from the moment its class is made, so that models with it can be written and read.

No other module asks a joint for its class; whatever differs between kinds is a member here.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, TypeVar

import casadi as ca

from kalaba.boundary import entries_of, shown
from kalaba.errors import ModelError
from kalaba.joints.formulas import Gap, InWorld, JointMotion, Labels, Velocity
from kalaba.joints.marker import Marker
from kalaba.space.arrays import Array
from kalaba.space.number import Number, as_numbers, check_number, quantities, with_values
from kalaba.space.pose import Axis, as_axis
from kalaba.space.symbolic import spin
from kalaba.space.symbolic_configuration import rate_map
from kalaba.units import counted

POSITION: Labels = (("x", "m"), ("y", "m"), ("z", "m"))
QUATERNION: Labels = (("qw", "1"), ("qx", "1"), ("qy", "1"), ("qz", "1"))
LINEAR: Labels = (("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"))
ANGULAR: Labels = (("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s"))
FREEDOMS = 6  # of a rigid body
PACKAGE = "kalaba."

AnyJoint = TypeVar("AnyJoint", bound="Joint")
_KINDS: dict[str, type[Joint]] = {}


def kinds() -> dict[str, type[Joint]]:
    """Every kind of joint that has been defined so far, by name; those from outside the package included."""
    return dict(_KINDS)


def direction(default: Axis) -> Any:
    """Mark a field that holds an axis; three numbers are accepted and normalised.

    Arguments:
        default: axis of a joint that is not given one
    """
    return field(default=default, metadata={"is_axis": True})


@dataclass(frozen=True, slots=True)
class Joint:
    """How a child moves on its seat, and which rows keep it from moving otherwise."""

    displacements: ClassVar[Labels] = ()  # scalar ones, in order: (name, unit "m" or "rad")
    has_quaternion: ClassVar[bool] = False  # its last coordinates are a unit quaternion of the child on its seat
    has_position: ClassVar[bool] = False  # with a quaternion: the three coordinates before it are a position
    in_tree: ClassVar[bool] = True  # a Body may have it; False: it only closes cuts
    closes_on_seat: ClassVar[bool] = True  # its rows vanish where the child is exactly on the seat
    comes_round: ClassVar[bool] = False  # a whole turn of any of its angles brings the child back to where it was
    wound_rows: ClassVar[tuple[str, ...]] = ()  # rows that close at many places, such as a thread's at every turn
    is_base: ClassVar[bool] = False  # a body that stands on the world by it is a floating base

    def __init_subclass__(cls, **options: Any) -> None:
        """Make a kind known by its name; outside the package one that is made again takes the place of the first."""
        super(Joint, cls).__init_subclass__(**options)
        name, known = cls.__name__, _KINDS.get(cls.__name__)
        if known is not None and known.__module__.startswith(PACKAGE) and known.__module__ != cls.__module__:
            raise ModelError(f"{name}: a second kind of joint of that name, after {known.__module__}'s. Rename it.")
        if cls.in_tree and cls.pose is Joint.pose and cls.motion is Joint.motion:
            raise ModelError(f"{name}: expected a joint that says where its child is. Write pose(q) or motion(q, u).")
        _KINDS[name] = cls

    def __post_init__(self) -> None:
        for entry in fields(self):
            if "is_axis" in entry.metadata:
                object.__setattr__(self, entry.name, as_axis(getattr(self, entry.name)))
        if isinstance(self.q, list | tuple):
            object.__setattr__(self, "q", entries_of(self.q))
        self._check_q()
        self._check_limits()
        for quantity in quantities(self):
            path = f"{self.kind}.{quantity.path}"
            check_number(path, quantity.value)
            if not isinstance(quantity.value, str):  # a text is judged when its value is known
                self.check_value(path, quantity.value)

    def _check_q(self) -> None:
        count = len(self.displacements)
        is_short = count > 1 and not isinstance(self.q, tuple)  # a text of `count` letters is one entry
        if self.q is not None and (is_short or len(self.expressions) != count):
            names = ", ".join(name for name, _ in self.displacements)
            raise ModelError(
                f"{self.kind}: expected q= with {counted(count, 'entry')} ({names}), got {shown(self.q)}. Give a tuple."
            )

    def _check_limits(self) -> None:
        if self.limits is None:
            return
        limits = as_numbers(self.limits, 2, f"{self.kind}.limits")
        if any(isinstance(limit, str) for limit in limits) or not float(limits[0]) < float(limits[1]):
            raise ModelError(
                f"{self.kind}.limits: expected a lower and an upper number, got {shown(self.limits)}. Swap them?"
            )
        object.__setattr__(self, "limits", limits)

    def check_value(self, path: str, value: float) -> None:
        """Refuse a value that one of its numbers cannot have."""

    # --- names and sizes

    @property
    def kind(self) -> str:
        """Name of its kind."""
        return type(self).__name__

    @property
    def words(self) -> str:
        """Its kind with its axes, for people: Revolute(-y)."""
        axes = [value for entry in fields(self) if isinstance(value := getattr(self, entry.name), Axis)]
        return f"{self.kind}({', '.join(axis.words for axis in axes)})" if axes else self.kind

    @property
    def q(self) -> Number | tuple[Number, ...] | None:
        """What the user gives for its displacements, a field of kinds that take it; None: they are coordinates."""
        return None

    @property
    def limits(self) -> tuple[float, float] | None:
        """Lowest and highest value of its one displacement, a field of kinds that take it; None: no limits."""
        return None

    @property
    def expressions(self) -> tuple[Number | None, ...]:
        """What the user gives for each displacement; None: a coordinate of its own."""
        if len(self.displacements) == 1 and not isinstance(self.q, tuple):
            return (self.q,)
        return (None,) * len(self.displacements) if self.q is None else tuple(self.q)  # type: ignore[arg-type]

    @property
    def coordinates(self) -> Labels:
        """Names and units of the numbers that place its child: displacements, or position and quaternion."""
        if self.has_quaternion:
            return (*POSITION, *QUATERNION) if self.has_position else QUATERNION
        return self.displacements

    @property
    def velocities(self) -> Labels:
        """Names and units of their rates u; with a quaternion, position's in seat axes and ω in child axes."""
        if self.has_quaternion:
            return (*LINEAR, *ANGULAR) if self.has_position else ANGULAR
        return tuple((name, f"{unit}/s") for name, unit in self.displacements)

    @property
    def q_count(self) -> int:
        """How many numbers place its child."""
        return len(self.coordinates)

    @property
    def v_count(self) -> int:
        """How many rates move its child: its freedoms in a tree."""
        return len(self.velocities)

    @property
    def is_free(self) -> bool:
        """Whether it takes nothing away, so that its child floats and it closes nothing."""
        return not self.row_labels

    @property
    def is_rigid(self) -> bool:
        """Whether it takes all six freedoms away."""
        return len(self.row_labels) == FREEDOMS

    # --- its motion in a tree

    def pose(self, q: ca.SX) -> tuple[ca.SX, ca.SX]:
        """Rotation R and position p of the child on its seat; q has an entry per coordinate.

        Numbers of the joint are CasADi values here and in all formulas below.
        """
        motion = self.motion(q, ca.SX.zeros(self.v_count))
        return motion.rotation, motion.position

    def motion(self, q: ca.SX, u: ca.SX) -> JointMotion:
        """Pose, motion matrix S with (ω; v) = S u in child axes, and Ṡ u: what Newton-Euler reads.

        Unless a kind writes it shorter, by differentiation of the pose along ḋ = N(d) u::

            ω_i = Rᵀ ½ Σ_k r_k × ∂_i r_k        v_i = Rᵀ ∂_i p        Ṡ u = ∂(S u)/∂d N u
        """
        d, rates = ca.SX.sym("d", self.q_count), ca.SX.sym("u", self.v_count)
        N = rate_map(_Alone(self), d, self.v_count)
        R, p = self.pose(d)
        columns = []
        for i in range(self.v_count):
            dR, dp = ca.jtimes(R, d, N[:, i]), ca.jtimes(p, d, N[:, i])
            columns.append(ca.mtimes(R.T, ca.horzcat(spin(R, dR), dp)))
        S = ca.horzcat(ca.SX(6, 0), *(ca.vec(column) for column in columns))
        drift = ca.jtimes(ca.mtimes(S, rates), d, ca.mtimes(N, rates))
        return JointMotion(*ca.substitute([R, p, S, drift], [d, rates], [q, u]))

    def velocity(self, world: InWorld) -> Velocity:
        """Angular velocity and velocity of the child's origin that it adds to its seat's, world axes: what Kane reads.

        A kind that writes it anew, by its axes in the world, is checked by its motion and the other way round.
        """
        motion = self.motion(world.q, world.rates)
        twist = ca.mtimes(motion.motion, world.rates)
        return ca.mtimes(world.child, twist[0:3]), ca.mtimes(world.child, twist[3:6])

    def coordinates_at(self, position: Array, rotation: Array) -> tuple[float, ...]:
        """Give the coordinates that bring the child nearest to a pose on its seat: the inverse of `pose`, in numbers.

        Needed of joints of objects that arms hold. Angles are between −π and π.
        """
        raise NotImplementedError(f"{self.kind}: to find its displacements from a pose, write coordinates_at().")

    def displacements_in(self, gap: Gap) -> list[ca.SX]:
        """Values of its displacements where it closes a cut, read off the gap; angles between −π and π.

        The inverse of `pose` in symbols. Exact where its rows are closed, as are the first derivatives along motions
        that keep them closed.
        """
        if self.displacements:
            raise NotImplementedError(f"{self.kind}: to read its displacements off a cut, write displacements_in(gap).")
        return []

    @property
    def turned_over(self) -> Joint | None:
        """A joint of the same displacements by which its seat moves on its child; None: `Backwards` serves."""
        return None

    @property
    def hinge_axis(self) -> Axis | None:
        """The axis of a joint whose child turns about it and does nothing else; turns of such joints are summed."""
        return None

    @property
    def screw_axis(self) -> Axis | None:
        """The one axis, of the same components in seat and child, that all its displacements are along or about."""
        return None

    @property
    def travel_axes(self) -> tuple[Axis, ...]:
        """Directions, in the seat, of its first rates: those that are travels."""
        return ()

    # --- the cut that it closes

    @property
    def row_labels(self) -> Labels:
        """Names of the rows it imposes where it closes a cut, and their units; none: it closes nothing."""
        return ()

    @property
    def rows(self) -> tuple[str, ...]:
        """Names of its rows."""
        return tuple(name for name, _ in self.row_labels)

    @property
    def row_units(self) -> tuple[str, ...]:
        """Units of its rows."""
        return tuple(unit for _, unit in self.row_labels)

    def row_values(self, gap: Gap) -> list[ca.SX]:
        """Values of its rows, in the order of their names: zero exactly where its motion can bring the child."""
        if self.row_labels:
            raise NotImplementedError(f"{self.kind}: it names rows. Write row_values(gap).")
        return []

    def alignment(self, gap: Gap) -> ca.SX:
        """A cosine that is 1 where the rows are truly closed and negative at a false root, such as a flipped axis."""
        return ca.SX(1)

    def wound_values(self, gap: Gap) -> list[ca.SX]:
        """Values of its `wound_rows` in a form for finding the nearest root.

        Each is in the row's unit and zero where the row is truly closed; it grows with the distance to the nearest such
        place, as far as half way to the next.
        """
        return []

    # --- its picture

    @property
    def marker(self) -> Marker:
        """How it is drawn."""
        return Marker()

    # --- its identity

    @property
    def is_from_outside(self) -> bool:
        """Whether its kind is defined outside the package."""
        return not type(self).__module__.startswith(PACKAGE)

    def signature(self) -> str:
        """All its formulas in one text: two kinds of one name whose formulas differ are told apart by it."""
        joint = with_values(self, ca.SX.sym)
        outputs: list[ca.SX] = []
        q, u = ca.SX.sym("q", self.q_count), ca.SX.sym("u", self.v_count)
        seat, child, world = ca.SX.sym("seat", 3, 3), ca.SX.sym("child", 3, 3), ca.SX.sym("world", 3)
        if self.in_tree:
            motion = joint.motion(q, u)
            outputs += [motion.rotation, motion.position, motion.motion, motion.drift]
            outputs += joint.velocity(InWorld(seat, child, q, u))
        gap = Gap(seat, child, world)
        outputs += [*joint.row_values(gap), joint.alignment(gap), *joint.wound_values(gap)]
        return "; ".join(ca.densify(output).str(True) for output in outputs)


def along_the_other_way(joint: AnyJoint, axis: Axis) -> AnyJoint:
    """The same joint with its one axis turned round: its motion is then the inverse, its displacements the same."""
    copy = with_values(joint, {quantity.path: quantity.value for quantity in quantities(joint)}.__getitem__)
    object.__setattr__(copy, "axis", -axis)
    return copy


@dataclass(frozen=True, slots=True)
class _Alone:
    """The configuration manifold of one joint."""

    joint: Joint

    @property
    def scalar_pairs(self) -> tuple[tuple[int, int], ...]:
        """Displacements, or the position before a quaternion."""
        return tuple((i, i) for i in range(self.joint.v_count - 3 * self.joint.has_quaternion))

    @property
    def quaternions(self) -> tuple[tuple[int, int], ...]:
        """The quaternion, if it has one."""
        joint = self.joint
        return ((joint.q_count - 4, joint.v_count - 3),) if joint.has_quaternion else ()
