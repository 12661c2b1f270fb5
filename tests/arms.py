"""Arms of hinges in random directions, made from a seed."""

import math

import numpy as np

from kalaba.joints import Revolute
from kalaba.model.parts import Body, Frame
from kalaba.model.solids import Solid
from kalaba.model.system import System
from kalaba.native.backend import Interpreted
from kalaba.plant.plant import Plant, build
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Axis, Pose

SOLID = Solid(1.0, com=(0.05, 0.02, 0.1), inertia=(0.02, 0.03, 0.02))


def arm_of(name: str, joints: list, seats: list[Pose], coordinates: tuple[str, ...] = ()) -> System:
    """Bodies `link1`, ... one on the other, and the frame `tool` on the last seat."""
    bodies = [
        Body(f"link{i}", SOLID, parent=f"link{i - 1}" if i > 1 else "world", at=at, joint=joint)
        for i, (joint, at) in enumerate(zip(joints, seats, strict=False), 1)
    ]
    return System(name, (*bodies, Frame("tool", parent=bodies[-1].name, at=seats[-1])), coordinates)


def random_seat(rng: np.random.Generator) -> Pose:
    return Pose(tuple(rng.uniform(-0.4, 0.4, size=3)), rpy=tuple(rng.uniform(-math.pi, math.pi, size=3)))


def random_arm(seed: int, joints: int = 6, limits: tuple[float, float] | None = None) -> Plant:
    """Hinges about skew lines."""
    rng = np.random.default_rng(seed)
    hinges = [Revolute(Axis(*rng.normal(size=3)), limits=limits) for _ in range(joints)]
    return build(arm_of("random", hinges, [random_seat(rng) for _ in range(joints + 1)]), backend=Interpreted())


def random_wrist_arm(seed: int, limits: tuple[float, float] | None = None) -> Plant:
    """Six hinges about skew lines, of which the last three meet in a point."""
    rng = np.random.default_rng(seed)
    hinges = [Revolute(Axis(*rng.normal(size=3)), limits=limits) for _ in range(6)]
    seats = [random_seat(rng) for _ in range(7)]
    for i in (4, 5):
        seats[i] = Pose((0, 0, 0), rpy=seats[i].rpy)
    return build(arm_of("wristed", hinges, seats), backend=Interpreted())


def gap_between(found: NumericPose, wanted: NumericPose) -> float:
    """The largest entry by which two poses differ."""
    return max(float(np.abs(a - b).max()) for a, b in zip(found, wanted, strict=True))


def apart(a: np.ndarray, b: np.ndarray) -> float:
    """The largest difference of two sets of angles, whole turns left out."""
    return float(np.abs(np.remainder(np.asarray(a) - b + math.pi, 2 * math.pi) - math.pi).max())
