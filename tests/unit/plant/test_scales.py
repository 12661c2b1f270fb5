"""Scales: a machine's own length, mass and time, the same machine at other sizes having them multiplied."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.constrain.solvers import SOLVERS
from kalaba.plant.scales import Scales
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


def scales_of(*parts: object, **words: object) -> Scales:
    return kb.build(kb.System("m", parts, **words)).scales


@pytest.mark.parametrize(
    ("unit", "powers"),
    [
        ("m", (1, 0, 0)),
        ("kg*m^2/s", (2, 1, -1)),
        ("m/s^2", (1, 0, -2)),
        ("N*m", (2, 1, -2)),
        ("N/m", (0, 1, -2)),
        ("J", (2, 1, -2)),
        ("W", (2, 1, -3)),
        ("rad/s", (0, 0, -1)),
        ("1", (0, 0, 0)),
    ],
)
def test_a_quantity_is_as_large_as_its_unit_says(unit: str, powers: tuple[int, int, int]) -> None:
    scales = scales_of(kb.Body("rod", kb.Rod(2.0, mass=3.0), joint=kb.Revolute(kb.Y)))
    length, mass, time = powers
    assert scales.of_unit(unit, 7.0) == pytest.approx(2.0**length * 3.0**mass * 7.0**time, rel=1e-12)


def test_speeds_are_compared_with_the_fastest_or_with_the_machines_own() -> None:
    """√(2 m/9.81 m/s²): 2.2 rad/s at least; a travel counts in lengths per second."""
    rod = kb.Body("rod", kb.Rod(2.0, mass=3.0), joint=kb.Revolute(kb.Y))
    scales = scales_of(rod, kb.Body("cart", kb.Solid(1.0), joint=kb.Prismatic(kb.X)))
    own = np.sqrt(9.81 / 2.0)
    assert scales.rate == pytest.approx(own)
    assert scales.fastest(np.array([0.1, -3.0])) == pytest.approx(own)
    assert scales.fastest(np.array([-3.0, 1.0])) == pytest.approx(3.0)
    np.testing.assert_allclose(scales.fastest(np.array([[1.0, -10.0], [0.0, 0.0]])), [[5.0], [own]])
    assert scales.units.rate == scales.rate
    assert scales.twist.tolist() == [2.0, 2.0, 2.0, 1.0, 1.0, 1.0]


def test_the_slowest_of_springs_and_beams_is_the_time_of_a_machine_without_weight() -> None:
    still = {"gravity": (0, 0, 0)}
    rod = kb.Body("rod", kb.Rod(2.0, mass=3.0), joint=kb.Revolute(kb.Y))
    springs = [kb.Spring(f"s{k}", "rod.angle", stiffness=k) for k in (50, 20)]
    assert scales_of(rod, *springs, **still).time == pytest.approx(np.sqrt(3.0 * 2.0**2 / 20.0))
    beam = kb.Beam(
        1.5, kb.Tube(0.01, 0.008), density=2700.0, young=70e9, shapes=kb.ClampedFree(1), bending=(kb.Y, kb.Z)
    )
    system = kb.System("m", (kb.Body("beam", beam, joint=kb.Revolute(kb.Y)),), **still)
    area, second = np.pi * (0.01**2 - 0.008**2), np.pi / 4 * (0.01**4 - 0.008**4)
    expected = np.sqrt(2700.0 * area * 1.5 * 1.5**3 / (70e9 * second))
    assert kb.build(system).scales.time == pytest.approx(expected, rel=1e-6)


def test_lengths_that_are_written_count_each() -> None:
    """A range of travel, the rest length of a spring, a length that rows read, places on a body and on the world."""
    cart = kb.Body("cart", kb.Solid(1.0), joint=kb.Prismatic(kb.X))
    ranged = kb.Body("cart", kb.Solid(1.0), joint=kb.Prismatic(kb.X, limits=(-0.5, 2.0)))
    turned = kb.Body("cart", kb.Solid(1.0), joint=kb.Revolute(kb.X, limits=(-0.5, 2.0)))
    assert scales_of(cart).length == 1.0
    assert scales_of(ranged).length == 2.5
    assert scales_of(turned).length == 1.0
    assert scales_of(cart, kb.Spring("s", "cart.travel", stiffness=1e9, rest=3.0)).length == 3.0
    here, there = kb.Frame("here", at=(1.0, 2.0, 2.0), parent="cart"), kb.Frame("there", at=(0, 0, 4.0), parent="here")
    assert scales_of(cart, here).length == pytest.approx(3.0)
    assert scales_of(cart, here, there).length == pytest.approx(np.linalg.norm([1.0, 2.0, 6.0]))
    quarter = kb.Pose((1.0, 2.0, 2.0), rpy=(0, np.pi / 2, 0))  # its z is the body's x
    bent = kb.Frame("here", at=quarter, parent="cart")
    assert scales_of(cart, bent, there).length == pytest.approx(np.linalg.norm([5.0, 2.0, 2.0]))


def test_places_are_on_the_side_where_they_are() -> None:
    """Beside a centre of mass at 1 m and a tip at 2 m: a frame at 3 m, one at −1 m, and one that is seen from it."""
    rod = kb.Body("rod", kb.Rod(2.0, mass=3.0, axis=kb.X), joint=kb.Revolute(kb.Y))
    for place, length in ((3.0, 3.0), (-1.0, 3.0), (1.5, 2.0)):
        assert scales_of(rod, kb.Frame("here", at=(place, 0, 0), parent="rod")).length == pytest.approx(length)
    ahead = kb.Frame("ahead", at=(1.5, 0, 0), parent="rod.tip")
    assert scales_of(rod, ahead).length == pytest.approx(3.5)
    turned = kb.Frame("turned", at=kb.Pose((0, 0, 0), rpy=(0, np.pi / 2, 0)), parent="rod.tip")
    beyond = kb.Frame("beyond", at=(0, 0, 1.5), parent="turned")  # its z is the rod's x
    assert scales_of(rod, turned, beyond).length == pytest.approx(3.5)
    hung = kb.Body("hung", kb.Solid(0.1), parent="rod", at=(-2.0, 0, 0), joint=kb.Revolute(kb.Y))
    assert scales_of(rod, hung).length == pytest.approx(4.0)
    pinned = kb.Connection("pin", "hung", parent="rod", at=(5.0, 0, 0), joint=kb.Spherical())
    assert scales_of(rod, hung, pinned).length == pytest.approx(7.0)
