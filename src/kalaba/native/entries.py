"""Compiled loops called by their address, and compiled functions that take the caller's own arrays.

A call of a compiled function with five arrays costs Python 0.1 µs; copying one of them in Python costs as much.
"""

import ctypes
from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np
import numpy.typing as npt
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

from kalaba.native.machine_code import compiled_entry

Function = TypeVar("Function", bound=Callable[..., Any])
Records = npt.NDArray[np.void]
Loop = Callable[[Records, float, int], int]

NUMBER, WHOLE = types.float64, types.int64
READ = types.Array(types.float64, 1, "A", readonly=True)  # an array of floats, laid out in any way
WRITTEN = types.Array(types.float64, 1, "C")


def taking(function: Function, *kinds: object) -> Function:
    """Compile an entry for arguments of these kinds alone, without what would find out of which kind they are.

    That an array holds floats, in one dimension, and that a number is a float, is up to the caller. What is no array
    is a TypeError.
    """
    entry: Any = compiled_entry(function)
    return entry if config.DISABLE_JIT else entry.compile(kinds)  # type: ignore[no-any-return]


def _address_of_code(loop: Any, *arguments: object) -> int:
    """Where the code of a compiled loop begins, for arguments like these."""
    kinds = tuple(map(numba.typeof, arguments))
    loop.compile(kinds)
    code = loop.overloads[kinds]
    return int(code.library.get_pointer_to_function(code.fndesc.llvm_func_name))


def _emit_call(_typing, address, records, until, limit):  # type: ignore[no-untyped-def]
    kinds = (records, until, limit)

    def generate(context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
        convention = context.call_conv
        code = builder.inttoptr(arguments[0], convention.get_function_type(WHOLE, kinds).as_pointer())
        status, result = convention.call_function(builder, code, WHOLE, kinds, arguments[1:])
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return result

    return WHOLE(address, *kinds), generate


def _compiled_records(kind: np.dtype[np.void]) -> Any:
    held = types.Array(numba.from_dtype(kind), 1, "C")

    def emit(_typing, address):  # type: ignore[no-untyped-def]
        def generate(context, builder, _signature, arguments):  # type: ignore[no-untyped-def]
            array = context.make_array(held)(context, builder)
            size = context.get_constant(types.intp, kind.itemsize)
            one = context.get_constant(types.intp, 1)
            data = builder.inttoptr(arguments[0], array.data.type)
            populate_array(array, data=data, shape=(one,), strides=(size,), itemsize=size, meminfo=None)
            return array._getvalue()  # noqa: SLF001  (how Numba's own functions give arrays)

        return held(address), generate

    return intrinsic(emit)


# The same in Python, where the JIT is disabled to measure coverage: there the identity of a loop is its address.
_LOOPS: dict[int, Loop] = {}


def _identity(loop: Loop, *_arguments: object) -> int:
    _LOOPS[id(loop)] = loop
    return id(loop)


def _call_in_python(address: int, records: Records, until: float, limit: int) -> int:
    return int(_LOOPS[int(address)](records, until, limit))


def _records_in_python(kind: np.dtype[np.void]) -> Callable[[int], Records]:
    return lambda address: np.frombuffer(memoryview((ctypes.c_char * kind.itemsize).from_address(address)), dtype=kind)


def records_at(kind: np.dtype[np.void]) -> Callable[[int], Records]:
    """A function for compiled code: the record of this kind at an address, as an array of one."""
    return _records_in_python(kind) if config.DISABLE_JIT else _compiled_records(kind)


address_of_code: Callable[..., int] = _identity if config.DISABLE_JIT else _address_of_code
call_loop: Callable[[int, Records, float, int], int] = _call_in_python if config.DISABLE_JIT else intrinsic(_emit_call)
