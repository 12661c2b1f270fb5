"""Dry friction at joints: against the motion, smooth, and its power in the books."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError


def block(friction: float, creep: float = 0.01) -> kb.System:
    """A block on a rail, with friction of its own."""
    return kb.System(
        "block",
        parts=(
            kb.Body("block", kb.Box((0.1, 0.1, 0.1), mass=2.0), joint=kb.Prismatic(kb.X)),
            kb.Spring("rail", "block.travel", friction=friction, creep=creep),
        ),
    )


def test_a_sliding_block_stops_after_its_energy_is_used_up():
    run = kb.simulate(block(6.0, creep=5e-3), 0.6, start=([0.0], [1.5]))
    way = 2.0 * 1.5**2 / 2 / 6.0  # m v²/2 = f s
    assert run["block.travel"][-1] == pytest.approx(way, rel=1e-3)  # creeping adds some
    assert abs(run.v[-1, 0]) < 1e-4
    assert np.abs(run.energy_balance).max() < 1e-6 * 2.25


def test_friction_has_the_sign_of_the_rate_and_its_slope_at_rest():
    plant = kb.build(block(6.0, creep=0.01))
    rates = np.array([-2.0, -0.005, 0.0, 0.005, 800.0])
    found = [plant.motion([0.0], [rate]).acceleration[0] * 2.0 for rate in rates]
    assert np.abs(np.array(found) + 6.0 * np.tanh(rates / 0.01)).max() < 1e-12


def test_a_universal_joint_rubs_along_each_of_its_angles_however_it_is_turned():
    hung = kb.System(
        "hung",
        parts=(
            kb.Body("base", kb.Box((0.2, 0.2, 0.2), mass=3.0)),
            kb.Body("rod", kb.Rod(0.5, mass=1.0, axis=-kb.Z), parent="base", joint=kb.Universal(kb.X, kb.Y)),
            *(kb.Spring(f"rub{i}", f"rod.angle{i}", friction=0.05, creep=0.02) for i in (1, 2)),
        ),
        gravity=(0, 0, 0),
    )
    plant = kb.build(hung)
    v = np.array([0.3, -0.2, 0.1, 1.0, -0.5, 0.7, 2.0, -1.5])
    run = kb.simulate(plant, 1.0, start=(plant.start.q, v), stepper=kb.RungeKutta4(1e-3))
    momentum = run.observed["momentum"]
    assert (
        np.abs(momentum - momentum[0]).max() < 1e-12 * np.abs(momentum[0]).max() * 100
    )  # an inner force turns nothing
    lost = 0.05 * sum(np.abs(run[f"rate(rod.angle{i})"]) for i in (1, 2))
    rate = np.gradient(run.energy, run.time, edge_order=2)
    fast = np.min([np.abs(run[f"rate(rod.angle{i})"]) for i in (1, 2)], axis=0) > 0.2  # tanh is 1 there
    assert fast[2:-2].any()
    assert np.abs(rate + lost)[2:-2][fast[2:-2]].max() < 1e-2 * lost.max()  # a difference of samples 10 ms apart


def test_a_creep_that_is_no_speed_is_refused():
    with pytest.raises(ModelError, match=r"rail\.creep: expected a speed above zero, got 0"):
        kb.Spring("rail", "block.travel", friction=1.0, creep=0)
