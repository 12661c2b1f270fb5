"""A call of a kernel that is watched: machine code that runs it, and tells whether its results are as they must be.

For callers in Python, whom every further array operation would cost more than the kernel itself.
"""

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from kalaba.errors import NativeError
from kalaba.native.kernels import Kernel
from kalaba.native.llvm import compile_modules, load_objects
from kalaba.space.arrays import Array
from kalaba.units import counted

_NAME = "kalaba_watched"
_FIELDS = ("kernel", "inputs", "outputs", "store", "units", "n_units", "low", "high", "first", "n_bounds", "n_finite")

_LOOP = """{name}.head:
%{name}.k = phi i64 [0, %{before}], [%{name}.k1, %{name}.next]
%{name}.more = icmp ult i64 %{name}.k, {count}
br i1 %{name}.more, label %{name}.body, label %{after}
{name}.body:
{body}
br i1 %{name}.good, label %{name}.next, label %bad
{name}.next:
%{name}.k1 = add i64 %{name}.k, 1
br label %{name}.head"""

_UNITS = """%u.which = getelementptr i64, ptr %units, i64 %u.k
%u.slot = load i64, ptr %u.which
%u.at = getelementptr double, ptr %inputs, i64 %u.slot
%u.e = load <4 x double>, ptr %u.at, align 8
%u.squares = fmul <4 x double> %u.e, %u.e
%u.sum = call double @llvm.vector.reduce.fadd.v4f64(double -1.0, <4 x double> %u.squares)
%u.off = call double @llvm.fabs.f64(double %u.sum)
%u.good = fcmp ole double %u.off, TOLERANCE"""

_BOUNDS = """%b.place = add i64 %first, %b.k
%b.at = getelementptr double, ptr %outputs, i64 %b.place
%b.value = load double, ptr %b.at
%b.low.at = getelementptr double, ptr %low, i64 %b.k
%b.low = load double, ptr %b.low.at
%b.high.at = getelementptr double, ptr %high, i64 %b.k
%b.high = load double, ptr %b.high.at
%b.above = fcmp oge double %b.value, %b.low
%b.below = fcmp ole double %b.value, %b.high
%b.good = and i1 %b.above, %b.below"""

_FINITE = """%f.at = getelementptr double, ptr %outputs, i64 %f.k
%f.value = load double, ptr %f.at
%f.size = call double @llvm.fabs.f64(double %f.value)
%f.good = fcmp olt double %f.size, 0x7FF0000000000000"""


def _text(tolerance: float) -> str:
    fields = [
        f"%{name}.field = getelementptr i64, ptr %record, i64 {place}\n"
        f"%{name} = load {'i64' if name.startswith(('n_', 'first')) else 'ptr'}, ptr %{name}.field"
        for place, name in enumerate(_FIELDS)
    ]
    units = _UNITS.replace("TOLERANCE", f"0x{np.float64(tolerance).view(np.uint64):016X}")
    return "\n".join(
        [
            "declare double @llvm.fabs.f64(double)",
            "declare double @llvm.vector.reduce.fadd.v4f64(double, <4 x double>)",
            f"define i32 @{_NAME}(ptr %record) nounwind {{",
            "entry:",
            *fields,
            "br label %u.head",
            _LOOP.format(name="u", before="entry", after="run", count="%n_units", body=units),
            "run:",
            "call void %kernel(ptr %inputs, ptr %outputs, ptr %store)",
            "br label %b.head",
            _LOOP.format(name="b", before="run", after="middle", count="%n_bounds", body=_BOUNDS),
            "middle:",
            "br label %f.head",
            _LOOP.format(name="f", before="middle", after="good", count="%n_finite", body=_FINITE),
            "good:\nret i32 1\nbad:\nret i32 0\n}",
        ]
    )


@cache
def _function(tolerance: float) -> tuple[Callable[[int], int], object]:
    code = load_objects(compile_modules([_text(tolerance)]))
    return ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(code.address(_NAME)), code


@dataclass(frozen=True, slots=True)
class Watch:
    """What to look at: unit quaternions among the inputs, bounds of some outputs, and how many must be finite."""

    units: tuple[int, ...]  # first slots of four inputs whose squares add up to 1
    tolerance: float  # of that sum
    first: int  # output that the first bound is for
    low: Array
    high: Array
    finite: int  # so many outputs, from the first one on


def watched(kernel: Kernel, arrays: tuple[Array, Array, Array], watch: Watch) -> tuple[Callable[[], int], object]:
    """A function that runs a kernel on its arrays and gives 1 if all is well; and what must live as long as it.

    `arrays` are the inputs, outputs and store. With a quaternion that is not unit the kernel is not run.
    """
    call, code = _function(watch.tolerance)
    units = np.array(watch.units, dtype=np.int64)
    low, high = (np.array(bound, dtype=np.float64) for bound in (watch.low, watch.high))
    last_input, last_output = max(watch.units, default=-4) + 4, max(watch.first + len(low), watch.finite)
    if last_input > len(arrays[0]) or last_output > len(arrays[1]) or len(low) != len(high):
        raise NativeError(
            f"a watch reaches to input {last_input} and output {last_output}, with {counted(len(low), 'lower bound')} "
            f"and {counted(len(high), 'upper bound')}; the kernel has {counted(len(arrays[0]), 'input')} and "
            f"{counted(len(arrays[1]), 'output')}"
        )
    inputs, outputs, store = (array.ctypes.data for array in arrays)
    record = np.array(
        [
            *(kernel.address, inputs, outputs, store, units.ctypes.data, len(units)),
            *(low.ctypes.data, high.ctypes.data, watch.first, len(low), watch.finite),
        ],
        dtype=np.int64,
    )
    address = record.ctypes.data

    def run() -> int:
        return call(address)

    return run, (code, kernel, record, units, low, high, arrays)
