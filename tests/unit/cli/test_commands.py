"""The commands: what they print, what they write, and one line with exit code 2 for whatever is wrong."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from importlib import import_module

import pytest

import kalaba as kb
from kalaba.cli import main
from kalaba.cli.application import invoke
from kalaba.cli.machines import lines
from kalaba.cli.summary import summarise
from kalaba.robots.catalogue import ENTRIES
from unit.results.samples import broken_run, small_run

SIMULATE = import_module("kalaba.run.simulate")  # the module; kb.simulate is its function


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """What a command writes goes to a directory of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def quick(monkeypatch):
    """Runs without building anything; notes what was asked for."""
    asked = {}

    def simulate(system, duration, **given):
        asked.update(given, system=system, duration=duration)
        return small_run()

    monkeypatch.setattr(SIMULATE, "simulate", simulate)
    return asked


def refused(capsys, *arguments) -> str:
    assert invoke(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert "Traceback" not in captured.err
    return captured.err.strip()


def test_list_names_every_machine(capsys):
    assert invoke(["list"]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in printed] == list(ENTRIES)
    assert invoke(["list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["four-bar"] == ENTRIES["four-bar"].summary


def test_version_is_printed(capsys):
    assert invoke(["--version"]) == 0
    assert capsys.readouterr().out == f"kalaba {kb.__version__}\n"


def test_show_tells_parts_numbers_options_source_and_errata(capsys):
    assert invoke(["show", "dual-mobile-arm"]) == 0
    out = capsys.readouterr().out
    for words in (
        "left.link2",
        "left.theta2 - left.theta1",
        "Spherical",
        "left.link2.mass",
        "kg",
        "closure",
        "weld",
        "errata",
        "Dong",
    ):
        assert words in out
    assert "more numbers are zero; --all lists them" in out
    assert "\x1b[" not in out  # no colours into a pipe


def test_show_as_json_lists_the_numbers_with_units(capsys):
    assert invoke(["show", "four-bar", "--json", "--all", "--set", "crank.length=0.2"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {"path": "crank.length", "value": "0.2", "unit": "m", "meaning": "length"} in found["parameters"]


@pytest.mark.parametrize("name", ENTRIES)
def test_every_machine_can_be_shown(capsys, name):
    assert invoke(["show", name]) == 0
    assert f"source: {ENTRIES[name].source}" in capsys.readouterr().out


def test_check_says_which_rows_depend_on_which(capsys):
    assert invoke(["check", "four-bar"]) == 0
    out = capsys.readouterr().out
    assert "rows: 5, rank: 2, freedoms: 1" in out
    assert "dependent: pin.y = 0" in out
    assert "conditioning: smallest singular value" in out
    assert "not unique: pin.y, pin.rx, pin.rz" in out
    assert invoke(["check", "four-bar", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["freedoms"] == 1


def test_check_marks_what_holds_on_the_manifold_only():
    found = kb.analyse.Mobility(
        *("loop", 7, 6, ("a", "b"), 1, 5, 4, (("b", (("a", -2.0),)),), ("b",), (), ("a", "b"), 0.5, "a", True)
    )
    assert lines(found) == [
        "machine: loop",
        "coordinates: 7, velocities: 6, rows: 2, rank: 1, freedoms: 5 (4 nearby)",
        "dependent: b = -2 a, only while the loop is closed",
        "conditioning: smallest singular value 0.5, from a",
        "reactions that are not unique: a, b",
        "mass: some motion has no inertia of its own; the rows determine it",
    ]


def test_run_prints_the_summary_and_writes_the_file(capsys, elsewhere):
    flags = ["--duration", "0.05", "-o", "out.nc", "--plot", "out.png", "--set", "crank.mass=0.4"]
    assert invoke(["run", "four-bar", *flags]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[:2] == ["machine: four-bar", "coordinates: 3, rows: 5, rank: 2, freedoms: 1"]
    assert printed[2].startswith("time: 0.05 s simulated in ")
    assert re.search(r", \d+ steps$", printed[2])
    assert printed[3].startswith("worst residual: ")
    assert " in pin." in printed[3]
    assert printed[4].startswith("energy balance: ")
    assert printed[5].startswith("peak force: ")
    assert "N*m in motor" in printed[6]
    assert printed[7].startswith("accuracy: good: states within ")
    assert printed[8:] == ["file: out.nc", "plot: out.png", "look: kalaba view out.nc"]
    assert dict(kb.open_run("out.nc").plant.system.parameters) == {"crank.mass": 0.4}
    assert (elsewhere / "out.png").stat().st_size > 10_000


def test_run_prints_one_json_object_or_nothing(capsys, quick):
    assert invoke(["run", "four-bar", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["file"] == "run.nc"
    assert found["residual"]["unit"] == "m"
    assert invoke(["run", "four-bar", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("flags", "stepper"),
    [
        ([], kb.Auto()),
        (["--stepper", "auto"], kb.Auto()),
        (["--stepper", "rk4"], kb.RungeKutta4()),
        (["--step", "0.002"], kb.RungeKutta4(0.002)),
        (["--stepper", "semi-implicit-euler", "--step", "0.01"], kb.SemiImplicitEuler(0.01)),
        (["--stepper", "dp5"], kb.DormandPrince()),
        (["--stepper", "radau"], kb.Radau()),
        (["--stepper", "wilson-theta"], kb.WilsonTheta()),
        (["--stepper", "newmark", "--step", "2e-3"], kb.Newmark(2e-3)),
        (["--stepper", "hht"], kb.HHT()),
        (["--stepper", "generalised-alpha"], kb.GeneralisedAlpha()),
        (["--stepper", "central-difference"], kb.CentralDifference()),
    ],
)
def test_the_stepper_is_the_one_asked_for(quick, flags, stepper):
    assert invoke(["run", "four-bar", "--quiet", "--stop", "crank.angle > 3", *flags]) == 0
    assert quick["stepper"] == stepper
    assert quick["stop"] == "crank.angle > 3"
    assert quick["duration"] == 5.0


def test_set_takes_parameters_options_and_declared_parameters(quick):
    wanted = ["left.link2.mass=2*2.5", "path_stroke=0.25", "closure=weld", "path=yes"]
    flags = [word for text in wanted for word in ("--set", text)]
    assert invoke(["run", "dual-mobile-arm", "--quiet", *flags]) == 0
    system = quick["system"]
    assert dict(system.parameters) == {"left.link2.mass": 5.0, "path_stroke": 0.25}
    assert "cut.rz" in system.machine.rows


def test_a_run_that_breaks_off_writes_what_it_has_and_says_why(capsys, monkeypatch):
    monkeypatch.setattr(SIMULATE, "simulate", lambda *_, **__: broken_run())
    assert invoke(["run", "four-bar", "-o", "part.csv", "--plot", "part.png"]) == 2
    captured = capsys.readouterr()
    assert captured.err.strip() == broken_run().status.message
    assert "ended: not finite at 0.03 s" in captured.out
    assert "rank: 2, 1 at the end" in captured.out
    assert kb.open_run("part.csv").status == broken_run().status
    assert invoke(["run", "four-bar", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["energy_error"] is not None


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("run fourbar", "no machine 'fourbar' in the catalogue; did you mean four-bar?"),
        ("show fourbar", "no machine 'fourbar' in the catalogue; did you mean four-bar?"),
        ("check fourbar", "no machine 'fourbar' in the catalogue; did you mean four-bar?"),
        ("run four-bar --set crnk.length=1", "no parameter 'crnk.length'; did you mean crank.length"),
        ("run four-bar --set crank.mass=-1", "crank.mass: expected a mass of zero or more, got -1 kg."),
        ("run four-bar --set crank.mass=heavy", "--set crank.mass=heavy: expected a number, got 'heavy'."),
        ("run four-bar --set crank.mass", "expected key=value, for example --set speed=10.0"),
        ("run dual-mobile-arm --set =1", "expected key=value, for example --set path=True"),
        ("run dual-mobile-arm --set pth=true", "no option or parameter 'pth'; did you mean path"),
        ("run dual-mobile-arm --set path=perhaps", "dual-mobile-arm.path: expected True or False, got 'perhaps'"),
        ("run five-bar --set motors=many", "five-bar.motors: expected"),
        ("run four-bar --duration 0", "four-bar: expected a duration above 0 s, got 0.0."),
        ("run four-bar --step 0", "step"),
        ("run four-bar --stepper dp5 --step 0.1", "DormandPrince chooses its own steps"),
        ("run four-bar -o /proc/run.nc", "/proc/run.nc: cannot be written"),
        ("run four-bar -o gone/run.nc", "gone/run.nc: no directory gone. Make it first: mkdir -p gone"),
        ("run four-bar -o run.txt", "run.txt: expected a name that ends in .nc, .csv, .parquet, got '.txt'."),
        ("run four-bar --plot run.bmp", "run.bmp: expected a name that ends in .png, .svg, .pdf, got '.bmp'."),
        ("run four-bar --stop crnk.angle>3", "stop: unknown word 'crnk.angle' at 0 in"),
        ("run four-bar --stop crank.angle>", "at 12 in"),
        ("run four-bar --stepper euler", "kalaba run: Invalid value for '--stepper'"),
        ("run four-bar --fast", "kalaba run: No such option: --fast"),
        ("run", "kalaba run: Missing argument"),
        ("walk four-bar", "kalaba: No such command 'walk'."),
        ("run four-bar --duration long", "kalaba run: Invalid value for '--duration'"),
    ],
)
def test_a_wrong_command_line_gives_one_line_and_exit_code_2(capsys, elsewhere, arguments, message):
    assert message in refused(capsys, *arguments.split())
    assert list(elsewhere.iterdir()) == []


def test_the_bare_command_shows_its_help(capsys):
    assert invoke([]) == 2
    assert "Usage: kalaba" in capsys.readouterr().out


def test_an_interruption_is_one_line(capsys, monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(SIMULATE, "simulate", interrupt)
    assert invoke(["run", "four-bar"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


def test_main_leaves_with_the_exit_code(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["kalaba", "show", "nothing"])
    with pytest.raises(SystemExit) as left:
        main()
    assert left.value.code == 2


def test_the_installed_command_answers_without_a_traceback():
    ran = subprocess.run(
        [sys.executable, "-c", "from kalaba.cli import main; main()", "run", "nothing"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (2, "", 1)


def test_a_reader_that_goes_away_is_no_error():
    for flag in ("--all", "--json"):
        command = f"{sys.executable} -c 'from kalaba.cli import main; main()' show puma560 {flag} | true"
        ran = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
        assert ran.stderr == ""


def test_a_machine_without_rows_or_motors_has_a_summary_too():
    free = kb.System("free", parts=(kb.Body("ball", kb.Box((1, 1, 1), mass=1.0)),))
    plant = kb.build(free, backend=kb.Interpreted())
    summary = summarise(kb.simulate(plant, 0.02, stepper=kb.RungeKutta4(0.01)))
    assert summary.lines()[1] == "coordinates: 7, velocities: 6, rows: 0, rank: 0, freedoms: 6"
    assert summary.lines()[3] == "worst residual: none, there are no rows"
    assert "and 2 rejected" in replace(summary, rejected=2).lines()[2]
    assert not any("peak force" in line for line in summary.lines())


def test_a_joint_that_leaves_its_limits_is_named():
    """A pendulum that falls from its upper limit or from within, beside one that is held at its limit by a row."""
    swinging = kb.Body("swinging", kb.Rod(1.0, mass=1.0), joint=kb.Revolute(kb.Y, limits=(-0.2, 0.5)))
    held = kb.Body("held", kb.Rod(1.0, mass=1.0), joint=kb.Revolute(kb.Y, limits=(0.0, 1.0)))

    def run_from(angle: float) -> kb.Run:
        start = kb.Start(hold={"swinging.angle": angle, "held.angle": 0.0})
        pair = kb.System("pair", parts=(swinging, held, kb.Constraint("rest", "held.angle")), start=start)
        return kb.simulate(kb.build(pair, backend=kb.Interpreted()), 0.1, stepper=kb.RungeKutta4(0.01))

    run = run_from(0.5)
    overrun = summarise(run).overrun
    assert overrun == ("swinging.angle", (-0.2, 0.5), "rad", run.time[1], run["swinging.angle"].max() - 0.5, 0)
    assert f"limits: {overrun.words}" in summarise(run).lines()
    assert overrun._replace(others=2).words.endswith("; so do 2 more; nothing stops a joint")
    assert not any(line.startswith("limits") for line in summarise(run_from(0.0)).lines())


def test_the_modules_of_commands_stay_light():
    code = "import sys, kalaba.cli.application; print({'numpy', 'casadi', 'xarray', 'matplotlib'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "set()"
