"""Worker: jobs one after the other behind the page; of jobs of one kind only the latest that waits is done."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

Job = Callable[[], None]


class Worker:
    """One thread. What a job raises is handed to `failed`, and the next job goes on."""

    def __init__(self, failed: Callable[[BaseException], None]) -> None:
        self._failed = failed
        self._pool = ThreadPoolExecutor(max_workers=1, thread_name_prefix="studio")
        self._waiting: dict[str, Job] = {}
        self._guard = threading.Lock()
        self._idle = threading.Condition(self._guard)
        self._open = 0

    def submit(self, kind: str, job: Job) -> None:
        """Do a job soon, instead of one of its kind that waits."""
        with self._guard:
            is_new = kind not in self._waiting
            self._waiting[kind] = job
            if is_new:
                self._open += 1
                self._pool.submit(self._do, kind).add_done_callback(self._done)

    def _do(self, kind: str) -> None:
        with self._guard:
            job = self._waiting.pop(kind)
        job()

    def _done(self, future: Future[None]) -> None:
        error = future.exception()
        if error is not None:
            self._failed(error)
        with self._idle:
            self._open -= 1
            self._idle.notify_all()

    def wait(self, timeout: float) -> bool:
        """Wait until nothing is left to do; False if that takes too long."""
        with self._idle:
            return self._idle.wait_for(lambda: self._open == 0, timeout)

    def stop(self) -> None:
        """End after the job at hand."""
        self._pool.shutdown(wait=True, cancel_futures=True)
