"""`kalaba sweep` and `kalaba plot` of a folder: what they print, draw and refuse."""

import json

import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.cli.terminal import duration_words, study_board
from unit.studies.oscillator import study

TEXT = """\
kalaba-study: 1
machine: four-bar
vary:
  crank.mass: {uniform: {low: 200 g, high: 400 g}}
measure:
  speed: peak(abs(rate(rocker.angle)))
  never: first(crank.angle > 100)
samples: 8
duration: 50 ms
stepper: {rk4: 1 ms}
"""


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.yaml").write_text(TEXT)
    return tmp_path


def test_a_study_is_run_by_shards_and_again_and_is_drawn(capsys, elsewhere):
    base = ("sweep", "s.yaml", "-o", "results", "--workers", "1")
    assert invoke([*base, "--shard", "1/2"]) == 0
    assert "samples: 4 of 8 done" in capsys.readouterr().out
    assert invoke(base) == 0
    out = capsys.readouterr().out
    for words in ("machine: four-bar", "samples: 8 of 8 done", "speed", "folder: results", "look: kalaba plot results"):
        assert words in out
    assert invoke([*base, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert (said["samples"], said["done"], said["failed"]) == (8, 8, 0)
    assert said["measures"]["speed"]["count"] == 8
    assert said["measures"]["never"]["mean"] is None
    assert invoke([*base, "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert invoke(["plot", "results"]) == 0
    assert "picture: results/study.png" in capsys.readouterr().out
    assert (elsewhere / "results" / "study.png").stat().st_size > 10_000
    assert invoke(["plot", "results", "-o", "s.svg", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["samples"] == 8


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("sweep", "gone.yaml"), "no such file"),
        (("sweep", "s.yaml", "--shard", "3"), "--shard 3: expected the k-th of n parts"),
        (("sweep", "s.yaml", "--shard", "3/2"), "--shard 3/2: expected"),
        (("sweep", "s.yaml", "--shard", "0/2"), "--shard 0/2: expected"),
        (("sweep", "s.yaml", "--workers", "0"), "whole number from 1"),
        (("sweep", "s.yaml", "-o", "s.yaml"), "cannot be written"),
        (("plot", "."), "no results of a study there"),
        (("plot", ".", "."), "expected one folder of a study"),
        (("plot", ".", "--figure", "energy"), "a study is drawn in one way"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(capsys, arguments, words):
    assert invoke(arguments) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1


def test_failures_are_told_and_stop_nothing(capsys, elsewhere):
    (elsewhere / "s.yaml").write_text(TEXT.replace("low: 200 g", "low: -1 kg"))
    assert invoke(["sweep", "s.yaml", "-o", "results", "--workers", "1"]) == 0
    said = capsys.readouterr().err
    assert "of 8 samples failed; sample" in said
    assert "refused" in said


def test_an_interruption_says_how_to_go_on(capsys, monkeypatch):
    def interrupt(*_, **__):
        raise kb.errors.Interrupted("results: interrupted with 3 of 8 samples done. Run it again to go on.")

    monkeypatch.setattr("kalaba.studies.running.run_study", interrupt)
    assert invoke(["sweep", "s.yaml"]) == 130
    assert "3 of 8 samples done. Run it again" in capsys.readouterr().err


def test_the_board_shows_samples_time_left_and_measures(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with study_board("oscillator", hidden=False) as show:
        assert show is not None
        study(8).run(tmp_path / "results", workers=1, progress=show)
    said = capsys.readouterr().err
    for words in ("8/8", "speed", "mean", "0 s left"):
        assert words in said
    with study_board("oscillator", hidden=True) as show:
        assert show is None


@pytest.mark.parametrize(("seconds", "words"), [(3.4, "3 s"), (185, "3 min 5 s"), (7800, "2 h 10 min")])
def test_times_are_told_as_people_wait(seconds, words):
    assert duration_words(seconds) == words


def test_a_study_whose_samples_all_failed_is_not_drawn(elsewhere):
    study(2, vary={"mass.mass": kb.choice([-1.0])}, sampling=kb.studies.Random()).run("failed", workers=1)
    with pytest.raises(kb.KalabaError, match="no sample has a measure to draw"):
        kb.plot.study("failed")
