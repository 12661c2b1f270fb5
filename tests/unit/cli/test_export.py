"""`kalaba export` and `kalaba derive`: by suffix, with one line for whatever is wrong."""

import json

import pytest

from kalaba.cli.application import invoke


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("name", "begin"), [("eq.tex", r"\documentclass"), ("eq.py", '"""Equations of motion')])
def test_the_suffix_says_what_is_written(name, begin, elsewhere, capsys):
    assert invoke(["export", "four-bar", "-o", name]) == 0
    assert capsys.readouterr().out == f"written: {name}\n"
    assert (elsewhere / name).read_text(encoding="utf-8").startswith(begin)


def test_numbers_that_are_set_are_printed(elsewhere):
    assert invoke(["export", "four-bar", "-o", "eq.tex", "--set", "crank.mass=0.625", "--method", "kane"]) == 0
    assert "0.625" in (elsewhere / "eq.tex").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["four-bar", "-o", "eq.docx"], "ends in .tex, .py, .c"),
        (["four-bar", "-o", "eq"], "no suffix"),
        (["four-bar", "-o", "nowhere/eq.tex"], "no directory nowhere"),
        (["four-bra", "-o", "eq.tex"], "four-bar"),
        (["four-bar", "-o", "eq.tex", "--function", "servo"], "--function servo: only C has it"),
        (["four-bar", "-o", "eq.py", "--allocation", "min-max"], "--allocation min-max: only C has it"),
        (["four-bar", "-o", "eq.c", "--method", "kane"], "--method kane"),
        (["four-bar", "-o", "eq.c", "--allocation", "most"], "--allocation most"),
        (["four-bar"], "--output"),
    ],
)
def test_what_is_wrong_is_said_on_one_line(arguments, said, elsewhere, capsys):
    assert invoke(["export", *arguments]) == 2
    caught = capsys.readouterr()
    assert said in caught.err
    assert len(caught.err.strip().splitlines()) == 1
    assert list(elsewhere.iterdir()) == []


def test_c_is_written_with_a_header_and_a_test_program(elsewhere, capsys):
    assert invoke(["export", "four-bar", "-o", "bar.c"]) == 0
    assert {path.name for path in elsewhere.iterdir()} == {"bar.c", "bar.h", "bar_test.c"}
    assert capsys.readouterr().out.count("written: ") == 3


def test_derive_shows_all_methods_side_by_side(capsys):
    assert invoke(["derive", "four-bar"]) == 0
    out = capsys.readouterr().out
    assert "lagrange" in out
    assert "partial velocities of crank" in out
    assert "outward, velocity of rocker" in out


def test_steps_are_written_out_with_the_method_in_formulas(capsys):
    assert invoke(["derive", "four-bar", "--method", "lagrange", "--steps"]) == 0
    out = capsys.readouterr().out
    assert "d/dt ∂T/∂q̇" in out
    assert "1/6*crank.mass*crank.length^2*rate(crank.angle)^2" in out
    assert "kane" not in out


def test_derive_gives_json(capsys):
    assert invoke(["derive", "four-bar", "--json", "--method", "kane", "--steps"]) == 0
    found = json.loads(capsys.readouterr().out)["derivations"]["kane"]
    assert found["matrices"]["M"]["size"] == [3, 3]
    assert found["matrices"]["M"]["operations"] > 0
    assert found["steps"]["spring forces"]["text"] == {}
