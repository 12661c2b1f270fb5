"""Scales: a machine's own length, mass and time, the same machine at other sizes having them multiplied."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.constrain.solvers import SOLVERS
from kalaba.robots.catalogue import catalog
from sizes import factor, scaled

SIZES = [(1e-6, 1e-18, 1e-3), (1e4, 1e12, 1e2)]
ROUNDING = 1e-9  # sums of products in another order, and roots of them


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", [name for name, _ in catalog()])
def test_scales_are_homogeneous(name: str, size: tuple[float, float, float]) -> None:
    system = kb.load(name)
    here, there = kb.build(system).scales, kb.build(scaled(system, *size)).scales
    length, mass, time = size
    assert there.length == pytest.approx(length * here.length, rel=ROUNDING, abs=0.0)
    assert there.reach == pytest.approx(length * here.reach, rel=ROUNDING, abs=0.0)
    assert there.mass == pytest.approx(mass * here.mass, rel=ROUNDING, abs=0.0)
    assert (there.time is None) == (here.time is None)
    assert here.time is None or there.time == pytest.approx(time * here.time, rel=ROUNDING, abs=0.0)
    machine = system.machine
    for one, other, units in (
        (here.coordinates, there.coordinates, [c.unit for c in machine.coordinates]),
        (here.velocities, there.velocities, [c.unit.removesuffix("/s") for c in machine.velocities]),
    ):
        np.testing.assert_allclose(other, one * [factor(unit, size) for unit in units], rtol=ROUNDING)


def test_length_is_that_of_the_machine_and_reach_that_of_its_place() -> None:
    rod = kb.Body("rod", kb.Rod(2.0, mass=3.0), at=(50.0, 0, 0), joint=kb.Revolute(kb.Y))
    scales = kb.build(kb.System("far", (rod,))).scales
    assert scales.length == pytest.approx(2.0)
    assert scales.reach == pytest.approx(50.0)
    assert scales.mass == 3.0
    assert scales.time == pytest.approx(np.sqrt(2.0 / 9.81))


def test_place_of_a_free_body_is_not_its_length() -> None:
    body = kb.Body("ball", kb.Solid(2.0, inertia=(0.02, 0.02, 0.02)))
    system = kb.System("free", (body,), gravity=(0, 0, 0), start=kb.Start(guess={"ball": kb.Pose((100.0, 0, 0))}))
    scales = kb.build(system).scales
    assert scales.length == pytest.approx(0.1)  # its radius of gyration
    assert scales.reach == pytest.approx(100.0)
    assert scales.time is None


def test_point_mass_on_a_spring_is_measured_by_its_start_or_its_sag() -> None:
    point = kb.Body("point", kb.Solid(2.0), joint=kb.Prismatic(kb.Z))
    spring = kb.Spring("spring", "point.travel", stiffness=200.0)
    hung = kb.System("hung", (point, spring))
    assert kb.build(hung).scales.length == pytest.approx(2.0 * 9.81 / 200.0)
    held = kb.System("held", (point, spring), start=kb.Start(hold={"point.travel": 0.3}))
    assert kb.build(held).scales.length == pytest.approx(0.3)
    weightless = kb.System("weightless", (point, spring), gravity=(0, 0, 0))
    scales = kb.build(weightless).scales
    assert scales.length == 1.0  # nothing in it has a length
    assert scales.time == pytest.approx(np.sqrt(2.0 / 200.0))


@pytest.mark.parametrize("length", [1e-6, 1.0, 1e4])
def test_rows_of_unknown_unit_are_measured_by_what_moves_them(length: float) -> None:
    box = kb.Body("ball", kb.Box((length,) * 3, mass=1.0), joint=kb.Planar(kb.Z))
    circle = kb.Constraint("circle", f"ball.x^2 + ball.y^2 - {(3 * length) ** 2!r}")
    start = kb.Start(guess={"ball.x": 3 * length})
    plant = kb.build(kb.System("bead", (box, circle), start=start))
    assert plant.scales.rows[0] == pytest.approx(6 * length * plant.scales.length, rel=ROUNDING, abs=0.0)


@pytest.mark.parametrize("mass", [1e-18, 1e-9, 0.0])
def test_a_body_with_moments_and_hardly_a_mass_makes_no_machine_large(mass):
    """Other programs want inertia in every body: one without mass gets some, whose radius of gyration says nothing."""
    rod = kb.Body("rod", kb.Rod(0.3, mass=1.0), joint=kb.Revolute(kb.Y))
    disc = kb.Body("disc", kb.Solid(mass, inertia=(1e-5,) * 3), parent="rod.tip", joint=kb.Spherical())
    alone, both = (kb.build(kb.System("m", parts)) for parts in ((rod,), (rod, disc)))
    assert both.scales.length == pytest.approx(alone.scales.length)
    pinned = kb.System("m", (rod, disc, kb.Connection("pin", "disc", parent="rod.tip", joint=kb.Revolute(kb.Z))))
    plants = [kb.build(pinned, backend=kb.Interpreted(), solver=solver) for solver in SOLVERS]
    expected = kb.build(pinned).motion(*plants[0].start).acceleration
    for plant in plants:
        np.testing.assert_allclose(plant.motion(*plant.start).acceleration, expected, rtol=1e-9, atol=1e-9)
