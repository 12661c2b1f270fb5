"""A kind of joint that kalaba does not have, defined here and nowhere else, does all that the package's own do."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import joint_laws
import kalaba as kb
from kalaba import joints
from kalaba.errors import ModelError
from kalaba.joints import joint
from kalaba.model.fingerprint import fingerprint
from kalaba.model.serial import from_json, to_json
from kalaba.space.number import scalar
from kalaba.space.symbolic import about, vector
from kalaba.view.scene import scene_of

PAGE = Path(__file__).resolve().parents[2] / "docs" / "extending.md"


@dataclass(frozen=True, slots=True)
class Rolling(joints.Joint):
    """A wheel on a rail: it turns about `axis` and travels along `rail`, one circumference per turn."""

    displacements: ClassVar[joints.Labels] = (("angle", "rad"),)
    axis: kb.Axis = joints.direction(kb.Y)
    rail: kb.Axis = joints.direction(kb.X)
    radius: float = scalar("m", "radius of the wheel", 0.1)
    q: float | str | None = None

    def check_value(self, path, value):
        if not value > 0:
            raise ModelError(f"{path}: expected more than zero, got {value:g}. Use kb.Revolute for a wheel on an axle.")

    def pose(self, q):
        return about(self.axis, q[0]), vector(self.rail) * self.radius * q[0]

    @property
    def row_labels(self):
        return (("side", "m"), ("height", "m"), *joints.tilt_labels(self.axis), ("rolling", "m"))

    def row_values(self, gap):
        up = ca.cross(vector(self.rail), vector(self.axis))
        sine, _ = self._slip(gap)
        return [gap.along(self.axis), ca.dot(gap.d, up), *gap.tilt(self.axis), self.radius * sine]

    def alignment(self, gap):
        return ca.fmin(gap.straight(self.axis), self._slip(gap)[1])

    def _slip(self, gap):
        """Sine and cosine of the angle of the wheel less the angle that belongs to its travel."""
        x, y = vector(self.rail), ca.cross(vector(self.axis), vector(self.rail))
        spoke, rolled = ca.mtimes(gap.R, x), gap.along(self.rail) / self.radius
        s, c = ca.dot(y, spoke), ca.dot(x, spoke)
        return s * ca.cos(rolled) - c * ca.sin(rolled), c * ca.cos(rolled) + s * ca.sin(rolled)

    @property
    def marker(self):
        return joints.Marker((joints.Glyph(joints.Shape.AXLE, self.axis),))


RADIUS = 0.2
WHEEL = kb.Solid(2.0, com=(0.05, 0, 0.02), inertia=(0.03, 0.05, 0.04))  # its mass is off its centre: it rocks
START = kb.Start(guess={"wheel.angle": 0.3})
METHODS = (kb.NewtonEuler(), kb.Lagrange(), kb.Kane())


@pytest.fixture(autouse=True)
def known(monkeypatch) -> None:
    """The kind of its name is this one: the page of the documentation, run in the same process, defines it again."""
    monkeypatch.setitem(joint._KINDS, "Rolling", Rolling)


def in_a_tree() -> kb.System:
    """A wheel on a slope with a pendulum on it."""
    return kb.System(
        "wheel",
        (
            kb.Body("wheel", WHEEL, at=kb.Pose(rpy=(0, 0.1, 0)), joint=Rolling(radius=RADIUS)),
            kb.Body("bob", kb.Rod(0.15, mass=0.5), parent="wheel", at=(0.1, 0, 0), joint=kb.Revolute(kb.Y)),
        ),
        start=START,
    )


def in_a_loop() -> kb.System:
    """The same, the wheel free in the plane of the slope and held to the rail by a cut."""
    tree = in_a_tree()
    free = kb.Body("wheel", WHEEL, at=kb.Pose(rpy=(0, 0.1, 0)), joint=kb.Planar(kb.Y))
    rail = kb.Connection("rail", "wheel", at=kb.Pose(rpy=(0, 0.1, 0)), joint=Rolling(radius=RADIUS))
    start = kb.Start(hold={"wheel.angle": 0.3}, guess={"wheel.y": RADIUS * 0.3})
    return kb.System("loop", (free, tree.parts[1], rail), start=start)


@pytest.mark.parametrize("seed", range(4))
def test_it_obeys_the_laws_of_every_joint(seed, monkeypatch):
    """All but the way back from a pose, which it does not tell and which only held objects and cuts need."""
    untold = (joint_laws.coordinates_lead_back_to_the_pose, joint_laws.displacements_are_read_off_the_cut)
    laws = tuple(law for law in joint_laws.OF_TREES if law not in untold)
    monkeypatch.setattr(joint_laws, "OF_TREES", laws)
    joint_laws.check(Rolling, seed)


@pytest.mark.parametrize("make", [in_a_tree, in_a_loop])
def test_three_derivations_agree(make):
    rng = np.random.default_rng(2)
    plants = [kb.build(make(), method=method, backend=kb.Interpreted()) for method in METHODS]
    q, v = plants[0].start.q, rng.normal(size=len(plants[0].velocities))
    accelerations = [plant.motion(q, v).acceleration for plant in plants]
    for other in accelerations[1:]:
        assert_allclose(other, accelerations[0], rtol=1e-10, atol=1e-10)  # the same sums in other orders


@pytest.fixture(scope="module")
def runs() -> tuple[kb.Run, kb.Run]:
    stepper = kb.RungeKutta4(step=1e-3)
    return tuple(kb.simulate(make(), duration=1.0, stepper=stepper) for make in (in_a_tree, in_a_loop))


def test_energy_stays_and_the_cut_stays_closed(runs):
    for run in runs:
        assert np.abs(run.energy - run.energy[0]).max() < 1e-7  # of some J; the fourth order of the stepper
    assert runs[1].worst.value <= 1e-12


def test_the_cut_moves_as_the_tree_does(runs):
    tree, loop = runs
    names = ("wheel.angle", "bob.angle")
    for name in names:
        there, here = (run.q[:, run.plant.coordinates.index(name)] for run in (tree, loop))
        assert np.abs(there).max() > 1.0  # it rolls a good way
        assert_allclose(here, there, rtol=0, atol=1e-7)


def test_a_model_with_it_is_written_and_read():
    for make in (in_a_tree, in_a_loop):
        assert from_json(to_json(make())) == make()


def test_a_run_with_it_is_saved_and_loaded(runs, tmp_path):
    runs[1].save(tmp_path / "loop.nc")
    loaded = kb.open_run(tmp_path / "loop.nc")
    assert loaded.plant.system == runs[1].plant.system
    assert_allclose(loaded.q, runs[1].q, rtol=0, atol=0)


def test_a_kind_that_nobody_has_defined_is_refused():
    text = to_json(in_a_tree()).replace('"Rolling"', '"Rollling"')
    with pytest.raises(ModelError, match=r"unknown kind 'Rollling'.*Rolling.*import the module that defines it"):
        from_json(text)


def test_other_formulas_under_the_same_name_are_other_code():
    first = fingerprint(in_a_tree().machine)
    assert fingerprint(in_a_tree().machine) == first
    original = Rolling.pose
    try:
        Rolling.pose = lambda self, q: (original(self, q)[0], 2 * original(self, q)[1])
        assert fingerprint(in_a_tree().machine) != first
    finally:
        Rolling.pose = original


def test_numbers_of_it_are_parameters():
    machine = in_a_loop().machine
    units = {parameter.name: parameter.unit for parameter in machine.parameters}
    assert units["rail.radius"] == "m"
    with pytest.raises(ModelError, match=r"Rolling\.radius: expected more than zero"):
        Rolling(radius=-1.0)


def test_it_is_drawn():
    scene = scene_of(kb.build(in_a_tree(), backend=kb.Interpreted()))
    assert "wheel.joint" in {shape.name for shape in scene.shapes}


def test_the_documentation_shows_this_kind():
    assert inspect.getsource(Rolling) in PAGE.read_text(encoding="utf-8")
