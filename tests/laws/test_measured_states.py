"""States as sensors give them, off the loops: rows are those of the nearest state on the manifold, whoever is asked.

Noise is of the machine's own sizes. As it goes to zero, all that is asked of a measured state converges to what it is
at the projected one, at the same rate; nothing is refused.
"""

import numpy as np
import pytest

import kalaba as kb
from kalaba.robots.catalogue import ENTRIES
from kalaba.tolerances import QUATERNION_NEARLY_UNIT

WELDED = ("dual-mobile-arm", {"path": False, "closure": "weld"})
EVERYDAY = (WELDED, ("bennett", {}), ("four-bar", {}), ("sarrus", {}), ("two-drive-carry", {}), ("two-arm-carry", {}))
NOISE = (1e-9, 1e-6, 1e-3)
COUNT = 6
# Of the acceleration, per noise: rates of the solution by q and v. Ten where rows are well apart; machines with limbs
# of 0.1 m that bend beside others of 1 m, or flexible ones, have some hundred.
SLOPE = 2e3
REDUNDANT = ("bennett", "four-bar", "sarrus")


def measured(plant: kb.Plant, noise: float, count: int = COUNT) -> kb.State:
    """The start, moving along its freedoms, with noise on every number."""
    rng = np.random.default_rng(7)
    q, v = plant.project(kb.State(plant.start.q, plant.start.v + 0.3 * rng.normal(size=len(plant.velocities))))
    scales = plant.scales
    return kb.State(
        q + noise * scales.coordinates * rng.normal(size=(count, len(q))),
        v + noise * scales.velocities * rng.normal(size=(count, len(v))),
    )


def size(values: np.ndarray) -> float:
    return max(1.0, float(np.abs(values).max(initial=0.0)))


def check_convergence(plant: kb.Plant) -> None:
    for noise in NOISE:
        states = measured(plant, noise)
        near = plant.project(states)
        assert np.abs(plant.residual(near.q[0])).max(initial=0.0) < 1e-12 * plant.scales.reach  # rounding
        assert np.abs(plant.velocity_residual(near.q[0], near.v[0])).max(initial=0.0) < 1e-12 * size(near.v)
        here, there = plant.motion(*states), plant.motion(*near)
        for value, expected in zip(here, there, strict=True):
            assert np.abs(value - expected).max() < SLOPE * noise * size(expected)
        one = plant.motion(states.q[0], states.v[0])
        assert np.array_equal(one.acceleration, here.acceleration[0])


@pytest.mark.parametrize(("name", "options"), EVERYDAY)
def test_the_motion_at_a_measured_state_is_that_of_the_projected_one(name, options):
    check_convergence(kb.build(kb.load(name, **options)))


@pytest.mark.long
@pytest.mark.parametrize("name", ENTRIES)
def test_that_holds_over_the_catalogue(name):
    check_convergence(kb.build(kb.load(name)))


@pytest.mark.parametrize("solver", [kb.MaskedLDL(), kb.UdwadiaKalaba(), kb.KKT(), kb.NullSpace()])
@pytest.mark.parametrize("name", REDUNDANT)
def test_all_solvers_take_the_same_rows_at_a_measured_state(name, solver):
    native, plant = kb.build(kb.load(name)), kb.build(kb.load(name), backend=kb.Interpreted(), solver=solver)
    for noise in NOISE:
        states = measured(native, noise, 2)
        expected = native.motion(*states).acceleration
        found = plant.motion(*states).acceleration
        # the same equations on the same rows: rounding, times the condition of G (1e4 in sarrus)
        assert np.abs(found - expected).max() < 1e-9 * size(expected)
        near, expected = plant.project(states), native.project(states)
        assert np.abs(near.q - expected.q).max() < 1e-11 * size(expected.q)
        assert np.abs(near.v - expected.v).max() < 1e-11 * size(expected.v)


@pytest.mark.parametrize("backend", [kb.Native(), kb.Interpreted()])
@pytest.mark.parametrize("name", REDUNDANT)
def test_reactions_derivatives_and_steps_converge_too(name, backend):
    plant = kb.build(kb.load(name), backend=backend)
    connection = plant.machine.connections[0].name
    for noise in NOISE:
        states = measured(plant, noise, 1)
        (q, v), near = (states.q[0], states.v[0]), plant.project(kb.State(states.q[0], states.v[0]))
        here, there = plant.reaction(connection, q, v), plant.reaction(connection, *near)
        assert np.array_equal(here.is_unique, there.is_unique)
        assert np.abs(here.force - there.force).max() < SLOPE * noise * size(there.force)
        slopes, expected = plant.derivatives(q, v), plant.derivatives(*near)
        assert slopes.tangent.shape == expected.tangent.shape
        span = slopes.tangent @ slopes.tangent.T - expected.tangent @ expected.tangent.T
        assert np.abs(span).max() < SLOPE * noise
        assert np.abs(slopes.by_force - expected.by_force).max() < SLOPE * noise * size(expected.by_force)
        moved, from_near = plant.step(kb.State(q, v)), plant.step(near)
        assert np.abs(moved.q - from_near.q).max() < SLOPE * noise
        assert np.abs(moved.v - from_near.v).max() < SLOPE * noise * size(from_near.v)
        assert np.abs(plant.residual(moved.q)).max() < 1e-11


@pytest.mark.parametrize(("name", "options"), [WELDED, ("four-bar", {}), ("five-bar", {})])
def test_a_servo_law_at_a_measured_state_converges_too(name, options):
    """S and r, from which the motors' efforts follow, for goals that leave the machine where it is."""
    plant = kb.build(kb.load(name, **options))
    allocation = kb.LeastSquares(weights=(1.0,) * len(plant.actuators))
    bound = kb.servo(plant, kb.posture(), allocation=allocation).bind(plant)
    for noise in NOISE:
        states = measured(plant, noise, 1)
        state = kb.State(states.q[0], states.v[0])
        for here, there in zip(bound.numbers(state, 0.0), bound.numbers(plant.project(state), 0.0), strict=True):
            assert np.abs(here - there).max() < SLOPE * noise * size(there)


def test_a_row_left_out_that_does_not_follow_is_found_off_the_manifold_as_well():
    """A parallelogram whose start lies flat, where a row is left out that holds it elsewhere."""
    hinge = kb.Revolute(-kb.Y)
    parts = (
        kb.Body("crank", kb.Rod(0.2, mass=0.3), joint=hinge),
        kb.Body("coupler", kb.Rod(0.4, mass=0.8), parent="crank.tip", joint=hinge),
        kb.Body("rocker", kb.Rod(0.2, mass=0.6), parent="coupler.tip", joint=hinge),
        kb.Connection("pin", "rocker.tip", at=(0.4, 0, 0), joint=hinge),
    )
    flat = kb.Start(guess={"crank.angle": 0.0, "coupler.angle": 0.0, "rocker.angle": -np.pi})
    plant = kb.build(kb.System("parallelogram", parts, start=flat))
    assert plant.choice.rank == 1
    angle = 0.6
    q, v = np.array([angle, -angle, angle - np.pi]), np.zeros(3)
    for noise in (0.0, 1e-9, 1e-6, 1e-4):
        found = plant.motion(q + noise * np.array([1.0, -2.0, 0.5]), v).acceleration
        assert found[1] == pytest.approx(-found[0], abs=1e2 * noise * np.abs(found).max() + 1e-9)  # it stays parallel


@pytest.mark.parametrize("backend", [kb.Native(), kb.Interpreted()])
def test_quaternions_that_are_nearly_unit_are_made_unit(backend):
    plant = kb.build(
        kb.System("ball", (kb.Body("load", kb.Box((0.1, 0.2, 0.3), mass=1.0)),), gravity=(0, 0, 0)), backend=backend
    )
    exact, v = np.array([0.0, 0, 0, 0.6, 0, 0.8, 0]), np.array([0.0, 0, 0, 1, 2, -3])
    expected = plant.motion(exact, v).acceleration
    for part in (1e-9, 1e-4, QUATERNION_NEARLY_UNIT / 3):
        q = exact.copy()
        q[3:] *= 1 + part
        for found in (plant.motion(q, v), plant.motion(q[np.newaxis], v[np.newaxis])):
            assert found.acceleration.ravel() == pytest.approx(expected, rel=1e-12)
        assert plant.project(kb.State(q, v)).q == pytest.approx(exact, rel=1e-15)
    q[3:] = exact[3:] * (1 + QUATERNION_NEARLY_UNIT)
    for call in (plant.motion, lambda *state: plant.project(kb.State(*state))):
        with pytest.raises(kb.KalabaError, match=r"unit quaternion for load, got one of length 1\.02\."):
            call(q, v)
    with pytest.raises(kb.KalabaError, match="start q: expected a unit quaternion for load"):
        kb.simulate(plant, 0.01, start=kb.State(q, v))


def test_a_state_that_is_near_no_closed_one_is_refused_by_the_row_that_stays_open():
    plant = kb.build(kb.load("four-bar"))
    with pytest.raises(kb.KalabaError, match=r"cannot be projected onto the constraints at t = 0 s; pin\.x stays open"):
        plant.project(kb.State(np.array([np.pi, 0.0, 0.0]), np.zeros(3)))


def test_a_batch_is_projected_as_its_states_one_by_one():
    plant = kb.build(kb.load("bennett"))
    states = measured(plant, 1e-4, 5)
    batch = plant.project(states, t=np.zeros(5))
    for k in range(5):
        one = plant.project(kb.State(states.q[k], states.v[k]))
        assert np.array_equal(one.q, batch.q[k])
        assert np.array_equal(one.v, batch.v[k])
