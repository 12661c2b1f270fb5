"""Friction and backlash between a motor and its load: powers, hysteresis, contact, and machines with friction."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.control.transmission import Sides, Transmission
from kalaba.errors import ControlError

MASS, RATE = 3.0, 1000.0
DRY, VISCOUS, CREEP = 1.5, 0.8, 0.01
FRICTION = kb.Friction(DRY, VISCOUS, CREEP)
GAP, ROTOR = 2e-4, 0.5
LINE = kb.path.line((0, 0, 0), (0.1, 0, 0), timing=kb.path.MinimumJerk(0.5))


def sled(*parts: object, speed: float = 0.0, axis: kb.Axis = kb.X) -> kb.System:
    """A mass on a rail with one motor."""
    body = kb.Body("sled", kb.Solid(MASS), joint=kb.Prismatic(axis))
    start = kb.Start(speed={"sled.travel": speed})
    return kb.System("rail", parts=(body, kb.Actuator("motor", "sled.travel"), *parts), start=start)


IDLE = {"motor": 0.0}


@pytest.mark.parametrize("speed", [-2.0, -0.3, 0.3, 1.7])
def test_friction_takes_its_power_above_creeping(speed):
    """tanh is 1 to the last bit beyond 19."""
    taken = FRICTION.force(np.array([speed]))[0] * speed
    assert taken == pytest.approx(DRY * abs(speed) + VISCOUS * speed**2, rel=1e-15)


def test_friction_never_gives_power_and_its_slope_is_its_force_over_the_speed():
    speeds = np.linspace(-0.05, 0.05, 1001)
    assert np.all(FRICTION.force(speeds) * speeds >= 0)
    np.testing.assert_allclose(FRICTION.slope(speeds) * speeds, FRICTION.force(speeds), rtol=1e-12, atol=1e-15)
    assert FRICTION.slope(np.zeros(1))[0] == pytest.approx(DRY / CREEP + VISCOUS)


def test_a_drive_with_friction_brakes_as_its_difference_equation_says():
    """Held from sample to sample: v⁺ = v − (c + b v) h/m; the energy lost is the work of what arrives."""
    run = kb.simulate(sled(speed=1.0), 0.5, control=kb.Drive(RATE, friction=FRICTION).around(IDLE), save_every=0.1)
    v, found = 1.0, [1.0]
    for k in range(500):
        v -= (DRY + VISCOUS * v) / (MASS * RATE)
        if (k + 1) % 100 == 0:
            found.append(v)
    np.testing.assert_allclose(run["rate(sled.travel)"], found, rtol=1e-12)
    np.testing.assert_allclose(run.actuation[:, 0], -FRICTION.force(run["rate(sled.travel)"]), rtol=0.01)  # one sample
    assert np.abs(run.energy_balance).max() < 1e-12


def test_friction_in_the_machine_brakes_as_its_differential_equation_says():
    """m v̇ = −c − b v: v = (v₀ + c/b) e^(−b t/m) − c/b, while far from creeping."""
    rubbing = sled(kb.Spring("rub", "sled.travel", damping=VISCOUS, friction=DRY), speed=1.0)
    run = kb.simulate(rubbing, 0.5, stepper=kb.RungeKutta4(1e-3))
    expected = (1.0 + DRY / VISCOUS) * np.exp(-VISCOUS * run.time / MASS) - DRY / VISCOUS
    np.testing.assert_allclose(run["rate(sled.travel)"], expected, rtol=1e-12)
    assert np.abs(run.energy_balance).max() < 1e-9


def transmission(friction: kb.Friction, gap: float = GAP) -> Transmission:
    drive = kb.Drive(RATE, friction=friction, backlash=kb.Backlash(gap, ROTOR))
    return drive.transmission(kb.build(sled()))


def at(place: float, rate: float = 0.0) -> tuple[float, np.ndarray, np.ndarray]:
    return 0.0, np.array([place]), np.array([rate])


def test_an_idle_motor_side_with_much_friction_is_the_play_operator_of_the_load():
    """Its own recursion p = min(max(p, s − g/2), s + g/2), and a hysteresis as wide as the gap."""
    between, sides, p = transmission(kb.Friction(viscous=1e12)), None, 0.0
    times = np.arange(2001) / RATE
    loads, rates = 5 * GAP * np.sin(2 * np.pi * times), 10 * np.pi * GAP * np.cos(2 * np.pi * times)
    rates[0] = 0.0  # set in the middle of the gap: nothing presses
    read = []
    for load, rate in zip(loads, rates, strict=True):
        sides = between.read(sides, at(load, rate))
        _, sides = between.give(sides, np.zeros(1))
        p = min(max(p, load - GAP / 2), load + GAP / 2)
        assert sides.place[0] == pytest.approx(p, abs=1e-15)
        read.append(sides.place[0])
    down, up = read[1500], read[2000]  # the load at 0
    assert loads[1500] == pytest.approx(loads[2000], abs=1e-15)
    assert down - up == pytest.approx(GAP, rel=1e-9)


def test_an_effort_that_turns_round_arrives_after_the_motor_has_crossed_the_gap():
    """Against a load at rest: nothing for n samples with u h² n (n + 1)/2 m_r ≥ gap, then all of it."""
    between, effort = transmission(kb.Friction()), 2.0
    sides = between.read(None, at(0.0))
    arrives, sides = between.give(sides, np.array([effort]))
    assert arrives[0] == effort
    idle = 0
    for _ in range(100):
        sides = between.read(sides, at(0.0))
        arrives, sides = between.give(sides, np.array([-effort]))
        if arrives[0] == -effort:
            break
        assert arrives[0] == 0.0
        idle += 1
    n = next(n for n in range(100) if effort / (RATE**2 * ROTOR) * n * (n + 1) / 2 >= GAP)
    assert idle == n == 10
    assert sides.offset[0] == pytest.approx(-GAP, rel=1e-12)  # what the encoder says of a load that did not move


def test_a_load_that_always_presses_on_one_side_knows_no_gap():
    lift = sled(axis=kb.Z)
    goals = (kb.follow("sled.travel", "0.01*sin(3*t)"),)
    law = kb.servo(lift, goals)
    runs = [
        kb.simulate(lift, 0.3, control=kb.Drive(RATE, backlash=gap).around(law))
        for gap in (None, kb.Backlash(GAP, ROTOR))
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    assert runs[1].actuation.min() > 0


def test_no_friction_is_bit_by_bit_the_drive_without():
    law = {"motor": "20*(0.05 - sled.travel) - 5*rate(sled.travel)"}
    runs = [
        kb.simulate(sled(), 0.3, control=kb.Drive(RATE, lag=2e-3, friction=friction).around(law))
        for friction in (None, kb.Friction())
    ]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    np.testing.assert_array_equal(runs[0].actuation, runs[1].actuation)


def miss(drive: kb.Drive) -> float:
    hybrid = kb.Hybrid(
        (kb.follow("sled", LINE),), kb.control.PID(4e3, 2e4, 200.0), kb.control.PID(0.4, 30.0), drive=drive
    )
    run = kb.simulate(sled(), control=hybrid)
    return float(np.abs(run["sled.travel"] - LINE.at(run.time).position[:, 0]).max())


def test_friction_and_a_gap_are_felt_by_motors_that_follow_displacements():
    """A gap of 2 mm, read on the motor's side: the load may be off by what it is wide, and is by a good part of it."""
    plain, wide = kb.Drive(RATE), kb.Drive(RATE, backlash=kb.Backlash(2e-3, ROTOR))
    assert miss(plain) + 0.5e-3 < miss(wide) < miss(plain) + 2.5e-3
    assert miss(kb.Drive(RATE, friction=kb.Friction(20.0))) > miss(plain) + 1e-4


def test_a_law_that_reads_the_state_reads_the_motors_sides():
    """By the least step in the coordinates: one motor on the sum of two turns reads both off by half of the offset."""
    parts = (
        kb.Body("arm", kb.Rod(0.5, mass=2.0), joint=kb.Revolute(kb.Z)),
        kb.Body("fore", kb.Rod(0.4, mass=1.0), parent="arm.tip", joint=kb.Revolute(kb.Z)),
        kb.Actuator("motor", "arm.angle + fore.angle"),
    )
    plant = kb.build(kb.System("pair", parts))
    between = kb.Drive(RATE, backlash=kb.Backlash(GAP, ROTOR)).transmission(plant)
    nothing = np.zeros(1)
    sides = Sides(nothing, nothing, nothing, nothing, nothing, np.array([GAP]), np.array([0.2]))
    q, v = between.seen(sides, plant.start.q, plant.start.v)
    np.testing.assert_allclose(q - plant.start.q, [GAP / 2, GAP / 2], rtol=1e-12)
    np.testing.assert_allclose(v - plant.start.v, [0.1, 0.1], rtol=1e-12)


def test_a_thruster_has_no_gears():
    body = kb.Body("craft", kb.Box((1, 1, 1), mass=1.0))
    craft = kb.System("craft", parts=(body, kb.Thruster("jet", "craft")))
    with pytest.raises(ControlError, match="Drive: expected motors on displacements, but jet is a thruster"):
        kb.simulate(craft, 0.1, control=kb.Drive(friction=FRICTION).around({"jet": 1.0}))


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: kb.Friction(-1.0), "Friction.coulomb: expected zero or more, got -1.0."),
        (lambda: kb.Friction(viscous=-2.0), "Friction.viscous: expected zero or more, got -2.0."),
        (lambda: kb.Friction(1.0, creep=0.0), "Friction.creep: expected a number above zero, got 0.0."),
        (lambda: kb.Backlash(-1e-4, 1.0), "Backlash.gap: expected a number above zero, got -0.0001."),
        (lambda: kb.Backlash(1e-4, 0.0), "Backlash.rotor: expected a number above zero, got 0.0."),
        (
            lambda: kb.Drive(friction=3.0),
            "Drive.friction: expected a Friction or None, got 3.0. It is: of each motor; None: none.",
        ),
        (
            lambda: kb.Drive(backlash=1e-4),
            "Drive.backlash: expected a Backlash or None, got 0.0001. It is: of each motor; None: none.",
        ),
    ],
)
def test_what_is_no_friction_or_gap_is_refused(made, words):
    with pytest.raises(ControlError) as caught:
        made()
    assert str(caught.value) == words
