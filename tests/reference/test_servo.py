"""Servo control against independent solutions of the papers' robots."""

from pathlib import Path

import numpy as np
import pytest

import kalaba as kb

DATA = Path(__file__).parent / "data"
CENTRE = (0.21157192052098645, 0.2981304133600941)
GOALS = (
    kb.follow("leg1.link_b.tip.x", f"{CENTRE[0]!r} + 0.01*cos(t)"),
    kb.follow("leg1.link_b.tip.y", repr(CENTRE[1])),
)
CIRCLE = kb.follow("platform", kb.path.circle(diameter=0.2, speed=0.125, accel=0.25))


@pytest.fixture(scope="module")
def planar():
    with np.load(DATA / "planar-parallel" / "tracking_run.npz") as file:
        return kb.build(kb.load("planar-parallel")), dict(file)


@pytest.fixture(scope="module")
def pus_upu():
    with np.load(DATA / "pus-upu" / "circle_run.npz") as file:
        return kb.build(kb.load("pus-upu")), dict(file)


def test_the_planar_robot_moves_as_asked_with_the_least_torques(planar):
    plant, reference = planar
    run = kb.simulate(plant, 10.0, control=kb.servo(plant, GOALS), save_every=0.02, stepper=kb.RungeKutta4(1e-3))
    assert np.abs(run.q - reference["q"]).max() < 1e-9
    assert np.abs(run.actuation - reference["tau_min"]).max() < 1e-9


def test_the_preload_direction_changes_nothing(planar):
    plant, reference = planar
    found = kb.inverse_dynamics(plant, GOALS, times=reference["t"][::50])
    null = reference["null_dir"][::50]
    sign = np.sign(np.sum(found.null * null, axis=1))[:, None]
    assert np.abs(found.null - sign * null).max() < 1e-9
    for q, v, u, n in zip(found.q, found.v, found.actuation, null, strict=True):
        plain, loaded = (plant.motion(q, v, actuation=u + k * n).acceleration for k in (0.0, 5.0))
        assert np.abs(loaded - plain).max() < 1e-9


def test_two_motors_of_three_suffice(planar):
    plant, reference = planar
    pairs = (("leg1.motor", "leg2.motor"), ("leg1.motor", "leg3.motor"), ("leg2.motor", "leg3.motor"))
    for index, pair in enumerate(pairs):
        found = kb.inverse_dynamics(plant, GOALS, actuators=pair, times=reference["t"][::100])
        used = found.actuation[:, [plant.actuators.index(name) for name in pair]]
        assert np.abs(used - reference["tau_pairs"][::100, index]).max() < 1e-9


@pytest.mark.parametrize(
    ("key", "peak", "allocation"), [("ls", 343.2, kb.LeastSquares()), ("minmax", 330.8, kb.MinMax())]
)
def test_six_motors_share_the_circle(pus_upu, key, peak, allocation):
    plant, reference = pus_upu
    found = kb.inverse_dynamics(plant, CIRCLE, allocation=allocation, times=reference["t"])
    assert np.abs(found.actuation - reference[key][:, :6]).max() < 1e-8 * 343
    assert found.peak == pytest.approx(peak, abs=0.1)


def test_five_motors_need_twice_the_force(pus_upu):
    plant, reference = pus_upu
    found = kb.inverse_dynamics(plant, CIRCLE, actuators=plant.actuators[:5], times=reference["t"])
    assert np.abs(found.actuation - reference["nr"][:, :6]).max() < 1e-8 * 671
    assert found.peak == pytest.approx(670.9, abs=0.1)


def test_bounds_are_kept_where_that_is_possible_and_named_where_not(pus_upu):
    plant, reference = pus_upu
    at = reference["t"][::4]
    found = kb.inverse_dynamics(plant, CIRCLE, allocation=kb.Bounded((-332.0,) * 6, (332.0,) * 6), times=at)
    assert found.peak <= 332.0 * (1 + 1e-9)
    with pytest.raises(kb.KalabaError, match=r"pus-upu at t = "):
        kb.inverse_dynamics(plant, CIRCLE, allocation=kb.Bounded((-325.0,) * 6, (325.0,) * 6), times=reference["t"])


@pytest.mark.parametrize("allocation", [kb.LeastSquares(), kb.MinMax()])
def test_the_closed_loop_stays_on_the_circle(pus_upu, allocation):
    plant, _ = pus_upu
    run = kb.simulate(plant, control=kb.servo(plant, CIRCLE, allocation=allocation), stepper=kb.DormandPrince(1e-10))
    found = np.stack([run[f"platform.{axis}"] for axis in "xyz"], axis=1)
    centre = plant.pose("platform", plant.start.q).position
    assert np.abs(found - CIRCLE.path.at(run.time, centre).position).max() < 1e-9
    assert run.worst.value < 1e-12
