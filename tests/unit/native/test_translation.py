"""Functions as machine code do what they do as Python, to the last bit; what cannot be translated is named."""

import ctypes
import inspect
import linecache
from collections.abc import Callable

import numpy as np
import pytest

from kalaba.errors import NativeError
from kalaba.native.machine_code import (
    Floats,
    Integers,
    call,
    compiled,
    compiled_entry,
    floats,
    integers,
    record,
    record_type,
)
from kalaba.native.translation import module_text

HALF = 0.5
MANY = 7
Pair = tuple[Floats, Integers]


class Parent:
    count: int
    share: float


class Memory(Parent):
    numbers: int
    whole: int


@compiled_entry
def arithmetic(x: float, y: float, m: int, n: int, out: Floats) -> None:
    out[0] = x + y * HALF - m
    out[1] = x / y
    out[2] = m / n
    out[3] = m // n
    out[4] = m % n
    out[5] = x**2
    out[6] = x**3
    out[7] = abs(x) ** y
    out[8] = abs(x) + abs(m)
    out[9] = -x
    out[10] = -m + MANY
    out[11] = np.sqrt(abs(x))
    out[12] = int(x) + float(n)
    out[13] = 2**m if m >= 0 else 0
    out[14] = 2.0 * -HALF - x
    out[15] = (m > n) + (x < y) * 2


@pytest.mark.parametrize("x", [0.7, -3.25, 2.0**40, -0.0])
@pytest.mark.parametrize(("m", "n"), [(7, 3), (-7, 3), (7, -3), (-6, 3), (0, 5)])
def test_numbers_are_those_of_python(x, m, n):
    as_code, as_python = np.zeros(16), np.zeros(16)
    with np.errstate(all="ignore"):
        arithmetic.function(x, 1.3, m, n, as_python)
    arithmetic(x, 1.3, m, n, as_code)
    assert as_code.tobytes() == as_python.tobytes()


@compiled_entry
def extremes(values: Floats, out: Floats) -> None:
    out[0] = max(values[0], values[1])
    out[1] = min(values[0], values[1])
    out[2] = max(values[0], values[1], values[2])
    out[3] = min(values[2], 1, values[0])
    out[4] = 1.0 if values[0] < values[1] <= values[2] else 0.0
    out[5] = 1.0 if not values[0] < values[1] else 0.0
    out[6] = 1.0 if values[0] == values[1] else 2.0
    out[7] = 1.0 if values[0] != values[1] else 2.0
    out[8] = np.inf if values[0] >= values[1] else -np.inf


@pytest.mark.parametrize("values", [(1.0, 2.0, 3.0), (np.nan, 2.0, 3.0), (2.0, np.nan, 3.0), (-0.0, 0.0, 0.0)])
def test_what_is_not_a_number_is_compared_as_in_python(values):
    given, as_code, as_python = np.array(values), np.zeros(9), np.zeros(9)
    extremes.function([*values], as_python)
    extremes(given, as_code)
    assert as_code.tobytes() == as_python.tobytes()


@compiled
def positive(values: Floats, at: int, seen: Floats) -> bool:
    seen[at] += 1.0
    return values[at] > 0.0


@compiled
def first_positive(values: Floats, n: int) -> int:
    for i in range(n):
        if values[i] > 0.0:
            return i
    return -1


@compiled
def swap(pair: Pair, i: int, j: int) -> None:
    numbers, order = pair
    numbers[i], numbers[j] = numbers[j], numbers[i]
    order[i], order[j] = order[j], order[i]


@compiled_entry
def flow(values: Floats, order: Integers, n: int, seen: Floats, out: Floats) -> None:  # noqa: C901  (one of each)
    total = 0  # becomes a number with a fraction
    for i in range(1, n):
        if values[i] < 0.0:
            continue
        if values[i] > 8.0:
            break
        total += values[i]
    out[0] = total
    for i in range(n - 1, -1, -1):
        out[1] = out[1] * 2.0 + values[i]
    for i in range(0, n, 3):
        out[2] += i
    k, fine = 0, True
    while fine and k < n:
        fine &= values[k] < 5.0
        k += 1
    out[3] = k
    for first, last in ((0, 2), (2, n)):
        if first == 2 and values[0] > 100.0:
            break
        for i in range(first, last):
            out[4] += (first + 1) * values[i]
    if positive(values, 0, seen) and positive(values, 1, seen):
        out[5] = 1.0
    elif positive(values, 2, seen) or positive(values, 3, seen):
        out[5] = 2.0
    else:
        out[5] = 3.0
    out[6] = first_positive(values, n)
    swap((values, order), 0, n - 1)
    best = size = values[0]
    out[7] = best + size


@pytest.mark.parametrize("seed", range(6))
def test_loops_and_choices_are_those_of_python(seed):
    values = np.random.default_rng(seed).uniform(-4.0, 9.0, 10)
    results = []
    for run in (flow, flow.function):
        arrays = values.copy(), np.arange(10), np.zeros(10), np.zeros(8)
        run(arrays[0], arrays[1], 10, *arrays[2:])
        results.append(b"".join(array.tobytes() for array in arrays))
    assert results[0] == results[1]


@compiled_entry
def in_a_record(memory: Memory, times: int) -> None:
    numbers, whole = floats(memory.numbers), integers(memory.whole)
    for k in range(times):
        memory.count += k
        memory.share = memory.count * 0.25
        numbers[memory.count % 4] += memory.share
        whole[k % 2] += memory.count
        floats(memory.numbers + 8)[0] -= 1.0


def test_fields_of_records_are_read_and_written_those_of_bases_first():
    results = []
    for run in (in_a_record, lambda memory, times: in_a_record.function(memory[0], times)):
        numbers, whole = np.zeros(4), np.zeros(2, dtype=np.int64)
        addresses = {"numbers": numbers.ctypes.data, "whole": whole.ctypes.data}
        memory = record(record_type(Memory), {"count": 3, **addresses})
        run(memory, 5)
        results.append((memory["count"][0], memory["share"][0], numbers.tolist(), whole.tolist()))
    assert results[0] == results[1]
    assert results[0][0] == 13


@compiled
def twice(value: float) -> float:
    return 2.0 * value


@compiled
def thrice(value: float) -> float:
    return 3.0 * value


@compiled
def applied(function: Callable[[float], float], value: float) -> float:
    return function(function(value))


@compiled_entry
def with_functions(out: Floats) -> None:
    out[0] = applied(twice, 1.0)
    out[1] = applied(thrice, 1.0)


def test_a_function_is_handed_to_another():
    out = np.zeros(2)
    with_functions(out)
    assert out.tolist() == [4.0, 9.0]


@compiled_entry
def calling(kernel: int, data: int) -> None:
    call(kernel, data, data + 8, data)


def test_kernels_are_called_by_their_addresses():
    prototype = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_double)] * 3)

    def kernel(inputs, outputs, store):
        outputs[0] = inputs[0] + store[0]

    callback = prototype(kernel)
    address, data = ctypes.cast(callback, ctypes.c_void_p).value, np.array([3.0, 0.0])
    calling(address, data.ctypes.data)
    assert data[1] == 6.0
    data[1] = 0.0
    calling.function(address, data.ctypes.data)
    assert data[1] == 6.0


def nothing(out: Floats) -> None:
    """Not marked."""


def unmarked(out: Floats) -> None:
    nothing(out)


def comprehension(out: Floats) -> None:
    out[0] = sum([1.0, 2.0])


def words(out: Floats) -> None:
    out[0] = "one"


def mixed(out: Floats) -> None:
    both = out
    both = 1.0
    out[0] = both


def narrowed(out: Integers) -> None:
    out[0] = 1.5


def handled(out: Floats) -> None:
    try:
        out[0] = 1.0
    finally:
        out[0] = 2.0


def otherwise(out: Floats) -> None:
    for i in range(3):
        if out[i] > 0.0:
            break
    else:
        out[0] = 2.0


def through_values(out: Floats) -> None:
    for value in out:
        out[0] = value


def unknown_field(memory: Memory) -> None:
    memory.colour = 1.0


@pytest.mark.parametrize(
    ("function", "said"),
    [
        (unmarked, "mark it with @compiled"),
        (comprehension, r"\[1.0, 2.0\]"),
        (words, "'one'"),
        (mixed, "cannot hold"),
        (narrowed, "cannot be taken as"),
        (handled, "try:"),
        (otherwise, "else:"),
        (through_values, "cannot be made from: out"),
        (unknown_field, "no field colour"),
    ],
)
def test_what_cannot_be_translated_is_named_with_its_line(function, said):
    with pytest.raises(NativeError, match=rf"(?s){function.__name__}, line \d+: .*{said}"):
        module_text(compiled(function), "name")


def test_a_file_that_changed_since_it_was_imported_is_not_translated(tmp_path):
    """Else its new text would be kept as the code of the old one."""
    path = tmp_path / "changing.py"
    text = "def half(out: 'Floats') -> None:\n    out[0] = 0.5 * out[1]\n"
    path.write_text(text, encoding="utf-8")
    space = {"Floats": Floats}
    exec(compile(text, str(path), "exec"), space)
    assert "fmul" in module_text(compiled(space["half"]), "name")
    path.write_text(text.replace("*", "+"), encoding="utf-8")
    linecache.checkcache()
    assert "+" in inspect.getsource(space["half"])
    with pytest.raises(NativeError, match="start Python anew"):
        module_text(space["half"], "name")
