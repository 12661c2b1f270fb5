"""Carry: where its goals begin, and how a preload shares."""

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.control.servo import StartWarning

LINE = kb.path.line((0, 0, 0), (0.02, -0.03, 0.05), timing=kb.path.MinimumJerk(0.3)).relative()


@pytest.fixture(scope="module")
def plant():
    return kb.build(kb.load("two-arm-carry"))


def torques_of(plant, control, state, t):
    """The law before the motors' limits."""
    s = plant.equations.symbols
    law = ca.vertcat(*control.law(plant, plant.start).inputs(plant.equations)[: len(plant.actuators)])
    return ca.Function("law", [s.q, s.v, s.t, s.p], [law])(state.q, state.v, t, plant.parameters).full().ravel()


def test_a_path_that_begins_off_the_object_is_told(plant):
    """A circle without a centre has it where the object is, and begins a radius away."""
    circle = kb.path.circle(diameter=0.1, speed=0.1)
    with pytest.warns(
        StartWarning, match=r"two-arm-carry: load\.\S+ starts 0\.05 m or rad off its path\. The feedback"
    ):
        kb.simulate(plant, 0.002, control=kb.Carry(circle))


def test_paths_that_begin_at_the_object_are_not(plant, recwarn):
    centre = plant.pose("load", plant.start.q).position - np.array([0.05, 0.0, 0.0])
    for path in (LINE, kb.path.circle(diameter=0.1, speed=0.1, centre=centre), None):
        kb.Carry(path).law(plant, plant.start)
    assert not recwarn.list


def test_a_relative_circle_of_a_servo_begins_on_it():
    arm = kb.build(kb.load("planar-parallel"))
    circle = kb.path.circle(diameter=0.02, speed=0.01)
    control = kb.servo(arm, kb.follow("leg1.link_b.tip", circle, orientation="free"))
    centre = arm.pose("leg1.link_b.tip", arm.start.q).position
    begins = arm.pose("leg1.link_b.tip", control.start(arm).q).position
    assert begins - centre == pytest.approx([0.01, 0, 0], abs=1e-9)
    with pytest.warns(StartWarning, match=r"starts 0\.01 m or rad off its path"):
        kb.simulate(arm, 0.002, control=control, start=arm.start)


@pytest.mark.parametrize("weighted", [False, True])
def test_a_preload_is_honoured_as_far_as_it_moves_nothing(plant, weighted):
    """τ = τ_p + D⁻¹ Wᵀ (W D⁻¹ Wᵀ)⁻¹ (F − W τ_p): with it the same motion, and N of D (τ − τ_p) is zero."""
    rng, motors = np.random.default_rng(4), len(plant.actuators)
    preload = tuple(rng.normal(scale=5.0, size=motors).tolist())
    weights = tuple(rng.uniform(0.5, 2.0, motors).tolist()) if weighted else None
    state, t = kb.State(plant.start.q, rng.normal(scale=0.1, size=len(plant.velocities))), 0.1
    loaded = torques_of(plant, kb.Carry(LINE, share=kb.LeastSquares(weights, preload)), state, t)
    plain = torques_of(plant, kb.Carry(LINE, share=kb.LeastSquares(weights)), state, t)
    space = kb.object_space(plant)
    internal = space.internal(state)
    size = np.abs(preload).max()
    assert np.abs(space.force_map(state) @ (loaded - plain)).max() < 1e-9 * size  # the same forces on the object
    D = np.ones(motors) if weights is None else np.array(weights)
    assert np.abs(internal.basis.T @ (D * (loaded - np.array(preload)))).max() < 1e-9 * size
    assert np.abs(loaded - plain).max() > 0.1 * size  # the preload is there


def test_a_run_with_a_preload_moves_as_without(plant):
    weights, preload = plant.limits**-2.0, np.linspace(-2.0, 2.0, len(plant.actuators))
    runs = [
        kb.simulate(plant, 0.05, control=kb.Carry(LINE, share=kb.LeastSquares(weights, how))) for how in (None, preload)
    ]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9
    assert np.abs(runs[0].actuation - runs[1].actuation).max() > 0.2
