"""`kalaba report`: a page of a machine or of a saved run."""

import json

import pytest

from kalaba.cli.application import invoke
from unit.results.samples import broken_run, small_run
from unit.view.strict_html import strict


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_machine_is_run_and_reported(capsys, elsewhere):
    assert invoke(["report", "four-bar", "--set", "crank.length=0.14", "-o", "four.html"]) == 0
    assert capsys.readouterr().out == "report: four.html\n"
    found = strict((elsewhere / "four.html").read_text(encoding="utf-8"))
    assert found.problems == []
    assert "0.14" in found.words


def test_a_saved_run_is_reported(capsys, elsewhere):
    small_run().save("run.nc")
    assert invoke(["report", "run.nc", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["machine"] == "sample"
    assert said["bytes"] == (elsewhere / "run.html").stat().st_size


def test_a_run_that_broke_off_is_reported_with_its_exit_code(capsys, elsewhere):
    broken_run().save("run.nc")
    assert invoke(["report", "run.nc", "--quiet"]) == 2
    assert "not finite" in (elsewhere / "run.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("four-bat",), "did you mean four-bar"),
        (("none.nc",), "no such file"),
        (("run.nc", "--set", "crank.mass=1"), "is a run that was made"),
        (("four-bar", "-o", "report.pdf"), "ends in .html, .htm"),
        (("four-bar", "-o", "nowhere/report.html"), "mkdir -p nowhere"),
        (("four-bar", "--set", "crank.lenth=2"), "did you mean crank.length"),
    ],
)
def test_what_cannot_be_reported_is_one_line(capsys, arguments, words):
    assert invoke(["report", *arguments]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err
