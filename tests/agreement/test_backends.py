"""Native code = CasADi's interpreter, to rounding; one lane = eight lanes, to the bit."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings

import kalaba as kb
from kalaba.native.backend import run_kernel
from machines import closed_systems

ROUNDING = 1e-12
SOLVED = 1e-10  # after a solve with the M of beams, whose condition number is up to 2e7
FLEXIBLE = ("floating-flexible-arm", "flexible-four-bar", "spinning-beam", "flexible-arm-3d")
NAMES = ("dual-mobile-arm", "planar-parallel", "four-bar", "five-bar", "bennett", "sarrus", "puma560", *FLEXIBLE)
FUNCTIONS = ("system_matrices", "motion", "project", "normalise", "rows", "observe", "alignments")


def relative(value: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(value - expected).max(initial=0.0) / max(1.0, np.abs(expected).max(initial=0.0)))


def random_inputs(plant: kb.Plant, q: np.ndarray, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    packed = plant.inputs(q, rng.normal(size=len(plant.velocities)), 0.3)
    packed[plant.layout.u] = rng.normal(size=packed[plant.layout.u].shape)
    packed[plant.layout.f] = rng.normal(size=packed[plant.layout.f].shape)
    return packed


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", NAMES)
def test_native_equals_interpreted_on_the_catalogue(name, function):
    system = kb.load(name)
    native, interpreted = kb.build(system), kb.build(system, backend=kb.Interpreted())
    packed = random_inputs(native, native.start.q, len(name))
    packed[native.layout.mask] = native.choice.mask
    expected = interpreted.standard(function)(packed)
    value = native.standard(function)(packed)
    for key, part in native.standard(function).outputs.items():
        kept = native.choice.mask > 0 if key == "pivots" else slice(None)  # pivots of rows left out mean nothing
        assert relative(value[part][kept], expected[part][kept]) < (SOLVED if name in FLEXIBLE else ROUNDING), key


@given(closed_systems(max_bodies=4, max_loops=2))
@settings(max_examples=8, suppress_health_check=[HealthCheck.too_slow])
def test_native_equals_interpreted_on_random_machines(machine):
    system, state = machine
    native, interpreted = kb.build(system), kb.build(system, backend=kb.Interpreted())
    packed = random_inputs(native, state.q, 1)
    for function in ("system_matrices", "observe"):
        assert relative(native.standard(function)(packed), interpreted.standard(function)(packed)) < ROUNDING


@pytest.mark.parametrize("name", ["dual-mobile-arm", "bennett", "puma560"])
def test_one_lane_and_eight_lanes_are_equal_to_the_bit(name):
    plant = kb.build(kb.load(name))
    states = np.array([random_inputs(plant, plant.start.q, seed) for seed in range(21)])  # the last lanes stay empty
    states[:, plant.layout.mask] = plant.choice.mask
    single = plant.standard("motion")
    kernel, store = plant.lanes("motion", 8)
    assert np.array_equal(run_kernel(kernel, store, states), np.array([single(row) for row in states]), equal_nan=True)


def test_threads_change_no_bit():
    system = kb.load("dual-mobile-arm")
    one, two = kb.build(system), kb.build(system, backend=kb.Native(threads=2))
    rng = np.random.default_rng(0)
    q = one.start.q + 0.01 * rng.normal(size=(100, 12))
    v = rng.normal(size=(100, 12))
    for alone, shared in zip(one.motion(q, v), two.motion(q, v), strict=True):
        assert np.array_equal(alone, shared)


def test_a_batch_equals_its_single_states():
    plant = kb.build(kb.load("dual-mobile-arm", path=False, closure="weld"))
    rng = np.random.default_rng(0)
    v = np.zeros((9, 12))
    u = rng.normal(size=(9, 12))
    batch = plant.motion(np.tile(plant.start.q, (9, 1)), v, actuation=u)
    for k in range(9):
        single = plant.motion(plant.start.q, v[k], actuation=u[k])
        assert np.array_equal(batch.acceleration[k], single.acceleration)
        assert np.array_equal(batch.constraint_force[k], single.constraint_force)
