"""A floating base that starts with momentum keeps it, whatever motors and bending links do on it."""

import numpy as np
import pytest

import kalaba as kb

SHARP = kb.DormandPrince(rtol=1e-10, atol=1e-12)
MASS, LENGTH, LINE = 40.0, 2.0, 2.4
LINEAR, TURNING = np.array([0.2, -0.1, 0.05]), np.array([0.03, -0.02, 0.1])
STILL = {"boom.angle": 0.0, **{f"boom.mode{k}": 0.0 for k in range(1, 5)}}


def satellite(speed: object) -> kb.Plant:
    """A box with a boom that bends both ways, driven by a motor."""
    boom = kb.Beam(
        LENGTH, kb.Stiffness(LINE, 4.7e3, 4.7e3), shapes=kb.Polynomial(2), bending=(kb.Y, kb.Z), foreshortening=True
    )
    return kb.build(
        kb.System(
            "satellite",
            gravity=(0, 0, 0),
            parts=(
                kb.Body("sat", kb.Box((1, 1, 1), mass=MASS)),
                kb.Body("boom", boom, parent="sat", at=(0.5, 0, 0), joint=kb.Revolute(kb.Z)),
                kb.Actuator("motor", "boom.angle"),
            ),
            start=kb.Start(speed=speed),
        )
    )


def driven(plant: kb.Plant, start: kb.State | None = None) -> kb.Run:
    return kb.simulate(plant, 1.0, start=start, control={"motor": "5*sin(6*t)"}, stepper=SHARP)


def momentum_by_hand() -> np.ndarray:
    """Of box and thin rod that move as one body: m v_c, and I ω + c × m v_c of each about the world's origin."""
    linear, angular = np.zeros(3), np.zeros(3)
    rod = LINE * LENGTH
    moments = ((MASS, 0.0, MASS / 6 * np.ones(3)), (rod, 0.5 + LENGTH / 2, rod * LENGTH**2 / 12 * np.array([0, 1, 1])))
    for mass, x, inertia in moments:
        centre = np.array([x, 0, 0])
        own = mass * (LINEAR + np.cross(TURNING, centre))
        linear += own
        angular += inertia * TURNING + np.cross(centre, own)
    return np.concatenate([linear, angular])


def test_speeds_of_the_start_give_the_momentum_of_a_rigid_body_and_it_stays():
    plant = satellite({"sat": (*LINEAR, *TURNING), **STILL})
    given = plant.momentum(*plant.start)
    assert given == pytest.approx(momentum_by_hand(), rel=1e-12)
    run = driven(plant)
    assert np.abs(run["boom.tip_deflection"]).max() > 1e-3  # something bends, and the boom swings
    assert np.ptp(run["boom.angle"]) > 0.1
    assert np.abs(run.observed["momentum"] - given).max() < 1e-8 * np.abs(given).max()


def test_rates_not_asked_for_give_way_without_momentum_of_their_own():
    """Least energy: M v is zero along every rate that nobody gave."""
    plant = satellite({"sat": (*LINEAR, *TURNING)})
    q, v = plant.start
    free = plant.mass_matrix(q) @ v
    assert np.abs(free[6:]).max() < 1e-12 * np.abs(free).max()
    assert np.abs(v[6:]).max() > 1e-3


def test_a_momentum_of_one_s_own_is_a_linear_system_for_the_base():
    plant = satellite({})
    asked = np.array([1.0, -2.0, 0.5, 0.3, -0.2, 3.0])
    q, base = plant.start.q, np.eye(len(plant.velocities))[:6]
    v = np.linalg.solve(np.column_stack([plant.momentum(q, rate) for rate in base]), asked) @ base
    run = driven(plant, kb.State(q, v))
    assert np.abs(run.observed["momentum"] - asked).max() < 1e-8 * np.abs(asked).max()


def test_the_centre_of_mass_goes_straight_at_the_speed_of_the_momentum():
    plant = satellite({"sat": (*LINEAR, *TURNING), **STILL})
    run = driven(plant)
    total = MASS + LINE * LENGTH
    ends = [plant.centre_of_mass(q) for q in (run.q[0], run.q[-1])]
    assert ends[1] - ends[0] == pytest.approx(momentum_by_hand()[:3] / total * run.time[-1], abs=1e-9)
