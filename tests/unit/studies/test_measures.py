"""Reductions over time are what their words say, and say what is wrong."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.model.text.grammar import read_expression
from kalaba.model.text.measures import parse_measure
from kalaba.studies.measures import measure_of, series
from unit.studies.oscillator import AT, STIFFNESS, machine

OMEGA = np.sqrt(STIFFNESS / 2.0)
DURATION = 2 * np.pi / OMEGA
FORCE = "3*cos(2*t) - 1"


@pytest.fixture(scope="module")
def run():
    """One period of x = x0 cos(ω t), sampled finely; the second mass only carries a motor."""
    other = kb.Body("other", kb.Box((0.1, 0.1, 0.1), 1.0), joint=kb.Prismatic(kb.X))
    system = machine().add(other, kb.Actuator("second", "other.travel"), kb.Output("square", "mass.travel^2"))
    return kb.simulate(
        system, DURATION, stepper=kb.RungeKutta4(1e-3), control={"second": FORCE}, save_every=DURATION / 1000
    )


def value(text, run):
    measure = measure_of(text, "m")
    measure.check(run.plant, "m")
    return measure.value(run, "m")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("peak(mass.travel)", AT),
        ("-peak(-mass.travel)", -AT),
        ("peak(abs(rate(mass.travel)))", AT * OMEGA),
        ("rms(mass.travel)", AT / np.sqrt(2)),
        ("mean(mass.travel)", 0.0),
        ("mean(mass.travel^2)", AT**2 / 2),
        ("mean(square)", AT**2 / 2),
        ("peak(2*square + mass.travel)", 2 * AT**2 + AT),
        ("final(mass.travel)", AT),
        ("final(t)", DURATION),
        (f"at(mass.travel, {DURATION / 3})", AT * np.cos(2 * np.pi / 3)),
        ("first(mass.travel < 0)", DURATION / 4),
        ("first(mass.travel >= 0)", 0.0),
        ("first(rate(mass.travel) > 0)", DURATION / 2),
        ("first(mass.travel < mass.travel - 1)", np.nan),
        ("at(mass.travel, 100)", np.nan),
        ("peak(mass.travel)/mass.mass + pi", AT / 2 + np.pi),
        ("final(t)/(peak(mass.travel) - peak(mass.travel))", np.inf),
        ("at(second, 0)", 2.0),
        ("mean(second)", 1.5 * np.sin(2 * DURATION) / DURATION - 1),
        ("peak(max(second, 0, mass.travel))", 2.0),
        ("at(min(second, other.mass)*2, 0)", 2.0),
        ("peak(momentum.x) - peak(momentum.x + 0*mass.travel)", 0.0),
    ],
)
def test_words_mean_what_they_say(text, expected, run):
    # samples lie DURATION/1000 apart: π²/2 of that squared, 5e-6, is how far off a peak or a trapezium may be
    assert value(text, run) == pytest.approx(expected, rel=1e-5, abs=1e-5, nan_ok=True)


def test_a_quantity_is_that_which_the_run_reads(run):
    for text in ("mass.travel", "abs(rate(mass.travel)) - 2*mass.travel", "second", "square", "distance(mass, other)"):
        assert series(run, read_expression(text)) == pytest.approx(run[text], abs=1e-15)
    mixed = series(run, read_expression("second*mass.travel - square/2"))
    assert mixed == pytest.approx(run["second"] * run["mass.travel"] - run["square"] / 2, abs=1e-15)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("mass.travel", "expected a number per run"),
        ("peak(peak(mass.travel))", "inside another reduction"),
        ("rate(peak(mass.travel))", "inside another reduction"),
        ("peak(mass.travel) + t", "changes over time"),
        ("peak(mass.travel, 2)", "takes 1 argument, not 2"),
        ("at(mass.travel)", "takes 2 arguments, not 1"),
        ("first(mass.travel)", "expected a comparison"),
        ("peak(mass.travel > 1)", "comparison|expected '\\)'"),
        ("peak(mass.travle)", "did you mean mass.travel"),
        ("first(mass.travle > 1)", "did you mean mass.travel"),
        ("peak(second + mass.travle)", "did you mean mass.travel"),
        ("peak(rate(second))", "unknown word 'second'|no rate"),
        ("peak(mass.travel)*mass.travel", "no parameter 'mass.travel'"),
        ("peak(distance(mass, nowhere))", "nowhere"),
        ("peak()", "takes 1 argument, not 0"),
        ("peek(mass.travel)", "did you mean peak"),
        ("peak", "expected a number per run"),
    ],
)
def test_a_measure_that_cannot_be_is_refused_in_one_line(text, words, run):
    with pytest.raises(kb.KalabaError, match=words) as refusal:
        value(text, run)
    assert "\n" not in str(refusal.value)


def test_words_of_measures_are_no_words_of_expressions():
    with pytest.raises(kb.KalabaError, match="unknown function 'peak'"):
        read_expression("peak(x)")
    assert str(read_expression("peak + first.rms").left.name) == "peak"


def test_a_measure_keeps_its_text():
    measure = parse_measure("peak( abs(x) ) * load.mass + first(x>2)")
    assert measure.text == "peak( abs(x) ) * load.mass + first(x>2)"
    assert [reduction.text for reduction in measure.reductions] == ["peak(abs(x))", "first(x > 2)"]
    assert measure.parameters == {"load.mass"}


def test_a_function_must_give_a_number(run):
    assert measure_of(lambda run: run.q[-1, 0], "m").value(run, "m") == pytest.approx(AT, abs=1e-5)
    with pytest.raises(kb.KalabaError, match=r"measure.m: expected a number from the function, got 'x'"):
        measure_of(lambda _: "x", "m").value(run, "m")
    with pytest.raises(kb.KalabaError, match="ZeroDivisionError"):
        measure_of(lambda _: 1 / 0, "m").value(run, "m")
