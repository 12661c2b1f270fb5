"""However the loops of a machine are cut, it is the same machine: freedoms, accelerations, energy, what motors do."""

from functools import cache

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose

import kalaba as kb
from kalaba.native.backend import Interpreted
from kalaba.plant.readings import ScalarReadings
from kalaba.plant.reference import project_state
from kalaba.space.configuration import displaced
from kalaba.space.symbolic import spin

AGREEMENT = 1e-9  # of the largest acceleration: rows of condition some 10, and atan2 where displacements are read off


@cache
def cuts_of(name: str, connection: str, **options: object) -> kb.analyse.Cuts:
    return kb.cuts(kb.load(name, **options), (connection,))


def moving_state(plant: kb.Plant, rng: np.random.Generator) -> kb.State:
    """A state near the start that obeys all rows, and moves."""
    q, n = plant.start.q, len(plant.velocities)
    step = displaced(plant.machine, q, 0.05 * rng.normal(size=n))
    return project_state(plant, kb.State(step, rng.normal(size=n)), 0.0)


def accelerations(plant: kb.Plant, frames: list[str]) -> ca.Function:
    """Of frames as functions of q, v and v̇: of the origin and of the turning, world axes."""
    kinematics = plant.equations.kinematics
    s, v_dot = kinematics.symbols, ca.SX.sym("v_dot", len(plant.velocities))
    rates = []
    for name in frames:
        pose = kinematics.frame(name)
        R_dot = ca.reshape(s.rate(ca.vec(pose.rotation)), 3, 3)
        rates += [s.rate(pose.position), spin(pose.rotation, R_dot)]
    speed = ca.vertcat(*(ca.vec(rate) for rate in rates))
    acceleration = s.rate(speed) + ca.jtimes(speed, s.v, v_dot)
    return ca.Function("frames", [s.q, s.v, v_dot, s.p, s.t], [speed, acceleration])


def values_of(plant: kb.Plant, q: np.ndarray) -> dict[str, float]:
    names = tuple(plant.machine.displacements)
    read = ScalarReadings.of(plant.watch(names, plant.inputs(q)), len(plant.velocities)).values
    return dict(zip(plant.coordinates, q, strict=True)) | dict(zip(names, read, strict=True))


def same_state(plant: kb.Plant, other: kb.Plant, state: kb.State, frames: list[str]) -> kb.State:
    """The state of a machine that is cut elsewhere: found by its own assembly, from what both have names for."""
    known = values_of(plant, state.q)
    names = {*other.coordinates, *other.machine.displacements}
    guess = {name: value for name, value in known.items() if name in names}
    poses = {frame: plant.pose(frame, state.q).as_pose for frame in frames}
    system = kb.System(
        **{entry: getattr(other.system, entry) for entry in ("name", "parts", "coordinates", "gravity", "parameters")},
        cuts=other.system.cuts,
        start=kb.Start(hold=poses, guess={**dict(other.system.start.guess), **guess}),
    )
    q = kb.build(system, backend=Interpreted()).start.q
    J = np.vstack([other.jacobian(frame, q) for frame in frames])
    twist = np.concatenate([plant.velocity(frame, state.q, state.v) for frame in frames])
    v = np.linalg.lstsq(J, twist, rcond=None)[0]
    assert_allclose(J @ v, twist, rtol=0, atol=AGREEMENT)
    return kb.State(q, v)


def agree(cuts: kb.analyse.Cuts, least: int) -> None:
    assert len(cuts.possible) >= least
    assert not cuts.impossible
    plant = kb.build(cuts.described.system, backend=Interpreted())
    rng = np.random.default_rng(5)
    state = moving_state(plant, rng)
    motors = rng.normal(size=len(plant.actuators))
    bodies = [body.name for body in plant.machine.bodies]
    expected = _moved(plant, state, motors, list(plant.machine.frames))
    energy = sum(plant.energy(*state))
    for cut in cuts:
        assert cut.freedoms == cuts.described.freedoms
        other = kb.build(cut.system, backend=Interpreted())
        theirs = same_state(plant, other, state, bodies)
        assert_allclose(values_at(other, theirs.q, plant), values_at(plant, state.q, plant), rtol=0, atol=AGREEMENT)
        assert_allclose(sum(other.energy(*theirs)), energy, rtol=AGREEMENT)
        moved = _moved(other, theirs, motors, list(plant.machine.frames))
        assert_allclose(moved, expected, rtol=0, atol=AGREEMENT * np.abs(expected).max(), err_msg=cut.joint)


def values_at(plant: kb.Plant, q: np.ndarray, first: kb.Plant) -> list[float]:
    """Displacements that the machine has as it is described, whoever has them as coordinates."""
    values = values_of(plant, q)
    return [values[name] for name in first.machine.displacements]


def _moved(plant: kb.Plant, state: kb.State, motors: np.ndarray, frames: list[str]) -> np.ndarray:
    v_dot = plant.motion(*state, actuation=motors).acceleration
    speed, acceleration = accelerations(plant, frames)(*state, v_dot, plant.parameters, 0.0)
    return np.concatenate([speed.full()[:, 0], acceleration.full()[:, 0]])


@pytest.mark.parametrize(
    ("name", "connection", "least"), [("four-bar", "pin", 4), ("five-bar", "pin", 5), ("bennett", "seat", 4)]
)
def test_every_cut_is_the_same_machine(name, connection, least):
    agree(cuts_of(name, connection), least)


@pytest.mark.long
def test_every_cut_of_a_loop_of_the_delta_is_the_same_machine():
    connection = kb.load("delta").machine.connections[0].name
    agree(cuts_of("delta", connection), 2)


@pytest.mark.long
@pytest.mark.parametrize("closure", ["parts", "weld"])
def test_every_cut_of_two_mobile_arms_is_the_same_machine(closure):
    """Declared coordinates, absolute angles, a locked turn, motors and rows on what is cut, an angle of −π."""
    agree(cuts_of("dual-mobile-arm", "cut", path=False, closure=closure), 11)
