"""Machines of few structures with random numbers, for the study of accuracy: trees, loops, beams and springs.

Machines of one structure share their compiled kernels: only numbers differ.
"""

from collections.abc import Callable

import numpy as np

import kalaba as kb
from kinematics_by_hand import frame_poses
from machines import closed_connection
from states import random_state

EARTH = (0.0, 0.0, -9.81)
HINGE = kb.Revolute(-kb.Y)

Structure = Callable[["Numbers"], kb.System]


class Numbers:
    """Random numbers of a machine of one size and one mass."""

    def __init__(self, rng: np.random.Generator) -> None:
        self.rng = rng
        self.size = float(10 ** rng.uniform(-2, 1))  # m
        self.heavy = float(10 ** rng.uniform(-2, 2))  # kg
        self.gravity = EARTH if rng.random() < 0.7 else (0.0, 0.0, 0.0)

    def length(self) -> float:
        """About the size, m."""
        return self.size * float(self.rng.uniform(0.3, 1.0))

    def mass(self) -> float:
        """Up to ten times smaller than the heaviest, kg."""
        return self.heavy * float(10 ** self.rng.uniform(-1, 0))

    def rod(self) -> kb.Rod:
        return kb.Rod(self.length(), mass=self.mass())

    def box(self) -> kb.Box:
        return kb.Box((self.length(), self.length(), self.length()), mass=self.mass())

    def place(self) -> tuple[float, float, float]:
        x, y, z = self.size * self.rng.normal(scale=0.4, size=3)
        return float(x), float(y), float(z)

    def spring(self, name: str, along: str, inertia: float) -> kb.Spring:
        """A spring of 1 to 3,000 rad/s on an inertia, free of damping, damped or overdamped a hundred times."""
        rate = float(10 ** self.rng.uniform(0, 3.5))
        damping = float(10 ** self.rng.uniform(-3, 2)) if self.rng.random() < 0.7 else 0.0
        damping = min(damping, 5e3 / rate)
        return kb.Spring(name, along, stiffness=inertia * rate**2, damping=2 * damping * inertia * rate)

    def beam(self, modes: int, *, foreshortening: bool = False) -> kb.Beam:
        """A slender beam with a first frequency of about 3 to 300 rad/s."""
        length, density = self.length(), 2700.0
        side = 0.03 * length
        rate = float(10 ** self.rng.uniform(0.5, 2.5))
        young = 12 * density * (rate * length**2 / 3.52 / side) ** 2
        section = kb.Rectangle(side, side)
        damping = float(self.rng.choice([0.0, 0.01]))
        return kb.Beam(
            length,
            section,
            density=density,
            young=young,
            shapes=kb.ClampedFree(modes),
            bending=(kb.Y,),
            foreshortening=foreshortening,
            damping=damping,
        )


def chain(n: Numbers, joints: tuple[kb.joints.Joint, ...], name: str = "link") -> tuple[kb.Body, ...]:
    """Rods one on another."""
    seats = ["world", *(f"{name}{i}.tip" for i in range(len(joints)))]
    return tuple(kb.Body(f"{name}{i}", n.rod(), parent=seats[i], joint=joint) for i, joint in enumerate(joints))


def closed(n: Numbers, system: kb.System, *loops: tuple[str, str, kb.joints.Joint]) -> kb.System:
    """Close loops where a random state puts the frames; the start is that state."""
    machine = system.machine
    state = random_state(machine, n.rng)
    poses = frame_poses(machine, state)
    parts = [closed_connection(f"pin{i}", poses, (a, b), joint, n.rng) for i, (a, b, joint) in enumerate(loops)]
    hold = dict(zip((c.name for c in machine.coordinates), state.q.tolist(), strict=True))
    return kb.System(system.name, (*system.parts, *parts), gravity=system.gravity, start=kb.Start(guess=hold))


def _system(n: Numbers, name: str, *parts: object) -> kb.System:
    return kb.System(name, tuple(parts), gravity=n.gravity)


def double_pendulum(n: Numbers) -> kb.System:
    return _system(n, "double pendulum", *chain(n, (HINGE, HINGE)))


def arm(n: Numbers) -> kb.System:
    return _system(n, "arm", *chain(n, (kb.Revolute(kb.Z), HINGE, HINGE)))


def cart(n: Numbers) -> kb.System:
    rail = kb.Body("cart", n.box(), joint=kb.Prismatic(kb.X))
    return _system(n, "cart", rail, kb.Body("pole", n.rod(), parent="cart", joint=HINGE))


def satellite(n: Numbers) -> kb.System:
    base = kb.Body("base", n.box(), joint=kb.Free())
    return _system(n, "satellite", base, kb.Body("boom", n.rod(), parent="base", at=n.place(), joint=HINGE))


def top(n: Numbers) -> kb.System:
    disk = kb.Cylinder(n.length(), 0.1 * n.size, n.mass(), axis=kb.Z)
    return _system(n, "top", kb.Body("frame", kb.Solid(n.mass(), com=n.place(), inertia=(n.heavy * n.size**2,) * 3),
                                     joint=kb.Spherical()),
                   kb.Body("disk", disk, parent="frame", at=n.place(), joint=kb.Revolute(kb.Z)))  # fmt: skip


def branches(n: Numbers) -> kb.System:
    trunk = kb.Body("trunk", n.box(), joint=kb.Universal(kb.X, kb.Y))
    left = kb.Body("left", n.rod(), parent="trunk", at=n.place(), joint=HINGE)
    right = kb.Body("right", n.rod(), parent="trunk", at=n.place(), joint=kb.Prismatic(kb.X))
    return _system(n, "branches", trunk, left, right,
                   n.spring("spring", "right.travel", n.heavy))  # fmt: skip


def four_bar(n: Numbers) -> kb.System:
    return closed(n, _system(n, "four-bar", *chain(n, (HINGE,) * 3)), ("link2.tip", "world", HINGE))


def five_bar(n: Numbers) -> kb.System:
    return closed(n, _system(n, "five-bar", *chain(n, (HINGE,) * 4)), ("link3.tip", "world", HINGE))


def two_loops(n: Numbers) -> kb.System:
    parts = (*chain(n, (HINGE,) * 3), *chain(n, (HINGE,) * 2, "strut"))
    loops = (("link2.tip", "world", HINGE), ("strut1.tip", "link1.tip", HINGE))
    return closed(n, _system(n, "two loops", *parts), *loops)


def slider_crank(n: Numbers) -> kb.System:
    crank, rod = chain(n, (HINGE, HINGE))
    first, second = n.rng.uniform(-1.5, 1.5, size=2)
    height = crank.solid.length * np.sin(first) + rod.solid.length * np.sin(first + second)
    pin = kb.Connection("pin", "link1.tip", at=(0.0, 0.0, float(height)), joint=kb.joints.PointOnLine(kb.X))
    start = kb.Start(guess={"link0.angle": float(first), "link1.angle": float(second)})
    return kb.System("slider-crank", (crank, rod, pin), gravity=n.gravity, start=start)


def spatial_loop(n: Numbers) -> kb.System:
    parts, seat = [], "world"
    for i, joint in enumerate((kb.Revolute(kb.Z), kb.Universal(kb.X, kb.Y), kb.Revolute(kb.Z))):
        parts.append(kb.Body(f"link{i}", n.box(), parent=seat, at=n.place(), joint=joint))
        seat = f"link{i}"
    return closed(n, _system(n, "spatial loop", *parts), (seat, "world", kb.joints.PointOnLine(kb.X)))


def elastic_four_bar(n: Numbers) -> kb.System:
    spring = n.spring("spring", "link0.angle", n.heavy * n.size**2)
    return closed(n, _system(n, "elastic four-bar", *chain(n, (HINGE,) * 3), spring), ("link2.tip", "world", HINGE))


def rotating_beam(n: Numbers) -> kb.System:
    return _system(n, "rotating beam", kb.Body("blade", n.beam(2, foreshortening=True), joint=kb.Revolute(kb.Z)))


def satellite_with_beam(n: Numbers) -> kb.System:
    base = kb.Body("base", n.box(), joint=kb.Planar(kb.Z))
    return _system(n, "satellite with beam", base,
                   kb.Body("boom", n.beam(3), parent="base", at=n.place(), joint=kb.Revolute(kb.Z)))  # fmt: skip


def flexible_pendulum(n: Numbers) -> kb.System:
    rod = kb.Body("rod", n.rod(), joint=kb.Revolute(kb.Y))
    return _system(n, "flexible pendulum", rod, kb.Body("blade", n.beam(1), parent="rod.tip", joint=kb.Revolute(kb.Z)))


def masses(n: Numbers) -> kb.System:
    parts, seat = [], "world"
    for i in range(3):
        parts.append(kb.Body(f"m{i}", n.box(), parent=seat, at=n.place(), joint=kb.Prismatic(kb.Z)))
        parts.append(n.spring(f"spring{i}", f"m{i}.travel", n.heavy))
        seat = f"m{i}"
    return _system(n, "masses", *parts)


def elastic_joints(n: Numbers) -> kb.System:
    springs = [n.spring(f"spring{i}", f"link{i}.angle", n.heavy * n.size**2) for i in range(2)]
    return _system(n, "elastic joints", *chain(n, (HINGE, HINGE)), *springs)


def hung(n: Numbers) -> kb.System:
    """A body on an elastic rope from the world."""
    body = kb.Body("body", n.box(), at=(0.3 * n.length(), 0, -n.length()), joint=kb.Planar(kb.Y))
    rope = n.spring("rope", "distance(body, world)", n.heavy)
    return _system(
        n, "hung", body, kb.Spring("rope", rope.displacement, rope.stiffness, rope.damping, rest=0.5 * n.size)
    )


TREES = (double_pendulum, arm, cart, satellite, top, branches)
LOOPS = (four_bar, five_bar, two_loops, slider_crank, spatial_loop)
BEAMS = (rotating_beam, satellite_with_beam, flexible_pendulum)
SPRINGS = (masses, elastic_joints, hung, elastic_four_bar)
STRUCTURES: dict[str, tuple[Structure, ...]] = {"tree": TREES, "loop": LOOPS, "beam": BEAMS, "spring": SPRINGS}
