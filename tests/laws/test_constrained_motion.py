"""Laws of constrained motion, over random machines with loops: they hold whatever the machine."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import kalaba as kb
from kalaba.constrain.rows import choose_rows
from kalaba.constrain.solvers import MaskedLDL, Problem, UdwadiaKalaba
from kalaba.plant.assembly import weighted_step
from machines import closed_systems
from states import State

# Rows of random machines come near singular positions: rounding grows with the condition of the kept rows.
LAW = 1e-9
TANGENT = 1e-9  # singular values below this part of the largest belong to dependent rows


def consistent_velocity(plant: kb.Plant, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """The nearest velocity that keeps every row closed."""
    problem = plant.problem(plant.inputs(q, v))
    return v + weighted_step(problem.matrix, problem.mass, -plant.velocity_residual(q, v))


def interpreted(system: kb.System) -> kb.Plant:
    return kb.build(system, backend=kb.Interpreted(), solver=kb.MaskedLDL())


def check_laws(system: kb.System, state: State) -> None:
    """Every row is obeyed, and no allowed motion meets a constraint force."""
    plant = interpreted(system)
    v = consistent_velocity(plant, state.q, state.v)
    problem = with_inertia(plant.problem(plant.packed(state.q, v, np.linspace(-1, 1, len(v)))))
    assume(condition_is_fair(problem))
    found = MaskedLDL().solve(problem)
    scale = np.abs(problem.matrix) @ np.abs(found.acceleration) + np.abs(problem.rhs) + 1
    assert np.all(np.abs(problem.matrix @ found.acceleration - problem.rhs) < LAW * scale.max())
    allowed = tangent(problem.matrix)
    power = np.abs(allowed.T @ found.constraint_force)
    assert np.all(power < LAW * (np.abs(allowed).T @ np.abs(found.constraint_force) + 1))


@given(closed_systems())
@settings(max_examples=25, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_rows_are_obeyed_and_constraint_forces_do_no_virtual_work(machine):
    check_laws(*machine)


@given(closed_systems())
@settings(max_examples=15, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_rows_added_as_combinations_of_others_change_nothing(machine):
    system, state = machine
    plant = interpreted(system)
    v = consistent_velocity(plant, state.q, state.v)
    problem = with_inertia(plant.problem(plant.packed(state.q, v, np.ones(len(v)))))
    assume(condition_is_fair(problem))
    mix = np.random.default_rng(len(v)).normal(size=(3, len(problem.rhs)))
    rows, rhs = np.vstack([mix @ problem.matrix, problem.matrix]), np.append(mix @ problem.rhs, problem.rhs)
    more = Problem(problem.mass, problem.force, rows, rhs)
    alone, together = MaskedLDL().solve(problem), MaskedLDL().solve(more)
    for before, after in zip(alone, together, strict=True):
        assert np.abs(after - before).max() < LAW * max(1.0, np.abs(before).max())


def with_inertia(problem: Problem) -> Problem:
    """Give motions without inertia (thin rods that spin, welded ends) a little, as a motor's rotor would."""
    return problem._replace(mass=problem.mass + 0.1 * np.eye(len(problem.mass)))


def condition_is_fair(problem: Problem) -> bool:
    """Machines that start near a singular position say nothing about the law at rounding level."""
    if not np.any(problem.matrix):
        return False
    lower = np.linalg.cholesky(problem.mass)
    rows = np.linalg.solve(lower, problem.matrix.T).T
    rows /= np.maximum(np.linalg.norm(rows, axis=1), 1e-300)[:, None]
    sigma = np.linalg.svd(rows, compute_uv=False)
    kept = sigma[sigma > TANGENT * sigma[0]]
    return bool(kept[-1] > 1e-3 * kept[0] and np.linalg.cond(problem.mass) < 1e8)


def tangent(matrix: np.ndarray) -> np.ndarray:
    """Motions that the rows allow."""
    _, sigma, directions = np.linalg.svd(matrix)
    return directions[int((sigma > TANGENT * sigma[0]).sum()) :].T


@pytest.mark.parametrize("seed", range(8))
def test_a_hundred_rows_of_rank_sixty_in_any_order(seed):
    rng = np.random.default_rng(seed)
    n, rank, count = 80, 60, 100
    half = rng.normal(size=(n, n))
    M = half @ half.T / n + np.eye(n)
    base = rng.normal(size=(rank, n))
    A = np.vstack([base, rng.normal(size=(count - rank, rank)) @ base])
    wanted = rng.normal(size=n)
    problem = Problem(M, rng.normal(size=n), A, A @ wanted)
    expected = UdwadiaKalaba().solve(Problem(M, problem.force, base, base @ wanted))
    order = rng.permutation(count)
    found = MaskedLDL().solve(Problem(M, problem.force, A[order], problem.rhs[order]))
    mask = np.zeros(count)
    assert choose_rows(M, A[order], mask) == rank
    for value, reference in zip(found, expected, strict=True):
        assert np.abs(value - reference).max() < 1e-11 * np.abs(reference).max()


@pytest.mark.long
@given(closed_systems(max_bodies=20, max_loops=6))
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much])
def test_laws_hold_on_large_machines(machine):
    check_laws(*machine)
