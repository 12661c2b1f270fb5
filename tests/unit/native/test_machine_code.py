"""What loops are known by on disk: everything that their machine code depends on, and nothing of the process."""

import subprocess
import sys
from types import FunctionType

import numpy as np
import pytest

from kalaba.compiled import engine
from kalaba.native import batch, machine_code
from kalaba.native.machine_code import (
    PLAIN,
    Floats,
    call_loop,
    compiled,
    compiled_entry,
    fingerprint,
    record,
    record_type,
)

ENTRIES = [engine.advance, engine.advance_structure, engine.advance_implicit, batch._drive]
TEXT = """
FACTOR = {factor}
class Fields:
    {fields}
def inner(x: float) -> float:
    return FACTOR * x {inner}
def outer(fields: Fields, out: Floats) -> None:
    out[0] = inner({value})
def beside(out: Floats) -> None:
    out[0] = {beside}
"""
WORDS = {"factor": 2.0, "fields": "size: int", "inner": "+ 1.0", "value": "3.0", "beside": "1.0"}


def made(**changes) -> FunctionType:
    """The function `outer` of a module with some words changed."""
    space = {"Floats": Floats}
    exec(TEXT.format(**WORDS | changes), space)
    return space["outer"]


@pytest.mark.parametrize(
    "change", [{"factor": 3.0}, {"fields": "size: float"}, {"inner": "- 1.0"}, {"inner": "+ 2.0"}, {"value": "4.0"}]
)
def test_whatever_enters_the_machine_code_changes_its_name(change):
    assert fingerprint(made(**change)) != fingerprint(made())


def test_what_does_not_enter_leaves_the_name_as_it_is():
    assert fingerprint(made(beside="2.0")) == fingerprint(made())


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.__name__)
def test_the_name_is_the_same_in_every_process(entry):
    code = (
        f"import {entry.__module__} as m; from kalaba.native.machine_code import fingerprint; "
        f"print(fingerprint(m.{entry.__name__}.function))"
    )
    said = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout
    assert said.strip() == fingerprint(entry.function)


@compiled
def _added(out: Floats, value: float) -> None:
    out[0] += value


@compiled_entry
def add(out: Floats, value: float) -> None:
    """Add to the first number."""
    _added(out, value)


@pytest.mark.parametrize("plain", ["", "1"])
def test_an_entry_runs_as_python_where_that_is_asked_for(monkeypatch, plain):
    seen = []
    monkeypatch.setenv(machine_code.PLAIN, plain)
    monkeypatch.setitem(add.function.__globals__, "_added", lambda *arguments: seen.append(arguments))
    entry = compiled_entry(add.function)
    if plain:
        entry(np.zeros(1), 2.0)
        assert len(seen) == 1
    else:
        monkeypatch.undo()
        out = np.ones(1)
        entry(out, 2.0)
        assert out[0] == 3.0
        assert not seen


def test_an_entry_has_the_name_and_the_words_of_its_function():
    assert add.__name__ == "add"
    assert add.__doc__ == "Add to the first number."


def test_only_functions_become_entries():
    with pytest.raises(TypeError, match="expected a function"):
        compiled_entry(len)


class Counter:
    loop: int  # address of its code
    count: int
    total: float
    seen: int


@compiled_entry
def count_up(counter: Counter, until: float, limit: int) -> None:
    for _ in range(limit):
        counter.count += 1
        counter.total += until


@compiled_entry
def count_twice(counter: Counter) -> None:
    before = counter.count
    call_loop(counter.loop, counter, 0.5, 3)
    counter.seen = counter.count - before
    call_loop(counter.loop, counter, 0.5, 2)


@pytest.mark.parametrize("mode", ["compiled", "plain"])
def test_what_a_loop_called_by_its_address_has_changed_is_seen_after_it(mode, monkeypatch):
    counter = record(record_type(Counter), {"loop": count_up.address, "count": 7})
    if mode == "plain":
        monkeypatch.setenv(PLAIN, "1")
    count_twice(counter)
    assert (counter["count"][0], counter["total"][0], counter["seen"][0]) == (12, 2.5, 3)
