"""Kernels are built once, kept in a private place, and never trusted when damaged."""

import os
import subprocess
import sys
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

from kalaba import native
from kalaba.errors import NativeError
from kalaba.native import build, cache, machine_code

SOURCE = Path(native.__file__).parents[2]
ONLY_POSIX = pytest.mark.skipif(os.name != "posix", reason="Windows keeps a user's folders private by itself")


class Tracer:
    """Makes a small function and counts how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self) -> ca.Function:
        self.calls += 1
        x, p = ca.SX.sym("x", 2), ca.SX.sym("p")
        return ca.Function("small", [x, p], [ca.exp(x[0]) * ca.sin(p) + ca.cos(x[1])], ["x", "p"], ["y"])


def value(kernel: native.Kernel) -> float:
    return float(kernel(np.ones((2, kernel.lanes)), kernel.store([2.0]))[0, -1])


EXPECTED = np.exp(1) * np.sin(2) + np.cos(1)


@pytest.fixture
def forget(monkeypatch):
    """Forget the kernels in memory, as a new process would."""
    return lambda: monkeypatch.setattr(build, "_kernels", {})


def test_a_kernel_in_memory_is_given_again():
    tracer = Tracer()
    assert native.kernel("k", "key", tracer) is native.kernel("k", "key", tracer)
    assert tracer.calls == 1


@pytest.mark.parametrize("lanes", [1, 8])
def test_a_kernel_on_disk_is_loaded_without_tracing(forget, lanes):
    tracer = Tracer()
    built = native.kernel("k", "key", tracer, lanes)
    forget()
    loaded = native.kernel("k", "key", tracer, lanes)
    assert tracer.calls == 1
    assert loaded.address != built.address
    assert loaded.inputs == built.inputs
    assert value(loaded) == value(built) == pytest.approx(EXPECTED, rel=1e-15)


@pytest.mark.parametrize("other", [("k2", "key", 1), ("k", "key2", 1), ("k", "key", 4)])
def test_another_name_key_or_number_of_lanes_is_another_kernel(other):
    tracer = Tracer()
    name, key, lanes = other
    first, second = native.kernel("k", "key", tracer), native.kernel(name, key, tracer, lanes)
    assert tracer.calls == 2
    assert value(first) == value(second)


@pytest.mark.parametrize("where", [0, 20, 60, 200, -1])
def test_a_damaged_file_is_built_again(cache_directory, forget, where):
    tracer = Tracer()
    native.kernel("k", "key", tracer)
    (file,) = cache_directory.iterdir()
    content = bytearray(file.read_bytes())
    content[where] ^= 0xFF
    file.write_bytes(content)
    forget()
    assert value(native.kernel("k", "key", tracer)) == pytest.approx(EXPECTED, rel=1e-15)
    forget()
    native.kernel("k", "key", tracer)
    assert tracer.calls == 2


@pytest.mark.parametrize("length", [0, 10, 50, 500])
def test_a_truncated_file_is_built_again(cache_directory, forget, length):
    tracer = Tracer()
    native.kernel("k", "key", tracer)
    (file,) = cache_directory.iterdir()
    file.write_bytes(file.read_bytes()[:length])
    forget()
    assert value(native.kernel("k", "key", tracer)) == pytest.approx(EXPECTED, rel=1e-15)
    assert tracer.calls == 2


def test_a_kernel_under_the_name_of_another_is_built_again(cache_directory, forget):
    """The two have the same inputs and outputs: nothing but the name tells them apart."""
    other = ca.SX.sym("x", 2), ca.SX.sym("p")
    native.kernel("k", "one", Tracer())
    (one,) = cache_directory.iterdir()
    native.kernel("k", "two", lambda: ca.Function("small", [*other], [other[0][0]], ["x", "p"], ["y"]))
    (two,) = set(cache_directory.iterdir()) - {one}
    one.write_bytes(two.read_bytes())
    forget()
    assert value(native.kernel("k", "one", Tracer())) == pytest.approx(EXPECTED, rel=1e-15)


@pytest.fixture
def compilations(monkeypatch):
    """What the compiler of loops was asked."""
    asked, compile_loop = [], machine_code.compile_loop
    monkeypatch.setattr(machine_code, "compile_loop", lambda text: asked.append(text) or compile_loop(text))
    return asked


def double(out: machine_code.Floats) -> None:
    out[0] = 2.0 * out[0]


def doubled(x: float) -> float:
    """Two times x by a loop that has no code in this process yet."""
    out = np.array([x])
    machine_code.compiled_entry(double)(out)
    return float(out[0])


@pytest.mark.parametrize("damage", ["none", "flip", "cut", "empty", "swapped"])
def test_a_loop_is_kept_beside_the_kernels_and_never_trusted_when_damaged(cache_directory, compilations, damage):
    assert doubled(4.0) == 8.0
    (file,) = cache_directory.iterdir()
    content = file.read_bytes()
    half = bytearray(content)
    half[len(half) // 2] ^= 1
    other = content.replace(b"kalaba_loop", b"kalaba_pool")
    file.write_bytes(
        {"none": content, "flip": bytes(half), "cut": content[:500], "empty": b"", "swapped": other}[damage]
    )
    assert doubled(4.0) == 8.0
    assert len(compilations) == (1 if damage == "none" else 2)
    assert file.read_bytes() == content


@pytest.mark.parametrize(
    "make", [lambda: doubled, lambda: lambda x: value(native.kernel("k", "key", Tracer())) * 0 + 2 * x]
)
def test_without_a_home_directory_nothing_is_kept_and_all_works(monkeypatch, make):
    def no_home() -> Path:
        raise RuntimeError("Could not determine home directory.")

    monkeypatch.delenv("KALABA_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(Path, "home", no_home)
    assert make()(4.0) == 8.0


@ONLY_POSIX
def test_the_directory_is_private_to_the_user(cache_directory):
    native.kernel("k", "key", Tracer())
    assert cache_directory.stat().st_mode & 0o777 == 0o700


@ONLY_POSIX
@pytest.mark.parametrize("mode", [0o777, 0o770, 0o707, 0o720, 0o702])
def test_a_directory_that_others_can_write_to_is_not_used(cache_directory, forget, mode):
    tracer = Tracer()
    cache_directory.mkdir()
    cache_directory.chmod(mode)
    native.kernel("k", "key", tracer)
    forget()
    native.kernel("k", "key", tracer)
    assert tracer.calls == 2
    assert list(cache_directory.iterdir()) == []


@ONLY_POSIX
@pytest.mark.parametrize("mode", [0o700, 0o755])
def test_a_directory_that_others_can_only_read_is_used(cache_directory, forget, mode):
    tracer = Tracer()
    cache_directory.mkdir()
    cache_directory.chmod(mode)
    native.kernel("k", "key", tracer)
    forget()
    native.kernel("k", "key", tracer)
    assert tracer.calls == 1


def test_a_directory_that_cannot_be_made_costs_a_build_and_nothing_more(tmp_path, monkeypatch, forget):
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("KALABA_CACHE_DIR", str(tmp_path / "file" / "cache"))
    tracer = Tracer()
    assert value(native.kernel("k", "key", tracer)) == pytest.approx(EXPECTED, rel=1e-15)
    forget()
    native.kernel("k", "key", tracer)
    assert tracer.calls == 2


def test_a_write_that_fails_leaves_nothing_behind(cache_directory, monkeypatch):
    def refuse(self, target):
        raise OSError("disk full")

    monkeypatch.setattr(Path, "replace", refuse)
    assert value(native.kernel("k", "key", Tracer())) == pytest.approx(EXPECTED, rel=1e-15)
    assert list(cache_directory.iterdir()) == []


def test_the_files_used_longest_ago_go_first(cache_directory, monkeypatch, forget):
    for key in ("old", "new"):
        native.kernel("k", key, Tracer())
    size = max(file.stat().st_size for file in cache_directory.iterdir())
    monkeypatch.setattr(cache, "LARGEST_TOTAL", int(2.5 * size))
    for age, file in enumerate(sorted(cache_directory.iterdir())):
        os.utime(file, (1000 + age, 1000 + age))
    forget()
    native.kernel("k", "old", Tracer())
    native.kernel("k", "newest", Tracer())
    forget()
    tracer = Tracer()
    native.kernel("k", "old", tracer)
    native.kernel("k", "newest", tracer)
    assert tracer.calls == 0
    native.kernel("k", "new", tracer)
    assert tracer.calls == 1


def test_rooms_that_are_left_out_of_the_stamp_exist():
    assert {name for name in build.BESIDE if not (SOURCE / "kalaba" / name).is_dir()} == set()


SCRIPT = """
import casadi as ca
from kalaba import native
x, p = ca.SX.sym("x", 2), ca.SX.sym("p")
trace = lambda: ca.Function("small", [x, p], [ca.exp(x[0]) * ca.sin(p) + ca.cos(x[1])], ["x", "p"], ["y"])
for key in range(5):
    kernel = native.kernel("k", str(key), trace)
    assert abs(kernel([1.0, 1.0], kernel.store([2.0]))[0, 0] - {expected!r}) < 1e-14
"""


def test_two_processes_may_build_the_same_kernels_at_once(cache_directory):
    environment = {**os.environ, "PYTHONPATH": str(SOURCE)}
    command = [sys.executable, "-c", SCRIPT.format(expected=float(EXPECTED))]
    processes = [subprocess.Popen(command, env=environment) for _ in range(2)]
    assert [process.wait() for process in processes] == [0, 0]
    assert len(list(cache_directory.iterdir())) == 5


def test_a_trace_that_fails_is_not_remembered():
    def fail() -> ca.Function:
        raise NativeError("not today")

    with pytest.raises(NativeError, match="not today"):
        native.kernel("k", "key", fail)
    assert value(native.kernel("k", "key", Tracer())) == pytest.approx(EXPECTED, rel=1e-15)


@pytest.mark.parametrize(
    ("system", "variable", "value", "expected"),
    [
        ("linux", "XDG_CACHE_HOME", "/somewhere", Path("/somewhere/kalaba")),
        ("linux", "XDG_CACHE_HOME", "", Path.home() / ".cache" / "kalaba"),
        ("darwin", "XDG_CACHE_HOME", "", Path.home() / "Library" / "Caches" / "kalaba"),
        ("win32", "LOCALAPPDATA", "/local", Path("/local/kalaba")),
    ],
)
def test_without_a_choice_kernels_go_where_the_platform_keeps_caches(monkeypatch, system, variable, value, expected):
    monkeypatch.delenv("KALABA_CACHE_DIR")
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setenv(variable, value)
    assert cache.directory() == expected


def test_a_kernel_that_runs_seldom_is_another_with_the_same_results():
    tracer = Tracer()
    fast, seldom = native.kernel("k", "key", tracer), native.kernel("k", "key", tracer, seldom=True)
    assert seldom is not fast
    assert value(seldom) == value(fast)
