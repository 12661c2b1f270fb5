"""A command on a warm cache loads what it uses and nothing else: starting is most of what a person waits for."""

import subprocess
import sys

import pytest

HEAVY = {"casadi", "dask", "jinja2", "llvmlite", "matplotlib", "numpy", "pandas", "scipy", "viser", "xarray"}
CODE = f"""
import atexit, sys
atexit.register(lambda: print(*sorted({sorted(HEAVY)!r} & sys.modules.keys()), file=sys.stderr))
from kalaba.cli import main
main()
""".replace("['", "{'").replace("']", "'}")


def loaded(words: str, folder) -> set[str]:
    """What the second of two processes has loaded when it ends."""
    for _ in range(2):
        command = [sys.executable, "-c", CODE, *words.split()]
        ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return set(ran.stderr.split())


@pytest.mark.parametrize("words", ["--help", "list", "list --json", "papers"])
def test_what_only_lists_loads_no_arrays(tmp_path, words):
    assert loaded(words, tmp_path) == set()


@pytest.mark.parametrize("words", ["show four-bar", "check four-bar", "run four-bar --duration 0.1 -o run.nc"])
def test_a_machine_at_work_loads_its_arrays_and_kernels_only(tmp_path, words):
    assert loaded(words, tmp_path) <= {"numpy", "casadi", "llvmlite"}
