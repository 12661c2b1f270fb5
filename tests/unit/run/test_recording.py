"""What a run in plain Python records: when, what, and the largest of its residuals."""

from types import SimpleNamespace

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ConstraintError, ModelError, NotFiniteError
from kalaba.plant.reference import RowError
from kalaba.results.run import Effort, Ending
from kalaba.run.recording import Sample, ending_of, run_of_samples, sample_times, take_samples
from kalaba.tolerances import SAME_TIME


@pytest.mark.parametrize(
    ("duration", "every", "times"),
    [
        (1.0, 0.25, [0.0, 0.25, 0.5, 0.75, 1.0]),
        (1.0, 0.4, [0.0, 0.4, 0.8, 1.0]),
        (0.3, 0.1, [0.0, 0.1, 0.2, 0.3]),
        (0.3 * (1 + 1e-15), 0.1, [0.0, 0.1, 0.2, 0.3]),
        (0.2, 1.0, [0.0, 0.2]),
    ],
)
def test_samples_are_due_at_multiples_and_at_the_end(duration, every, times):
    found = sample_times(SimpleNamespace(duration=duration, save_every=every))
    assert found[:-1] == pytest.approx(times)
    assert found[-2:] == [duration, np.inf]


def test_functions_are_sampled_when_they_are_due():
    calls = []

    def sampler(due, part):
        return SimpleNamespace(due=due, part=part, sample=lambda t, q, v: calls.append((t, q, v)) or t + due)

    held = np.full(3, -1.0)
    near = 2.0 * (1 + 0.5 * SAME_TIME)
    samplers = [sampler(1.0, 0), sampler(near, 1), sampler(2.0 + 4 * SAME_TIME, 2)]
    take_samples(samplers, held, 2.0, SimpleNamespace(q="q", v="v"))
    assert held == pytest.approx([3.0, 4.0, -1.0])
    assert calls == [(2.0, "q", "v")] * 2


def test_the_worst_row_is_the_farthest_open_in_its_size():
    """Rows of metres and radians: 3e-3 of 2 m are more than 1e-3 rad."""
    parts = (
        kb.Body("cart", kb.Solid(1.0), at=(2.0, 0, 0), joint=kb.Prismatic(kb.X)),
        kb.Body("rod", kb.Rod(2.0, mass=1.0), joint=kb.Revolute(kb.Y)),
        kb.Constraint("place", "cart.travel"),
        kb.Constraint("turn", "rod.angle"),
    )
    plant = kb.build(kb.System("two", parts), backend=kb.Interpreted())
    zero, n = np.zeros(2), len(plant.constraints)
    assert n == 2

    def worst(*configurations):
        samples = [
            Sample(0.1 * k, np.array(q), zero, zero, zero, np.zeros(0), 0.5 * k) for k, q in enumerate(configurations)
        ]
        run = run_of_samples(plant, samples, None, Effort())
        assert run.work.tolist() == [0.5 * k for k in range(len(configurations))]
        return run.worst

    size = plant.scales.rows
    first = worst((0, 0), (-3e-3 * size[0], 1e-3 * size[1]), (1e-3 * size[0], 2e-3 * size[1]))
    assert (first.value, first.row, first.time) == (pytest.approx(3e-3 * size[0]), plant.constraints[0], 0.1)
    second = worst((0, 0), (1e-3 * size[0], 1e-3 * size[1]), (1e-3 * size[0], -2e-3 * size[1]))
    assert (second.value, second.row, second.time) == (pytest.approx(2e-3 * size[1]), plant.constraints[1], 0.2)


def test_errors_end_a_run_in_their_own_ways():
    assert ending_of(RowError("", "pin.x", is_left_out=True)) == (Ending.INCONSISTENT, "pin.x")
    assert ending_of(RowError("", "pin.x", is_left_out=False)) == (Ending.RESIDUAL_GROWTH, "pin.x")
    assert ending_of(ConstraintError("")) == (Ending.INCONSISTENT, "")
    assert ending_of(NotFiniteError("")) == (Ending.NOT_FINITE, "")
    assert ending_of(ModelError("")) == (Ending.NOT_FINITE, "")
