"""Nonsense in any argument of anything public is a result, or one line of a KalabaError, in time."""
# ruff: noqa: T201  (counts are printed)

import inspect
import random
from functools import cache
from types import ModuleType

import numpy as np
import pytest

import kalaba as kb
from fuzz.disguises import disguised, same
from fuzz.nonsense import like, nonsense
from fuzz.outcomes import Tally
from fuzz.valid_calls import CALLS, LEFT_OUT, METHODS_OF

NEAR = 0.6  # of nonsense is of the kind that the argument has


def shown(value: object) -> str:
    try:
        return repr(value)[:80]
    except (RuntimeError, ValueError):  # of what cannot be shown, endless ones and long whole numbers
        return type(value).__name__


@cache
def callables() -> tuple[str, ...]:
    return tuple(sorted(name for name in CALLS if CALLS[name]()[1]))


def fuzzed(count: int, seed: int) -> Tally:
    """Calls of which one or two arguments are nonsense, all functions alike."""
    tally, rng = Tally(), random.Random(seed)
    for _ in range(count):
        name = rng.choice(callables())
        function, arguments = CALLS[name]()
        replaced = rng.sample(sorted(arguments), min(len(arguments), rng.choice((1, 1, 2))))
        for argument in replaced:
            arguments[argument] = like(arguments[argument], rng) if rng.random() < NEAR else nonsense(rng)()
        words = ", ".join(f"{key}={shown(arguments[key])}" for key in replaced)
        tally.judge(lambda function=function, arguments=arguments: function(**arguments), f"{name}({words})")
    return tally


def dressed_up(count: int, seed: int) -> Tally:
    """Calls with the right values in other types: what is accepted must give the same numbers."""
    tally, rng, plain = Tally(), random.Random(seed), {}
    for _ in range(count):
        name = rng.choice(callables())
        function, arguments = CALLS[name]()
        if name not in plain:
            plain[name] = function(**CALLS[name]()[1])
        dressed = {key: disguised(value, rng) for key, value in arguments.items()}
        words = f"{name}({', '.join(f'{key}={shown(value)}' for key, value in dressed.items())})"
        result = tally.judge(lambda function=function, dressed=dressed: function(**dressed), words)
        if result is not None and not same(plain[name], result):
            tally.counts["wrong numbers"] += 1
            tally.wrong.append(f"wrong numbers: {words}")
    return tally


@pytest.mark.parametrize("name", CALLS)
def test_each_call_works_as_it_stands(name):
    function, arguments = CALLS[name]()
    function(**arguments)


def public() -> dict[str, object]:
    """Functions and classes that people call, by the names that they write."""
    found = {name: getattr(kb, name) for name in kb.__all__}
    rooms = {name: room for name, room in found.items() if isinstance(room, ModuleType)}
    for room_name, room in rooms.items():
        for name in room.__all__:
            value = getattr(room, name)
            if value not in [other for other in found.values() if callable(other)]:
                found[f"{room_name}.{name}"] = value
    for name, box in METHODS_OF.items():
        found |= {
            f"{name}.{key}": value for key, value in vars(box).items() if inspect.isfunction(value) and key[0] != "_"
        }
    return {name: value for name, value in found.items() if inspect.isfunction(value) or inspect.isclass(value)}


def test_everything_public_is_called_or_left_out_with_a_reason():
    covered = {name.partition(",")[0].split(" ")[0] for name in CALLS}
    missing = sorted(name for name in public() if name not in covered and name not in LEFT_OUT)
    assert missing == []
    assert sorted(name for name in LEFT_OUT if name in covered or name not in public()) == []


def test_nonsense_in_an_argument_is_refused_in_one_line(seed):
    tally = fuzzed(700, seed)
    assert tally.wrong == []
    assert tally.counts["refused"] > 300


def test_the_right_values_in_other_types_give_the_same_numbers(seed):
    tally = dressed_up(300, seed)
    assert tally.wrong == []
    assert tally.counts["done"] > 200


@pytest.mark.long
def test_ten_thousand_calls_with_nonsense(seed, capsys):
    tally, dressed = fuzzed(10_000, seed), dressed_up(2000, seed)
    with capsys.disabled():
        print(f"\n{tally.report('calls with nonsense', seed)}")
        print(dressed.report("calls with other types", seed))
    assert tally.wrong == []
    assert dressed.wrong == []


def test_lost_imaginary_parts_would_be_noticed():
    with pytest.raises(np.exceptions.ComplexWarning):
        np.zeros(1)[:] = np.ones(1) * 1j
