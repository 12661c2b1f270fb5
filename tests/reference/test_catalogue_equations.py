"""Machines of the catalogue against equations that were derived from physics by other code (see data/*/README.md)."""

from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from kalaba.robots.catalogue import load
from reference.numeric import Numeric

DATA = Path(__file__).parent / "data"
ROUNDING = 1e-12  # relative to the greatest entry; both sides are sums of some hundred products

FIELDS = {"mass_matrix": "M", "bias": "bias", "constraint_matrix": "A", "constraint_rhs": "b"}
SIDE = ("x", "y", "delta", "theta1", "theta2", "theta3")
LEG = ("qa", "qb", "xa", "ya")
FULL = {"dual-mobile-arm": {"path": True}, "planar-parallel": {"tracking": True}}
MACHINES = {name: Numeric(load(name, **options)) for name, options in FULL.items()}


def states(name: str) -> dict[str, np.ndarray]:
    with np.load(DATA / name / "states.npz") as file:
        return dict(file)


def relative_error(value: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(value - expected).max() / max(np.abs(expected).max(), 1e-300))


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("name", MACHINES)
def test_equations_equal_the_reference_at_every_state(name, field):
    reference = states(name)
    for k, expected in enumerate(reference[FIELDS[field]]):
        value = MACHINES[name](field, reference["q"][k], reference["qd"][k], float(reference["t"][k]))
        assert relative_error(value, expected) < ROUNDING


def test_slender_links_equal_the_reference_with_slender_links():
    reference = states("dual-mobile-arm")
    slender = {f"{side}.link{i}.inertia.xx": 0.0 for side in ("left", "right") for i in (1, 2, 3)}
    machine = Numeric(load("dual-mobile-arm", parameters=slender))
    for k, (q, v) in enumerate(zip(reference["q"], reference["qd"], strict=True)):
        assert relative_error(machine("mass_matrix", q), reference["M_rod"][k]) < ROUNDING
        assert relative_error(machine("bias", q, v), reference["bias_rod"][k]) < ROUNDING


def test_fewer_rows_are_the_first_rows():
    for name, options, count in (("dual-mobile-arm", {"path": False}, 6), ("planar-parallel", {}, 10)):
        system = load(name, **options)
        assert system.machine.rows == MACHINES[name].machine.rows[:count]
        assert system.machine.coordinates == MACHINES[name].machine.coordinates


def test_coordinates_stand_in_the_order_of_the_papers():
    dual = tuple(f"{side}.{name}" for side in ("left", "right") for name in SIDE)
    assert MACHINES["dual-mobile-arm"].coordinates == dual
    assert MACHINES["planar-parallel"].coordinates == tuple(f"leg{i}.{name}" for i in (1, 2, 3) for name in LEG)


def test_motors_are_dual_to_the_coordinates_of_the_papers():
    motors = {name: ca.evalf(machine.equations.actuation_map).full() for name, machine in MACHINES.items()}
    assert np.array_equal(motors["dual-mobile-arm"], np.eye(12))
    assert np.array_equal(motors["planar-parallel"], np.eye(12)[:, [0, 4, 8]])


@pytest.mark.parametrize("name", MACHINES)
def test_the_start_is_assembled_already(name):
    machine = MACHINES[name]
    assert np.abs(machine("residual", machine.guess())).max() < 1e-14


def test_the_serial_arm_carries_its_weight_as_published():
    load_at_nominal = Numeric(load("puma560"))("gravity", np.array([0.0, 0.7854, 3.1416, 0.0, 0.7854, 0.0]))
    published = [0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0]
    assert np.abs(load_at_nominal - published).max() < 1e-4  # four digits are given, truncated


def test_the_serial_arm_equals_the_arms_of_the_reference():
    arm = Numeric(load("puma560"))
    with np.load(DATA / "cooperation" / "rigid.npz") as file:
        reference = dict(file)
    for k, i in np.ndindex(reference["q"].shape[:2]):
        q, v = reference["q"][k, i], reference["qd"][k, i]
        assert relative_error(arm("mass_matrix", q), reference["H_arm"][k, i]) < ROUNDING
        assert relative_error(arm("bias", q, v), reference["tau_b_arm"][k, i]) < ROUNDING
