"""Natural frequencies against closed forms: pendulums, loops with springs, beams, the floating flexible arm."""

from itertools import pairwise
from math import cos, cosh, pi, sin, sinh, sqrt

import numpy as np
import pytest
from scipy.optimize import brentq

import kalaba as kb
from kalaba.errors import ConstraintError, ModelError

G = 9.81


def pendulum(angle: float = 0.0, damping: float = 0.0) -> kb.System:
    parts = (
        kb.Body("rod", kb.Rod(0.8, mass=2.0, axis=-kb.Z), joint=kb.Revolute(kb.Y)),
        kb.Spring("oil", "rod.angle", damping=damping),
    )
    return kb.System("pendulum", parts, start=kb.Start(hold={"rod.angle": angle}))


def test_a_pendulum_swings_at_the_closed_form():
    found = kb.frequencies(pendulum())
    assert found.hertz == pytest.approx([sqrt(3 * G / (2 * 0.8)) / (2 * pi)], rel=1e-13)
    assert found.shapes[0, 0] == pytest.approx(1 / sqrt(2.0 * 0.8**2 / 3), rel=1e-13)
    assert found.damping == pytest.approx([0.0], abs=0)
    assert len(found) == 1
    assert "1 freedom" in str(found)


def test_a_standing_pendulum_grows():
    found = kb.frequencies(pendulum(pi))
    assert found.growth == pytest.approx([sqrt(3 * G / (2 * 0.8))], rel=1e-12)
    assert found.hertz[0] == 0.0
    assert found.rigid == 0
    assert "grows, e-fold in 0.2332 s" in str(found)


def test_damping_is_the_ratio_to_critical():
    omega = sqrt(3 * G / (2 * 0.8))
    inertia = 2.0 * 0.8**2 / 3
    found = kb.frequencies(pendulum(damping=0.2 * inertia * omega))
    assert found.damping == pytest.approx([0.1], rel=1e-12)
    assert "damping 0.1" in str(found)


def test_off_equilibrium_it_says_so():
    with pytest.warns(
        kb.analyse.NotInEquilibriumWarning, match=r"pendulum: not an equilibrium; unbalanced: rod.angle by"
    ):
        found = kb.frequencies(pendulum(1.0))
    assert not found.is_equilibrium
    assert "(not an equilibrium)" in str(found)


def test_a_state_in_motion_is_refused():
    with pytest.raises(ModelError, match=r"expected a state at rest, got one in which rod.angle moves at 0.5"):
        kb.frequencies(pendulum(), at=kb.State(np.zeros(1), np.array([0.5])))


def test_a_hanging_double_pendulum():
    """Point masses m on massless rods l: ω² = (2 ± √2) g/l."""
    hinge, bob = kb.Revolute(kb.Y), kb.Solid(1.5, com=(0, 0, -0.6), tip=(0, 0, -0.6))
    system = kb.System("double", (kb.Body("a", bob, joint=hinge), kb.Body("b", bob, parent="a.tip", joint=hinge)))
    found = kb.frequencies(system)
    omega = np.sqrt(G / 0.6 * np.array([2 - sqrt(2), 2 + sqrt(2)]))
    assert found.hertz == pytest.approx(omega / (2 * pi), rel=1e-12)
    x = found.shapes
    plant = kb.build(system, backend=kb.Interpreted())
    assert x.T @ plant.mass_matrix(plant.start.q) @ x == pytest.approx(np.eye(2), abs=1e-12)
    assert x[1, 0] / x[0, 0] == pytest.approx(sqrt(2) - 1, rel=1e-10)  # relative angle: √2 less 1 in the slow mode
    assert found.shares.sum(axis=0) == pytest.approx([1, 1])


def test_a_pendulum_closed_by_rows_is_the_same_pendulum():
    """A free body pinned to the world: the geometric stiffness of the multipliers is all there is."""
    pinned = kb.System(
        "pinned",
        (
            kb.Body("rod", kb.Rod(0.8, mass=2.0, axis=-kb.Z)),
            kb.Connection("pin", "rod", joint=kb.Revolute(kb.Y)),
        ),
    )
    assert kb.frequencies(pinned).hertz == pytest.approx(kb.frequencies(pendulum()).hertz, rel=1e-9)
    bob = kb.Solid(2.0, com=(0, 0, -0.4), inertia=(0.1, 0.1, 0.05))
    ball = kb.System("ball", (kb.Body("bob", bob), kb.Connection("pin", "bob", joint=kb.Spherical())))
    found = kb.frequencies(ball)
    swing = sqrt(2.0 * G * 0.4 / (0.1 + 2.0 * 0.4**2)) / (2 * pi)
    assert found.hertz == pytest.approx([0.0, swing, swing], rel=1e-9)
    assert found.rigid == 1


def test_dependent_rows_change_nothing():
    """Two hinges on one axis: ten rows of rank five."""
    rod = kb.Body("rod", kb.Rod(0.8, mass=2.0, axis=-kb.Z))
    hinges = [
        kb.Connection(f"pin{i}", f"seat{i}", at=(0, y, 0), joint=kb.Revolute(kb.Y)) for i, y in enumerate((0.0, 0.3))
    ]
    seats = [kb.Frame(f"seat{i}", "rod", (0, y, 0)) for i, y in enumerate((0.0, 0.3))]
    found = kb.frequencies(kb.System("door", (rod, *seats, *hinges)))
    assert found.hertz == pytest.approx(kb.frequencies(pendulum()).hertz, rel=1e-9)


def test_a_four_bar_with_a_spring():
    """ω² = V″/m of the energy along the loop, by differences of the assembled positions."""
    spring = kb.Spring("spring", "distance(crank.tip, anchor)", stiffness=300.0, rest=0.2)
    plant = kb.build(kb.load("four-bar").add(kb.Frame("anchor", at=(0.1, 0, 0.4)), spring), backend=kb.Interpreted())
    at = kb.equilibrium(plant)
    h, zero = 2e-3, np.zeros(3)
    places = [kb.equilibrium(plant, hold={"crank.angle": at.q[0] + k * h}).q for k in (-2, -1, 0, 1, 2)]
    V = [plant.energy(q, zero).potential for q in places]
    curvature = (-V[0] + 16 * V[1] - 30 * V[2] + 16 * V[3] - V[4]) / (12 * h**2)
    slope = (places[0] - 8 * places[1] + 8 * places[3] - places[4]) / (12 * h)
    mass = slope @ plant.mass_matrix(at.q) @ slope
    assert kb.frequencies(plant, at).hertz == pytest.approx([sqrt(curvature / mass) / (2 * pi)], rel=1e-6)


SECTION = {"section": kb.Circle(0.02), "density": 2700.0, "young": 7e10}
LENGTH, AREA, INERTIA = 1.5, pi * 0.02**2, pi * 0.02**4 / 4
RATE = sqrt(7e10 * INERTIA / (2700.0 * AREA)) / LENGTH**2 / (2 * pi)  # Hz a β²
WEIGHTLESS = {"gravity": (0, 0, 0)}


def cantilever(shapes, *more) -> kb.System:
    beam = kb.Beam(LENGTH, shapes=shapes, **SECTION)
    return kb.System("beam", (kb.Body("beam", beam, joint=kb.Weld()), *more), **WEIGHTLESS)


def test_a_cantilever_with_polynomial_shapes():
    beta = brentq(lambda b: 1 + cos(b) * cosh(b), 1.8, 1.9, xtol=1e-14)
    errors = [kb.frequencies(cantilever(kb.Polynomial(n))).hertz[0] / (RATE * beta**2) - 1 for n in (2, 3, 4, 5, 7)]
    assert all(a > b > -1e-12 for a, b in pairwise(errors))  # from above, ever nearer
    assert errors[3] < 1e-6
    assert errors[4] < 1e-10


def test_a_cantilever_with_its_own_modes_is_exact():
    found = kb.frequencies(cantilever(kb.ClampedFree(4))).hertz
    roots = [brentq(lambda b: cos(b) + 1 / cosh(b), (k + 0.3) * pi, (k + 0.7) * pi, xtol=1e-14) for k in range(4)]
    assert found == pytest.approx(RATE * np.array(roots) ** 2, rel=1e-10)


@pytest.mark.parametrize("ratio", [0.5, 2.0])
def test_a_beam_with_a_tip_mass(ratio):
    """1 + cos β cosh β + μ β (cos β sinh β − sin β cosh β) = 0, μ the mass of the tip over the beam's."""
    mass = ratio * 2700.0 * AREA * LENGTH
    tip = kb.Body("tip", kb.Solid(mass), parent="beam.tip", joint=kb.Weld())

    def characteristic(b):
        return 1 + cos(b) * cosh(b) + ratio * b * (cos(b) * sinh(b) - sin(b) * cosh(b))

    beta = brentq(characteristic, 0.5, 1.8, xtol=1e-14)
    found = kb.frequencies(cantilever(kb.Polynomial(5), tip)).hertz[0]
    assert found == pytest.approx(RATE * beta**2, rel=1e-6)


def test_a_beam_pinned_at_both_ends_by_a_connection():
    """The root turns on a hinge, the tip on a line: ω = (kπ)²."""
    beam = kb.Beam(LENGTH, shapes=kb.Polynomial(7), **SECTION)
    system = kb.System(
        "pinned",
        (
            kb.Body("beam", beam, joint=kb.Revolute(kb.Z)),
            kb.Connection("support", "beam.tip", at=(LENGTH, 0, 0), joint=kb.PointOnLine(kb.X)),
        ),
        **WEIGHTLESS,
    )
    found = kb.frequencies(system)
    assert found.hertz[0] == pytest.approx(RATE * pi**2, rel=1e-6)
    assert found.hertz[1] == pytest.approx(RATE * 4 * pi**2, rel=1e-4)
    assert found.rigid == 0


@pytest.mark.parametrize(("shapes", "expected"), [(kb.ClampedFree(1), 7.28), (kb.Polynomial(4), 5.05)])
def test_the_floating_flexible_arm(shapes, expected):
    """reference/floating-flexible-arm: 7.28 Hz with one clamped-free mode, 5.05 Hz converged."""
    beam = kb.Beam(5.0, kb.Rectangle(0.05, 0.05), density=2780, young=69e9, shapes=shapes)

    def link(name, parent, angle):
        return kb.Body(name, beam, parent=parent, joint=kb.Revolute(kb.Z, q=angle))

    arm = kb.System(
        "arm",
        coordinates=("x", "y", "a", "b", "c", "d"),
        parts=(
            kb.Body(
                "carrier", kb.Solid(2000, inertia=(6000,) * 3, tip=(5, 0, 0)), joint=kb.Planar(kb.Z, q=("x", "y", "a"))
            ),
            link("two", "carrier.tip", "b - a"),
            link("three", "two.tip", "c - b - two.tip_slope"),
            kb.Body(
                "load",
                kb.Solid(1.0, com=(1, 0, 0), inertia=(2.0,) * 3),
                parent="three.tip",
                joint=kb.Revolute(kb.Z, q="d - c - three.tip_slope"),
            ),
        ),
        start=kb.Start(hold={"a": 0.0, "b": pi / 4, "c": -pi / 2, "d": -pi / 4}),
        **WEIGHTLESS,
    )
    found = kb.frequencies(arm)
    assert found.rigid == 6
    assert found.hertz[6] == pytest.approx(expected, abs=0.005)
    assert "6 rigid" in str(found)


def test_a_follower_force_has_no_natural_frequencies():
    rocket = kb.System(
        "rocket",
        (
            kb.Body("a", kb.Rod(1.0, mass=1.0, axis=kb.Z), joint=kb.Revolute(kb.Y)),
            kb.Body("b", kb.Rod(1.0, mass=1.0, axis=kb.Z), parent="a.tip", joint=kb.Revolute(kb.Y)),
            kb.Spring("s", "a.angle", stiffness=10.0),
            kb.Spring("second", "b.angle", stiffness=10.0),
            kb.Thruster("jet", "b.tip", axis=-kb.Z),
        ),
        **WEIGHTLESS,
    )
    with pytest.raises(ConstraintError, match=r"some force has no potential.*kb.linearise"):
        kb.frequencies(rocket, actuation={"jet": 3.0})
    assert kb.linearise(rocket, actuation={"jet": 3.0}).poles.real == pytest.approx(np.zeros(4), abs=1e-9)
    assert kb.linearise(rocket, actuation={"jet": 60.0}).poles.real.max() > 0.1  # Beck's column flutters


def test_a_machine_without_freedom_has_none():
    found = kb.frequencies(kb.System("post", (kb.Body("post", kb.Rod(1.0, mass=1.0), joint=kb.Weld()),)))
    assert len(found) == 0
    assert str(found) == "post: 0 freedoms"
