"""One evaluation of a servo law on a parallel robot with six motors and five freedoms."""

from __future__ import annotations

import time
from statistics import median, quantiles

import numpy as np

import kalaba as kb
from benchmarks.bars import AtMost, Report, seconds
from kalaba.native.backend import NativeFunction
from kalaba.plant.laws import Law, law_function
from kalaba.plant.plant import Plant

ROBOT = "pus-upu"
CALLS = 20_000
STATES = 200
TAIL = 3.0  # times the median, at the slowest call of a thousand
LIMIT = 450.0  # N
BARS = {
    "least squares": (kb.LeastSquares(), 10e-6),
    "least peak": (kb.MinMax(), 50e-6),
    "within bounds": (kb.Bounded((-LIMIT,) * 6, (LIMIT,) * 6), 50e-6),
}


def measure_servo() -> Report:
    """Time single calls of each law at states along the paper's circle: the median, and one call in a thousand."""
    plant = kb.build(kb.load(ROBOT))
    circle = kb.follow("platform", kb.path.circle(diameter=0.2, speed=0.125, accel=0.25))
    run = kb.simulate(plant, control=kb.servo(plant, circle))
    chosen = np.linspace(0, len(run.time) - 1, STATES).astype(int)
    bars, remarks = [], []
    for name, (allocation, bar) in BARS.items():
        made = kb.servo(plant, circle, allocation=allocation)
        law = made.law(plant, made.start(plant))
        assert isinstance(law, Law)
        times = _times(plant, law, run, chosen)
        middle, slowest = median(times), quantiles(times, n=1000)[-1]
        bars.append(AtMost(f"{ROBOT}, servo law, {name}: median", middle, bar, "s"))
        bars.append(
            AtMost(f"{ROBOT}, servo law, {name}: one in a thousand, of the median's bar", slowest / bar, TAIL, "")
        )
        remarks.append(f"servo, {name}: median {seconds(middle)}, one in a thousand {seconds(slowest)}")
    return Report(tuple(bars), tuple(remarks))


def _times(plant: Plant, law: Law, run: kb.Run, chosen: np.ndarray) -> list[float]:
    """Wall times of single calls, the call from Python included."""
    function = law_function(plant, law)
    assert isinstance(function, NativeFunction)
    bound, clock = function.bind(), time.perf_counter
    packed = [plant.inputs(run.q[k], run.v[k], run.time[k]) for k in chosen]
    times = []
    for k in range(CALLS):
        bound.inputs[:] = packed[k % STATES]
        bound.inputs[plant.layout.mask] = plant.choice.mask
        began = clock()
        bound.run()
        times.append(clock() - began)
    return times
