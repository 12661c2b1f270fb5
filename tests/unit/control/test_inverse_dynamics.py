"""Peak against sum of squares: a smaller peak costs squares, and the ends are those of MinMax and LeastSquares."""

from itertools import pairwise

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ControlError

CIRCLE = kb.path.circle(diameter=0.04, speed=0.3)
GOAL = kb.follow("leg1.link_b.tip", CIRCLE, orientation="free")
TIMES = np.linspace(0.0, CIRCLE.duration, 31)


@pytest.fixture(scope="module")
def robot():
    return kb.build(kb.load("planar-parallel"))


@pytest.fixture(scope="module")
def curve(robot):
    return kb.trade_off(robot, GOAL, times=TIMES, points=6)


def test_a_smaller_peak_costs_squares(curve):
    assert len(curve.peak) == len(curve.root_mean_square) == 6
    assert (np.diff(curve.peak) > 1e-3).all()
    assert (np.diff(curve.root_mean_square) < 0).all()
    assert curve.root_mean_square[0] > 1.0001 * curve.root_mean_square[-1]


def test_the_ends_are_those_of_min_max_and_least_squares(robot, curve):
    flattest = kb.inverse_dynamics(robot, GOAL, kb.MinMax(), times=TIMES)
    least = kb.inverse_dynamics(robot, GOAL, kb.LeastSquares(), times=TIMES)
    assert curve.peak[0] == pytest.approx(flattest.peak, rel=1e-9)
    assert curve.peak[-1] == pytest.approx(least.peak, rel=1e-12)
    # where MinMax has its peak it leaves no choice, so the efforts are the same there
    worst = int(np.abs(flattest.actuation).max(axis=1).argmax())
    assert curve.efforts[0].actuation[worst] == pytest.approx(flattest.actuation[worst], rel=1e-6)
    assert np.abs(curve.efforts[-1].actuation - least.actuation).max() < 1e-12
    mean = np.trapezoid((least.actuation**2).sum(axis=1), TIMES) / TIMES[-1]
    assert curve.root_mean_square[-1] == pytest.approx(np.sqrt(mean))


def test_efforts_of_every_point_move_the_machine_alike(robot, curve):
    """What two points differ by is a preload: it makes no acceleration."""
    for one, other in pairwise(curve.efforts):
        for i in (5, 17):
            states = [(e.q[i], e.v[i]) for e in (one, other)]
            found = [
                robot.motion(*s, actuation=e.actuation[i]).acceleration
                for s, e in zip(states, (one, other), strict=True)
            ]
            assert found[0] == pytest.approx(found[1], abs=1e-8)


def test_peaks_count_in_parts_of_the_limits():
    cranks = [kb.follow("left.crank.angle", "2.2 - 0.3*t"), kb.follow("right.crank.angle", "pi - 2.2 + 0.2*t")]
    found = kb.trade_off(kb.load("five-bar", motors=3), cranks, times=[0.0, 0.5], points=2)
    for peak, efforts in zip(found.peak, found.efforts, strict=True):
        assert peak == pytest.approx(efforts.peak / 10.0)  # each motor's limit is 10 N·m


def test_without_motors_to_spare_there_is_nothing_to_trade(robot):
    with pytest.raises(ControlError, match="nothing to trade"):
        kb.trade_off(robot, GOAL, actuators=("leg1.motor", "leg2.motor"), times=TIMES[:4])
    for points in (1, 0, -3, 2.5, "9", True):
        with pytest.raises(ControlError, match=rf"points: expected a whole number( from 2 to 1000)?, got {points!r}"):
            kb.trade_off(robot, GOAL, points=points)
