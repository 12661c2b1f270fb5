"""`kalaba plot`: a figure of a saved run, or one line on why there is none and what there is."""

import json
from dataclasses import replace

import pytest

from kalaba.cli.application import invoke
from kalaba.results import dataset
from unit.results.samples import small_run


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_run().save("run.nc")
    return tmp_path


def test_an_overview_is_drawn_beside_the_run(capsys, elsewhere):
    assert invoke(["plot", "run.nc"]) == 0
    assert capsys.readouterr().out == "picture: run-overview.png\n"
    assert (elsewhere / "run-overview.png").stat().st_size > 10_000


@pytest.mark.parametrize("figure", ["coordinates", "motors", "residuals", "energy"])
def test_one_quantity_is_drawn(capsys, elsewhere, figure):
    assert invoke(["plot", "run.nc", "--figure", figure, "-o", "plot.svg", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    assert "<svg" in (elsewhere / "plot.svg").read_text(encoding="utf-8")


def test_paths_of_frames_are_drawn_and_told_as_json(capsys):
    assert invoke(["plot", "run.nc", "--figure", "paths", "--frame", "crank.tip", "-o", "p.pdf", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"figure": "paths", "runs": ["run.nc"], "file": "p.pdf"}


def test_several_runs_are_compared(capsys, elsewhere):
    replace(small_run(), actuation=2 * small_run().actuation).save("other.nc")
    assert invoke(["plot", "run.nc", "other.nc", "-o", "both.svg"]) == 0
    text = (elsewhere / "both.svg").read_text(encoding="utf-8")
    assert "run, other" in text  # the heights lie on each other
    assert "motor" in text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("run.nc", "--figure", "spectra"), "'spectra' is not one of 'overview'"),
        (("run.nc", "--figure", "modes"), "no body is a beam"),
        (("run.nc", "--figure", "papers"), "there are some for dual-mobile-arm"),
        (("run.nc", "--figure", "compare"), "expected several runs"),
        (("run.nc", "run.nc", "--figure", "paths"), "expected one run"),
        (("run.nc", "--frame", "crank.tip"), "figure overview takes no frames"),
        (("run.nc", "--figure", "paths", "--frame", "crank.tp"), "did you mean crank.tip"),
        (("run.nc", "-o", "plot.bmp"), "ends in .png, .svg, .pdf"),
        (("run.nc", "-o", "nowhere/plot.png"), "mkdir -p nowhere"),
        (("none.nc",), "no such file"),
        (("four-bar",), "ends in .nc"),
    ],
)
def test_what_cannot_be_drawn_is_one_line(capsys, arguments, words):
    assert invoke(["plot", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err


def test_a_file_that_was_cut_off_is_one_line(capsys, elsewhere):
    (elsewhere / "cut.nc").write_bytes((elsewhere / "run.nc").read_bytes()[:3000])
    assert invoke(["plot", "cut.nc"]) == 2
    assert "expected a whole file written by kalaba" in capsys.readouterr().err


def test_a_file_of_a_newer_version_is_one_line(capsys, monkeypatch):
    monkeypatch.setattr(dataset, "FORMAT", 99)
    replace(small_run(), work=small_run().work.copy()).save("newer.nc")
    assert invoke(["plot", "newer.nc"]) == 2
    assert "pip install --upgrade kalaba" in capsys.readouterr().err
