"""Who evaluates chunks: this process, processes of this computer, or a Dask cluster. All give the same tables.

    here ──────▶ evaluate
    processes ─▶ concurrent.futures, each a fresh interpreter
    cluster ───▶ distributed.Client: its scheduler hands a chunk to another worker when one dies

An engine takes chunks as they are needed and gives tables as they are done, in any order. Processes are spawned, not
forked: a fork would copy the locks of compilers and of the threads that BLAS keeps.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from itertools import islice
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from kalaba.boundary import shown
from kalaba.errors import KalabaError, ModelError
from kalaba.results.places import first_line
from kalaba.studies.evaluate import Chunk, evaluate, packed, work
from kalaba.units import counted

if TYPE_CHECKING:
    import pyarrow as pa
    from distributed import Client

    from kalaba.studies.study import Study

Result = tuple[Chunk, "pa.Table"]
AHEAD = 2  # chunks in hand per process, so that none waits for the next
AHEAD_CLUSTER = 4
MOST_DEATHS = 3  # of pools, without a chunk done between them: then it is the samples
CONNECTING = 20.0  # s
TRIES = 3  # that a cluster makes for a chunk whose worker is lost for other reasons than its death


def cores() -> int:
    """Cores that this process may use: of a job on a cluster, those that it was given."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


def here(study: Study, chunks: Iterable[Chunk]) -> Iterator[Result]:
    """Evaluate chunks in this process."""
    for chunk in chunks:
        yield chunk, evaluate(study, chunk)


@contextmanager
def pool(workers: int) -> Iterator[ProcessPoolExecutor]:
    """Processes of this computer, which end with the block: at once, if it is left by an error or an interruption."""
    if multiprocessing.parent_process() is not None and "__mp_main__" not in sys.modules:
        raise ModelError(
            "Study: worker processes import this script, which begins the study again. Put what the script does under "
            'if __name__ == "__main__":, or take workers=1.'
        )
    others = set(multiprocessing.active_children())
    executor = ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), _deaf)
    try:
        yield executor
        executor.shutdown()
    except BaseException:
        executor.shutdown(wait=False, cancel_futures=True)
        for process in set(multiprocessing.active_children()) - others:
            process.terminate()
        raise


def _deaf() -> None:
    """Leave Ctrl-C, which the terminal sends to all processes, to the one that waits for the others."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


def processes(study: Study, chunks: Iterable[Chunk], workers: int) -> Iterator[Result]:
    """Evaluate chunks in processes of this computer; what a process had in hand that died is done by another."""
    payload, waiting = packed(study), iter(chunks)
    again: list[Chunk] = []
    deaths, most = 0, 1  # without a chunk done, the first death is the last: more often than not it is the script
    while True:
        try:
            with pool(workers) as executor:
                for result in _from_pool(executor, payload, waiting, again, AHEAD * workers):
                    deaths, most = 0, MOST_DEATHS
                    yield result
                return
        except BrokenProcessPool as error:
            deaths += 1
            if deaths >= most:
                raise KalabaError(_died(again, deaths)) from error


def _from_pool(
    executor: ProcessPoolExecutor, payload: bytes, waiting: Iterator[Chunk], again: list[Chunk], ahead: int
) -> Iterator[Result]:
    """Results of a pool as they come; when it breaks, `again` holds the chunks that it had in hand."""
    under_way: dict[Future[pa.Table], Chunk] = {}
    try:
        while True:
            while len(under_way) < ahead and (chunk := again.pop(0) if again else next(waiting, None)) is not None:
                under_way[_submitted(executor, payload, chunk, again)] = chunk
            if not under_way:
                return
            for future in wait(under_way, return_when=FIRST_COMPLETED).done:
                table = future.result()
                yield under_way.pop(future), table
    except BrokenProcessPool:
        again.extend(under_way.values())
        raise


def _submitted(executor: ProcessPoolExecutor, payload: bytes, chunk: Chunk, again: list[Chunk]) -> Future[pa.Table]:
    try:
        return executor.submit(work, payload, version("kalaba"), chunk)
    except BrokenProcessPool:
        again.append(chunk)
        raise


def _died(chunks: list[Chunk], deaths: int) -> str:
    samples = ", ".join(f"{chunk.first} to {chunk.first + len(chunk.values) - 1}" for chunk in chunks[:3])
    return (
        f"Study: worker processes died {counted(deaths, 'time')}, with samples {samples} in hand. Is there memory "
        'enough? Fewer workers take less; a script keeps what it does under if __name__ == "__main__":.'
    )


@dataclass
class Cluster:
    """A Dask cluster, reached through its own client.

    Arguments:
        scheduler: its address, or a client that somebody has made
    """

    scheduler: str | Client
    client: Any = field(init=False)

    def __post_init__(self) -> None:
        try:
            import distributed
        except ImportError:
            raise ModelError("Study: a scheduler needs Dask. Try: pip install 'kalaba[cluster]'") from None
        connect: Any = distributed.Client
        if isinstance(self.scheduler, distributed.Client):
            self.client = self.scheduler
            return
        try:
            self.client = connect(self.scheduler, timeout=CONNECTING, set_as_default=False)
        except (OSError, ValueError, TypeError, TimeoutError) as error:
            raise KalabaError(
                f"Study: no Dask scheduler answers at {shown(self.scheduler)} ({first_line(error)}). Start one: "
                "dask scheduler"
            ) from error

    def close(self) -> None:
        """Let go of a client that was made here."""
        if self.client is not self.scheduler:
            self.client.close()

    @property
    def slots(self) -> int:
        """Chunks that are evaluated at once; at least 1."""
        return max(len(self.client.nthreads()), 1)

    def results(self, study: Study, chunks: Iterable[Chunk]) -> Iterator[Result]:
        """Evaluate chunks on the cluster."""
        import distributed

        waiting, name = iter(chunks), f"kalaba-{uuid4().hex[:12]}"
        shared = self.client.submit(_itself, _cluster_packed(study), key=f"{name}-study", pure=False)
        under_way: dict[str, Chunk] = {}

        def submitted(chunk: Chunk) -> Any:  # noqa: ANN401  (a future of Dask)
            under_way[key := f"{name}-{chunk.number}"] = chunk
            return self.client.submit(work, shared, version("kalaba"), chunk, key=key, retries=TRIES, pure=False)

        futures = [submitted(chunk) for chunk in islice(waiting, AHEAD_CLUSTER * self.slots)]
        completed: Any = distributed.as_completed
        coming = completed(futures, loop=self.client.loop)
        del futures  # a result lives on the cluster as long as somebody holds its future
        try:
            for future in coming:
                table = _result(future, under_way[future.key])
                for chunk in islice(waiting, AHEAD_CLUSTER * self.slots - len(under_way) + 1):
                    coming.add(submitted(chunk))
                yield under_way.pop(future.key), table
        finally:
            coming.clear()


def _itself(payload: bytes) -> bytes:
    return payload


def _cluster_packed(study: Study) -> bytes:
    """A study for other computers, with functions that are in no module of theirs."""
    import cloudpickle

    try:
        return cloudpickle.dumps(study)  # type: ignore[no-any-return]
    except Exception:  # noqa: BLE001  (whatever a class raises)
        return packed(study)  # which says what does not pickle


def _result(future: Any, chunk: Chunk) -> pa.Table:  # noqa: ANN401  (a future of Dask)
    """The table of a chunk, or why there is none, in one line."""
    from distributed import CancelledError, KilledWorker

    try:
        return future.result()
    except KilledWorker as error:
        raise KalabaError(_died([chunk], MOST_DEATHS)) from error
    except (CancelledError, OSError) as error:
        raise KalabaError(
            f"Study: the Dask scheduler has gone ({first_line(error)}). Chunks that are done stay: run the study again."
        ) from error
