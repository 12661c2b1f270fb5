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
from kalaba.robots.papers.shelf import PAPERS, paper_of
from kalaba.view.figures import sources
from kalaba.view.report import composed
from kalaba.view.report.paper import paper_sections
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


@pytest.fixture
def quickly(monkeypatch) -> None:
    """Let runs that panels of papers ask for be short ones, by the plain loop."""

    def short(chosen: kb.Scenario) -> kb.Run:
        plant = kb.build(chosen.system, backend=kb.Interpreted())
        return kb.simulate(plant, 0.02, control=chosen.control, stepper=kb.RungeKutta4(1e-2), check=False)

    monkeypatch.setattr(sources, "simulated", short)


@pytest.mark.usefixtures("quickly")
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


@pytest.mark.usefixtures("quickly")
def test_the_paper_of_a_machine_is_in_its_report_with_figures_numbers_and_items(tmp_path):
    """Of a saved run too; one line of the table per claim of the panels, ours beside it."""
    short_run("planar-parallel", 0.1).save(tmp_path / "run.nc")
    asked: list[str] = []
    text = kb.report(tmp_path / "run.nc", tmp_path / "report.html", progress=asked.append).read_text(encoding="utf-8")
    words, paper, entry = check(text), paper_of("planar-parallel"), ENTRIES["planar-parallel"]
    assert asked == ["tracking=True", "control=servo", "control=printed", "control=printed-motors"]
    assert 'alt="planar-parallel: figures of its paper, ours over its claims"' in text
    assert paper.citation.text in words
    assert paper.answer in words
    claims = [claim for panel in entry.figures.panels for claim in panel.claims]
    assert [claim.text for claim in claims if claim.text not in words] == []
    assert [item.key for item in paper.items if item.gives_and_why not in words] == []


def test_a_machine_that_is_from_no_paper_has_no_such_section():
    run = short_run("four-bar", 0.01)
    assert paper_sections(run, ENTRIES["four-bar"], None) == ()
    assert paper_sections(run, None, None) == ()


def test_figures_that_cannot_be_drawn_are_said_and_the_report_is_whole(monkeypatch):
    def refused(_: kb.Scenario) -> kb.Run:
        raise ModelError("planar-parallel: the loop cannot close")

    monkeypatch.setattr(sources, "simulated", refused)
    words = check(composed(short_run("planar-parallel", 0.01)))
    assert "The paper's figures could not be drawn: planar-parallel: the loop cannot close" in words


@pytest.mark.long
@pytest.mark.parametrize("name", [paper.machines[0] for paper in PAPERS])
def test_figures_of_papers_leave_a_report_below_five_megabytes(tmp_path, name):
    words = check(kb.report(name, tmp_path / "report.html").read_text(encoding="utf-8"))
    assert paper_of(name).citation.text in words


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
