"""Motors in place of rows that prescribe a motion in time."""

import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.control.driven_rows import motors_in_place
from kalaba.errors import ControlError

DATA = Path(__file__).parents[2] / "reference" / "data" / "planar-parallel" / "tracking_run.npz"


@cache
def led() -> kb.Run:
    return kb.simulate(kb.load("planar-parallel", tracking=True), 2.0, save_every=0.02, stepper=kb.RungeKutta4(1e-3))


@cache
def slider(*, motors: bool = True) -> kb.Run:
    """A cart of 2 kg that a row leads by 0.1 sin t along x."""
    parts = (
        kb.Body("cart", kb.Solid(2.0), joint=kb.Prismatic(kb.X)),
        kb.Constraint("lead", "cart.travel - 0.1*sin(t)"),
        *((kb.Actuator("motor", "cart.travel"),) if motors else ()),
    )
    return kb.simulate(kb.build(kb.System("led-cart", parts=parts), backend=kb.Interpreted()), 1.0, save_every=0.1)


def test_constraints_that_read_time_lead():
    assert kb.control.driven_constraints(led().plant) == ("servo",)
    assert kb.control.driven_constraints(kb.build(kb.load("planar-parallel"))) == ()
    assert kb.control.driven_constraints(kb.build(kb.load("puma560"))) == ()


def test_least_torques_and_preload_are_those_of_an_independent_solution():
    with np.load(DATA) as data:
        tau, null = data["tau_min"][:101], data["null_dir"][:101]
    efforts = kb.control.motors_for_rows(led())
    assert np.abs(efforts.actuation - tau).max() < 1e-9
    sign = np.sign(np.sum(efforts.null * null, axis=1))[:, None]
    assert np.abs(efforts.null - sign * null).max() < 1e-9
    assert 1e3 * efforts.actuation[0] == pytest.approx([4.4958, 2.2835, 0.3121], abs=1e-4)


def test_motors_that_give_it_move_the_machine_as_the_rows_do():
    run, robot = led(), kb.build(kb.load("planar-parallel"))
    efforts = kb.control.motors_for_rows(run, allocation=kb.MinMax(), samples=5)
    assert len(efforts.time) == 5
    for t, q, v, u in zip(efforts.time, efforts.q, efforts.v, efforts.actuation, strict=True):
        k = int(np.argmin(np.abs(run.time - t)))
        assert np.abs(robot.motion(q, v, actuation=u).acceleration - run.acceleration[k]).max() < 1e-10


def test_a_cart_needs_mass_times_acceleration():
    run = slider()
    wanted = -2.0 * 0.1 * np.sin(run.time)
    assert np.abs(kb.control.motors_for_rows(run).actuation[:, 0] - wanted).max() < 1e-12
    assert np.abs(kb.control.motors_for_rows(run, ["lead"]).actuation[:, 0] - wanted).max() < 1e-12


def test_what_motors_give_already_counts_among_what_they_need():
    """Beside a motor that pushes by 0.3 N the row does the rest: in its place the motor needs m a, as without."""
    run = kb.simulate(slider().plant, 1.0, save_every=0.1, control={"motor": "0.3*cos(t)"})
    assert np.abs(run.actuation[:, 0] - 0.3 * np.cos(run.time)).max() < 1e-12
    assert np.abs(kb.control.motors_for_rows(run).actuation[:, 0] + 0.2 * np.sin(run.time)).max() < 1e-12


def test_a_run_without_such_rows_or_motors_is_refused_and_not_shown():
    driven = kb.simulate(kb.load("four-bar"), 0.02)
    for run, words in ((driven, "no rows that prescribe a motion in time"), (slider(motors=False), "has no motors")):
        with pytest.raises(ControlError, match=words):
            kb.control.motors_for_rows(run)
        assert motors_in_place(run) is None
    with pytest.raises(ControlError, match="no constraint 'led'; did you mean lead"):
        kb.control.motors_for_rows(slider(), ["led"])


def test_run_plot_and_report_show_what_motors_need(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert invoke(["run", "planar-parallel", "--set", "tracking=true", "--duration", "1", "--json"]) == 0
    needed = json.loads(capsys.readouterr().out)["needed"]
    assert needed["name"] == "leg1.motor"
    assert 1e3 * needed["value"] == pytest.approx(4.4958, abs=1e-4)
    assert needed["unit"] == "N*m"
    assert invoke(["plot", "run.nc", "--figure", "motors", "-o", "motors.svg"]) == 0
    assert "motors needed in place of servo" in Path("motors.svg").read_text(encoding="utf-8")
    assert invoke(["report", "run.nc", "-o", "page.html"]) == 0
    page = Path("page.html").read_text(encoding="utf-8")
    assert "largest of motors needed in place of servo, leg1.motor" in page
    assert "Peaks: motors needed in place of servo" in page
