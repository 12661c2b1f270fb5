"""Measured data over ours: tables of others are read, matched by name or by a map, and differences are as they are."""

import json

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.errors import FileError, KalabaError
from unit.results.samples import broken_run, small_run


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    small_run().save("run.nc")
    return tmp_path


def write(path, headings, columns, delimiter=","):
    lines = [delimiter.join(f"{value!r}" for value in map(float, row)) for row in zip(*columns, strict=True)]
    path.write_text("\n".join([delimiter.join(headings), *lines, ""]), encoding="utf-8")
    return path


def test_columns_are_matched_by_name_and_by_a_map_and_the_difference_is_theirs(elsewhere):
    run = small_run()
    off = 1e-3 * np.arange(len(run.time))
    columns = (run.time, run["crank.angle"] + off, run["rocker.z"] - 0.25, run["height"], run.time)
    path = write(elsewhere / "m.csv", ("time", "crank.angle", "z", "height", "else"), columns)
    angle, z, height = kb.plot.matched(run, path, {"z": "rocker.z"})
    assert (angle.quantity, angle.unit, z.quantity, z.unit, height.unit) == ("crank.angle", "rad", "rocker.z", "m", "m")
    assert angle.root_mean_square == pytest.approx(np.sqrt(np.mean(off**2)), rel=1e-9)
    assert angle.largest == pytest.approx((off[-1], run.time[-1]), rel=1e-9)
    assert z.root_mean_square == pytest.approx(0.25)
    assert z.largest[0] == pytest.approx(-0.25)
    assert height.root_mean_square < 1e-15


def test_times_are_scaled_and_shifted_and_only_those_within_the_run_count(elsewhere):
    run = small_run()
    times = np.linspace(-10.0, 90.0, 101)  # ms, 10 ms late; the run takes 50 ms
    path = write(elsewhere / "m.csv", ("T [ms]", "crank.angle [deg]"), (times, np.full(101, 90.0)))
    data = kb.plot.read_measured(path, time_shift=0.01)
    assert data.time[0] == pytest.approx(0.0)
    assert data.columns["crank.angle"][0] == pytest.approx(np.pi / 2)
    (match,) = kb.plot.matched(run, data)
    assert len(match.time) == 51
    inner = np.isin(np.round(match.time, 6), np.round(run.time, 6))
    assert np.abs(match.ours[inner] - run["crank.angle"]).max() < 1e-12
    stretched = kb.plot.read_measured(path, {"crank.angle": 2.0}, time_scale=0.5)
    assert stretched.time[-1] == pytest.approx(0.045)
    assert stretched.columns["crank.angle"][0] == 180.0


@pytest.mark.parametrize(
    "text",
    [
        "# made by hand\ntime;x [mm]\n0,0;1000,5\n0,01;1001\n",
        "time\tx [mm]\n0.0\t1000.5\n0.01\t1001\n",
        "t x[mm]\n0 1000.5\n0.01 1001\n",
        "\ufefftime, x [mm]\n0.0, 1000.5\n\n0.01, 1001\n",
    ],
)
def test_tables_of_other_programs_are_read(elsewhere, text):
    (elsewhere / "m.txt").write_text(text, encoding="utf-8")
    data = kb.plot.read_measured("m.txt")
    assert data.time.tolist() == [0.0, 0.01]
    assert data.columns["x"] == pytest.approx([1.0005, 1.001])


def test_a_run_saved_as_a_table_lies_on_itself(elsewhere):
    run = small_run()
    run.save("run.csv")
    matches = {match.column: match for match in kb.plot.matched(run, "run.csv")}
    assert {"crank.angle", "rate(crank.angle)", "outputs:height", "actuation:motor"} <= set(matches)
    assert {"residual:pin.x", "constraint_force:crank.angle"} <= set(matches)
    assert max(match.root_mean_square for match in matches.values()) < 1e-12
    assert matches["actuation:motor"].unit == "N*m"


def test_missing_samples_are_left_out_and_a_run_that_broke_off_counts_as_far_as_it_went(elsewhere):
    (elsewhere / "m.csv").write_text("time,crank.angle\n0.0,1.0\n0.005,\n0.01,1.0\n0.05,1.0\n", encoding="utf-8")
    (match,) = kb.plot.matched(small_run(), "m.csv")
    assert match.time.tolist() == [0.0, 0.01, 0.05]
    (match,) = kb.plot.matched(broken_run(), "m.csv")
    assert match.time.tolist() == [0.0, 0.01]


def test_both_are_drawn_with_unit_and_difference(elsewhere):
    run = small_run()
    path = write(elsewhere / "m.csv", ("time", "a", "spare"), (run.time, run["crank.angle"] + 0.5, run.time))
    figure = kb.plot.over(run, path, {"a": "crank.angle"})
    (axes,) = figure.axes
    assert axes.get_ylabel() == "angle [rad]"
    assert [line.get_label() for line in axes.lines] == ["m.csv: a", "crank.angle"]
    assert any("RMS difference 0.5 rad, largest 0.5 rad" in text.get_text() for text in axes.texts)
    assert figure.get_supxlabel() == "not drawn: spare"


def test_the_command_draws_and_prints_the_differences(capsys, elsewhere):
    run = small_run()
    write(elsewhere / "m.csv", ("time [ms]", "x [mm]"), (1e3 * run.time - 20, 1e3 * run["crank.tip.x"] + 2))
    arguments = ["plot", "run.nc", "--over", "m.csv", "--map", "x=crank.tip.x", "--time-shift", "0.02"]
    assert invoke([*arguments, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["file"] == "run-over.png"
    assert said["columns"][0]["root_mean_square"] == pytest.approx(2e-3)
    assert (elsewhere / "run-over.png").stat().st_size > 10_000
    assert invoke(arguments) == 0
    printed = capsys.readouterr().out
    for words in ("m.csv minus ours", "crank.tip.x", "RMS difference", "0.002", "picture: run-over.png"):
        assert words in printed
    assert invoke([*arguments[:6], "--time-shift", "0.02", "--scale", "x=1e-3", "-o", "o.svg", "--quiet"]) == 0
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "expected a line of headings and lines of numbers, got 0 lines"),
        ("time,x\n", "expected a line of headings and lines of numbers, got 1 line."),
        ("0.0,1.0\n0.1,2.0\n", "line 1: expected headings such as time,x, got numbers"),
        ("time,x\n0,1\n0.01,one\n", "line 3, column x: expected a number, got 'one'"),
        ("time,x\n0,1\n0.01\n", "line 3: expected 2 numbers, got 1"),
        ("time,x\n0,1\n0,2\n", "expected times that increase, got 0 after 0"),
        ("time,x\n,1\n0,2\n", "expected times, one finite number per sample"),
        ("when,x\n0,1\n1,2\n", "expected a column time or t, got when, x"),
        ("time,x,x\n0,1,1\n1,2,2\n", "expected headings with one name each, got 'x'"),
        ("time [fortnights],x\n0,1\n1,2\n", "the times are in 'fortnights', which is not known"),
        ("time,height [V]\n0,1\n1,2\n", "column height is in 'V', which is not known. Say what takes it to SI"),
        ("time,x\n0,1\n1,2\n", "none of its columns is a quantity of sample: x. Say what one is: --map"),
        ("time,height\n7,1\n8,2\n", "no sample between 0 and 0.05 s, the time of the run; its times go from 7 to 8"),
    ],
)
def test_a_wrong_file_is_one_line(capsys, elsewhere, text, words):
    (elsewhere / "m.csv").write_text(text, encoding="utf-8")
    assert invoke(["plot", "run.nc", "--over", "m.csv"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--over", "none.csv"), "none.csv: no such file"),
        (("--over", "run.nc"), "expected a table of text, got another file"),
        (("--over", "m.csv", "--map", "y=height"), "m.csv: no column 'y'"),
        (("--over", "m.csv", "--map", "x=crank.angl"), "did you mean crank.angle"),
        (("--over", "m.csv", "--map", "x=moter"), "did you mean motor"),
        (("--over", "m.csv", "--map", "x"), "--map x: expected --map COLUMN=..."),
        (("--over", "m.csv", "--scale", "x=big"), "--scale x=big: expected a number, got 'big'"),
        (("--over", "m.csv", "--scale", "y=2"), "no column 'y' to scale"),
        (("--over", "m.csv", "--time-scale", "0"), "expected a time_scale above 0"),
        (("--over", "m.csv", "--figure", "energy"), "--over m.csv: is a figure of its own"),
        (("--over", "m.csv", "run.nc"), "--over m.csv: is a figure of its own"),
        (("--map", "x=height"), "--map: is for measured data. Name their file too"),
        (("--time-shift", "1"), "--time-shift: is for measured data"),
    ],
)
def test_flags_that_do_not_fit_are_one_line(capsys, elsewhere, arguments, words):
    (elsewhere / "m.csv").write_text("time,x\n0,1\n0.05,2\n", encoding="utf-8")
    assert invoke(["plot", "run.nc", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err


def test_columns_are_as_long_as_the_times():
    with pytest.raises(FileError, match="expected 2 samples of x"):
        kb.plot.Measured("mine", np.array([0.0, 1.0]), {"x": np.zeros(3)})
    with pytest.raises(KalabaError, match=r"read_measured.scale: expected"):
        kb.plot.read_measured("m.csv", {"x": "two"})
