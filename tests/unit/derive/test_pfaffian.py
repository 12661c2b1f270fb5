"""A v̇ = b is what time makes of the rows: A, φ̇ and b against differences along motions."""

from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings

from finite_differences import slope
from kalaba import joints as kinds
from kalaba.derive.equations import derive
from kalaba.derive.kinematics import Kinematics
from kalaba.derive.pfaffian import constraint_rows
from kalaba.model.parts import Body, Connection, Constraint
from kalaba.model.solids import Box, Rod
from kalaba.model.system import System
from kalaba.space.pose import X, Y, Z
from machines import CLOSING_KINDS, closed_systems, random_joint, random_pose
from states import State, numeric, random_state

BOX = Box((0.1, 0.2, 0.3), 1.0)
DIFFERENCE = 1e-8  # of a stencil of sixth order on numbers up to some hundred


def check_rows(system: System, state: State) -> None:
    """φ̇ = d/dt φ and ∂φ̇/∂v = A and b = −d/dt φ̇, along the motion of constant v (quaternions turn steadily)."""
    machine, kinematics = system.machine, Kinematics(system.machine)
    rows = constraint_rows(kinematics)
    value, rate, A, b = (
        lambda s, i=i, at=numeric(kinematics.symbols, rows.value, rows.rate, rows.matrix, rows.rhs): at(s)[i]
        for i in range(4)
    )
    levels = np.array(rows.is_velocity_level, dtype=bool)
    along_path = slope(lambda h: value(state.moved(machine, h)))
    expected = np.where(levels[:, None], value(state), along_path)
    scale = 1 + np.abs(expected).max(initial=0.0)
    assert rate(state) == pytest.approx(expected, abs=DIFFERENCE * scale)
    columns = [slope(lambda h, e=e: rate(replace(state, v=state.v + h * e))) for e in np.eye(len(state.v))]
    assert A(state) == pytest.approx(np.hstack(columns), abs=DIFFERENCE * scale)
    b_expected = -slope(lambda h: rate(state.moved(machine, h)))
    assert b(state) == pytest.approx(b_expected, abs=DIFFERENCE * (1 + np.abs(b_expected).max(initial=0.0)))


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", CLOSING_KINDS)
def test_rows_of_every_connection(kind: type[kinds.Joint], seed: int):
    """Away from closure too: all of φ is differentiated, not its linear part."""
    rng = np.random.default_rng(seed)
    parts = (
        Body("base", BOX),
        Body("ball", BOX, parent="base", at=random_pose(rng), joint=kinds.Spherical()),
        Body("slide", BOX, at=random_pose(rng), joint=random_joint(rng, kinds.Cylindrical)),
        Connection("pin", "ball", "slide", random_pose(rng), random_joint(rng, kind)),
    )
    system = System("loop", parts)
    check_rows(system, random_state(system.machine, rng))


@given(closed_systems(max_bodies=5, max_loops=3))
@settings(max_examples=15)
def test_rows_of_random_machines(closed: tuple[System, State]):
    check_rows(*closed)


def rolling(*constraints: Constraint) -> System:
    """A knife edge: a plane cart with constraints of any kind."""
    cart = Body("cart", BOX, joint=kinds.Planar(Z))
    return System("edge", (cart, Body("pole", Rod(0.5, 1.0), parent="cart", joint=kinds.Spherical()), *constraints))


@pytest.mark.parametrize(
    ("zero", "is_velocity_level"),
    [
        ("cart.x^2 + sin(cart.y) - 0.3*t^2", False),
        ("pole.tip.z*cos(t) - distance(pole.tip, world)", False),
        ("rate(cart.x)*sin(cart.angle) - rate(cart.y)*cos(cart.angle)", True),
        ("rate(cart.x)^2 + rate(cart.y)^2 - (1 + 0.1*sin(t))^2", True),
        ("rate(cart.x)*rate(pole.tip.z) + cart.y*exp(rate(cart.angle)) - t", True),
        ("rate(distance(pole.tip, world)) - 0.2*t", True),
    ],
)
def test_rows_of_expressions(zero: str, *, is_velocity_level: bool):
    system = rolling(Constraint("c", zero))
    rows = constraint_rows(Kinematics(system.machine))
    assert rows.is_velocity_level == (is_velocity_level,)
    check_rows(system, random_state(system.machine, np.random.default_rng(3)))


def test_rows_of_a_callable_and_of_a_dict_keep_their_names_and_order():
    system = rolling(
        Constraint("dict", {"speed": "rate(cart.x) - 0.3", "place": "cart.y - sin(t)"}),
        Constraint("call", lambda m: {"a": ca.sin(m["cart.x"]) * m["rate(cart.y)"], "b": m["pole.tip.x"] - m["t"]}),
        Connection("pin", "pole.tip", at=(0.2, 0, 0), joint=kinds.PointOnLine(Y)),
    )
    assert system.machine.rows == ("dict.speed", "dict.place", "call.a", "call.b", "pin.x", "pin.z")
    rows = constraint_rows(Kinematics(system.machine))
    assert rows.is_velocity_level == (True, False, True, False, False, False)
    check_rows(system, random_state(system.machine, np.random.default_rng(5)))


def test_a_moving_target_enters_the_rate_and_not_the_matrix():
    system = rolling(Constraint("c", "cart.x - sin(2*t)"))
    equations = derive(system)
    state = random_state(system.machine, np.random.default_rng(3))
    rate, A, b = numeric(equations.symbols, equations.rows.rate, equations.constraint_matrix, equations.constraint_rhs)(
        state
    )
    assert rate[0, 0] == pytest.approx(state.v[0] - 2 * np.cos(2 * state.t))
    assert A.tolist() == [[1, 0, 0, 0, 0, 0]]
    assert b[0, 0] == pytest.approx(-4 * np.sin(2 * state.t))


def test_a_machine_without_constraints_has_no_rows():
    rows = constraint_rows(Kinematics(System("free", (Body("b", BOX),)).machine))
    assert rows.value.shape[0] == 0
    assert rows.matrix.shape == (0, 6)
    assert rows.rhs.shape[0] == 0
    assert rows.is_velocity_level == ()


def test_rows_of_a_machine_that_cannot_move():
    parts = (Body("a", BOX, joint=kinds.Weld()), Connection("pin", "a", at=(0.1, 0, 0), joint=kinds.Revolute(X)))
    kinematics = Kinematics(System("stiff", parts).machine)
    rows = constraint_rows(kinematics)
    assert rows.matrix.shape == (5, 0)
    assert rows.is_velocity_level == (False,) * 5


def test_free_motion_that_meets_the_rows_keeps_them():
    """Where A v̇ = b and φ̇ = 0 hold, φ̈ = 0: the KKT motion of derive(...).function agrees with the rows."""
    system = rolling(Constraint("edge", "rate(cart.x)*sin(cart.angle) - rate(cart.y)*cos(cart.angle)"))
    equations = derive(system)
    state = random_state(system.machine, np.random.default_rng(2))
    motion = equations.function("motion")
    v_dot, force = (np.array(x) for x in motion(state.q, state.v, state.t, state.u, state.p))
    s = equations.symbols
    A, b, M, Q = numeric(
        s, equations.constraint_matrix, equations.constraint_rhs, equations.mass_matrix, equations.force
    )(state)
    assert A @ v_dot == pytest.approx(b, abs=1e-12)
    assert M @ v_dot == pytest.approx(Q + force, abs=1e-11)
