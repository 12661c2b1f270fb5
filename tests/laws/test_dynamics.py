"""What every mechanism obeys, whatever the method: of M, of bias, of energy and of momentum."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from kalaba import joints as kinds
from kalaba.derive.applied import spring_force
from kalaba.derive.equations import Equations, derive
from kalaba.derive.kane import Kane
from kalaba.derive.lagrange import Lagrange
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.errors import DeriveError
from kalaba.model.acting import Actuator, Force, Rotor, Spring
from kalaba.model.parts import Body
from kalaba.model.solids import Box, Cylinder, Rod, Solid
from kalaba.model.system import System
from kalaba.space.pose import Pose
from machines import (
    TREE_KINDS,
    flexible_system,
    random_joint,
    random_pose,
    random_solid,
    random_system,
    random_tree,
    systems,
)
from states import State, numeric, random_state, relative_gap

ROUNDING = 1e-11
SOLVED = 1e-9  # after a solve with M, whose condition number is below 1e4
RNG_SEED = 3


@given(systems(max_bodies=12))
@settings(max_examples=30)
def test_mass_matrix_is_symmetric_and_positive_semidefinite(system: System):
    equations = derive(system)
    M = numeric(equations.symbols, equations.mass_matrix)(random_state(system.machine, np.random.default_rng(0)))[0]
    assert np.array_equal(M, M.T)
    if M.size:
        assert np.linalg.eigvalsh(M).min() >= -ROUNDING * np.abs(M).max()


def acceleration(equations: Equations, state: State) -> np.ndarray:
    """v̇ of the unconstrained motion; M is regular."""
    M, Q = numeric(equations.symbols, equations.mass_matrix, equations.force)(state)
    return np.linalg.solve(M, Q[:, 0])


def slope(equations: Equations, value: ca.SX, state: State, v_dot: np.ndarray) -> np.ndarray:
    """d/dt of an expression along a motion: ∂e/∂q q̇ + ∂e/∂v v̇ + ∂e/∂t."""
    s = equations.symbols
    return numeric(s, s.rate(value) + ca.jtimes(value, s.v, ca.SX(v_dot)))(state)[0][:, 0]


def without_quaternions(seed: int) -> System:
    """A chain of joints for which v = q̇, of solids that cannot be massless, with springs."""
    rng = np.random.default_rng(seed)
    plain = [kind for kind in TREE_KINDS if not kind.has_quaternion]
    parts, parent = [], "world"
    for index in range(4):
        joint = random_joint(rng, plain[rng.integers(len(plain))])
        parts.append(Body(f"b{index}", heavy(rng), parent, random_pose(rng), joint))
        parent = f"b{index}"
    parts.append(Spring("s", "sqrt(0.1 + distance(b3, world)^2)", stiffness=30.0, rest=0.4))
    return System("plain", tuple(parts))


def heavy(rng: np.random.Generator) -> Solid:
    """A solid whose inertia is regular."""
    return Solid(
        1.0 + rng.random(), com=tuple(rng.normal(scale=0.2, size=3)), inertia=tuple(0.1 + 0.05 * rng.random(3))
    )


@pytest.mark.parametrize("seed", range(6))
def test_christoffel_coriolis_makes_mass_rate_minus_twice_it_skew(seed: int):
    equations = derive(without_quaternions(seed))
    s, M, C = equations.symbols, equations.mass_matrix, equations.coriolis
    M_dot = ca.reshape(s.rate(ca.vec(M)), *M.shape)
    springs = spring_force(equations.kinematics)
    rest = ca.mtimes(C, s.v) + equations.gravity - springs
    state = random_state(equations.machine, np.random.default_rng(seed))
    S, found, bias = numeric(s, M_dot - 2 * C, rest, equations.bias)(state)
    assert relative_gap(S + S.T, np.zeros_like(S)) < ROUNDING * max(1.0, np.abs(S).max(initial=0.0))
    assert relative_gap(found, bias) < ROUNDING


def test_coriolis_refuses_quaternions_by_name():
    equations = derive(System("ball", (Body("b", Rod(1.0, 1.0), joint=kinds.Spherical()),)))
    with pytest.raises(DeriveError, match=r"ball.*quaternions"):
        _ = equations.coriolis


def with_everything(seed: int) -> System:
    """A regular tree of all kinds of joints with springs, dampers, a motor and a wrench."""
    rng = np.random.default_rng(seed)
    kinds_used = rng.permutation(np.array(TREE_KINDS, dtype=object))[:5]
    parts, parent = [Body("root", heavy(rng), joint=kinds.Free())], "root"
    for index, kind in enumerate(kinds_used):
        parts.append(Body(f"b{index}", heavy(rng), parent, random_pose(rng), random_joint(rng, kind)))
        parent = f"b{index}" if rng.random() < 0.7 else "root"
    return System(
        "everything",
        (
            *parts,
            Spring("far", "sqrt(distance(b4, world)^2 + 0.1)", stiffness=20.0, damping=1.1, rest=0.3),
            Spring("up", "b2.z", stiffness=3.0, damping=0.6, friction=2.0, creep=0.3),
            Actuator("winch", "sqrt(distance(b1, b3)^2 + 0.2)"),
            Force("wind", "b3", force=("sin(t)", "2", "b3.x"), torque=(0.3, "cos(t)", -0.2)),
        ),
    )


@pytest.mark.parametrize("method", [NewtonEuler(), Lagrange(), Kane()])
@pytest.mark.parametrize("seed", range(4))
def test_energy_changes_by_the_power_of_what_acts(seed: int, method):
    system = with_everything(seed)
    equations = derive(system, method)
    s = equations.symbols
    state = random_state(system.machine, np.random.default_rng(RNG_SEED))
    outside = ca.mtimes(equations.actuation_map, s.u) + equations.applied_force
    rates = [s.rate(equations.kinematics.value(spring.displacement)) for spring in system.machine.springs]
    heat = sum(
        equations.kinematics.number(spring.damping) * rate**2
        + equations.kinematics.number(spring.friction) * rate * ca.tanh(rate / spring.creep)
        for spring, rate in zip(system.machine.springs, rates, strict=True)
    )
    power = float(numeric(s, ca.dot(s.v, outside) - heat)(state)[0][0, 0])
    energy = equations.kinetic_energy + equations.potential_energy
    found = slope(equations, energy, state, acceleration(equations, state))[0]
    assert found == pytest.approx(power, rel=SOLVED, abs=SOLVED)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("make", [lambda seed: random_system(seed, 7), lambda seed: flexible_system(seed, 4)])
def test_the_energy_of_the_bodies_is_that_of_the_mass_matrix(seed: int, make):
    system = make(seed).add(Rotor("rotor", "sin(a) + 2*b", 0.3))
    equations = derive(system)
    state = random_state(system.machine, np.random.default_rng(RNG_SEED))
    found, expected = numeric(equations.symbols, equations.motion_energy, equations.kinetic_energy)(state)
    assert found[0, 0] == pytest.approx(expected[0, 0], rel=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_momentum_of_a_floating_machine_changes_by_outside_forces_alone(seed: int):
    """Linear: Σ m g + f. Angular about the world's origin: Σ c × m g + p × f + n."""
    rng = np.random.default_rng(seed)
    parts, parent = [Body("root", heavy(rng), joint=kinds.Free())], "root"
    for index, kind in enumerate(rng.permutation(np.array(TREE_KINDS, dtype=object))[:4]):
        parts.append(Body(f"b{index}", heavy(rng), parent, random_pose(rng), random_joint(rng, kind)))
        parent = f"b{index}"
    inner = Spring("inside", "sqrt(distance(b3, root)^2 + 0.1)", stiffness=20.0, damping=1.1, rest=0.3)
    push = Force("push", "b1", force=(1.0, -2.0, 0.5), torque=(0.2, 0.1, -0.3))
    system = System("floating", (*parts, inner, push), gravity=(0.3, 0.2, -1.6))
    equations = derive(system)
    state = random_state(system.machine, np.random.default_rng(RNG_SEED))
    expected = wrench_of_push_and_gravity(equations, state)
    found = slope(equations, equations.momentum, state, acceleration(equations, state))
    assert found == pytest.approx(expected, rel=SOLVED, abs=SOLVED)


def wrench_of_push_and_gravity(equations: Equations, state: State) -> np.ndarray:
    """Force and moment about the world's origin that act from outside."""
    k = equations.kinematics
    at = numeric(k.symbols, *(ca.horzcat(centre, body.mass * k.gravity) for body, centre in equations._centres()))(
        state
    )
    force, torque = np.array([1.0, -2.0, 0.5]), np.array([0.2, 0.1, -0.3])
    place = numeric(k.symbols, k.frame("b1").position)(state)[0][:, 0]
    moment = torque + np.cross(place, force) + sum(np.cross(cw[:, 0], cw[:, 1]) for cw in at)
    return np.concatenate([force + sum(cw[:, 1] for cw in at), moment])


def test_momentum_is_the_gradient_of_kinetic_energy_for_a_free_body():
    """∂T/∂(vx, vy, vz) is the linear momentum, whatever hangs on the body."""
    equations = derive(with_everything(1))
    s = equations.symbols
    state = random_state(equations.machine, np.random.default_rng(RNG_SEED))
    P, found = numeric(s, equations.momentum[0:3], ca.gradient(equations.kinetic_energy, s.v)[0:3])(state)
    assert found == pytest.approx(P, rel=1e-12)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
@settings(max_examples=25)
def test_a_machine_placed_elsewhere_with_gravity_turned_along_has_the_same_equations(seed: int, bodies: int):
    rng = np.random.default_rng(seed)
    tree = without_world_springs(random_tree(rng, bodies))
    at = Pose(tuple(rng.normal(size=3)), quaternion=tuple(rng.normal(size=4)))
    turn = Rotation.from_quat(np.roll(at.quaternion, -1))
    there = System("there", (tree.place("m", at=at),), gravity=tuple(turn.apply(tree.gravity)))
    here = derive(tree), random_state(tree.machine, np.random.default_rng(1))
    moved = derive(there), random_state(there.machine, np.random.default_rng(1))
    values = [numeric(e.symbols, e.mass_matrix, e.bias)(state) for e, state in (here, moved)]
    for a, b in zip(*values, strict=True):
        assert relative_gap(b, a) < ROUNDING


def without_world_springs(system: System) -> System:
    """Leave out springs that know where the world's axes point, in placed Systems too."""
    parts = []
    for part in system.parts:
        if hasattr(part, "system"):
            parts.append(replace(part, system=without_world_springs(part.system)))
        elif not isinstance(part, Spring) or not any(f".{c}" in part.displacement for c in "xz"):
            parts.append(part)
    return replace(system, parts=tuple(parts))


def scaled(value: object, length: float, mass: float) -> object:
    """A part in other units: numbers by their unit, so many new lengths a metre and new masses a kilogram."""
    from kalaba.space.number import quantities, with_values

    factors = {"m": length, "kg": mass, "kg*m^2": mass * length**2}
    by_path = {q.path: q.value * factors.get(q.unit, 1.0) for q in quantities(value)}
    return with_values(value, by_path.__getitem__)


@pytest.mark.parametrize("kind", [kinds.Revolute, kinds.Universal, kinds.Spherical])
def test_units_scale_out(kind: type[kinds.Joint]):
    """Angles have no unit: in feet and pounds every entry of M and bias is the same times mass·length²."""
    rng = np.random.default_rng(8)
    bodies, parent = [], "world"
    for index, solid in enumerate((Box((0.2, 0.3, 0.4), 1.5), Cylinder(0.1, 0.5, 2.0), random_solid(rng))):
        bodies.append(Body(f"b{index}", solid, parent, random_pose(rng), random_joint(rng, kind)))
        parent = f"b{index}"
    length, mass = 1 / 0.3048, 1 / 0.45359237
    metric = System("metric", tuple(bodies))
    imperial = System("imperial", tuple(scaled(b, length, mass) for b in bodies), gravity=(0, 0, -9.81 * length))
    values = []
    for system in (metric, imperial):
        equations, state = derive(system), random_state(system.machine, np.random.default_rng(2))
        values.append(numeric(equations.symbols, equations.mass_matrix, equations.bias)(state))
    for ours, theirs in zip(*values, strict=True):
        assert relative_gap(theirs, ours * mass * length**2) < ROUNDING


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=10)
def test_two_placements_are_two_blocks_of_the_same_equations(seed: int):
    tree = random_system(seed, 3)
    pair = System("pair", (tree.place("one"), tree.place("two")), gravity=tree.gravity)
    single, double = derive(tree), derive(pair)
    state, both = (random_state(system.machine, np.random.default_rng(0)) for system in (tree, pair))
    both = replace(both, q=np.tile(state.q, 2), v=np.tile(state.v, 2), t=state.t)
    M, bias = numeric(single.symbols, single.mass_matrix, single.bias)(state)
    M2, bias2 = numeric(double.symbols, double.mass_matrix, double.bias)(both)
    assert relative_gap(M2, np.kron(np.eye(2), M)) < ROUNDING
    assert relative_gap(bias2, np.tile(bias, (2, 1))) < ROUNDING
