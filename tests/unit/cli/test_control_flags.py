"""`--allocation` and `--control`: short for options of the machines that have them."""

import json

import pytest

from kalaba.cli.application import invoke

SHORT = ("--duration", "0.05", "-o", "run.nc", "--json")


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def peak(capsys, *arguments) -> float:
    assert invoke(["run", "pus-upu", *arguments]) == 0
    return abs(json.loads(capsys.readouterr().out)["actuation"]["value"])


def test_the_load_is_shared_as_asked(capsys):
    least, set_so, smallest = (
        peak(capsys, *flags, *SHORT)
        for flags in ((), ("--set", "allocation=least-squares"), ("--allocation", "min-max"))
    )
    assert least == set_so
    assert smallest < least - 1.0


@pytest.mark.long
def test_the_drives_of_the_experiment_are_set_and_what_was_measured_is_said(capsys):
    plain, rubbing = (peak(capsys, "--control", "hybrid", *more, *SHORT) for more in ((), ("--set", "friction=25")))
    assert abs(rubbing - plain) > 0.05
    assert invoke(["run", "pus-upu", "--control", "hybrid", "--duration", "0.05", "-o", "run.nc"]) == 0
    said = capsys.readouterr().out
    assert "published: peaks of about 380 N with six motors and 700 N with five, measured" in " ".join(said.split())


def test_five_motors_are_compared_with_six(capsys):
    arguments = ("compare", "pus-upu", "--vary", "actuators=1-5,1-6", "--duration", "1.5", "--json", "-o", "c.csv")
    assert invoke(arguments) == 0
    five, six = (variant["peaks"] for variant in json.loads(capsys.readouterr().out)["variants"])
    assert five["leg6.motor"] is None
    motors = [f"leg{i}.motor" for i in range(1, 6)]
    assert max(six[name] for name in motors) < 350
    assert max(five[name] for name in motors) > 400


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ("four-bar", "--allocation", "min-max"),
            "--allocation min-max: four-bar has no option 'allocation'; known names: gain, speed",
        ),
        (("pus-upu", "--control", "servos"), "pus-upu.control: expected 'servo' or 'hybrid', got 'servos'"),
        (("pus-upu", "--control", "servo", "--set", "control=hybrid"), "--control servo: control is given twice."),
    ],
)
def test_what_cannot_be_chosen_is_refused_in_one_line(capsys, arguments, words):
    assert invoke(["run", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.err.startswith(words)
    assert captured.err.count("\n") == 1


def test_a_file_that_has_no_laws_to_choose_says_where_laws_are_written(capsys, tmp_path):
    (tmp_path / "one.urdf").write_text('<robot name="one"><link name="a"/></robot>')
    assert invoke(["run", "one.urdf", "--control", "servo"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("--control servo: one.urdf has no option 'control'; a file says who drives it: save it as")
