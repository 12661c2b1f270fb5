"""Timing on a machine that others use too: contenders take turns in short rounds, and the best round of each counts."""

import time
from collections.abc import Callable, Mapping
from statistics import median

ROUNDS = 15
ROUND_TIME = 0.02  # s, of each contender in each round

Work = Callable[[], object]
Measure = Callable[[], float]  # gives a time, s


def elapsed(work: Work) -> float:
    """Wall time of one call, s."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def repeated(work: Work, share: float = 1.0) -> Measure:
    """Measure short work by doing it again and again for a while; `share` of one call is what counts."""
    work()
    repeats = max(1, int(ROUND_TIME / elapsed(work)))

    def measure() -> float:
        began = time.perf_counter()
        for _ in range(repeats):
            work()
        return share * (time.perf_counter() - began) / repeats

    return measure


def best_in_turns(contenders: Mapping[str, Measure], rounds: int = ROUNDS) -> dict[str, float]:
    """Best time of each contender, s; by taking turns all of them meet the same load from outside."""
    times: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, measure in contenders.items():
            times[name].append(measure())
    return {name: min(measured) for name, measured in times.items()}


def median_and_best(work: Work, calls: int = 3000) -> tuple[float, float]:
    """Median and minimum wall time of single calls, s."""
    times = [elapsed(work) for _ in range(calls)]
    return median(times), min(times)
