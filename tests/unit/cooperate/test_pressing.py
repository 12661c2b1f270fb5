"""Carry(squeeze=f): the force that grasps press with is f all along a moving run, and moves nothing."""

from functools import cache

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.errors import ControlError, ViewError
from unit.cooperate.test_object_space import carry as ring
from unit.results.samples import small_run

ASKED = 1e-9  # relative; measured 4e-14
LINE = kb.path.line((0, 0, 0), (0.03, -0.02, 0.05), timing=kb.path.MinimumJerk(0.3)).relative()
TURN = kb.path.turn(kb.Axis(1.0, 2.0, 0.5), 0.2)


def carried(system: kb.System, squeeze: object, duration: float = 0.3) -> kb.Run:
    """Led and turned at once, so that the object's own inertia loads the grasps."""
    plant = kb.build(system, backend=kb.Interpreted())
    control = kb.Carry(LINE, TURN, squeeze=squeeze)
    return kb.simulate(plant, duration, control=control, stepper=kb.RungeKutta4(2e-3), save_every=0.02)


MACHINES = {
    "two PUMA arms": lambda: kb.load("two-arm-carry"),
    "three PUMA arms in a ring": lambda: kb.load("n-arm-carry", arms=3),
    "three arms of three joints, by balls": ring,
    "three arms of four joints, by balls": lambda: ring(3, 4),
    "four arms of three joints, by balls": lambda: ring(4),
}


@cache
def run_of(name: str) -> kb.Run:
    return carried(MACHINES[name](), 30.0)


@pytest.mark.parametrize("name", MACHINES)
def test_the_force_is_the_one_that_is_asked_for_while_the_object_moves(name):
    run = run_of(name)
    forces = kb.cooperate.grasp_forces(run)
    assert np.ptp(run["load.z"]) > 0.02
    assert np.abs(forces.squeeze["load"] - 30.0).max() < ASKED * 30.0


@pytest.mark.parametrize("name", MACHINES)
def test_wrenches_move_the_object_and_the_internal_ones_do_not(name):
    """Newton and Euler at the object's centre: Σ F = m (a − g), Σ M = I ω̇ + ω × I ω; both are 0 of internal ones."""
    run = run_of(name)
    forces, sample = kb.cooperate.grasp_forces(run), 7
    plant, state = run.plant, kb.State(run.q[sample], run.v[sample])
    space = kb.object_space(plant)
    s_ddot = space.acceleration(state, run.actuation[sample], run.time[sample])[:6]
    rate = space.speeds(state)[3:6]
    load = next(part for part in plant.system.parts if isinstance(part, kb.Body) and part.name == "load").solid
    frame = plant.pose("load", state.q)
    centre = frame.position + frame.rotation @ np.array(centre_of(load))
    inertia = frame.rotation @ inertia_of(load) @ frame.rotation.T
    needed = np.concatenate(
        [
            load.mass * (s_ddot[:3] + np.array([0, 0, 9.81])),
            inertia @ s_ddot[3:] + np.cross(rate, inertia @ rate),
        ]
    )
    assert total(forces.wrenches[sample], forces.points[sample], centre) == pytest.approx(needed, abs=1e-8)
    assert total(forces.carrying[sample], forces.points[sample], centre) == pytest.approx(needed, abs=1e-8)
    assert np.abs(total(forces.internal[sample], forces.points[sample], centre)).max() < 1e-10 * 30


def total(wrenches: np.ndarray, points: np.ndarray, centre: np.ndarray) -> np.ndarray:
    moments = wrenches[:, 3:] + np.cross(points - centre, wrenches[:, :3])
    return np.concatenate([wrenches[:, :3].sum(axis=0), moments.sum(axis=0)])


def centre_of(solid: kb.Solid | kb.Cylinder) -> tuple[float, ...]:
    return solid.com if isinstance(solid, kb.Solid) else (0.0, 0.0, 0.0)


def inertia_of(solid: kb.Solid | kb.Cylinder) -> np.ndarray:
    if isinstance(solid, kb.Cylinder):
        m, r, h = solid.mass, solid.radius, solid.length
        across = m * (3 * r**2 + h**2) / 12
        return np.diag([across, across, m * r**2 / 2])
    entries = (*solid.inertia, 0.0, 0.0, 0.0)[:6]
    xx, yy, zz, xy, xz, yz = entries
    return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])


def test_wrenches_of_a_run_are_those_of_object_space():
    run, sample = run_of("three arms of three joints, by balls"), 5
    forces, space = kb.cooperate.grasp_forces(run), kb.object_space(run.plant)
    state = kb.State(run.q[sample], run.v[sample])
    wanted = space.grasp_wrenches(state, run.actuation[sample], run.time[sample])
    for i, grasp in enumerate(forces.grasps):
        assert forces.wrenches[sample, i] == pytest.approx(wanted[grasp], abs=1e-9 * 30)


def test_the_motion_is_the_same_with_and_without():
    name = "three arms of three joints, by balls"
    plain = carried(MACHINES[name](), None)
    assert np.abs(plain.q - run_of(name).q).max() < 1e-9
    asked_none = kb.cooperate.grasp_forces(plain).squeeze["load"]
    assert np.abs(asked_none - 30.0).min() > 1.0


def test_a_force_may_change_in_time():
    run = carried(ring(), "20 + 10*sin(5*t)")
    wanted = 20 + 10 * np.sin(5 * run.time)
    assert kb.cooperate.grasp_forces(run).squeeze["load"] == pytest.approx(wanted, rel=ASKED)


def test_two_grasps_press_along_the_line_between_them():
    """½ (F₁ − F₂) · e with e from the first grasp to the second, by hand."""
    run = run_of("two PUMA arms")
    forces = kb.cooperate.grasp_forces(run)
    line = forces.points[:, 1] - forces.points[:, 0]
    e = line / np.linalg.norm(line, axis=1, keepdims=True)
    by_hand = ((forces.wrenches[:, 0, :3] - forces.wrenches[:, 1, :3]) * e).sum(axis=1) / 2
    assert by_hand == pytest.approx(30.0, rel=ASKED)


@pytest.mark.parametrize(
    ("squeeze", "message"),
    [
        ({"lod": 30.0}, "no body 'lod' that several grasps hold; did you mean load"),
        ("load.x", "expected an expression of t and parameters, got 'load.x'"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(squeeze, message):
    plant = kb.build(ring(), backend=kb.Interpreted())
    with pytest.raises(ControlError, match=message):
        kb.Carry(squeeze=squeeze).law(plant, plant.start)


def test_a_force_that_is_no_number_is_refused():
    with pytest.raises(ControlError, match=r"Carry\.squeeze: expected a force in N or an expression of t, got \[30\]"):
        kb.Carry(squeeze=[30])


def test_bodies_with_one_grasp_each_have_nothing_to_press():
    plant = kb.build(kb.load("two-arm-scissors"), backend=kb.Interpreted())
    with pytest.raises(ControlError, match=r"expected one body that several grasps hold, in two-arm-scissors there is"):
        kb.Carry(squeeze=30).law(plant, plant.start)


def test_a_grasp_that_slips_is_refused():
    rail = kb.build(ring(2, 4, kb.Cylindrical(kb.X)), backend=kb.Interpreted())
    with pytest.raises(ControlError, match=r"slips as it presses on load\. Hold by a Weld or a Spherical"):
        kb.Carry(squeeze=30).law(rail, rail.start)


def test_motors_without_a_spare_one_cannot_press():
    plant = kb.build(ring(2), backend=kb.Interpreted())
    with pytest.raises(ControlError, match=r"6 motors of the arms cannot move the object and press on load"):
        kb.Carry(squeeze=30).law(plant, plant.start)


def test_the_figure_shows_forces_and_attitude_with_units():
    figure = kb.plot.draw(run_of("two PUMA arms"), "grasps")
    titles = [axes.get_title(loc="left") or axes.get_title() for axes in figure.axes if axes.get_visible()]
    assert len(titles) == 6
    assert "internal forces of the grasps" in titles
    assert "attitude of load" in titles
    assert all("[" in axes.get_ylabel() and axes.lines for axes in figure.axes if axes.get_visible())


def test_a_machine_without_grasps_has_no_such_figure():
    with pytest.raises(ViewError, match="figure grasps: "):
        kb.plot.draw(small_run(), "grasps")


def test_the_command_says_what_grasps_carry_and_how_hard_they_press(capsys, tmp_path):
    assert (
        invoke(["run", "two-arm-carry", "--set", "squeeze=30", "--duration", "0.02", "-o", str(tmp_path / "run.nc")])
        == 0
    )
    printed = " ".join(capsys.readouterr().out.split())
    assert "pressing on load: 30 to 30 N" in printed
    assert "grasps: carrying" in printed
