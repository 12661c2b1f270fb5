"""Numba's decorators with their types kept, arrays and kernels by their addresses, and records that hold them.

Compiled functions share one record, a C struct, instead of bundles of arrays: a bundle of sixty arrays costs Numba
forty seconds to compile and 30 ns per call. In the record an array is its address; `floats` and `integers` make it
something to index again. A kernel is `void kernel(double *inputs, double *outputs, double *store)`.
"""

import ctypes
import functools
import hashlib
import pickle
import struct
import sys
from collections.abc import Callable, Mapping
from inspect import get_annotations
from pathlib import Path
from typing import Any, TypeVar, cast

import llvmlite
import numba
import numpy as np
import numpy.typing as npt
from llvmlite import ir
from numba import config, njit, types
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.serialize import dumps
from numba.extending import intrinsic

from kalaba import tolerances
from kalaba.native import cache
from kalaba.native.forking import hold_while_forking

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])
hold_while_forking(global_compiler_lock)


def compiled(function: Function) -> Function:
    """Compile a function that only other compiled functions call; it must not allocate.

    Not cached: Numba's cache does not notice a change in a function that is called, so only entries are. Numba
    optimises a function again within every caller's caller, so keep the chain of calls three deep.
    """
    return cast("Function", njit(nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function))


def inlined(function: Function) -> Function:
    """Compile a function into its one caller, as if it were written there: it adds nothing to the chain of calls."""
    return cast("Function", njit(nogil=True, _nrt=False, inline="always")(function))


def compiled_entry(function: Function) -> Function:
    """Compile a function that Python calls, once per machine: the code is kept on disk beside the kernels.

    The function should be a closure over `source_stamp` of everything compiled into it: what a closure holds is part
    of the name that its code is kept under, while the sources of functions called in other files are not.
    """
    dispatcher = njit(nogil=True, _nrt=False)(function)
    dispatcher._cache = KeptLoop(function)  # noqa: SLF001  (Numba's own cache trusts its files: one bit ends the process)
    return cast("Function", dispatcher)


class KeptLoop(NullCache):  # type: ignore[misc]  # Numba has no types
    """What Numba asks for code compiled before, and hands code to: entries of `native/cache.py`, one per signature."""

    def __init__(self, function: Callable[..., Any]) -> None:
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        stamps = [str(content) for content in cells if isinstance(content, int)]
        source = Path(function.__code__.co_filename)
        self._name = (function.__module__, function.__qualname__, *stamps, str(source_stamp(source)))

    def load_overload(self, sig: object, target_context: Any) -> object:
        """The code of a signature; None: it is not there, or not whole."""
        content = cache.fetch(self._kept_as(sig, target_context.codegen()))
        if content is None:
            return None
        target_context.refresh()
        return CompileResult._rebuild(target_context, *pickle.loads(content))  # noqa: S301, SLF001  (see `cache`)

    def save_overload(self, sig: object, data: Any) -> None:
        """Keep the code of a signature."""
        cache.keep(self._kept_as(sig, data.target_context.codegen()), dumps(data._reduce()))  # noqa: SLF001

    def _kept_as(self, sig: object, codegen: Any) -> str:
        versions = (numba.__version__, llvmlite.__version__, sys.version)
        parts = (*self._name, str(sig), repr(codegen.magic_tuple()), *versions)
        return hashlib.sha256("\0".join(parts).encode()).hexdigest() + cache.LOOP


def source_stamp(*paths: Path) -> int:
    """Give a digest of Python sources, files or whole directories, for the closure of a cached entry.

    The tolerances, which any compiled function may read, are always among them: Numba compiles their values in.
    """
    files = [file for path in paths for file in (sorted(path.glob("*.py")) if path.is_dir() else [path])]
    digest = hashlib.sha256(b"".join(file.read_bytes() for file in (*files, Path(tolerances.__file__)))).digest()
    return int.from_bytes(digest[:7], "big")


def record_type(described: type) -> np.dtype[np.void]:
    """Give the record whose fields a class and its bases annotate, as `int` or `float`, bases first."""
    hints = [hint for base in reversed(described.__mro__) for hint in get_annotations(base).items()]
    fields = np.dtype([(name, {int: np.int64, float: np.float64}[kind]) for name, kind in hints])
    return np.dtype((np.record, fields))  # read by attribute in Python too


def record(kind: np.dtype[np.void], fields: Mapping[str, float]) -> npt.NDArray[np.void]:
    """Give a record with these fields, others 0, as an array of one: in a tenth of the time of setting each."""
    packing, names = _packing(kind)
    return np.frombuffer(bytearray(packing.pack(*[fields.get(name, 0) for name in names])), dtype=kind)


@functools.cache
def _packing(kind: np.dtype[np.void]) -> tuple[struct.Struct, tuple[str, ...]]:
    """How a record stands in memory, and the names of its fields."""
    names = kind.names or ()
    return struct.Struct("=" + "".join("q" if kind[name].kind == "i" else "d" for name in names)), names


def _emit_call(_typing, address, inputs, outputs, store):  # type: ignore[no-untyped-def]
    def generate(context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        pointer = ir.DoubleType().as_pointer()
        kernel = ir.FunctionType(ir.VoidType(), [pointer] * 3).as_pointer()
        code, *data = arguments
        builder.call(builder.inttoptr(code, kernel), [builder.inttoptr(integer, pointer) for integer in data])
        return context.get_dummy_value()

    return types.void(address, inputs, outputs, store), generate


def _emit_floats(_typing, address):  # type: ignore[no-untyped-def]
    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        return builder.inttoptr(arguments[0], ir.DoubleType().as_pointer())

    return types.CPointer(types.float64)(address), generate


def _emit_integers(_typing, address):  # type: ignore[no-untyped-def]
    def generate(_context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        return builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())

    return types.CPointer(types.int64)(address), generate


def _call(address: int, inputs: int, outputs: int, store: int) -> None:
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    prototype(int(address))(int(inputs), int(outputs), int(store))


def _floats(address: int) -> Any:
    return ctypes.cast(int(address), ctypes.POINTER(ctypes.c_double))


def _integers(address: int) -> Any:
    return ctypes.cast(int(address), ctypes.POINTER(ctypes.c_int64))


# What compiled code calls; in Python where the JIT is disabled, to measure coverage.
call: Callable[[int, int, int, int], None] = _call if config.DISABLE_JIT else intrinsic(_emit_call)
floats: Callable[[int], Floats] = _floats if config.DISABLE_JIT else intrinsic(_emit_floats)
integers: Callable[[int], Integers] = _integers if config.DISABLE_JIT else intrinsic(_emit_integers)
