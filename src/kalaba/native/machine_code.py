"""Loops in machine code: functions of Python that LLVM compiles, on records that hold arrays and kernels by address.

Compiled functions share one record, a C struct, instead of bundles of arrays. In the record an array is its address;
`floats` and `integers` make it something to index again. A kernel is `void kernel(double *inputs, double *outputs,
double *store)`, and `call` calls it.

A function stays what it is: called from Python it runs as Python, slowly, where a debugger can follow it. Only an entry
runs as machine code, of all that it calls (`translation.py`).
"""

import ctypes
import functools
import os
import struct
import threading
from collections.abc import Callable, Mapping
from hashlib import sha256
from inspect import get_annotations
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from kalaba.interruption import heard
from kalaba.native import cache
from kalaba.native.forking import hold_while_forking
from kalaba.native.kernels import address
from kalaba.native.kinds import fields_of
from kalaba.native.llvm import LoadedCode, compile_loop, host, load_objects
from kalaba.native.notices import COMPILING, tell

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]
Function = TypeVar("Function", bound=Callable[..., Any])

PLAIN = "KALABA_PLAIN_LOOPS"  # in the environment: entries run as Python, to see which lines a test passes through
MARKED: set[Callable[..., Any]] = set()  # functions that machine code may be made from
_NAME = "kalaba_loop"
_compiling = threading.RLock()
hold_while_forking(_compiling)


def floats(at: int) -> Any:
    """The array of numbers at an address."""
    return ctypes.cast(int(at), ctypes.POINTER(ctypes.c_double))


def integers(at: int) -> Any:
    """The array of integers at an address."""
    return ctypes.cast(int(at), ctypes.POINTER(ctypes.c_int64))


def call(kernel: int, inputs: int, outputs: int, store: int) -> None:
    """Call the kernel at an address on arrays by their addresses."""
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
    prototype(int(kernel))(int(inputs), int(outputs), int(store))


def call_loop(loop: int, record: Any, until: float, limit: int) -> None:
    """Call the entry of a loop at an address on a record, with a time and a number."""
    prototype = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_double, ctypes.c_int64)
    prototype(int(loop))(np.frombuffer(record, dtype=np.uint8).ctypes.data, float(until), int(limit))


def compiled(function: Function) -> Function:
    """Mark a function that other compiled functions call, written in what `translation.py` knows of Python."""
    MARKED.add(function)
    return function


def compiled_entry(function: Callable[..., None]) -> "Entry":
    """Let Python call a function as machine code; it is made at the first call and kept on disk beside the kernels."""
    if not isinstance(function, FunctionType):
        raise TypeError(f"expected a function, got {function!r}")
    return Entry(compiled(function))


class Entry:
    """A function that runs as machine code, without holding Python's lock. Arrays are given as they are."""

    def __init__(self, function: FunctionType) -> None:
        functools.update_wrapper(self, function)
        self.function = function  # the same in Python
        self._code: LoadedCode | None = None
        self._call: Callable[..., None] = function

    def __call__(self, *arguments: Any) -> None:
        """Run it."""
        if os.environ.get(PLAIN):
            self.function(*(_plain(argument) for argument in arguments))
        else:
            self.code(*(address(a) if isinstance(a, np.ndarray) else a for a in arguments))

    @property
    def address(self) -> int:
        """Where the machine code begins, for `call_loop`."""
        return int(ctypes.cast(self.code, ctypes.c_void_p).value or 0)  # type: ignore[arg-type]  # a function of ctypes

    @property
    def code(self) -> Callable[..., None]:
        """The machine code, which takes addresses in the place of arrays."""
        if self._code is None:
            with heard(), _compiling:
                if self._code is None:
                    self._call, self._code = _loaded(self.function)
        return self._call


def _plain(argument: Any) -> Any:
    """An argument as Python code has it: of an array of records its one entry."""
    return argument[0] if isinstance(argument, np.ndarray) and argument.dtype.names else argument


def _loaded(function: FunctionType) -> tuple[Callable[..., None], LoadedCode]:
    """The code of a function, from the disk or made now."""
    name = f"{fingerprint(function)}{cache.LOOP}"
    packed = cache.fetch(name)
    if packed is None:
        from kalaba.native.translation import module_text

        tell(COMPILING)
        packed = compile_loop(module_text(function, _NAME))
        cache.keep(name, packed)
    code = load_objects(packed)
    *kinds, _nothing = get_annotations(function, eval_str=True).values()
    prototype = ctypes.CFUNCTYPE(None, *(_C_TYPES.get(kind, ctypes.c_void_p) for kind in kinds))
    return prototype(code.address(_NAME)), code


_C_TYPES: Mapping[object, Any] = {float: ctypes.c_double, int: ctypes.c_int64}


@functools.cache
def _translator() -> bytes:
    """What the code of a function depends on beside the function: the files that translate it, and this processor."""
    here = Path(__file__).parent
    sources = [here / f"{name}.py" for name in ("translation", "translated_expressions", "kinds", "llvm")]
    return b"".join([*(source.read_bytes() for source in sources), repr(host()).encode()])


def fingerprint(function: FunctionType) -> str:
    """A digest of all that the machine code of a function depends on: its own code and that of all it calls.

    By their byte code and the values that they read from their modules, so that no list of files can be out of date.
    """
    digest, seen, ahead = sha256(_translator()), set[FunctionType](), [function]
    while ahead:
        this = ahead.pop()
        if this in seen:
            continue
        seen.add(this)
        code, annotations = this.__code__, get_annotations(this, eval_str=True)
        digest.update(b"\0".join([this.__qualname__.encode(), code.co_code, _words(code)]))
        for name in code.co_names:
            value = this.__globals__.get(name)
            if isinstance(value, FunctionType):
                ahead.append(value)
            elif isinstance(value, bool | int | float):
                digest.update(f"{name}={value!r}\0".encode())
        for name, kind in annotations.items():
            fields = fields_of(kind) if isinstance(kind, type) else kind
            digest.update(f"{name}:{fields!r}\0".encode())
    return digest.hexdigest()


def _words(code: CodeType) -> bytes:
    """The names and constants of a code, as they stand; documentation counts too, which does no harm."""
    return repr((code.co_names, code.co_varnames, code.co_consts)).encode()


def record_type(described: type) -> np.dtype[np.void]:
    """Give the record whose fields a class and its bases annotate, as `int` or `float`, bases first."""
    fields = np.dtype([(name, {int: np.int64, float: np.float64}[kind]) for name, kind in fields_of(described).items()])
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
