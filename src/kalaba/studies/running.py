"""A study is run: what is done already stays, the rest is evaluated chunk by chunk and written as it comes."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from kalaba.boundary import as_path, called, check_whole
from kalaba.errors import Interrupted, KalabaError, ModelError
from kalaba.interruption import caught, heard
from kalaba.plant.plant import RebuildWarning
from kalaba.studies.engines import Cluster, Result, here, processes
from kalaba.studies.evaluate import Chunk, evaluate, packed
from kalaba.studies.folder import MANIFEST, StudyFolder, begun, made_ready, opened, same_study
from kalaba.studies.progress import StudyProgress, Tally
from kalaba.studies.results import StudyResults

if TYPE_CHECKING:
    from distributed import Client

    from kalaba.studies.study import Study

SECONDS = 2.0  # that a chunk takes, about
TRIAL = 0.5  # s of samples by which that is measured
LONGEST_CHUNK = 20_000  # samples
CHUNKS_EACH = 4  # at least so many chunks per process, where there are samples enough
MOST_SHARDS = 1_000_000

Watcher = Callable[[StudyProgress], None]


@dataclass(frozen=True, slots=True)
class Engines:
    """Who evaluates.

    Arguments:
        workers: processes of this computer
        scheduler: a Dask scheduler that does in their place
    """

    workers: int = 1
    scheduler: str | Client | None = None


def run_study(
    asked: Study, path: Path, engines: Engines, shard: tuple[int, int], progress: Watcher | None
) -> StudyResults:
    """Evaluate what a folder does not hold yet."""
    part, parts = shard
    check_whole(parts, "Study.run: shard", 1, MOST_SHARDS)
    check_whole(part, "Study.run: shard", 1, parts)
    with heard():
        study = asked.resolved
        place = as_path(path, "Study.run")
        if engines.scheduler is None and engines.workers > 1:
            packed(study)  # refuses what cannot be sent
        made_ready(place)
        for name, measure in study.measures.items():
            measure.check(study.plant, name)
        with _engine(study, engines) as (slots, results):
            folder = _begun(study, place, slots)
            done = set(folder.done())
            own = [number for number in range(folder.chunks) if number % parts == part - 1]
            counts = {number: folder.part(number).stop - folder.part(number).start for number in own}
            before = sum(count for number, count in counts.items() if number in done)
            tally = Tally(study, before, sum(counts.values()))
            todo = (_chunk(study, folder, number) for number in own if number not in done)
            _tell(progress, tally)
            try:
                for chunk, table in results(todo):
                    folder.write(chunk.number, table)
                    tally.add(table)
                    _tell(progress, tally)
            except KeyboardInterrupt:
                caught()
                now = tally.progress
                raise Interrupted(
                    f"{place}: interrupted with {now.done} of {now.count} samples done. Run it again to go on."
                ) from None
    return StudyResults(folder, asked)


def _tell(progress: Watcher | None, tally: Tally) -> None:
    if progress is not None:
        called(progress, "Study.run: progress", tally.progress, error=ModelError)


def _chunk(study: Study, folder: StudyFolder, number: int) -> Chunk:
    part = folder.part(number)
    return Chunk(number, part.start, study.design[part])


Results = Callable[[Iterator[Chunk]], Iterator[Result]]


@contextmanager
def _engine(study: Study, engines: Engines) -> Iterator[tuple[int, Results]]:
    """How many chunks are evaluated at once, and what evaluates them."""
    if engines.scheduler is not None:
        cluster = Cluster(engines.scheduler)
        try:
            yield cluster.slots, lambda chunks: cluster.results(study, chunks)
        finally:
            cluster.close()
    elif engines.workers > 1:
        yield engines.workers, lambda chunks: processes(study, chunks, engines.workers)
    else:
        yield 1, lambda chunks: here(study, chunks)


def _begun(study: Study, place: Path, slots: int) -> StudyFolder:
    """The folder of a study that goes on, or of one that begins: its first samples say how long a chunk is."""
    if (place / MANIFEST).exists():
        folder = opened(place)
        same_study(study, folder)
        return folder
    return begun(study, place, chunk_size(study.count, _seconds_per_sample(study), slots))


def chunk_size(samples: int, seconds: float, slots: int) -> int:
    """Samples of a chunk that takes some seconds, of which every process has several.

    Arguments:
        samples: of the study
        seconds: that one takes
        slots: chunks that are evaluated at once
    """
    by_time = int(SECONDS / max(seconds, SECONDS / LONGEST_CHUNK))
    by_share = math.ceil(samples / (CHUNKS_EACH * slots))
    return max(min(by_time, by_share), 1)


def _seconds_per_sample(study: Study) -> float:
    """How long a sample takes, s: of the first ones, after one that compiles what they need and is judged aloud."""
    _first(study)
    evaluate(study, Chunk(0, 0, study.design[:1]))
    began, count = time.perf_counter(), 0
    while count < study.count and (not count or time.perf_counter() - began < TRIAL):
        evaluate(study, Chunk(0, count, study.design[count : count + 1]))
        count += 1
    return (time.perf_counter() - began) / count


def _first(study: Study) -> None:
    """Run the first sample as `simulate` does, so that what is doubtful of it is said; its failure is its result."""
    with warnings.catch_warnings():
        warnings.simplefilter("once", RebuildWarning)
        try:
            study.judged(study.values(0))
        except KalabaError:
            return
