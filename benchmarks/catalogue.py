"""Every machine of the catalogue before and after elimination of order n: operations, and the time to build it."""

from __future__ import annotations

import io
import json
import subprocess
import tarfile
from pathlib import Path
from tempfile import TemporaryDirectory

import kalaba as kb
from benchmarks.bars import AtMost, Report
from benchmarks.cooperation import operations
from benchmarks.starting import ROOT, cold

BEFORE = json.loads(Path(__file__).with_name("catalogue_before.json").read_text(encoding="utf-8"))
MORE = 1.03  # times what it was before
OF_ARMS = 0.8  # the same of machines with arms of six joints or more
ARMS = ("two-arm-carry", "two-arm-scissors", "two-arm-peg", "two-arm-keyed-peg", "two-arm-screw", "three-arm-screw")
LONG_ARMS = frozenset({*ARMS, "n-arm-carry", "puma560"})
ROUNDS = 3


def measure_operations() -> Report:
    """Count the operations of every motion kernel, which no load changes."""
    bars = []
    for name, before in BEFORE["operations"].items():
        after = operations(kb.build(kb.load(name)))
        limit = OF_ARMS if name in LONG_ARMS else MORE
        bars.append(AtMost(f"{name}: operations, {before} before, {after} after: times", after / before, limit, ""))
    return Report(tuple(bars))


def measure_building() -> Report:
    """Build every machine from nothing to its first motion with the sources of then and of now, in turns."""
    bars = []
    with TemporaryDirectory() as folder:
        sources = _sources_before(Path(folder))
        for name in BEFORE["operations"]:
            what, ratio = f"{name}: build to the first motion, processor time", float("nan")
            if sources is not None:
                before, after = _best(f"catalogue_{name}", sources)
                what, ratio = f"{what}, {before:.2f} s before, {after:.2f} s after", after / before
            bars.append(AtMost(f"{what}: times", ratio, MORE, ""))
    remarks = () if sources is not None else (f"NOT MEASURED: no sources of {BEFORE['commit']} to build with",)
    return Report(tuple(bars), remarks)


def _best(probe: str, sources: Path) -> tuple[float, float]:
    """The best times with the sources of then and of now."""
    rounds = [(cold(probe, sources=sources)["ready"], cold(probe)["ready"]) for _ in range(ROUNDS)]
    then, now = zip(*rounds, strict=True)
    return min(then), min(now)


def _sources_before(folder: Path) -> Path | None:
    """The sources of the commit before, out of the history; None where there is none."""
    command = ["git", "archive", "--format=tar", BEFORE["commit"], "src"]
    done = subprocess.run(command, cwd=ROOT, check=False, capture_output=True)
    if done.returncode:
        return None
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"
