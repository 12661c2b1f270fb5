"""What is to be run on a machine comes back equal from a file: steppers, control laws, goals and paths."""

import itertools
import math
from dataclasses import dataclass, replace

import numpy as np
import pytest

import kalaba as kb
from kalaba.control.cascade import Cascade
from kalaba.control.hybrid import PID
from kalaba.errors import FileError
from kalaba.files.yaml.laws import control_laws
from kalaba.files.yaml.reading import read
from kalaba.files.yaml.running import steppers
from kalaba.model.formats import save
from kalaba.paths.path import Path as AlongCurve
from kalaba.plant.laws import Controller
from kalaba.robots.catalogue import ENTRIES, scenario
from kalaba.steppers import KINDS

HINGE = kb.Revolute(-kb.Y)
ARM = kb.System(
    "arm",
    parts=(
        kb.Body("upper", kb.Rod(0.4, mass=1.0), joint=HINGE),
        kb.Body("fore", kb.Rod(0.3, mass=0.5), parent="upper.tip", joint=HINGE),
        kb.Actuator("shoulder", "upper.angle"),
        kb.Actuator("elbow", "fore.angle"),
    ),
)
POINTS = ((0.0, 0.0, 0.0), (0.3, 0.0, 0.1), (0.4, 0.1, 0.3), (0.1, 0.2, 0.2))
PATHS = (
    kb.path.circle(diameter=0.2, speed=0.1),
    kb.path.circle(0.2, 0.1, accel=2.0, centre=np.array([0.5, 0, 0.1]), normal=(0.0, 0.6, 0.8), phase=0.3, turns=2),
    kb.path.line((0, 0, 0), [0.1, 0, 0.1], duration=2.0).relative(),
    kb.path.line((0, 0, 0), (1, 0, 0), timing=kb.path.Trapezoid(0.1, 0.2)),
    kb.path.polyline(POINTS, speed=0.1),
    kb.path.polyline(np.array(POINTS), timing=kb.path.MinimumJerk(2.0), blend=kb.path.Quintic(0.02)),
    kb.path.polyline(POINTS, timing=kb.path.MeanSpeed(0.1, 1.0), blend=0.01),
    kb.path.spline(POINTS, duration=3.0, degree=5),
    kb.path.spline(POINTS, timing=kb.path.Constant(0.2), closed=True),
    kb.path.expression("0.1*sin(t)", 0, "min(t, 2)", duration=math.pi),
)
FOLLOWED = kb.follow("fore.tip", PATHS[0], orientation="free")
DRIVE = kb.Drive(lag=0.01, friction=kb.Friction(0.1, creep=0.2), backlash=kb.Backlash(1e-3, 0.1), seed=3)
SERVO = kb.control.Servo((FOLLOWED, kb.posture()))
CONTROLS = (
    None,
    {"shoulder": "0.2*(10 - rate(upper.angle))", "elbow": 3},
    {"servo": "sin(t)"},  # a motor of that name
    SERVO,
    kb.control.Servo(
        (kb.follow("upper.angle", "sin(t)"), kb.follow("fore.angle", 0.3)),
        ("elbow", "shoulder"),
        kb.Bounded(upper=(1.0, 2.0), weights=(1.0, 3.0)),
        frequency=10.0,
        run_in=0.5,
        model=(("upper.mass", 2.0),),
        correction=kb.Robust(3.0, 0.1),
        origin=((0.1, 0.2), (0.0, 0.0)),
    ),
    replace(SERVO, allocation=kb.MinMax(), correction=kb.Adaptive(100.0)),
    replace(SERVO, allocation=kb.LeastSquares((1, 2), preload=(0.5, -0.5))),
    kb.IdealServo(FOLLOWED, stacked=True),
    Cascade(((FOLLOWED,), (kb.follow("upper.angle", 0.1),)), frequency=3.0),
    kb.Hybrid((FOLLOWED,), PID(10.0, 1.0), PID(0.1), ("elbow",), drive=DRIVE, model={"upper.mass": 2.0}),
    DRIVE.around(SERVO),
    DRIVE.around({"elbow": "t"}),
    kb.Carry(squeeze=20.0),
    kb.Carry(squeeze={"a": "20*sin(t)", "b": 3.0}),
    kb.Carry(PATHS[2], kb.path.turn(kb.X, math.pi), {"a.angle": "t", "b.angle": (kb.MoveTo(1.0, 2.0),)}, damping=0.7),
)


def again(described, tmp_path):
    """What a file with it holds, YAML and JSON alike."""
    found = [read(save(described, tmp_path / f"run{suffix}")).scenario for suffix in (".yaml", ".json")]
    assert found[0] == found[1]
    return found[0]


@pytest.mark.parametrize("name", ENTRIES)
def test_every_scenario_of_the_catalogue_comes_back_equal(name, tmp_path):
    options = ENTRIES[name].choices
    choices = [{}, *({key: value} for key in options for value in itertools.islice(options[key].allowed, 5))]
    for choice in choices:
        try:
            described = scenario(name, **choice)
        except kb.KalabaError:
            continue  # options that do not go alone
        assert again(described, tmp_path) == described, choice


@pytest.mark.parametrize("control", CONTROLS, ids=lambda control: type(control).__name__)
def test_every_law_of_control_comes_back_equal(control, tmp_path):
    described = kb.Scenario(
        ARM, 2.5, control=control, description="a: test, # of it", published="5 mm", save_every=0.02
    )
    assert again(described, tmp_path) == described


@pytest.mark.parametrize("path", PATHS, ids=lambda path: path.recipe.name)
def test_every_path_comes_back_equal(path, tmp_path):
    described = kb.Scenario(ARM, 1.0, control=kb.control.Servo((kb.follow("fore.tip", path),)))
    assert again(described, tmp_path) == described


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_every_stepper_comes_back_equal_with_its_settings(kind, tmp_path):
    described = kb.Scenario(ARM, 1.0, kind())
    assert again(described, tmp_path) == described
    if kind.has_step:
        described = kb.Scenario(ARM, 1.0, kind(step=2e-4))
        assert again(described, tmp_path) == described
    assert kind in steppers().values()


def test_a_path_reads_as_it_was_asked_for(tmp_path):
    described = kb.Scenario(ARM, 1.0, kb.RungeKutta4(1e-3), SERVO)
    text = save(described, tmp_path / "run.yaml").read_text(encoding="utf-8")
    assert "path: {circle: {diameter: 0.2 m, speed: 0.1 m/s}}" in text
    assert "stepper: rk4" in text
    assert "posture" in text


def test_goals_say_how_long_a_run_takes(tmp_path):
    text = save(kb.Scenario(ARM, 1.0, control=SERVO), tmp_path / "run.yaml").read_text(encoding="utf-8")
    (tmp_path / "run.yaml").write_text(text.replace("  duration: 1 s\n", ""), encoding="utf-8")
    assert read(tmp_path / "run.yaml").scenario.duration == SERVO.duration


@dataclass(frozen=True)
class Bang(Controller):
    """A law from outside: full effort one way, then the other."""

    effort: float
    motors: tuple[str, ...] = ()

    def law(self, plant, start):
        return kb.Sampled(lambda t, q, v: [self.effort] * len(plant.actuators), 100.0)


@dataclass(frozen=True)
class Holds(Controller):
    """A law with a field that no file holds."""

    function: object

    def law(self, plant, start):
        return kb.Sampled(self.function, 100.0)


def test_a_law_from_outside_comes_back_equal_if_files_can_hold_its_fields(tmp_path):
    described = kb.Scenario(ARM, 1.0, control=Bang(2.0, ("elbow",)))
    assert again(described, tmp_path) == described
    assert "bang" in control_laws()
    with pytest.raises(FileError, match=r"arm\.run\.control\.function: function cannot be written to a file"):
        save(kb.Scenario(ARM, 1.0, control=Holds(push)), tmp_path / "run.yaml")


def push(t, q, v):
    return [0.0, 1.0]


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (kb.Sampled(push, 100.0), r"arm\.run\.control: the Python function .*push cannot be written"),
        (DRIVE.around(kb.Sampled(push, 100.0)), r"arm\.run\.control\.control: the Python function .*push"),
        (
            kb.control.Servo((kb.follow("fore.tip", AlongCurve(PATHS[0].curve, PATHS[0].profile)),)),
            "a path that no function of kb.path made",
        ),
        (
            kb.control.Servo((kb.follow("fore.tip", replace(PATHS[0], curve=PATHS[3].curve)),)),
            "a path that was changed after kb.path made it",
        ),
    ],
    ids=["sampled", "sampled inside", "own path", "changed path"],
)
def test_what_no_file_can_hold_is_refused_by_name(control, message, tmp_path):
    with pytest.raises(FileError, match=message):
        save(kb.Scenario(ARM, 1.0, control=control), tmp_path / "run.yaml")
