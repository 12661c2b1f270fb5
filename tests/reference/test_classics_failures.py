"""Hard cases as whole native runs: no mass, drift, stiffness, contradictions, grasps, derivatives, long times."""

import tracemalloc
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kalaba as kb
from by_hand import SHARP, G, integrate, positions
from kalaba.constrain.kernels.motion import motion
from kalaba.results.run import Ending

SOLVERS = {"masked": kb.MaskedLDL(), "uk": kb.UdwadiaKalaba(), "kkt": kb.KKT(), "null space": kb.NullSpace()}
HINGE = kb.Revolute(-kb.Y)
PUCK = kb.Body("puck", kb.Solid(2.0, inertia=(1, 1, 0.5)), joint=kb.Planar(kb.Z))


def puck(*parts: object, **given: object) -> kb.System:
    return kb.System("puck", (PUCK, *parts), gravity=(0, 0, 0), **given)


def four_bar(coupler: float) -> kb.System:
    parts = (
        kb.Body("crank", kb.Rod(0.15, mass=0.3), joint=HINGE),
        kb.Body("coupler", kb.Solid(coupler, tip=(0.4, 0, 0)), parent="crank.tip", joint=HINGE),
        kb.Body("rocker", kb.Rod(0.3, mass=0.6), parent="coupler.tip", joint=HINGE),
        kb.Connection("pin", "rocker.tip", at=(0.45, 0, 0), joint=HINGE),
    )
    guess = {"coupler.angle": -0.5, "rocker.angle": -2.0}
    return kb.System("four-bar", parts, start=kb.Start(hold={"crank.angle": 1.0}, guess=guess))


def cut_in_the_coupler() -> kb.System:
    """The same four-bar from two hanging links and a length between their ends: the massless coupler is a row."""
    parts = (
        kb.Body("crank", kb.Rod(0.15, mass=0.3), joint=HINGE),
        kb.Body("rocker", kb.Rod(0.3, mass=0.6), at=(0.45, 0, 0), joint=HINGE),
        kb.Connection("coupler", "rocker.tip", parent="crank.tip", joint=kb.Distance(0.4)),
    )
    return kb.System("two links", parts, start=kb.Start(hold={"crank.angle": 1.0}, guess={"rocker.angle": 1.0}))


def test_a_massless_coupler_is_a_length_to_every_solver_and_to_the_loop():
    light, plain = kb.build(four_bar(0.0)), kb.build(cut_in_the_coupler())
    run, expected = (kb.simulate(plant, 1.0, stepper=SHARP) for plant in (light, plain))
    assert_allclose(run["crank.angle"], expected["crank.angle"], rtol=0, atol=1e-9)
    assert np.abs(run.residual).max() < 1e-14
    assert np.abs(run.energy_balance).max() < 1e-9
    at = (run.q[40], run.v[40])
    found = [kb.build(four_bar(0.0), backend=kb.Interpreted(), solver=s).motion(*at) for s in SOLVERS.values()]
    for one in (*found, light.motion(*at)):
        assert_allclose(one.acceleration, run.acceleration[40], rtol=0, atol=1e-8)
        assert_allclose(one.constraint_force, run.constraint_force[40], rtol=0, atol=1e-9)


def test_coordinates_tied_by_rows_move_as_the_minimal_ones():
    """A point with x, z, r and θ, the last two without mass of their own, on a spring along r."""
    parts = (
        kb.Body("x", kb.Solid(0.0), joint=kb.Prismatic(kb.X)),
        kb.Body("point", kb.Solid(1.2), parent="x", joint=kb.Prismatic(kb.Z)),
        kb.Body("arm", kb.Solid(0.0), joint=kb.Revolute(kb.Y, q="theta")),
        kb.Body("slide", kb.Solid(0.0), parent="arm", joint=kb.Prismatic(-kb.Z, q="r")),
        kb.Constraint("polar", {"x": "x.travel + r*sin(theta)", "z": "point.travel + r*cos(theta)"}),
        kb.Spring("s", "r", 60.0, 0.2, 0.5),
    )
    start = kb.Start(hold={"theta": 0.8, "r": 0.6})
    run = kb.simulate(kb.System("polar", parts, coordinates=("theta", "r"), start=start), 3.0, stepper=SHARP)

    def rate(_, y):
        r, theta, dr, dtheta = y
        push = -(60 * (r - 0.5) + 0.2 * dr) / 1.2
        return dr, dtheta, r * dtheta**2 + G * np.cos(theta) + push, (-G * np.sin(theta) - 2 * dr * dtheta) / r

    expected = integrate(rate, (0.6, 0.8, 0, 0), run.time)
    assert_allclose(np.column_stack([run["r"], run["theta"]]), expected[:, :2], rtol=0, atol=1e-9)


def swing(stabilisation: object, stepper: object = kb.RungeKutta4(1e-2), **given: object) -> kb.Run:
    parts = (PUCK, kb.Connection("rod", "puck", joint=kb.Distance(1.0)))
    system = kb.System("swing", parts, gravity=(0, -G, 0), start=kb.Start(hold={"puck.x": 1.0, "puck.y": 0.0}))
    return kb.simulate(kb.build(system, **given), 10.0, stabilisation=stabilisation, stepper=stepper)


def test_stabilisations_do_what_they_say():
    projected, free, fed_back = (swing(s) for s in (kb.Projection(), kb.NoStabilisation(), kb.Baumgarte(20.0)))
    assert np.abs(projected.residual).max() < 1e-15
    assert np.abs(free.residual[-1]) > 10 * np.abs(free.residual[100])  # drifts on and on
    assert np.abs(fed_back.residual[500:]).max() < 2e-6 < np.abs(free.residual[-1])  # stays where it is
    start = kb.State(np.array([1.1, 0, 0]), np.zeros(3))
    system = kb.System("far", (PUCK, kb.Connection("rod", "puck", joint=kb.Distance(1.0))), gravity=(0, 0, 0))
    assert_allclose(kb.simulate(system, 0.1, start=start).q[0, 0], 1.0, rtol=0, atol=1e-15)  # a start is projected


def test_rows_fed_back_decay_as_the_oscillator_they_are():
    """φ̈ + 2 ζ ω φ̇ + ω² φ = 0 at φ = 0.3, φ̇ = −1: the row's own equation, whatever the machine."""
    parts = (PUCK, kb.Constraint("line", "puck.x"))
    plant = kb.build(kb.System("decay", parts, gravity=(0, 0, 0)))
    w, zeta = 7.0, 0.6
    function = plant.function("motion", lambda e: motion(e, baumgarte=kb.Baumgarte(w, zeta)), "test")
    packed = plant.inputs([0.3, 0, 0], [-1.0, 0.5, 0])
    found = function(packed)[function.outputs["acceleration"]]
    assert_allclose(found[0], -2 * zeta * w * -1.0 - w**2 * 0.3, rtol=1e-14)


def test_choices_that_a_stepper_cannot_honour_are_refused():
    for given in ({"stepper": kb.Radau()}, {"backend": kb.Interpreted()}):
        with pytest.raises(kb.KalabaError, match="Baumgarte"):
            swing(kb.Baumgarte(20.0), **given)
    drifting = swing(kb.NoStabilisation(), kb.Radau(1e-5, 1e-6))
    assert np.abs(drifting.residual).max() > 1e-9  # samples show the drift and do not hide it


def test_semi_implicit_euler_keeps_energy_in_a_tree_and_errs_with_order_one_in_a_loop():
    arm = kb.Solid(2.0, com=(1, 0, 0), inertia=(0.5, 0.5, 0.5))
    tree = kb.System("tree", (kb.Body("arm", arm, joint=kb.Revolute(kb.Z)),), gravity=(0, -G, 0))
    run = kb.simulate(tree, 100.0, stepper=kb.SemiImplicitEuler(1e-3))
    assert np.abs(run.energy - run.energy[0]).max() < 0.03  # of 20 J; as large after one swing as after fifty
    runs = [
        swing(kb.Projection(), kb.SemiImplicitEuler(h)) for h in (1e-2, 1e-3, 5e-4)
    ]  # no alarm: warnings are errors
    assert max(np.abs(run.residual).max() for run in runs) < 1e-15
    coarse, fine = (np.abs(run.energy - run.energy[0]).max() for run in runs[1:])
    assert 1.9 < coarse / fine < 2.1


def test_radau_agrees_with_dormand_prince_on_a_stiff_damped_loop():
    stiff = four_bar(0.8).add(kb.Spring("brake", "rocker.angle", damping=200.0), kb.Actuator("motor", "crank.angle"))
    control = {"motor": "6*cos(2*t)"}
    radau = kb.simulate(stiff, 1.0, control=control, stepper=kb.Radau(1e-10, 1e-12), save_every=0.05)
    explicit = kb.simulate(stiff, 1.0, control=control, stepper=SHARP, save_every=0.05)
    assert_allclose(radau.q, explicit.q, rtol=0, atol=1e-8)
    assert radau.effort.steps < explicit.effort.steps / 3
    assert np.abs(radau.residual).max() < 1e-13


@pytest.mark.parametrize("stepper", [kb.RungeKutta4(1e-3), SHARP, kb.SemiImplicitEuler(1e-3), kb.Radau()])
def test_a_law_without_a_value_at_the_start_gives_the_start_alone(stepper):
    system = puck(kb.Actuator("motor", "puck.x"))
    run = kb.simulate(system, 1.0, control={"motor": "sqrt(-1 - t)"}, stepper=stepper, check=False)
    assert run.status.ending is Ending.NOT_FINITE
    assert "t = 0 s" in run.status.message
    assert run.time.tolist() == [0.0]
    assert_allclose(run.end.q, 0.0)
    assert np.isfinite(run.energy).all()
    with pytest.raises(kb.KalabaError, match="no longer finite") as caught:
        kb.simulate(system, 1.0, control={"motor": "sqrt(-1 - t)"}, stepper=stepper)
    assert caught.value.run.time.tolist() == [0.0]


@pytest.mark.parametrize("stepper", [kb.RungeKutta4(1e-3), SHARP, kb.Radau()], ids=lambda stepper: stepper.name)
def test_a_law_that_ends_midway_leaves_the_part_before_it(stepper):
    system = puck(kb.Actuator("motor", "puck.x"))
    run = kb.simulate(system, 1.0, control={"motor": "2 + 1e-20*sqrt(0.515 - t)"}, stepper=stepper, check=False)
    assert run.status.ending is Ending.NOT_FINITE
    assert_allclose(run.time, np.arange(52) * 0.01, rtol=0, atol=1e-12)
    assert_allclose(run["puck.x"], run.time**2 / 2, rtol=0, atol=1e-12)
    assert 0.51 <= run.status.time <= 0.515 + 1e-12


@pytest.mark.parametrize("rows", [
    {"one": "puck.x - t^2", "other": "puck.x - 2*t^2"},
    {"one": "rate(puck.x) - t", "other": "rate(puck.x) - 2*t"},
    {"one": "puck.x - t^2", "other": "rate(puck.x) - t"},
])  # fmt: skip
@pytest.mark.parametrize("stepper", [kb.RungeKutta4(1e-3), SHARP], ids=["fixed", "adaptive"])
def test_drivers_that_contradict_each_other_are_named(rows, stepper):
    run = kb.simulate(puck(kb.Constraint("drive", rows)), 1.0, stepper=stepper, check=False)
    assert run.status.ending is Ending.INCONSISTENT
    assert "drive.other contradicts" in run.status.message
    assert run.status.time < 0.1


def test_rows_that_agree_at_two_levels_hold_for_long():
    """ẋ = cos t beside x = sin t, in this order: the row that brings x back must be the one that is kept."""
    rows = {"speed": "rate(puck.x) - cos(t)", "place": "puck.x - sin(t)"}
    run = kb.simulate(puck(kb.Constraint("drive", rows)), 20.0, stepper=kb.RungeKutta4(0.05))
    assert_allclose(run["puck.x"], np.sin(run.time), rtol=0, atol=1e-14)
    assert len(run.effort.choices) == 1


def test_skates_that_are_parallel_at_the_start_both_hold_later_and_the_shock_is_said():
    """Two blades on one puck, one of them steered: a row that depends on the other at the start comes into force."""
    parts = (
        kb.Body("steer", kb.Solid(1.0, inertia=(0.1,) * 3), joint=kb.Revolute(kb.Z)),
        kb.Constraint("fixed", "rate(puck.x)*sin(puck.angle) - rate(puck.y)*cos(puck.angle)"),
        kb.Constraint("steered", "rate(puck.x)*sin(steer.angle) - rate(puck.y)*cos(steer.angle)"),
    )
    slow = kb.Start(speed={"puck.x": 1.0, "puck.angle": 0.0, "steer.angle": 1.0})
    with pytest.warns(UserWarning, match="projection changed the speed"):
        run = kb.simulate(puck(*parts, start=slow), 0.5)
    assert np.abs(run.v[-1, :2]).max() < 1e-12  # the blades cross: nothing slides any more
    last = run.plant.velocity_residual(run.end.q, run.end.v)
    assert np.abs(last).max() < 1e-12


def test_a_driven_point_that_leaves_the_reach_of_its_arm_names_the_row():
    parts = (
        kb.Body("upper", kb.Rod(0.5, mass=1.0), joint=HINGE),
        kb.Body("lower", kb.Rod(0.4, mass=1.0), parent="upper.tip", joint=HINGE),
        kb.Constraint("path", {"x": "lower.tip.x - 0.5 - 0.5*t", "z": "lower.tip.z"}),
    )
    system = kb.System("arm", parts, start=kb.Start(guess={"upper.angle": 0.5, "lower.angle": -1.0}))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a singular position is near may be said as well
        run = kb.simulate(system, 2.0, check=False)
    assert run.status.ending in {Ending.RESIDUAL_GROWTH, Ending.INCONSISTENT}
    assert "path." in run.status.message
    assert 0.79 < run.status.time < 0.81  # out of reach at 0.9 m
    assert_allclose(positions(run, "lower.tip")[:70, 0], 0.5 + 0.5 * run.time[:70], rtol=0, atol=1e-12)


def test_a_force_that_jumps_without_end_sinks_the_step():
    system = puck(kb.Actuator("motor", "puck.x"), start=kb.Start(hold={"puck.x": 0.1}))
    run = kb.simulate(system, 5.0, control={"motor": "-1/puck.x^3"}, stepper=SHARP, check=False)
    assert run.status.ending in {Ending.STEP_UNDERFLOW, Ending.NOT_FINITE}
    assert run.status.time < 0.02  # x² = x₀² − t²/(m x₀²): it falls in at t = √2 x₀²
    assert abs(run.status.time - np.sqrt(2.0) * 0.01) < 1e-9


def test_a_grasp_as_found_holds_from_where_the_run_ended_and_lets_go_again():
    parts = (
        kb.Body("arm", kb.Rod(0.5, mass=1.0), joint=HINGE),
        kb.Body("box", kb.Box((0.1, 0.2, 0.1), mass=0.7), at=(0.5, 0, 0)),
    )
    free = kb.System("cell", parts)
    falling = kb.simulate(free, 0.2, stepper=SHARP)
    held = free.add(kb.Connection("grip", "box", parent="arm.tip", at=kb.AsFound()))
    carrying = kb.simulate(held, 0.4, start=falling.end, stepper=SHARP)
    before, after = (positions(run, "box") for run in (falling, carrying))
    assert_allclose(after[0], before[-1], rtol=0, atol=1e-14)  # grasped where it is
    # the grasp is a plastic shock: angular momentum about the pivot stays, and one rigid body swings on
    d = before[-1]
    inertia = 1.0 * 0.25 / 3 + 0.7 * (d @ d) + 0.7 * (0.1**2 + 0.1**2) / 12
    momentum = 1.0 * 0.25 / 3 * falling.v[-1, 0] + 0.7 * (d[0] * falling.v[-1, 3] - d[2] * falling.v[-1, 1])
    assert_allclose(carrying.v[0, 0], momentum / inertia, rtol=1e-12)
    reach, turn = d[0] + 1j * d[2], falling.q[-1, 0]

    def rate(_, y):
        lever = 1.0 * 0.25 * np.cos(y[0]) + 0.7 * (reach * np.exp(1j * (y[0] - turn))).real
        return y[1], -G * lever / inertia

    expected = integrate(rate, (turn, momentum / inertia), carrying.time)
    assert_allclose(carrying["arm.angle"], expected[:, 0], rtol=0, atol=1e-9)
    flying = kb.simulate(held.remove("grip"), 0.3, start=carrying.end, stepper=SHARP)
    fall = after[-1] + np.outer(flying.time, carrying.v[-1, 1:4]) - np.outer(flying.time**2 / 2, [0, 0, G])
    assert_allclose(positions(flying, "box"), fall, rtol=0, atol=1e-10)


def test_derivatives_are_the_slopes_of_the_native_motion_along_the_loop():
    plant = kb.build(four_bar(0.8))
    run = kb.simulate(plant, 0.5, stepper=SHARP)
    q, v = run.end
    d = plant.derivatives(q, v)
    h, slopes = 1e-5, []
    for sign in (1, -1):
        near = q + sign * h * d.tangent[:, 0]
        speed = v + sign * h * d.following[:, 0]
        near = near - np.linalg.pinv(plant.constraint(near, speed)[0]) @ plant.residual(near)  # back onto the loop
        slopes.append(plant.motion(near, speed).acceleration)
    assert_allclose((slopes[0] - slopes[1]) / (2 * h), d.by_q[:, 0], rtol=1e-6, atol=1e-5)
    ahead, behind = (plant.motion(q, v + s * h * d.tangent[:, 0]).acceleration for s in (1, -1))
    assert_allclose((ahead - behind) / (2 * h), d.by_v[:, 0], rtol=1e-7, atol=1e-7)
    ahead, behind = (plant.motion(q, v, force=s * np.array([1.0, 0, 0])).acceleration for s in (1, -1))
    assert_allclose((ahead - behind) / 2, d.by_force[:, 0], rtol=1e-9, atol=1e-9)


def test_a_batch_with_one_nan_is_refused_by_name():
    plant = kb.build(four_bar(0.8))
    q, v = (np.tile(part, (9, 1)) for part in plant.start)
    v[4, 1] = np.nan
    with pytest.raises(kb.KalabaError, match=r"^v: expected finite"):
        plant.motion(q, v)


def motored() -> kb.System:
    return four_bar(0.8).add(kb.Actuator("motor", "crank.angle"))


@pytest.mark.parametrize("seconds", [10.0, pytest.param(100.0, marks=pytest.mark.long)])
def test_a_motored_four_bar_keeps_its_loop_and_its_books(seconds):
    plant = kb.build(motored())
    control = {"motor": "0.2*(10 - rate(crank.angle))"}
    run = kb.simulate(plant, seconds, control=control, save_every=0.1, stepper=kb.RungeKutta4(1e-3))
    rounding = np.spacing(np.abs(run.q).max())  # of an angle that counts its turns: 1e-13 rad after a hundred of them
    assert run.worst.value <= max(1e-14, rounding)
    assert np.abs(run.residual).max() <= max(1e-14, rounding)
    assert np.abs(run.energy_balance).max() < 2e-9 * seconds  # J, of order 4: 16 times less at half the step


def test_runs_leave_no_memory_behind():
    plant = kb.build(motored())
    control = {"motor": "0.2*(10 - rate(crank.angle))"}
    kb.simulate(plant, 1.0, control=control)
    tracemalloc.start()
    for _ in range(3):
        kb.simulate(plant, 1.0, control=control)
    first = tracemalloc.get_traced_memory()[0]
    for _ in range(20):
        kb.simulate(plant, 1.0, control=control)
    grown = tracemalloc.get_traced_memory()[0] - first
    tracemalloc.stop()
    assert grown < 100_000  # bytes; the samples of twenty such runs take 400 kB
