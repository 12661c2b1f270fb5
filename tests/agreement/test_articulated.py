"""Two ways to factor the mass matrix of a tree, written out or by recursions: the same motion; the shorter is taken."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kalaba as kb
from kalaba import joints as kinds
from kalaba.constrain.elimination import eliminate_rows, stack
from kalaba.constrain.forest import ForestInertia, articulated_inertia, composite_inertia, tree_inertia
from kalaba.constrain.kernels import motion as motion_kernels
from kalaba.constrain.kernels.matrices import rows as rows_written_out
from kalaba.constrain.kernels.matrices import system_matrices
from kalaba.constrain.rows import independent_rows
from kalaba.derive.equations import Equations, derive
from kalaba.plant.variants import variant
from kalaba.robots.catalogue import ENTRIES
from kinematics_by_hand import frame_poses
from limbs import arm, star
from machines import closed_connection, random_joint, random_pose
from states import State, random_state, relative_gap

SAME = 1e-12  # of the largest entry; mass matrices are conditioned below 1e4 where this is asked
LINK = kb.Solid(1.3, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.15, 0.01, 0.02, -0.01), tip=(0.3, 0.1, 0.2))
KINDS = (
    kinds.Weld,
    kinds.Revolute,
    kinds.Prismatic,
    kinds.Screw,
    kinds.Cylindrical,
    kinds.Universal,
    kinds.Spherical,
    kinds.Planar,
)


def chain(count: int, *, in_space: bool = False) -> kb.System:
    """Hinges one after the other: with parallel axes, or with axes across each other."""
    parts = []
    for i in range(count):
        axis = (kb.X, kb.Y, kb.Z)[i % 3] if in_space else kb.Z
        solid = kb.Solid(1.0, com=(0.0, 0.5, 0.0), inertia=(0.09, 0.02, 0.08))
        where = {"parent": f"b{i - 1}", "at": (0.0, 1.0, 0.0)} if i else {}
        parts.append(kb.Body(f"b{i}", solid, joint=kb.Revolute(axis), **where))
    return kb.System("chain", tuple(parts), gravity=(0.0, -9.81, 0.0))


def random_plain_tree(rng: np.random.Generator, count: int) -> kb.System:
    """Bodies on joints of all kinds that have coordinates of their own, with rotors, springs and a base that floats."""
    parts: list = [kb.Body("b0", LINK, joint=kinds.Free() if rng.random() < 0.4 else random_joint(rng, kinds.Revolute))]
    for i in range(1, count):
        below = f"b{int(rng.integers(max(0, i - 3), i))}" + (".tip" if rng.random() < 0.5 else "")
        joint = random_joint(rng, KINDS[rng.integers(len(KINDS))])
        parts.append(kb.Body(f"b{i}", LINK, below, random_pose(rng), joint))
        words = [f"b{i}.{label}" for label, _ in joint.displacements]
        if words and rng.random() < 0.5:
            parts.append(kb.Rotor(f"rotor{i}", f"{rng.choice([1, 30])}*{words[0]}", 2e-4))
        if words and rng.random() < 0.5:
            parts.append(kb.Spring(f"spring{i}", words[-1], stiffness=3.0, damping=0.4, rest=0.1))
    return kb.System("plain", tuple(parts), gravity=tuple(rng.normal(scale=5.0, size=3)))


def with_closed_loops(system: kb.System, rng: np.random.Generator, count: int) -> tuple[kb.System, State]:
    """Loops of all kinds where a random state closes them; the first of them twice, so that rows depend."""
    state = random_state(system.machine, rng)
    poses, names = frame_poses(system.machine, state), sorted(system.machine.frames)
    loops = []
    while len(loops) < count:
        child, parent = (str(name) for name in rng.choice(names, size=2))
        if system.machine.body_of(child) != system.machine.body_of(parent):
            joint = random_joint(rng, (*KINDS, kinds.PointOnLine)[rng.integers(len(KINDS) + 1)])
            loops.append(closed_connection(f"loop{len(loops)}", poses, (child, parent), joint, rng))
    again = [kb.Connection("again", loop.child, loop.parent, loop.at, loop.joint) for loop in loops[:1]]
    closed = system.add(*loops, *again)
    return closed, replace(state, p=random_state(closed.machine, rng).p)


def solved(equations: Equations, inertia, symbols: tuple[ca.SX, ca.SX]) -> list[ca.SX]:
    """v̇, λ, the pivots of G and the columns of M⁻¹ Aᵀ, with a mask and a further force."""
    mask, further = symbols
    parts = eliminate_rows(inertia.factor, equations.constraint_matrix, mask)
    moved = parts.solve_from(inertia.load(further), equations.constraint_rhs)
    spread = ca.horzcat(ca.SX(further.shape[0], 0), *map(stack, parts.moved))
    return [*moved, mask * stack(parts.gram.pivots), spread]


def gap_between_ways(equations: Equations, states: list[State]) -> float:
    """Largest relative difference of what the two ways give, rows that depend masked."""
    s, m, n = equations.symbols, len(equations.machine.rows), len(equations.machine.velocities)
    mask, further = ca.SX.sym("mask", m), ca.SX.sym("f", n)
    arguments = [s.q, s.v, s.t, s.u, s.p, mask, further]
    ways = [make(equations, equations.constraint_matrix) for make in (composite_inertia, articulated_inertia)]
    assert isinstance(ways[1], ForestInertia), "nothing to compare"
    both = [ca.Function("way", arguments, solved(equations, way, (mask, further))) for way in ways]
    at = ca.Function("matrices", arguments[:5], [equations.mass_matrix, equations.constraint_matrix])
    rng, worst = np.random.default_rng(1), 0.0
    for state in states:
        values = [ca.DM(value) for value in (state.q, state.v, state.t, state.u, state.p)]
        M, A = (np.array(value) for value in at.call(values))
        kept = independent_rows(M, A, equations.machine.is_velocity_level).mask
        more = [ca.DM(kept), ca.DM(rng.normal(size=n))]
        written, recursive = ([np.array(x) for x in way.call([*values, *more])] for way in both)
        assert all(np.isfinite(x).all() for x in written)
        G = (A[kept > 0] @ np.linalg.solve(M, A[kept > 0].T)) if kept.any() else np.eye(1)
        allowance = max(1.0, np.linalg.cond(G) / 1e4)  # rows that hardly differ magnify the rounding of both ways
        worst = max(worst, *(relative_gap(x, y) / allowance for x, y in zip(recursive, written, strict=True)))
    return worst


@pytest.mark.parametrize(
    "name", [name for name in ENTRIES if not name.startswith(("flexible", "floating", "spinning"))]
)
def test_both_ways_agree_on_the_catalogue(name):
    plant = kb.build(kb.load(name))
    equations = plant.equations
    if not isinstance(articulated_inertia(equations, equations.constraint_matrix), ForestInertia):
        pytest.skip("its joints are driven by expressions of other coordinates: M is always written out")
    rng = np.random.default_rng(2)
    p = np.array([parameter.value for parameter in plant.machine.free_parameters])
    u = np.zeros(equations.symbols.u.shape[0])
    start = State(plant.start.q, plant.start.v, 0.0, u, p)
    moving = State(plant.start.q, rng.normal(size=len(plant.velocities)), 0.3, u, p)
    assert gap_between_ways(equations, [start, moving]) < SAME


@given(st.integers(0, 2**32 - 1), st.integers(1, 9))
@settings(max_examples=25)
def test_both_ways_agree_on_random_trees(seed, count):
    rng = np.random.default_rng(seed)
    system = random_plain_tree(rng, count)
    assert gap_between_ways(derive(system), [random_state(system.machine, rng) for _ in range(2)]) < SAME


@given(st.integers(0, 2**32 - 1), st.integers(2, 7), st.integers(1, 3))
@settings(max_examples=25)
def test_both_ways_agree_on_random_loops_with_rows_that_depend(seed, count, loops):
    rng = np.random.default_rng(seed)
    system, state = with_closed_loops(random_plain_tree(rng, count), rng, loops)
    assert gap_between_ways(derive(system), [state]) < SAME


@pytest.mark.parametrize("in_space", [False, True])
def test_both_ways_agree_on_a_chain_that_is_held_where_it_is_stretched(in_space):
    """A singular position: some rows of the hold depend on the others there."""
    tip = {"child": "b7", "parent": "world", "at": (0.0, 7.0, 0.0), "joint": kb.Spherical()}
    system = chain(8, in_space=in_space).add(kb.Connection("hold", **tip))
    machine, rng = system.machine, np.random.default_rng(3)
    p = np.array([parameter.value for parameter in machine.free_parameters])
    still = State(np.zeros(8), np.zeros(8), 0.0, np.zeros(0), p)
    moving = State(np.zeros(8), rng.normal(size=8), 0.0, np.zeros(0), p)
    assert gap_between_ways(derive(system), [still, moving]) < SAME


def mixed() -> kb.System:
    """A long chain, a linkage with absolute angles, a flexible arm and a floating body, tied to each other."""
    hinge = kb.Revolute(kb.Z)
    beam = kb.Beam(1.0, kb.Circle(0.02), density=2700.0, young=7e10, shapes=kb.ClampedFree(1))
    parts = (
        kb.Body("upper", kb.Rod(0.7, 3.0), at=(3.0, 0.0, 0.0), joint=kb.Revolute(kb.Y, q="one")),
        kb.Body("lower", kb.Rod(0.8, 4.0), parent="upper.tip", joint=kb.Revolute(kb.Y, q="two - one")),
        kb.Body("flexible", beam, at=(-3.0, 0.0, 0.0), joint=hinge),
        kb.Body("load", LINK),
        kb.Connection("held", "load", parent="b11", joint=kb.Spherical()),
        kb.Rotor("motor", "3*b4.angle", 0.02),
    )
    return replace(chain(12), parts=(*chain(12).parts, *parts), coordinates=("one", "two"))


def long_mixed() -> kb.System:
    """The same with a chain that is long."""
    return mixed().add(
        *(
            kb.Body(f"b{i}", LINK, parent=f"b{i - 1}", at=(0.0, 1.0, 0.0), joint=kb.Universal(kb.X, kb.Y))
            for i in range(12, 20)
        )
    )


def test_trees_of_both_kinds_stand_beside_each_other():
    system = mixed()
    rng = np.random.default_rng(4)
    equations = derive(system)
    assert gap_between_ways(equations, [random_state(system.machine, rng) for _ in range(3)]) < 10 * SAME  # a beam: 1e6
    chosen = tree_inertia(equations, equations.constraint_matrix)
    assert isinstance(chosen, ForestInertia)
    names = [velocity.name for velocity in system.machine.velocities]
    recursive = {names[column] for column in chosen.factor.articulated.inverse}
    assert recursive == {f"b{i}.angle" for i in range(12)}


def length(monkeypatch, system: kb.System, make) -> int:
    """Instructions of the motion with one way of factoring."""
    monkeypatch.setattr(motion_kernels, "tree_inertia", make)
    return motion_kernels.motion(derive(system)).n_instructions()


def held(count: int) -> kb.System:
    """A chain in space whose tip is held by a ball."""
    return chain(count, in_space=True).add(
        kb.Connection("hold", f"b{count - 1}", at=(1.0, 2.0, 0.3), joint=kb.Spherical())
    )


@pytest.mark.parametrize("make", [chain, lambda n: chain(n, in_space=True), held])
@pytest.mark.parametrize("count", [3, 6, 9, 14])
def test_the_shorter_way_is_taken(monkeypatch, make, count):
    ways = (tree_inertia, composite_inertia, articulated_inertia)
    taken, *both = (length(monkeypatch, make(count), way) for way in ways)
    assert taken <= min(both) * 1.02  # what is counted leaves out the rows' own expressions, which both share in part


def is_articulated(equations: Equations) -> bool:
    return isinstance(tree_inertia(equations, equations.constraint_matrix), ForestInertia)


def test_short_chains_are_written_out_and_long_ones_are_not():
    assert not is_articulated(derive(chain(4)))
    assert is_articulated(derive(chain(14, in_space=True)))


@pytest.mark.parametrize("in_space", [False, True])
def test_the_motion_of_a_chain_takes_instructions_in_proportion_to_its_links(monkeypatch, in_space):
    short, middle, long = (length(monkeypatch, chain(n, in_space=in_space), tree_inertia) for n in (15, 30, 60))
    assert long - middle == pytest.approx(2 * (middle - short), rel=0.02)  # the first and the last link differ


@pytest.mark.parametrize("make", [kb.Lagrange, kb.Kane])
def test_other_derivations_are_written_out(make):
    assert not is_articulated(derive(chain(10), make()))


def test_a_machine_without_inertia_in_some_motion_is_written_out():
    """M + AᵀwA has no tree; a rod on a ball joint does not know its turn about itself."""
    rod = kb.Body("rod", kb.Rod(1.0, 2.0), parent="b19", at=(0.0, 1.0, 0.0), joint=kb.Spherical())
    locked = kb.Connection("weld", "rod", at=(0, 20.0, 0), joint=kb.Weld())
    plant = kb.build(chain(20).add(rod, locked))
    assert plant.is_singular
    reference = kb.build(plant.system, backend=kb.Interpreted(), solver=kb.UdwadiaKalaba())
    q, v = plant.start.q, plant.start.v
    assert relative_gap(plant.motion(q, v).acceleration, reference.motion(q, v).acceleration) < 1e-9


@pytest.mark.parametrize("make", [lambda: chain(20), lambda: chain(17, in_space=True), lambda: held(18), long_mixed])
def test_matrices_pair_by_pair_are_those_written_out(make):
    plant = kb.build(make())
    assert plant.has_long_trees
    rng, machine = np.random.default_rng(5), plant.machine
    for name, whole in (("system_matrices", system_matrices), ("rows", rows_written_out)):
        assert variant(plant, name)[1] == "pairs"
        function, expected = plant.standard(name), whole(plant.equations)
        for _ in range(2):
            state = random_state(machine, rng)
            packed = plant.pack(state.q, state.v, state.t)
            packed[plant.layout.f] = rng.normal(size=len(plant.velocities))
            ends = np.cumsum(list(plant.layout.sizes.values()))[:-1]
            wanted = expected.call([*map(ca.DM, np.split(packed, ends)), ca.DM(state.p)])
            found = function(packed)
            for key, value in zip(expected.name_out(), wanted, strict=True):
                assert relative_gap(found[function.outputs[key]], np.array(value).ravel()) < SAME, key


def test_limbs_that_are_long_move_as_the_whole_machine_by_definition():
    plant = kb.build(star(arm(12), kb.Spherical(), 3))
    assert plant.solved_by_limbs is not None
    assert is_articulated(derive(arm(12)))
    by_definition = kb.build(plant.system, backend=kb.Interpreted(), solver=kb.UdwadiaKalaba())
    q, v = plant.start.q, np.random.default_rng(7).normal(size=len(plant.velocities))
    assert relative_gap(plant.motion(q, v).acceleration, by_definition.motion(q, v).acceleration) < 1e-9


def test_a_run_of_a_long_closed_chain_is_that_of_the_reference_loop():
    """Its rows are chosen with the mass matrix pair by pair, its projections use recursions."""
    system = replace(held(17), start=kb.Start(guess={f"b{i}.angle": 0.2 for i in range(17)}))
    plant = kb.build(system)
    assert plant.has_long_trees
    stepper = kb.RungeKutta4(2e-3)
    run = kb.simulate(plant, 0.02, stepper=stepper, check=False)
    reference = kb.build(system, backend=kb.Interpreted(), solver=kb.UdwadiaKalaba())
    expected = kb.simulate(reference, 0.02, stepper=stepper, check=False)
    assert relative_gap(run.end.q, expected.end.q) < 1e-10
    assert run.worst.value < 1e-12


def test_a_batch_of_states_of_a_long_chain_moves_as_each_of_them():
    plant = kb.build(held(20))
    rng = np.random.default_rng(6)
    q, v = plant.start.q + np.zeros((9, 1)), rng.normal(size=(9, 20))
    together = plant.motion(q, v).acceleration
    assert np.array_equal(together, [plant.motion(*state).acceleration for state in zip(q, v, strict=True)])
    by_definition = kb.build(held(20), backend=kb.Interpreted(), solver=kb.UdwadiaKalaba())
    assert relative_gap(together[0], by_definition.motion(q[0], v[0]).acceleration) < 1e-9  # by way of A M^-1/2
