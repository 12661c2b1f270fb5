"""Every slip of slips.toml is noticed by the tests that are named with it, which pass without it."""

from __future__ import annotations

import subprocess
from functools import cache
from pathlib import Path

import pytest

from mutations.slips import PROJECT, copy_package, made, read_slips, run_tests

SLIPS = read_slips()
pytestmark = pytest.mark.long


@pytest.fixture(scope="session")
def sources(tmp_path_factory) -> Path:
    """A copy of the package, in which slips are made and undone."""
    return copy_package(tmp_path_factory.mktemp("slips"))


@cache
def passes(tests: tuple[str, ...], sources: Path, *, jit: bool) -> str:
    """What tests say without a slip; "" if they pass."""
    done = run_tests(tests, sources, jit=jit)
    return "" if done.returncode == 0 else done.stdout


@pytest.mark.parametrize("slip", SLIPS, ids=lambda slip: slip.name)
def test_a_slip_is_noticed(slip, sources):
    for test in slip.tests:
        assert (PROJECT / test.partition("::")[0]).exists(), f"{slip.name}: there is no {test}"
    with made(slip, sources):
        pass  # its line is there: said before anything takes long
    assert passes(slip.tests, sources, jit=slip.jit) == ""
    with made(slip, sources):
        try:
            done = run_tests(slip.tests, sources, jit=slip.jit)
        except subprocess.TimeoutExpired:
            return  # an endless loop was noticed too
    assert done.returncode == 1, f"{slip.name}: noticed by none of {', '.join(slip.tests)}\n{done.stdout}"


def test_no_slip_is_listed_twice():
    assert len({(slip.file, slip.before, slip.after) for slip in SLIPS}) == len(SLIPS)
