"""How long steps are, by value: the controller, the norm of an error, the first step."""

import math

import numpy as np
import pytest

from kalaba.compiled import Integration, Kernels, Schedule, pace
from kalaba.compiled.kernels import Units
from kalaba.compiled.pace import next_factor, retry_factor
from kalaba.steppers import Auto, DormandPrince, Kvaerno
from unit.steppers.sample_kernels import code, nothing_moves, oscillator, slots

BETA = 0.04


@pytest.mark.parametrize("order", [2, 5])
@pytest.mark.parametrize("error", [1e-3, 0.1, 0.5, 1.0])
@pytest.mark.parametrize("before", [1e-3, 0.3, 1.0])
def test_the_next_step_is_that_of_the_pi_controller(error, before, order):
    """Hairer and Wanner II, IV.2: 0.9 e^-(1/k - 3β/4) e_before^β."""
    factor = 0.9 * error ** -(1 / order - 0.75 * BETA) * before**BETA
    assert next_factor(error, before, order) == pytest.approx(min(10.0, max(0.2, factor)), rel=1e-12)


def test_the_next_step_stays_within_a_fifth_and_ten_times():
    assert next_factor(1e-30, 1.0, 5) == next_factor(0.0, 1.0, 5) == 10.0
    assert next_factor(1e9, 1.0, 2) == 0.2


@pytest.mark.parametrize("error", [1.5, 10.0, 50.0])
def test_a_rejected_step_is_retried_without_memory(error):
    assert retry_factor(error, 5) == pytest.approx(max(0.2, 0.9 * error ** (0.75 * BETA - 0.2)), rel=1e-12)


def test_a_step_that_went_wrong_is_cut_by_the_most():
    for error in (math.inf, math.nan, 1e12):
        assert retry_factor(error, 5) == 0.2


class Fields(dict):
    """Arrays and numbers of a workspace by the names of its record, for functions that run as plain Python."""

    __getattr__ = dict.__getitem__


def norm(  # noqa: PLR0913  (the fields of a workspace that the norm reads)
    values, floors, relative, extents, origins, trial, *, n_work=0, lanes=1, active=None, monkeypatch
):
    """`scaled_norm` as plain Python, pointers being the arrays themselves."""
    monkeypatch.setattr(pace, "floats", lambda array: array)
    monkeypatch.setattr(pace, "integers", lambda array: array)
    memory = Fields(
        active=[1] * lanes if active is None else active,
        floors=floors,
        lanes=lanes,
        n_work=n_work,
        extents=np.ravel(extents),
        origins=np.ravel(origins),
        trial=np.ravel(trial),
        n_y=len(floors),
        relative=relative,
    )
    return pace.scaled_norm(memory, np.ravel(values))


@pytest.mark.parametrize("lanes", [1, 3])
def test_the_norm_is_a_root_mean_square_in_scales_of_the_motion(lanes, monkeypatch):
    rng = np.random.default_rng(5)
    shape = (5, lanes)
    values, extents, origins, trial = (
        rng.normal(size=shape),
        rng.random(shape),
        rng.normal(size=shape),
        rng.normal(size=shape),
    )
    floors = rng.random(5)
    scale = floors[1:, None] + 0.3 * np.maximum(extents, np.abs(trial - origins))[1:]  # the work, slot 0, has no part
    wanted = np.sqrt(np.square(values[1:] / scale).mean(axis=0))
    found = norm(values, floors, 0.3, extents, origins, trial, n_work=1, lanes=lanes, monkeypatch=monkeypatch)
    assert found == pytest.approx(wanted.max(), rel=1e-12)
    last = [0] * (lanes - 1) + [1]
    found = norm(
        values, floors, 0.3, extents, origins, trial, n_work=1, lanes=lanes, active=last, monkeypatch=monkeypatch
    )
    assert found == pytest.approx(wanted[-1], rel=1e-12)


def test_a_coordinate_that_does_not_move_needs_no_absolute_tolerance(monkeypatch):
    zeros = np.zeros(2)
    moved = np.array([0.0, 2.0])
    assert norm([0.0, 1e-6], zeros, 1e-6, zeros, zeros, moved, monkeypatch=monkeypatch) == pytest.approx(0.5**1.5)
    assert norm([1e-9, 0.0], zeros, 1e-6, zeros, zeros, moved, monkeypatch=monkeypatch) == math.inf
    assert math.isnan(norm([math.nan, 0.0], zeros, 1e-6, zeros, zeros, moved + 1.0, monkeypatch=monkeypatch))


def taken(stepper, motion=oscillator, start=(1.0, 0.0), end=10.0, sizes=None):
    units = None if sizes is None else Units.plain(slots(1, 1, 1))._replace(coordinates=sizes[:1], velocities=sizes[1:])
    kernels = Kernels(slots(1, 1, 1), motion=code(motion), units=units)
    integration = Integration(kernels, stepper, Schedule(end), start)
    integration.advance(steps=1)
    return integration


def test_the_first_step_is_guessed_from_rates_and_their_change():
    """Hairer, Nørsett and Wanner I, II.4: (0.01 / max(d1, d2))^(1/k), with q̈ = -q."""
    rtol, atol, end = 1e-3, 1e-6, 10.0
    h0 = 1e-6 * end
    q, v = 1.0, 0.5
    probe = np.array([q + h0 * v, v - h0 * q])
    # E of the coordinate, from the start, and of the velocity, from rest
    scale = np.array([atol + rtol * abs(probe[0] - q), atol / end + rtol * max(abs(v), abs(probe[1]))])
    d1 = np.sqrt(np.square(np.array([v, -q]) / scale).mean())
    d2 = np.sqrt(np.square((np.array([probe[1], -probe[0]]) - [v, -q]) / scale).mean()) / h0
    wanted = max(h0, min(1e3 * h0, (0.01 / max(d1, d2)) ** 0.2))
    assert taken(DormandPrince(rtol, atol), start=(q, v), end=end).time == pytest.approx(wanted, rel=1e-9)


def test_a_first_step_of_ones_own_is_taken():
    assert taken(DormandPrince(1e-2, 1e-2, first_step=0.01)).time == 0.01


def test_at_rest_steps_grow_to_the_end():
    for stepper in (Auto(), Auto(1e-6, 0.0)):
        integration = taken(stepper, nothing_moves, (1.0, 0.0))
        integration.advance()
        assert integration.time == 10.0
        assert integration.steps <= 8  # 0.01, and ten times as long each time


def test_a_step_never_passes_the_longest_allowed():
    kernels = Kernels(slots(1, 1, 1), motion=code(oscillator))
    integration = Integration(kernels, Auto(1e-2, 1e-2, max_step=0.05), Schedule(1.0), (1.0, 0.0))
    times = [0.0]
    while integration.running:
        integration.advance(steps=1)
        times.append(integration.time)
    assert np.diff(times).max() <= 0.05 * 1.01 + 1e-12  # stretched by at most 1 % to land on the end


def test_auto_holds_a_single_step_to_a_tenth_of_the_tolerances():
    auto = Auto(1e-4, 1e-7, max_step=0.3)
    assert (auto.pace.rtol, auto.pace.atol) == pytest.approx((1e-5, 1e-8))
    assert auto.if_stiff == Kvaerno(auto.pace.rtol, auto.pace.atol, max_step=0.3)
