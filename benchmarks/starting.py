"""How long a person waits, for imports, builds, runs, commands; and the memory of a long run. In fresh processes."""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.bars import AtMost, Report, seconds
from kalaba.native import cache

ROUNDS = 3
COMMANDS = (  # s of processor time, warm
    ("list", 0.3),
    ("--help", 0.3),
    ("show four-bar", 0.8),
    ("check four-bar", 0.8),
    ("run four-bar", 0.8),
)
ROOT = Path(__file__).parents[1]
Figures = dict[str, float]


def measure_starting() -> Report:
    """Time imports and builds, best of a few processes each."""
    imported = min(_fresh("package")["import"] for _ in range(ROUNDS))
    with TemporaryDirectory() as directory:
        _fresh("first_run")  # the loops and Python's own cache are warm from here on
        _fresh("first_run", directory)
        commands = {words: min(_command(words, directory) for _ in range(ROUNDS)) for words, _ in COMMANDS}
        warm = [_fresh("building", directory) for _ in range(ROUNDS)]
        fresh = [cold("building") for _ in range(ROUNDS)]
    ever = [cold("first_run", loops=False) for _ in range(2)]
    bars = (
        AtMost("import kalaba", imported, 0.5, "s"),
        AtMost("build dual-mobile-arm and its start, nothing compiled", _least(fresh, "build"), 2.0, "s"),
        AtMost("the same and all kernels of a run", _least(fresh, "ready"), 2.0, "s"),
        AtMost("build dual-mobile-arm and its start, from the cache", _least(warm, "build"), 0.3, "s"),
        AtMost("the first run ever: import, build, compile the loop, 4 s", _least(ever, "run"), 6.0, "s"),
        *(AtMost(f"kalaba {words}: processor time", commands[words], bar, "s") for words, bar in COMMANDS),
    )
    with_imports = min(figures["imports"] + figures["ready"] for figures in warm)
    return Report(bars, (f"from the cache to ready for a run, imports included: {seconds(with_imports)}",))


def measure_memory() -> Report:
    """The peak of a long run."""
    figures = _fresh("long_run")
    remark = f"run of 1000 s: {figures['time']:.2f} s, {figures['samples']:.0f} samples, worst gap {figures['gap']:.1e}"
    return Report(
        (AtMost("run of 1000 s at 1 ms, saved every 10 ms: peak memory", figures["peak"], 500.0, "MB"),), (remark,)
    )


def _least(rounds: list[Figures], name: str) -> float:
    return min(figures[name] for figures in rounds)


def _command(words: str, directory: str) -> float:
    """Processor time of a command on a warm cache, s; the command before it may have filled that."""
    command = [sys.executable, "-c", "from kalaba.cli import main; main()", *words.split()]
    with TemporaryDirectory() as place:
        for _ in range(2):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            subprocess.run(
                command, cwd=place, env={**os.environ, cache.VARIABLE: directory}, check=True, capture_output=True
            )
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def cold(probe: str, *, loops: bool = True, sources: Path | None = None) -> Figures:
    """Run a probe with no kernel in its cache; the loops, compiled once per computer, are the user's.

    `sources` is where kalaba is taken from instead.
    """
    with TemporaryDirectory() as directory:
        for loop in cache.directory().glob(f"*{cache.LOOP}") if loops else ():
            shutil.copy2(loop, directory)
        return _fresh(probe, directory, sources)


def _fresh(probe: str, directory: str | None = None, sources: Path | None = None) -> Figures:
    """Run a probe in a new process, with its own cache where a directory is given."""
    caches = {cache.VARIABLE: directory, "PYTHONPATH": str(sources) if sources else None}
    environment = {**os.environ, **{name: value for name, value in caches.items() if value}}
    command = [sys.executable, "-m", "benchmarks.probes", probe]
    done = subprocess.run(command, env=environment, cwd=ROOT, check=False, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{probe} failed:\n{done.stderr}")
    return json.loads(done.stdout)
