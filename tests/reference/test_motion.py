"""Accelerations and constraint forces against the reference states, by every derivation, solver and backend."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kalaba as kb

DATA = Path(__file__).parent / "data"
METHODS = {"newton-euler": kb.NewtonEuler(), "lagrange": kb.Lagrange(), "kane": kb.Kane()}
SOLVERS = {"masked": kb.MaskedLDL(), "uk": kb.UdwadiaKalaba(), "kkt": kb.KKT(), "null space": kb.NullSpace()}
ON_MANIFOLD = 1e-12  # relative
BY_KKT = 1e-11  # the matrix of M and A has a condition number up to 6e4 at these states; times the rounding of a number
OFF_MANIFOLD = 1e-10  # all rows imposed far from where they hold
CASES = {
    "dual structure": ("dual-mobile-arm", {"path": False}, "qdd_12", "Qc_12", "tau"),
    "dual all": ("dual-mobile-arm", {"path": True}, "qdd_all", "Qc_all", "tau"),
    "parallel structure": ("planar-parallel", {"tracking": False}, "qdd_struct", "Qc1", "tau"),
    "parallel all": ("planar-parallel", {"tracking": True}, "qdd_servo", "Qc_tot", None),
}


@cache
def reference(name: str) -> dict[str, np.ndarray]:
    with np.load(DATA / name / "states.npz") as file:
        return dict(file)


@cache
def plant(name: str, options: tuple, method: str, solver: str, backend: str) -> kb.Plant:
    chosen = kb.Native() if backend == "native" else kb.Interpreted()
    return kb.build(kb.load(name, **dict(options)), METHODS[method], chosen, SOLVERS[solver])


def relative(value: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(value - expected).max() / np.abs(expected).max())


def check(case: str, method: str, solver: str, backend: str) -> None:
    name, options, acceleration, force, torque = CASES[case]
    machine, data = plant(name, tuple(options.items()), method, solver, backend), reference(name)
    for k in range(len(data["t"])):
        tau = data[torque][k] if torque else None
        found = machine.motion(data["q"][k], data["qd"][k], tau, float(data["t"][k]))
        on_manifold = BY_KKT if solver == "kkt" else ON_MANIFOLD
        tolerance = on_manifold if data["on_manifold"][k] else OFF_MANIFOLD
        assert relative(found.acceleration, data[acceleration][k]) < tolerance
        assert relative(found.constraint_force, data[force][k]) < tolerance


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("method", METHODS)
def test_interpreted_motion_equals_the_reference(case, method, solver):
    check(case, method, solver, "interpreted")


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("method", METHODS)
def test_native_motion_equals_the_reference(case, method):
    check(case, method, "masked", "native")
