"""A Plant's readings against differences, power and each other; native code against the interpreter."""

import pickle
import warnings
from math import pi

import numpy as np
import pytest

import kalaba as kb
from finite_differences import slope
from kalaba.errors import ModelError
from kalaba.plant.plant import RebuildWarning
from kalaba.space.rotations import rotation_vector
from states import moved

EXACT = 1e-10
NATIVE = 1e-12


def zoo(name: str) -> kb.System:
    """Machines of all joints: a tree, placed systems with turned seats, loops with dependent rows."""
    if name in {"four-bar", "bennett", "sarrus"}:
        return kb.load(name)
    if name == "tree":
        parts = (
            kb.Body("base", kb.Box((0.3, 0.4, 0.5), mass=5.0), at=kb.Pose((0.1, 0.2, 0.3), rpy=(0.2, 0.3, 0.4))),
            kb.Body(
                "u",
                kb.Box((0.1, 0.1, 0.4), mass=1.0),
                parent="base",
                at=kb.Pose((0.2, 0, 0.1), rpy=(0.5, -0.3, 1.0)),
                joint=kb.Universal(kb.Axis(1, 1, 0), kb.Axis(1, -1, 0)),
            ),
            kb.Body(
                "p", kb.Box((0.2, 0.1, 0.1), mass=2.0), parent="u", at=(0, 0, 0.4), joint=kb.Planar(kb.Axis(1, 2, 3))
            ),
            kb.Body("s", kb.Cylinder(0.05, 0.3, mass=1.0), parent="p", joint=kb.Screw(kb.Axis(0, 1, 2), pitch=0.2)),
            kb.Body("ball", kb.Box((0.1, 0.2, 0.3), mass=1.5), parent="base", at=(0, 0, -0.4), joint=kb.Spherical()),
            kb.Frame("corner", "s", kb.Pose((0.1, 0.2, 0.3), rpy=(0.3, 0.2, 0.1))),
            kb.Actuator("winch", "distance(corner, ball)"),
            kb.Actuator("drive", "2*s.angle + p.x^2"),
            kb.Spring("spring", "distance(corner, base)", stiffness=30.0, damping=1.0, rest=0.2),
            kb.Output("height", "corner.z + rate(p.x)*t"),
            kb.Force("wind", "corner", force=("sin(t)", 0, "u.angle1"), torque=(0.1, 0, "2*t")),
        )
        return kb.System("tree", parts)
    half = kb.System(
        "half",
        (
            kb.Body("a", kb.Rod(0.4, mass=1.0), joint=kb.Revolute(kb.Z)),
            kb.Body("b", kb.Box((0.3, 0.05, 0.02), mass=0.7), parent="a.tip", joint=kb.Revolute(kb.Z)),
            kb.Frame("end", "b", at=(0.15, 0, 0)),
            kb.Actuator("motor", "a.angle", limit=3.0),
        ),
    )
    parts = (
        half.place("left", at=kb.Pose((0, 0, 0), rpy=(0.4, 0.2, 0.3))),
        half.place("right", at=kb.Pose((0.5, 0.1, -0.2), rpy=(0.4, 0.2, 0.3))),
        kb.Connection("cut", "left.end", "right.end", joint=kb.Cylindrical(kb.Z)),
        kb.Constraint("slow", "rate(left.a.angle) + 0.5*rate(right.a.angle) - 0.1*sin(t)"),
    )
    return kb.System(
        "pair",
        parts,
        start=kb.Start(guess={"left.a.angle": 0.9, "left.b.angle": -0.9, "right.a.angle": 1.9, "right.b.angle": 0.5}),
    )


NAMES = ("four-bar", "tree", "pair", "bennett")
FRAMES = {"four-bar": "rocker.tip", "tree": "corner", "pair": "right.end", "bennett": "end"}


@pytest.fixture(scope="module")
def plants() -> dict[str, kb.Plant]:
    return {name: kb.build(zoo(name), backend=kb.Interpreted()) for name in NAMES}


def anywhere(plant: kb.Plant, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """A configuration off the constraints and any velocity; quaternions are unit."""
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1, 1, size=len(plant.coordinates))
    for first, _ in plant.machine.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q, rng.normal(size=len(plant.velocities))


def along(plant: kb.Plant, q: np.ndarray, v: np.ndarray, h: float) -> np.ndarray:
    return moved(plant.machine, q, v * h)


@pytest.mark.parametrize("name", NAMES)
def test_velocities_are_the_slopes_of_poses(plants, name):
    plant, frame = plants[name], FRAMES[name]
    q, v = anywhere(plant)
    R = plant.pose(frame, q).rotation
    linear = slope(lambda h: plant.pose(frame, along(plant, q, v, h)).position)
    angular = slope(lambda h: rotation_vector(plant.pose(frame, along(plant, q, v, h)).rotation @ R.T))
    assert plant.velocity(frame, q, v) == pytest.approx(np.concatenate([linear, angular]), rel=1e-8, abs=1e-8)
    assert plant.jacobian(frame, q) @ v == pytest.approx(plant.velocity(frame, q, v))
    assert pytest.approx(np.eye(3), abs=1e-13) == R.T @ R


def test_motors_push_with_the_power_of_their_displacement(plants):
    """Force times rate of displacement is generalised force times velocity, for any displacement."""
    plant = plants["tree"]
    q, v = anywhere(plant, 1)

    def displacements(h: float) -> np.ndarray:
        x = along(plant, q, v, h)
        winch = np.linalg.norm(plant.pose("corner", x).position - plant.pose("ball", x).position)
        angle, px = (x[plant.coordinates.index(n)] for n in ("s.angle", "p.x"))
        return np.array([winch, 2 * angle + px**2])

    assert plant.actuation_map(q).T @ v == pytest.approx(slope(displacements), rel=1e-8)
    u = np.array([0.7, -1.3])
    with_u = plant.problem(plant.packed(q, v, actuation=u)).force
    without = plant.problem(plant.packed(q, v)).force
    assert with_u - without == pytest.approx(plant.actuation_map(q) @ u, abs=EXACT)


def test_wrenches_act_through_the_transposed_jacobian(plants):
    plant = plants["tree"]
    q, v = anywhere(plant, 2)
    wrench = np.array([1.0, -2.0, 0.5, 0.3, 0.2, -0.1])
    force = plant.jacobian("corner", q).T @ wrench
    assert plant.motion(q, v, wrenches={"corner": wrench}).acceleration == pytest.approx(
        plant.motion(q, v, force=force).acceleration, rel=EXACT, abs=EXACT
    )


def test_a_wrench_on_the_world_moves_nothing(plants):
    plant = plants["four-bar"]
    q, v = plant.start
    pushed = plant.motion(q, v, wrenches={"world": np.ones(6)})
    assert pushed.acceleration == pytest.approx(plant.motion(q, v).acceleration, abs=1e-13)


@pytest.mark.parametrize("name", NAMES)
def test_energy_is_half_v_m_v_and_falls_with_gravity(plants, name):
    plant = plants[name]
    q, v = anywhere(plant, 3)
    found = plant.energy(q, v)
    assert found.kinetic == pytest.approx(v @ plant.mass_matrix(q) @ v / 2)
    assert found.total == found.kinetic + found.potential
    rest = np.zeros_like(v)
    climb = slope(lambda h: np.array([plant.energy(along(plant, q, v, h), rest).potential]))[0]
    assert climb == pytest.approx(plant.bias(q, rest) @ v, rel=1e-7, abs=1e-7)  # at rest the bias is the gradient


def test_momentum_is_mass_times_velocity_of_each_body():
    """One body off its centre: linear m v_c, angular c × m v_c + R I Rᵀ ω."""
    solid = kb.Solid(2.0, com=(0.1, 0.2, -0.3), inertia=(0.3, 0.4, 0.5, 0.01, 0.02, 0.03))
    plant = kb.build(
        kb.System("b", (kb.Body("b", solid, at=kb.Pose(rpy=(0.3, 0.2, 0.1))), kb.Frame("c", "b", (0.1, 0.2, -0.3)))),
        backend=kb.Interpreted(),
    )
    q, v = anywhere(plant, 4)
    c, R = plant.pose("c", q)
    twist = plant.velocity("c", q, v)
    inertia = np.array([[0.3, 0.01, 0.02], [0.01, 0.4, 0.03], [0.02, 0.03, 0.5]])
    P = 2.0 * twist[:3]
    assert plant.momentum(q, v) == pytest.approx(np.concatenate([P, np.cross(c, P) + R @ inertia @ R.T @ twist[3:]]))


def test_outputs_read_position_rate_and_time(plants):
    plant = plants["tree"]
    q, v = anywhere(plant, 5)
    expected = plant.pose("corner", q).position[2] + v[plant.velocities.index("p.x")] * 0.7
    assert plant.output("height", q, v, 0.7) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["four-bar", "pair"])
def test_residuals_and_rates_and_rows_are_derivatives_of_each_other(plants, name):
    plant = plants[name]
    q, v = anywhere(plant, 6)
    moving = np.array(plant.machine.is_velocity_level)
    rate = slope(lambda h: plant.residual(along(plant, q, v, h), 0.3 + h))
    assert plant.velocity_residual(q, v, 0.3)[~moving] == pytest.approx(rate[~moving], rel=1e-7, abs=1e-7)
    acceleration = np.random.default_rng(7).normal(size=len(v))
    A, b = plant.constraint(q, v, 0.3)
    second = slope(
        lambda h: plant.velocity_residual(along(plant, q, v + h * acceleration / 2, h), v + h * acceleration, 0.3 + h)
    )
    assert A @ acceleration - b == pytest.approx(second, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_the_motion_obeys_newton_and_every_row(plants, name):
    plant = plants[name]
    q, v = plant.start
    acceleration, force = plant.motion(q, v)
    problem = plant.problem(plant.inputs(q, v))
    assert problem.mass @ acceleration == pytest.approx(problem.force + force, abs=1e-9)
    assert problem.matrix @ acceleration == pytest.approx(problem.rhs, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_native_code_is_the_interpreter_to_rounding(plants, name):
    """Every standard function at two states and times."""
    interpreted = plants[name]
    native = kb.build(zoo(name))
    functions = ("system_matrices", "motion", "project", "rows", "observe", "alignments", "normalise")
    for q, v in (native.start, anywhere(native, 8)):
        packed = interpreted.inputs(q, v, 0.4)
        packed[interpreted.layout.f] = np.linspace(-1, 1, len(v))
        packed[interpreted.layout.u] = 0.3
        packed[interpreted.layout.mask] = native.choice.mask
        for function in functions:
            ours, theirs = native.evaluate(function, packed), interpreted.evaluate(function, packed)
            for key, value in theirs.items():
                size = max(1.0, float(np.abs(value).max(initial=0.0)))
                assert np.abs(ours[key] - value).max(initial=0.0) <= NATIVE * size * 100, (function, key)
        frame = FRAMES[name]
        assert native.jacobian(frame, q) == pytest.approx(interpreted.jacobian(frame, q), abs=NATIVE)
        assert native.actuation_map(q) == pytest.approx(interpreted.actuation_map(q), abs=NATIVE)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("solver", [kb.MaskedLDL(), kb.KKT(), kb.NullSpace()], ids=lambda s: type(s).__name__)
def test_all_solvers_give_the_motion_of_the_default(plants, name, solver):
    q, v = plants[name].start
    expected = kb.build(zoo(name)).motion(q, v)
    found = kb.build(zoo(name), backend=kb.Interpreted(), solver=solver).motion(q, v)
    assert found.acceleration == pytest.approx(expected.acceleration, rel=1e-8, abs=1e-8)
    assert found.constraint_force == pytest.approx(expected.constraint_force, rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("backend", [kb.Interpreted(), kb.Native()], ids=["interpreted", "native"])
def test_other_numbers_are_the_same_code(backend):
    plant = kb.build(kb.load("four-bar"), backend=backend)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heavy = plant.with_parameters({"crank.mass": 3.0, "pin.at.x": 0.42})
    assert heavy.key == plant.key
    fresh = kb.build(kb.load("four-bar").with_parameters({"crank.mass": 3.0, "pin.at.x": 0.42}), backend=backend)
    assert heavy.start.q == pytest.approx(fresh.start.q, abs=1e-14)
    assert heavy.motion(*heavy.start).acceleration == pytest.approx(fresh.motion(*fresh.start).acceleration, rel=1e-12)
    assert plant.motion(*plant.start).acceleration != pytest.approx(heavy.motion(*heavy.start).acceleration)


def test_numbers_that_shape_the_equations_warn_and_rebuild():
    plant = kb.build(kb.load("four-bar"), backend=kb.Interpreted())
    with pytest.warns(RebuildWarning, match=r"four-bar: pin\.at\.z changes structure"):
        lifted = plant.with_parameters({"pin.at.z": 0.05})
    assert np.abs(lifted.residual(lifted.start.q)).max() < 1e-12
    with pytest.raises(ModelError, match=r"four-bar: no parameter 'crank\.lenght'; did you mean crank\.length"):
        plant.with_parameters({"crank.lenght": 1.0})


@pytest.mark.parametrize("backend", [kb.Interpreted(), kb.Native()], ids=["interpreted", "native"])
def test_a_plant_survives_pickling(backend):
    plant = kb.build(zoo("pair"), backend=backend)
    expected = plant.motion(*plant.start)
    copy = pickle.loads(pickle.dumps(plant))
    assert copy == plant
    assert copy.motion(*copy.start).acceleration == pytest.approx(expected.acceleration, abs=1e-13)


@pytest.mark.parametrize("name", ["four-bar", "tree"])
@pytest.mark.parametrize("backend", [kb.Interpreted(), kb.Native()], ids=["interpreted", "native"])
def test_a_batch_is_its_states_one_by_one(name, backend):
    plant = kb.build(zoo(name), backend=backend)
    q0, v0 = plant.start
    rng = np.random.default_rng(0)
    states = [plant.step((q0, v0 * 0), None, 1e-3 * k) for k in range(1, 12)]
    q, v = (np.array([getattr(s, part) for s in states]) for part in ("q", "v"))
    force = rng.normal(size=v.shape)
    actuation = rng.normal(size=(len(q), len(plant.actuators)))
    frame = FRAMES[name]
    wrench = rng.normal(size=6)
    batch = plant.motion(q, v, force, 0.3, actuation, wrenches={frame: wrench})
    assert batch.acceleration.shape == v.shape
    for i in range(len(q)):
        single = plant.motion(q[i], v[i], force[i], 0.3, actuation[i], wrenches={frame: wrench})
        assert batch.acceleration[i] == pytest.approx(single.acceleration, rel=1e-11, abs=1e-11)
        assert batch.constraint_force[i] == pytest.approx(single.constraint_force, rel=1e-11, abs=1e-11)


def test_a_batch_of_the_wrong_shape_is_refused():
    plant = kb.build(kb.load("four-bar"))
    with pytest.raises(ModelError, match=r"v: expected a batch of shape \(4, 3\), got \(2, 3\)"):
        plant.motion(np.zeros((4, 3)), np.zeros((2, 3)))


def test_a_step_is_of_fourth_order_and_stays_closed():
    plant = kb.build(kb.load("four-bar"), backend=kb.Interpreted())
    u, ends = [0.5], []
    for steps in (4, 8, 64):
        state = plant.start
        for _ in range(steps):
            state = plant.step(state, u, 0.04 / steps)
        ends.append(np.concatenate(state))
        assert np.abs(plant.residual(state.q)).max() < 1e-13
        assert np.abs(plant.velocity_residual(*state)).max() < 1e-12
    coarse, fine = (np.abs(end - ends[2]).max() for end in ends[:2])
    assert 10 < coarse / fine < 26  # 16, but for terms of higher order


def test_steps_on_both_backends_agree():
    states = []
    for backend in (kb.Interpreted(), kb.Native()):
        plant = kb.build(zoo("pair"), backend=backend)
        state = plant.start
        for k in range(5):
            state = plant.step(state, [0.1, -0.2], 2e-3, 2e-3 * k)
        states.append(np.concatenate(state))
    assert states[0] == pytest.approx(states[1], abs=1e-11)


def test_names_are_dotted_paths_in_order(plants):
    plant = plants["pair"]
    assert plant.coordinates == ("left.a.angle", "left.b.angle", "right.a.angle", "right.b.angle")
    assert plant.actuators == ("left.motor", "right.motor")
    assert plant.constraints == ("cut.x", "cut.y", "cut.rx", "cut.ry", "slow")
    assert plants["tree"].outputs == ("height",)


def test_a_turned_world_turns_the_motion_along():
    """The same machine on a seat turned by a quarter, gravity turned too: the same acceleration."""
    flat = kb.load("four-bar")
    turned = kb.System(
        "turned",
        (flat.place("m", at=kb.Pose((1, 2, 3), rpy=(0, pi / 2, 0.3))),),
        gravity=tuple(_turn() @ [0, 0, -9.81]),
    )
    a, b = (kb.build(s, backend=kb.Interpreted()) for s in (flat, turned))
    assert b.motion(*b.start).acceleration == pytest.approx(a.motion(*a.start).acceleration, rel=1e-10)


def _turn() -> np.ndarray:
    frame = kb.System("f", (kb.Frame("f", "world", kb.Pose(rpy=(0, pi / 2, 0.3))),))
    return kb.build(frame, backend=kb.Interpreted()).pose("f", []).rotation


def test_a_sampled_function_sees_the_states_of_the_run():
    """Between the steps, not at their stages: what it is shown is what is recorded."""
    seen = []

    def control(t, q, v):
        seen.append((t, q.copy()))
        return [1.0]

    plant = kb.build(kb.load("four-bar"), backend=kb.Interpreted())
    run = kb.simulate(plant, 0.01, control=kb.Sampled(control, 500), stepper=kb.RungeKutta4(1e-3), save_every=1e-3)
    assert [t for t, _ in seen] == pytest.approx([0.0, 0.002, 0.004, 0.006, 0.008, 0.01])
    for t, q in seen:
        assert q == pytest.approx(run.q[round(t * 1e3)], abs=1e-15)


@pytest.mark.filterwarnings("ignore::kalaba.run.checks.SingularWarning")  # it also throws the state about
def test_a_run_that_blows_up_says_so_and_keeps_what_was_done():
    strong = kb.load("four-bar").remove("motor").add(kb.Actuator("motor", "crank.angle"))
    for push in ("1e200*exp(1e5*t)", "1e3*exp(50*t)", "1/max(0, 0.02 - t)"):
        plant = kb.build(strong, backend=kb.Interpreted())
        with pytest.raises(kb.KalabaError, match=r"four-bar: stopped at t = .*") as caught:
            kb.simulate(plant, 1.0, control={"motor": push}, stepper=kb.RungeKutta4(1e-2))
        assert len(caught.value.run.time) >= 1


def test_a_run_that_is_stopped_ends_at_the_condition():
    plant = kb.build(kb.load("four-bar"), backend=kb.Interpreted())
    run = kb.simulate(plant, 1.0, control={"motor": "1"}, stop="crank.angle > 1.01", stepper=kb.RungeKutta4(1e-3))
    assert run["crank.angle"][-1] == pytest.approx(1.01, abs=1e-9)  # dense output of order 3 is projected there
    assert run.status.time == run.time[-1] < 1.0
