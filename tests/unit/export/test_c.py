"""Exported C: the operations, the motion, inverse dynamics, and what is refused."""

import ctypes
import re
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import KalabaError
from kalaba.export.c import export_c
from kalaba.export.c.cases import near_start
from kalaba.export.c.inverse_dynamics import inverse_export
from kalaba.export.c.routine import expression, routine
from kalaba.native.operations import FUNCTIONS
from kalaba.native.program import SUPPORTED
from unit.export.c_programs import COMPILER, Library, compiled, needs_compiler, run, trial

AGREES = 1e-12  # of the largest entry: the same elimination in another order of rounding, well-conditioned machines
MATH = {
    *FUNCTIONS,
    "sqrt",
    "fabs",
    "floor",
    "ceil",
    "copysign",
    "fmin",
    "fmax",
    "sincos",
}  # a compiler may join sin, cos


def library_of(function: ca.Function, place: Path, longest: int = 500) -> tuple[Library, list[int]]:
    """A CasADi function compiled by way of C, its routine made visible; and the sizes of its outputs."""
    made = routine("tried", function, longest)
    names = ", ".join(f"double *{name}" for name in made.arguments)
    entry = f"void entry({names});\nvoid entry({names})\n{{\n    {made.call()}\n}}\n"
    place.write_text(f"#include <math.h>\n\n{made.text}\n{entry}")
    return Library.of(place), [function.numel_out(k) for k in range(function.n_out())]


def values(library: Library, sizes: list[int], *inputs: np.ndarray) -> list[np.ndarray]:
    outputs = [np.zeros(size) for size in sizes]
    library.call("entry", *(np.array(entry, dtype=float) for entry in inputs), *outputs)
    return outputs


def test_every_native_operation_has_its_c():
    for op in SUPPORTED:
        assert "x" in expression(op, ["x", "y"])


@needs_compiler
def test_operations_mean_what_casadi_means_by_them(tmp_path):
    x, y = ca.SX.sym("x"), ca.SX.sym("y")
    plain = [x + y, x - y, x * y, x / y, -x, x * x, 2 * x, 1 / x, ca.sqrt(x), ca.fabs(x), ca.floor(x), ca.ceil(x)]
    choices = [ca.lt(x, y), ca.le(x, y), ca.eq(x, y), ca.ne(x, y), ca.if_else(x, y, 0), ca.sign(x), ca.fmin(x, y)]
    choices += [ca.fmax(x, y), ca.logic_and(x, y), ca.logic_or(x, y), ca.logic_not(x), ca.copysign(x, y)]
    library = [ca.sin(x), ca.cos(x), ca.tan(x), ca.asin(x), ca.acos(x), ca.atan(x), ca.exp(x), ca.log(x), ca.sinh(x)]
    library += [ca.cosh(x), ca.tanh(x), ca.atan2(x, y), x**y, ca.fmod(x, y), ca.erf(x), ca.asinh(x), ca.hypot(x, y)]
    both = ca.vertcat(*plain, *choices, *library)
    function = ca.Function("all", [x, y], [both], ["x", "y"], ["z"])
    code, sizes = library_of(function, tmp_path / "all.c")
    numbers = [0.0, -0.0, 0.3, -0.7, 1.0, 2.5, -3.0, np.inf, -np.inf, np.nan]
    for a in numbers:
        for b in numbers:
            found, expected = values(code, sizes, [a], [b])[0], np.array(function(a, b)).ravel()
            np.testing.assert_allclose(found, expected, rtol=4e-16, atol=0)  # libm's own last bit


@needs_compiler
def test_cutting_a_function_into_pieces_changes_no_bit(tmp_path):
    q, p = ca.SX.sym("q", 6), ca.SX.sym("p", 2)
    chain = ca.sin(q)
    for k in range(30):
        chain = ca.sin(chain * p[k % 2] + ca.cumsum(chain)) + q / (2 + chain[k % 6] ** 2)
    function = ca.Function("chain", [q, p], [chain, ca.sumsqr(chain)], ["q", "p"], ["y", "z"])
    (whole, sizes), (pieces, _) = (library_of(function, tmp_path / f"c{n}.c", n) for n in (10**6, 40))
    given = np.linspace(-1, 1, 6), np.array([0.7, 1.3])
    for a, b in zip(values(whole, sizes, *given), values(pieces, sizes, *given), strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(re.findall(r"static void tried_\d+", (tmp_path / "c40.c").read_text())) > 10


# two arms cut at a load, path rows of t; dependent rows; quaternions; beams; a tree
@needs_compiler
@pytest.mark.parametrize("name", ["dual-mobile-arm", "bennett", "two-drive-carry", "flexible-four-bar", "puma560"])
def test_motion_compiles_without_a_warning_and_agrees_with_the_plant(name, tmp_path):
    files = export_c(kb.scenario(name), tmp_path / "motion.c")
    assert [file.name for file in files] == ["motion.c", "motion.h", "motion_test.c"]
    done = trial(files[0])
    assert done.returncode == 0, done.stdout
    allowed = float(re.search(r"at most (\S+)", done.stdout)[1])  # 1e-12, or four times what one bit of q changes
    assert allowed <= (1e-11 if name == "flexible-four-bar" else 1e-12)
    assert "p99.9" in done.stdout


@needs_compiler
@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, _ in kb.catalog()])
def test_motion_of_every_machine_of_the_catalogue_agrees(name, tmp_path):
    done = trial(export_c(kb.scenario(name), tmp_path / "motion.c")[0])
    assert done.returncode == 0, done.stdout


@needs_compiler
def test_motion_follows_the_state_the_parameters_and_the_rows_that_are_kept(tmp_path):
    plant = kb.build(kb.load("sarrus"))
    library = Library.of(export_c(plant, tmp_path / "m.c")[0])
    rows, p = (
        library.numbers(f"m_{name}", size) for name, size in (("rows", 5), ("parameters", len(plant.parameters)))
    )
    assert rows.tolist() == (plant.choice.mask > 0).tolist()
    heavier = plant.with_parameters({"platform.mass": 3.0})
    other = np.array(heavier.parameters)
    assert not np.array_equal(other, p)
    for seed in range(3):
        (state, t) = near_start(plant, np.random.default_rng(100 + seed), 1)[0]
        u = np.array([0.3])
        for number, machine in ((p, plant), (other, heavier)):
            a, force = np.zeros(len(plant.velocities)), np.zeros(len(plant.velocities))
            health = library.call(
                "m_accelerations", t, state.q, state.v, u, rows, number, a, force, result=ctypes.c_double
            )
            expected = machine.motion(*state, t=t, actuation=u)
            assert np.abs(a - expected.acceleration).max() < AGREES * np.abs(expected.acceleration).max()
            assert np.abs(force - expected.constraint_force).max() < AGREES * np.abs(expected.constraint_force).max()
            assert 0.1 < health < 10  # near the start the rows are as independent as there


@needs_compiler
def test_an_export_needs_no_heap_and_no_library_but_mathematics(tmp_path):
    objects = compiled(export_c(kb.load("bennett"), tmp_path / "m.c")[0])
    wanted = {line.split()[-1] for line in run("nm", "-u", str(objects)).splitlines()}
    assert wanted - {"_GLOBAL_OFFSET_TABLE_"} <= MATH


@needs_compiler
def test_the_stack_stays_within_what_the_header_says(tmp_path):
    source, header, _ = export_c(kb.load("two-drive-carry"), tmp_path / "m.c")
    said = int(re.search(r"at most (\d+) bytes of stack", header.read_text())[1])
    run(COMPILER, "-std=c99", "-O0", "-fno-inline", "-fstack-usage", "-c", str(source), "-o", str(tmp_path / "m.o"))
    used = dict(re.findall(r":(\w+)\t(\d+)\t", (tmp_path / "m.su").read_text()))
    pieces = max(int(size) for name, size in used.items() if name.startswith("m_solve_"))
    assert pieces + int(used["m_solve"]) + int(used["m_accelerations"]) <= said


def test_the_header_says_what_a_caller_must_know(tmp_path):
    plant = kb.build(kb.load("bennett"))
    _, header, _ = export_c(plant, tmp_path / "m.c")
    text = re.sub(r"\s+(\* )?", " ", header.read_text())
    for name in (*plant.coordinates, *plant.actuators, *plant.constraints, *(p.name for p in plant.machine.parameters)):
        assert name in text
    assert f"kalaba {kb.__version__}" in text
    assert "left out: seat.y, seat.rx, seat.ry" in text
    assert re.search(r"\d+ floating-point operations: \d+ additions, \d+ multiplications", text)
    assert re.search(r"at most \d+ bytes of stack", text)


def test_an_export_is_the_same_whenever_it_is_written(tmp_path):
    first, second = (
        export_c(kb.load("four-bar"), tmp_path / f"{n}" / "m.c") for n in "ab" if not (tmp_path / n).mkdir()
    )
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in second]


@needs_compiler
@pytest.mark.parametrize("name", ["puma560", "differential-drive", "floating-flexible-arm"])
def test_inverse_dynamics_compiles_and_agrees_with_the_null_space(name, tmp_path):
    done = trial(export_c(kb.load(name), tmp_path / "inverse.c", "inverse-dynamics")[0])
    assert done.returncode == 0, done.stdout


@needs_compiler
@pytest.mark.parametrize("how", [kb.LeastSquares((1.0, 2.0, 3.0)), kb.MinMax(), kb.Bounded((-0.7,) * 3, (0.7,) * 3)])
def test_efforts_give_the_accelerations_that_were_wanted(how, tmp_path):
    plant = kb.build(kb.load("five-bar", motors=3))
    library = Library.of(export_c(plant, tmp_path / "i.c", "inverse-dynamics", how)[0])
    wanted = inverse_export(plant, "i", how).tables[2]
    assert wanted.lines == ("[0] left.crank.angle, rad/s^2", "[1] right.crank.angle, rad/s^2")
    p = library.numbers("i_parameters", len(plant.parameters))
    rng = np.random.default_rng(1)
    for state, t in near_start(plant, rng, 3):
        a, u = rng.normal(size=2), np.zeros(3)
        library.call("i_efforts", t, state.q, state.v, a, p, u)
        found = plant.motion(*state, t=t, actuation=u).acceleration
        free = [plant.velocities.index(name) for name in ("left.crank.angle", "right.crank.angle")]
        scale = np.abs(plant.motion(*state, t=t).acceleration).max()  # of the idle machine, which the efforts overcome
        assert np.abs(found[free] - a).max() < 1e-11 * max(scale, 1.0)  # two solves, one after the other


BAD = {
    "an unknown function": (("four-bar", "m.c", "servos"), "no function 'servos'; did you mean servo?"),
    "another suffix": (("four-bar", "m.cpp", "motion"), "expected a name that ends in .c, got '.cpp'"),
    "no directory": (("four-bar", "none/m.c", "motion"), "Make it first: mkdir -p"),
    "no motors": (("spinning-beam", "m.c", "servo"), "a controller needs motors, and there are none"),
    "no goals": (("bennett", "m.c", "servo"), "nothing says what the motors are to do. Export a Scenario"),
    "no freedom": (("dual-mobile-arm", "m.c", "inverse-dynamics"), "its rows leave no freedom"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_is_told_in_one_line(what, tmp_path):
    (name, file, function), message = BAD[what]
    with pytest.raises(KalabaError) as error:
        export_c(kb.scenario(name), tmp_path / file, function)
    assert message in str(error.value)
    assert "\n" not in str(error.value)
    assert list(tmp_path.iterdir()) == []


def test_a_header_that_cannot_be_written_is_told_before_anything_is(tmp_path):
    (tmp_path / "m.h").mkdir()
    with pytest.raises(KalabaError, match=r"m\.h: expected a file, got a directory"):
        export_c(kb.load("four-bar"), tmp_path / "m.c")
    assert [path.name for path in tmp_path.iterdir()] == ["m.h"]


def test_a_part_without_mass_that_nothing_leads_is_told(tmp_path):
    body = kb.Body("ghost", kb.Solid(0.0), joint=kb.Prismatic(kb.X))
    with pytest.raises(KalabaError, match=r"nothing gives ghost\.travel inertia or holds it"):
        export_c(kb.System("ghosts", parts=(body,)), tmp_path / "m.c")


def test_an_allocation_has_no_place_in_a_motion(tmp_path):
    with pytest.raises(KalabaError, match="the motion has no allocation"):
        export_c(kb.load("four-bar"), tmp_path / "m.c", allocation=kb.MinMax())
