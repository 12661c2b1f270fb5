"""What a user hands in is checked; what a stepper makes on the way is not."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.plant.arguments import made_unit

BALL = kb.System("ball", parts=(kb.Body("load", kb.Box((0.1, 0.2, 0.3), mass=1.0)),), gravity=(0, 0, 0))


@pytest.mark.parametrize("backend", [kb.Native(), kb.Interpreted()])
def test_a_quaternion_that_is_not_unit_is_refused_by_name(backend):
    plant = kb.build(BALL, backend=backend)
    q = np.array([0.0, 0, 0, 1, 1, 0, 0])
    with pytest.raises(kb.KalabaError, match=r"unit quaternion for load, got one of length 1\.41421"):
        plant.motion(q, np.zeros(6))
    with pytest.raises(kb.KalabaError, match="unit quaternion for load"):
        plant.motion(np.array([q, q]), np.zeros((2, 6)))


def test_of_many_quaternions_only_those_that_are_off_are_made_unit():
    plant = kb.build(BALL)
    off = 1.0 + 10.0 ** np.array([-4.0, -20.0, -16.0, -5.0])
    q = np.zeros((4, 7))
    q[:, 3:] = off[:, None] * np.array([0.5, -0.5, 0.5, 0.5])
    given = q.copy()
    made = made_unit(q, plant.machine)
    np.testing.assert_allclose(np.linalg.norm(made[:, 3:], axis=1), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(made[1:3], given[1:3])
    np.testing.assert_array_equal(q, given)


def test_a_fast_spin_runs_in_python_as_in_native_code():
    start = (np.array([0.0, 0, 0, 1, 0, 0, 0]), np.array([0.0, 0, 0, 40, 50, -30]))
    native = kb.simulate(BALL, 0.02, start=start)
    oracle = kb.simulate(kb.build(BALL, backend=kb.Interpreted()), 0.02, start=start)
    assert np.abs(native.q - oracle.q).max() < 1e-12


@pytest.mark.parametrize("batch", [False, True])
def test_contradicting_rows_are_named_alone_and_in_a_batch(batch):
    slide = kb.System(
        "slide",
        parts=(
            kb.Body("block", kb.Box((0.1, 0.1, 0.1), mass=1.0), joint=kb.Prismatic(kb.X)),
            kb.Constraint("first", "block.travel - t^2"),
            kb.Constraint("second", "block.travel - 2*t^2"),
        ),
    )
    plant = kb.build(slide)
    q, v = np.zeros(1), np.zeros(1)
    with pytest.raises(kb.KalabaError, match="no motion obeys all rows"):
        plant.motion(np.tile(q, (3, 1)) if batch else q, np.tile(v, (3, 1)) if batch else v)


def test_a_singular_start_does_not_forbid_regular_states():
    arm = kb.System(
        "arm",
        parts=(kb.Body("rod", kb.Rod(0.5, mass=1.0), joint=kb.Universal(kb.X, kb.Z)),),
    )
    native, interpreted = kb.build(arm), kb.build(arm, backend=kb.Interpreted())
    q, v = np.array([0.1, 0.3]), np.array([0.2, -0.1])
    expected = interpreted.motion(q, v).acceleration
    assert np.abs(native.motion(q, v).acceleration - expected).max() < 1e-9 * np.abs(expected).max()
