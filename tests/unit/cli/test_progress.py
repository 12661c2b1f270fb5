"""What a run says while it goes on, and the bar that shows it."""

import sys
from importlib import import_module

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.terminal import bar, residual_words
from kalaba.native.machine_code import compiled_entry
from kalaba.native.notices import COMPILING
from kalaba.results.run import Worst
from kalaba.run.progress import Progress

LOOP = import_module("kalaba.run.native_loop")


def test_the_bar_shows_steps_simulated_time_and_the_worst_residual(capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "160")
    with bar("arm", 2.0, hidden=False) as show:
        show(Progress(1.0, 2.0, 1000, Worst(2.5e-15, "pin.x", 0.5)))
        show(Progress(2.5, 2.0, 2500, Worst(3.5e-15, "pin.z", 2.1)))
    said = capsys.readouterr().err
    for words in ("running arm", "2.00 of 2 s", "2500 steps", "residual 3.5e-15 in pin.z"):
        assert words in said


def test_a_loop_that_is_compiled_has_a_line_of_its_own(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("KALABA_CACHE_DIR", str(tmp_path / "empty"))
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "160")
    for _ in range(2):  # the second time it comes from the disk
        loop = compiled_entry(nothing)
        with bar("arm", 2.0, hidden=False):
            loop(1)
    assert capsys.readouterr().err.count(COMPILING) == 1


def nothing(count: int) -> None:
    """Do nothing."""


@pytest.mark.parametrize("hidden", [True, False])
def test_there_is_no_bar_where_no_terminal_shows_it(capsys, hidden):
    with bar("arm", 2.0, hidden=hidden) as show:
        assert show is None
    assert capsys.readouterr() == ("", "")


def test_a_machine_without_rows_has_no_residual_to_show():
    assert residual_words(None) == ""


@pytest.mark.parametrize(
    ("stepper", "backend"),
    [(kb.RungeKutta4(1e-3), kb.Native()), (kb.Radau(), kb.Native()), (kb.RungeKutta4(5e-3), kb.Interpreted())],
    ids=["native", "stiff", "interpreted"],
)
def test_every_kind_of_run_tells_where_it_stands(monkeypatch, stepper, backend):
    """The native loop is told to look after every call, and calls are short, so that a short run has much to tell."""
    monkeypatch.setattr(LOOP, "LOOK_EVERY", 0.0)
    monkeypatch.setattr(LOOP, "FIRST_STEPS", 16)
    told = []
    run = kb.simulate(kb.build(kb.load("four-bar"), backend=backend), 0.1, stepper=stepper, progress=told.append)
    assert len(told) > 3
    assert np.all(np.diff([own.time for own in told]) >= 0)
    assert np.all(np.diff([own.worst.value for own in told]) >= 0)
    last = told[-1]
    assert (last.time, last.duration, last.steps) == (pytest.approx(0.1), 0.1, run.effort.steps)
    assert last.worst.row in run.plant.constraints


def test_the_last_word_of_a_native_run_is_its_worst_residual():
    told = []
    run = kb.simulate(kb.load("four-bar"), 0.1, progress=told.append)
    assert told[-1].worst == run.worst


def test_how_often_one_looks_changes_no_bit(monkeypatch):
    alone = kb.simulate(kb.load("four-bar"), 0.2)
    monkeypatch.setattr(LOOP, "LOOK_EVERY", 0.0)  # chunks of the smallest size
    monkeypatch.setattr(LOOP, "FIRST_STEPS", 1)
    watched = kb.simulate(kb.load("four-bar"), 0.2, progress=lambda _: None)
    assert np.array_equal(alone.q, watched.q)
    assert np.array_equal(alone.v, watched.v)


@pytest.mark.parametrize(("took", "following"), [(0.01, 200), (0.1, 100), (0.5, 50)])
def test_calls_of_the_native_loop_grow_or_shrink_towards_a_tenth_of_a_second(took, following):
    assert LOOP._next_chunk(100, took) == following


def test_a_call_of_the_native_loop_has_a_step_and_an_end():
    assert LOOP._next_chunk(1, 10.0) == 1
    assert LOOP._next_chunk(LOOP.MOST_STEPS, 0.0) == LOOP.MOST_STEPS
