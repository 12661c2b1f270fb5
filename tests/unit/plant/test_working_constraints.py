"""Constraints that do work: their force counts as applied, the ideal one stays ideal."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError

LAW = "-0.4*rate(crank.angle) - 0.1*sin(coupler.angle)"


def four_bar(*parts) -> kb.System:
    system = kb.load("four-bar")
    start = kb.Start(hold=system.start.hold, guess=system.start.guess, speed={"crank.angle": 4.0})
    return kb.System("four-bar", (*system.parts, *parts), start=start)


def value_of_law(plant: kb.Plant) -> float:
    q, v = plant.start
    return -0.4 * v[0] - 0.1 * np.sin(q[1])


@pytest.mark.parametrize("backend", [kb.Interpreted(), kb.Native()], ids=["interpreted", "native"])
def test_work_on_a_coordinate_is_a_motor_on_it(backend):
    row = "3*rocker.tip.z"  # said a second time: the work is of the constraint, not of its rank
    working = kb.build(four_bar(kb.Constraint("c", row, work={"crank.angle": LAW})), backend=backend)
    ideal = kb.build(four_bar(kb.Constraint("c", row)), backend=backend)
    q, v = working.start
    u = [value_of_law(working)]
    a, b = working.motion(q, v), ideal.motion(q, v, actuation=u)
    assert a.acceleration == pytest.approx(b.acceleration, rel=1e-10, abs=1e-10)
    assert a.constraint_force == pytest.approx(b.constraint_force, rel=1e-9, abs=1e-9)


def test_work_on_an_angular_velocity_is_a_torque_in_body_axes():
    at = kb.Pose(rpy=(0.3, 0.4, 0.5))
    body = kb.Body("b", kb.Box((0.1, 0.2, 0.3), mass=1.0), at=at)
    row = kb.Constraint("c", "b.z", work={"b.wx": "0.7", "b.vy": "0.2"})
    plant = kb.build(kb.System("s", (body, row)), backend=kb.Interpreted())
    q, v = plant.start
    R = plant.pose("b", q).rotation  # at the start body axes are seat axes
    plain = kb.build(kb.System("s", (body, kb.Constraint("c", "b.z"))), backend=kb.Interpreted())
    wrench = np.concatenate([R @ [0, 0.2, 0], R @ [0.7, 0, 0]])
    expected = plain.motion(q, v, wrenches={"b": wrench}).acceleration
    assert plant.motion(q, v).acceleration == pytest.approx(expected, abs=1e-10)


def test_the_ideal_part_still_does_no_virtual_work():
    plant = kb.build(
        four_bar(kb.Constraint("c", "crank.tip.x - crank.tip.x*1", work={"crank.angle": LAW})), backend=kb.Interpreted()
    )
    q, v = plant.start
    force = plant.motion(q, v).constraint_force
    A, _ = plant.constraint(q, v)
    tangent = np.linalg.svd(A)[2][2:]
    assert np.abs(tangent @ force).max() < 1e-9


def test_its_power_is_counted_as_work_done():
    """Energy lost is the work of the constraint: the balance of a run closes."""
    row = kb.Constraint("c", "a.x", work={"a.y": "-2*rate(a.y)"})
    body = kb.Body("a", kb.Box((1, 1, 1), mass=1.0), joint=kb.Planar(kb.Z))
    system = kb.System("s", (body, row), start=kb.Start(speed={"a.y": 1.0}))
    run = kb.simulate(kb.build(system, backend=kb.Interpreted()), 0.5, stepper=kb.RungeKutta4(0.01))
    assert run["rate(a.y)"][-1] == pytest.approx(np.exp(-1.0), rel=1e-8)
    assert run.energy[-1] - run.energy[0] == pytest.approx((np.exp(-2.0) - 1) / 2, rel=1e-7)
    assert np.abs(run.energy_balance).max() < 1e-7


def test_friction_by_the_constraint_stops_what_slides():
    """A bead on a wire with friction proportional to its speed: v = v₀ exp(−c t/m)."""
    parts = (
        kb.Body("bead", kb.Box((0.1, 0.1, 0.1), mass=2.0)),
        kb.Connection("wire", "bead", joint=kb.Prismatic(kb.X)),
        kb.Constraint("drag", "bead.y", work={"bead.vx": "-3*bead.vx"}),
    )
    plant = kb.build(
        kb.System("s", parts, gravity=(0, 0, 0), start=kb.Start(speed={"bead.x": 1.0})), backend=kb.Interpreted()
    )
    q, v = plant.start
    assert plant.motion(q, v).acceleration[0] == pytest.approx(-1.5)


def test_work_needs_a_velocity_that_exists():
    with pytest.raises(ModelError, match=r"c\.work: no velocity 'crank\.angel'; did you mean crank\.angle"):
        four_bar(kb.Constraint("c", "crank.angle", work={"crank.angel": "1"}))
