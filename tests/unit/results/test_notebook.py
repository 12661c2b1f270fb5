"""What notebooks show: whole, escaped, quick, and never an error."""

from html.parser import HTMLParser

import numpy as np
import pytest

import kalaba as kb
from kalaba.robots.catalogue import ENTRIES
from unit.results.samples import broken_run, small_run

VOID = {"br", "rect", "meta"}


class Nesting(HTMLParser):
    """Notes tags that are closed in another order than they were opened."""

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def whole(text):
    parser = Nesting()
    parser.feed(text)
    return parser.open == []


@pytest.mark.parametrize("name", sorted(ENTRIES))
def test_systems_and_equations_show_themselves(name):
    system = kb.load(name)
    equations = kb.derive(system)
    shown = system._repr_html_(), equations._repr_html_(), equations._repr_latex_()
    assert whole(shown[0])
    assert whole(shown[1])
    assert shown[2].count("$$") % 2 == 0


def test_a_small_machine_shows_its_mass_matrix():
    pole = kb.Body("pole", kb.Rod(length=0.5, mass=0.2), joint=kb.Revolute(kb.Y))
    assert r"M = \begin{pmatrix}" in kb.derive(kb.System("pole", (pole,)))._repr_latex_()


@pytest.mark.parametrize("run", [small_run, broken_run])
def test_a_run_shows_its_ending_and_its_curves(run):
    shown = run()
    text = shown._repr_html_()
    assert whole(text)
    assert shown.status.ending.value in text
    assert "<svg" in text


def test_gaps_and_single_samples_are_no_error():
    from kalaba.results.notebook import panel

    time_of, values = np.linspace(0, 1, 5), np.full((5, 2), np.nan)
    assert panel("x", time_of, values, ["a", "b"]) == ""
    values[2] = 1.0
    assert whole(panel("x", time_of, values, ["a", "<b>"]))
    assert panel("x", time_of[:1], values[:1], ["a", "b"]) == ""


def test_mobility_shows_freedoms_and_dependent_rows():
    text = kb.check(kb.load("four-bar"))._repr_html_()
    assert whole(text)
    assert "<b>1 freedom</b>" in text
    assert "pin.rx" in text


def test_words_are_escaped():
    text = kb.System("a<b>&c", (kb.Body("cart", kb.Solid(1.0), joint=kb.Prismatic(kb.X)),))._repr_html_()
    assert "<b>&c" not in text
    assert "a&lt;b&gt;&amp;c" in text
