"""Newton-Euler, Lagrange and Kane share poses and nothing else; they must give the same equations to rounding."""

import math

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings

from kalaba import joints as kinds
from kalaba.derive.equations import derive
from kalaba.derive.kane import Kane
from kalaba.derive.kinematics import Kinematics
from kalaba.derive.lagrange import Lagrange
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.model.acting import Spring
from kalaba.model.parts import Body, Frame
from kalaba.model.solids import Rod, Solid
from kalaba.model.system import System
from kalaba.space.pose import Pose, X, Y, Z
from machines import TREE_KINDS, random_joint, systems
from states import numeric, random_state, relative_gap

ROUNDING = 1e-12  # seen over a thousand machines: 4e-15
LINK = Solid(1.3, com=(0.1, 0.2, 0.3), inertia=(0.1, 0.2, 0.15, 0.01, 0.02, -0.01), tip=(0.3, 0.1, 0.2))


def worst_gap(system: System, states: int = 2) -> float:
    """Largest relative difference of M and bias between the three derivations."""
    kinematics = Kinematics(system.machine)
    ways = [method.dynamics(kinematics) for method in (NewtonEuler(), Lagrange(), Kane())]
    at = numeric(kinematics.symbols, *(entry for way in ways for entry in (way.mass_matrix, way.bias)))
    rng, worst = np.random.default_rng(0), 0.0
    for _ in range(states):
        M, bias, *others = at(random_state(system.machine, rng))
        assert np.isfinite(M).all()
        assert np.isfinite(bias).all()
        gaps = [relative_gap(found, expected) for found, expected in zip(others, (M, bias) * 2, strict=True)]
        worst = max(worst, *gaps)
    return worst


@given(systems(max_bodies=20))
@settings(max_examples=60)
def test_three_derivations_agree_on_random_machines(system: System):
    assert worst_gap(system) < ROUNDING


@pytest.mark.long
@given(systems(max_bodies=20))
@settings(max_examples=600)
def test_three_derivations_agree_on_many_random_machines(system: System):
    assert worst_gap(system) < ROUNDING


@pytest.mark.parametrize("first", TREE_KINDS)
@pytest.mark.parametrize("second", TREE_KINDS)
def test_three_derivations_agree_for_each_pair_of_joints(first: type[kinds.Joint], second: type[kinds.Joint]):
    rng = np.random.default_rng(5)
    tilted = Pose((0.1, 0.2, -0.3), rpy=(0.4, math.pi / 2, -0.7))
    parts = (
        Body("one", LINK, at=tilted, joint=random_joint(rng, first)),
        Body("two", LINK, parent="one.tip", at=tilted, joint=random_joint(rng, second)),
    )
    assert worst_gap(System("pair", parts)) < 1e-13


def absolute_angles() -> System:
    return System(
        "absolute",
        coordinates=("x", "t1", "t2"),
        parts=(
            Body("cart", Solid(5.0), joint=kinds.Planar(Z, q=("x", "sin(x)", 0))),
            Body("upper", Rod(0.7, 3.0), parent="cart", joint=kinds.Revolute(-Y, q="t1")),
            Body("lower", Rod(0.8, 4.0), parent="upper.tip", joint=kinds.Revolute(-Y, q="t2 - t1")),
            Spring("s", "t2 - t1", stiffness=3.0, damping=0.4, rest=0.1, friction=0.6, creep=0.5),
        ),
    )


def geared() -> System:
    nut = kinds.Screw(X, pitch=0.2)
    return System(
        "geared",
        (
            Body("drum", LINK, joint=kinds.Revolute(Z)),
            Body("nut", LINK, parent="drum", joint=nut),
            Body("mimic", LINK, parent="nut", joint=kinds.Prismatic(Y, q="0.5*drum.angle - 0.1*nut.angle^2")),
        ),
    )


def tethered() -> System:
    return System(
        "tethered",
        (
            Body("sat", LINK),
            Body("ball", LINK, parent="sat.tip", joint=kinds.Spherical()),
            Frame("hook", at=(0.0, 3.0, 4.0)),
            Spring("tether", "distance(ball.tip, hook)", stiffness=20.0, damping=1.5, rest=2.0, friction=2.0, creep=1),
            Spring("moving_rest", "sat.z - 0.3*t", stiffness=4.0, damping=0.7),
        ),
        gravity=(1.0, -2.0, 0.5),
    )


@pytest.mark.parametrize("make", [absolute_angles, geared, tethered])
def test_three_derivations_agree_by_hand(make):
    assert worst_gap(make()) < 1e-13


def test_a_machine_that_cannot_move_has_no_equations():
    system = System("pedestal", (Body("stone", LINK, joint=kinds.Weld()),))
    assert worst_gap(system) == 0.0
    for method in (NewtonEuler(), Lagrange(), Kane()):
        equations = derive(system, method)
        assert equations.mass_matrix.shape == (0, 0)
        assert equations.bias.shape[0] == 0


def test_a_pendulum_is_the_one_of_the_textbook():
    system = System("pendulum", (Body("rod", Rod(0.8, 2.0), joint=kinds.Revolute(Y)),))
    state = random_state(system.machine, np.random.default_rng(1))
    for method in (NewtonEuler(), Lagrange(), Kane()):
        equations = derive(system, method)
        M, bias = numeric(equations.symbols, equations.mass_matrix, equations.bias)(state)
        assert M[0, 0] == pytest.approx(2.0 * 0.8**2 / 3, rel=1e-15)
        assert bias[0, 0] == pytest.approx(-2.0 * 9.81 * 0.4 * math.cos(state.q[0]), rel=1e-14)


def step_values(method) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """The steps of a derivation at a state by their names, with M and the bias; and the velocities there."""
    equations = derive(absolute_angles(), method)
    steps = dict(equations.steps) | {"M": equations.mass_matrix, "bias": equations.bias}
    if (rates := steps.get("rates of the coordinates")) is not None:  # symbols, until all is differentiated
        by_velocities = steps["rates of the coordinates by velocities"]
        steps = {name: ca.substitute(ca.SX(value), rates, by_velocities) for name, value in steps.items()}
    state = random_state(absolute_angles().machine, np.random.default_rng(3))
    values = numeric(equations.symbols, *steps.values())(state)
    return dict(zip(steps, values, strict=True)), state.v[:, None]


def test_steps_of_newton_and_euler_lead_to_the_equations():
    step, v = step_values(NewtonEuler())
    J = step["joint rates by velocities"]
    np.testing.assert_allclose(J @ v, step["joint rates"], atol=1e-13)
    np.testing.assert_allclose(J.T @ step["joint mass matrix"] @ J, step["M"], atol=1e-12)


def test_steps_of_lagrange_lead_to_the_equations():
    step, v = step_values(Lagrange())
    T = sum(step[f"kinetic energy of {body}"] for body in ("cart", "upper", "lower"))
    np.testing.assert_allclose(T, step["kinetic energy"], rtol=1e-13)
    np.testing.assert_allclose(T, v.T @ step["M"] @ v / 2, rtol=1e-13)
    np.testing.assert_allclose(T - step["potential energy"], step["Lagrangian"], rtol=1e-13)
    np.testing.assert_allclose(step["M"] @ v, step["momenta"], rtol=1e-12)
    slopes = step["slope of the potential energy"] + step["slope of the dissipation"]
    rest = step["rates of the momenta"] - step["slope of the kinetic energy"] + slopes + step["dry friction"]
    np.testing.assert_allclose(rest, step["bias"], atol=1e-11)


def test_steps_of_kane_lead_to_the_equations():
    step, v = step_values(Kane())
    np.testing.assert_allclose(step["partial velocities"] @ v, step["body velocities"], atol=1e-13)
    np.testing.assert_allclose(step["inertia and gravity forces"] + step["spring forces"], step["bias"], atol=1e-11)
    for body in ("cart", "upper", "lower"):
        turns, moves = (step[f"partial {kind} of {body}"] for kind in ("angular velocities", "velocities"))
        np.testing.assert_allclose(turns @ v, step[f"angular velocity of {body}"], atol=1e-13)
        np.testing.assert_allclose(moves @ v, step[f"velocity of the centre of {body}"], atol=1e-13)
