"""Arms that hold one object or several joined ones, against equations derived by other code (data/cooperation)."""

from functools import cache

import numpy as np
import pytest

import kalaba as kb
from cooperation import NAMES, Cooperation, cooperation

STATES = range(5)
THREADS = ("screw", "screw_off", "three")


def close(name: str) -> float:
    """Rounding of some thousand operations; a thread's inertia by its travel has a condition of 1e5."""
    return 1e-9 if name in THREADS else 1e-10


def gap(value: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(value - expected).max() / np.abs(expected).max())


@cache
def space(name: str) -> kb.cooperate.ObjectSpace:
    return kb.object_space(cooperation(name).system)


@pytest.fixture(params=NAMES)
def case(request) -> Cooperation:
    return cooperation(request.param)


def test_the_states_of_the_reference_are_closed_and_consistent(case):
    plant = space(case.name).plant
    for k in STATES:
        state = case.state(k)
        assert np.abs(plant.residual(state.q)).max() < 1e-13
        assert np.abs(plant.velocity_residual(*state)).max() < 1e-12
        assert abs(plant.energy(*state).total - case.reference["energy"][k]) < 1e-11 * abs(case.reference["energy"][k])


def test_the_model_is_that_of_the_reference(case):
    C, found = case.travel, case.reference
    for k in STATES:
        state = case.state(k)
        model = space(case.name).model(state)
        assert gap(model.inertia / np.outer(C, C), found["H"][k]) < close(case.name)
        assert gap(model.bias / C, found["tau_b"][k]) < close(case.name)
        assert gap(model.force_map / C[:, None], found["W"][k]) < close(case.name)
        assert gap(space(case.name).speeds(state) * C, found["sdot"][k]) < close(case.name)
        assert gap(model.velocity_map @ (found["sdot"][k] / C), state.v) < close(case.name)


def test_torques_accelerate_objects_and_arms_as_in_the_reference(case):
    C, found = case.travel, case.reference
    for k in STATES:
        state, torques = case.state(k), found["tau"][k].ravel()
        model, acceleration = space(case.name).model(state), space(case.name).acceleration(state, torques)
        arms = (model.velocity_map @ acceleration + model.convective)[: torques.size]
        assert gap(acceleration * C, found["sddot"][k]) < close(case.name)
        assert gap(arms, found["qdd"][k].ravel()) < close(case.name)


def test_grasps_carry_the_wrenches_of_the_reference(case):
    for k in STATES:
        wrenches = space(case.name).grasp_wrenches(case.state(k), case.reference["tau"][k].ravel())
        assert gap(np.array([wrenches[grip] for grip in case.grips]), case.reference["F_grasp"][k]) < close(case.name)


@pytest.mark.parametrize("weighted", [False, True], ids=["compiled", "allocated"])
def test_least_torques_are_those_of_the_reference(case, weighted):
    for k in STATES:
        wanted, expected = case.reference["sddot_des"][k] / case.travel, case.reference["tau_ls"][k]
        share = kb.LeastSquares(np.ones(expected.size)) if weighted else kb.LeastSquares()
        assert gap(space(case.name).torques(case.state(k), wanted, share), expected) < close(case.name)


def test_internal_torques_are_those_of_the_reference(case):
    for k in STATES:
        found = space(case.name).internal(case.state(k))
        expected = case.reference["P_null"][k]
        assert found.basis.shape == (len(expected), len(expected) - len(case.travel))
        assert np.abs(found.basis.T @ found.basis - np.eye(found.basis.shape[1])).max() < 1e-13
        assert gap(found.projector, expected) < close(case.name)


def test_freedoms_are_the_velocities_of_the_objects(case):
    assert kb.check(case.system).freedoms == len(case.travel) == len(space(case.name).coordinates)
