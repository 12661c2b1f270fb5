"""Annotations are held to what people hand in; messages are one line, whatever a value says of itself."""
# ruff: noqa: E501  (tables read along their rows)

import ast
import importlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import inf, nan
from pathlib import Path
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
import pytest
from numpy.typing import ArrayLike

import kalaba as kb
from kalaba.boundary import called, check_arguments, check_fields, finite_array, shown
from kalaba.errors import ControlError, KalabaError, ModelError
from kalaba.hints import kind

ROOT = Path(kb.__file__).parent


class Pair(NamedTuple):
    first: ArrayLike
    second: str


class Duck(Protocol):
    def quack(self) -> str: ...


RIGHT = [
    (float, 1.0), (float, 3), (float, inf), (float, np.float32(0.1)), (float, np.int64(3)), (int, 3), (int, np.int8(3)),
    (bool, True), (bool, np.True_), (str, "a"), (str | Path, Path("a")), (float | None, None), (ArrayLike, [1, 2]),
    (ArrayLike, 1.0), (ArrayLike, [Fraction(1, 3)]), (ArrayLike | None, None), (Sequence[str], ["a"]), (Sequence[str], ()),
    (Sequence[float], np.zeros(3)), (tuple[float, ...], [1.0]), (tuple[int, int], (1, 2)), (Mapping[str, float], {"a": 1}),
    (Callable[[], None], len), (Literal["all", "one"], "one"), (kb.System, kb.load("four-bar")), (Pair, Pair([1.0], "a")),
    (Duck, 3), (Any, object()), (kb.control.Allocation, kb.MinMax()), (dict[str, str], {}),
]  # fmt: skip
WRONG = [
    (float, nan), (float, "1"), (float, True), (float, 10**400), (float, 2**64), (float, 1j), (float, np.zeros(1)),
    (float, None), (int, 2.0), (int, True), (int, 2**63), (bool, 1), (str, b"a"), (str | Path, 3), (ArrayLike, "12"),
    (ArrayLike, ["1", "2"]), (ArrayLike, None), (ArrayLike, [1j]), (ArrayLike, [[1], [2, 3]]), (ArrayLike, [None]),
    (ArrayLike, {"a": 1}), (ArrayLike, np.zeros(2, "datetime64[s]")), (Sequence[str], "ab"), (Sequence[str], ["a", 1]),
    (Sequence[str], np.zeros((0, 3))), (tuple[int, int], (1, 2, 3)), (Mapping[str, float], [("a", 1)]),
    (Mapping[str, float], {"a": "b"}), (Mapping[str, float], {1: 2.0}), (Callable[[], None], 3),
    (Literal["all", "one"], "two"), (kb.System, kb.System), (Pair, Pair("x", "a")), (Pair, ([1.0], "a")),
    (kb.control.Allocation, kb.MinMax), (kb.control.Allocation, "min-max"), (float | None, "a"),
]  # fmt: skip


@pytest.mark.parametrize(("hint", "value"), RIGHT, ids=lambda value: type(value).__name__)
def test_what_an_annotation_allows_is_accepted(hint, value):
    assert kind(hint).accepts(value)


@pytest.mark.parametrize(("hint", "value"), WRONG, ids=lambda value: type(value).__name__)
def test_what_an_annotation_does_not_allow_is_refused(hint, value):
    assert not kind(hint).accepts(value)


def test_an_argument_of_another_type_is_refused_with_what_its_docstring_says():
    def turn(angle: float, names: Sequence[str] = (), *more: float, **options: str) -> None:
        """Turn it.

        Arguments:
            angle: how far, rad
            names: what is turned
        """
        check_arguments(turn, locals(), ControlError)

    turn(1.0, ["a"], 2.0, other="b")
    for wrong, pattern in (
        (lambda: turn("far"), r"turn\.angle: expected a number, got 'far'\. It is: how far, rad\.$"),
        (
            lambda: turn(1.0, "ab"),
            r"turn\.names: expected a sequence, each a text, got 'ab'\. It is: what is turned\.$",
        ),
        (lambda: turn(1.0, (), "x"), r"turn\.more: expected a number, got \('x',\)"),
        (lambda: turn(1.0, other=3), r"turn\.options: expected a text, got \{'other': 3\}"),
        (
            lambda: turn(kb.RungeKutta4),
            r"turn\.angle: expected a number, got the class RungeKutta4\. Write RungeKutta4\(\.\.\.\)",
        ),
    ):
        with pytest.raises(ControlError, match=pattern):
            wrong()


def test_fields_of_another_type_are_refused_and_numbers_of_numpy_become_plain():
    @dataclass(frozen=True)
    class Wheel:
        """A wheel.

        Arguments:
            radius: its radius, m
        """

        radius: float
        spokes: int = 3

        def __post_init__(self) -> None:
            check_fields(self)

    assert type(Wheel(np.float32(0.5)).radius) is float
    assert type(Wheel(1.0, np.int64(5)).spokes) is int
    with pytest.raises(ModelError, match=r"Wheel\.radius: expected a number, got None\. It is: its radius, m"):
        Wheel(None)


def type_checking_names(path: Path) -> list[tuple[str, str]]:
    """Names that a module imports for type checkers alone, with their homes."""
    blocks = [node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.If)]
    imports = [node for block in blocks for node in block.body if isinstance(node, ast.ImportFrom)]
    return [(node.module, alias.name) for node in imports for alias in node.names]


CHECKING = [path for path in ROOT.rglob("*.py") if "check_arguments(" in path.read_text(encoding="utf-8")]


@pytest.mark.parametrize("path", CHECKING, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_known_by_its_name_alone_is_a_plain_class(path):
    """An alias or a protocol that only type checkers import would refuse what it allows."""
    text, unknown = path.read_text(encoding="utf-8"), []
    for home, name in type_checking_names(path):
        thing = getattr(importlib.import_module(home), name)
        is_plain = isinstance(thing, type) and "_is_protocol" not in vars(thing) and not inspect.isabstract(thing)
        in_signature = any(
            f": {name}" in line or f"[{name}" in line or f"| {name}" in line for line in _signatures(text)
        )
        if in_signature and not is_plain:
            unknown.append(name)
    assert unknown == []


def _signatures(text: str) -> list[str]:
    """Annotations of the functions that check their arguments."""
    functions = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.FunctionDef)]
    checked = [f for f in functions if any("check_arguments" in ast.unparse(line) for line in f.body)]
    return [
        f": {ast.unparse(a.annotation)}" for f in checked for a in (*f.args.args, *f.args.kwonlyargs) if a.annotation
    ]


class Odd:
    def __repr__(self) -> str:
        return "<odd\nobject\x1b[31m>"


class Wordless:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


def test_a_value_is_shown_on_one_line_whatever_it_says_of_itself():
    assert shown(Odd()) == "<odd object?[31m>"
    assert shown(Wordless()) == "a Wordless"
    assert len(shown("x" * 1000)) == 60


@pytest.mark.parametrize("text", ["a\nb\x1b[31m", "x" * 100_000, "\0"])
def test_a_message_is_one_printable_line_that_ends(text):
    said = str(KalabaError(f"before {text} after"))
    assert said.isprintable()
    assert said.startswith("before ")
    assert said.endswith(" after")
    assert len(said) <= 2000


def test_what_a_function_raises_is_the_cause_of_a_refusal():
    with pytest.raises(ControlError, match=r"law: the function raised KeyError: 'a'") as caught:
        called(lambda: {}["a"], "law", error=ControlError)
    assert isinstance(caught.value.__cause__, KeyError)
    with pytest.raises(KeyboardInterrupt):
        called(lambda: (_ for _ in ()).throw(KeyboardInterrupt), "law")


def test_arrays_are_finite_and_of_their_shape():
    assert finite_array([[1, 2]], "A", (None, 2)).dtype == np.float64
    for value, pattern in (("a", "real"), ([1.0], r"shape \(n, 2\), got shape \(1,\)"), ([[nan, 1]], "finite")):
        with pytest.raises(ModelError, match=pattern):
            finite_array(value, "A", (None, 2))


@pytest.mark.parametrize("scale", [1e-320, 1e-160, 1e160, 1e300])
def test_a_direction_of_any_length_is_unit(scale):
    """Squares of such components are zero, rounded or infinite."""
    axis = kb.Axis(3 * scale, 4 * scale, 0.0)
    assert axis.components == pytest.approx((0.6, 0.8, 0.0), rel=1e-3 if scale < 1e-300 else 1e-15)


def test_a_tolerance_of_zero_is_judged():
    run = kb.simulate(kb.load("four-bar"), 0.02, stepper=kb.Auto(rtol=0.0, atol=1e-6))
    assert run.accuracy.error.size < 1e-3


def raises(*_: object) -> object:
    raise RuntimeError("no")


class OddNumber(float):
    __lt__ = __add__ = raises


class OddText(str):
    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]
    __eq__ = raises  # type: ignore[assignment]


class OddMap(dict[str, float]):
    items = __iter__ = raises  # type: ignore[assignment]


class Silent:
    __repr__ = raises  # type: ignore[assignment]


MASKED = np.ma.array([1.0, 1.0, 1.0], mask=[0, 1, 0])


@pytest.mark.parametrize(
    ("hint", "value"),
    [(float, OddNumber(1.0)), (str, OddText("a")), (dict[str, float], OddMap(a=1.0)), (ArrayLike, MASKED)],
    ids=["number", "text", "map", "masked"],
)  # fmt: skip
def test_what_does_not_do_as_numbers_texts_and_arrays_do_is_none(hint, value):
    assert not kind(hint).accepts(value)


@pytest.mark.parametrize("value", [Silent(), 10**5000], ids=["silent", "long"])
@pytest.mark.parametrize(
    "call",
    [
        kb.build,
        lambda value: kb.simulate(kb.load("four-bar"), value),
        lambda value: kb.Visual("look", "crank", value),
        lambda value: kb.Carry(path=value),
        lambda value: kb.Beam(1.0, value, 2700.0, 7e10),
    ],
    ids=["build", "simulate", "Visual", "Carry", "Beam"],
)
def test_what_cannot_be_shown_is_refused_in_one_line(call, value):
    with pytest.raises(KalabaError, match="expected"):
        call(value)


def test_masked_numbers_are_no_inertia():
    with pytest.raises(KalabaError, match=r"Solid\.inertia"):
        kb.System("s", (kb.Body("a", kb.Solid(1.0, inertia=MASKED), joint=kb.Revolute()),))


class Closed:
    """Nothing but its class can be read."""

    def __getattribute__(self, name: str) -> object:
        if name == "__class__":
            return object.__getattribute__(self, name)
        raise RuntimeError("no")


class Unmapped(Mapping):  # type: ignore[type-arg]
    __getitem__ = raises  # type: ignore[assignment]

    def __iter__(self):
        return iter(("motor",))

    def __len__(self) -> int:
        return 1


class OddList(list[object]):
    __iter__ = __len__ = raises  # type: ignore[assignment]


class OddPair(tuple[object, ...]):
    __slots__ = ()
    __iter__ = __getitem__ = raises  # type: ignore[assignment]


@pytest.fixture(scope="module")
def four_bar() -> kb.Plant:
    return kb.build(kb.load("four-bar"))


REFUSED = {
    "a name": lambda _: kb.Frame("f", Closed()),
    "a rule": lambda _: kb.Carry(share=Closed()),
    "goals": lambda _: kb.IdealServo(Closed()),
    "a drive's law": lambda _: kb.Drive().around(Closed()),
    "a configuration": lambda plant: plant.motion(Closed(), plant.start.v),
    "an actuation": lambda plant: plant.step(plant.start, Closed()),
    "a state": lambda plant: plant.step(OddPair(plant.start)),
    "a control": lambda plant: kb.simulate(plant, 0.01, control=Closed()),
    "a control's map": lambda plant: kb.simulate(plant, 0.01, control=Unmapped()),
    "wrenches": lambda plant: plant.motion(*plant.start, wrenches=Unmapped()),
    "a condition": lambda plant: kb.simulate(plant, 0.01, stop=OddText("crank.angle > 9")),
    "a connection": lambda plant: plant.reaction(OddText("pin"), *plant.start),
    "names": lambda plant: plant.watch(OddList(["crank.angle"]), plant.inputs(*plant.start)),
    "one of the names": lambda plant: plant.watch((OddText("crank.angle"),), plant.inputs(*plant.start)),
    "a key": lambda plant: plant.once(OddText("key"), dict),
    "a key with a list": lambda plant: plant.once((1, []), dict),
    "levels": lambda _: kb.control.Cascade(OddList([()])),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_classes_that_raise_are_refused_in_one_line(call, four_bar):
    with pytest.raises(KalabaError):
        call(four_bar)


def test_names_of_readings_may_stand_in_a_list(four_bar):
    packed = four_bar.inputs(*four_bar.start)
    assert four_bar.watch(["crank.angle"], packed)[0] == pytest.approx(four_bar.watch(("crank.angle",), packed)[0])


def test_a_run_among_many_has_a_number():
    runs = kb.simulate_batch(kb.load("four-bar"), 0.01, parameters={"crank.mass": [1.0, 2.0]})
    assert runs.numbers(1) == {"crank.mass": 2.0}
    for number in (2, -1, "1", None):
        with pytest.raises(KalabaError, match="from 0 to 1"):
            runs.numbers(number)
