"""Exported C: a motion and a controller of 1 kHz, timed by the test programs that come with them."""

from __future__ import annotations

import re
import shutil
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import kalaba as kb
from benchmarks.bars import AtMost, Bar, Report, seconds

FLAGS = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror")
ROUNDS = 3  # the best of which counts: others use the machine too
LIMIT = 450.0  # N
SAMPLE = 1e-3  # s
SERVOS = {
    "least squares": kb.LeastSquares(),
    "least peak": kb.MinMax(),
    "within bounds": kb.Bounded((-LIMIT,) * 6, (LIMIT,) * 6),
}
TIMES = re.compile(r"median ([\d.e+-]+) us, p99\.9 ([\d.e+-]+) us")
ERROR = re.compile(r"worst error: ([\d.e+-]+)")


@dataclass(frozen=True)
class Timed:
    """What a test program printed: its worst error, and median and p99.9 on the wall and of the processor, s."""

    error: float
    wall: tuple[float, float]
    processor: tuple[float, float]
    build: float


def measure_export() -> Report:
    """Export, compile without a warning, check and time."""
    compiler = shutil.which("gcc") or shutil.which("clang")
    if compiler is None:
        return Report((), ("exported C: no gcc or clang here, nothing was timed",))
    motion = _timed(compiler, kb.scenario("dual-mobile-arm"), "motion", None)
    bars: list[Bar] = [*_bars("dual-mobile-arm, motion in C", motion, 10e-6)]
    remarks = [_remark("dual-mobile-arm, motion", motion)]
    for name, allocation in SERVOS.items():
        timed = _timed(compiler, kb.scenario("pus-upu"), "servo", allocation)
        bars += _bars(f"pus-upu, controller in C, {name}", timed, SAMPLE / 10)
        remarks.append(_remark(f"pus-upu, controller, {name}", timed))
    return Report(tuple(bars), tuple(remarks))


def _bars(what: str, timed: Timed, bar: float) -> tuple[Bar, ...]:
    """The tail counts the processor's time: on the wall it is that of whoever else is there."""
    return (
        AtMost(f"{what}: worst error", timed.error, 1e-12, ""),
        AtMost(f"{what}: median", timed.wall[0], bar, "s"),
        AtMost(f"{what}: one in a thousand, of the processor", timed.processor[1], 3 * bar, "s"),
    )


def _remark(what: str, timed: Timed) -> str:
    wall, processor = (f"{seconds(a)} and {seconds(b)}" for a, b in (timed.wall, timed.processor))
    return f"exported C, {what}: median and p99.9 {wall}; of the processor {processor}; compiled in {timed.build:.1f} s"


def _timed(compiler: str, scenario: kb.Scenario, function: str, allocation: kb.LeastSquares | None) -> Timed:
    with TemporaryDirectory() as home:
        place = Path(home) / "ctl.c"
        kb.export_c(scenario, place, function, allocation)
        program, began = place.with_suffix(""), time.perf_counter()
        sources = (str(place), str(place.with_name("ctl_test.c")))
        subprocess.run([compiler, *FLAGS, *sources, "-lm", "-o", str(program)], check=True)
        build = time.perf_counter() - began
        texts = [subprocess.run([program], capture_output=True, text=True, check=False).stdout for _ in range(ROUNDS)]
    printed = [[tuple(1e-6 * float(n) for n in pair) for pair in TIMES.findall(text)] for text in texts]
    wall, processor = (tuple(min(times[k][i] for times in printed) for i in (0, 1)) for k in (0, 1))
    return Timed(float(ERROR.findall(texts[0])[0]), wall, processor, build)
