"""Newton's method within a step: its equations beside NumPy, and how many corrections it takes."""

from math import ceil, log

import numpy as np
import pytest
from scipy.optimize import fsolve

from kalaba.compiled.kernels import Units
from kalaba.constrain.layout import Layout
from kalaba.steppers import HHT, CentralDifference, GeneralisedAlpha, Kvaerno, Newmark, WilsonTheta
from kalaba.tolerances import NEWTON_CLOSE, NEWTON_SLOW, STAGE_CLOSE
from unit.compiled.as_python import as_python, memory_of

N, M = 3, 3  # velocities and rows; n_q is another number, so that no place of an array is right by chance
LAYOUT = Layout(4, N, 2, M)
NEAR = 1e-8  # Newton ends within 1e-11 of the acceleration or of v/h, which is a hundred times as large
MASK = np.array([1.0, 0.0, 3.0])  # one row is off; 3: kept, and handed up
SCHEMES = [Newmark(0.1), HHT(0.1, 0.2), GeneralisedAlpha(0.1, 0.3), GeneralisedAlpha(0.1, 0.9), WilsonTheta(0.1)]


@pytest.fixture
def plain():
    return as_python()


def named(value):
    return repr(value)


def nothing(_inputs):
    return [np.zeros(LAYOUT.outputs["tangent"])]


def random_step(stepper, rng, *, index_3):
    """A step under way in a workspace of random numbers, and these numbers as matrices."""
    memory, arrays = memory_of(
        LAYOUT, stepper, rng.normal(size=LAYOUT.n_y), displace=nothing, tangent=nothing, rows=nothing
    )
    memory.index_3 = int(index_3)
    for name in ("acceleration", "true_acceleration", "collocated", "multipliers"):
        getattr(arrays, name)[:] = rng.normal(size=len(getattr(arrays, name)))
    arrays.rates[:] = rng.normal(size=arrays.rates.shape)
    arrays.inputs[LAYOUT.mask, 0] = MASK
    squares = [rng.normal(size=(N, N)) + 4 * np.eye(N) for _ in range(3)]
    rows = [rng.normal(size=(M, N)) for _ in range(3)]
    value = rng.normal(size=M)
    parts = [*squares, rows[0], value, *rows[1:]]
    arrays.tangents[:, 0] = np.concatenate([part.ravel(order="F") for part in parts])
    return memory, arrays, squares, rows, value


@pytest.mark.parametrize("index_3", [False, True])
@pytest.mark.parametrize("stepper", SCHEMES, ids=named)
def test_a_correction_solves_the_equations_of_the_step(stepper, index_3, plain):
    """Those at the head of `compiled/structural.py`, rows that are off left out."""
    rng, s, scheme = np.random.default_rng(7), 0.13, stepper.scheme
    memory, arrays, (mass, damping, stiffness), (A, A_damping, A_stiffness), value = random_step(
        stepper, rng, index_3=index_3
    )
    memory.n_choices = 5
    a, f, x = arrays.acceleration, arrays.true_acceleration, arrays.collocated
    motion, multipliers, on = arrays.rates[LAYOUT.n_y - N : LAYOUT.n_y, 0], arrays.multipliers.copy(), MASK > 0
    mu = (1 - scheme.alpha_m) / (1 - scheme.alpha_f)
    excess = mu * x + (scheme.alpha_m * a - scheme.alpha_f * f) / (1 - scheme.alpha_f) - motion
    top = mu * mass + scheme.gamma * s * damping + scheme.beta * s**2 * stiffness
    below = A if index_3 else mu * A + scheme.gamma * s * A_damping + scheme.beta * s**2 * A_stiffness
    matrix = np.block([[top, -A[on].T], [below[on], np.zeros((2, 2))]])
    right = np.concatenate([-mass @ excess, -A[on] @ excess])
    if index_3:
        right = np.concatenate([A[on].T @ multipliers[on] - mass @ excess, -value[on] / (scheme.beta * s**2)])
    wanted = np.linalg.solve(matrix, right)

    assert plain.structural.factor(memory, s)
    assert (memory.tangent_step, memory.tangent_choice, memory.n_factors) == (s, 5, 1)
    plain.structural.correct(memory, s)
    np.testing.assert_allclose(arrays.correction[:N], wanted[:N], rtol=1e-11)
    np.testing.assert_allclose(arrays.correction[N:][on], wanted[N:], rtol=1e-11)
    np.testing.assert_allclose(arrays.multipliers[on], (multipliers[on] + wanted[N:]), rtol=1e-11)
    np.testing.assert_allclose(arrays.excess, excess, rtol=1e-12)
    assert arrays.correction[N:][~on] == [0.0]


def test_a_matrix_without_an_inverse_is_told(plain):
    memory, arrays, *_ = random_step(Newmark(0.1), np.random.default_rng(7), index_3=False)
    arrays.tangents[:] = 0.0
    assert not plain.structural.factor(memory, 0.1)


# A motion whose rates know all of q, v, t and u, on coordinates that are more than the velocities.

MOVING = Layout(3, 2, 1)
UNITS = Units(np.array([2.0, 3.0, 5.0]), np.array([7.0, 0.5]), np.zeros(0), np.zeros(0), 1.0)


def displaced(q, v):
    """q ⊕ v, which is no sum."""
    return np.array([q[0] + v[0] + 0.1 * v[0] * v[1], q[1] + v[1] * np.cos(q[0]), q[2] + v[0] * q[1]])


def acceleration(q, v, t, u):
    return np.array([u - np.sin(q[0]) - 0.3 * v[0] * v[1] + 0.2 * q[2], np.cos(2 * t) - 2 * q[1] - 0.4 * v[1] + q[2]])


def motion(inputs):
    q, v, t, u = inputs[MOVING.q], inputs[MOVING.v], inputs[MOVING.t], inputs[MOVING.u][0]
    q_dot = np.array([v[0], v[1] * np.cos(q[0]), v[0] * q[1]])
    return [[u * v[0] + q[1]], q_dot, acceleration(q, v, t, u), np.zeros(2)]


def tangent(_inputs):
    """M, C and K of the linear part, about."""
    return [np.eye(2), np.diag([0.0, 0.4]), np.diag([1.0, 2.0])]


def begun(stepper, rng, h=0.1, end=10.0):
    """A step from a state of a run that has gone on for a while."""
    y = np.array([0.3, 0.4, -0.7, 0.2, 0.5, -0.8])
    memory, arrays = memory_of(
        MOVING, stepper, y, end, UNITS, motion=motion, tangent=tangent,
        displace=lambda inputs: [displaced(inputs[MOVING.q], inputs[MOVING.v])],
    )  # fmt: skip
    memory.time, memory.taken, memory.started, memory.step_before, memory.step_meant = 0.6, h, 1, 0.07, 0.08
    arrays.acceleration[:], arrays.acceleration_before[:] = rng.normal(size=2), rng.normal(size=2)
    arrays.inputs[MOVING.u], arrays.held[:] = 0.9, 0.9
    return memory, arrays, y


@pytest.mark.parametrize("stepper", [*SCHEMES, CentralDifference(0.1)], ids=named)
@pytest.mark.parametrize("h", [0.08, 0.1])
@pytest.mark.parametrize("jump", [0.0, 0.5])
def test_a_step_obeys_the_equations_of_its_scheme(stepper, h, jump, plain):
    """Solved once more with SciPy: unequal steps, a jump of what is held, coordinates that are no vector."""
    memory, arrays, y = begun(stepper, np.random.default_rng(3), h)
    t, s, (work, q, v) = 0.6, stepper.scheme, (y[0], y[1:4], y[4:])
    arrays.held[:] -= jump
    plain.engine.start(memory)
    f = acceleration(q, v, t, 0.9)
    a, before, since = arrays.acceleration.copy(), arrays.acceleration_before.copy(), 0.07
    if not s.carries:
        a = f
    elif jump:
        a, since = a + f - acceleration(q, v, t, 0.9 - jump), 0.0
    if since and s.offset:
        a = a + s.offset * (h - 0.08) / since * (a - before)
    tau = s.collocation * h

    def at(x, length):
        place = displaced(q, length * v + length**2 * ((0.5 - s.beta) * a + s.beta * x))
        return place, v + length * ((1 - s.gamma) * a + s.gamma * x)

    def left(x):
        here = acceleration(*at(x, tau), t + tau, 0.9)
        return (1 - s.alpha_m) * x + s.alpha_m * a - (1 - s.alpha_f) * here - s.alpha_f * f

    x = acceleration(at(a, h)[0], v + h * f, t + h, 0.9) if s.explicit else fsolve(left, a, xtol=1e-12)
    following = a + (x - a) / s.collocation
    error = plain.structural.collocate(memory)
    assert (error, memory.unsolved, memory.step_meant) == (0.0, 0, h)
    np.testing.assert_allclose(arrays.acceleration_next, following, rtol=NEAR)
    end_q, end_v = at(following, h)
    np.testing.assert_allclose(arrays.trial[1:, 0], np.concatenate([end_q, end_v]), rtol=NEAR)
    assert arrays.held[0] == 0.9
    place, speed = (at(x, tau)[0], v + h * f) if s.explicit else at(x, tau)
    power = 0.9 * v[0] + q[1]
    power_next = power + (0.9 * speed[0] + place[1] - power) / s.collocation
    assert arrays.trial[0, 0] == pytest.approx(work + h / 2 * (power + power_next), rel=NEAR)

    memory.ahead = t + h
    plain.structural.keep_acceleration(memory)
    np.testing.assert_allclose(arrays.acceleration, following, rtol=NEAR)
    np.testing.assert_allclose(arrays.acceleration_before, a, rtol=1e-12)
    assert (memory.step_before, memory.started) == (h, 1)


@pytest.mark.parametrize("since", [0.0, 0.07])
def test_the_error_of_a_step_is_that_of_its_formula(since, plain):
    """C h² (a⁺ − a) as a way from q, and h³ v⃛/12 by the parabola through three accelerations."""
    stepper, h = GeneralisedAlpha(0.1, 0.5, rtol=1e-3, atol=1e-4), 0.1
    memory, arrays, y = begun(stepper, np.random.default_rng(3), h)
    q, a, before = y[1:4], arrays.acceleration.copy(), arrays.acceleration_before.copy()
    memory.step_before, memory.step_meant = since, h
    plain.engine.start(memory)
    plain.projection.activate(memory)
    found = plain.structural.collocate(memory)
    following, trial = arrays.acceleration_next, arrays.trial[:, 0]
    way = displaced(q, stepper.scheme.error_constant * h**2 * (following - a)) - q
    third = ((following - a) / h - (a - before) / 0.07) / ((h + 0.07) / 2) if since else np.zeros(2)
    floors = 1e-4 * np.concatenate([UNITS.coordinates, UNITS.velocities / 10.0])
    extents = np.maximum(np.abs([0.0, 0.0, 0.0, *y[4:]]), np.abs(trial[1:] - [*q, 0.0, 0.0]))
    parts = np.concatenate([way, h**3 / 12 * third]) / (floors + 1e-3 * extents)
    assert found == pytest.approx(np.sqrt(np.mean(parts**2)), rel=1e-9)
    memory.unsolved = 1
    assert plain.structural._error(memory, h) == np.inf


def test_a_step_that_goes_nowhere_leaves_the_accelerations(plain):
    memory, arrays, _ = begun(Newmark(0.1), np.random.default_rng(3))
    memory.ahead, before = memory.time, arrays.acceleration.copy()
    arrays.acceleration_next[:] = 9.0
    plain.structural.keep_acceleration(memory)
    assert arrays.acceleration.tolist() == before.tolist()
    assert memory.step_before == 0.07


# q̈ = −k q and a tangent that takes it for k', so that each correction leaves a known part of the one before.

OSCILLATOR = Layout(1, 1)
STIFFNESS = 100.0


def counted(stepper, ratio, y=(0.0, 1.0, 0.3), h=0.1, units=None):
    """The workspace of an oscillator whose corrections shrink by a ratio, and lists of what was called."""
    factor = stepper.scheme.beta if stepper.scheme else stepper.tableau.diagonal**2
    exact = 1 + factor * h**2 * STIFFNESS
    taken = (exact / (1 - ratio) - 1) / (factor * h**2)
    calls = {"motion": 0, "tangent": 0}

    def of(name, values):
        def kernel(inputs):
            calls[name] += 1
            return values(inputs)

        return kernel

    memory, arrays = memory_of(
        OSCILLATOR, stepper, y, 10.0, units,
        motion=of("motion", lambda inputs: [[0.0], inputs[2:3], -STIFFNESS * inputs[1:2], [0.0]]),
        tangent=of("tangent", lambda _: [[1.0], [0.0], [taken]]),
        displace=lambda inputs: [inputs[1:2] + inputs[2:3]],
    )  # fmt: skip
    memory.taken, memory.ahead = h, h
    return memory, arrays, calls


@pytest.mark.parametrize("ratio", [0.0, 0.02, 0.09, 0.3])
def test_corrections_end_when_what_is_ahead_of_them_is_small(ratio, plain):
    """The k-th correction is δ ρ^k, what is ahead of it δ ρ^(k+1)/(1 − ρ). A tangent is renewed if it is slow."""
    stepper = Newmark(0.1)
    memory, arrays, calls = counted(stepper, ratio)
    plain.engine.start(memory)
    calls["motion"] = 0
    plain.structural.collocate(memory)
    beta, gamma, h = stepper.scheme.beta, stepper.scheme.gamma, 0.1
    a = -STIFFNESS
    x = -STIFFNESS * (1 + 0.3 * h + h**2 * (0.5 - beta) * a) / (1 + beta * h**2 * STIFFNESS)
    scale, first = max(abs(x), 0.3 / h), abs(x - a) * (1 - ratio)
    corrections = 2 if ratio == 0.0 else 1 + ceil(log(NEWTON_CLOSE * scale * (1 - ratio) / first / ratio) / log(ratio))
    assert calls["motion"] == corrections
    assert arrays.acceleration_next[0] == pytest.approx(x, rel=NEAR)
    assert arrays.trial[2, 0] == pytest.approx(0.3 + h * ((1 - gamma) * a + gamma * x), rel=NEAR)
    # the tangent is taken at the first correction, and again before each one after a slow one that was not fresh
    slow = ratio > NEWTON_SLOW
    assert calls["tangent"] == (1 + sum(k % 2 == 0 for k in range(2, corrections)) if slow else 1)
    assert memory.n_tangents == memory.n_factors == calls["tangent"]


@pytest.mark.parametrize("size", [20.0, 0.05])
def test_corrections_are_measured_in_the_sizes_of_the_machine(size, plain):
    """As many as of a machine of size 1, at speeds and at rest: v/h counts where it is larger than the acceleration."""
    for speed in (0.3, 1e6):
        counts = []
        for length in (1.0, size):
            units = Units(np.array([length]), np.array([length]), np.zeros(0), np.zeros(0), 1.0)
            memory, _, calls = counted(Newmark(0.1), 0.09, (0.0, length, speed * length), units=units)
            plain.engine.start(memory)
            plain.structural.collocate(memory)
            counts.append(calls["motion"])
        assert counts[0] == counts[1]


def test_factors_are_kept_from_step_to_step_while_nothing_changes(plain):
    memory, _, calls = counted(Newmark(0.1), 0.0)
    for k, (h, choices, tangents) in enumerate([(0.1, 0, 1), (0.1, 0, 1), (0.2, 0, 2), (0.2, 1, 3), (0.2, 1, 3)]):
        memory.time, memory.taken, memory.n_choices = 0.1 * k, h, choices
        plain.engine.start(memory)
        plain.structural.collocate(memory)
        assert calls["tangent"] == tangents


def test_newton_without_a_solution_says_so(plain):
    memory, _, calls = counted(Newmark(0.1), 1.5)  # corrections that grow
    plain.engine.start(memory)
    calls["motion"] = 0
    plain.structural.collocate(memory)
    assert memory.unsolved == 1
    assert calls["motion"] == 25


# Stages of a diagonally implicit method.


@pytest.mark.parametrize("goes_on", [False, True])
def test_implicit_stages_obey_their_equations(goes_on, plain):
    """k_i = ẏ(y + h Σ a_ij k_j, t + c_i h), solved once more with SciPy; then y⁺ = y + h Σ b_i k_i and the error."""
    stepper, h, t = Kvaerno(1e-9, 1e-9), 0.1, 0.6
    memory, arrays, y = begun(stepper, np.random.default_rng(3), h)
    memory.started, memory.tangent_choice, memory.n_choices = int(goes_on), 4, 4
    plain.projection.activate(memory)
    plain.engine.start(memory)
    tableau, inputs = stepper.tableau, arrays.inputs[:, 0].copy()

    def rate(state, time):
        inputs[: len(state)], inputs[MOVING.t] = state, time
        return np.concatenate(motion(inputs)[:3])

    k = [rate(y, t)]
    if goes_on:
        k[0][4:] = arrays.acceleration  # that of the last stage before
    for row, node in zip(tableau.square_matrix()[1:], tableau.nodes[1:], strict=True):
        base = y + h * (row[: len(k)] @ k)
        k.append(fsolve(lambda x: x - rate(base + h * tableau.diagonal * x, t + node * h), k[-1], xtol=1e-12))  # noqa: B023
    error = plain.implicit.take_implicit_stages(memory)
    wanted = y + h * np.array(tableau.weights) @ k
    # Newton ends within a hundredth of the tolerance, and q and v are of that of their own motion
    np.testing.assert_allclose(arrays.trial[1:, 0], wanted[1:], rtol=1e-9)
    assert arrays.trial[0, 0] == pytest.approx(wanted[0], rel=1e-6)  # the power is that of the last iterate
    parts = h * (np.array(tableau.weights) - np.array(tableau.embedded)) @ np.array(k)
    extents = np.maximum(np.abs([0.0, 0.0, 0.0, *y[4:]]), np.abs(wanted[1:] - [*y[1:4], 0.0, 0.0]))
    floors = 1e-9 * np.concatenate([UNITS.coordinates, UNITS.velocities / 10.0])
    assert error == pytest.approx(np.sqrt(np.mean((parts[1:] / (floors + 1e-9 * extents)) ** 2)), rel=1e-2)
    assert arrays.held[0] == 0.9
    memory.ahead = t + h
    plain.implicit.keep_last_rate(memory)
    np.testing.assert_allclose(arrays.acceleration, k[-1][4:], rtol=1e-8)
    assert memory.started == 1


@pytest.mark.parametrize(("started", "chosen", "held"), [(0, 4, 0.9), (1, 3, 0.9), (1, 4, 0.8)])
def test_the_last_stage_counts_only_where_the_motion_goes_on_from_it(started, chosen, held, plain):
    """Not at a start, not with other rows, and not where what is held has changed."""
    memory, arrays, _ = begun(Kvaerno(1e-6, 1e-9), np.random.default_rng(3))
    memory.started, memory.tangent_choice, memory.n_choices = started, chosen, 4
    arrays.held[:] = held
    plain.projection.activate(memory)
    plain.engine.start(memory)
    first = arrays.stages[0].copy()
    plain.implicit.take_implicit_stages(memory)
    assert arrays.stages[0].tolist() == first.tolist()


@pytest.mark.parametrize("ratio", [0.0, 0.1, 0.25, 0.4])
def test_corrections_of_a_stage_end_within_a_hundredth_of_the_tolerance(ratio, plain):
    """Corrections of the first stage beside the same in four lines of Python; a tangent that is fresh is kept."""
    rtol, h, extent = 1e-4, 0.1, 10.0
    stepper = Kvaerno(rtol, 0.0)
    memory, arrays, calls = counted(stepper, ratio, h=h)
    plain.projection.activate(memory)
    plain.engine.start(memory)
    s, base = (
        h * stepper.tableau.diagonal,
        np.array([1.0, 0.3]) + h * stepper.tableau.square_matrix()[1, 0] * np.array([0.3, -STIFFNESS]),
    )
    arrays.stage_base[1:] = base
    arrays.extents[1:, 0] = extent  # more than it moves in the step
    memory.n_iterations = calls["motion"] = 0
    assert plain.implicit._solve(memory, 1, h, s)
    exact = 1 + s**2 * STIFFNESS
    x = -STIFFNESS
    corrections, size, before, ahead = 0, np.inf, 0.0, 1.0
    length = np.sqrt((1 + s**2) / 2) / (rtol * extent)  # of a change of q by s and of v by 1
    while corrections == 0 or size * ahead > STAGE_CLOSE:
        step = -(x + STIFFNESS * (base[0] + s * (base[1] + s * x))) * (1 - ratio) / exact
        x, before, size, corrections = x + step, size, abs(step) * s * length, corrections + 1
        ahead = size / before / (1 - size / before) if corrections > 1 else 1.0
    # the first guess of q is that of the guess of x, so no correction is spent on it
    assert calls["motion"] == memory.n_iterations == corrections
    assert calls["tangent"] == 1
    assert arrays.stages[1, 2, 0] == pytest.approx(x, rel=1e-9)
    assert arrays.stages[1, 1, 0] == pytest.approx(base[1] + s * x, rel=1e-9)


def test_factors_of_a_stage_are_renewed_with_the_step_and_the_rows_and_the_tangent_is_kept(plain):
    memory, arrays, calls = counted(Kvaerno(1e-4, 0.0), 0.0)
    plain.projection.activate(memory)
    plain.engine.start(memory)
    arrays.stage_base[1:] = 1.0, 0.3
    arrays.extents[1:, 0] = 10.0
    for s, choices, factors in ((0.02, 0, 1), (0.02, 0, 1), (0.03, 0, 2), (0.03, 1, 3), (0.03, 1, 3)):
        memory.n_choices = choices
        assert plain.implicit._solve(memory, 1, 0.1, s)
        assert (memory.n_factors, calls["tangent"], memory.tangent_step) == (factors, 1, s)


def test_a_tangent_that_has_aged_is_taken_anew(plain):
    """Corrections that shrink by less than three tenths, by a tangent of another place, and one that is fresh."""
    memory, arrays, calls = counted(Kvaerno(1e-4, 0.0), 0.4)
    plain.projection.activate(memory)
    plain.engine.start(memory)
    arrays.stage_base[1:] = 1.0, 0.3
    arrays.extents[1:, 0] = 10.0
    s = 0.1 * Kvaerno().tableau.diagonal
    assert plain.implicit._solve(memory, 1, 0.1, s)
    assert calls["tangent"] == 1
    assert plain.implicit._solve(memory, 1, 0.1, s)
    assert calls["tangent"] == 2
