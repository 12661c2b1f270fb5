"""Values that no argument expects, or not in that place: each is made anew, so that no call can spoil the next."""
# ruff: noqa: E501, FBT003, PLR0911, PLW0108  (tables read along their rows; a value is made when it is asked for)

import random
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import inf, nan
from pathlib import Path

import numpy as np
import pandas as pd

import kalaba as kb


class Odd:
    """An object whose words break lines."""

    def __repr__(self) -> str:
        return "<odd\nobject\x1b[31m>"


def raises(*_: object, **__: object) -> object:
    raise RuntimeError("no")


def broken(base: type, content: object, *names: str) -> object:
    """A number, a text or a container of which some methods raise."""
    return type(f"Broken{base.__name__}", (base,), dict.fromkeys(names, raises))(content)


class Silent:
    """An object that cannot be shown."""

    __repr__ = __str__ = raises  # type: ignore[assignment]


class Closed:
    """An object of which nothing but its class can be read."""

    def __getattribute__(self, name: str) -> object:
        if name == "__class__":
            return object.__getattribute__(self, name)
        raise RuntimeError("no")


class Unmapped(Mapping):  # type: ignore[type-arg]
    """A map that says which names it has, and none of their values."""

    def __getitem__(self, key: object) -> object:
        raise RuntimeError("no")

    def __iter__(self) -> Iterator[str]:
        return iter(("motor", "crank"))

    def __len__(self) -> int:
        return 2


class Unread:
    """An object that says it is an array and a path, and is none."""

    __array__ = __fspath__ = __float__ = raises


def nested() -> object:
    """A list deeper than Python goes."""
    whole: object = 1.0
    for _ in range(3000):
        whole = [whole]
    return whole


def cyclic() -> list[object]:
    """A list that holds itself."""
    own: list[object] = [1.0]
    own.append(own)
    return own


PLAIN = (
    None, "", " ", "no such", "a\nb\x1b[31m", "t", "1/0", "(" * 400, "é" * 300, "\0", "1e999", "world", b"bytes",
    nan, inf, -inf, -1, 0, 1, 2, -0.5, 1e-320, 1e-17, 1e-300, 1e300, -1e300, 10**400, 2**63, -(2**63), 10**9, True,
    False, 1j, 2 + 0j, Fraction(1, 3), np.float32(0.5), np.int64(3), np.float64(nan), np.bool_(True),
    (), (None,), ("a", "b"), (1.0, 2.0), (1.0, 2.0, 3.0), (nan, 0.0, 0.0), (1e300, 1e300, 1e300), (10**400, 0, 0),
    (0.0, 0.0, 0.0), (-1.0, -1.0, -1.0), (0, 0), (-1, 5), (10**6, 10**6), range(3), frozenset({1}), ..., NotImplemented,
    int, object, kb.System, kb.RungeKutta4, kb.Projection, kb.Lagrange, kb.LeastSquares, kb.path.Path, kb,
    Path("no/such/file.nc"), len, ValueError("no"), slice(None),
)  # fmt: skip

MADE: tuple[Callable[[], object], ...] = (
    list, dict, set, object, Odd, cyclic, lambda: lambda: 1 / 0, lambda: lambda *_, **__: None,
    lambda: lambda x: "a", lambda: [None], lambda: [1.0], lambda: ["a"], lambda: [[1.0], [2.0, 3.0]], lambda: [[]],
    lambda: [[[1.0]]], lambda: [kb.Z], lambda: [nan] * 3, lambda: {"a": 1.0}, lambda: {1: 2}, lambda: {"": None},
    lambda: {"crank.angle": "a"}, lambda: {"crank.angle": nan}, lambda: {"crank.angle": 0.1}, lambda: {None: None},
    lambda: {"motor": "1"}, lambda: {"motor": lambda: 1}, lambda: {"crank": np.zeros(2)}, lambda: iter([1.0, 2.0]),
    lambda: (x for x in (1.0, 2.0, 3.0)), lambda: bytearray(3), lambda: memoryview(b"abc"),
    lambda: np.zeros(0), lambda: np.zeros(2), lambda: np.zeros(3), lambda: np.ones((3, 3)), lambda: np.zeros((2, 3)),
    lambda: np.zeros((0, 3)), lambda: np.zeros((1, 1, 1)), lambda: np.full(3, nan), lambda: np.full(3, inf),
    lambda: np.array(["a", "b", "c"]), lambda: np.array([None, 1, 2]), lambda: np.zeros(3, complex),
    lambda: np.zeros(3, bool), lambda: np.array(1.0), lambda: np.zeros(3, "datetime64[s]"), lambda: np.full(3, 1e300),
    lambda: np.ma.masked_all(3), Silent, Unread, nested, lambda: pd.Series([1.0, 2.0, 3.0]), lambda: pd.DataFrame({"a": [1.0]}), lambda: pd.NaT,
    lambda: broken(float, 1.0, "__repr__", "__format__"), lambda: broken(float, 1.0, "__lt__", "__gt__", "__float__", "__add__"),
    lambda: broken(str, "crank.angle", "__eq__", "__hash__", "split"), lambda: broken(str, "no such", "__repr__"),
    Closed, Unmapped, lambda: broken(tuple, (1.0, 2.0), "__iter__", "__len__", "__getitem__"), lambda: ["crank.tip"],
    lambda: broken(list, [1.0], "__iter__", "__len__"), lambda: broken(dict, {"a": 1.0}, "items", "keys", "__iter__"),
    lambda: np.str_("crank.angle"), lambda: np.float16(0.5), lambda: np.longdouble("1e4000"), lambda: np.timedelta64(1, "s"), lambda: Decimal("sNaN"),
    lambda: 10**5000, lambda: "\ud800", lambda: "a\u202eb", lambda: np.ma.array([1.0, 2.0, 3.0], mask=[0, 1, 0]), lambda: np.matrix([[1.0, 2.0, 3.0]]),
    lambda: kb.Pose(), lambda: kb.Z, lambda: kb.AsFound(), lambda: kb.Start(),
    lambda: kb.Rod(0.3, 1.0), lambda: kb.Revolute(), lambda: kb.Projection(), lambda: kb.RungeKutta4(0.01),
    lambda: kb.load("four-bar"), lambda: kb.State(np.zeros(3), np.zeros(3)), lambda: kb.State("a", None),
    lambda: kb.LeastSquares(), lambda: kb.posture(), lambda: kb.Interpreted(), lambda: kb.path.keep(),
    lambda: kb.path.line((0, 0, 0), (1, 0, 0), speed=1.0), lambda: kb.Sampled(lambda t, q, v: [0.0], 10.0),
    lambda: kb.Parameter("p", 1.0), lambda: kb.Carry(), lambda: kb.KalabaError("x"),
)  # fmt: skip


NUMBERS = (
    nan, inf, -inf, 0, -0.0, 1, -1, 2, 3, 20, 1e-3, 0.1, 0.5, 10.0, 1e3, 1e6, 10**9, 1e12, 1e-9, 1e-12, 1e-17, 1e-300, 5e-324, 1e16,
    1e100, 1e300, -1e300, 1.7e308, 10**400, 2**31, 2**63, 2**64, -7, Fraction(1, 3), np.float32(0.1), np.int8(3), np.float64(inf),
)  # fmt: skip
TEXTS = (
    "", " ", "t", "pi", "0", "1", "-1", "1e999", "nan", "inf", "world", "crank", "crank.angle", "crank.tip", "motor", "rocker.angle",
    "sin(t)", "t/0", "sqrt(-1)", "1/t", "log(0)", "crank.angle/0", "a.b.c", "two words", "a\nb", "\0", "é", "x" * 5000, "(" * 200,
    "1+" * 300 + "1", "no/such/place/x", ".", "..", "/", "a.nc", "a.csv", "a.png", "a.gif", "a.yaml", "all", "keep", "free", "angle",
    "motion", "load", "tool", "mass_matrix", "%s", "{}", "'", '"', "\\", "#", ";", "$(x)", "=1", "four-bar",
)  # fmt: skip


def like(value: object, rng: random.Random) -> object:
    """Nonsense of the kind of a value: another number for a number, another shape for an array."""
    if isinstance(value, str | Path):
        return rng.choice(TEXTS)
    if isinstance(value, dict):
        return {rng.choice([*value, "no such", ""]): like(next(iter(value.values()), 1.0), rng)}
    if isinstance(value, np.ndarray):
        shape = rng.choice([value.shape, value.shape, (*value.shape, 1), (), (0,), tuple(n + 1 for n in value.shape)])
        array = np.full(shape, rng.choice([0.0, 1.0, nan, inf, 1e300, -1e8, 1e-300]))
        return array if rng.random() < 0.5 else array.tolist()
    if isinstance(value, tuple | list) and value and not hasattr(value, "_fields"):
        changed = [entry if rng.random() < 0.5 else like(entry, rng) for entry in value]
        return tuple(changed[: rng.randint(0, len(changed))] if rng.random() < 0.3 else changed)
    if isinstance(value, int | float):
        return rng.choice(NUMBERS)
    if isinstance(value, kb.State):
        return kb.State(like(value.q, rng), like(value.v, rng))
    return nonsense(rng)()


def nonsense(rng: random.Random) -> Callable[[], object]:
    """What makes a value; the same seed gives the same one."""
    if rng.random() < 0.5:
        value = rng.choice(PLAIN)
        return partial(lambda kept: kept, value)
    return rng.choice(MADE)
