"""Whatever stands in the folder of compiled code, kernels give the same numbers."""
# ruff: noqa: T201  (counts are printed)

import os
import random
import shutil
from collections import Counter
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from fuzz.outcomes import deadline
from kalaba import native
from kalaba.native import build

EXPECTED = np.exp(1) * np.sin(2) + np.cos(1)
POSIX = os.name == "posix"


def traced() -> ca.Function:
    x, p = ca.SX.sym("x", 2), ca.SX.sym("p")
    return ca.Function("small", [x, p], [ca.exp(x[0]) * ca.sin(p) + ca.cos(x[1])], ["x", "p"], ["y"])


def value() -> float:
    kernel = native.kernel("k", "key", traced)
    return float(kernel(np.ones((2, kernel.lanes)), kernel.store([2.0]))[0, -1])


def bits(file: Path, rng: random.Random) -> None:
    content = bytearray(file.read_bytes())
    for _ in range(rng.choice((1, 1, 8))):
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
    file.write_bytes(content)


def shorter(file: Path, rng: random.Random) -> None:
    file.write_bytes(file.read_bytes()[: rng.randrange(file.stat().st_size)])


def longer(file: Path, rng: random.Random) -> None:
    file.write_bytes(file.read_bytes() + rng.randbytes(rng.randint(1, 99)))


def noise(file: Path, rng: random.Random) -> None:
    file.write_bytes(rng.randbytes(rng.choice((0, 1, 100, 5000))))


def folder(file: Path, rng: random.Random) -> None:
    file.unlink()
    file.mkdir()


def link(file: Path, rng: random.Random) -> None:
    file.unlink()
    file.symlink_to(rng.choice((file, Path("/nowhere"), Path("/dev/null"))))


def strangers(file: Path, rng: random.Random) -> None:
    for name in ("new-x.kernel", "a.loop", "b.kernel", ".hidden", "é"):
        (file.parent / name).write_bytes(rng.randbytes(10))


def unreadable(file: Path, rng: random.Random) -> None:
    file.chmod(0o000)


def open_to_all(file: Path, rng: random.Random) -> None:
    file.parent.chmod(0o777)


def gone(file: Path, rng: random.Random) -> None:
    shutil.rmtree(file.parent)


def no_folder(file: Path, rng: random.Random) -> None:
    shutil.rmtree(file.parent)
    file.parent.write_bytes(b"a file")


def older(file: Path, rng: random.Random) -> None:
    os.utime(file, (0, rng.choice((0, 2**40))))


STATES = (bits, bits, bits, shorter, longer, noise, strangers, gone, no_folder, older, folder) + (
    (link, unreadable, open_to_all) if POSIX else ()
)


def fuzzed(count: int, seed: int, home: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Counter[str], list[str]]:
    """Values from a cache in random states: how many, and those that are wrong."""
    rng, counts, wrong = random.Random(seed), Counter(), []
    for index in range(count):
        place = home / str(index)
        monkeypatch.setenv("KALABA_CACHE_DIR", str(place))
        monkeypatch.setattr(build, "_kernels", {})
        value()
        (file,) = place.glob("*.kernel")
        state = rng.choice(STATES)
        state(file, rng)
        monkeypatch.setattr(build, "_kernels", {})
        with deadline():
            found = value()
        counts[state.__name__] += 1
        if found != pytest.approx(EXPECTED, rel=1e-15):
            wrong.append(f"{state.__name__}: {found}")
    return counts, wrong


def test_no_state_of_the_cache_changes_a_number(tmp_path, seed, monkeypatch):
    counts, wrong = fuzzed(30, seed, tmp_path, monkeypatch)
    assert wrong == []
    assert counts.total() == 30


@pytest.mark.long
def test_five_hundred_states_of_the_cache(tmp_path, seed, monkeypatch, capsys):
    counts, wrong = fuzzed(500, seed, tmp_path, monkeypatch)
    with capsys.disabled():
        print(f"\ncache states, seed {seed}: {counts.total()} tried, {len(wrong)} wrong numbers: {dict(counts)}")
    assert wrong == []
