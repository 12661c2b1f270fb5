"""Beams in motion: energy point by point, three derivations, laws of floating machines, closed loops, statics."""

from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import kalaba as kb
from agreement.test_derivations import worst_gap
from kalaba.derive.kinematics import Kinematics
from kinematics_by_hand import frame_poses, quaternion
from machines import closed_flexible_systems, flexible_systems, random_beam
from states import numeric, random_state

ROUNDING = 1e-12
SHARP = kb.DormandPrince(rtol=1e-10, atol=1e-12)
LENGTH, YOUNG, DENSITY, GRAVITY = 2.0, 70e9, 2700.0, 9.81
SECTION = kb.Rectangle(0.03, 0.02)
LINE_MASS, EI_Y, EI_Z = DENSITY * 6e-4, YOUNG * 0.02 * 0.03**3 / 12, YOUNG * 0.03 * 0.02**3 / 12


def boom(**options: object) -> kb.Beam:
    given = {"shapes": kb.Polynomial(2), "bending": (kb.Y, kb.Z), "torsion": 2, **options}
    return kb.Beam(1.3, kb.Tube(0.03, 0.02), density=2700, young=7e9, **given)


def floating(**options: object) -> kb.System:
    """A satellite with a flexible arm on it, and a rigid load on the tip of a boom."""
    return kb.System(
        "floating",
        gravity=(0, 0, 0),
        parts=(
            kb.Body("sat", kb.Box((1, 0.8, 0.6), mass=50)),
            kb.Body(
                "a",
                boom(tip_mass=0.7, **options),
                parent="sat",
                at=kb.Pose((0.5, 0.1, 0), rpy=(0.2, 0.3, 0.1)),
                joint=kb.Revolute(kb.Z),
            ),
            kb.Body("b", boom(**options), parent="a.tip", at=(0.05, 0, 0.02), joint=kb.Universal(kb.X, kb.Y)),
            kb.Body("c", kb.Box((0.1, 0.2, 0.3), mass=2), parent="b.tip", at=(0.02, 0, 0), joint=kb.Weld()),
            kb.Body("d", kb.Box((0.1, 0.2, 0.3), mass=1), parent="a", at=(0.2, 0, 0.1), joint=kb.Spherical()),
            kb.Actuator("shoulder", "a.angle"),
            kb.Actuator("elbow", "b.angle2"),
        ),
    )


def summed_kinetic_energy(beam: kb.Beam, q: np.ndarray, v: np.ndarray) -> float:
    """½ ∫ |ẋ|² dm + ½ ∫ ρI_p (ω_x + twist rate)² dx of a free beam, point by point, with nothing of kalaba's but φ."""
    x, weights = np.polynomial.legendre.leggauss(120)
    x, weights = (x + 1) / 2, weights / 2
    R = quaternion(q[3:7]).as_matrix()
    linear, omega, eta, rates = R.T @ v[:3], v[3:6], q[7:], v[6:]
    mass = beam.density * beam.section.area(float) * beam.length

    def moving(point: float) -> float:
        """|ẋ|² of the point at ξ."""
        inner, within = x * point, weights * point
        place, speed = np.array([beam.length * point, 0, 0]), np.zeros(3)
        for number, plane in enumerate(beam.planes):
            part = slice(number * beam.shapes.count, (number + 1) * beam.shapes.count)
            value, _, _ = beam.shapes.evaluate(np.array([point]))
            place[plane], speed[plane] = eta[part] @ value[:, 0], rates[part] @ value[:, 0]
            if beam.foreshortening:
                _, slope, _ = beam.shapes.evaluate(inner)
                place[0] -= within @ (eta[part] @ slope) ** 2 / 2 / beam.length
                speed[0] -= within @ ((eta[part] @ slope) * (rates[part] @ slope)) / beam.length
        return float(np.sum((linear + np.cross(omega, place) + speed) ** 2))

    twist = [(-1) ** k * np.sin((k + 0.5) * np.pi * x) for k in range(beam.torsion)]
    turning = omega[0] + rates[beam.bending_modes :] @ np.reshape(twist, (beam.torsion, len(x)))
    polar = beam.density * beam.length * sum(beam.section.second_moment(k, float) for k in (1, 2))
    sum_of_points = mass * sum(w * moving(p) for p, w in zip(x, weights, strict=True)) + beam.tip_mass * moving(1.0)
    return float(sum_of_points + polar * (weights @ turning**2)) / 2


@pytest.mark.parametrize("seed", range(8))
def test_kinetic_energy_is_the_sum_over_points(seed):
    rng = np.random.default_rng(seed)
    beam = random_beam(rng)
    system = kb.System("free", (kb.Body("beam", beam),), gravity=(0, 0, 0))
    plant = kb.build(system, backend=kb.Interpreted())
    state = random_state(system.machine, rng)
    expected = summed_kinetic_energy(beam, state.q, state.v)
    assert plant.energy(state.q, state.v).kinetic == pytest.approx(expected, rel=ROUNDING)


@given(flexible_systems(max_bodies=5))
@settings(max_examples=15)
def test_three_derivations_agree_on_random_machines_with_beams(system):
    assert worst_gap(system, states=1) < ROUNDING


@pytest.mark.parametrize("foreshortening", [False, True])
def test_three_derivations_agree_on_a_floating_arm(foreshortening):
    assert worst_gap(floating(foreshortening=foreshortening, damping=0.02), states=1) < 1e-13


@given(flexible_systems(max_bodies=5))
@settings(max_examples=15)
def test_every_frame_is_where_it_is_by_hand(system):
    kinematics = Kinematics(system.machine)
    state = random_state(system.machine, np.random.default_rng(0))
    expected = frame_poses(system.machine, state)
    poses = [kinematics.frame(name) for name in expected]
    found = numeric(kinematics.symbols, *(entry for pose in poses for entry in (pose.rotation, pose.position)))(state)
    for number, pose in enumerate(expected.values()):
        assert found[2 * number] == pytest.approx(pose[:3, :3], abs=ROUNDING)
        assert found[2 * number + 1][:, 0] == pytest.approx(pose[:3, 3], abs=ROUNDING)


@given(closed_flexible_systems(max_bodies=3, max_loops=2))
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
def test_native_equals_interpreted_with_beams_and_loops(machine):
    system, state = machine
    native, interpreted = kb.build(system), kb.build(system, backend=kb.Interpreted())
    packed = native.inputs(state.q, state.v, 0.3)
    for function in ("system_matrices", "observe"):
        found, expected = native.standard(function)(packed), interpreted.standard(function)(packed)
        assert np.abs(found - expected).max(initial=0) < ROUNDING * max(1.0, np.abs(expected).max(initial=0))


@cache
def floating_run(*, foreshortening: bool, damping: float) -> kb.Run:
    plant = kb.build(floating(foreshortening=foreshortening, damping=damping))
    v = 0.1 * np.random.default_rng(1).normal(size=len(plant.velocities))
    control = {"shoulder": "3*sin(4*t)", "elbow": "-cos(5*t)"}
    return kb.simulate(plant, 0.5, start=(plant.start.q, v), stepper=SHARP, control=control)


@pytest.mark.parametrize("options", [(False, 0.0), (True, 0.0), (True, 0.03)], ids=str)
def test_a_floating_flexible_machine_keeps_its_momentum_and_its_energy_is_work(options):
    run = floating_run(foreshortening=options[0], damping=options[1])
    momentum = run.observed["momentum"]
    assert np.abs(momentum[0]).min() > 1e-3
    assert np.abs(momentum - momentum[0]).max() < 1e-10 * np.abs(momentum).max()
    assert np.abs(run.energy_balance).max() < 1e-9 * np.abs(run.energy).max()


def test_damping_takes_energy():
    free, damped = (floating_run(foreshortening=True, damping=ratio) for ratio in (0.0, 0.03))
    assert damped.energy[-1] < free.energy[-1]


@pytest.mark.parametrize("foreshortening", [False, True])
def test_a_loop_with_a_beam_stays_closed_and_keeps_its_energy(foreshortening):
    plant = kb.build(kb.load("flexible-four-bar", foreshortening=foreshortening))
    mobility = kb.check(plant.system)
    assert (mobility.rank, mobility.freedoms) == (2, 3)  # the crank, and two modes
    run = kb.simulate(plant, 1.0, stepper=SHARP)
    assert np.abs(run["coupler.mode1"]).max() > 1e-4
    assert run.worst.value < 1e-14
    assert np.abs(run.energy_balance).max() < 1e-9


def test_a_stiff_coupler_moves_as_a_rigid_one():
    """Deflections go as 1/E: with E a thousand times larger the crank goes its rigid way to 1e-4."""
    stiff = kb.load("flexible-four-bar", {"coupler.young": 70e12}, modes=1)
    rod = kb.Rod(0.40, mass=2700 * 0.025 * 0.0015 * 0.40)
    parts = [kb.Body("coupler", rod, "crank.tip", joint=p.joint) if p.name == "coupler" else p for p in stiff.parts]
    start = kb.Start(hold={"crank.angle": 1.0}, guess={"coupler.angle": -0.5, "rocker.angle": -2.0})
    rigid = kb.System("rigid", tuple(parts), start=start)
    ways = [kb.simulate(system, 0.3, stepper=SHARP)["crank.angle"] for system in (stiff, rigid)]
    assert np.abs(ways[0] - ways[1]).max() < 1e-4


def cantilever(*parts: object, shapes: object, plane: kb.Axis = kb.Z, gravity: float = 0.0) -> kb.Plant:
    beam = kb.Beam(LENGTH, SECTION, DENSITY, YOUNG, shapes=shapes, bending=(plane,))
    down = (0, -gravity, 0) if plane == kb.Y else (0, 0, -gravity)
    return kb.build(kb.System("cantilever", (kb.Body("beam", beam, joint=kb.Weld()), *parts), gravity=down))


def at_rest(plant: kb.Plant) -> np.ndarray:
    """Modes at which nothing accelerates, by Newton's method on M v̇; without foreshortening it is linear in them."""
    n = len(plant.velocities)

    def force(q: np.ndarray) -> np.ndarray:
        return plant.mass_matrix(q) @ plant.motion(q, np.zeros(n)).acceleration

    q = np.zeros(n)
    for _ in range(3):
        K = np.column_stack([force(q + step) - force(q) for step in np.eye(n)])
        q = q - np.linalg.solve(K, force(q))
    return q


@pytest.mark.parametrize(("plane", "stiffness"), [(kb.Y, EI_Y), (kb.Z, EI_Z)], ids="yz")
def test_a_cantilever_sags_under_its_weight(plane, stiffness):
    """w = ρA g L⁴/8EI, slope ρA g L³/6EI: a polynomial of degree 4, so three shapes hold it."""
    plant = cantilever(shapes=kb.Polynomial(3), plane=plane, gravity=GRAVITY)
    q, zero = at_rest(plant), np.zeros(3)
    load = LINE_MASS * GRAVITY
    assert plant.bias(q, zero) == pytest.approx(0, abs=1e-9)
    deflection = kb.simulate(plant, 1e-3, start=(q, zero), save_every=1e-3)
    assert deflection["beam.tip_deflection"] == pytest.approx(-load * LENGTH**4 / (8 * stiffness), rel=1e-9)
    assert deflection["beam.tip_slope"] == pytest.approx(-load * LENGTH**3 / (6 * stiffness), rel=1e-9)
    tip = plant.pose("beam.tip", q).position[2 if plane == kb.Z else 1]
    assert tip == pytest.approx(-load * LENGTH**4 / (8 * stiffness), rel=1e-9)


@pytest.mark.parametrize("shapes", [kb.Polynomial(2), kb.StaticTip(1), kb.StaticTip(2)], ids=repr)
def test_a_force_at_the_tip_bends_a_cantilever(shapes):
    """w = P L³/3EI."""
    plant = cantilever(kb.Force("pull", "beam.tip", force=("0", "0", "12")), shapes=shapes)
    tip = plant.pose("beam.tip", at_rest(plant)).position[2]
    assert tip == pytest.approx(12 * LENGTH**3 / (3 * EI_Z), rel=1e-9)


def test_a_torque_at_the_tip_bends_a_cantilever_the_other_way_round_y():
    """w = M L²/2EI; a positive torque about y lowers the tip."""
    torque = kb.Force("turn", "beam.tip", force=("0", "0", "0"), torque=("0", "7", "0"))
    plant = cantilever(torque, shapes=kb.Polynomial(1))
    tip = plant.pose("beam.tip", at_rest(plant)).position[2]
    assert tip == pytest.approx(-7 * LENGTH**2 / (2 * EI_Z), rel=1e-9)


@pytest.mark.parametrize("shapes", [kb.ClampedFree(3), kb.Polynomial(5)], ids=repr)
def test_modal_damping_is_the_ratio_given(shapes):
    """The eigenvalues of M⁻¹D are 2 ζ ω with those ω² of M⁻¹K."""
    beam = kb.Beam(LENGTH, SECTION, DENSITY, YOUNG, shapes=shapes, torsion=2, damping=0.03)
    plant = kb.build(kb.System("cantilever", (kb.Body("beam", beam, joint=kb.Weld()),), gravity=(0, 0, 0)))
    zero, unit = np.zeros(beam.modes), np.eye(beam.modes)
    M = plant.mass_matrix(zero)
    K = np.column_stack([plant.bias(e, zero) for e in unit])
    D = np.column_stack([plant.bias(zero, e) for e in unit])
    squares, rates = (np.sort(np.linalg.eigvals(np.linalg.solve(M, X)).real) for X in (K, D))
    assert rates == pytest.approx(2 * 0.03 * np.sqrt(squares), rel=1e-6)


def test_the_modes_of_a_cantilever_are_those_of_the_textbook():
    plant = cantilever(shapes=kb.ClampedFree(3))
    zero = np.zeros(3)
    K = np.column_stack([plant.bias(e, zero) for e in np.eye(3)])
    squares = np.sort(np.linalg.eigvals(np.linalg.solve(plant.mass_matrix(zero), K)).real)
    roots = np.array([1.8751040687119611, 4.694091132974175, 7.854757438237613])
    assert squares == pytest.approx(roots**4 * EI_Z / (LINE_MASS * LENGTH**4), rel=1e-10)
