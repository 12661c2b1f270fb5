"""A report is one valid page below 5 MB that fetches nothing and says all there is to say of a run."""

import getpass
import platform
import re
import socket
from functools import cache
from pathlib import Path

import pytest

import kalaba as kb
from kalaba.errors import FileError, ModelError
from kalaba.robots.catalogue import ENTRIES, scenario
from kalaba.view.report import composed
from unit.results.samples import broken_run, small_run
from unit.view.strict_html import strict

SECTIONS = {"motion", "trust", "mobility", "source", "parts", "numbers", "sizes", "timing", "provenance"}
VARIED = {"four-bar": 0.2, "floating-flexible-arm": 0.05, "differential-drive": 0.2, "planar-parallel": 0.1}


def short_run(name: str, seconds: float) -> kb.Run:
    chosen = scenario(name)
    stepper = chosen.stepper or kb.RungeKutta4()
    return kb.simulate(chosen.system, seconds, stepper=stepper, control=chosen.control, check=False)


def check(text: str) -> str:
    """Judge a page; gives its words."""
    found = strict(text)
    assert found.problems == []
    assert found.ids >= SECTIONS
    assert len(text.encode()) < 5e6
    return " ".join(found.words)


def test_a_page_that_is_not_valid_is_found():
    bad = '<!DOCTYPE html><html><head><title>x</title></head><body><main><p id="a"><img src="https://x.y/z.png">'
    words = strict(f'{bad}</p><div id="a"></main></body></html>').problems
    for problem in ("img without words", "fetches https://x.y/z.png", "id a twice", "/main closes ['div']"):
        assert problem in words


@pytest.mark.parametrize(("name", "seconds"), VARIED.items())
def test_a_report_of_a_machine_is_valid_and_complete(tmp_path, name, seconds):
    run = short_run(name, seconds)
    words = check(kb.report(run, tmp_path / "report.html").read_text(encoding="utf-8"))
    entry = ENTRIES[name]
    assert entry.source in words
    for erratum in entry.errata:
        assert erratum.correct in words
    for parameter in run.plant.machine.parameters:
        assert parameter.value == 0 or parameter.name in words
    for coordinate in run.plant.coordinates:
        assert coordinate in words
    assert kb.__version__ in words
    assert platform.python_version() in words


@pytest.mark.long
@pytest.mark.parametrize("name", ENTRIES)
def test_every_catalogue_entry_has_a_report(tmp_path, name):
    check(kb.report(name, tmp_path / "report.html").read_text(encoding="utf-8"))


@cache
def own_words() -> str:
    """What the report of a machine of one's own says."""
    return check(composed(small_run()))


def test_a_machine_of_ones_own_has_a_report_too():
    assert "A machine of one's own" in own_words()
    assert "crank.length" in own_words()


def test_a_run_that_broke_off_says_so():
    words = check(composed(broken_run()))
    assert "not finite" in words
    assert "sample: stopped at t = 0.03 s: …" in words


def test_a_file_is_reported_like_the_run_in_it(tmp_path):
    small_run().save(tmp_path / "run.nc")
    words = check(kb.report(tmp_path / "run.nc", tmp_path / "report.html").read_text(encoding="utf-8"))
    assert "crank.length" in words


def test_no_names_of_people_or_places():
    secrets = {str(Path.home()), str(Path.cwd()), socket.gethostname(), getpass.getuser()}
    assert [secret for secret in secrets if re.search(rf"(?<!\w){re.escape(secret)}(?!\w)", own_words())] == []


def test_words_of_a_machine_are_escaped():
    run = short_run("four-bar", 0.01)
    system = kb.System("a<b>&c", run.plant.system.parts, start=run.plant.system.start)
    plant = kb.build(system, backend=kb.Interpreted())
    text = composed(kb.simulate(plant, 0.01, stepper=kb.RungeKutta4(5e-3)))
    check(text)
    assert "<h1>a&lt;b&gt;&amp;c</h1>" in text


@pytest.mark.parametrize(
    ("given", "place", "error", "words"),
    [
        ("four-bat", "report.html", ModelError, "did you mean four-bar"),
        ("none.nc", "report.html", FileError, "no such file"),
        ("four-bar", "report.pdf", FileError, r"ends in \.html"),
        ("four-bar", "nowhere/report.html", FileError, "no directory"),
    ],
)
def test_what_cannot_be_reported_is_refused(tmp_path, given, place, error, words):
    with pytest.raises(error, match=words):
        kb.report(given, tmp_path / place)
