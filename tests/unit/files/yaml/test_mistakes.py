"""Every mistake in a file is one line with file, line and path, what was expected, and near names."""

import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.files.yaml.reading import read

GOOD = """\
kalaba: 1
name: four-bar
parameters:
  ground: 0.45 m
bodies:
  crank:   {rod: {length: 0.15 m, mass: 0.3 kg}, joint: {revolute: -y}}
  coupler: {rod: {length: 0.40 m, mass: 0.8 kg}, parent: crank.tip, joint: {revolute: -y}}
  rocker:
    rod: {length: 0.30 m, mass: 0.6 kg}
    parent: coupler.tip
    joint: {revolute: -y}
connections:
  pin: {child: rocker.tip, at: [ground, 0, 0], joint: {revolute: -y}}
actuators:
  motor: {displacement: crank.angle, limit: 2 N*m}
springs:
  soft: {displacement: crank.angle, stiffness: 3 N*m/rad, rest: 10 deg}
start:
  hold: {crank.angle: 1 rad}
  guess: {coupler.angle: -0.5, rocker.angle: -2.0}
  speed: {crank.angle: 60 rpm}
set: {rocker.mass: 700 g}
run:
  duration: 5 s
  stepper: {dp5: {rtol: 1e-9}}
  control: {motor: 0.2*(10 - rate(crank.angle))}
"""


def load(tmp_path, text):
    path = tmp_path / "four-bar.yaml"
    path.write_text(text, encoding="utf-8")
    return read(path)


def test_the_file_without_mistakes_is_read(tmp_path):
    described = load(tmp_path, GOOD)
    assert kb.check(described.system).freedoms == 1
    assert dict(described.system.parameters) == {"rocker.mass": 0.7}
    assert described.scenario.stepper == kb.DormandPrince(1e-9)


CHANGES = [
    (
        "{motor: 0.2*(10 - rate(crank.angle))}",
        "{serv: {goals: [posture]}}",
        r"26: run\.control\.serv: no law 'serv'; did you mean servo",
    ),
    ("{motor: 0.2*(10 - rate(crank.angle))}", "servoing", r"26: run\.control.*: no law 'servoing'; did you mean servo"),
    ("{motor: 0.2*(10 - rate(crank.angle))}", "{motor: [1]}", "26: run.control.motor: no law 'motor'"),
    (
        "length: 0.15 m",
        "length: 0.15 kg",
        r"6: bodies\.crank\.rod\.length: expected a length such as 0\.15 m, got '0\.15 kg'\.",
    ),
    ("length: 0.15 m", "length: 0.15 meter", "no unit 'meter'"),
    ("length: 0.15 m", "length: true", "6: bodies.crank.rod.length: expected a length such as 0.15 m, got True"),
    (
        "length: 0.15 m",
        "length: 2*(3",
        "6: bodies.crank.rod.length: expected a length such as 0.15 m, or an expression",
    ),
    ("length: 0.15 m", "lenght: 0.15 m", r"6: bodies\.crank\.rod\.lenght: unknown key; did you mean length\?"),
    ("length: 0.15 m, ", "", "6: bodies.crank.rod: expected an entry length, got none"),
    ("length: 0.15 m", "length: groound", r"6: .*unknown word 'groound'.*did you mean ground"),
    ("mass: 0.3 kg", "mass: -0.3 kg", "6: bodies.crank.*expected a mass of zero or more"),
    ("mass: 0.3 kg", "mass: 1e999 kg", "6: bodies.crank.rod.mass: expected"),
    (
        "revolute: -y}}\n  coupler",
        "revolut: -y}}\n  coupler",
        r"6: bodies\.crank\.joint\.revolut: no joint 'revolut'; did you mean revolute",
    ),
    (
        "revolute: -y}}\n  coupler",
        "revolute: w}}\n  coupler",
        "6: bodies.crank.joint.revolute.*expected an axis such as x, -y",
    ),
    ("revolute: -y}}\n  coupler", "revolute: [0, 0, 0]}}\n  coupler", "6: .*expected a direction of finite length"),
    ("    rod: {length: 0.30 m, mass: 0.6 kg}\n", "", "8: bodies.rocker: expected what it is made of: solid, rod"),
    (
        "    rod: {length",
        "    box: {size: [1, 1, 1], mass: 1}\n    rod: {length",
        "8: bodies.rocker: expected one solid, got ",
    ),
    (
        "    parent: coupler.tip",
        "    parent: coupler.top",
        r"8: bodies\.rocker: no frame 'coupler\.top'; did you mean coupler\.tip",
    ),
    ("    parent: coupler.tip", "    parent: 3", "10: bodies.rocker.parent: expected a text, got 3"),
    ("child: rocker.tip", "child: rocker.tp", "13: connections.pin: no frame 'rocker.tp'; did you mean rocker.tip"),
    ("at: [ground, 0, 0]", "at: [ground, 0]", "13: connections.pin.at: .*expected 3 numbers"),
    ("at: [ground, 0, 0]", "at: [ground, 0, 5 deg]", r"13: connections\.pin\.at\[2\]: expected a length"),
    ("at: [ground, 0, 0]", "at: asfound", "13: connections.pin.at: expected a place such as"),
    ("connections:", "bodies:", "12: bodies: expected each key once"),
    ("connections:", "connectoins:", r"12: connectoins: unknown key; did you mean connections"),
    ("  pin: {", "  crank: {", "13: connections.crank: a second part of that name"),
    ("  pin: {", "  sin: {", "13: connections.sin: .*expected a name of letters"),
    ("  pin: {child", "  pin: [{child", "expected YAML"),
    ("displacement: crank.angle, limit: 2 N*m", "limit: 2 N*m", "15: actuators.motor: expected an entry displacement"),
    ("limit: 2 N*m", "limit: 2 N", r"15: actuators\.motor\.limit: expected a torque such as 2 N\*m, got '2 N'\."),
    ("limit: 2 N*m", "limit: crank.length", "15: actuators.motor.limit: .*No expression of other things"),
    ("stiffness: 3 N*m/rad", "stiffness: 3 N/m", r"17: springs\.soft\.stiffness: expected a number in N\*m/rad"),
    ("rest: 10 deg", "rest: 10 mm", "17: springs.soft.rest: expected an angle"),
    (
        "hold: {crank.angle: 1 rad}",
        "hold: {crank.angle: 1 m}",
        r"19: start\.hold\.crank\.angle: expected an angle such as 30 deg, got '1 m'",
    ),
    (
        "hold: {crank.angle: 1 rad}",
        "hold: {crnk.angle: 1 rad}",
        "1[89]: start.*no coordinate, displacement or frame 'crnk.angle'; did you mean crank.angle",
    ),
    ("hold: {crank.angle: 1 rad}", "hold: [crank.angle]", "19: start.hold: expected a map"),
    ("speed: {crank.angle: 60 rpm}", "speed: {crank.angle: 60 Hz}", "21: start.speed.crank.angle: expected"),
    ("rocker.mass: 700 g", "rocker.mass: 700 mm", "22: set.rocker.mass: expected a mass such as 0.3 kg, got '700 mm'"),
    ("rocker.mass: 700 g", "roker.mass: 700 g", "no parameter 'roker.mass'; did you mean rocker.mass"),
    ("kalaba: 1", "kalaba: 2", "1: kalaba: expected kalaba: 1, the version of the format, got 2"),
    ("kalaba: 1\n", "", "1: kalaba: expected kalaba: 1, the version of the format, got none"),
    ("duration: 5 s", "duration: 5 m", r"24: run\.duration: expected a time such as 0\.5 s, got '5 m'"),
    ("duration: 5 s", "duration: -5 s", "23: run: expected a duration above zero"),
    ("  duration: 5 s\n", "", "23: run: expected an entry duration"),
    ("{dp5: {rtol: 1e-9}}", "dp6", r"25: run\.stepper.*: no stepper 'dp6'; did you mean dp5"),
    ("{rtol: 1e-9}", "{rtol: 1e-9, tol: 3}", "25: run.stepper.dp5.tol: unknown key; did you mean rtol, atol"),
    (
        "{motor: 0.2*(10 - rate(crank.angle))}",
        "{motor: 0.2*(10 - rate(crank.angle)}",
        "26: run.control.motor: expected .*: '\\(' that is never closed",
    ),
    (
        "{motor: 0.2*(10 - rate(crank.angle))}",
        "{servo: {goals: [{folow: {target: a}}]}}",
        r"26: run\.control\.servo\.goals\[0\]\.folow: no goal 'folow'; did you mean follow",
    ),
    (
        "{motor: 0.2*(10 - rate(crank.angle))}",
        "{carry: {path: {circle: {diameter: 1 m}}}}",
        r"26: run\.control\.carry\.path\.circle: expected other values \(.*speed",
    ),
    (
        "{motor: 0.2*(10 - rate(crank.angle))}",
        "{carry: {path: {circle: {diameter: 1 m, speed: 1 m/s}, line: {start: [0, 0, 0], end: [1, 0, 0], speed: 1}}}}",
        "expected one of circle, line",
    ),
    ("name: four-bar", "name: [four]", "2: name: expected a text, got"),
    (
        "name: four-bar",
        "name: four-bar\norder: [crank, pin]",
        "3: order: expected the name of every part once, got .* missing",
    ),
    ("name: four-bar", "name: four-bar\norder: [crnk]", r"3: order\[0\]: no part 'crnk'; did you mean crank"),
    ("name: four-bar", "name: four-bar\nremove: [crank]", "3: remove: expected extends: beside it"),
    ("name: four-bar", "name: four-bar\nplace: {a: leg}", "3: place.a.system: no system 'leg'; there are none"),
    ("name: four-bar", "name: four-bar\nextends: nowhere.urdf", "3: extends: no file 'nowhere.urdf' in"),
    (
        "name: four-bar",
        "name: four-bar\noutputs: {o: {value: min(t, 2), unit: m}}",
        r"3: outputs\.o.*Write a text with commas in quotes",
    ),
]


@pytest.mark.parametrize(("good", "bad", "message"), CHANGES, ids=range(len(CHANGES)))
def test_a_mistake_is_told_with_its_place(good, bad, message, tmp_path):
    assert good in GOOD
    where = "" if message[0].isdigit() else r"\d+.*"
    with pytest.raises(FileError, match=rf"^four-bar\.yaml:{where}{message}") as caught:
        load(tmp_path, GOOD.replace(good, bad, 1))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["", "[]", "kalaba", "3", "null", "- kalaba: 1"])
def test_a_file_that_is_no_map_is_refused(text, tmp_path):
    with pytest.raises(FileError, match=r"four-bar\.yaml:1.*expected a map that begins with kalaba: 1"):
        load(tmp_path, text)


STEPS = ", ".join(["[input, 0]"] * 20_001)
TRACED = "constraints: {c: {zero: {traced: {arguments: [t], results: [a], steps: [" + STEPS + "]}}}}\n"


@pytest.mark.parametrize(
    ("good", "bad", "message"),
    [
        (
            "0.2*(10 - rate(crank.angle))",
            "+".join(["t"] * 10_001),
            "26: run.control.motor: .* at most 20000 characters",
        ),
        (
            "parent: coupler.tip",
            f"parent: {'x' * 20_001}",
            "10: bodies.rocker.parent: expected a text of at most 20000",
        ),
        (
            "{motor: 0.2*(10 - rate(crank.angle))}",
            f"{{carry: {{path: {{spline: {{points: [{', '.join(['[0, 0, 0]'] * 501)}], speed: 1}}}}}}}}",
            r"26: run\.control\.carry\.path\.spline\.points: expected at most 500 entries, got 501",
        ),
        (
            "springs:",
            TRACED + "springs:",
            r"16: constraints\.c\.zero\.traced\.steps: expected at most 20000 entries",
        ),
    ],
    ids=["expression", "text", "points", "steps"],
)
def test_texts_and_lists_are_bounded(good, bad, message, tmp_path):
    with pytest.raises(FileError, match=rf"^four-bar\.yaml:{message}"):
        load(tmp_path, GOOD.replace(good, bad, 1))
