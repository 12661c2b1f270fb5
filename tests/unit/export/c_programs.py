"""Exported C code compiled and called: as its own test program, and through ctypes."""

import ctypes
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

COMPILER = shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no gcc or clang here to compile exported C with")
STRICT = ("-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic")


def compiled(source: Path) -> Path:
    """The object file of a source, position-independent, built once with every warning an error."""
    target = source.with_suffix(".o")
    if target.exists():
        return target
    run(COMPILER, *STRICT, "-fPIC", "-c", str(source), "-o", str(target))
    return target


def trial(source: Path) -> subprocess.CompletedProcess:
    """Build the export with its test program, and run that."""
    test = source.with_name(f"{source.stem}_test.c")
    program = source.with_name(f"{source.stem}_test")
    run(COMPILER, *STRICT, str(test), str(compiled(source)), "-lm", "-o", str(program))
    return subprocess.run([str(program)], capture_output=True, text=True, check=False)


def run(*command: str) -> str:
    """Run a command that must succeed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


@dataclass(frozen=True)
class Library:
    """A compiled export in memory; arguments are floats and float arrays, passed by address."""

    code: ctypes.CDLL

    @classmethod
    def of(cls, source: Path) -> "Library":
        """Link an export's object as a shared library and load it."""
        target = source.with_suffix(".so")
        run(COMPILER, "-shared", str(compiled(source)), "-lm", "-o", str(target))
        return cls(ctypes.CDLL(str(target)))

    def call(self, name: str, *arguments: object, result: type | None = None) -> object:
        function = getattr(self.code, name)
        function.restype = result
        return function(*(_passed(argument) for argument in arguments))

    def numbers(self, name: str, size: int) -> np.ndarray:
        """A constant array of the export."""
        return np.array((ctypes.c_double * size).in_dll(self.code, name))


def _passed(argument: object) -> object:
    if isinstance(argument, np.ndarray):
        assert argument.dtype == np.float64
        assert argument.flags.c_contiguous
        return argument.ctypes.data_as(ctypes.c_void_p)
    return ctypes.c_double(argument)
