"""Linear models on the constraints' tangent space."""

import sys
from math import pi, sqrt

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ConstraintError, ExpressionError, KalabaError, ModelError
from kalaba.space.configuration import displaced

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


def geared() -> kb.System:
    """rate(b) + rate(a) + 3a = 0 with masses 1 and 2: by hand 3ä + 6.7ȧ + 5a = 0."""
    return kb.System(
        "geared",
        (
            kb.Body("a", kb.Solid(1.0), joint=kb.Prismatic(kb.X)),
            kb.Body("b", kb.Solid(2.0), joint=kb.Prismatic(kb.Y)),
            kb.Spring("s", "a.travel", stiffness=5.0, damping=0.7),
            kb.Constraint("r", {"x": "rate(b.travel) + rate(a.travel) + 3*a.travel"}),
            kb.Actuator("push", "a.travel"),
        ),
        gravity=(0, 0, 0),
    )


def dragged() -> kb.System:
    """The same with drag on both: on the rate that is a state, and on the one that a displacement brings with it."""
    system = geared()
    more = (
        kb.Spring("drag", "b.travel", damping=1.1),
        kb.Spring("between", "a.travel - b.travel", damping=0.4),
        kb.Spring("back", "b.travel", stiffness=2.0),
    )
    return kb.System("dragged", (*system.parts, *more), gravity=(0, 0, 0))


def carried_on() -> kb.System:
    """Where a is decides how fast b goes, where b is how fast c goes: displacements are reached in three steps."""
    bodies = (kb.Body(name, kb.Solid(m), joint=kb.Prismatic(kb.X)) for name, m in zip("abc", (1, 2, 3), strict=True))
    return kb.System(
        "carried",
        (
            *bodies,
            kb.Spring("s", "a.travel", stiffness=5.0, damping=0.7),
            kb.Spring("far", "c.travel", stiffness=2.0),
            kb.Constraint("first", "rate(b.travel) + rate(a.travel) + 3*a.travel"),
            kb.Constraint("second", "rate(c.travel) - 4*b.travel + sin(c.travel)"),
            kb.Actuator("push", "c.travel"),
        ),
        gravity=(0, 0, 0),
    )


def steered_loop() -> kb.System:
    """A loop on springs, and a slider whose speed is told by the loop's crank, its position pulling back."""
    four = kb.load("four-bar")
    return kb.System(
        "steered",
        (
            *four.parts,
            kb.Body("slider", kb.Solid(2.0), joint=kb.Prismatic(kb.X)),
            kb.Spring("hold", "crank.angle", rest=1.0, stiffness=40.0, damping=0.8),
            kb.Spring("back", "slider.travel", stiffness=3.0),
            kb.Constraint("steer", "rate(slider.travel) + rate(crank.angle)/5 - 2*sin(crank.angle - 1)"),
        ),
        gravity=(0, 0, 0),
        start=kb.Start(hold=four.start.hold, guess=four.start.guess),
    )


def towed() -> kb.System:
    """A floating body, one of whose corners goes sideways as it is turned."""
    return kb.System(
        "towed",
        (
            kb.Body("b", kb.Box((1, 2, 3), mass=6.0)),
            kb.Frame("corner", "b", (0.5, 0.2, 0.1)),
            kb.Spring("s", "b.y", stiffness=20.0, damping=1.0),
            kb.Spring("k", "corner.z", rest=0.1, stiffness=9.0),
            kb.Constraint("tow", "rate(corner.x) + 3*(corner.z - 0.1) + corner.y - 0.2"),
        ),
        gravity=(0, 0, 0),
    )


def blade() -> kb.System:
    """A blade on a spring: a row at velocity level that carries nothing away."""
    return kb.System(
        "blade",
        (
            kb.Body("s", kb.Box((0.3, 0.2, 0.1), mass=2.0), joint=kb.Planar(kb.Z)),
            kb.Constraint("blade", "cos(s.angle)*rate(s.y) - sin(s.angle)*rate(s.x)"),
            kb.Spring("spring", "s.x", stiffness=32.0),
        ),
        start=kb.Start(hold={"s.angle": 0.3}),
        gravity=(0, 0, 0),
    )


VELOCITY_ROWS = {
    "geared": (geared, 3),
    "dragged": (dragged, 3),
    "carried": (carried_on, 4),
    "steered": (steered_loop, 3),
    "towed": (towed, 11),
}


def state_of(plant: kb.Plant, found: kb.analyse.Linear, x: np.ndarray) -> kb.State:
    """The machine's state of a state of the model, found by Newton's method from the rows alone: no S, no slopes."""
    f = found.tangent.shape[1]
    d = len(x) - f
    q = displaced(plant.machine, plant.start.q, found.displacements @ x[:d])
    velocities = [plant.velocities.index(name.removeprefix("rate(").removesuffix(")")) for name in found.states[d:]]
    A, _ = plant.constraint(q, np.zeros(len(plant.velocities)))
    rest = plant.velocity_residual(q, np.zeros(len(plant.velocities)))
    wanted = np.vstack([A, np.eye(A.shape[1])[velocities]])
    v = np.linalg.lstsq(wanted, np.concatenate([-rest, x[d:]]), rcond=None)[0]
    return kb.State(q, v)


@pytest.mark.parametrize("name", VELOCITY_ROWS)
def test_rows_that_tie_rates_to_positions_are_in_the_model(name):
    """ẋ of states nearby, whose velocities obey the rows, is A x + B u; y is C x."""
    system, states = VELOCITY_ROWS[name]
    plant = kb.build(system(), backend=kb.Interpreted())
    place = {"towed": "corner.x", "steered": "coupler.tip.x"}.get(name, "b.travel")
    found = kb.linearise(plant, outputs=(f"rate({place})", place))
    assert found.is_equilibrium
    assert len(found.states) == states
    f = found.tangent.shape[1]
    d = states - f
    at = [plant.velocities.index(n.removeprefix("rate(").removesuffix(")")) for n in found.states[d:]]
    placed = [
        next(i for i, row in enumerate(found.displacements) if np.abs(row - unit).max() < 1e-9) for unit in np.eye(d)
    ]

    def rate(x: np.ndarray) -> np.ndarray:
        q, v = state_of(plant, found, x)
        return np.concatenate([v[placed], plant.motion(q, v).acceleration[at]])

    def outputs(x: np.ndarray) -> np.ndarray:
        q, v = state_of(plant, found, x)
        axis = "xyz".index(place[-1]) if place[-2:] == ".x" else None
        if axis is None:
            return np.array([v[plant.velocities.index(place)], q[plant.coordinates.index(place)]])
        frame = place.removesuffix(".x")
        return np.array([plant.velocity(frame, q, v)[axis], plant.pose(frame, q).position[axis]])

    h = 1e-4
    for function, model in ((rate, found.A), (outputs, found.C)):
        columns = [(function(h * e) - function(-h * e)) / (2 * h) for e in np.eye(states)]
        # Central differences: h² of the third derivatives, which are of the size of A; rounding 1e-16/h.
        assert np.column_stack(columns) == pytest.approx(model, abs=2e-7 * np.abs(model).max())


@pytest.mark.parametrize("name", VELOCITY_ROWS)
def test_the_model_of_rows_at_velocity_level_predicts_small_motions(name):
    """Against a run of the whole machine from a state beside the equilibrium."""
    from scipy.linalg import expm

    plant = kb.build(VELOCITY_ROWS[name][0](), backend=kb.Interpreted())
    found = kb.linearise(plant)
    rng = np.random.default_rng(5)
    small, end = 1e-5, 0.2
    x = rng.normal(size=len(found.states)) * small
    steps = 100
    state = plant_state = state_of(plant, found, x)
    for k in range(steps):
        state = plant.step(state, None, end / steps, k * end / steps)
    expected = state_of(plant, found, expm(found.A * end) @ x)
    moved = np.abs(np.concatenate([state.q - plant_state.q, state.v - plant_state.v])).max()
    # What is quadratic in the displacement: small² times the machine's own numbers, beside a motion of some `small`.
    assert np.abs(state.q - expected.q).max() < 2e-3 * moved
    assert np.abs(state.v - expected.v).max() < 2e-3 * moved


def test_poles_of_a_velocity_row_are_those_by_hand():
    found = kb.linearise(geared(), outputs="rate(a.travel)")
    assert found.states[:2] == ("a.travel", "b.travel")  # the third is the rate of one or the other
    assert np.sort_complex(found.poles) == pytest.approx(np.sort_complex([*np.roots([3, 6.7, 5]), 0]), abs=1e-9)
    assert found.B[:2, 0] == pytest.approx([0, 0], abs=0)
    assert (found.C @ found.B)[0, 0] == pytest.approx(1 / 3, abs=1e-12)


def test_rows_that_roll_carry_nothing_away():
    found = kb.linearise(blade())
    assert len(found.states) == 4
    assert found.displacements == pytest.approx(found.tangent, abs=1e-12)
    assert np.sort(np.abs(found.poles)) == pytest.approx([0, 0, 4 * np.cos(0.3), 4 * np.cos(0.3)], abs=1e-9)


def test_a_row_that_depends_on_time_is_refused():
    parts = (
        kb.Body("a", kb.Solid(1.0), joint=kb.Prismatic(kb.X)),
        kb.Body("b", kb.Solid(2.0), joint=kb.Prismatic(kb.X)),
    )
    wanders = kb.System("w", (*parts, kb.Constraint("r", "a.travel - (1 + t)*b.travel")))
    with pytest.raises(ConstraintError, match=r"w: r depends on time, so that a linear model would too\. Leave t out"):
        kb.linearise(wanders)
    for zero in ("a.travel - b.travel - t^2", "rate(a.travel) - t"):
        with pytest.raises(ConstraintError, match=r"w: r moves by itself at t = 0 \([12]/s²\), so nothing is at rest"):
            kb.linearise(kb.System("w", (*parts, kb.Constraint("r", zero))))


def test_frequencies_and_equilibrium_know_rows_that_tie_rates_to_positions():
    with pytest.raises(ConstraintError, match=r"geared: r\.x ties rates to where the machine is.*kb\.linearise"):
        kb.frequencies(geared())
    assert kb.equilibrium(geared()).q == pytest.approx([0, 0], abs=1e-12)
    pushed = geared().add(kb.Spring("pull", "a.travel", rest=1.0, stiffness=2.0))
    with pytest.raises(ConstraintError, match=r"geared: r\.x moves by itself"):  # at a = 2/7 the row has a rate
        kb.equilibrium(pushed)


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
