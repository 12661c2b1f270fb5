"""Any command line ends with exit code 0, 1 or 2 and without a traceback."""
# ruff: noqa: E501, T201  (tables read along their rows; counts are printed)

import random
from pathlib import Path

import pytest

from fuzz.outcomes import Tally
from fuzz.valid_calls import THINGS as T
from kalaba.cli.application import invoke

MACHINES = (
    "four-bar",
    "four-bar",
    "four-bar",
    "five-bar",
    "no-such",
    "",
    "a.yaml",
    "a.urdf",
    "a\nb",
    "\0",
    "x" * 300,
    ".",
    "/",
    "-1",
    "{machine}",
    "{run}",
    "{measured}",
)
FLAGS = {
    "run": ("--output", "-o", "--set", "--root", "--loops", "--allocation", "--control", "--step", "--stepper", "--stabilisation", "--solver", "--save-every", "--stop", "--plot", "--json", "--quiet"),
    "compare": ("--vary", "--set", "--step", "--stepper", "--stabilisation", "--solver", "--save-every", "--output", "--json", "--quiet"),
    "show": ("--set", "--root", "--loops", "--all", "--json"),
    "check": ("--set", "--root", "--loops", "--cuts", "--suggest-loops", "--json", "--quiet"),
    "derive": ("--method", "--set", "--root", "--steps", "--objects", "--json"),
    "plot": ("--figure", "--output", "--frame", "--over", "--map", "--scale", "--time-scale", "--time-shift", "--json", "--quiet"),
    "export": ("--output", "-o", "--set", "--method", "--function", "--allocation", "--platform", "--objects", "--json", "--quiet"),
    "new": ("--json", "--quiet"),
    "sweep": ("--shard", "--json", "--quiet"),
    "list": ("--json",),
    "papers": ("--bibtex", "--json"),
    "nonsense": ("--json",),
}  # fmt: skip
SWITCHES = {"--json", "--quiet", "--all", "--cuts", "--suggest-loops", "--steps", "--objects", "--bibtex"}
VALUES = (
    "", "0", "-1", "1e-3", "0.01", "nan", "inf", "1e300", "1e-300", "abc", "a=b", "=", "crank.length=0.2", "crank.length=x", "crank.length=nan", "crank.length=0.1,0.2",
    "crank.length=", "no.such=1", "rk4", "dp5", "auto", "radau", "projection", "none", "baumgarte", "kkt", "lagrange", "kane", "motion", "servo", "inverse-dynamics", "least-squares",
    "coordinates", "paths", "crank.tip", "out.nc", "out.csv", "out.png", "out.c", "out.tex", "out.py", "out.yaml", "out.urdf", "out.xyz", "no/such/place.nc", "/", ".", "crank.angle > 2",
    "crank.angle >", "{run}", "{measured}", "\0", "a\nb", "é", "--", "-", "%", "@", "$HOME", "*", "~",
)  # fmt: skip


def drawn(rng: random.Random) -> list[str]:
    """A command line: a command, a machine or a file, some flags; short runs of small machines, for time's sake."""
    command = rng.choice(sorted(FLAGS))
    places = {"machine": T.scenario.save(T.place("machine.yaml")), "run": T.saved, "measured": T.measured}
    arguments = [command, *(rng.choice(MACHINES) for _ in range(rng.choice((0, 1, 1, 1, 2))))]
    if command == "compare":
        arguments.append("four-bar")
    if command in {"run", "compare"}:
        arguments += ["--duration", rng.choice(("0.02", "0.02", "0", "-1", "nan", "x"))]
    for _ in range(rng.choice((0, 1, 1, 2, 3))):
        flag = rng.choice((*FLAGS[command], *FLAGS[command], "--no-such", "--help"))
        arguments += [flag] if flag in SWITCHES or rng.random() < 0.05 else [flag, rng.choice(VALUES)]
    return [argument.replace("{machine}", str(places["machine"])).replace("{run}", str(places["run"])).replace("{measured}", str(places["measured"])) for argument in arguments]  # fmt: skip


def fuzzed(count: int, seed: int, capsys: pytest.CaptureFixture[str]) -> Tally:
    tally, rng = Tally(), random.Random(seed)
    for _ in range(count):
        arguments = drawn(rng)
        words = " ".join(arguments)[:200]
        code = tally.judge(lambda arguments=arguments: invoke(arguments), words)
        said = capsys.readouterr()
        if code is not None and code not in {0, 1, 2}:
            tally.wrong.append(f"exit code {code}: {words!r}")
        if "Traceback" in said.err + said.out:
            tally.wrong.append(f"traceback: {words!r}")
        if code == 2 and not said.err.strip() and not said.out.strip():
            tally.wrong.append(f"refused without a word: {words!r}")
    return tally


def test_any_command_line_ends_with_a_code_and_a_word(seed, capsys):
    assert fuzzed(50, seed, capsys).wrong == []


@pytest.mark.long
def test_two_hundred_command_lines(seed, capsys):
    tally = fuzzed(200, seed, capsys)
    with capsys.disabled():
        print(f"\n{tally.report('command lines', seed)}")
    assert tally.wrong == []


def test_files_are_written_below_the_folder_of_the_test_alone(tmp_path):
    assert Path.cwd() == tmp_path
