"""Laws of arms that hold objects: one motion in two descriptions, internal force that moves nothing, long runs."""

from dataclasses import replace
from functools import cache
from math import pi

import numpy as np
import pytest

import kalaba as kb
from cooperation import NAMES, Cooperation, cooperation
from kalaba.errors import ControlError
from states import moved

SHORT = ("rigid", "screw")  # those whose runs are compiled in everyday tests


@cache
def space(name: str) -> kb.cooperate.ObjectSpace:
    """Without a compiler, and so beside a plant that solves the equation of Udwadia and Kalaba as published."""
    return kb.object_space(kb.build(cooperation(name).system, backend=kb.Interpreted()))


@pytest.fixture(params=NAMES)
def case(request) -> Cooperation:
    return cooperation(request.param)


def random_states(case: Cooperation, count: int) -> list[kb.State]:
    """Closed states around those of the reference, with any speed that the grasps allow."""
    rng, seen = np.random.default_rng(len(case.name)), space(case.name)
    plant, found = seen.plant, []
    for k in range(count):
        q = moved(plant.machine, case.q(k), 0.05 * rng.normal(size=len(plant.velocities)))
        for _ in range(8):  # Newton's method, of second order
            A, _ = plant.constraint(q, np.zeros(len(plant.velocities)))
            q = moved(plant.machine, q, -np.linalg.pinv(A) @ plant.residual(q))
        assert np.abs(plant.residual(q)).max() < 1e-13
        rates = rng.normal(size=len(seen.coordinates))
        found.append(kb.State(q, seen.velocity_map(kb.State(q, 0 * case.v(k))) @ rates))
    return found


def test_object_space_and_plant_give_the_same_motion(case):
    seen, rng = space(case.name), np.random.default_rng(1)
    for state in random_states(case, 3):
        assert np.abs(seen.plant.velocity_residual(*state)).max() < 1e-12
        torques = 30 * rng.normal(size=len(seen.plant.actuators))
        model = seen.model(state)
        found = model.velocity_map @ seen.acceleration(state, torques) + model.convective
        expected = seen.plant.motion(*state, actuation=torques).acceleration
        assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_inertia_carries_the_kinetic_energy(case):
    seen = space(case.name)
    for state in random_states(case, 2):
        model, rates = seen.model(state), seen.speeds(state)
        assert np.abs(model.inertia - model.inertia.T).max() < 1e-13 * np.abs(model.inertia).max()
        assert rates @ model.inertia @ rates / 2 == pytest.approx(seen.plant.energy(*state).kinetic, rel=1e-12)


def test_shared_torques_give_the_acceleration_asked_for(case):
    seen, state = space(case.name), case.state(1)
    wanted = case.reference["sddot_des"][1] / case.travel
    for share in (kb.LeastSquares(), kb.MinMax(), kb.Bounded()):
        torques = seen.torques(state, wanted, share)
        assert np.abs(seen.acceleration(state, torques) - wanted).max() < 1e-10 * np.abs(wanted).max()


def test_internal_torques_move_nothing(case):
    seen, state = space(case.name), case.state(2)
    torques = case.reference["tau"][2].ravel()
    loaded = torques + seen.internal(state).basis @ np.full(seen.internal(state).basis.shape[1], 20.0)
    moved = seen.plant.motion(*state, actuation=loaded).acceleration
    rest = seen.plant.motion(*state, actuation=torques).acceleration
    assert np.abs(moved - rest).max() < 1e-10 * np.abs(rest).max()


def test_a_squeeze_presses_by_exactly_its_force_and_moves_nothing():
    case, seen = cooperation("rigid"), space("rigid")
    for k in range(5):
        state, torques = case.state(k), case.reference["tau"][k].ravel()
        squeezed = torques + seen.squeeze(state, "grip1", "grip2", 50.0)
        before, after = seen.grasp_wrenches(state, torques), seen.grasp_wrenches(state, squeezed)
        tools = [seen.plant.pose(f"arm{i}.tool", state.q).position for i in (1, 2)]
        inward = (tools[1] - tools[0]) / np.linalg.norm(tools[1] - tools[0])
        for grip, sign in (("grip1", 1), ("grip2", -1)):
            change = after[grip] - before[grip]
            assert np.abs(change - np.append(sign * 50.0 * inward, np.zeros(3))).max() < 1e-10 * 50.0
        rest = seen.plant.motion(*state, actuation=torques).acceleration
        moved = seen.plant.motion(*state, actuation=squeezed).acceleration
        assert np.abs(moved - rest).max() < 1e-10 * np.abs(rest).max()


def test_a_squeeze_of_two_bodies_is_refused():
    with pytest.raises(ControlError, match="grip1 holds body1 and grip2 body2"):
        space("scissors").squeeze(cooperation("scissors").state(0), "grip1", "grip2", 50.0)


def falling(plant: kb.Plant, start: kb.State) -> None:
    """Two seconds without torque: energy to 1e-8 of itself, grasps to 1e-13 m and rad."""
    run = kb.simulate(plant, 2.0, start=start, stepper=kb.DormandPrince(rtol=1e-10, atol=1e-12), save_every=0.02)
    assert np.ptp(run.observed["kinetic"]) > 10.0
    assert np.ptp(run.energy) <= 1e-8 * np.abs(run.energy[0])
    assert np.abs(run.residual).max() <= 1e-13


@pytest.mark.parametrize("name", [pytest.param(n, marks=() if n in SHORT else pytest.mark.long) for n in NAMES])
def test_two_seconds_without_torque_keep_energy_and_grasps(name):
    case = cooperation(name)
    falling(kb.build(case.system), kb.State(case.q(0), np.zeros_like(case.v(0))))


@pytest.mark.parametrize("turns", [0, 10])
def test_a_thread_closes_after_ten_turns_as_after_none(turns):
    case = cooperation("screw")
    guess = {key: value for key, value in case.start(case.system, 0).guess if key != "body2.angle"}
    start = kb.Start(hold={"body2.angle": 2 * pi * turns}, guess=guess)
    plant = kb.build(replace(case.system, start=start))
    assert plant.start.q[-1] == pytest.approx(2 * pi * turns, abs=1e-12)
    assert np.abs(plant.residual(plant.start.q)).max() < 1e-14
    falling(plant, plant.start)
