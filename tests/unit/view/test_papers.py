"""Presets of the papers: every expression exists, every claim is read off as it says, ours is drawn over it."""

from functools import cache

import numpy as np
import pytest

import kalaba as kb
from kalaba.plant.laws import read
from kalaba.results.observe import MOMENTUM_WORDS
from kalaba.robots import recognise
from kalaba.robots.catalogue import ENTRIES, load, scenario
from kalaba.robots.published import Claim, Line, Measure, PaperFigures, PaperPanel
from kalaba.view.figures import sources as drawing
from kalaba.view.figures.reading import FORCE, GRASP

WITH_FIGURES = [name for name, entry in ENTRIES.items() if entry.figures is not None]
PAPERS = {
    "Dong": "dual-mobile-arm",
    "Sun": "three-arm-screw",
    "Liao": "floating-flexible-arm",
    "Dou": "pus-upu",
    "Han": "planar-parallel",
}


def test_all_five_papers_have_figures():
    assert {PAPERS[author] for author in PAPERS} <= set(WITH_FIGURES)
    for author, name in PAPERS.items():
        assert author in ENTRIES[name].source
        assert author in ENTRIES[name].figures.title


@pytest.mark.parametrize("name", WITH_FIGURES)
def test_every_line_of_a_preset_can_be_read_off_its_machine(name):
    plants = {}
    for panel in ENTRIES[name].figures.panels:
        assert panel.title
        for line in (*panel.lines, *panel.published):
            options = {**panel.options, **line.options}
            plant = plants.setdefault(repr(options), kb.build(load(name, **options), backend=kb.Interpreted()))
            known = {*plant.actuators, *plant.outputs, *plant.constraints, *(FORCE + v for v in plant.velocities)}
            known |= set(MOMENTUM_WORDS)
            known |= {f"{word}:{c.name}" for word in GRASP for c in plant.machine.connections}
            for text in (line.expression, *panel.across):
                assert text in known or read(plant, text, "preset")


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        (Measure.PEAK, 4.0),
        (Measure.LARGEST, 2.0),
        (Measure.PEAK_DIFFERENCE, 2.0),
        (Measure.PEAK_RATIO, 100.0),
        (Measure.LARGEST_DIFFERENCE, 3.0),
    ],
)
def test_a_claim_is_measured_as_it_says(measure, expected):
    time = np.array([0.0, 1.0, 2.0])
    lines = [
        drawing._Drawn("a", time, np.array([0.0, 1.0, -4.0])),
        drawing._Drawn("b", time, np.array([1.0, -2.0, -2.0])),
    ]
    lines[0].y[1], lines[1].y[0] = 1.0, 2.0
    assert drawing._found(Claim("x", 1.0, "m", measure), lines) == pytest.approx(expected)


def quick(chosen: kb.Scenario, seconds: float = 0.05) -> kb.Run:
    """A short run of a scenario, without compiling."""
    plant = kb.build(chosen.system, backend=kb.Interpreted())
    return kb.simulate(plant, seconds, control=chosen.control, stepper=kb.RungeKutta4(1e-2))


@cache
def planar() -> kb.Run:
    return quick(scenario("planar-parallel"), 0.1)


def test_a_run_serves_for_the_panels_that_it_is_a_run_of(monkeypatch):
    """Panels on tracking and on laws as printed need runs of their own, the others do not."""
    asked = []
    monkeypatch.setattr(drawing, "simulated", quick)
    figure = drawing.papers(planar(), progress=asked.append)
    assert asked == ["tracking=True", "control=servo", "control=printed", "control=printed-motors"]
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert titles[0] == "figure 3: end points under 0.1 cos(πt) N·m"
    ends = [
        line.get_xdata()[-1] for axes in figure.axes if "figure 4" in axes.get_title(loc="left") for line in axes.lines
    ]
    assert ends == [pytest.approx(0.1)] * 6


def test_other_numbers_are_said_and_go_to_the_runs_beside(monkeypatch):
    chosen = scenario("planar-parallel", {"leg1.link_a.mass": 2.5})
    made = []

    def beside(other):
        made.append({p.name: p.value for p in other.system.machine.parameters}["leg1.link_a.mass"])
        return quick(other)

    monkeypatch.setattr(drawing, "simulated", beside)
    figure = drawing.papers(quick(chosen))
    assert made == [2.5] * 4
    assert figure.get_supxlabel() == "with other numbers than the catalogue's: leg1.link_a.mass = 2.5"


def test_ours_and_the_claim_stand_under_and_across_a_panel():
    run = planar()
    claim = Claim("largest torque", 0.2, "N*m", is_drawn=True)
    panel = PaperPanel("figure 9", "N*m", (Line("motor", "leg1.motor"),), claims=(claim,))

    class Only:
        def of(self, options):
            return run

    drawn, _ = drawing._panel(panel, Only())
    assert drawn.remarks == ("largest torque: ours 0.1 N·m, published 0.2 N·m",)
    assert [level.value for level in drawn.levels] == [0.2]
    assert drawn.label == "torque [N·m]"


def test_a_line_that_is_never_above_the_floor_is_drawn_at_it():
    run = planar()
    lines = (Line("nothing", "0*t"), Line("time", "t"))
    panel = PaperPanel("figure 9", "s", lines, is_logarithmic=True, claims=(Claim("all", 1.0, "s"),))

    class Only:
        def of(self, options):
            return run

    drawn, _ = drawing._panel(panel, Only())
    assert np.all(drawn.curves[0].y == drawing.DRAWN_FLOOR)
    assert np.nanmax(drawn.curves[1].y) == pytest.approx(0.1)
    assert drawn.remarks == ("all: ours 0.1 s, published 1 s", "at 1e-18 what is never larger: nothing")


def test_kinds_of_control_tell_runs_of_one_machine_apart():
    servo, hybrid = (scenario("pus-upu", control=kind) for kind in ("servo", "hybrid"))
    assert recognise._kind(recognise._words(servo)) == "Servo"
    assert recognise._kind(recognise._words(hybrid)) == "Hybrid"
    assert recognise._kind("motor: 0.2*(10 - rate(crank.angle))") == ""


def test_a_preset_is_data():
    assert PaperFigures("title").panels == ()
    assert PaperPanel("t", "m", ()) == PaperPanel("t", "m", ())


def test_runs_whose_motors_get_other_expressions_are_told_apart():
    """The same machine under other torques is no run of a panel."""
    sine, square = (scenario("floating-flexible-arm", modes=1, case=case) for case in ("a", "b"))
    run = quick(sine)
    assert recognise.is_scenario(run, sine)
    assert not recognise.is_scenario(run, square)


def test_runs_along_another_path_are_no_runs_of_a_panel():
    usual, wider = (scenario("planar-parallel", control="servo", stroke=stroke) for stroke in (0.01, 0.02))
    run = quick(wider)
    assert recognise.is_told_by(run, wider)
    assert recognise.is_scenario(run, usual)  # the same machine under the same kind of control
    assert not recognise.is_told_by(run, usual)


def test_a_line_by_the_source_s_own_method_is_simulated_by_it(monkeypatch):
    chosen = scenario("floating-flexible-arm", modes=1)
    run, made = quick(chosen), []
    stepper = kb.WilsonTheta(1e-2)
    panel = PaperPanel(
        "figure 9", "m", (Line("ours", "xc"), Line("theirs", "xc", stepper=stepper)), options={"modes": 1}
    )

    def beside(other):
        made.append(other.stepper)
        return run

    monkeypatch.setattr(drawing, "simulated", beside)
    entry, figures = ENTRIES["floating-flexible-arm"], PaperFigures("title", (panel,))
    drawing._panel(panel, drawing._Runs(run, entry, figures, lambda _: None))
    assert made == [stepper]
