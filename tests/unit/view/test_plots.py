"""The overview shows what moved, with names and units, and never fails on a run that did."""

from dataclasses import replace

import numpy as np
import pytest

from kalaba.errors import FileError
from kalaba.view.plots import MOST_LINES, _largest, _merged, _reach, _span, overview, panels
from unit.files.samples import broken_run, small_run


def test_every_panel_says_what_it_shows_and_in_which_unit():
    shown = panels(small_run())
    assert [panel.title for panel in shown] == [
        *("coordinates", "coordinates", "outputs", "motors"),
        *("constraint force", "constraint residuals", "energy", "energy balance"),
    ]
    assert all("[" in panel.label for panel in shown)
    assert {name for name, _ in shown[1].lines} == {"crank.angle", "coupler.angle", "rocker.angle"}


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_picture_is_written(tmp_path, suffix):
    place = overview(small_run(), tmp_path / f"run{suffix}")
    assert place.stat().st_size > 10_000
    assert [entry.name for entry in tmp_path.iterdir()] == [place.name]


def test_names_and_the_end_are_written_out(tmp_path):
    text = overview(broken_run(), tmp_path / "run.svg").read_text(encoding="utf-8")
    assert "sample: 0.03 s, not finite; worst residual 1.0e+00 in pin.x" in text
    assert "crank.angle" in text
    assert "angle [rad]" in text


def test_a_run_that_broke_off_at_once_is_drawn_too(tmp_path):
    run = small_run()
    arrays = ("time", "q", "v", "acceleration", "constraint_force", "actuation", "inputs", "work")
    first = replace(run, **{name: getattr(run, name)[:1] for name in arrays})
    assert overview(first, tmp_path / "run.png").stat().st_size > 10_000


def test_an_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"ends in \.png, \.svg, \.pdf"):
        overview(small_run(), tmp_path / "run.bmp")


def test_lines_that_lie_on_each_other_become_one_with_both_names():
    time = small_run().time
    merged = _merged([("a", time), ("b", time + 1e-9), ("c", -time)])
    assert [name for name, _ in merged] == ["a, b", "c"]


def test_the_largest_lines_are_kept_in_their_order():
    time = small_run().time
    lines, note = _largest([(f"line{i}", i * time) for i in range(MOST_LINES + 3)], _span)
    assert [name for name, _ in lines] == [f"line{i}" for i in range(3, MOST_LINES + 3)]
    assert note == "3 more are smaller"


def test_a_constant_force_is_seen_and_a_coordinate_that_rests_is_not():
    level = np.full(5, 3.0)
    assert (_reach(level), _span(level)) == (3.0, 0.0)
    assert _span(np.full(2, np.nan)) == 0.0
    assert "slide.travel" not in str([name for panel in panels(small_run()) for name, _ in panel.lines])
