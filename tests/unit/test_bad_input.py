"""Whatever a user gets wrong is one line: where, what was expected, what was found, what to try."""
# ruff: noqa: E501  (the table reads along its rows)

from dataclasses import replace
from math import inf, nan

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import (
    AssemblyError,
    ConstraintError,
    ControlError,
    ExpressionError,
    IntegrationError,
    KalabaError,
    ModelError,
)

HINGE = kb.Revolute(-kb.Y)
FOUR = kb.load("four-bar")
PLANT = kb.build(FOUR, backend=kb.Interpreted())


def rod(name: str = "a", **options) -> kb.Body:
    return kb.Body(name, options.pop("solid", kb.Rod(0.3, mass=1.0)), joint=options.pop("joint", HINGE), **options)


def system(*parts, **options) -> kb.System:
    return kb.System("s", parts, **options)


def plant(*parts, **options) -> kb.Plant:
    return kb.build(system(*parts, **options), backend=kb.Interpreted())


def motion(built: kb.Plant) -> kb.plant.Motion:
    return built.motion(*built.start)


def state() -> tuple[np.ndarray, np.ndarray]:
    return PLANT.start


# what is done, the error, and a pattern of its text
CASES = {
    # choices given as a class or a text are answered with what to write
    "stepper as a class": (lambda: kb.simulate(PLANT, 1.0, stepper=kb.RungeKutta4), IntegrationError, r"four-bar: stepper: .* got the class RungeKutta4\. Write RungeKutta4\(\)"),
    "stabilisation as a class": (lambda: kb.simulate(PLANT, 1.0, stabilisation=kb.Projection), IntegrationError, r"Write Projection\(\)"),
    "stabilisation as a text": (lambda: kb.simulate(PLANT, 1.0, stabilisation="projection"), IntegrationError, r"such as kb\.Projection\(\), got 'projection'"),
    "no stabilisation": (lambda: kb.simulate(PLANT, 1.0, stabilisation=None), IntegrationError, r"such as kb\.Projection\(\), got None"),
    "method as a class": (lambda: kb.build(FOUR, method=kb.Lagrange), ModelError, r"build: method: .* Write Lagrange\(\)"),
    "method as a text": (lambda: kb.derive(FOUR, "lagrange"), ModelError, r"derive: method: .*kb\.Lagrange\(\), got 'lagrange'"),
    "backend as a class": (lambda: kb.build(FOUR, backend=kb.Interpreted), ModelError, r"build: backend: .* Write Interpreted\(\)"),
    "solver as a text": (lambda: kb.build(FOUR, solver="kkt"), ModelError, r"build: solver: .*kb\.KKT\(\), got 'kkt'"),
    "a name derived": (lambda: kb.derive("four-bar"), ModelError, r"derive: system: .* got 'four-bar'"),
    "threads": (lambda: kb.Native(threads=2.0), KalabaError, r"Native\.threads: expected a whole number from 1 to 1024, got 2\.0"),
    "step as a text": (lambda: kb.RungeKutta4("1e-3"), IntegrationError, r"step must be above 0, got '1e-3'"),
    "tolerance as a text": (lambda: kb.DormandPrince(rtol="1e-6"), IntegrationError, r"rtol and atol must be 0 or above .*'1e-6'"),
    "a step below rounding": (lambda: kb.simulate(PLANT, 1.0, stepper=kb.RungeKutta4(1e-17)), IntegrationError, r"steps of 1e-17 s are below the rounding of a time of 1 s"),
    "too many samples": (lambda: kb.simulate(PLANT, 1.0, save_every=1e-12), ModelError, r"are 1e\+12 samples; expected at most 1e\+09"),
    "a function to stop": (lambda: kb.simulate(PLANT, 1.0, stop=len), ModelError, r"stop: expected a condition such as"),
    "progress": (lambda: kb.simulate(PLANT, 1.0, progress=5), ModelError, r"progress: expected a function, got 5"),
    "complex numbers": (lambda: PLANT.motion(state()[0] + 0j, state()[1]), ModelError, r"q: expected real numbers, got complex ones"),
    "no place": (lambda: kb.open_run(None), KalabaError, r"open_run\.path: expected a text or a path, got None"),
    "a place with a zero": (lambda: kb.open_run("a\0.nc"), KalabaError, r"open_run: expected the path of a file"),
    "no parameters": (lambda: FOUR.with_parameters(None), ModelError, r"parameters: expected \{path: number\}, got None"),
    "a part removed": (lambda: FOUR.remove(FOUR.parts[0]), ModelError, r"four-bar: no part"),
    "a frame that is a number": (lambda: PLANT.pose(0, state()[0]), ModelError, r"no frame 0"),
    # numbers that a Python function returns
    "sampled text": (lambda: kb.simulate(PLANT, 0.1, control=kb.Sampled(lambda t, q, v: "a", 10.0), stepper=kb.RungeKutta4(0.01)), ControlError, r"Sampled at t = 0: expected 1 finite number, got 'a'"),
    # a name that does not exist lists the near ones
    "parent": (lambda: system(rod("arm"), rod("b", parent="arm.tpi")), ModelError, r"b: no frame 'arm\.tpi'; did you mean arm\.tip"),
    "child": (lambda: FOUR.add(kb.Connection("c", "rockr.tip")), ModelError, r"c: no frame 'rockr\.tip'; did you mean rocker\.tip"),
    "frame of a frame": (lambda: system(rod("arm"), kb.Frame("f", "amr")), ModelError, r"f: no frame 'amr'; did you mean arm"),
    "frame of a force": (lambda: system(rod("arm"), kb.Force("f", "amr")), ModelError, r"f: no frame 'amr'; did you mean arm"),
    "placement": (lambda: system(rod("arm"), FOUR.place("f", parent="am")), ModelError, r"f: no frame 'am'; did you mean arm"),
    "frame read": (lambda: PLANT.pose("rokcer", state()[0]), ModelError, r"four-bar: no frame 'rokcer'; did you mean rocker"),
    "frame pushed": (lambda: PLANT.motion(*state(), wrenches={"rokcer": np.zeros(6)}), ModelError, r"no frame 'rokcer'; did you mean rocker"),
    "parameter": (lambda: FOUR.with_parameters({"crank.lenght": 1.0}), ModelError, r"four-bar: no parameter 'crank\.lenght'; did you mean crank\.length"),
    "parameter of a placement": (lambda: system(FOUR.place("f", parameters={"crank.lenght": 1.0})), ModelError, r"no parameter 'f\.crank\.lenght'; did you mean f\.crank\.length"),
    "parameter in a number": (lambda: system(kb.Parameter("reach", 1.0), rod(solid=kb.Rod("2*raech", mass=1.0))), ExpressionError, r"a\.length: unknown word 'raech' at 2 in \"2\*raech\"; did you mean reach"),
    "start": (lambda: system(rod(), start=kb.Start(hold={"a.angel": 1.0})), ModelError, r"s\.start: no coordinate, displacement or frame 'a\.angel'; did you mean a\.angle"),
    "speed": (lambda: system(rod(), start=kb.Start(speed={"a.angel": 1.0})), ModelError, r"s\.start: .*'a\.angel'; did you mean a\.angle"),
    "actuator in control": (lambda: kb.simulate(PLANT, 0.1, control={"motr": "1"}), ControlError, r"control: four-bar has no actuator 'motr'; did you mean motor"),
    "part to remove": (lambda: FOUR.remove("crnk"), ModelError, r"four-bar: no part 'crnk' to remove; did you mean crank"),
    "output": (lambda: plant(rod(), kb.Output("height", "a.tip.z")).output("hieght", [0.0], [0.0]), ModelError, r"s: no output 'hieght'; did you mean height"),
    "connection in reaction": (lambda: PLANT.reaction("pn", *state()), ModelError, r"four-bar: no connection 'pn'; did you mean pin"),
    "word of a control law": (lambda: kb.simulate(PLANT, 0.1, control={"motor": "2*rate(crnk.angle)"}), ExpressionError, r"control\.motor: unknown word 'crnk\.angle' at 7 in .*did you mean crank\.angle"),
    "word of a stop": (lambda: kb.simulate(PLANT, 0.1, stop="crnk.angle > 1"), ExpressionError, r"stop: unknown word 'crnk\.angle' at 0"),
    "word of a constraint": (lambda: FOUR.add(kb.Constraint("c", "crank.angle - 2*crank")), ExpressionError, r"c: unknown word 'crank' at 16 in"),
    "frame of a distance": (lambda: FOUR.add(kb.Constraint("c", "distance(crank.tip, rcker) - 1")), ExpressionError, r"c: unknown word 'rcker' at 20 in .*did you mean rocker"),
    "coordinate of a joint": (lambda: system(rod(joint=kb.Revolute(kb.Z, q="thta")), coordinates=("theta",)), ExpressionError, r"a\.angle \(q=\): unknown word 'thta' at 0 in .*did you mean theta"),
    "coordinate that works": (lambda: FOUR.add(kb.Constraint("c", "crank.angle", work={"crank.angel": "1"})), ModelError, r"c\.work: no velocity 'crank\.angel'; did you mean crank\.angle"),
    "start that left": (lambda: FOUR.remove("crank"), ModelError, r"coupler: no frame 'crank\.tip'"),
    # numbers that cannot be
    "negative mass": (lambda: rod(solid=kb.Rod(0.3, mass=-1.0)), ModelError, r"a\.mass: expected a mass of zero or more, got -1 kg\. Check its sign"),
    "negative mass by an expression": (lambda: system(kb.Parameter("m", 1.0), rod(solid=kb.Rod(0.3, mass="m - 2"))), ModelError, r"a\.mass: expected a mass of zero or more, got -1 kg"),
    "inertia": (lambda: rod(solid=kb.Solid(1.0, inertia=(1, 1, 5))), ModelError, r"a\.inertia: expected principal moments .* got 1, 1, 5 .*Check units"),
    "NaN in a part": (lambda: rod(solid=kb.Rod(nan, mass=1.0)), ModelError, r"a\.length: expected a finite number.*got nan"),
    "infinite seat": (lambda: system(rod(at=(inf, 0, 0))), ModelError, r"a\.at\.x: expected a finite number.*got inf"),
    "zero distance": (lambda: kb.Distance(0.0), ModelError, r"Distance\.length: expected more than zero, got 0\. Use Spherical"),
    "skew cross": (lambda: kb.Universal(kb.X, kb.Axis(1, 1, 0)), ModelError, r"Universal: expected two axes at right angles, got .*Turn one"),
    "actuator limit": (lambda: kb.Actuator("m", "a.angle", limit=-2.0), ModelError, r"m\.limit: expected a number above zero, got -2\.0\. It bounds"),
    "division by zero": (lambda: system(kb.Parameter("m", 0.0), rod(solid=kb.Rod("1/m", mass=1.0))), KalabaError, r"1/m"),
    # parts that do not fit
    "one body": (lambda: FOUR.add(kb.Connection("c", "crank.tip", parent="crank")), ModelError, r"four-bar\.c: expected frames of two bodies, got crank\.tip and crank on one\. Connect"),
    "world to world": (lambda: system(kb.Frame("f", "world"), kb.Connection("c", "f")), ModelError, r"s\.c: expected frames of two bodies"),
    "two names": (lambda: system(rod("a"), kb.Frame("a", "world")), ModelError, r"s\.a: a second part of that name\. Rename"),
    "coordinate and part": (lambda: system(rod("x"), coordinates=("x",)), ModelError, r"s\.x: a second part of that name"),
    "ring": (lambda: system(rod("a", parent="b.tip"), rod("b", parent="a.tip")), ModelError, r"a, b: these bodies are each other's parents\. Cut the ring"),
    "time in q": (lambda: system(rod(joint=kb.Revolute(kb.Z, q="theta + t")), coordinates=("theta",)), ModelError, r"a\.angle: expected q= as an expression of coordinates, got .*theta \+ t.*add a Constraint"),
    "rate in q": (lambda: system(rod(joint=kb.Revolute(kb.Z, q="rate(theta)")), coordinates=("theta",)), ModelError, r"a\.angle: expected q="),
    "found body": (lambda: rod(at=kb.AsFound()), ModelError, r"a\.at: expected a Pose, got AsFound\(\).*Give a pose"),
    "free connection": (lambda: kb.Connection("c", "a", joint=kb.Free()), ModelError, r"c\.joint: Free closes nothing\. Leave"),
    "rate of a rate": (lambda: plant(kb.Body("b", kb.Box((1, 1, 1), mass=1.0)), kb.Constraint("c", "rate(b.vx)")).start, ExpressionError, r"rate\(\) has no value here at 0 in \"rate\(b\.vx\)\""),
    "rate of what rests": (lambda: plant(rod(), kb.Constraint("c", "rate(t) - 1")).start, ModelError, r"c: expected a rate of the coordinates.*Leave it out"),
    "not a system": (lambda: kb.build("four-bar"), ModelError, r"build: expected a System or a Plant, got 'four-bar'\. Load"),
    # states
    "NaN in q": (lambda: PLANT.motion([1.0, nan, 0.0], np.zeros(3)), ModelError, r"q: expected finite numbers, got nan for coupler\.angle"),
    "infinity in v": (lambda: PLANT.bias(state()[0], [0.0, 0.0, inf]), ModelError, r"v: expected finite numbers, got inf for rocker\.angle"),
    "NaN in a force": (lambda: PLANT.motion(*state(), force=[nan, 0, 0]), ModelError, r"force: .*got nan for crank\.angle"),
    "NaN in the actuation": (lambda: PLANT.motion(*state(), actuation=[nan]), ModelError, r"actuation: .*got nan for motor"),
    "NaN in a wrench": (lambda: PLANT.motion(*state(), wrenches={"crank": [0, 0, 0, 0, nan, 0]}), ModelError, r"wrench on crank: .*got nan for torque y"),
    "NaN in time": (lambda: PLANT.motion(*state(), t=nan), ModelError, r"t: expected finite numbers, got nan"),
    "short q": (lambda: PLANT.motion([1.0, 2.0], np.zeros(3)), ModelError, r"q: expected 3 numbers \(crank\.angle, .*\), got shape \(2,\)\. Give"),
    "long v": (lambda: PLANT.motion(state()[0], np.zeros(4)), ModelError, r"v: expected 3 numbers"),
    "text": (lambda: PLANT.pose("crank", ["a", "b", "c"]), ModelError, r"q: expected 3 numbers, got \['a', 'b', 'c'\]"),
    "batch": (lambda: PLANT.motion(np.zeros((2, 3)), np.zeros((3, 3))), ModelError, r"v: expected a batch of shape \(2, 3\), got \(3, 3\)"),
    "batch of wrenches": (lambda: PLANT.motion(np.zeros((2, 3)), np.zeros((2, 3)), wrenches={"crank": np.zeros(3)}), ModelError, r"wrench on crank: expected .*got .*\(3,\)"),
    # runs
    "no duration": (lambda: kb.simulate(PLANT, 0.0), ModelError, r"four-bar: expected a duration above 0 s, got 0\.0\. Say how long"),
    "duration of text": (lambda: kb.simulate(PLANT, "5 s"), ModelError, r"expected a duration above 0 s, got '5 s'"),
    "duration NaN": (lambda: kb.simulate(PLANT, nan), ModelError, r"expected a duration above 0 s, got nan"),
    "samples": (lambda: kb.simulate(PLANT, 1.0, save_every=0.0), ModelError, r"expected save_every above 0 s, got 0\.0"),
    "start of a run": (lambda: kb.simulate(PLANT, 1.0, start="there"), ModelError, r"four-bar\.start: expected a State \(q, v\), got 'there'\. Try"),
    "short start": (lambda: kb.simulate(PLANT, 1.0, start=([1.0], np.zeros(3))), ModelError, r"start q: expected 3 numbers"),
    "control": (lambda: kb.simulate(PLANT, 1.0, control="1"), ModelError, r"expected control as \{motor: expression\}, a controller such as kb\.Carry\(\.\.\.\), or kb\.Sampled"),
    "condition": (lambda: kb.simulate(PLANT, 1.0, stop="crank.angle"), ExpressionError, r"stop: expected a comparison at 11 in \"crank\.angle\"; a condition is like"),
    "step": (lambda: PLANT.step(PLANT.start, None, 0.0), ModelError, r"four-bar\.step: expected dt above 0 s"),
    "stepper": (lambda: kb.simulate(PLANT, 1.0, stepper="rk4"), IntegrationError, r"four-bar: stepper: .* got 'rk4'"),
    # expressions
    "parenthesis": (lambda: FOUR.add(kb.Output("o", "2*(crank.angle")), ExpressionError, r"o: '\(' that is never closed at 2 in"),
    "function": (lambda: FOUR.add(kb.Output("o", "sine(crank.angle)")), ExpressionError, r"o: unknown function 'sine' at 0 in .*; did you mean .*sin"),
    "character": (lambda: FOUR.add(kb.Output("o", "crank.angle $ 2")), ExpressionError, r"o: unexpected character '\$' at 12"),
    # loops and motions
    "open loop": (lambda: kb.build(FOUR.with_parameters({"pin.at.x": 1.0}), backend=kb.Interpreted()).start, AssemblyError, r"four-bar\.pin: the loop cannot close with crank\.angle = 1 held; gap 0\.\d+ m\. Free it with guess=, or check at=\(1, 0, 0\)\."),
    "open constraint": (lambda: plant(rod(), kb.Constraint("c", {"far": "a.tip.x - 2"})).start, AssemblyError, r"s\.c: the loop cannot close; gap 1\.7 m\. Check the start guess and the constraint's expressions"),
    "rows that contradict": (lambda: motion(plant(rod(), kb.Constraint("one", "a.angle"), kb.Constraint("two", "a.angle - t^2"))), ConstraintError, r"s: no motion obeys all rows; .*two.*Remove one"),
    "speeds that contradict": (lambda: plant(rod(), kb.Constraint("one", "a.angle"), kb.Constraint("two", "a.angle - t")).start, AssemblyError, r"s\.start\.speed: no velocity obeys all rows.*misses by 0\.5"),
    "motion that is not unique": (lambda: motion(plant(rod(), rod("b", parent="a.tip", solid=kb.Rod(0.3, mass=0.0)))), ConstraintError, r"s: the motion is not unique; nothing gives b\.angle inertia or holds it\. Give the body mass"),
    # values of another kind than an argument's annotation
    "a figure of a path": (lambda: kb.plot.coordinates("run.nc"), KalabaError, r"coordinates\.run: expected a Run, got 'run\.nc'\. It is: the run"),
    "one run compared": (lambda: kb.plot.compare(FOUR), KalabaError, r"compare\.runs: expected \{a text: a Run\}, got System"),
    "a class as a rule": (lambda: kb.servo(PLANT, kb.posture(), allocation=kb.MinMax), ControlError, r"servo\.allocation: expected an Allocation, got the class MinMax\. Write MinMax\(\.\.\.\)"),
    "words of an axis": (lambda: kb.Axis("x", 0, 0), ModelError, r"Axis\.x: expected a number, got 'x'"),
    "a whole number that no computer holds": (lambda: kb.Beam(1.0, kb.Circle(0.01), 7800.0, 2e11, torsion=2**63), ModelError, r"Beam\.torsion: expected a whole number from 0 to 20, got 9223372036854775808"),
    "a mass that no float holds": (lambda: rod(solid=kb.Rod(0.3, mass=10**400)), ModelError, r"a\.mass: expected a finite number up to 1e\+50"),
    "a radius whose power is not finite": (lambda: kb.Beam(1.0, kb.Tube(1e308, 0.01), 7800.0, 2e11), ModelError, r"outer: expected a finite number up to 1e\+50"),
    "complex numbers of a part": (lambda: kb.Box(np.ones(3) + 1j, 1.0), ModelError, r"Box\.size: expected 3 numbers"),
    "complex numbers in machine code": (lambda: kb.build(FOUR).motion(state()[0] + 1j, state()[1]), ModelError, r"q: expected real numbers, got complex ones"),
    "texts in machine code": (lambda: kb.build(FOUR).motion(np.array(["a", "b", "c"]), state()[1]), ModelError, r"q: expected 3 numbers"),
    "no time in machine code": (lambda: kb.build(FOUR).motion(*state(), t=None), ModelError, r"t: expected 1 number, got \(None,\)"),
    "wrenches in a list": (lambda: PLANT.motion(*state(), wrenches=[1.0]), ModelError, r"wrenches: expected \{frame: six numbers\}, got \[1\.0\]"),
    "pose of a coordinate": (lambda: PLANT.pose("crank.angle", state()[0]), ModelError, r"four-bar: no frame 'crank\.angle'; did you mean"),
    "wrench on a coordinate": (lambda: PLANT.motion(*state(), wrenches={"crank.angle": np.zeros(6)}), ModelError, r"no frame 'crank\.angle'"),
    "a step of a configuration": (lambda: PLANT.step(state()[0]), ModelError, r"four-bar\.step: expected a State \(q, v\), got array"),
    "no such function": (lambda: PLANT.standard("motions"), ModelError, r"four-bar: no function 'motions'; did you mean motion"),
    "no packed state": (lambda: PLANT.problem(np.zeros(2)), ModelError, r"expected a packed state of \d+ numbers, got array.*plant\.inputs"),
    "no such field": (lambda: kb.derive(FOUR).operations("mass"), KalabaError, r"four-bar: no field 'mass' of Equations"),
    "a frame of the equations": (lambda: kb.derive(FOUR).jacobian("crnk"), KalabaError, r"four-bar: no frame 'crnk'; did you mean crank"),
    # lengths, sizes and counts
    "negative rod": (lambda: rod(solid=kb.Rod(-0.3, mass=1.0)), ModelError, r"a\.length: expected a length of zero or more, got -0\.3 m\. Turn the axis"),
    "negative rod by an expression": (lambda: system(kb.Parameter("reach", -1.0), rod(solid=kb.Rod("reach", mass=1.0))), ModelError, r"a\.length: expected a length of zero or more, got -1 m"),
    "negative cylinder": (lambda: rod(solid=kb.Cylinder(0.1, -1.0, 1.0)), ModelError, r"a\.length: expected a length of zero or more"),
    "negative box": (lambda: rod(solid=kb.Box((-1, 1, 1), 1.0)), ModelError, r"a\.size\.x: expected a length of zero or more"),
    "a picture without points": (lambda: kb.still(PLANT, "x.png", size=(0, 0)), KalabaError, r"still: size: width in pixels: expected a whole number from 8 to 8192, got 0"),
    "a picture of another machine": (lambda: kb.still(PLANT, "x.png", q=[1, 2]), ModelError, r"q: expected 3 numbers"),
    "tries without end": (lambda: kb.assembly_modes(PLANT, tries=10**9), ModelError, r"tries: expected a whole number from 1 to 100000, got 1000000000"),
    "samples without end": (lambda: kb.simulate(PLANT, 0.1, control=kb.Sampled(lambda t, q, v: [0.0], 1e16)), ModelError, r"0\.1 s at 1e\+16 Hz are 1e\+15 calls of a sampled function; expected at most 1e\+08"),
    "samples that never come": (lambda: kb.Sampled(len, 5e-324), ModelError, r"Sampled: expected a callable and a rate above 0 Hz"),
    "a path in no time": (lambda: kb.path.MinimumJerk(5e-324), ControlError, r"expected a number of 1e-50 or more, got 5e-324"),
    "a path of no length of time": (lambda: kb.path.line((0, 0, 0), (1, 0, 0), speed=1e300), ControlError, r"expected a finite number up to 1e\+50"),
    "forces that are not finite": (lambda: kb.Bounded().allocate(np.ones((1, 2)), [inf], [1.0, 1.0]), ControlError, r"force: expected finite numbers, got array\(\[inf\]\)"),
    "limits of other motors": (lambda: kb.MinMax().allocate(np.ones((1, 2)), [1.0], [1.0]), ControlError, r"limits: expected 2 numbers above zero, one per motor"),
    "a name that no disk holds": (lambda: kb.open_run("x" * 300 + ".nc"), KalabaError, r"open_run: expected names of at most 255 bytes in a path"),
    # functions that people hand in
    "a sampled function that raises": (lambda: kb.simulate(PLANT, 0.1, control=kb.Sampled(lambda t, q, v: 1 / 0, 10.0)), ControlError, r"Sampled at t = 0: the function raised ZeroDivisionError: division by zero"),
    "a sampled function without its state": (lambda: kb.simulate(PLANT, 0.1, control=kb.Sampled(lambda t, q, v, s: [0.0], 10.0, state=1)), ControlError, r"Sampled at t = 0: expected \(values, state\), got \[0\.0\]"),
    "a watcher that raises": (lambda: kb.simulate(PLANT, 0.1, progress=len), IntegrationError, r"progress: the function raised TypeError"),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_mistake_is_told_on_one_line(case):
    mistake, kind, pattern = CASES[case]
    with pytest.raises(KalabaError, match=pattern) as caught:
        mistake()
    assert isinstance(caught.value, kind)
    text = str(caught.value)
    assert "\n" not in text
    assert len(text) < 400


@pytest.mark.parametrize("case", [name for name, (_, kind, _) in CASES.items() if kind is ExpressionError])
def test_an_expression_error_points_into_its_text(case):
    with pytest.raises(ExpressionError) as caught:
        CASES[case][0]()
    error = caught.value
    assert 0 <= error.position <= len(error.text)
    quoted = error.problem.split("'")
    if "unknown word" in error.problem:
        assert error.text[error.position :].startswith(quoted[1])


def test_a_system_with_a_mistake_is_never_made():
    """Mistakes show where they are written, not at the first use."""
    with pytest.raises(ModelError):
        replace(FOUR, gravity=(0, 0))
    with pytest.raises(ModelError):
        FOUR.add(kb.Output("o", "nothing"))


def test_native_plants_say_the_same():
    native = kb.build(FOUR)
    for q, pattern in (([1.0, nan, 0.0], r"got nan for coupler\.angle"), ([1.0], r"q: expected 3 numbers")):
        with pytest.raises(ModelError, match=pattern):
            native.motion(np.array(q), np.zeros(3))
    clash = FOUR.add(kb.Constraint("one", "crank.angle - 1"), kb.Constraint("two", "crank.angle - 1 - t^2"))
    with pytest.raises(ConstraintError, match=r"four-bar: no motion obeys all rows"):
        motion(kb.build(clash))
