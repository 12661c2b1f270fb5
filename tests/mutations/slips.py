"""Slips: small mistakes as data, made one at a time in a copy of the package, and the tests that must notice them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]
PACKAGE = PROJECT / "src" / "kalaba"
LONGEST = 300.0  # s, of one run of tests: a slip may make a loop endless, and then it was noticed


@dataclass(frozen=True)
class Slip:
    """One wrong line of the package.

    `before` stands once in `file`, a path under src/kalaba; `after` is what is written instead. `tests` are given to
    pytest, files or single tests. Without `jit` compiled functions run as Python, which saves half a minute per slip
    in them and is enough for tests of few steps.
    """

    what: str
    file: str
    before: str
    after: str
    tests: tuple[str, ...]
    jit: bool = True

    @property
    def name(self) -> str:
        return f"{self.file}: {self.what}"


def read_slips(path: Path = HERE / "slips.toml") -> list[Slip]:
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["slip"]
    return [Slip(**(entry | {"tests": tuple(entry["tests"])})) for entry in entries]


def copy_package(target: Path) -> Path:
    """Copy the package to a folder, which is then a path to import it from.

    All slips are made in the same place, one after the other.
    """
    shutil.copytree(PACKAGE, target / "kalaba", ignore=shutil.ignore_patterns("__pycache__"))
    return target


@contextmanager
def made(slip: Slip, sources: Path) -> Iterator[None]:
    """Make a slip in a copy of the package, and undo it."""
    path = sources / "kalaba" / slip.file
    text, times = path.read_text(encoding="utf-8"), path.stat()
    count = text.count(slip.before)
    if count != 1:
        raise LookupError(
            f"{slip.name}: expected {slip.before!r} once in the file, found it {count} times. Rewrite this slip in "
            "tests/mutations/slips.toml for the lines that are there now."
        )
    path.write_text(text.replace(slip.before, slip.after), encoding="utf-8")
    try:
        yield
    finally:
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))  # compiled files know their sources by these


def run_tests(tests: tuple[str, ...], sources: Path, *, jit: bool) -> subprocess.CompletedProcess[str]:
    """Run tests against the package in `sources`, with caches of its own, up to the first that fails."""
    private = {
        "PYTHONPATH": str(sources),
        "KALABA_CACHE_DIR": str(sources / "kernels"),
        "KALABA_PLAIN_LOOPS": "" if jit else "1",
        "MPLBACKEND": "Agg",
    }
    command = [sys.executable, "-m", "pytest", "-x", "-q", "--no-header", "-p", "no:cacheprovider", "-p", "no:xdist"]
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    return subprocess.run(
        [*command, *tests],
        cwd=PROJECT,
        env=inherited | private,
        capture_output=True,
        text=True,
        timeout=LONGEST,
        check=False,
    )
