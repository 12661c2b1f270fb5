"""The search for a worst case: `scipy.optimize.differential_evolution` over the unit cube of what is varied."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from concurrent.futures.process import BrokenProcessPool
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.errors import KalabaError, ModelError
from kalaba.interruption import heard
from kalaba.space.arrays import Array
from kalaba.studies.engines import pool
from kalaba.studies.evaluate import Chunk, evaluate, packed, work
from kalaba.studies.sampling import INNERMOST
from kalaba.studies.variables import SEARCHED_TAIL
from kalaba.units import counted

if TYPE_CHECKING:
    from concurrent.futures import Future, ProcessPoolExecutor

    import pyarrow as pa

    from kalaba.results.run import Run
    from kalaba.studies.study import Study

PER_GENERATION = 8  # points per varied number
FEWEST = 16  # points of a generation
PIECES = 4  # of a generation, per process


@dataclass(frozen=True)
class Found:
    """The worst case that a search found.

    Arguments:
        measure: name of the measure
        value: what it is there
        values: the numbers there, by parameter
        evaluations: runs that were tried
        failed: how many of them failed, and counted for nothing
        study: the study that was searched
    """

    measure: str
    value: float
    values: Mapping[str, float]
    evaluations: int
    failed: int
    study: Study = field(repr=False)

    @cached_property
    def run(self) -> Run:
        """The run there."""
        return self.study.judged(self.values)


def search(study: Study, measure: str, *, smallest: bool, evaluations: int, workers: int) -> Found:
    """Look for the largest or smallest value of a measure."""
    from scipy.optimize import differential_evolution

    resolved = study.resolved
    resolved.measures[measure].check(resolved.plant, measure)
    variables = tuple(study.vary.values())
    tails = [SEARCHED_TAIL if variable.is_endless else INNERMOST for variable in variables]
    size = min(max(PER_GENERATION * len(variables), FEWEST), evaluations)
    tried: list[float] = []
    with heard(), warnings.catch_warnings(), nullcontext() if workers == 1 else pool(workers) as executor:
        warnings.simplefilter("ignore", UserWarning)  # of scipy, about how points are handed out
        tries = _Tries(resolved, measure, -1.0 if not smallest else 1.0, executor, workers, tried)
        found = differential_evolution(
            tries.costs,
            [(tail, 1.0 - tail) for tail in tails],
            maxiter=max(evaluations // size - 1, 0),
            init=_first_points(len(variables), size, tails, study.seed),
            seed=np.random.default_rng(study.seed),
            polish=False,
            updating="deferred",
            vectorized=True,
        )
    failed = int(np.sum(~np.isfinite(tried)))
    if not np.isfinite(found.fun):
        raise ModelError(
            f"Study.search: none of {counted(len(tried), 'run')} has a {measure}. Look at one: study.case(0)."
        )
    values = _spread(variables, found.x[:, np.newaxis])[0]
    numbers = dict(zip(study.vary, values.tolist(), strict=True))
    return Found(measure, float(found.fun) * tries.sign, numbers, len(tried), failed, study)


def _first_points(variables: int, size: int, tails: list[float], seed: int) -> Array:
    """The first generation: a Latin hypercube, at least the five points that the method needs."""
    from scipy.stats import qmc

    points = qmc.LatinHypercube(variables, seed=np.random.default_rng(seed)).random(max(size, 5))
    return np.asarray(np.clip(points, tails, 1.0 - np.array(tails)))


def _spread(variables: tuple[Any, ...], points: Array) -> Array:
    """Numbers at points of the unit cube, given as (variables, points) and returned as (points, variables)."""
    return np.column_stack([variable.quantile(row) for variable, row in zip(variables, points, strict=True)])


def _table(future: Future[pa.Table]) -> pa.Table:
    try:
        return future.result()
    except BrokenProcessPool as error:
        raise KalabaError(
            "Study.search: a worker process died. Is there memory enough? Fewer workers take less; a script keeps "
            'what it does under if __name__ == "__main__":.'
        ) from error


@dataclass
class _Tries:
    """Evaluates generations, in processes if there are some; what fails is never the best."""

    study: Study
    measure: str
    sign: float
    executor: ProcessPoolExecutor | None
    workers: int
    tried: list[float]

    def __post_init__(self) -> None:
        self.payload = packed(self.study) if self.executor is not None else b""

    def costs(self, points: Array) -> Array:
        """What is made small, one number per point; `points` is (variables, points)."""
        values = _spread(tuple(self.study.vary.values()), points)
        pieces = [p for p in np.array_split(values, min(PIECES * self.workers, len(values))) if len(p)]
        chunks = [Chunk(number, 0, piece) for number, piece in enumerate(pieces)]
        if self.executor is None:
            tables = [evaluate(self.study, chunk) for chunk in chunks]
        else:
            futures = [self.executor.submit(work, self.payload, version("kalaba"), chunk) for chunk in chunks]
            tables = [_table(future) for future in futures]
        measured = np.concatenate([table[self.measure].to_numpy() for table in tables])
        self.tried.extend(measured.tolist())
        return np.where(np.isfinite(measured), self.sign * measured, np.inf)
