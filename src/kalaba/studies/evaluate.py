"""The evaluation of a chunk of samples: numbers in, a table with one row per sample out.

`evaluate` is the one function behind every engine. It runs one sample after the other; whatever takes its place may run
them in any way that gives the same bits.
"""

from __future__ import annotations

import pickle
import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version as installed
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.errors import KalabaError, ModelError
from kalaba.plant.plant import RebuildWarning
from kalaba.results.places import first_line
from kalaba.space.arrays import Array
from kalaba.studies.study import Study

if TYPE_CHECKING:
    import pyarrow as pa

REFUSED = "refused"  # status of a sample that could not be run at all
UNMEASURED = "unmeasured"  # of one that ran, but of which a measure could not be taken
BREAKS_OFF = (KalabaError, ArithmeticError, ValueError, LookupError, RuntimeError, MemoryError)
_ONE_AT_A_TIME = threading.Lock()  # a worker of a cluster may have several threads, functions of people no locks


@dataclass(frozen=True, slots=True)
class Chunk:
    """Samples that are evaluated together.

    Arguments:
        number: which chunk of the study, from 0
        first: number of its first sample
        values: the numbers of its samples, (samples, varied numbers)
    """

    number: int
    first: int
    values: Array


class Sampled(NamedTuple):
    """What is kept of one sample."""

    measured: tuple[float, ...]  # nan where the run has no such number, or failed
    status: str
    end: float  # when the run ended, s; nan: there was none
    error: str


def evaluate(study: Study, chunk: Chunk) -> pa.Table:
    """Run the samples of a chunk: a row each with its number, what was varied, measures, status, end and error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RebuildWarning)  # said once, before the first chunk
        rows = [_sampled(study, dict(zip(study.vary, row, strict=True))) for row in chunk.values.tolist()]
    return as_table(study, chunk, rows)


def as_table(study: Study, chunk: Chunk, rows: list[Sampled]) -> pa.Table:
    """Rows of samples as a table."""
    import pyarrow as pa

    measured = np.array([row.measured for row in rows]).reshape(len(rows), len(study.measure))
    columns = {"sample": pa.array(range(chunk.first, chunk.first + len(rows)), pa.int64())}
    columns |= {name: pa.array(chunk.values[:, i]) for i, name in enumerate(study.vary)}
    columns |= {name: pa.array(measured[:, i]) for i, name in enumerate(study.measure)}
    columns["status"] = pa.array([row.status for row in rows], pa.string())
    columns["end"] = pa.array([row.end for row in rows], pa.float64())
    columns["error"] = pa.array([row.error for row in rows], pa.string())
    return pa.table(columns)


def _sampled(study: Study, values: Mapping[str, float]) -> Sampled:
    """One sample; whatever goes wrong in it is its result."""
    nothing = (float("nan"),) * len(study.measure)
    try:
        run = study.simulated(values)
    except BREAKS_OFF as error:
        return Sampled(nothing, REFUSED, float("nan"), first_line(error))
    status, end = run.status, float(run.status.time)
    if status.failed:
        return Sampled(nothing, status.ending.value, end, status.message)
    try:
        measured = tuple(measure.value(run, name) for name, measure in study.measures.items())
    except BREAKS_OFF as error:
        return Sampled(nothing, UNMEASURED, end, first_line(error))
    return Sampled(measured, status.ending.value, end, "")


def packed(study: Study) -> bytes:
    """A study for worker processes of this computer; what does not pickle is refused by its name."""
    for name, written in study.measure.items():
        _check_pickles(written, f"measure.{name}")
    _check_pickles(study.control or study.scenario.control, "control")
    _check_pickles(study.scenario.system, study.scenario.system.name)
    return pickle.dumps(study)


def _check_pickles(value: object, what: str) -> None:
    try:
        pickle.dumps(value)
    except Exception as error:  # whatever its class raises
        raise ModelError(
            f"{what}: cannot be sent to worker processes ({first_line(error)}). Define the function at the top of a "
            "module, or take workers=1."
        ) from error


def work(payload: bytes, version: str, chunk: Chunk) -> pa.Table:
    """Evaluate a chunk in a worker process: the study is read, and its machine built, once in each."""
    with _ONE_AT_A_TIME:
        return evaluate(_unpacked(payload, version), chunk)


@lru_cache(maxsize=2)
def _unpacked(payload: bytes, version: str) -> Study:
    if version != (own := installed("kalaba")):
        raise ModelError(f"Study.run: a worker has kalaba {own}, this is {version}. Install the same everywhere.")
    try:
        study = pickle.loads(payload)  # noqa: S301  (made by `packed`, on the way to our own worker)
    except Exception as error:
        raise ModelError(
            f"Study.run: a worker cannot load the study ({first_line(error)}). Put its functions into a module that "
            "workers can import, or take workers=1."
        ) from error
    return study  # type: ignore[no-any-return]
