"""The end of a step brought back to its rows: how often, how far, and what becomes of it beside a singular position."""

import numpy as np
import pytest

from kalaba.compiled.kernels import Units
from kalaba.compiled.memory import DONE, NAN, RESIDUAL, RUNNING
from kalaba.constrain.layout import Layout
from kalaba.steppers import RungeKutta4
from kalaba.tolerances import MOST_PROJECTIONS, PROJECTED, PROJECTION_LOST, ROW_PIVOT_GONE
from unit.compiled.as_python import as_python, memory_of

LAYOUT = Layout(2, 2, 0, 2)
UNITS = Units(np.array([1.0, 1.0]), np.array([4.0, 0.5]), np.array([2.0, 0.5]), np.ones(2), 0.25)
END = np.array([0.7, 1.0, 2.0, 3.0, -1.0])  # work, q, v


@pytest.fixture
def plain():
    return as_python()


def step_with(projections, pivots=(1.0, 1.0), rows=((1.0, 0.0), (0.0, 1.0))):
    """A step that ended at END; projections are (change of v, residuals), the last one for ever."""
    calls = []

    def project(inputs):
        change, residual = projections[min(len(calls), len(projections) - 1)]
        calls.append(inputs[:5].copy())
        kept = inputs[LAYOUT.mask].any()
        return [inputs[:3], inputs[3:5] + (np.array(change) if kept else 0.0), np.array(residual), np.zeros(2)]

    memory, arrays = memory_of(
        LAYOUT, RungeKutta4(0.1), np.zeros(5), 10.0, UNITS, project=project,
        rows=lambda _: [np.eye(2), np.array(rows).T],
        motion=lambda _: [np.zeros(5), np.zeros(2), np.array(pivots), np.zeros(2)],
    )  # fmt: skip
    memory.projecting, memory.time, memory.ahead, memory.taken, memory.n_steps = 1, 1.0, 1.1, 0.1, 3
    arrays.trial[:, 0] = END
    arrays.inputs[LAYOUT.mask] = 1.0
    arrays.references[:] = 1.0
    arrays.active[:], arrays.rank[:] = 1, 2
    return memory, arrays, calls


def test_a_state_is_projected_until_its_rows_close(plain):
    """Residuals in the sizes of their rows: 2 and 0.5. The one found before the last correction is kept."""
    memory, arrays, calls = step_with(
        [((0.1, 0.0), (1e-3, 0.0)), ((0.01, 0.0), (0.0, -1e-6)), ((0.0, 0.0), (0.9 * PROJECTED * 2.0, 0.0))]
    )
    plain.choice.settle_step(memory)
    assert len(calls) == 3
    np.testing.assert_allclose(calls[1], END + np.array([0, 0, 0, 0.1, 0]))
    np.testing.assert_allclose(arrays.trial[:, 0], END + np.array([0, 0, 0, 0.11, 0]))
    assert arrays.residual[0] == pytest.approx(0.9 * PROJECTED)
    assert arrays.status[0] == RUNNING


def test_a_residual_that_shrinks_no_more_is_left_if_it_is_small(plain):
    for small, count in ((1e-10, 2), (0.5, MOST_PROJECTIONS)):
        memory, arrays, calls = step_with([((0.0, 0.0), (small, 0.0)), ((0.0, 0.0), (0.9 * small, 0.0))])
        plain.choice.settle_step(memory)
        assert len(calls) == count
        assert arrays.residual[0] == pytest.approx(0.45 * small)
        assert arrays.status[0] == (RUNNING if small < PROJECTION_LOST else RESIDUAL)


def test_a_row_that_stays_open_is_named_and_one_left_out_is_not(plain):
    memory, arrays, _ = step_with([((0.0, 0.0), (3.0, 1.0))])  # 1.5 and 2 in their sizes
    plain.choice.settle_step(memory)
    assert (arrays.status[0], arrays.row[0]) == (RESIDUAL, 1)
    memory, arrays, _ = step_with([((0.0, 0.0), (3.0, 1.0))])
    arrays.inputs[LAYOUT.mask, 0] = [1.0, 0.0]
    plain.choice.settle_step(memory)
    assert (arrays.status[0], arrays.row[0]) == (RESIDUAL, 0)


def test_the_largest_part_of_the_speed_that_a_projection_changed_is_on_record(plain):
    """Of the largest speed so far: 3/4, 1/0.5 = 2, an earlier 5 (in sizes 4 and 0.5), or the machine's own rate."""
    for extent, fastest in ((0.0, 2.0), (20.0, 5.0)):
        memory, arrays, _ = step_with([((0.4, 0.01), (0.0, 0.0))])
        arrays.extents[3, 0] = extent
        arrays.jolt[:], arrays.jolt_time[:] = 0.01, 0.3
        plain.choice.settle_step(memory)
        assert (arrays.jolt[0], arrays.jolt_time[0]) == (pytest.approx(0.1 / fastest), 1.1)
        arrays.jolt[:], arrays.jolt_time[:] = 0.2, 0.3
        arrays.trial[:, 0] = END
        plain.choice.settle_step(memory)
        assert (arrays.jolt[0], arrays.jolt_time[0]) == (0.2, 0.3)
    slow, arrays, _ = step_with([((0.004, 0.0), (0.0, 0.0))])
    arrays.trial[3:] = 0.0
    plain.choice.settle_step(slow)
    assert arrays.jolt[0] > 0.0


@pytest.mark.parametrize(("pivot", "is_noise"), [(0.5 * ROW_PIVOT_GONE, True), (2 * ROW_PIVOT_GONE, False)])
def test_a_projection_on_a_row_that_has_vanished_is_taken_back(pivot, is_noise, plain):
    """The row is left out, and rows are chosen again, and judged, when the next step begins."""
    memory, arrays, calls = step_with([((5.0, 0.0), (0.0, 0.0))], (1.0, pivot), ((1e-14, 0.0), (0.0, 1e-14)))
    plain.choice.settle_step(memory)
    assert arrays.status[0] == RUNNING
    if is_noise:
        assert arrays.trial[:, 0].tolist() == END.tolist()
        assert arrays.inputs[LAYOUT.mask, 0].tolist() == [0.0, 0.0]
        assert arrays.rank[0] == -1
        assert arrays.jolt[0] == 0.0
        assert (memory.n_choices, arrays.choices[0].tolist()) == (1, [1.0, 0.0, 0.0])
        assert len(calls) == 2
        assert plain.choice.watch(memory)
    else:
        np.testing.assert_allclose(arrays.trial[:, 0], END + np.array([0, 0, 0, 5.0, 0]))
        assert arrays.inputs[LAYOUT.mask, 0].tolist() == [1.0, 1.0]
        assert arrays.rank[0] == 2
        assert arrays.jolt[0] == pytest.approx(5.0 / 4.0 / 2.0)
        assert memory.n_choices == 0


def test_a_lane_that_is_over_or_no_longer_finite_is_left_alone(plain):
    memory, arrays, _ = step_with([((0.1, 0.0), (9.0, 0.0))])
    arrays.status[:] = DONE
    plain.choice.settle_step(memory)
    assert (arrays.status[0], arrays.row[0], arrays.jolt[0]) == (DONE, -1, 0.0)
    memory, arrays, _ = step_with([((np.nan, 0.0), (0.0, 0.0))])
    plain.choice.settle_step(memory)
    assert arrays.status[0] == NAN
