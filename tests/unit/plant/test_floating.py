"""Floating bases: the generalised Jacobian, motion without reaction, thrusters and reaction wheels."""

from math import pi

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError
from kalaba.space.configuration import displaced


def space_arm(base=None, joint=None) -> kb.System:
    hinge = kb.Revolute(kb.Z)
    base = base or kb.Body("sat", kb.Box((1, 1, 1), mass=40.0), joint=joint or kb.Free())
    return kb.System(
        "space-arm",
        (
            base,
            kb.Body("one", kb.Rod(1.0, mass=4.0), parent="sat", at=(0.5, 0.1, 0), joint=hinge),
            kb.Body("two", kb.Rod(0.8, mass=3.0), parent="one.tip", joint=kb.Revolute(kb.Y)),
            kb.Body("three", kb.Rod(0.5, mass=2.0), parent="two.tip", joint=hinge),
        ),
        gravity=(0, 0, 0),
        start=kb.Start(guess={"one.angle": 0.4, "two.angle": 0.7, "three.angle": -0.6}),
    )


def planar_arm() -> kb.System:
    """Four joints on a planar base: one motion more than the base has."""
    parts = [kb.Body("sat", kb.Box((1, 1, 1), mass=20.0), joint=kb.Planar(kb.Z))]
    seat = "sat"
    for i, length in enumerate((1.0, 0.8, 0.6, 0.5)):
        parts.append(kb.Body(f"l{i}", kb.Rod(length, mass=3.0), parent=seat, joint=kb.Revolute(kb.Z)))
        seat = f"l{i}.tip"
    guess = {"l0.angle": 0.5, "l1.angle": 0.9, "l2.angle": -0.7, "l3.angle": 1.2}
    return kb.System("planar-arm", tuple(parts), gravity=(0, 0, 0), start=kb.Start(guess=guess))


def absolute_arm() -> kb.System:
    """Absolute angles: rows of M are then not the base's momentum."""
    return kb.System(
        "absolute",
        coordinates=("x", "y", "a", "b", "c"),
        gravity=(0, 0, 0),
        parts=(
            kb.Body("sat", kb.Box((1, 1, 1), mass=20.0), joint=kb.Planar(kb.Z, q=("x", "y", "a"))),
            kb.Body("l", kb.Rod(1.0, mass=3.0), parent="sat", at=(0.5, 0, 0), joint=kb.Revolute(kb.Z, q="b - a")),
            kb.Body("m", kb.Rod(1.0, mass=3.0), parent="l.tip", joint=kb.Revolute(kb.Z, q="c - b")),
        ),
        start=kb.Start(guess={"a": 0.2, "b": 0.9, "c": -0.4}),
    )


def flexible_arm() -> kb.System:
    beam = kb.Beam(2.0, kb.Rectangle(0.03, 0.03), density=2700, young=7e10, shapes=kb.ClampedFree(2))
    return kb.System(
        "flexible",
        (
            kb.Body("sat", kb.Box((1, 1, 1), mass=40.0)),
            kb.Body("boom", beam, parent="sat", at=(0.5, 0, 0), joint=kb.Revolute(kb.Z)),
            kb.Body("hand", kb.Rod(0.5, mass=2.0), parent="boom.tip", joint=kb.Revolute(kb.Z)),
        ),
        gravity=(0, 0, 0),
        start=kb.Start(guess={"boom.angle": 0.4, "boom.mode1": 0.05, "hand.angle": 0.5}),
    )


CASES = {
    "spatial": (space_arm, "three.tip", 6),
    "planar": (planar_arm, "l3.tip", 3),
    "absolute": (absolute_arm, "m.tip", 3),
    "flexible": (flexible_arm, "hand.tip", 6),
}


def momentum_free(plant: kb.Plant, q: np.ndarray, rates: np.ndarray, base: int) -> np.ndarray:
    """The velocity with given rates whose momentum is zero, from the momentum alone."""
    zero = np.zeros(len(plant.velocities))
    columns = np.array([plant.momentum(q, e) for e in np.eye(len(zero))]).T
    v = zero.copy()
    v[base:] = rates
    v[:base] = np.linalg.lstsq(columns[:, :base], -columns[:, base:] @ rates, rcond=None)[0]
    assert np.abs(plant.momentum(q, v)).max() < 1e-9
    return v


@pytest.mark.parametrize("name", CASES)
def test_the_generalised_jacobian_gives_the_velocity_of_momentum_free_motion(name):
    make, frame, base = CASES[name]
    plant = kb.build(make(), backend=kb.Interpreted())
    q = plant.start.q
    J = plant.generalised_jacobian(frame, q)
    rng = np.random.default_rng(5)
    for _ in range(3):
        v = momentum_free(plant, q, rng.normal(size=len(plant.velocities) - base), base)
        assert J @ v == pytest.approx(plant.velocity(frame, q, v), abs=1e-12)
    assert np.abs(J[:, :base]).max() == 0.0


def test_for_relative_coordinates_it_is_the_formula_of_umetani_and_yoshida():
    plant = kb.build(space_arm(), backend=kb.Interpreted())
    q = plant.start.q
    M, J = plant.mass_matrix(q), plant.jacobian("three.tip", q)
    formula = J[:, 6:] - J[:, :6] @ np.linalg.solve(M[:6, :6], M[:6, 6:])
    assert plant.generalised_jacobian("three.tip", q)[:, 6:] == pytest.approx(formula, abs=1e-12)


def test_of_two_trees_only_the_frames_own_moves():
    target = kb.Body("target", kb.Box((1, 1, 1), mass=10.0))
    plant = kb.build(space_arm().add(target), backend=kb.Interpreted())
    alone = kb.build(space_arm(), backend=kb.Interpreted())
    J = plant.generalised_jacobian("three.tip", plant.start.q)
    assert J[:, :9] == pytest.approx(alone.generalised_jacobian("three.tip", alone.start.q), abs=1e-12)
    assert np.abs(J[:, 9:]).max() == 0.0
    with pytest.raises(ModelError, match=r"expected one floating base .* got sat, target"):
        plant.reaction_null(plant.start.q)
    assert plant.reaction_null(plant.start.q, "sat").shape == (15, 0)


def test_reaction_null_motion_leaves_the_base_still_in_a_simulation():
    """Joint torques that follow the null motion, found without any force on the base, keep the base where it is."""
    plant = kb.build(planar_arm(), backend=kb.Interpreted())
    wish = np.array([0, 0, 0, 1.0, -0.5, 0.3, 0.8])

    def rates(q):
        basis = plant.reaction_null(q)
        return basis @ (basis.T @ wish)

    def acceleration(q, v):
        h = 1e-5
        along = (rates(q + h * v) - rates(q - h * v)) / (2 * h)
        along[:3] = 0.0
        torque = plant.mass_matrix(q) @ along + plant.bias(q, v)
        torque[:3] = 0.0  # motors act between bodies only
        return plant.motion(q, v, force=torque).acceleration

    q, h = plant.start.q.copy(), 0.02
    assert plant.reaction_null(q).shape == (7, 1)
    v = rates(q)
    start = q.copy()
    for _ in range(25):
        k1, l1 = v, acceleration(q, v)
        k2, l2 = v + h / 2 * l1, acceleration(q + h / 2 * k1, v + h / 2 * l1)
        k3, l3 = v + h / 2 * l2, acceleration(q + h / 2 * k2, v + h / 2 * l2)
        k4, l4 = v + h * l3, acceleration(q + h * k3, v + h * l3)
        q, v = q + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), v + h / 6 * (l1 + 2 * l2 + 2 * l3 + l4)
    assert np.abs(q - start)[3:].max() > 0.1
    assert np.abs(q - start)[:3].max() < 1e-6  # RK4 at 20 ms
    assert np.abs(plant.momentum(q, v)).max() < 1e-9  # internal torques keep it


def test_attitude_alone_leaves_more_freedom():
    plant = kb.build(planar_arm(), backend=kb.Interpreted())
    q = plant.start.q
    basis = plant.reaction_null(q, attitude_only=True)
    assert basis.shape == (7, 3)
    for rates in basis.T:
        assert abs(momentum_free(plant, q, rates[3:], 3)[2]) < 1e-12


def test_the_centre_of_mass_stays_without_external_force():
    plant = kb.build(space_arm(), backend=kb.Interpreted())
    q = plant.start.q
    bodies = {"sat": (40.0, "sat", "sat"), "one": (4.0, "one", "one.tip")}
    bodies |= {"two": (3.0, "two", "two.tip"), "three": (2.0, "three", "three.tip")}
    middles = [m * (plant.pose(a, q).position + plant.pose(b, q).position) / 2 for m, a, b in bodies.values()]
    assert plant.centre_of_mass(q) == pytest.approx(sum(middles) / 49.0, abs=1e-13)
    rng = np.random.default_rng(1)
    v = rng.normal(size=9)
    h = 1e-6
    rate = (plant.centre_of_mass(_moved(plant, q, h * v)) - plant.centre_of_mass(_moved(plant, q, -h * v))) / (2 * h)
    assert 49.0 * rate == pytest.approx(plant.momentum(q, v)[:3], abs=1e-6)


def _moved(plant, q, step):
    return displaced(plant.machine, q, step)


def test_a_beam_has_its_mass_where_it_bends_to():
    plant = kb.build(flexible_arm(), backend=kb.Interpreted())
    q = plant.start.q
    h, v = 1e-6, np.zeros(len(plant.velocities))
    v[plant.velocities.index("boom.mode1")] = 1.0
    mass = 42.0 + 2700 * 0.03**2 * 2.0
    rate = (
        plant.centre_of_mass(q + h * np.eye(len(q))[plant.coordinates.index("boom.mode1")]) - plant.centre_of_mass(q)
    ) / h
    assert mass * rate == pytest.approx(plant.momentum(q, v)[:3], abs=1e-4)


def test_bad_names_are_told_apart():
    plant = kb.build(space_arm(), backend=kb.Interpreted())
    q = plant.start.q
    with pytest.raises(ModelError, match=r"no frame 'thre.tip'; did you mean three.tip"):
        plant.generalised_jacobian("thre.tip", q)
    with pytest.raises(ModelError, match="'one' is no floating base"):
        plant.generalised_jacobian("three.tip", q, "one")
    with pytest.raises(ModelError, match="stands on the world"):
        plant.generalised_jacobian("world", q)
    fixed = kb.build(space_arm(joint=kb.Revolute(kb.Z)), backend=kb.Interpreted())
    with pytest.raises(ModelError, match="'sat' is no floating base"):
        fixed.generalised_jacobian("three.tip", fixed.start.q)
    with pytest.raises(ModelError, match="got none"):
        fixed.reaction_null(fixed.start.q)


def satellite() -> kb.System:
    return kb.System(
        "satellite",
        (
            kb.Body("sat", kb.Box((1, 1, 1), mass=60.0)),
            kb.Body("wheel", kb.Cylinder(0.2, 0.05, mass=3.0, axis=kb.Z), parent="sat", joint=kb.Revolute(kb.Z)),
            kb.Frame("nozzle", "sat", kb.Pose((0.5, 0, 0), rpy=(0, 0, pi / 2))),
            kb.Thruster("jet", "nozzle", axis=kb.X, limit=5.0),
            kb.Actuator("motor", "wheel.angle"),
        ),
        gravity=(0, 0, 0),
    )


def test_a_reaction_wheel_turns_the_satellite_and_keeps_momentum():
    run = kb.simulate(satellite(), 2.0, control={"motor": "0.5*sin(pi*t)"}, stepper=kb.RungeKutta4(1e-2))
    inertia, wheel = 60.0 / 6, 3.0 * 0.2**2 / 2
    assert np.abs(run.observed["momentum"]).max() < 1e-13
    turned = 2 * np.arctan2(run.q[-1, 6], run.q[-1, 3])
    angle = run.q[-1, 7]
    assert angle == pytest.approx(1.0 / pi * (1 / wheel + 1 / inertia), rel=1e-7)  # ∫∫ ½ sin πt over 2 s is 1/π
    assert turned == pytest.approx(-wheel / (inertia + wheel) * angle, rel=1e-9)


def test_a_thruster_pushes_along_an_axis_that_turns_with_its_frame():
    plant = kb.build(satellite(), backend=kb.Interpreted())
    assert plant.actuators == ("jet", "motor")
    half = np.sqrt(0.5)
    q = np.array([0, 0, 0, half, half, 0, 0, 0.3])  # a quarter turn about x: the nozzle's x axis, y before, is z
    B = plant.actuation_map(q)
    J, R = plant.jacobian("nozzle", q), plant.pose("nozzle", q).rotation
    assert R[:, 0] == pytest.approx((0, 0, 1), abs=1e-15)
    assert B[:, 0] == pytest.approx(J[:3].T @ R[:, 0], abs=1e-15)
    v = np.random.default_rng(2).normal(size=7)
    assert B[:, 0] @ v == pytest.approx(plant.velocity("nozzle", q, v)[2])  # power is force times velocity


def test_a_thruster_gives_momentum_and_no_more_than_its_limit():
    run = kb.simulate(satellite(), 1.0, control={"jet": "20"}, stepper=kb.RungeKutta4(1e-2))
    assert run.actuation[:, 0] == pytest.approx(5.0)
    assert run.energy_balance == pytest.approx(0.0, abs=1e-6)
    assert np.linalg.norm(run.observed["momentum"][1, :3]) == pytest.approx(0.05, rel=1e-3)
    assert run.data["actuation"].sizes["actuator"] == 2
    from kalaba.model.units import actuator_units

    assert actuator_units(run.plant.machine) == ("N", "N*m")


def test_a_thruster_is_checked():
    with pytest.raises(ModelError, match=r"jet.limit: expected a number above zero"):
        kb.Thruster("jet", "sat", limit=-1.0)
    with pytest.raises(ModelError, match="nowhere"):
        satellite().add(kb.Thruster("other", "nowhere"))
    from kalaba.model.serial import from_json, to_json

    assert from_json(to_json(satellite())) == satellite()


@pytest.mark.parametrize("length", [1e-9, 1.0, 1e9])
def test_a_machine_of_any_size_has_inertia(length):
    """Metres and radians are compared in the machine's sizes: a grain weighs little, and turns more easily still."""
    box = kb.Body("base", kb.Box((length,) * 3, mass=1.0))
    arm = kb.Body("arm", kb.Rod(length, mass=1.0), parent="base", joint=kb.Revolute(kb.Z))
    plant = kb.build(kb.System("grain", (box, arm), gravity=(0, 0, 0)))
    J = plant.generalised_jacobian("arm.tip", plant.start.q)
    assert np.isfinite(J).all()
