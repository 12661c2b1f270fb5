"""The same run gives the same bits: again, in threads, in other processes, with any cache, cut anywhere.

Lanes are in agreement/test_backends.py, unit/native/test_lanes.py and unit/compiled/test_loop.py; a fork beside a build
in unit/native/test_forking.py.
"""

import multiprocessing
import os
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import same_bits
from kalaba.run import native_loop
from same_bits import digests


@pytest.fixture(scope="module")
def expected():
    return digests()


def test_again(expected):
    assert digests() == expected
    assert len(set(expected)) == len(expected)  # they are different runs


def test_in_threads(expected):
    with ThreadPoolExecutor(4) as threads:
        assert {future.result() for future in [threads.submit(digests) for _ in range(4)]} == {expected}


@pytest.mark.parametrize("way", ["spawn", "fork"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_in_other_processes(expected, way):
    if way not in multiprocessing.get_all_start_methods():
        pytest.skip(f"no {way} here")
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(way)) as processes:
        assert {future.result() for future in [processes.submit(digests) for _ in range(2)]} == {expected}


def in_a_process(cache):
    """What a process with its own directory for compiled code gives."""
    environment = os.environ | {"KALABA_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, same_bits.__file__], env=environment, capture_output=True, text=True, check=True, timeout=600
    )
    return tuple(done.stdout.split())


def test_with_an_empty_cache_and_with_what_it_then_holds(expected, tmp_path):
    assert in_a_process(tmp_path / "cache") == expected
    assert list((tmp_path / "cache").iterdir())
    assert in_a_process(tmp_path / "cache") == expected


@pytest.mark.long
def test_without_a_cache(expected):
    assert in_a_process(Path(os.devnull) / "nowhere") == expected


@pytest.mark.parametrize("steps", [1, 7, 64])
def test_cut_after_any_number_of_steps(expected, steps, monkeypatch):
    monkeypatch.setattr(native_loop, "FIRST_STEPS", steps)
    monkeypatch.setattr(native_loop, "MOST_STEPS", steps)
    assert digests() == expected
