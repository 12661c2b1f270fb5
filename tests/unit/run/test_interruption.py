"""Ctrl-C, as a real signal to a real process, at several moments: it is soon over, and the part done is handed over."""

import pickle
import sys

import numpy as np
import pytest

import kalaba as kb
from interrupting import interrupted
from kalaba.errors import Interrupted
from kalaba.results.run import Ending
from kalaba.run import native_loop

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads processor times of Linux")
SOON = 2.0  # s of processor time

SCRIPT = """
import sys
import kalaba as kb
from kalaba.errors import Interrupted

def seen(progress):
    if progress.time > 0:
        print("running", flush=True)

CHAIN = kb.System("chain", tuple(
    kb.Body(f"b{k}", kb.Rod(0.1, mass=0.1), parent=f"b{k - 1}.tip" if k else "world", joint=kb.Revolute(-kb.Y))
    for k in range(60)
))
print("begun", flush=True)
try:
    WORK
except Interrupted as stop:
    run = stop.run
    print("part", run.status.ending.value, run.status.time, len(run.time), run.time[-1], flush=True)
    sys.exit(7)
print("unhindered")
"""
RUNS = {
    "adaptive": "kb.simulate(kb.scenario('four-bar'), 1e7, save_every=10.0, progress=seen)",
    "fixed": "kb.simulate(kb.load('four-bar'), 1e6, stepper=kb.RungeKutta4(1e-3), save_every=1.0, progress=seen)",
    "structural": (
        "kb.simulate(kb.load('flexible-four-bar'), 1e5, stepper=kb.GeneralisedAlpha(1e-4), save_every=1, progress=seen)"
    ),
    "radau": "kb.simulate(kb.load('four-bar'), 1e6, stepper=kb.Radau(), save_every=0.1, progress=seen)",
    "interpreted": "kb.simulate(kb.build(kb.load('four-bar'), backend=kb.Interpreted()), 1e6, progress=seen)",
    "sampled": (
        "kb.simulate(kb.load('four-bar'), 1e5, control=kb.Sampled(lambda t, q, v: [0.1], 1000), progress=seen)"
    ),
    "unchecked": "kb.simulate(kb.scenario('four-bar'), 1e7, save_every=10.0, progress=seen, check=False)",
}
BUILDS = {
    "chain": "kb.simulate(CHAIN, 1e5)",
    "arms": "kb.simulate(kb.scenario('n-arm-carry', arms=16), 1e5)",
    "servo": "kb.simulate(kb.scenario('stewart'), 1e5)",
    "structural": "kb.simulate(CHAIN, 1e5, stepper=kb.GeneralisedAlpha(1e-3))",
}


@pytest.mark.parametrize("delay", [0.0, 0.7])
@pytest.mark.parametrize("kind", RUNS)
def test_a_run_ends_soon_and_hands_over_the_part_done(kind, delay):
    ended = interrupted(["-c", SCRIPT.replace("WORK", RUNS[kind])], delay, line="running")
    assert ended.code == 7, ended.err
    assert ended.took < SOON
    word, ending, time, samples, last = ended.out.splitlines()[-1].split()
    assert (word, ending) == ("part", "interrupted")
    assert int(samples) > (1 if delay else 0)  # at once, there may be the start alone
    assert 0 <= float(last) <= float(time)
    assert float(time) > 0


@pytest.mark.parametrize("delay", [0.2, 1.5, pytest.param(5.0, marks=pytest.mark.long)])
@pytest.mark.parametrize("kind", BUILDS)
def test_a_build_ends_soon(kind, delay, tmp_path):
    script = SCRIPT.replace("WORK", BUILDS[kind])
    ended = interrupted(["-c", script], delay, line="begun", KALABA_CACHE_DIR=str(tmp_path / "empty"))
    assert ended.took < SOON
    assert "unhindered" not in ended.out
    if ended.code != 7:  # it was still being built, and there is no run
        assert ended.err.rstrip().endswith("KeyboardInterrupt")


@pytest.mark.parametrize(
    "work",
    [
        "[kb.check(kb.load(name)) for name, _ in kb.catalog() for _ in range(100)]",
        "[kb.assembly_modes(kb.load('four-bar'), {'crank.angle': 1.0}) for k in range(10**6)]",
    ],
)
def test_other_long_work_ends_soon(work):
    ended = interrupted(["-c", SCRIPT.replace("WORK", work)], 1.0, line="begun")
    assert ended.code != 0
    assert ended.took < SOON
    assert ended.err.rstrip().endswith("KeyboardInterrupt")


def look_often(monkeypatch):
    """Short calls of the compiled loop, and a report after each."""
    for name, value in (("LOOK_EVERY", 0.0), ("FIRST_STEPS", 4), ("MOST_STEPS", 4)):
        monkeypatch.setattr(native_loop, name, value)


def stop_after(time):
    """A watcher that interrupts a run as soon as it is told of a later time."""

    def watch(progress):
        if progress.time > time:
            raise KeyboardInterrupt

    return watch


@pytest.mark.parametrize(
    "settings",
    [
        {"stepper": kb.RungeKutta4(1e-3)},
        {"stepper": kb.DormandPrince()},
        {"stepper": kb.Radau()},
        {"stepper": kb.RungeKutta4(1e-3), "backend": kb.Interpreted()},
    ],
    ids=["fixed", "adaptive", "radau", "interpreted"],
)
def test_the_part_done_has_the_bits_of_the_whole_run(settings, monkeypatch):
    look_often(monkeypatch)
    plant = kb.build(kb.load("four-bar"), backend=settings.pop("backend", None))
    whole = kb.simulate(plant, 0.4, **settings)
    with pytest.raises(Interrupted) as stop:
        kb.simulate(plant, 0.4, progress=stop_after(0.1), **settings)
    part = stop.value.run
    n = len(part.time)
    assert 1 < n < len(whole.time)
    for name in ("time", "q", "v", "acceleration", "constraint_force", "actuation", "work"):
        assert np.array_equal(getattr(part, name), getattr(whole, name)[:n]), name
    assert part.status.ending is Ending.INTERRUPTED
    assert part.status.failed
    assert str(stop.value) == part.status.message
    assert "interrupted" in part.status.message


def test_the_part_done_is_saved_and_opened_as_what_it_is(tmp_path, monkeypatch):
    look_often(monkeypatch)
    with pytest.raises(KeyboardInterrupt) as stop:
        kb.simulate(kb.scenario("four-bar"), 0.4, stepper=kb.RungeKutta4(1e-3), progress=stop_after(0.1))
    part = stop.value.run
    part.save(tmp_path / "part.nc")
    opened = kb.open_run(tmp_path / "part.nc")
    assert opened.status == part.status
    assert np.array_equal(opened.q, part.q)
    again = pickle.loads(pickle.dumps(Interrupted("word", 3)))
    assert (str(again), again.run) == ("word", 3)


def test_an_interruption_of_the_check_hands_over_the_whole_run(monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(sys.modules["kalaba.run.simulate"], "judge", interrupt)
    with pytest.raises(Interrupted, match="the run was done and being checked") as stop:
        kb.simulate(kb.scenario("four-bar"), 0.1)
    assert stop.value.run.status.ending is Ending.DONE
    assert stop.value.run.time[-1] == pytest.approx(0.1)
