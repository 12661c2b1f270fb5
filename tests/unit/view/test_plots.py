"""The overview shows what moved, with names and units, and never fails on a run that did."""

from dataclasses import replace

import numpy as np
import pytest

from kalaba.errors import FileError
from kalaba.view.figures.histories import overview, overview_panels
from kalaba.view.figures.quantities import MOST_LINES, Named, by_unit, largest_of, merged, reach, shared, span
from kalaba.view.sheet import save
from unit.results.samples import broken_run, small_run


def test_every_panel_says_what_it_shows_and_in_which_unit():
    shown = overview_panels(small_run())
    assert [panel.title for panel in shown] == [
        *("coordinates", "coordinates", "outputs", "motors"),
        *("constraint force", "constraint residuals", "energy", "energy balance"),
    ]
    assert all("[" in panel.label for panel in shown)
    assert {curve.name for curve in shown[1].curves} == {"crank.angle", "coupler.angle", "rocker.angle"}


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_picture_is_written(tmp_path, suffix):
    place = save(overview(small_run()), tmp_path / f"run{suffix}")
    assert place.stat().st_size > 10_000
    assert [entry.name for entry in tmp_path.iterdir()] == [place.name]


def test_names_and_the_end_are_written_out(tmp_path):
    text = save(overview(broken_run()), tmp_path / "run.svg").read_text(encoding="utf-8")
    assert "sample: 0.03 s, not finite; worst residual 1.0e+00 in pin.x" in text
    assert "crank.angle" in text
    assert "angle [rad]" in text


def test_a_run_that_broke_off_at_once_is_drawn_too(tmp_path):
    run = small_run()
    arrays = ("time", "q", "v", "acceleration", "constraint_force", "actuation", "inputs", "work")
    first = replace(run, **{name: getattr(run, name)[:1] for name in arrays})
    assert save(overview(first), tmp_path / "run.png").stat().st_size > 10_000


def test_an_unknown_suffix_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"ends in \.png, \.svg, \.pdf"):
        save(overview(small_run()), tmp_path / "run.bmp")


def test_lines_that_lie_on_each_other_become_one_with_both_names():
    time = small_run().time
    found = merged([("a", time), ("b", time + 1e-9), ("c", -time)])
    assert [name for name, _ in found] == ["a, b", "c"]


def test_many_names_of_one_line_are_cut_short():
    assert shared([f"leg{i}.link_b.tip" for i in range(1, 6)]) == "leg1.link_b.tip and 4 more"


def test_the_largest_lines_are_kept_in_their_order():
    time = small_run().time
    lines, left_out = largest_of([(f"line{i}", i * time) for i in range(MOST_LINES + 3)], span)
    assert [name for name, _ in lines] == [f"line{i}" for i in range(3, MOST_LINES + 3)]
    assert left_out == 3


def test_a_constant_force_is_seen_and_a_coordinate_that_rests_is_not():
    level = np.full(5, 3.0)
    assert (reach(level), span(level)) == (3.0, 0.0)
    assert span(np.full(2, np.nan)) == 0.0
    names = [curve.name for panel in overview_panels(small_run()) for curve in panel.curves]
    assert "slide.travel" not in names


def drawn(units: list[str], columns: list[np.ndarray], *, whole: bool = False) -> list[list[str]]:
    """Names of the lines of every panel, for columns of `small_run`'s length."""
    found = Named(tuple(f"part{i % 3}.line{i}" for i in range(len(columns))), tuple(units), np.column_stack(columns))
    panels = by_unit(small_run(), found, "title", reach, whole=whole)
    return [[curve.name for curve in panel.curves] for panel in panels]


def test_rounding_gets_no_line_and_no_panel():
    """1e-13 beside 100, in the same unit or in another, is no force."""
    wave = np.sin(np.arange(len(small_run().time)))
    assert drawn(["N", "N", "N*m"], [100 * wave, 1e-13 * wave, 1e-13 * wave]) == [["part0.line0"]]
    assert drawn(["N"], [1e-13 * wave]) == []


def test_the_whole_is_drawn_in_panels_by_part_of_the_machine():
    wave = np.sin(np.arange(len(small_run().time)))
    lines = [(i + 1) * wave for i in range(12)]
    assert [len(names) for names in drawn(["N"] * 12, lines)] == [MOST_LINES]
    found = drawn(["N"] * 12, lines, whole=True)
    assert found[1] == ["part1.line1", "part1.line4", "part1.line7", "part1.line10"]
    assert sum(map(len, found)) == 12
