"""`kalaba compare`: one run a value, peaks, differences, a picture or a table."""

import csv
import json
import re
from importlib import import_module

import pytest

from kalaba.cli.application import invoke
from kalaba.cli.variants import as_tables, rounded, variant_of
from unit.results.samples import broken_run, small_run

SIMULATE = import_module("kalaba.run.simulate")

FOUR_BAR = ("compare", "four-bar", "--vary", "crank.mass=0.3,0.6", "--duration", "0.05")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_parameter_is_varied_and_drawn(capsys, elsewhere):
    assert invoke(FOUR_BAR) == 0
    out = capsys.readouterr().out
    for words in ("crank.mass", "crank.angle [rad]", "motor [N*m]", "wall time [s]", "difference to crank.mass=0.6"):
        assert words in out
    assert (elsewhere / "compare.png").stat().st_size > 10_000


def test_an_option_is_varied_and_tips_are_in_millimetres(capsys):
    arguments = ("compare", "floating-flexible-arm", "--vary", "modes=1,2", "--duration", "0.02", "--json")
    assert invoke(arguments) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["units"]["link2.tip_deflection"] == "mm"
    first, last = said["variants"]
    assert (first["values"], last["values"]) == ({"modes": "1"}, {"modes": "2"})
    assert 0 < first["differences"]["link2.tip_deflection"] < 10
    assert set(last["differences"].values()) == {0.0}
    assert abs(last["energy_balance"]) < 1e-9


def test_combinations_go_to_a_table_in_order(capsys, elsewhere):
    assert invoke([*FOUR_BAR, "--vary", "rocker.mass=1,2", "-o", "all.csv", "--quiet"]) == 0
    assert capsys.readouterr().out == ""
    with (elsewhere / "all.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    seen = dict.fromkeys((row["crank.mass"], row["rocker.mass"]) for row in rows)
    assert list(seen) == [("0.3", "1"), ("0.3", "2"), ("0.6", "1"), ("0.6", "2")]
    assert float(rows[0]["crank.angle [rad]"]) == 1.0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "nothing to compare"),
        (("--vary", "modez=1,2"), "did you mean modes"),
        (("--vary", "link2.lenth=1,2"), "no parameter 'link2.lenth'"),
        (("--vary", "modes=1,99"), "from 1 to 20, got 99"),
        (("--vary", "modes"), "expected key=value"),
        (("--vary", "link2.length=1,long"), "--vary link2.length=long: expected a number"),
        (("--vary", "modes=1,2", "--set", "modes=3"), "given twice"),
        (("--vary", "modes=1,2", "-o", "out.txt"), ".csv"),
    ],
)
def test_what_cannot_be_compared_is_refused_in_one_line(capsys, arguments, words):
    assert invoke(["compare", "floating-flexible-arm", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err


def test_a_variant_that_breaks_off_is_named_and_ends_in_2(capsys, elsewhere, monkeypatch):
    runs = iter([small_run(), broken_run()])
    monkeypatch.setattr(SIMULATE, "simulate", lambda *_, **__: next(runs))
    assert invoke(FOUR_BAR) == 2
    captured = capsys.readouterr()
    assert captured.err.strip() == f"crank.mass=0.6: {broken_run().status.message}"
    assert "crank.mass" in captured.out
    assert (elsewhere / "compare.png").stat().st_size > 10_000


def test_missed_goals_have_a_column_and_rounding_is_zero(capsys, elsewhere):
    """Two laws: gaps of closed loops and motors that rest are zero in print, a missed goal is not."""
    arguments = ("compare", "planar-parallel", "--vary", "control=servo,ideal", "--duration", "1", "-o")
    assert invoke([*arguments, "laws.csv", "--json"]) == 0
    servo, ideal = json.loads(capsys.readouterr().out)["variants"]
    assert servo["peaks"]["missed goal"] < 1e-9
    assert ideal["peaks"]["missed goal"] > 1e-4
    assert ideal["peaks"]["missed goal"] == ideal["summary"]["goals"]["value"]
    with (elsewhere / "laws.csv").open(newline="") as file:
        assert float(list(csv.DictReader(file))[-1]["missed goal [m]"]) > 1e-4
    assert invoke([*arguments, "laws.png"]) == 0
    printed = capsys.readouterr().out
    assert "missed goal" in " ".join(printed.split())
    assert not re.search(r"e-[23]\d", printed)


def test_what_is_rounding_is_judged_against_its_unit():
    made = [variant_of({"a": text}, small_run()) for text in "12"]
    peaks, differences = as_tables(made)
    assert all(cell == "0" for row in differences.rows for cell in row[1:])
    assert rounded(3e-16, 1e-12) == 0.0
    assert rounded(-3e-6, 1e-12) == -3e-6
    assert peaks.columns == ("", "a=1", "a=2")
    assert [row[0] for row in peaks.rows][-1] == "wall time [s]"


def test_more_runs_than_quantities_stand_below_each_other():
    many = [variant_of({"a": str(number)}, small_run()) for number in range(40)]
    peaks, differences = as_tables(many)
    assert peaks.column("a") == tuple(map(str, range(40)))
    assert differences.column("a") == tuple(map(str, range(39)))
    assert peaks.columns[1:-3] == differences.columns[1:]


def test_unlike_machines_fit_a_page_and_share_nothing(capsys):
    """28 quantities beside each other cannot be read; below each other no name is folded."""
    assert invoke(["compare", "dual-mobile-arm", "four-bar", "--duration", "0.05"]) == 0
    out = capsys.readouterr().out
    lines = [line.rstrip() for line in out.splitlines()]
    assert max(map(len, lines)) <= 110
    assert lines[0] == "peaks"
    assert any(line.split()[:2] == ["right.motor3", "[N*m]"] for line in lines)
    assert "largest difference to machine=four-bar: none" in out
