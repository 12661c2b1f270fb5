"""Tell which slips made at random are noticed, and by which test.

`python tests/mutations/notice.py map FOLDER` runs the tests of the rooms of `draw.py` once with coverage and keeps in
FOLDER which test passes through which line, once as usual and once with compiled functions as Python. `python
tests/mutations/notice.py map FOLDER FILE ...` does so for files of tests that are new or have changed. `python
tests/mutations/notice.py try FOLDER SEED COUNT [NUMBER ...]` makes the slips of a draw, all or those with these
numbers, one at a time in a copy of the project under FOLDER, and runs the tests that pass through the changed lines,
those of the same room and short ones first. `screen` in the place of `try` leaves it at the first of these.

What a test passes through for the first time is kept for the tests after it (a machine is built once per file), so the
files of the room with such a test are run whole before a slip is said to have passed.
"""

from __future__ import annotations

import ast
import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from coverage import CoverageData
from draw import PACKAGE, ROOMS, Random, drawn

PROJECT = PACKAGE.parents[1]
FOLDERS = (*(f"tests/unit/{room}" for room in ROOMS), "tests/laws", "tests/agreement", "tests/reference")
PLAIN_FOLDERS = tuple(f"tests/unit/{room}" for room in ("compiled", "steppers", "run", "constrain", "plant"))
RUNS = ("tests/unit/compiled", "tests/unit/steppers", "tests/unit/run", "tests/unit/plant/test_step.py",
        "tests/laws/test_runs.py", "tests/laws/test_structural_steppers.py", "tests/laws/test_rank.py",
        "tests/agreement/test_plain_loop.py")  # fmt: skip  # as they are, where compiled lines are wrong
LONGEST_PLAIN = 20  # s, of one test with compiled functions as Python
LONGEST = 60.0  # s, of the tests chosen for one slip, as they took when the map was made
NO_TESTS = 5  # the code of a run of pytest that found none
DECORATORS = {"compiled", "compiled_entry"}
COMPILED_TOO = {"constrain/rows.py", "steppers/step_length.py"}  # as Python and compiled: without decorators


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Iterator[None]:
    """Stop a test that would take minutes as Python; this file is a plugin of the runs that it starts."""
    if not os.environ.get("KALABA_PLAIN_LOOPS"):
        return (yield)
    with_slip = "KALABA_SLIP" in os.environ  # then it did not take long before
    signal.signal(signal.SIGALRM, lambda *_: pytest.fail("endless") if with_slip else pytest.skip("long as Python"))
    signal.alarm(5 * LONGEST_PLAIN if with_slip else LONGEST_PLAIN)
    try:
        return (yield)
    finally:
        signal.alarm(0)


class Folder:
    """Where a copy of the project, its compiled code and what is known of the tests are kept."""

    def __init__(self, path: Path, *, is_quick: bool = False) -> None:
        self.path, self.is_quick = path.resolve(), is_quick
        self.tree = self.path / "tree"
        (self.path / "kernels").mkdir(mode=0o700, parents=True, exist_ok=True)

    def copy(self) -> None:
        """Bring the copy up to date; times stay, so that what was compiled stays known."""
        shutil.rmtree(self.tree, ignore_errors=True)
        skipped = shutil.ignore_patterns(".git", ".venv", "__pycache__", "build", ".*_cache")
        shutil.copytree(PROJECT, self.tree, ignore=skipped)

    def pytest(self, *words: str, jit: bool, slip: bool = False) -> tuple[int, str]:
        """Run pytest in the copy; give its code and what it printed. A run that takes too long has code 1."""
        places = (self.tree / "src", self.tree / "tests" / "mutations", self.tree / "tests")
        private = {
            "PYTHONPATH": os.pathsep.join(map(str, places)),
            "KALABA_CACHE_DIR": str(self.path / "kernels"),
            "KALABA_PLAIN_LOOPS": "" if jit else "1",
            "COVERAGE_FILE": str(self.coverage(jit=jit)),
            "OPENBLAS_NUM_THREADS": "1",
        }
        private |= {"KALABA_SLIP": "1"} if slip else {}
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=line", "-p", "no:cacheprovider"]
        with subprocess.Popen(
            [*command, "-p", "notice", *words], cwd=self.tree, env=os.environ | private, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            try:
                said, _ = process.communicate(timeout=20 * LONGEST if slip else None)
            except subprocess.TimeoutExpired:
                process.kill()
                return 1, "FAILED (endless)"
        return process.returncode, said

    def coverage(self, *, jit: bool) -> Path:
        return self.path / ("lines" if jit else "lines-plain")

    def make_map(self, tests: list[str]) -> None:
        """Run tests with coverage, as usual and with compiled functions as Python."""
        self.copy()
        for jit, folders in ((True, tests or FOLDERS), (False, tests or PLAIN_FOLDERS)):
            times = self.path / f"times-{'jit' if jit else 'plain'}-{len(list(self.path.glob('times-*')))}.xml"
            words = ["--cov=kalaba", "--cov-context=test", "--cov-report=", "--cov-fail-under=0", f"--junitxml={times}"]
            more = ["--cov-append"] if tests else ["-n", "2"]
            _, said = self.pytest(*words, *more, *folders, jit=jit)
            print(said[-400:])  # noqa: T201

    def times(self, *, jit: bool) -> dict[str, float]:
        """How long each test took that passed, in seconds."""
        cases = [
            case
            for path in sorted(self.path.glob(f"times-{'jit' if jit else 'plain'}-*.xml"), key=os.path.getmtime)
            for case in ET.parse(path).iter("testcase")
            if not len(case) or case.find("properties") is not None
        ]
        return {f"{c.get('classname').replace('.', '/')}.py::{c.get('name')}": float(c.get("time")) for c in cases}

    def through(self, file: str, lines: range, *, jit: bool) -> set[str]:
        """The tests that pass through lines of a file of the package."""
        if not self.coverage(jit=jit).exists():
            return set()
        data = CoverageData(str(self.coverage(jit=jit)))
        data.read()
        known = [path for path in data.measured_files() if path.endswith(f"/src/kalaba/{file}")]
        by_line = [data.contexts_by_lineno(path) for path in known]
        contexts = [context for table in by_line for line in lines for context in table.get(line, ())]
        return {context.partition("|")[0] for context in contexts} - {""}

    def try_slip(self, slip: Random) -> str:
        """Make a slip, run the tests that may notice it, undo it, and say what happened."""
        path = self.tree / "src" / "kalaba" / slip.file
        text = path.read_bytes()
        statement, is_compiled = place_of(slip, text.decode())
        path.write_bytes(text[: slip.start] + slip.after.encode() + text[slip.stop :])
        try:
            for jit, tests in self.rounds(slip, statement, is_compiled=is_compiled):
                (self.path / "chosen").write_text("\n".join(tests), encoding="utf-8")
                code, said = self.pytest("-x", f"@{self.path / 'chosen'}", jit=jit, slip=True)
                if code not in (0, NO_TESTS):
                    first = re.search(r"^(?:FAILED|ERROR) (.*)$", said, flags=re.MULTILINE)
                    return f"noticed by {first.group(1) if first else f'a process that ended with {code}'}"
        finally:
            path.write_bytes(text)
        return "PASSED"

    def rounds(self, slip: Random, statement: range, *, is_compiled: bool) -> Iterator[tuple[bool, list[str]]]:
        """Give the tests to run, one list after the other, until one of them fails."""
        room = f"tests/unit/{slip.file.partition('/')[0]}/"
        modes = (False, True) if is_compiled else (True,)
        for jit in modes:
            passing = self.through(slip.file, statement, jit=jit)
            times = self.times(jit=jit) or {test: 0.5 if "/unit/" in test else 8.0 for test in passing}
            passing &= set(times)
            chosen, total = [], 0.0
            for test in sorted(passing, key=lambda test: (not test.startswith(room), times[test])):
                total += times[test]
                if total < LONGEST or not chosen:
                    chosen.append(test)
            if chosen:
                yield jit, chosen
            if self.is_quick:
                break
            if not jit:  # whole files take long as Python
                continue
            files = {test.partition("::")[0] for test in passing}
            again = sorted(file for file in files if file.startswith(room)) or ([] if is_compiled else [room])
            if again:
                yield jit, again
        if is_compiled and not self.is_quick:
            yield True, [test for test in RUNS if (self.tree / test).exists()]


def place_of(slip: Random, text: str) -> tuple[range, bool]:
    """Give the lines of the statement that a slip is in, up to the slip's end, and if it is in a compiled function."""
    tree = ast.parse(text)
    last = text.encode()[: slip.stop].count(b"\n") + 1
    holding = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= slip.line <= last <= node.end_lineno
    ]
    decorators = {
        name.id
        for node in holding
        if isinstance(node, ast.FunctionDef)
        for decorator in node.decorator_list
        for name in ast.walk(decorator)
        if isinstance(name, ast.Name)
    }
    is_compiled = bool(decorators & DECORATORS) or slip.file in COMPILED_TOO
    return range(max(node.lineno for node in holding), last + 1), is_compiled


def main() -> None:
    task, folder, *words = sys.argv[1:]
    place = Folder(Path(folder), is_quick=task == "screen")
    if task == "map":
        place.make_map(words)
        return
    seed, count, *numbers = map(int, words)
    place.copy()
    for number, slip in enumerate(drawn(seed, count), start=1):
        if not numbers or number in numbers:
            print(f"{number:3d}  {slip}\n       {place.try_slip(slip)}", flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
