"""What the machines of arms and objects do by default: the object goes where it is to go, within the motors' limits."""

from functools import cache
from math import pi

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.control.servo import StartWarning
from kalaba.space.rotations import rotation_of, rotation_vector, turn

NAMES = (
    *("two-arm-carry", "two-arm-scissors", "two-arm-peg", "two-arm-keyed-peg", "two-arm-screw", "three-arm-screw"),
    "n-arm-carry",
)
BODIES = dict(zip(NAMES, ("load", "blade1", "block", "block", "nut", "nut", "load"), strict=True))
TURNS_IN = 2 * pi * 0.12 / 0.02 - 3 * 2 * pi  # rad: three turns of the six that 0.12 m take
ENDS = {  # where each joint is at a time, in s
    "two-arm-carry": (),
    "two-arm-scissors": (("blade2.angle", 1.5, 0.9), ("blade2.angle", 3.5, 0.1)),
    "two-arm-peg": (("peg.travel", 3.5, 0.02), ("peg.angle", 3.5, 1.2)),
    "two-arm-keyed-peg": (("peg.travel", 3.5, 0.02),),
    "two-arm-screw": (("bolt.angle", 6.0, TURNS_IN),),
    "three-arm-screw": (("bolt.angle", 6.0, TURNS_IN), ("sleeve.travel", 6.0, -0.05), ("sleeve.angle", 6.0, 0.2)),
    "n-arm-carry": (),
}
TRACKED = 1e-6  # m and rad; steps of 1 ms leave less
LINE = kb.path.line((0, 0, 0), (0.02, -0.03, 0.05), timing=kb.path.MinimumJerk(0.3)).relative()


@cache
def run_of(name: str) -> kb.Run:
    chosen = kb.scenario(name)
    return kb.simulate(chosen.system, chosen.duration, control=chosen.control)


def position(run: kb.Run, body: str) -> np.ndarray:
    return np.stack([run[f"{body}.{axis}"] for axis in "xyz"], axis=1)


@pytest.mark.parametrize("name", NAMES)
def test_the_object_goes_where_it_is_to_go(name):
    run, path = run_of(name), kb.scenario(name).control.path
    found = position(run, BODIES[name])  # the frame of the first body is at its centre of mass
    wanted = np.tile(found[0], (len(found), 1)) if path is None else path.at(run.time, found[0]).position
    assert np.abs(found - wanted).max() < TRACKED
    attitudes = np.stack([run[f"{BODIES[name]}.{word}"] for word in ("qw", "qx", "qy", "qz")], axis=1)
    assert np.abs(attitudes - attitudes[0]).max() < TRACKED


def test_the_paths_go_somewhere():
    carried, lifted = position(run_of("two-arm-carry"), "load"), position(run_of("n-arm-carry"), "load")
    assert np.ptp(carried, axis=0) == pytest.approx([0.2, 0.0, 0.2], abs=1e-4)
    assert np.ptp(lifted, axis=0) == pytest.approx([0.1, 0.1, 0.1], abs=1e-4)
    assert lifted[-1] - lifted[0] == pytest.approx([0, 0, 0.1], abs=TRACKED)


@pytest.mark.parametrize(("name", "joint", "time", "value"), [(n, *end) for n, ends in ENDS.items() for end in ends])
def test_the_joints_get_there(name, joint, time, value):
    run = run_of(name)
    assert abs(run[joint][np.argmin(np.abs(run.time - time))] - value) < TRACKED


@pytest.mark.parametrize("name", NAMES)
def test_loops_stay_closed_books_balance_and_motors_have_much_to_spare(name):
    run = run_of(name)
    assert run.worst.value < 1e-12
    assert np.abs(run.energy_balance).max() < 1e-6 * np.ptp(run.energy)
    limits = np.array([actuator.limit for actuator in run.plant.machine.actuators])
    assert (np.abs(run.actuation).max(axis=0) < 0.5 * limits).all()


@pytest.mark.parametrize("name", NAMES)
def test_no_arm_comes_near_a_singular_pose(name):
    run = run_of(name)
    wrists = [key for key in run.plant.coordinates if key.endswith("link5.angle")]
    assert min(np.abs(np.sin(run[key])).min() for key in wrists) > 0.3
    space = kb.object_space(run.plant)
    assert np.linalg.cond(space.force_map(run.end)) < 200


@pytest.mark.parametrize("arms", [1, 2, 3])
def test_any_number_of_arms_lifts_the_disc(arms):
    chosen = kb.scenario("n-arm-carry", arms=arms)
    run = kb.simulate(chosen.system, 1.5, control=chosen.control)
    assert run["load.z"][-1] - run["load.z"][0] == pytest.approx(0.1, abs=TRACKED)
    limits = np.array([actuator.limit for actuator in run.plant.machine.actuators])
    assert (np.abs(run.actuation) < limits).all()


def torques_of(plant: kb.Plant, control: kb.Carry, state: kb.State, t: float) -> np.ndarray:
    """The law before the motors' limits."""
    s = plant.equations.symbols
    law = ca.vertcat(*control.law(plant, plant.start).inputs(plant.equations)[: len(plant.actuators)])
    return ca.Function("law", [s.q, s.v, s.t, s.p], [law])(state.q, state.v, t, plant.parameters).full().ravel()


@pytest.mark.parametrize("name", ["two-arm-carry", "three-arm-screw"])
def test_torques_of_least_squares_have_no_internal_part(name):
    """N Nᵀ τ = 0 with D = 1; with the limits' weights it is D τ that has none."""
    run = run_of(name)
    plant, state = run.plant, kb.State(run.q[150], run.v[150])
    internal = kb.object_space(plant).internal(state)
    limits = np.array([actuator.limit for actuator in plant.machine.actuators])
    even = torques_of(plant, kb.Carry(LINE, share=kb.LeastSquares()), state, 0.2)
    assert np.abs(internal.projector @ even).max() < 1e-9 * np.abs(even).max()
    weighed = torques_of(plant, kb.Carry(LINE), state, 0.2)
    assert np.abs(internal.basis.T @ (weighed / limits**2)).max() < 1e-9 * np.abs(weighed / limits**2).max()
    assert np.abs(internal.projector @ weighed).max() > 1e-3 * np.abs(weighed).max()


@pytest.mark.filterwarnings("ignore::kalaba.control.servo.StartWarning")
def test_the_law_is_the_torque_of_object_space_for_the_acceleration_it_states():
    """At a state off its path, with errors by NumPy."""
    run = run_of("two-arm-scissors")
    plant, state, t = run.plant, kb.State(run.q[80], run.v[80]), 0.13
    space, q_0 = kb.object_space(plant), plant.start.q
    control = kb.Carry(LINE, kb.path.turn(kb.X, 0.4), {"blade2.angle": "0.4 + t"}, 11.0, 0.7, kb.LeastSquares())
    first, now = plant.pose("blade1", q_0), plant.pose("blade1", state.q)
    path, turned = LINE.at(t, first.position), control.turn.at(t, LINE)
    R_d = rotation_of(turn(turned.rotation)) @ first.rotation
    angle = state.q[plant.coordinates.index("blade2.angle")]
    e = np.array([*(path.position - now.position), *rotation_vector(R_d @ now.rotation.T), 0.4 + t - angle])
    v_d, a_d = (
        np.array([*path.velocity, *turned.velocity, 1.0]),
        np.array([*path.acceleration, *turned.acceleration, 0]),
    )
    s_ddot = a_d + 2 * 0.7 * 11.0 * (v_d - space.speeds(state)) + 11.0**2 * e
    expected = space.torques(state, s_ddot, kb.LeastSquares())
    assert (np.abs(e) > 1e-3).sum() >= 4
    assert torques_of(plant, control, state, t) == pytest.approx(expected, abs=1e-9 * np.abs(expected).max())


def test_a_run_off_its_path_comes_back_to_it():
    """Critically damped, ω = 20 rad/s: (1 + ω t) e^(−ω t) of the error is left, 3e-12 after 1.5 s."""
    plant = kb.build(kb.load("two-arm-carry"))
    x, y, z = plant.pose("load", plant.start.q).position
    beside = kb.path.line((x, y + 0.005, z), (x, y + 0.005, z + 0.02), duration=0.5)
    with pytest.warns(StartWarning, match=r"load\.y starts 0\.005 m or rad off its path"):
        run = kb.simulate(plant, 1.5, control=kb.Carry(beside))
    wanted = beside.at(run.time).position
    error = np.abs(position(run, "load") - wanted).max(axis=1)
    assert error[0] == pytest.approx(0.005)
    assert error[-1] < 1e-7


def test_a_run_says_its_control_such_that_it_can_be_run_again(tmp_path):
    chosen = kb.scenario("two-arm-scissors")
    run = kb.simulate(chosen.system, 0.05, control=chosen.control)
    run.save(tmp_path / "run.nc")
    text = kb.open_run(tmp_path / "run.nc").effort.settings["control"]
    assert text == repr(chosen.control)
    words = {name: getattr(kb, name) for name in ("Carry", "MoveTo", "LeastSquares", "Axis")}
    again = eval(text, words | {"Turn": kb.path.Turn})
    assert again == chosen.control


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kb.Carry(path="circle"), r"^Carry\.path: expected a path of kb\.path, got 'circle'\.$"),
        (lambda: kb.Carry(turn=kb.path.turn(kb.Z, 1.0)), r"^Carry\.turn: a turn goes in step with a path"),
        (lambda: kb.Carry(share=kb.MinMax()), r"^Carry\.share: expected kb\.LeastSquares\(\.\.\.\), got MinMax"),
        (lambda: kb.Carry(joints={"a": 3}), r"^Carry\.joints, a: expected an expression of t or kb\.MoveTo"),
        (lambda: kb.Carry(frequency=0), r"^Carry\.frequency: expected a number above zero, got 0"),
        (lambda: kb.MoveTo(1.0, -1.0), r"^MoveTo\.duration: expected a number above zero, got -1"),
    ],
)
def test_what_makes_no_sense_is_refused_at_once(make, message):
    with pytest.raises(kb.KalabaError, match=message):
        make()


@pytest.mark.parametrize(
    ("control", "message"),
    [
        (kb.Carry(joints={"blade2.angel": "0.5"}), "the object has no joint 'blade2.angel'; did you mean blade2.angle"),
        (kb.Carry(joints={"blade2.angle": "blade1.x"}), "expected an expression of t and parameters, got 'blade1.x'"),
        (
            kb.Carry(share=kb.LeastSquares((1.0, 2.0))),
            r"Carry\.share, of the motors of the arms: weights: expected 12 numbers, one per motor, got 2",
        ),
    ],
)
def test_what_does_not_fit_the_machine_is_refused_by_name(control, message):
    plant = kb.build(kb.load("two-arm-scissors"))
    with pytest.raises(kb.KalabaError, match=message):
        control.law(plant, plant.start)
