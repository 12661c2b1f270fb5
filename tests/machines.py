"""Random machines: trees of all joints and solids, systems in systems, springs, loops that are closed where they stand.

A machine is made from a seed, so that hypothesis shrinks its size and a failure can be repeated by hand.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kalaba import joints as kinds
from kalaba.model.acting import Spring
from kalaba.model.beams.beam import Beam
from kalaba.model.beams.section import Circle, Rectangle, SectionNumbers, Tube
from kalaba.model.beams.shapes import ClampedClamped, ClampedFree, Pinned, Polynomial, StaticTip
from kalaba.model.parts import Body, Connection, Frame, Parameter
from kalaba.model.solids import AnySolid, Box, Cylinder, Rod, Solid
from kalaba.model.system import Placement, System
from kalaba.space.pose import Axis, Pose, X, Y, Z
from kinematics_by_hand import frame_poses, joint_pose
from states import State, random_state

TREE_KINDS = (
    kinds.Weld,
    kinds.Revolute,
    kinds.Prismatic,
    kinds.Screw,
    kinds.Cylindrical,
    kinds.Universal,
    kinds.Spherical,
    kinds.Planar,
    kinds.Free,
)
CLOSING_KINDS = (*(kind for kind in TREE_KINDS if kind is not kinds.Free), kinds.PointOnLine, kinds.Distance)
OF_COORDINATES = ("{0}", "{0} - {1}", "2*{0}", "sin({0})", "{0}*{1} + ratio*{0}", "0.3 - {1}/2", "0.4")


def random_axis(rng: np.random.Generator) -> Axis:
    """A coordinate axis of either sign, or a skew direction."""
    if rng.random() < 0.5:
        return (X, Y, Z, -X, -Y, -Z)[rng.integers(6)]
    return Axis(*rng.normal(size=3))


def axis_across(rng: np.random.Generator, axis: Axis) -> Axis:
    """A direction at right angles to an axis, coordinate axes from coordinate axes."""
    first, second = axis.across()
    if rng.random() < 0.5:
        return (first, second, -first, -second)[rng.integers(4)]
    turn = rng.uniform(0, 2 * math.pi)
    return Axis(*(math.cos(turn) * np.array(first.components) + math.sin(turn) * np.array(second.components)))


def random_joint(rng: np.random.Generator, kind: type[kinds.Joint], q: Sequence[str] = ()) -> kinds.Joint:
    """A joint of a kind; `q` gives its displacements as expressions."""
    given = {"q": tuple(q) if len(q) > 1 else q[0]} if q else {}
    axis = random_axis(rng)
    if kind is kinds.Screw:
        return kinds.Screw(axis, pitch=float(rng.choice([-0.3, 0.05, 1.0])), **given)
    if kind is kinds.Universal:
        return kinds.Universal(axis, axis_across(rng, axis), **given)
    if kind is kinds.Distance:
        return kinds.Distance(float(rng.uniform(0.1, 1.0)))
    if kind in {kinds.Weld, kinds.Spherical, kinds.Free}:
        return kind()
    return kind(axis, **given)


def random_pose(rng: np.random.Generator) -> Pose:
    """A place with exact zeros now and then, turned not at all, by quarter turns, by any angles or by a quaternion."""
    position = tuple(rng.normal(scale=0.4, size=3) * (rng.random(3) < 0.7))
    match rng.integers(4):
        case 0:
            return Pose(position)
        case 1:
            return Pose(position, rpy=tuple(rng.integers(-2, 3, size=3) * math.pi / 2))
        case 2:
            return Pose(position, rpy=tuple(rng.uniform(-math.pi, math.pi, size=3)))
        case _:
            return Pose(position, quaternion=tuple(rng.normal(size=4)))


def random_solid(rng: np.random.Generator) -> AnySolid:
    """A solid that could exist: its inertia is that of a few point masses."""
    mass = float(rng.uniform(0.1, 3.0))
    match rng.integers(5):
        case 0:
            return Rod(float(rng.uniform(0.1, 1.0)), mass, axis=random_axis(rng))
        case 1:
            return Box(tuple(rng.uniform(0.05, 0.5, size=3)), mass)
        case 2:
            return Cylinder(float(rng.uniform(0.05, 0.2)), float(rng.uniform(0.1, 1.0)), mass, axis=random_axis(rng))
        case 3:
            return Solid(mass if rng.random() < 0.7 else 0.0, com=tuple(rng.normal(scale=0.2, size=3)))
        case _:
            points = rng.normal(scale=0.2, size=(6, 3))
            inertia = np.sum([mass / 6 * (r @ r * np.eye(3) - np.outer(r, r)) for r in points], axis=0)
            com, tip = rng.normal(scale=0.2, size=(2, 3))
            return Solid(mass, com=tuple(com), inertia=inertia, tip=tuple(tip))


def random_beam(rng: np.random.Generator) -> Beam:
    """A beam of any kind: one plane or two, with or without torsion, foreshortening, damping and a tip mass."""
    shapes = (ClampedFree, ClampedClamped, Pinned, Polynomial, StaticTip)[rng.integers(5)](int(rng.integers(1, 3)))
    section = (Rectangle(0.1, 0.08), Circle(0.05), Tube(0.06, 0.04), SectionNumbers(0.01, 3e-6, 4e-6, 5e-6))
    return Beam(
        float(rng.uniform(0.5, 2.0)),
        section[rng.integers(4)],
        density=float(rng.uniform(50, 200)),
        young=float(rng.uniform(1e6, 1e7)),
        shapes=shapes,
        foreshortening=bool(rng.random() < 0.5),
        bending=((Y,), (Z,), (Y, Z), (Z, Y))[rng.integers(4)],
        torsion=int(rng.integers(3)),
        damping=float(rng.choice([0.0, 0.03])),
        tip_mass=float(rng.choice([0.0, 0.7])),
    )


@dataclass
class _Builder:
    """A System in the making, for one scope of names."""

    rng: np.random.Generator
    depth: int
    own_names: list[str]  # coordinates that later joints may speak of
    own_lengths: list[str]  # displacements that a spring may act on
    seats: list[str]  # frames that may bear a body
    beams: float = 0.0  # how often a solid bends

    def body(self, name: str) -> list[Body | Frame]:
        """One body on any frame so far, and perhaps a frame on it."""
        rng = self.rng
        kind = TREE_KINDS[rng.integers(len(TREE_KINDS))]
        count = len(kind().displacements)
        words = [self._displacement() for _ in range(count)] if count and rng.random() < 0.4 else ()
        solid, parent = self._solid(), self._seat()
        parts: list[Body | Frame] = [Body(name, solid, parent, random_pose(rng), random_joint(rng, kind, words))]
        displacements = [f"{name}.{label}" for label, _ in kind().displacements]
        self.own_lengths += displacements
        self.own_names += [] if words else displacements
        self.seats += [name] if solid.mass_properties(float).tip is None else [name, f"{name}.tip"]
        if rng.random() < 0.3:
            parts.append(Frame(f"{name}_frame", self.seats[-1], random_pose(rng)))
            self.seats.append(f"{name}_frame")
        return parts

    def _solid(self) -> AnySolid:
        bends = self.beams and self.rng.random() < self.beams
        return random_beam(self.rng) if bends else random_solid(self.rng)

    def placement(self, name: str, bodies: int) -> Placement:
        """A smaller System that stands on any frame so far."""
        inner, seat = random_tree(self.rng, bodies, self.depth - 1, self.beams), self._seat()
        self.seats += [f"{name}.{part.name}" for part in inner.parts if isinstance(part, Body | Frame)]
        return inner.place(name, seat, random_pose(self.rng), parameters={"ratio": float(self.rng.normal())})

    def spring(self, name: str) -> Spring:
        """A spring and damper on a displacement, an expression, a height or a distance."""
        rng = self.rng
        numbers = {"stiffness": rng.uniform(1, 50), "damping": rng.uniform(0, 2), "rest": rng.uniform(0, 1)}
        first, second = rng.choice(self.seats, size=2)
        texts = ["a - 2*b", f"{first}.z", f"sqrt(0.01 + ({first}.x - {second}.x)^2)"]
        texts += [str(rng.choice(self.own_lengths))] if self.own_lengths else []
        if first != second:
            texts.append(f"sqrt(distance({first}, {second})^2 + 0.01)")
        return Spring(name, str(rng.choice(texts)), **{key: float(value) for key, value in numbers.items()})

    def _displacement(self) -> str:
        pattern = OF_COORDINATES[self.rng.integers(len(OF_COORDINATES))]
        return pattern.format(*self.rng.choice(self.own_names, size=2))

    def _seat(self) -> str:
        late = self.seats[-3:] if self.rng.random() < 0.6 else self.seats  # long chains, and trees
        return str(self.rng.choice(late))


def random_tree(rng: np.random.Generator, bodies: int, depth: int = 2, beams: float = 0.0) -> System:
    """A System of so many bodies and no loops; `beams` is the part of them that bend."""
    build = _Builder(rng, depth, ["a", "b"], [], ["world"], beams)
    parts: list[Body | Frame | Placement | Parameter | Spring] = [Parameter("ratio", 0.7)]
    left = bodies
    while left:
        if depth and left > 2 and rng.random() < 0.2:
            inside = int(rng.integers(1, left))
            parts.append(build.placement(f"s{left}", inside))
            left -= inside
        else:
            parts += build.body(f"b{left}")
            left -= 1
    parts += [build.spring(f"spring{i}") for i in range(rng.integers(0, 3))]
    gravity = tuple(rng.normal(scale=5.0, size=3)) if rng.random() < 0.5 else (0.0, 0.0, -9.81)
    return System("random", tuple(parts), coordinates=("a", "b"), gravity=gravity)


def seat_below(child: np.ndarray, parent: np.ndarray, motion: np.ndarray) -> Pose:
    """The `at` of a seat on a parent such that the child stands on it, moved by the joint: P·at·motion = C."""
    at = np.linalg.inv(parent) @ child @ np.linalg.inv(motion)
    turn = Rotation.from_matrix(at[:3, :3]).as_quat()  # w last
    return Pose(tuple(at[:3, 3]), quaternion=tuple(np.roll(turn, 1)))


def closed_connection(name: str, poses: dict, frames: tuple[str, str], joint: kinds.Joint, rng) -> Connection:
    """A connection whose rows vanish where the frames are now, with its joint anywhere in its range."""
    child, parent = frames
    at = seat_below(poses[child], poses[parent], joint_pose(joint, rng))
    return Connection(name, child, parent, at, joint)


def with_loops(system: System, rng: np.random.Generator, count: int) -> tuple[System, State]:
    """Close loops of any kind between any two bodies where a random state puts them; some of them twice."""
    machine = system.machine
    state = random_state(machine, rng)
    poses, names = frame_poses(machine, state), sorted(machine.frames)
    loops: list[Connection] = []
    for index in range(count):
        child, parent = (str(name) for name in rng.choice(names, size=2))
        if machine.body_of(child) != machine.body_of(parent):
            joint = random_joint(rng, CLOSING_KINDS[rng.integers(len(CLOSING_KINDS))])
            loops.append(closed_connection(f"loop{index}", poses, (child, parent), joint, rng))
    if loops and rng.random() < 0.5:
        again = loops[0]
        loops.append(Connection("again", again.child, again.parent, again.at, again.joint))
    closed = system.add(*loops)
    return closed, replace(state, p=random_state(closed.machine, rng).p)


def random_system(seed: int, bodies: int) -> System:
    """The machine of a seed, without loops."""
    return random_tree(np.random.default_rng(seed), bodies)


def flexible_system(seed: int, bodies: int) -> System:
    """The machine of a seed without loops, half of its bodies beams."""
    return random_tree(np.random.default_rng(seed), bodies, beams=0.5)


def closed_system(seed: int, bodies: int, loops: int, beams: float = 0.0) -> tuple[System, State]:
    """The machine of a seed with at most so many loops (and one that repeats the first), and where they are closed."""
    rng = np.random.default_rng(seed)
    return with_loops(random_tree(rng, bodies, beams=beams), rng, loops)


SEEDS = st.integers(0, 2**32 - 1)


def systems(max_bodies: int = 20) -> st.SearchStrategy[System]:
    """All random trees up to a size."""
    return st.builds(random_system, SEEDS, st.integers(1, max_bodies))


def closed_systems(max_bodies: int = 6, max_loops: int = 4) -> st.SearchStrategy[tuple[System, State]]:
    """All random machines with loops up to a size, each with a state on its constraints."""
    return st.builds(closed_system, SEEDS, st.integers(1, max_bodies), st.integers(1, max_loops))


def flexible_systems(max_bodies: int = 6) -> st.SearchStrategy[System]:
    """All random trees with beams up to a size."""
    return st.builds(flexible_system, SEEDS, st.integers(1, max_bodies))


def closed_flexible_systems(max_bodies: int = 4, max_loops: int = 2) -> st.SearchStrategy[tuple[System, State]]:
    """All random machines with beams and loops up to a size, each with a state on its constraints."""
    return st.builds(closed_system, SEEDS, st.integers(1, max_bodies), st.integers(1, max_loops), st.just(0.5))
