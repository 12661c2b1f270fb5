"""Derivatives of the motion against differences along states that stay on the constraints."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.plant.plant import State
from kalaba.plant.reference import project_state
from states import moved

STEP = 1e-4  # differences of fourth order: some 1e-12 of truncation, 1e-16/1e-4 of rounding, times stiff numbers
NEAR = 2e-6


def machines() -> dict[str, kb.System]:
    four, bennett = kb.load("four-bar"), kb.load("bennett")
    moving = kb.Start(hold=four.start.hold, guess=four.start.guess, speed={"crank.angle": 4.0})
    tree = kb.System(
        "tree",
        (
            kb.Body("base", kb.Box((0.3, 0.4, 0.5), mass=5.0)),
            kb.Body(
                "u", kb.Box((0.1, 0.1, 0.4), mass=1.0), parent="base", at=(0.2, 0, 0.1), joint=kb.Universal(kb.X, kb.Y)
            ),
            kb.Connection("rail", "u", at=(0, 0, 0), joint=kb.PointOnLine(kb.Axis(1, 1, 0))),
            kb.Spring("s", "u.angle1", stiffness=5.0, damping=0.5),
        ),
        start=kb.Start(
            guess={"base": kb.Pose((0.1, 0.2, 0.1), rpy=(0.3, 0.2, 0.5)), "u.angle1": 0.3},
            speed={"u.angle2": 1.0, "u.angle1": -0.5},
        ),
    )
    skate = kb.System(
        "skate",
        (
            kb.Body("s", kb.Box((0.3, 0.2, 0.1), mass=1.0), at=kb.Pose(rpy=(0.3, 0, 0)), joint=kb.Planar(kb.Z)),
            kb.Constraint("blade", "cos(s.angle)*rate(s.y) - sin(s.angle)*rate(s.x)"),
        ),
        start=kb.Start(hold={"s.angle": 0.4}, speed={"s.x": 1.0, "s.angle": 2.0}),
    )
    told = kb.System(  # rates told by positions, one of them through the square of a rate
        "told",
        (
            kb.Body("p", kb.Box((0.3, 0.2, 0.1), mass=1.0), joint=kb.Planar(kb.Z)),
            kb.Body("q", kb.Rod(0.3, mass=0.5), parent="p", joint=kb.Revolute(-kb.Y)),
            kb.Constraint("lead", "rate(p.x) + rate(p.y) + 3*p.x*p.angle"),
            kb.Constraint("pace", "rate(p.angle)^2 + rate(q.angle)^2 - 1 - p.y"),
        ),
        start=kb.Start(
            hold={"p.x": 0.4, "p.y": 0.3, "p.angle": 0.5, "q.angle": 0.7}, speed={"p.angle": 0.8, "p.x": 0.2}
        ),
    )
    return {
        "told": told,
        "four-bar": kb.System("four-bar", four.parts, start=moving),
        "bennett": bennett,
        "tree": tree,
        "skate": skate,
    }


@pytest.fixture(scope="module", params=["four-bar", "bennett", "tree", "skate", "told"])
def plant(request) -> kb.Plant:
    return kb.build(machines()[request.param], backend=kb.Interpreted())


def differences(function) -> np.ndarray:
    return (8 * (function(STEP) - function(-STEP)) - (function(2 * STEP) - function(-2 * STEP))) / (12 * STEP)


def test_the_tangent_obeys_the_rows(plant):
    q, v = plant.start
    found = plant.derivatives(q, v)
    A, _ = plant.constraint(q, v)
    assert np.abs(A @ found.tangent).max() < 1e-9
    assert found.tangent.T @ found.tangent == pytest.approx(np.eye(found.tangent.shape[1]), abs=1e-12)


def test_a_displacement_takes_its_velocity_along(plant):
    """The velocity S z keeps the rows' rates at zero to first order."""
    q, v = plant.start
    found = plant.derivatives(q, v)
    for z in np.eye(found.tangent.shape[1]):
        rate = differences(
            lambda h, z=z: plant.velocity_residual(
                moved(plant.machine, q, found.tangent @ z * h), v + found.following @ z * h
            )
        )
        assert np.abs(rate).max() < 1e-7


def test_derivatives_by_q_are_differences_on_the_manifold(plant):
    q, v = plant.start
    found = plant.derivatives(q, v)
    for k, z in enumerate(np.eye(found.tangent.shape[1])):

        def acceleration(h: float, z=z) -> np.ndarray:
            near = State(moved(plant.machine, q, found.tangent @ z * h), v + found.following @ z * h)
            return plant.motion(*project_state(plant, near, 0.0)).acceleration

        size = 1 + np.abs(found.by_q[:, k]).max()
        assert found.by_q[:, k] == pytest.approx(differences(acceleration), abs=NEAR * size)


def test_derivatives_by_v_are_differences_on_the_tangent(plant):
    q, v = plant.start
    found = plant.derivatives(q, v)
    for k, w in enumerate(np.eye(found.tangent.shape[1])):
        expected = differences(lambda h, w=w: plant.motion(q, v + found.tangent @ w * h).acceleration)
        assert found.by_v[:, k] == pytest.approx(expected, abs=NEAR * (1 + np.abs(expected).max()))


def test_derivatives_by_force_are_symmetric_and_exact(plant):
    """The motion is linear in the force; the slope is that of least constraint, a symmetric matrix."""
    q, v = plant.start
    force = np.linspace(-1, 1, len(v))
    found = plant.derivatives(q, v, force)
    change = plant.motion(q, v, force).acceleration - plant.motion(q, v).acceleration
    assert found.by_force @ force == pytest.approx(change, rel=1e-8, abs=1e-8)
    assert found.by_force == pytest.approx(found.by_force.T, abs=1e-9 * np.abs(found.by_force).max())


def test_rows_said_twice_change_no_derivative():
    system = machines()["four-bar"]
    twice = system.add(kb.Constraint("again", {"x": "rocker.tip.x - 0.45", "z": "3*rocker.tip.z"}))
    one, two = (kb.build(s, backend=kb.Interpreted()) for s in (system, twice))
    a, b = (p.derivatives(*one.start) for p in (one, two))
    assert a.tangent.shape == b.tangent.shape == (3, 1)
    turn = float(np.sign(a.tangent[:, 0] @ b.tangent[:, 0]))
    assert b.by_q * turn == pytest.approx(a.by_q, rel=1e-7)
    assert b.by_v * turn == pytest.approx(a.by_v, rel=1e-7, abs=1e-9)
    assert b.by_force == pytest.approx(a.by_force, rel=1e-7, abs=1e-9)


def test_without_rows_the_tangent_is_all():
    plant = kb.build(
        kb.System("p", (kb.Body("a", kb.Rod(0.5, mass=1.0), joint=kb.Revolute(-kb.Y)),)), backend=kb.Interpreted()
    )
    found = plant.derivatives([0.3], [0.0])
    inertia = 0.25 / 3
    assert found.tangent == pytest.approx(np.eye(1))
    assert found.by_q[0, 0] == pytest.approx(9.81 * 0.25 * np.sin(0.3) / inertia)
    assert found.by_force[0, 0] == pytest.approx(1 / inertia)


def test_a_massless_link_has_derivatives_too():
    """Rocker and crank with mass, a coupler without: the same as with all but none."""
    light, none = (
        kb.build(machines()["four-bar"].with_parameters({"crank.mass": m, "coupler.mass": m}), backend=kb.Interpreted())
        for m in (1e-7, 0.0)
    )
    a, b = (p.derivatives(*p.start) for p in (light, none))
    turn = float(np.sign(a.tangent[:, 0] @ b.tangent[:, 0]))
    assert b.by_q * turn == pytest.approx(a.by_q, rel=1e-4)


def test_the_tangent_of_newton_steps_is_differences_with_acceleration_and_load_held(plant):
    """C and K of M v̇ - Q - Aᵀλ, and those of A v̇ - b, from M, Q, A and b elsewhere."""
    q, v = plant.start
    n, m = len(plant.velocities), len(plant.constraints)
    inputs = plant.inputs(q, v)
    inputs[plant.layout.mask] = plant.choice.mask
    function = plant.interpreted("tangent")
    found = {name: function(inputs)[part] for name, part in function.outputs.items()}
    here, motion = plant.problem(inputs), plant.motion(q, v)
    load = np.linalg.lstsq(here.matrix[plant.choice.mask > 0].T, motion.constraint_force, rcond=None)[0]

    def unbalanced(q, v):
        there = plant.problem(plant.inputs(q, v))
        force = there.mass @ motion.acceleration - there.force - there.matrix[plant.choice.mask > 0].T @ load
        return np.concatenate([force, there.matrix @ motion.acceleration - there.rhs])

    for j, direction in enumerate(np.eye(n)):
        by_v = differences(lambda h, d=direction: unbalanced(q, v + h * d))
        by_q = differences(lambda h, d=direction: unbalanced(moved(plant.machine, q, h * d), v))
        for names, expected in ((("damping", "rows_damping"), by_v), (("stiffness", "rows_stiffness"), by_q)):
            columns = [
                found[name].reshape((size, n), order="F")[:, j] for name, size in zip(names, (n, m), strict=True)
            ]
            assert np.concatenate(columns) == pytest.approx(expected, abs=NEAR * max(1.0, np.abs(expected).max()))
