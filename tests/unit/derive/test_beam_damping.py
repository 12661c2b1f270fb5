"""Damped beams fixed at their root: every mode, in both planes and in torsion, decays at ζω with the handbook's ω."""

from math import cos, cosh, pi

import numpy as np
import pytest
from scipy.linalg import eigh
from scipy.optimize import brentq

import kalaba as kb

LENGTH, DENSITY, YOUNG, POISSON, RATIO = 2.0, 2700.0, 70e9, 0.33, 0.03
HEIGHT, WIDTH = 0.03, 0.02
SECTION = kb.Rectangle(HEIGHT, WIDTH)
LINE = DENSITY * HEIGHT * WIDTH
MOMENTS = np.array([WIDTH * HEIGHT**3, HEIGHT * WIDTH**3]) / 12  # for bending along y and z
SPEEDS = np.sqrt(YOUNG * MOMENTS / LINE) / LENGTH**2  # ω of bending is β² times these
TWIST = np.sqrt(  # ω of torsion is (k − ½) π times this
    YOUNG / (2 * (1 + POISSON)) * SECTION.torsion_constant(float) / (DENSITY * MOMENTS.sum())
)
TORSION = TWIST / LENGTH * pi * (np.arange(3) + 0.5)


def poles(shapes: object, ratio: float = RATIO, **options: object) -> np.ndarray:
    """Those above the real axis, slowest first, of a beam welded to the ground."""
    given = {"shapes": shapes, "poisson": POISSON, "damping": ratio, **options}
    beam = kb.Beam(LENGTH, SECTION, DENSITY, YOUNG, **given)
    found = kb.linearise(kb.System("beam", (kb.Body("beam", beam, joint=kb.Weld()),), gravity=(0, 0, 0))).poles
    return found[found.imag > 0]


def pinned_squares(count: int) -> np.ndarray:
    """β⁴ of a beam that bends by x − sin(kπx)/kπ alone: K = ½ (kπ)² δ, M by the integrals of x² and of sines."""
    rates = pi * np.arange(1, count + 1)
    mixed = -np.cos(rates) / rates**2  # ∫ x sin(kπx)/kπ
    M = 1 / 3 - mixed[:, None] - mixed + np.diag(1 / (2 * rates**2))
    return eigh(np.diag(rates**2 / 2), M, eigvals_only=True)


@pytest.mark.parametrize("ratio", [0.002, 0.03, 0.4])
@pytest.mark.parametrize(
    "shapes", [kb.ClampedFree(3), kb.Polynomial(5), kb.Pinned(4), kb.ClampedClamped(3), kb.StaticTip(2)], ids=repr
)
def test_every_mode_in_both_planes_and_torsion_has_the_ratio_given(shapes, ratio):
    found = poles(shapes, ratio, bending=(kb.Y, kb.Z), torsion=3)
    assert len(found) == 2 * shapes.count + 3
    assert -found.real / np.abs(found) == pytest.approx(np.full(len(found), ratio), rel=1e-8)


def test_polynomial_shapes_decay_as_the_cantilever_of_the_handbook():
    """cos β cosh β = −1; nine shapes give the first three β² to 1e-6 and the first to rounding."""
    found = poles(kb.Polynomial(9), bending=(kb.Y, kb.Z))
    roots = [brentq(lambda b: cos(b) + 1 / cosh(b), (k + 0.3) * pi, (k + 0.7) * pi, xtol=1e-14) for k in range(3)]
    expected = RATIO * np.outer(SPEEDS, np.square(roots))
    for omega in expected.ravel():
        assert np.abs(-found.real / omega - 1).min() < 2e-6
    assert -found.real[:2] == pytest.approx(np.sort(expected[:, 0]), rel=1e-9)


def test_pinned_shapes_decay_as_their_own_closed_form():
    found = poles(kb.Pinned(4), bending=(kb.Y, kb.Z))
    expected = RATIO * np.sort(np.outer(SPEEDS, np.sqrt(pinned_squares(4))).ravel())
    assert np.sort(-found.real) == pytest.approx(expected, rel=1e-9)


def test_torsion_decays_as_the_shaft_of_the_handbook():
    """ω = (k − ½) π √(GJ/ρI_p)/L, damped without any coupling to bending."""
    found = poles(kb.Polynomial(1), torsion=3)
    bending = RATIO * SPEEDS[0] * np.sqrt(4 / 0.2)  # x²: K = ∫ 2², M = ∫ x⁴
    assert np.sort(-found.real) == pytest.approx(np.sort([bending, *(RATIO * TORSION)]), rel=1e-9)


def test_a_released_mode_loses_the_energy_that_its_ratio_says():
    """One mode of torsion from rest: the envelope of its twist is exp(−ζωt), seen after ten turns of its phase."""
    beam = kb.Beam(LENGTH, SECTION, DENSITY, YOUNG, torsion=1, poisson=POISSON, damping=RATIO)
    plant = kb.build(kb.System("shaft", (kb.Body("shaft", beam, joint=kb.Weld()),), gravity=(0, 0, 0)))
    period = 2 * pi / (TORSION[0] * np.sqrt(1 - RATIO**2))
    stepper = kb.DormandPrince(rtol=1e-10, atol=1e-13)
    run = kb.simulate(plant, 10 * period, start=([0.0, 0.1], [0.0, 0.0]), stepper=stepper, save_every=period)
    expected = 0.1 * np.exp(-RATIO * TORSION[0] * run.time)
    assert run["shaft.tip_twist"] == pytest.approx(expected, rel=1e-6)
