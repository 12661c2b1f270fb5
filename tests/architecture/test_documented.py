"""Every argument of a public function and of a public class is documented, one line each, as the reference shows it."""

import inspect
import re
from dataclasses import dataclass, is_dataclass
from types import FunctionType, ModuleType

import pytest

import kalaba as kb

BOXES = (kb.System, kb.Equations, kb.Plant, kb.Run, kb.cooperate.ObjectSpace, kb.path.Path, kb.view.Studio)
BLOCK = re.compile(r"^Arguments:\n((?: {4,}.*\n?|\n)+)", re.MULTILINE)
ENTRY = re.compile(r"^ {4}\*{0,2}(\w+): \S", re.MULTILINE)


def public() -> dict[str, object]:
    """Public names with what they are, those of the rooms included."""
    shown = {name: getattr(kb, name) for name in kb.__all__}
    rooms = [value for value in shown.values() if isinstance(value, ModuleType)]
    return shown | {f"{room.__name__}.{name}": getattr(room, name) for room in rooms for name in room.__all__}


def functions() -> dict[str, FunctionType]:
    """Public functions and the methods of the boxes."""
    methods = {f"{box.__name__}.{name}": value for box in BOXES for name, value in vars(box).items() if name[0] != "_"}
    return {name: value for name, value in (public() | methods).items() if isinstance(value, FunctionType)}


def classes() -> dict[str, type]:
    """Public classes that are made of arguments: dataclasses and named tuples, each once."""
    kinds = {value: name for name, value in reversed(public().items()) if isinstance(value, type)}
    return {name: kind for kind, name in kinds.items() if is_dataclass(kind) or hasattr(kind, "_fields")}


def undocumented(thing: FunctionType | type) -> list[str]:
    """Arguments that the block `Arguments:` of a docstring does not name, and names in it that are no arguments."""
    names = [name for name in inspect.signature(thing).parameters if name not in {"self", "cls"}]
    block = BLOCK.search(inspect.cleandoc(thing.__doc__ or ""))  # its own, not that of the class it inherits from
    listed = ENTRY.findall(block[1]) if block else []
    return sorted({*names} ^ {*listed})


@pytest.mark.parametrize("name", functions())
def test_every_argument_of_a_function_is_documented(name: str):
    assert undocumented(functions()[name]) == []


@pytest.mark.parametrize("name", classes())
def test_every_argument_of_a_class_is_documented(name: str):
    assert undocumented(classes()[name]) == []


def test_an_argument_without_a_line_is_found():
    def good(q, *, t=0.0):
        """Do it.

        Arguments:
            q: configuration
            t: time, s
        """

    def bad(q, t):
        """Do it.

        Arguments:
            q: configuration
            time: s
        """

    @dataclass(frozen=True)
    class Inherits(kb.RungeKutta4):
        """A stepper."""

    assert undocumented(good) == []
    assert undocumented(bad) == ["t", "time"]
    assert undocumented(Inherits) == ["step"]
