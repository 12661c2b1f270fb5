"""Kinds that are defined outside the package are read and written by their fields, without a word of them here."""

from dataclasses import dataclass
from typing import ClassVar

import casadi as ca
import numpy as np

import kalaba as kb
from kalaba import joints
from kalaba.control.allocation import Allocation
from kalaba.files.yaml.reading import read
from kalaba.model.beams.shapes import Shapes
from kalaba.model.formats import save
from kalaba.model.solids import AnySolid, MassProperties
from kalaba.space.number import scalar, vector
from kalaba.space.symbolic import about
from kalaba.space.symbolic import vector as column
from kalaba.steppers import FixedStepper, RungeKutta4


@dataclass(frozen=True, slots=True)
class TwistSlide(joints.Joint):
    """Turns as it goes, by a lead that is a number of the model."""

    displacements: ClassVar[joints.Labels] = (("angle", "rad"),)
    axis: kb.Axis = joints.direction(kb.Y)
    lead: float | str = scalar("m", "travel per radian", 0.1)
    q: float | str | None = None

    def pose(self, q):
        return about(self.axis, q[0]), column(self.axis) * self.lead * q[0]


@dataclass(frozen=True, slots=True)
class Sphere(AnySolid):
    """A ball, given by its radius."""

    radius: float | str = scalar("m", "radius")
    mass: float | str = scalar("kg", "mass")
    centre: tuple[float, float, float] = vector("m", "centre", (0.0, 0.0, 0.0))

    def mass_properties(self, value):
        moment = 0.4 * value(self.mass) * value(self.radius) ** 2
        return MassProperties(value(self.mass), tuple(map(value, self.centre)), (moment,) * 3 + (0.0,) * 3, None)


@dataclass(frozen=True, slots=True)
class Parabola(Shapes):
    """One shape, x²."""

    tall: bool = False

    @property
    def count(self):
        return 1

    def evaluate(self, x):
        return np.array([x**2]), np.array([2 * x]), np.array([2 + 0 * x])


@dataclass(frozen=True, slots=True)
class Heun(FixedStepper):
    """A stepper with a setting of its own."""

    tableau = RungeKutta4.tableau
    memory: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Fair(Allocation):
    """Everyone the same, above a floor."""

    floor: float = 0.0

    def allocate(self, force_map, force, limits, rows=()):
        return np.linalg.pinv(force_map) @ force

    def expression(self, force_map, force, limits):
        return ca.mtimes(ca.pinv(force_map), force)


MACHINE = kb.System(
    "outside",
    parts=(
        kb.Parameter("size", 0.2, "m"),
        kb.Body("ball", Sphere("size", 2.0, centre=(0.1, 0, 0)), joint=TwistSlide(kb.Z, lead="size/2")),
        kb.Body("second", Sphere(0.1, 1.0), parent="ball", joint=TwistSlide((0.6, 0.0, 0.8), q=0.3)),
        kb.Body(
            "boom",
            kb.Beam(1.0, kb.Circle(0.01), density=2700, young=70e9, shapes=Parabola(tall=True)),
            parent="ball",
            joint=kb.Weld(),
        ),
        kb.Actuator("motor", "ball.angle"),
    ),
)


def test_joints_solids_shapes_steppers_and_rules_from_outside_come_back_equal(tmp_path):
    servo = kb.control.Servo((kb.follow("ball.angle", "sin(t)"),), allocation=Fair(0.5))
    described = kb.Scenario(MACHINE, 1.0, Heun(2e-3, memory=(1.0, 2.0)), servo)
    text = save(described, tmp_path / "outside.yaml").read_text(encoding="utf-8")
    assert "{twist-slide: {axis: z, lead: size/2}}" in text
    assert "{radius: size, mass: 2 kg, centre: [0.1 m, 0, 0]}" in text
    assert "{heun: {step: 0.002 s, memory: [1, 2]}}" in text
    assert "{fair: {floor: 0.5}}" in text
    assert read(tmp_path / "outside.yaml").scenario == described


def test_words_may_be_written_with_underscores(tmp_path):
    path = tmp_path / "words.yaml"
    path.write_text(
        "kalaba: 1\nbodies: {a: {sphere: {radius: 1 m, mass: 1 kg}, joint: {twist_slide: x}}}\n", encoding="utf-8"
    )
    assert read(path).system.parts[0].joint == TwistSlide(kb.X)
