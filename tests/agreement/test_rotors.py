"""Rotors: inertia along a displacement, by three derivations, in closed form, and in runs of every kind."""

import math
from dataclasses import replace

import numpy as np
import pytest

import kalaba as kb
from kalaba.derive.kane import Kane
from kalaba.derive.kinematics import Kinematics
from kalaba.derive.lagrange import Lagrange
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.errors import ModelError
from machines import random_system
from states import numeric, random_state, relative_gap

SHARP = kb.DormandPrince(rtol=1e-11, atol=1e-12)
ALONG = ("arm.angle", "3*arm.angle - hand.angle", "sin(arm.angle)*hand.angle", "distance(hand.tip, world)")


def arm(*parts: kb.Rotor, base: kb.joints.Joint | None = None) -> kb.System:
    """A body on a base with an arm of two links."""
    return kb.System(
        "arm",
        parts=(
            kb.Body("base", kb.Box((0.2, 0.3, 0.1), mass=4.0), joint=base or kb.Weld()),
            kb.Body("arm", kb.Rod(0.5, mass=1.0), parent="base", joint=kb.Revolute(-kb.Y)),
            kb.Body("hand", kb.Rod(0.4, mass=0.7), parent="arm.tip", joint=kb.Revolute(kb.Z)),
            *parts,
        ),
    )


@pytest.mark.parametrize("along", ALONG)
@pytest.mark.parametrize("base", [kb.Weld(), kb.Free(), kb.Spherical()])
def test_three_derivations_agree_on_rotors(along, base):
    kinematics = Kinematics(arm(kb.Rotor("rotor", along, 0.3), base=base).machine)
    ways = [method.dynamics(kinematics) for method in (NewtonEuler(), Lagrange(), Kane())]
    at = numeric(kinematics.symbols, *(entry for way in ways for entry in (way.mass_matrix, way.bias)))
    M, bias, *others = at(random_state(kinematics.machine, np.random.default_rng(1)))
    assert max(map(relative_gap, others, (M, bias) * 2)) < 1e-13


def test_a_rotor_along_a_coordinate_adds_to_its_entry_of_the_mass_matrix_alone():
    plain, with_rotor = kb.build(arm()), kb.build(arm(kb.Rotor("rotor", "hand.angle", 0.3)))
    q, v = np.array([0.4, -0.8]), np.array([1.0, 2.0])
    assert np.allclose(with_rotor.mass_matrix(q) - plain.mass_matrix(q), np.diag([0, 0.3]), rtol=0, atol=1e-15)
    assert np.allclose(with_rotor.bias(q, v), plain.bias(q, v), rtol=0, atol=1e-15)


def test_a_rotor_behind_a_gear_counts_with_the_square_of_the_ratio():
    geared = kb.build(arm(kb.Rotor("rotor", "100*hand.angle", 2e-5)))
    direct = kb.build(arm(kb.Rotor("rotor", "hand.angle", 0.2)))
    q = np.array([0.4, -0.8])
    assert np.allclose(geared.mass_matrix(q), direct.mass_matrix(q), rtol=1e-14)


@pytest.mark.parametrize("along", ALONG[:3])
@pytest.mark.parametrize("stepper", [SHARP, kb.Kvaerno(rtol=1e-9, atol=1e-10)])
def test_rotors_keep_energy_in_runs(along, stepper):
    system = replace(arm(kb.Rotor("rotor", along, 0.3)), start=kb.Start(speed={"hand.angle": 3.0}))
    run = kb.simulate(system, 1.0, stepper=stepper)
    assert np.ptp(run.observed["kinetic"]) > 0.1
    assert np.abs(run.energy_balance).max() < 3e-6  # rtol 1e-9 over some hundred steps, with samples within them


def test_rotors_carry_no_momentum_and_leave_that_of_a_floating_machine():
    system = arm(kb.Rotor("rotor", "3*arm.angle - hand.angle", 0.3), base=kb.Free())
    speed = {"arm.angle": 2.0, "hand.angle": -3.0, "base": (0.1, 0, 0.2, 0.3, -1.0, 0.5)}
    floating = replace(system, gravity=(0, 0, 0), start=kb.Start(speed=speed))
    run = kb.simulate(floating, 1.0, stepper=SHARP)
    momentum = run.observed["momentum"]
    assert np.ptp(momentum, axis=0).max() < 1e-9 * np.abs(momentum).max()


def test_rotors_act_in_the_tangent_of_structural_steppers():
    system = replace(
        arm(kb.Rotor("rotor", "sin(arm.angle)*hand.angle", 0.3)), start=kb.Start(speed={"hand.angle": 3.0})
    )
    ends = [kb.simulate(system, 0.3, stepper=stepper).end.q for stepper in (SHARP, kb.GeneralisedAlpha(step=2e-4))]
    assert np.allclose(*ends, rtol=0, atol=1e-5)  # of second order: some h² = 4e-8 times the rates' fourth power


def test_limbs_with_rotors_move_as_the_whole_machine_does():
    def scene(case):
        return kb.System("pair", parts=(arm(kb.Rotor("rotor", "hand.angle", 0.3)).place("left"), *case))

    apart = kb.build(scene([arm().place("right", at=(2, 0, 0))]))
    joined = kb.build(
        scene([arm().place("right", at=(2, 0, 0)), kb.Rotor("belt", "left.arm.angle + right.arm.angle", 0.2)])
    )
    q = np.array([0.4, -0.8, 0.2, 0.1])
    added = joined.mass_matrix(q) - apart.mass_matrix(q)
    expected = np.zeros((4, 4))
    expected[np.ix_([0, 2], [0, 2])] = 0.2
    assert np.allclose(added, expected, rtol=0, atol=1e-14)


def test_rotors_join_random_machines_without_breaking_the_three_derivations():
    system = random_system(3, 5)
    angle = next(d.name for body in system.machine.bodies for d in body.displacements)
    kinematics = Kinematics(system.add(kb.Rotor("rotor", f"cos({angle})", 0.7)).machine)
    ways = [method.dynamics(kinematics) for method in (NewtonEuler(), Lagrange(), Kane())]
    at = numeric(kinematics.symbols, *(way.bias for way in ways))
    first, *others = at(random_state(kinematics.machine, np.random.default_rng(2)))
    assert max(relative_gap(other, first) for other in others) < 1e-12


@pytest.mark.parametrize(
    ("rotor", "message"),
    [
        (("rotor", "arm.angle", -1.0), "inertia of zero or more"),
        (("rotor", "arm.angle", math.nan), "rotor.inertia"),
        (("rotor", "rate(arm.angle)", 1.0), "expression of positions"),
        (("rotor", "arm.angle + t", 1.0), "expression of positions alone"),
        (("rotor", "elbow.angle", 1.0), "elbow"),
    ],
)
def test_rotors_that_cannot_be_are_refused(rotor, message):
    with pytest.raises(ModelError, match=message):
        arm(kb.Rotor(*rotor))
