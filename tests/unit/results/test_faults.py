"""What happens to files when disks are full, processes are killed and bytes change."""

import os
import random
import signal
import stat
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.results import places, saving, seal

SOURCE = str(Path(kb.__file__).parents[1])
SUFFIXES = (".nc", ".csv", ".parquet")
ONLY_POSIX = pytest.mark.skipif(os.name != "posix", reason="limits, signals and links of POSIX")
PENDULUM = """
import kalaba as kb
run = kb.simulate(kb.System("p", (kb.Body("rod", kb.Rod(0.3, mass=1.0), joint=kb.Revolute(kb.Y)),)), {duration})
"""


@pytest.fixture(scope="module")
def run() -> kb.Run:
    return kb.simulate(kb.System("p", (kb.Body("rod", kb.Rod(0.3, mass=1.0), joint=kb.Revolute(kb.Y)),)), 0.2)


def same(one: kb.Run, other: kb.Run) -> bool:
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True)
        for name in ("time", "q", "v", "acceleration", "constraint_force", "actuation", "work", "inputs")
    )


def script(text: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-c", text],
        check=False,
        env={**os.environ, "PYTHONPATH": SOURCE},
        capture_output=True,
        text=True,
        timeout=300,
    )


@ONLY_POSIX
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_full_disk_is_an_error_that_leaves_the_old_file_and_the_process(tmp_path, suffix):
    """A limit on the size of files stands for a full disk; HDF5 used to end the process some time later."""
    place = tmp_path / f"run{suffix}"
    place.write_text("before")
    done = script(
        PENDULUM.format(duration=20.0)
        + f"""
import gc, resource, signal
run.data
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20000, resource.RLIM_INFINITY))
try:
    run.save({str(place)!r})
except kb.KalabaError as error:
    print("refused:", error)
gc.collect()
print("alive")
"""
    )
    assert done.returncode == 0, done.stderr
    refused, alive = done.stdout.splitlines()
    assert refused.startswith(f"refused: {place}: cannot be written")
    assert alive == "alive"
    assert [entry.name for entry in tmp_path.iterdir()] == [place.name]
    assert place.read_text() == "before"


@ONLY_POSIX
def test_a_process_that_is_killed_leaves_an_old_or_a_new_file_and_the_next_one_tidies_up(tmp_path, run):
    place = tmp_path / "run.nc"
    run.save(place)
    text = PENDULUM.format(duration=0.2) + f"print('ready', flush=True)\nwhile True: run.save({str(place)!r})"
    rng = random.Random(1)
    for _ in range(3):
        child = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-c", text],
            env={**os.environ, "PYTHONPATH": SOURCE},
            stdout=subprocess.PIPE,
            text=True,
        )
        with child:
            assert child.stdout is not None
            assert child.stdout.readline() == "ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(rng.uniform(0.05, 0.3))
            child.send_signal(signal.SIGKILL)
        assert same(kb.open_run(place), run)
    left = tmp_path / f".run.{places.host_mark()}-{child.pid}.abc.nc"
    left.write_text("half")
    run.save(place)
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.nc"]


@ONLY_POSIX
def test_mode_and_link_of_a_file_that_is_replaced_are_kept(tmp_path, run):
    real = tmp_path / "real" / "run.nc"
    real.parent.mkdir()
    run.save(real)
    real.chmod(0o640)
    link = tmp_path / "run.nc"
    link.symlink_to(real)
    run.save(link)
    assert link.is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    assert [entry.name for entry in real.parent.iterdir()] == ["run.nc"]


def damaged(whole: bytes, seed: int) -> bytes:
    rng = random.Random(seed)
    content, at = bytearray(whole), rng.randrange(len(whole))
    kind = seed % 7
    if kind < 2:
        content[at] ^= 1 << rng.randrange(8)
    elif kind == 2:
        for _ in range(8):
            content[rng.randrange(len(content))] = rng.randrange(256)
    elif kind == 3:
        del content[at:]
    elif kind == 4:
        content[at : at + 512] = bytes(len(content[at : at + 512]))
    elif kind == 5:
        content[at:at] = content[max(0, at - 256) : at]
    else:
        content += rng.randbytes(100)
    return bytes(content)


def opened_otherwise(folder: Path, run: kb.Run, suffix: str, seeds: range) -> list[int]:
    """Damages that neither are refused nor leave the run as it was."""
    place, bad = folder / f"run{suffix}", folder / f"bad{suffix}"
    run.save(place)
    whole, wrong = place.read_bytes(), []
    for seed in seeds:
        bad.write_bytes(damaged(whole, seed))
        try:
            is_right = same(kb.open_run(bad), run)
        except FileError as error:
            is_right = str(error).startswith(str(bad)) and "\n" not in str(error)
        if not is_right:
            wrong.append(seed)
    return wrong


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_damaged_file_opens_as_it_was_or_is_refused(tmp_path, run, suffix):
    assert opened_otherwise(tmp_path, run, suffix, range(70)) == []


@pytest.mark.long
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_thousand_damaged_files_open_as_they_were_or_are_refused(tmp_path, run, suffix):
    first = 1000 * int(os.environ.get("FUZZ_SEED", "1"))
    assert opened_otherwise(tmp_path, run, suffix, range(first, first + 1000)) == []


def test_a_file_without_its_seal_is_refused_and_one_of_a_format_that_had_none_opens(tmp_path, run):
    path = tmp_path / "run.nc"
    run.data.to_netcdf(path, engine="h5netcdf")
    with pytest.raises(FileError, match="the seal of the file is gone"):
        kb.open_run(path)
    run.data.assign_attrs(kalaba_format=1).to_netcdf(path, engine="h5netcdf")
    assert same(kb.open_run(path), run)


def broken_up(path: Path, change) -> None:
    with h5py.File(path, "r+") as file:
        change(file)
    seal.write_sealed(path, path.read_bytes(), seal.OPEN, place=1)


def replace_q(file: h5py.File, **how) -> None:
    del file["q"]
    file.create_dataset("q", **how)


HOSTILE = {
    "link": lambda file: file.__setitem__("secret", h5py.ExternalLink("/etc/hostname", "/")),
    "outside": lambda file: replace_q(file, shape=(10,), dtype="f8", external=[("/etc/hostname", 0, 80)]),
    "enormous": lambda file: replace_q(file, shape=(1 << 40,), dtype="f8", chunks=(1 << 16,)),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_a_file_that_leads_elsewhere_or_claims_to_be_enormous_is_refused(tmp_path, run, kind):
    path = tmp_path / "run.nc"
    run.data.to_netcdf(path, engine="h5netcdf")
    broken_up(path, HOSTILE[kind])
    with pytest.raises(FileError, match=r"which no run of kalaba does|more than the file has room for"):
        kb.open_run(path)


def test_arrays_that_are_not_the_machines_are_refused(tmp_path, run):
    data = run.data.isel(coordinate=slice(0, 0))
    saving.write_netcdf(data, tmp_path / "run.nc")
    with pytest.raises(FileError, match="q has the shape"):
        kb.open_run(tmp_path / "run.nc")
