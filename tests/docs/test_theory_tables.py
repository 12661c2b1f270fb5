"""The tables of measured figures in docs/theory.md are what is measured."""

import re
from math import cos, cosh, pi, sin, sinh

import numpy as np
import pytest
from scipy.optimize import brentq

import kalaba as kb
from docs.markdown import ROOT

THEORY = (ROOT / "docs" / "theory.md").read_text(encoding="utf-8")
STEPPERS = {
    "`WilsonTheta`, θ = 1.4": kb.WilsonTheta(1e-3, theta=1.4),
    "`Newmark`": kb.Newmark(1e-3),
    "`HHT`, α = 0.1": kb.HHT(1e-3, alpha=0.1),
    "`GeneralisedAlpha`, ρ = 0.8": kb.GeneralisedAlpha(1e-3, spectral_radius=0.8),
    "the same, Arnold and Brüls": kb.GeneralisedAlpha(1e-3, spectral_radius=0.8, formulation="arnold-bruls"),
    "`CentralDifference`": kb.CentralDifference(1e-3),
}


def row(first: str, section: str = "") -> list[float]:
    """The numbers of the line of a table that begins with a word, after some words of the page."""
    after = THEORY[THEORY.index(section) :]
    line = re.search(rf"^\| {re.escape(first)} \|(.*)\|$", after, re.MULTILINE)
    assert line, first
    return [float(cell.replace("−", "-")) for cell in line[1].split("|")]


@pytest.fixture(scope="module")
def arm() -> tuple[kb.Plant, dict[str, str], np.ndarray]:
    scenario = kb.scenario("floating-flexible-arm", modes=1, case="a")
    plant = kb.build(scenario.system)
    sharp = kb.simulate(plant, 1.0, stepper=kb.DormandPrince(rtol=1e-11, atol=1e-12), control=scenario.control)
    return plant, scenario.control, sharp["link2.tip_deflection"]


@pytest.mark.parametrize("name", STEPPERS)
def test_energy_and_momentum_of_structural_steppers(arm, name):
    """Two digits are given: half of the last is 5 % at most."""
    plant, control, tip = arm
    run = kb.simulate(plant, 1.0, stepper=STEPPERS[name], control=control)
    error = 1e3 * np.abs(run["link2.tip_deflection"] - tip).max()
    momentum = run.observed["momentum"]
    kept = (run.energy_balance, np.linalg.norm(momentum[:, :3], axis=1), np.abs(momentum[:, 5]))
    found = [error, *(figure for values in kept for figure in (np.abs(values).max(), values[-1]))]
    assert row(name, "error of the tip; energy less work") == pytest.approx(found, rel=0.05)


@pytest.mark.parametrize("count", [2, 3, 4, 5, 7])
def test_convergence_of_the_first_frequency(count):
    """One digit is given; at 1e-14 rounding has its part."""
    support = kb.Connection("support", "beam.tip", at=(1, 0, 0), joint=kb.PointOnLine(kb.X))
    heavy = brentq(lambda b: 1 + cos(b) * cosh(b) + b / 2 * (cos(b) * sinh(b) - sin(b) * cosh(b)), 0.5, 1.8, xtol=1e-15)
    cases = (
        (kb.Weld(), 0.0, (), 1.8751040687119611),
        (kb.Weld(), 0.5, (), heavy),
        (kb.Revolute(kb.Z), 0.0, (support,), pi),
    )
    found = []
    for joint, mass, more, root in cases:
        beam = kb.Beam(1.0, kb.Stiffness(1.0, 1.0), shapes=kb.Polynomial(count), tip_mass=mass)
        system = kb.System("beam", (kb.Body("beam", beam, joint=joint), *more), gravity=(0, 0, 0))
        found.append(2 * pi * kb.frequencies(system).hertz[0] / root**2 - 1)
    assert row(str(count), "Relative error of the first frequency") == pytest.approx(found, rel=0.35, abs=3e-14)


@pytest.mark.parametrize("name", ["clamped-free", "polynomial"])
def test_the_lowest_frequency_of_the_floating_arm(name):
    for count, expected in zip((1, 2, 3, 5, 8), row(name, "Lowest frequency of the floating arm"), strict=True):
        found = kb.frequencies(kb.load("floating-flexible-arm", modes=count, shapes=name))
        assert found.hertz[found.rigid] == pytest.approx(expected, abs=6e-4)


@pytest.mark.parametrize(("words", "mass", "ends"), [("the first mode has ", 0.5, 1), ("pinned at both ends ", 0.0, 2)])
def test_damping_of_a_beam_held_or_loaded_otherwise(words, mass, ends):
    said = float(re.search(rf"{words}([\d.]+\d)", re.sub(r"\s+", " ", THEORY))[1])
    beam = kb.Beam(1.0, kb.Stiffness(1.0, 1.0), shapes=kb.Polynomial(5), tip_mass=mass, damping=0.03)
    support = kb.Connection("support", "beam.tip", at=(1, 0, 0), joint=kb.PointOnLine(kb.X))
    parts = (kb.Body("beam", beam, joint=kb.Weld() if ends == 1 else kb.Revolute(kb.Z)), support)
    found = kb.linearise(kb.System("beam", parts[:ends], gravity=(0, 0, 0))).damping[0]
    assert found == pytest.approx(said, abs=5e-4)
