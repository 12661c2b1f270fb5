"""Parallel robots in the speeds of their platforms: the same motion, forces and loads as the cut tree has."""

from functools import cache

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.derive.platform_speeds import solve_by_blocks
from kalaba.errors import ControlError, ModelError
from kalaba.plant.choice import free_directions
from kalaba.printing.sheet import Sheet
from kalaba.robots.catalogue import find
from kalaba.space.configuration import displaced
from printed_latex import numbers

MACHINES = {
    "pus-upu": "platform",
    "stewart": "platform",
    "delta": "platform",
    "planar-parallel": "leg1.link_b.tip",
    "five-bar": "left.rod.tip",
    "sarrus": "platform",
}
LOADS = {"pus-upu": 1, "delta": 3, "planar-parallel": 1, "sarrus": 2}  # speeds less freedoms
SAME = 1e-11  # of the largest entry


@cache
def space(name: str) -> kb.control.PlatformSpace:
    return kb.control.platform_space(kb.build(kb.load(name), backend=kb.Interpreted()), MACHINES[name])


def moving(plant: kb.Plant, seed: int) -> kb.State:
    """A state near the start, closed, with a velocity that keeps all rows."""
    rng, start = np.random.default_rng(seed), plant.start.q
    N = free_directions(plant, start)
    near = displaced(plant.machine, start, N @ rng.normal(size=N.shape[1]) * 0.05)
    q = plant.project(kb.State(near, np.zeros(len(plant.velocities)))).q
    N = free_directions(plant, q)
    return kb.State(q, N @ rng.normal(size=N.shape[1]))


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


@pytest.mark.parametrize("name", MACHINES)
def test_speeds_less_loads_are_the_freedoms(name):
    one = space(name)
    freedoms = free_directions(one.plant, one.plant.start.q).shape[1]
    assert len(one.speeds) - len(one.loads) == freedoms
    assert len(one.loads) == LOADS.get(name, 0)


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("seed", [1, 2])
def test_under_given_efforts_it_moves_as_the_cut_tree_does(name, seed):
    one, plant = space(name), space(name).plant
    state = moving(plant, seed)
    u = np.random.default_rng(seed).normal(size=len(plant.actuators)) * 10
    acceleration, loads = one.acceleration(state, u)
    model = one.model(state)
    expected = plant.motion(*state, actuation=u).acceleration
    assert relative(model.velocity_map @ acceleration + model.convective, expected) < SAME
    force = model.force_map @ np.concatenate([u, loads])
    assert relative(force, model.inertia @ acceleration + model.bias) < SAME
    # the loads are the multipliers of the rows: with them all rows that follow are at peace with M v̇ + bias
    rest = plant.mass_matrix(state.q) @ expected + plant.bias(*state) - plant.actuation_map(state.q) @ u
    A, _ = plant.constraint(*state)
    multipliers = np.linalg.lstsq(A.T, rest, rcond=None)[0]
    if np.linalg.matrix_rank(A) == len(A):
        assert np.abs(multipliers[list(one.split.loads)] - loads).max(initial=0.0) < 1e-9 * np.abs(multipliers).max()


@pytest.mark.parametrize("name", MACHINES)
def test_velocities_are_the_partial_velocities_times_the_speeds(name):
    one, plant = space(name), space(name).plant
    state = moving(plant, 3)
    twist = plant.velocity(MACHINES[name], *state)[list(one.split.twist)]
    speeds = np.concatenate([twist, state.v[list(one.split.lent)]])
    assert relative(one.model(state).velocity_map @ speeds, state.v) < SAME
    for body, partial in one.partial_velocities(state.q).items():
        assert np.abs((partial @ speeds)[3:] - plant.velocity(body, *state)[3:]).max() < 1e-11


@pytest.mark.parametrize("name", ["pus-upu", "five-bar"])
def test_efforts_that_are_shared_give_the_acceleration_that_was_asked(name):
    one, plant = space(name), space(name).plant
    state = moving(plant, 4)
    wanted, _ = one.acceleration(state, np.linspace(-20, 30, len(plant.actuators)))
    for with_loads in (False, True):
        forces = one.share(state, wanted, with_loads=with_loads)
        assert relative(one.model(state).force_map @ forces, one.required(state, wanted)) < 1e-10
        found, loads = one.acceleration(state, forces[: len(plant.actuators)])
        assert relative(found, wanted) < 1e-9
        assert np.abs(loads - forces[len(plant.actuators) :]).max(initial=0.0) < 1e-8


def test_the_printed_force_map_is_read_back_as_its_numbers():
    one = space("pus-upu")
    state, notation = moving(one.plant, 5), find("pus-upu").notation
    sheet = Sheet(one.equations, notation)
    given = [*state.q, *state.v, 0.0, *np.zeros(6), *(x.value for x in sheet.letters if x.value is not None)]
    letters = {x.latex: number for x, number in zip(sheet.letters, given, strict=True)}
    read = numbers(one.equations.latex("force_map", notation), letters)
    G = np.array([[read.get(f"G_{{{i + 1},{j + 1}}}", 0.0) for j in range(7)] for i in range(6)])
    assert relative(G, one.model(state).force_map) < SAME


def test_its_expressions_are_a_function_for_other_programs():
    one = space("five-bar")
    state, parameters = moving(one.plant, 6), one.plant.parameters
    found = one.equations.function("platform_inertia")(*state, 0.0, np.zeros(2), parameters)
    assert relative(np.array(found), one.model(state).inertia) < SAME


def test_rows_can_be_named_as_loads():
    chosen = kb.control.platform_space(space("planar-parallel").plant, "leg1.link_b.tip", loads=("leg1.base.x",))
    assert chosen.loads == ("leg1.base.x",)
    state = moving(chosen.plant, 1)
    u = np.full(len(chosen.plant.actuators), 0.1)
    acceleration, _ = chosen.acceleration(state, u)
    model = chosen.model(state)
    expected = chosen.plant.motion(*state, actuation=u).acceleration
    assert relative(model.velocity_map @ acceleration + model.convective, expected) < SAME


def test_a_leg_that_moves_while_the_platform_rests_lends_a_rate():
    """A pendulum beside the five-bar linkage is decided by nothing that the tips do."""
    beside = kb.Body("beside", kb.Rod(0.2, mass=0.1), joint=kb.Revolute(kb.Y))
    plant = kb.build(kb.load("five-bar").add(beside), backend=kb.Interpreted())
    one = kb.control.platform_space(plant, "left.rod.tip")
    assert one.speeds == ("left.rod.tip.vx", "left.rod.tip.vz", "beside.angle")
    state = moving(plant, 1)
    acceleration, _ = one.acceleration(state, [1.0, 2.0])
    model = one.model(state)
    expected = plant.motion(*state, actuation=[1.0, 2.0]).acceleration
    assert relative(model.velocity_map @ acceleration + model.convective, expected) < SAME


def test_blocks_are_solved_one_after_the_other():
    rng = np.random.default_rng(0)
    K = np.triu(rng.normal(size=(6, 6)))
    K[2, 1] = K[5, 4] = 1.3  # two blocks of two
    K = K[rng.permutation(6)][:, rng.permutation(6)]
    R = rng.normal(size=(6, 2))
    found = ca.Function("f", [], [solve_by_blocks(ca.sparsify(ca.SX(K)), ca.SX(R))])()["o0"]
    np.testing.assert_allclose(np.array(found), np.linalg.solve(K, R), rtol=1e-11)


def test_wrong_names_are_answered():
    plant = space("five-bar").plant
    with pytest.raises(ModelError, match=r"no frame 'left.rod.tp'; did you mean .*left\.rod\.tip"):
        kb.control.platform_space(plant, "left.rod.tp")
    with pytest.raises(ModelError, match=r"no row 'pin.w' in loads=; .*pin"):
        kb.control.platform_space(plant, "left.rod.tip", loads=("pin.w",))
    with pytest.raises(ModelError, match=r"loads= names 1 row that the others imply, pin\.y\."):
        kb.control.platform_space(plant, "left.rod.tip", loads=("pin.y",))
    with pytest.raises(ModelError, match="world does not move"):
        kb.control.platform_space(plant, "world")


def test_a_leg_that_is_stretched_out_is_refused():
    one = space("five-bar")
    q = one.plant.start.q.copy()
    q[one.plant.coordinates.index("left.rod.angle")] = 0.0
    with pytest.raises(ControlError, match="five-bar: a leg is singular here"):
        one.model(kb.State(q, np.zeros(4)))
