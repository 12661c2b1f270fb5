"""Natural frequencies of a cantilever, from polynomials that know nothing of its modes."""

from functools import partial
from time import perf_counter

import numpy as np
from scipy.optimize import brentq

import kalaba as kb
from benchmarks.validation.problem import Figure, Kind, Measured, Problem

LENGTH, EDGE, DENSITY, YOUNG = 5.0, 0.05, 2780.0, 69e9  # m, m, kg/m³, N/m²
SHAPES, COMPARED = 8, 3
TIP_MASS = DENSITY * EDGE**2 * LENGTH  # kg: as heavy as the beam


def machine(tip_mass: float) -> kb.System:
    """A square beam welded to the world, bending in one plane, without gravity."""
    section, shapes = kb.Rectangle(EDGE, EDGE), kb.Polynomial(SHAPES)
    beam = kb.Beam(LENGTH, section, density=DENSITY, young=YOUNG, shapes=shapes, bending=(kb.Y,), tip_mass=tip_mass)
    return kb.System("cantilever", (kb.Body("beam", beam, joint=kb.Weld()),), gravity=(0, 0, 0))


def exact(ratio: float) -> list[float]:
    """Frequencies in Hz: 1 + cos x cosh x = μ x (sin x cosh x − cos x sinh x), μ the tip's mass by the beam's."""

    def zero(x):
        return 1 / np.cosh(x) + np.cos(x) + ratio * x * (np.cos(x) * np.tanh(x) - np.sin(x))

    roots = [brentq(zero, max(0.1, (i - 0.999) * np.pi), i * np.pi, xtol=1e-14) for i in range(1, COMPARED + 1)]
    bending, line = YOUNG * EDGE**4 / 12, DENSITY * EDGE**2
    return [float(x**2 * np.sqrt(bending / (line * LENGTH**4)) / (2 * np.pi)) for x in roots]


def figures() -> tuple[Figure, ...]:
    """The first three frequencies of the bare beam and of one with a mass at its tip."""
    held = partial(
        Figure, unit="Hz", kind=Kind.CLOSED_FORM, reason="eight polynomials come this near", is_stepped=False
    )
    bare, loaded = exact(0.0), exact(1.0)
    return (
        *(held(f"frequency {i}", f, tolerance=2e-6 * f) for i, f in enumerate(bare, 1)),
        *(
            held(f"frequency {i} with a tip as heavy as the beam", f, tolerance=2e-6 * f)
            for i, f in enumerate(loaded, 1)
        ),
    )


def measure(**_) -> Measured:
    """Ask for the frequencies; nothing is simulated."""
    plants = [kb.build(machine(mass)) for mass in (0.0, TIP_MASS)]
    began = perf_counter()
    hertz = [kb.frequencies(plant).hertz[:COMPARED] for plant in plants]
    return Measured(tuple(np.concatenate(hertz)), perf_counter() - began, 0.0)


PROBLEM = Problem(
    "Cantilever frequencies",
    "A square beam of 5 m clamped at one end, bare and with a mass at its tip, described by eight polynomials, not by "
    "its modes; `kb.frequencies`.",
    ("closed form: Euler and Bernoulli's beam, x = 1.8751, 4.6941, 7.8548 where the tip is bare",),
    figures,
    measure,
)
