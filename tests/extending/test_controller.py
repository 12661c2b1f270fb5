"""A controller from outside the package: `law` is all that it must have, and all that a run asks for has a name."""

from dataclasses import dataclass

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.plant.laws import Controller, Law

PENDULUM = kb.System(
    "pendulum",
    parts=(
        kb.Body("rod", kb.Rod(1.0, mass=2.0), joint=kb.Revolute(-kb.Y)),
        kb.Actuator("motor", "rod.angle"),
    ),
)
WEIGHT = 2.0 * 9.81 / 2  # N·m, held level


@dataclass(frozen=True)
class Held(Controller):
    """Gravity taken off, and a spring to an angle: expressions, compiled into the loop."""

    stiffness: float  # N·m/rad

    def law(self, plant, start):
        def motors(equations, kept, numbers):
            angle = equations.kinematics.scalar("rod.angle")
            return [WEIGHT * ca.cos(angle) - self.stiffness * (angle - numbers[0])]

        return Law(repr(self), motors, is_feedback=True, numbers=(float(start.q[0]),))


@dataclass(frozen=True)
class Lowered:
    """All four members by itself: a start, a duration and goals of its own. It inherits from nothing."""

    goals: tuple
    duration: float

    def start(self, plant):
        return kb.State(np.array([0.5]), np.zeros(1))

    def law(self, plant, start):
        return kb.Sampled(lambda t, q, v: [WEIGHT * np.cos(q[0])], rate=1000)


def test_with_a_law_alone_a_run_begins_at_the_machines_start_and_needs_a_duration():
    plant = kb.build(PENDULUM)
    run = kb.simulate(plant, 0.2, control=Held(50.0))
    assert np.array_equal(run.q[0], plant.start.q)
    assert np.abs(run["rod.angle"] - plant.start.q[0]).max() < 1e-9  # in balance, so it stays
    with pytest.raises(kb.KalabaError, match="expected a duration above 0 s, got None"):
        kb.simulate(plant, control=Held(50.0))


def test_its_own_start_duration_and_goals_are_those_of_the_run_behind_a_drive_too():
    control = Lowered((kb.follow("rod.angle", 0.5),), 0.1)
    for led in (control, kb.Drive(rate=1000).around(control)):
        run = kb.simulate(PENDULUM, control=led)
        assert run.time[-1] == pytest.approx(0.1)
        assert run.q[0] == pytest.approx([0.5])
        assert led.goals == control.goals
        assert kb.control.goal_errors(run, led.goals)["rad"].max() < 1e-4


def test_what_lacks_a_member_is_no_controller():
    class Half:
        def law(self, plant, start):
            return kb.Sampled(lambda t, q, v: [0.0], rate=100)

    for wrong in (Half(), Held):
        with pytest.raises(kb.KalabaError, match=r"^pendulum: expected control as \{motor: expression\}"):
            kb.simulate(PENDULUM, 0.1, control=wrong)
