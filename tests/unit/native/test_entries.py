"""Compiled functions that take the caller's arrays, and compiled loops called by their address."""

import numpy as np
import pytest

from kalaba.native import entries
from kalaba.native.entries import NUMBER, READ, WHOLE, WRITTEN, address_of_code, call_loop, records_at, taking
from kalaba.native.kernels import address
from kalaba.native.machine_code import compiled_entry, record, record_type


class Counter:
    count: int
    total: float


COUNTER = record_type(Counter)
counter_at = records_at(COUNTER)


def _loop(stamp):
    def loop(counters, until, limit):
        for _ in range(limit):
            counters[0].count += 1
            counters[0].total += until
        return stamp

    return compiled_entry(loop)


def _through(stamp):
    def through(at, code, values, result, step):
        counters = counter_at(at)
        given = call_loop(code, counters, step, 3)
        for i in range(len(values)):
            result[i] = counters[0].total * values[i]
        return given + 0 * stamp

    return taking(through, WHOLE, WHOLE, READ, WRITTEN, NUMBER)


@pytest.fixture(scope="module")
def machinery(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KALABA_CACHE_DIR", str(tmp_path_factory.mktemp("cache")))
        yield _loop(77), _through(1)


def counted(machinery, values, result):
    loop, through = machinery
    counters = record(COUNTER, {})
    given = through(address(counters), address_of_code(loop, counters, 0.5, 1), values, result, 0.5)
    return given, int(counters["count"][0]), float(counters["total"][0])


def test_a_loop_called_by_its_address_works_on_the_record_at_an_address(machinery):
    result = np.zeros(2)
    assert counted(machinery, np.array([1.0, -2.0]), result) == (77, 3, 1.5)
    assert result.tolist() == [1.5, -3.0]


def test_arrays_with_gaps_and_arrays_that_may_not_be_written_to_are_read(machinery):
    values, result = np.arange(6.0)[::2], np.zeros(3)
    values.flags.writeable = False
    counted(machinery, values, result)
    assert result.tolist() == [0.0, 3.0, 6.0]


@pytest.mark.parametrize("values", [[1.0], 1.0, np.float64(1.0), None])
def test_what_is_no_array_is_a_type_error(machinery, values):
    with pytest.raises(TypeError):
        counted(machinery, values, np.zeros(1))


def test_in_python_a_loop_is_told_by_its_identity_and_a_record_is_shared():
    counters = record(COUNTER, {"count": 3})
    again = entries._records_in_python(COUNTER)(address(counters))
    again[0].count += 1
    assert int(counters["count"][0]) == 4
    at = entries._identity(lambda records, until, limit: records[0].count + limit)
    assert entries._call_in_python(at, counters, 0.0, 5) == 9
