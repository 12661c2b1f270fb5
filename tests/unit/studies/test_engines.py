"""Processes give what this process gives, to the bit; what they cannot take, and what ends them, is told."""

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time

import pytest

import kalaba as kb
from interrupting import interrupted
from kalaba.studies.running import Engines, run_study
from unit.studies.oscillator import deadly, files, slow, study

ONLY_POSIX = pytest.mark.skipif(os.name != "posix", reason="signals are those of POSIX")
PATH = os.pathsep.join(sys.path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    study().run(folder, workers=1)
    return kb.open_study(folder).folder.read()


def test_processes_give_what_this_process_gives_and_one_that_is_killed_loses_nothing(tmp_path, whole, monkeypatch):
    """One of the two is killed while it has a chunk in hand; its chunk is done by another."""
    monkeypatch.setenv("PYTHONPATH", PATH)
    killed = []

    def watch(progress):
        if progress.done and not killed:
            killed.append(multiprocessing.active_children()[0].pid)
            os.kill(killed[0], signal.SIGKILL)

    results = run_study(study(), tmp_path, Engines(2), (1, 1), watch)
    assert killed
    assert results.folder.read().equals(whole)
    assert sorted(results.table.index) == list(range(40))


@pytest.mark.parametrize("what", ["measure", "control"])
def test_what_does_not_pickle_is_refused_by_its_name(tmp_path, what):
    local = threading.Lock()
    more = {
        "measure": {"measure": {"speed": "final(t)", "odd": lambda run: float(local is run)}},
        "control": {"control": kb.Sampled(lambda *_: [0.0], 100.0)},
    }[what]
    name = {"measure": "measure.odd", "control": "control"}[what]
    with pytest.raises(kb.KalabaError, match=f"{name}: cannot be sent to worker processes"):
        study(**more).run(tmp_path / "results", workers=2)
    assert not (tmp_path / "results").exists()
    assert study(4, **more).run(tmp_path / "results", workers=1).is_complete


def test_samples_that_end_their_process_are_named(tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", PATH)
    one = study(6, vary={"mass.mass": kb.choice([1.0, 2.95])}, measure={"x": deadly}, sampling=kb.studies.Random())
    monkeypatch.setattr("kalaba.studies.running._seconds_per_sample", lambda _: 10.0)  # here it would end this process
    with pytest.raises(kb.KalabaError, match=r"worker processes died [13] times?, with samples") as refusal:
        one.run(tmp_path, workers=2)
    assert "\n" not in str(refusal.value)


SCRIPT = """
import sys
import kalaba as kb
from unit.studies.oscillator import study, slow
{guard}
    study(200, measure={{"x": slow}}).run(sys.argv[1], workers=2, progress=lambda p: print("done", p.done, flush=True))
"""


@ONLY_POSIX
def test_ctrl_c_keeps_what_is_done_and_the_study_goes_on(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(guard='if __name__ == "__main__":'))
    folder = tmp_path / "results"
    ended = interrupted([str(script), str(folder)], 0.1, line="done 2", PYTHONPATH=PATH)
    assert ended.code not in {0, None}
    assert "Interrupted" in ended.err
    assert "Run it again to go on" in ended.err
    table = kb.open_study(folder).table
    assert 0 < len(table) < 200
    time.sleep(0.2)
    assert not [pid for pid in os.listdir("/proc") if pid.isdigit() and str(script) in command(pid)]  # noqa: PTH208
    before = files(folder)
    results = study(200, measure={"x": slow}).run(folder, workers=1)
    assert results.is_complete
    assert before.items() <= files(folder).items()


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", encoding="utf-8") as file:  # noqa: PTH123
            return file.read()
    except OSError:
        return ""


def test_a_script_without_a_guard_is_told_so(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(guard="if True:"))
    done = subprocess.run(
        [sys.executable, str(script), str(tmp_path / "results")],
        env={**os.environ, "PYTHONPATH": PATH},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode != 0
    assert 'if __name__ == "__main__"' in done.stderr.splitlines()[-1]
