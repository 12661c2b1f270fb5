"""Linear models on the constraints' tangent space."""

import sys
from math import pi, sqrt

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ExpressionError, KalabaError, ModelError

G = 9.81


def cart() -> kb.System:
    """A cart with a hanging rod and a damped wheel bearing."""
    return kb.System(
        "cart",
        (
            kb.Body("cart", kb.Solid(4.0), joint=kb.Prismatic(kb.X)),
            kb.Body("rod", kb.Rod(1.0, mass=1.0, axis=-kb.Z), parent="cart", joint=kb.Revolute(kb.Y)),
            kb.Spring("bearing", "cart.travel", damping=0.7),
            kb.Actuator("push", "cart.travel"),
            kb.Actuator("twist", "rod.angle"),
            kb.Output("tip", "rod.tip.x", "m"),
        ),
    )


def test_a_cart_with_a_rod_is_the_textbook_model():
    found = kb.linearise(cart())
    M = np.array([[5.0, -0.5], [-0.5, 1 / 3]])
    K, C = np.diag([0.0, G / 2]), np.diag([0.7, 0.0])
    inverse = np.linalg.inv(M)
    A = np.block([[np.zeros((2, 2)), np.eye(2)], [-inverse @ K, -inverse @ C]])
    assert pytest.approx(A, abs=1e-12) == found.A
    assert pytest.approx(np.vstack([np.zeros((2, 2)), inverse]), abs=1e-12) == found.B
    assert pytest.approx(np.array([[1.0, -1.0, 0.0, 0.0]]), abs=1e-12) == found.C
    assert pytest.approx(np.zeros((1, 2)), abs=0) == found.D
    assert found.states == ("cart.travel", "rod.angle", "rate(cart.travel)", "rate(rod.angle)")
    assert found.inputs == ("push", "twist")
    assert found.outputs == ("tip",)
    assert found.is_equilibrium
    assert np.abs(found.drift).max() == 0.0
    assert "states: cart.travel" in str(found)


def test_inputs_and_outputs_can_be_chosen():
    found = kb.linearise(cart(), inputs="twist", outputs=("rate(rod.tip.x)", "twist", "2*cart.travel"))
    assert found.inputs == ("twist",)
    assert pytest.approx(np.array([[0, 0, 1.0, -1.0], [0, 0, 0, 0], [2, 0, 0, 0]]), abs=1e-12) == found.C
    assert pytest.approx(np.array([[0.0], [1.0], [0.0]]), abs=0) == found.D
    with pytest.raises(ModelError, match="inputs: cart has no actuator 'pusj'; did you mean push"):
        kb.linearise(cart(), inputs=("pusj",))
    with pytest.raises(ExpressionError, match=r"unknown word 'rod.angel'"):
        kb.linearise(cart(), outputs=("rod.angel",))


def test_poles_of_a_damped_oscillator():
    mass, stiffness, damping = 2.0, 50.0, 3.0
    parts = (
        kb.Body("m", kb.Solid(mass), joint=kb.Prismatic(kb.X)),
        kb.Spring("s", "m.travel", stiffness=stiffness, damping=damping),
    )
    found = kb.linearise(kb.System("oscillator", parts))
    omega = sqrt(stiffness / mass)
    zeta = damping / (2 * mass * omega)
    assert found.poles == pytest.approx(
        [complex(-zeta * omega, s * omega * sqrt(1 - zeta**2)) for s in (-1, 1)], rel=1e-12
    )
    assert found.damping == pytest.approx([zeta] * 2, rel=1e-12)
    assert found.hertz == pytest.approx([omega / (2 * pi)] * 2, rel=1e-12)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "planar-parallel"])
def test_poles_are_the_natural_frequencies(name):
    system = kb.load(name, **({"tracking": False} if name == "planar-parallel" else {}))
    plant = kb.build(system, backend=kb.Interpreted())
    at = kb.equilibrium(plant)
    found, natural = kb.linearise(plant, at), kb.frequencies(plant, at)
    squares = np.sort((found.poles**2).real)[::-1][::2]
    omega2 = np.sort(-((2 * pi * natural.hertz) ** 2) + natural.growth**2)[::-1]
    assert squares == pytest.approx(omega2, rel=1e-6, abs=1e-6 * np.abs(omega2).max() + 1e-9)
    assert len(found.states) == 2 * len(natural)
    assert len(set(found.states)) == len(found.states)
    A, _ = plant.constraint(at.q, at.v)
    assert np.abs(A @ found.tangent).max() < 1e-9


def test_the_model_of_a_loop_predicts_small_motions():
    """A small push at the motor, against the simulation of the whole four-bar."""
    plant = kb.build(kb.load("four-bar"))
    at = kb.equilibrium(plant)
    found = kb.linearise(plant, at, outputs=("rocker.angle", "rate(coupler.angle)"))
    assert len(found.states) == 2
    small, end = 1e-5, 0.3
    run = kb.simulate(plant, end, start=at, control={"motor": f"{small}"}, stepper=kb.RungeKutta4(1e-3))
    from scipy.linalg import expm

    whole = np.block([[found.A, found.B], [np.zeros((1, 3))]])
    x = expm(whole * end)[:2, 2] * small
    y = np.array([run["rocker.angle"][-1] - run["rocker.angle"][0], run["rate(coupler.angle)"][-1]])
    assert found.C @ x == pytest.approx(y, rel=2e-3)


def test_a_floating_body_turns_about_its_own_axes():
    body = kb.Body("sat", kb.Box((1, 2, 3), mass=6.0))
    jet = kb.Thruster("jet", "nozzle", axis=kb.Y)
    system = kb.System("sat", (body, kb.Frame("nozzle", "sat", (0.5, 0, 0)), jet), gravity=(0, 0, 0))
    found = kb.linearise(system, outputs=("nozzle.y",))
    assert found.states[:6] == ("sat.x", "sat.y", "sat.z", "sat.turn_x", "sat.turn_y", "sat.turn_z")
    assert found.states[6:] == ("sat.vx", "sat.vy", "sat.vz", "sat.wx", "sat.wy", "sat.wz")
    inertia = 6.0 * (1 + 4) / 12
    assert found.B[6:, 0] == pytest.approx([0, 1 / 6, 0, 0, 0, 0.5 / inertia], abs=1e-13)
    assert found.C[0, :6] == pytest.approx([0, 1, 0, 0, 0, 0.5], abs=1e-13)
    assert found.poles == pytest.approx(np.zeros(12), abs=1e-9)
    assert found.damping == pytest.approx(np.zeros(12), abs=0)


def test_held_actuation_is_part_of_the_state():
    torque = 2.0
    at = kb.equilibrium(cart().remove("bearing").add(kb.Spring("k", "cart.travel", stiffness=50.0)))
    held = cart().add(kb.Spring("k", "cart.travel", stiffness=50.0))
    at = kb.equilibrium(held, actuation={"twist": torque})
    found = kb.linearise(held, at, actuation={"twist": torque})
    assert found.is_equilibrium
    assert np.sin(at.q[1]) == pytest.approx(torque / (G / 2), abs=1e-12)


def test_a_state_that_is_no_equilibrium_is_told():
    leaning = kb.State(np.array([0.0, 0.4]), np.zeros(2))
    with pytest.warns(kb.analyse.NotInEquilibriumWarning, match="unbalanced: rod.angle by"):
        found = kb.linearise(cart(), leaning)
    plant = kb.build(cart(), backend=kb.Interpreted())
    assert found.drift == pytest.approx([0, 0, *plant.motion(leaning.q, leaning.v).acceleration], abs=1e-12)
    assert "no equilibrium" in str(found)
    with pytest.raises(ModelError, match=r"expected a state at rest.*rod.angle moves"):
        kb.linearise(cart(), kb.State(np.zeros(2), np.array([0.0, 1.0])))


def test_a_rolling_row_takes_a_freedom_of_the_rates():
    """A blade on a spring: it slides along itself only, and swings there."""
    skate = kb.System(
        "skate",
        (
            kb.Body("s", kb.Box((0.3, 0.2, 0.1), mass=2.0), joint=kb.Planar(kb.Z)),
            kb.Constraint("blade", "cos(s.angle)*rate(s.y) - sin(s.angle)*rate(s.x)"),
            kb.Spring("spring", "s.x", stiffness=32.0),
        ),
        start=kb.Start(hold={"s.angle": 0.0}),
    )
    found = kb.linearise(skate)
    assert set(found.states) == {"s.x", "s.angle", "rate(s.x)", "rate(s.angle)"}
    assert np.sort(np.abs(found.poles)) == pytest.approx([0, 0, 4, 4], abs=1e-9)


def test_python_control_gets_the_model(monkeypatch):
    class Fake:
        @staticmethod
        def ss(*matrices, **names):
            return matrices, names

    monkeypatch.setitem(sys.modules, "control", Fake)
    matrices, names = kb.linearise(cart()).to_control()
    assert [m.shape for m in matrices] == [(4, 4), (4, 2), (1, 4), (1, 2)]
    assert names["states"][0] == "cart_travel"
    assert names["outputs"] == ["tip"]
    monkeypatch.setitem(sys.modules, "control", None)
    with pytest.raises(KalabaError, match=r"python-control, which is not installed. pip install control"):
        kb.linearise(cart()).to_control()
