"""A batch is its states one by one, to the bit: every question, over the catalogue and over random machines."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.space.configuration import displaced
from machines import closed_system

COUNT = 9  # a block of lanes and one state more
QUICK = ("four-bar", "bennett", "planar-parallel", "differential-drive", "puma560", "spinning-beam")


def states(plant, rng):
    """States near the start, off the rows by as much as sensors are."""
    q, v = plant.start
    steps = rng.normal(scale=1e-3, size=(COUNT, len(v)))
    return np.array([displaced(plant.machine, q, step) for step in steps]), rng.normal(scale=0.1, size=steps.shape)


def questions(plant):
    """What is asked of every machine at q, v, t, actuation and a wrench."""
    frame = plant.machine.bodies[-1].name
    asked = {
        "mass_matrix": lambda q, *_: [plant.mass_matrix(q)],
        "bias": lambda q, v, *_: [plant.bias(q, v)],
        "required_force": lambda q, v, *_: [plant.required_force(q, v, v)],
        "constraint": lambda q, v, t, *_: plant.constraint(q, v, t),
        "residual": lambda q, _, t, *__: [plant.residual(q, t)],
        "velocity_residual": lambda q, v, t, *_: [plant.velocity_residual(q, v, t)],
        "pose": lambda q, *_: plant.pose(frame, q),
        "jacobian": lambda q, *_: [plant.jacobian(frame, q)],
        "velocity": lambda q, v, *_: [plant.velocity(frame, q, v)],
        "actuation_map": lambda q, *_: [plant.actuation_map(q)],
        "energy": lambda q, v, *_: plant.energy(q, v),
        "momentum": lambda q, v, *_: [plant.momentum(q, v)],
        "motion": lambda q, v, t, u, w: plant.motion(q, v, None, t, u, {frame: w}),
    }
    outputs = {f"output {name}": lambda q, v, t, *_, name=name: [plant.output(name, q, v, t)] for name in plant.outputs}
    return asked | outputs


def check(plant, seed):
    """Ask everything at states of a seed, together and one by one."""
    rng = np.random.default_rng(seed)
    q, v = states(plant, rng)
    arguments = (
        q,
        v,
        rng.uniform(size=COUNT),
        rng.normal(size=(COUNT, len(plant.actuators))),
        rng.normal(size=(COUNT, 6)),
    )
    for what, ask in questions(plant).items():
        singles = zip(*(ask(*(values[k] for values in arguments)) for k in range(COUNT)), strict=True)
        for together, alone in zip(ask(*arguments), singles, strict=True):
            np.testing.assert_array_equal(together, np.array(alone), err_msg=what)


@pytest.mark.parametrize("name", QUICK)
def test_a_batch_is_its_states_one_by_one(name):
    check(kb.build(kb.load(name)), 5)


@pytest.mark.long
@pytest.mark.parametrize("name", sorted({entry.name for entry in kb.catalog()} - set(QUICK)))
def test_a_batch_of_any_machine_is_its_states_one_by_one(name):
    check(kb.build(kb.load(name)), 6)


@pytest.mark.parametrize("seed", [9, 18, 22, 24])  # those below 30 whose motion is unique and whose loops close
def test_a_batch_of_a_random_machine_is_its_states_one_by_one(seed):
    system, _ = closed_system(seed, 3, 1)
    check(kb.build(system), seed)
