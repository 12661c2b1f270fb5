"""Forces that no efforts within the bounds give: motors give what misses them least, and the run goes on."""

import casadi as ca
import numpy as np
import pytest
from scipy.optimize import lsq_linear

import kalaba as kb
from kalaba.control.allocation.rule import Allocation, OutOfBoundsError
from kalaba.run.shortfall import ShortfallWarning

SPARE = (0, 1, 2, 3)


def problem(seed: int, spare: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """W, a force out of reach, and bounds that are not alike on both sides."""
    rng = np.random.default_rng(seed)
    motors = 3 + spare
    W = rng.standard_normal((3, motors)) * 10.0 ** rng.uniform(-2, 2, (3, 1))
    low, high = -rng.uniform(0.2, 2.0, motors), rng.uniform(0.2, 2.0, motors)
    side = rng.standard_normal(3) / np.linalg.norm(W, axis=1)
    reach = np.where(W.T @ side > 0, high, low)  # the efforts that go farthest to that side
    return W, W @ reach + rng.uniform(0.1, 2.0) * np.abs(W @ reach).max() * np.linalg.norm(W, axis=1) * side, low, high


def least_miss(W: np.ndarray, F: np.ndarray, low: np.ndarray, high: np.ndarray) -> np.ndarray:  # noqa: N803
    """By another way: rows made orthonormal in the efforts as parts of their bounds, then scipy's trust region."""
    room = np.maximum(np.abs(low), np.abs(high))
    L = np.linalg.cholesky((W * room) @ (W * room).T)
    A, b = np.linalg.solve(L, W * room), np.linalg.solve(L, F)
    return A @ lsq_linear(A, b, (low / room, high / room), method="trf", tol=1e-14).x - b


@pytest.mark.parametrize("spare", SPARE)
@pytest.mark.parametrize("seed", range(10))
def test_what_is_given_misses_the_force_least(seed, spare):
    W, F, low, high = problem(seed, spare)
    rule = kb.Bounded(lower=low, upper=high)
    with pytest.raises(OutOfBoundsError):
        rule.allocate(W, F, np.full(len(low), np.inf))
    wanted = rule.solver(np.full(len(low), np.inf), ("a", "b", "c"))(W, F)
    assert W @ wanted == pytest.approx(F, rel=1e-9, abs=1e-9 * np.abs(F).max())  # what is wanted gives the force
    given = np.clip(wanted, low, high)
    room = np.maximum(np.abs(low), np.abs(high))
    L = np.linalg.cholesky((W * room) @ (W * room).T)
    miss = np.linalg.solve(L, W @ given - F)
    expected = least_miss(W, F, low, high)
    assert np.linalg.norm(miss) == pytest.approx(np.linalg.norm(expected), rel=1e-7)  # what the trust region leaves


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("spare", [0, 1])
def test_closed_forms_give_what_the_solver_does(seed, spare):
    W, F, low, high = problem(seed, spare)
    rule = kb.Bounded(lower=low, upper=high)
    limits = np.full(len(low), np.inf)
    W_, F_ = ca.SX.sym("W", *W.shape), ca.SX.sym("F", len(F))
    closed = ca.Function("f", [W_, F_], [rule.expression(W_, F_, limits)])(W, F).full().ravel()
    solved = rule.solver(limits, ("a", "b", "c"))(W, F)
    assert np.clip(closed, low, high) == pytest.approx(np.clip(solved, low, high), abs=1e-6)  # 1e-9 of slack, enlarged


@pytest.mark.parametrize("spare", SPARE)
@pytest.mark.parametrize("seed", range(5))
def test_other_axes_and_units_change_nothing(seed, spare):
    """Goals counted in other axes, in mm and mrad, and motors in other units give the same motion."""
    W, F, low, high = problem(seed, spare)
    rng = np.random.default_rng(100 + seed)
    mixed, units = rng.standard_normal((3, 3)), 10.0 ** rng.uniform(-3, 3, len(low))
    plain = kb.Bounded(lower=low, upper=high).solver(np.full(len(low), np.inf), "abc")(W, F)
    other = kb.Bounded(lower=low * units, upper=high * units, weights=units**-2).solver(
        np.full(len(low), np.inf), "abc"
    )(mixed @ W / units, mixed @ F)
    assert np.clip(other / units, low, high) == pytest.approx(np.clip(plain, low, high), abs=1e-7)


@pytest.mark.parametrize("spare", SPARE)
@pytest.mark.parametrize("seed", range(5))
def test_efforts_do_not_jump_where_the_force_comes_out_of_reach(seed, spare):
    W, F, low, high = problem(seed, spare)
    solve = kb.Bounded(lower=low, upper=high).solver(np.full(len(low), np.inf), "abc")
    first, last, size = 0.0, 1.0, np.inf
    for _ in range(4):  # into the largest step, which shrinks with its part of the force unless it is a jump
        parts = np.linspace(first, last, 101)
        given = np.array([np.clip(solve(W, part * F), low, high) for part in parts])
        steps = np.abs(np.diff(given, axis=0)).max(axis=1)
        assert steps.max() < 0.5 * size + 1e-8
        worst = int(steps.argmax())
        first, last, size = parts[worst], parts[worst + 1], steps[worst]


def test_a_rule_of_ones_own_that_finds_none_goes_on_alike():
    class Mine(Allocation):
        def allocate(self, force_map, force, limits, rows=()):
            raise OutOfBoundsError("none", {})

    W, F, low, high = problem(3, 2)
    limits = np.maximum(-low, high)
    mine, bounded = (rule.solver(limits, "abc")(W, F) for rule in (Mine(), kb.Bounded()))
    assert mine == pytest.approx(bounded, abs=1e-9)


MOTORS = {
    "drive": "cart.travel",
    "hoist": "lift.travel",
    "sum": "cart.travel + lift.travel",
    "difference": "cart.travel - lift.travel",
    "double": "2*cart.travel + lift.travel",
}
PATH = kb.path.line((0, 0, 0), (0.3, 0, 0.2), timing=kb.path.MinimumJerk(0.4)).relative()
GAINS = kb.control.PID(200.0, 10.0, 20.0)
CONTROLS = {
    "servo": kb.servo,
    "robust": lambda plant, goal, allocation: kb.servo(
        plant, goal, allocation=allocation, correction=kb.Robust(1.0, 0.1)
    ),
    "adaptive": lambda plant, goal, allocation: kb.servo(
        plant, goal, allocation=allocation, correction=kb.Adaptive(5.0)
    ),
    "driven": lambda plant, goal, allocation: kb.Drive().around(kb.servo(plant, goal, allocation=allocation)),
    "hybrid": lambda plant, goal, allocation: kb.Hybrid(
        (goal,), position=GAINS, force=GAINS, forced=plant.actuators[2:], allocation=allocation
    ),
}


def sled(spare: int) -> kb.System:
    """Cart and lift: 2 freedoms; motors that cannot hold the lift."""
    return kb.System(
        "sled",
        parts=(
            kb.Body("cart", kb.Solid(1.0, inertia=(1, 1, 1)), joint=kb.Prismatic(kb.X)),
            kb.Body("lift", kb.Solid(2.0, inertia=(1, 1, 1)), parent="cart", joint=kb.Prismatic(kb.Z)),
            *(
                kb.Actuator(name, text, limit=1.0 + i)
                for i, (name, text) in enumerate(list(MOTORS.items())[: 2 + spare])
            ),
        ),
    )


@pytest.mark.parametrize("spare", SPARE)
@pytest.mark.parametrize("rule", [kb.LeastSquares(), kb.MinMax(), kb.Bounded()], ids=lambda rule: rule.name)
@pytest.mark.parametrize("control", CONTROLS)
def test_a_run_with_motors_too_weak_goes_on_and_lists_what_was_missing(control, rule, spare):
    plant = kb.build(sled(spare))
    goal = kb.follow("lift", PATH, orientation="free")
    with pytest.warns(ShortfallWarning, match=r"sled: .* falls short by"):
        run = kb.simulate(plant, 0.2, control=CONTROLS[control](plant, goal, allocation=rule))
    assert run.time[-1] == pytest.approx(0.2)
    assert {short.motor for short in run.shortfalls} <= set(plant.actuators)
    assert all(short.missing > 0 for short in run.shortfalls)
    assert np.all(np.abs(run.actuation) <= plant.limits * (1 + 1e-9))


@pytest.mark.parametrize("spare", SPARE)
def test_bounds_narrower_than_the_limits_hold_in_a_run_and_the_goals_are_missed_least(spare):
    plant = kb.build(sled(spare))
    bounds = 0.5 * plant.limits
    control = kb.servo(
        plant, kb.follow("lift", PATH, orientation="free"), allocation=kb.Bounded(lower=-bounds, upper=bounds)
    )
    with pytest.warns(ShortfallWarning):
        run = kb.simulate(plant, 0.1, control=control)
    assert np.all(np.abs(run.actuation) <= bounds * (1 + 1e-12))
    S, r = control.bind(plant).numbers(kb.State(run.q[0], run.v[0]), 0.0)
    expected = least_miss(S, r, -bounds, bounds)
    L = np.linalg.cholesky((S * bounds) @ (S * bounds).T)
    miss = np.linalg.solve(L, S @ run.actuation[0] - r)
    assert np.linalg.norm(miss) == pytest.approx(np.linalg.norm(expected), rel=1e-7)
    wanted = run.actuation[0].copy()
    for short in run.shortfalls:
        if short.time == 0.0:
            i = plant.actuators.index(short.motor)
            wanted[i] += np.sign(wanted[i]) * short.missing
    assert S @ wanted == pytest.approx(r, rel=1e-8)  # with what was missing the goals would have been met
