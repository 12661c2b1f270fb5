"""Arms that share objects: the catalogue's machines are those of data/cooperation, solved there by other code."""

from functools import cache

import numpy as np
import pytest

import kalaba as kb
from cooperation import cooperation
from kalaba.model.system import Placement
from kalaba.robots import puma560
from kalaba.robots.catalogue import ENTRIES, load

CLOSED = 1e-14  # m and rad: a few roundings of lengths below 2 m
SOLVED = 1e-9  # relative; the grasps are conditioned like 30 to 50
REFERENCE = {
    "two-arm-carry": ("rigid", 6),
    "two-arm-scissors": ("scissors", 7),
    "two-arm-peg": ("peg", 8),
    "two-arm-keyed-peg": ("keyed", 7),
    "two-arm-screw": ("screw", 7),
    "three-arm-screw": ("three", 9),
}


@cache
def plant(name: str, **options: int) -> kb.Plant:
    return kb.build(load(name, **options), backend=kb.Interpreted())


@pytest.mark.parametrize("name", REFERENCE)
def test_the_loops_close_at_every_state_of_the_reference(name):
    machine, known = plant(name), cooperation(REFERENCE[name][0])
    for index in range(len(known.reference["q"])):
        q, v = known.state(index)
        assert np.abs(machine.residual(q)).max() < 3 * CLOSED
        assert np.abs(machine.velocity_residual(q, v)).max() < 1e-12


@pytest.mark.parametrize("name", REFERENCE)
def test_torques_accelerate_the_arms_as_in_the_reference(name):
    machine, known = plant(name), cooperation(REFERENCE[name][0])
    q, v = known.state(1)
    expected = known.reference["qdd"][1].ravel()
    found = machine.motion(q, v, actuation=known.reference["tau"][1].ravel())
    assert found.acceleration[: len(expected)] == pytest.approx(expected, abs=SOLVED * np.abs(expected).max())


@pytest.mark.parametrize("name", REFERENCE)
def test_the_arms_find_their_angles_on_the_reference_s_side(name):
    machine, known = plant(name), cooperation(REFERENCE[name][0])
    q = machine.start.q
    assert np.abs(machine.residual(q)).max() < CLOSED
    arms = known.reference["q"].shape[1]
    middle = known.reference["q"].mean(axis=0)
    assert np.abs(q[: 6 * arms].reshape(arms, 6) - middle).max() < 0.5  # the other elbow is some 3 rad away
    body = next(part.name for part in machine.system.parts if isinstance(part, kb.Body))
    C1 = np.array(known.numbers["C1_nominal"])
    assert machine.pose(body, q).position == pytest.approx(C1[:3, 3], abs=CLOSED)
    assert machine.pose(body, q).rotation == pytest.approx(C1[:3, :3], abs=CLOSED)
    assert q[6 * arms + 7 :] * known.travel[6:] == pytest.approx(known.numbers["p_nominal"], rel=1e-15)


@pytest.mark.parametrize("name", REFERENCE)
def test_freedoms_are_those_of_the_objects_and_no_grasp_is_singular(name):
    found = kb.check(plant(name))
    assert found.freedoms == found.freedoms_nearby == REFERENCE[name][1]
    assert found.dependent_rows == ()
    assert found.smallest_singular_value > 0.01


@pytest.mark.parametrize("name", REFERENCE)
def test_each_arm_alone_reaches_its_grasp(name):
    """The entries are not checked when they are loaded; holding the same parts again checks them."""
    system = load(name)
    arms = [part for part in system.parts if isinstance(part, Placement)]
    grips = [part for part in system.parts if isinstance(part, kb.Connection)]
    objects = tuple(part for part in system.parts if part not in arms and part not in grips)
    known = {part.name for part in objects}
    start = {key: value for key, value in system.start.hold if key.split(".")[0] in known}
    grasps = [kb.Grasp(grip.child.split(".")[0], grip.parent, grip.at) for grip in grips]
    assert kb.hold(kb.System(name, objects, start=kb.Start(hold=start)), arms, grasps, check=True) == system


@pytest.mark.parametrize("arms", [1, 2, 3, 4])
def test_any_number_of_arms_stands_in_its_nominal_pose_around_the_disc(arms):
    machine = plant("n-arm-carry", arms=arms)
    q = machine.start.q
    assert np.abs(machine.residual(q)).max() < CLOSED
    assert q[: 6 * arms].reshape(arms, 6) == pytest.approx(np.tile(puma560.NOMINAL, (arms, 1)), abs=1e-12)
    assert kb.check(machine).freedoms == 6


def test_the_ring_gives_each_arm_its_share():
    for arms in (8, 64):
        masses = {p.name: p.value for p in load("n-arm-carry", arms=arms).machine.parameters}
        assert masses["load.mass"] == 4.0 * arms
        assert masses["load.radius"] == pytest.approx(0.5 * arms / (2 * np.pi))


def test_the_machine_at_rest_sinks_and_keeps_its_energy():
    run = kb.simulate(load("two-arm-carry"), 0.02)
    assert run.worst.value < 1e-13
    assert np.abs(run.energy_balance).max() < 1e-9
    assert run["load.z"][-1] < run["load.z"][0]


def test_every_machine_of_the_family_says_what_the_paper_gets_wrong():
    for name in (*REFERENCE, "n-arm-carry"):
        assert ENTRIES[name].errata
        assert "Sun" in ENTRIES[name].source
