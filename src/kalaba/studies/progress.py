"""Where a study stands: samples done, time left, and what its measures have been so far."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa

    from kalaba.studies.study import Study


class Spread(NamedTuple):
    """A measure so far.

    Arguments:
        values: how many there are, finite ones
        mean: their mean
        deviation: their standard deviation
        least: the smallest
        most: the largest
    """

    values: int = 0
    mean: float = math.nan
    deviation: float = math.nan
    least: float = math.nan
    most: float = math.nan


@dataclass(frozen=True, slots=True)
class StudyProgress:
    """Where a study stands: what a function given as study.run(progress=...) gets, first before any work is done.

    Arguments:
        done: samples that are done, those of earlier runs of the study included
        count: samples that this job is to have done
        failed: samples that failed, of those evaluated now
        elapsed: time since the first sample of now, s
        left: time that the others will take at this pace, s; None: not known yet
        measures: what was measured now, by measure
    """

    done: int
    count: int
    failed: int
    elapsed: float
    left: float | None
    measures: Mapping[str, Spread]


@dataclass
class _Sums:
    """Sums over the finite values of a measure, about their first one."""

    count: int = 0
    about: float = 0.0
    first: float = 0.0  # Σ (x − about)
    second: float = 0.0  # Σ (x − about)²
    least: float = math.inf
    most: float = -math.inf

    def add(self, values: np.ndarray) -> None:
        """Take values in."""
        finite = values[np.isfinite(values)]
        if not finite.size:
            return
        if not self.count:
            self.about = float(finite[0])
        self.count += finite.size
        self.first += float((finite - self.about).sum())
        self.second += float(((finite - self.about) ** 2).sum())
        self.least, self.most = min(self.least, float(finite.min())), max(self.most, float(finite.max()))

    @property
    def spread(self) -> Spread:
        """What they say."""
        if not self.count:
            return Spread()
        mean = self.first / self.count
        deviation = math.sqrt(max(self.second / self.count - mean**2, 0.0))
        return Spread(self.count, self.about + mean, deviation, self.least, self.most)


@dataclass
class Tally:
    """Counts samples as their tables come in.

    Arguments:
        study: whose samples
        before: samples that were done before
        count: samples that are to be done, those included
    """

    study: Study
    before: int
    count: int
    now: int = 0
    failed: int = 0
    began: float = field(default_factory=time.monotonic)
    sums: dict[str, _Sums] = field(default_factory=dict)

    def add(self, table: pa.Table) -> None:
        """Take the results of a chunk in."""
        self.now += table.num_rows
        self.failed += sum(1 for text in table["error"].to_pylist() if text)
        for name in self.study.measure:
            self.sums.setdefault(name, _Sums()).add(table[name].to_numpy())

    @property
    def progress(self) -> StudyProgress:
        """Where the study stands."""
        elapsed = time.monotonic() - self.began
        done = self.before + self.now
        left = elapsed / self.now * (self.count - done) if self.now else None
        spreads = {name: self.sums[name].spread if name in self.sums else Spread() for name in self.study.measure}
        return StudyProgress(done, self.count, self.failed, elapsed, left, spreads)
