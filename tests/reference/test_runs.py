"""Whole runs against the reference: states, constraint forces, and how well the rows stay closed."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kalaba as kb

DATA = Path(__file__).parent / "data"
SHARP = kb.DormandPrince(rtol=1e-11, atol=1e-12)
RK4 = kb.RungeKutta4(1e-3)
TORQUES = ("10*cos(pi*t)", "-60", "2*cos(2*t)", "0", "11.76", "0", "-4*cos(pi*t)", "50", "1", "0.5", "11.76", "0")
CLOSED = 1e-14


@cache
def reference(name: str, run: str) -> dict[str, np.ndarray]:
    with np.load(DATA / name / f"{run}.npz") as file:
        return dict(file)


@cache
def dual_free_run(stepper: object) -> kb.Run:
    plant = kb.build(kb.load("dual-mobile-arm", path=False))
    control = dict(zip(plant.actuators, TORQUES, strict=True))
    return kb.simulate(plant, 2.0, control=control, stepper=stepper)


def test_free_run_of_the_dual_arm_equals_the_reference():
    run, data = dual_free_run(SHARP), reference("dual-mobile-arm", "free_run")
    assert np.allclose(run.time, data["t"], rtol=0, atol=1e-12)
    assert np.abs(run.q - data["q"]).max() < 1e-9
    assert np.abs(run.v - data["qd"]).max() < 1e-8
    assert np.abs(run.constraint_force - data["Qc"]).max() < 1e-6


def test_work_of_the_motors_equals_the_reference():
    data = reference("dual-mobile-arm", "free_run")
    assert np.abs(dual_free_run(SHARP).work - data["work"]).max() < 1e-9 * np.abs(data["work"]).max()


def test_fixed_steps_converge_to_the_reference_with_order_four():
    data = reference("dual-mobile-arm", "free_run")["q"]
    coarse, fine = (np.abs(dual_free_run(kb.RungeKutta4(h)).q - data).max() for h in (1e-3, 5e-4))
    assert fine < 1e-9
    assert 3.7 < np.log2(coarse / fine) < 4.3


def test_free_run_of_the_parallel_robot_equals_the_reference():
    data = reference("planar-parallel", "free_run")
    system = kb.load("planar-parallel")
    run = kb.simulate(system, 5.0, control={"leg1.motor": "0.1*cos(pi*t)"}, stepper=SHARP)
    assert np.abs(run.q - data["q"]).max() < 1e-9
    assert np.abs(run["leg1.link_b.tip.x"] - data["E"][:, 0]).max() < 1e-9
    assert np.abs(run.residual).max() < CLOSED


@pytest.mark.parametrize("stepper", [RK4, kb.Auto()])
def test_paper_run_of_the_dual_arm_equals_the_reference(stepper):
    """No freedom is left: samples between long steps must be as exact as the steps."""
    data = reference("dual-mobile-arm", "paper_run")
    run = kb.simulate(kb.load("dual-mobile-arm"), 4.0, stepper=stepper)
    assert np.abs(run.q - data["q"]).max() < 1e-9
    assert np.abs(run.constraint_force - data["Qc"]).max() < 1e-7
    assert np.abs(run.residual[:, :6]).max() <= CLOSED
    assert run.worst is not None
    assert run.worst.value <= CLOSED


def test_tracking_run_of_the_parallel_robot_equals_the_reference():
    data = reference("planar-parallel", "tracking_run")
    run = kb.simulate(kb.load("planar-parallel", tracking=True), 10.0, save_every=0.02, stepper=RK4)
    assert np.abs(run.q - data["q"]).max() < 1e-9
    assert np.abs(run.constraint_force - data["Qc_tot"]).max() < 1e-7


def test_oracle_and_native_loop_agree():
    system = kb.load("planar-parallel")
    control = {"leg1.motor": "0.1*cos(pi*t)"}
    native = kb.simulate(system, 0.1, control=control, stepper=RK4)
    oracle = kb.simulate(kb.build(system, backend=kb.Interpreted()), 0.1, control=control, stepper=RK4)
    assert np.abs(native.q - oracle.q).max() < 1e-12
    assert np.abs(native.constraint_force - oracle.constraint_force).max() < 1e-10


@pytest.mark.long
@pytest.mark.parametrize("options", [{"path": True}, {"path": False}])
def test_rows_stay_closed_for_a_thousand_seconds(options):
    system = kb.load("dual-mobile-arm", **options)
    control = None if options["path"] else kb.scenario("dual-mobile-arm", path=False).control
    run = kb.simulate(system, 1000.0, control=control, save_every=0.1, stepper=RK4)
    assert run.worst is not None
    assert run.worst.value <= CLOSED
