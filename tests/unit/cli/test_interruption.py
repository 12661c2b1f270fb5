"""Ctrl-C on the command line: soon over, exit code 130, no traceback, and a run's part is in its file."""

import sys

import pytest

import kalaba as kb
from interrupting import interrupted
from kalaba.results.run import Ending

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads processor times of Linux")
COMMAND = "from kalaba.cli import main; print('begun', flush=True); main()"
SOON = 2.0  # s of processor time


def command(delay, *line, **environment):
    return interrupted(["-c", COMMAND, *line], delay, line="begun", **environment)


@pytest.mark.parametrize("suffix", ["nc", "csv"])
def test_an_interrupted_run_is_kept_as_far_as_it_came(tmp_path, suffix):
    kb.simulate(kb.scenario("four-bar"), 0.01)  # compiles, once per installation
    path = tmp_path / f"run.{suffix}"
    line = ("run", "four-bar", "--duration", "1e7", "--save-every", "10", "-o", str(path))
    for delay in (3.0, 9.0, 27.0):  # where the computer is busy, it is still being built
        ended = command(delay, *line)
        if "stopped at" in ended.err:
            break
    assert ended.code == 130, ended.err
    assert ended.took < SOON
    said = ended.err.splitlines()
    assert len(said) == 2
    assert said[0].startswith("four-bar: stopped at t = ")
    assert said[0].endswith(f"interrupted. Samples until then are kept. File: {path}")
    assert said[1] == "interrupted"
    run = kb.open_run(path)
    assert run.status.ending is Ending.INTERRUPTED
    assert 0 < run.time[-1] <= run.status.time < 1e7


@pytest.mark.parametrize("delay", [0.0, 0.1, 0.3, 0.6, 1.2, 2.4])
def test_an_interruption_at_any_moment_has_no_traceback(tmp_path, delay):
    line = ("run", "n-arm-carry", "--set", "arms=16", "--duration", "1e5", "-o", str(tmp_path / "run.nc"))
    ended = command(delay, *line, KALABA_CACHE_DIR=str(tmp_path / "empty"))
    assert ended.code == 130, ended.err
    assert ended.took < SOON
    assert ended.err.splitlines()[-1] == "interrupted"
    assert "Traceback" not in ended.err
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(("new-", "."))] == []


@pytest.mark.parametrize(
    "line", [["report", "stewart", "-o", "r.html"], ["compare", "five-bar", "--vary", "motors=2,3"]]
)
def test_other_commands_end_by_it_too(tmp_path, line, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ended = command(0.8, *line, KALABA_CACHE_DIR=str(tmp_path / "empty"))
    assert (ended.code, ended.err) == (130, "interrupted\n")
    assert ended.took < SOON
    assert not (tmp_path / "r.html").exists()
