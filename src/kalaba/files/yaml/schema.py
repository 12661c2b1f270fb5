"""The schema of kalaba YAML 1: which entries a machine has, and what can stand in each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, TypeAdapter

from kalaba.files.yaml.kinds import Entry, Kinds, chosen, either, kinds_of, listed, mapped, pairs, word
from kalaba.files.yaml.tree import shown
from kalaba.files.yaml.values import (
    ANY,
    EVERY,
    ExpressionEntry,
    ParameterEntry,
    TextEntry,
    checked,
    number_type,
    refuse,
)
from kalaba.joints import Joint, kinds
from kalaba.model.acting import Actuator, Force, Rotor, Sampled, Spring, Thruster
from kalaba.model.appearance import Shape, Visual
from kalaba.model.beams import beam  # noqa: F401  (a kind of solid)
from kalaba.model.beams.section import Section
from kalaba.model.beams.shapes import Shapes
from kalaba.model.parts import Body, Connection, Constraint, Frame, Output, Parameter, Start, Texts
from kalaba.model.solids import AnySolid
from kalaba.model.system import Placement
from kalaba.model.text.traced import Traced, recorded
from kalaba.space.number import Number
from kalaba.space.pose import AsFound, Pose

VERSION = 1
MOST_STEPS = 20_000  # of a recorded function
AS_FOUND = "as-found"
TRACED = "traced"
SECTIONS: dict[str, type] = {
    "parameters": Parameter,
    "place": Placement,
    "bodies": Body,
    "frames": Frame,
    "connections": Connection,
    "constraints": Constraint,
    "actuators": Actuator,
    "thrusters": Thruster,
    "springs": Spring,
    "rotors": Rotor,
    "forces": Force,
    "outputs": Output,
    "visuals": Visual,
}
RATES = ("m/s", "rad/s", "1/s")


def _traced(families: Kinds) -> Any:
    """The type of a recorded function: the expressions that it reads, names of its results, and its steps."""
    texts, steps = listed(TextEntry), listed(list[Any], MOST_STEPS)
    entries = {"arguments": (texts, ...), "results": (texts, ...), "steps": (steps, ...)}
    model = families.entry("Traced", entries, Entry, what="a recorded function")

    def record(entry: Entry) -> Traced:
        said = entry.said()
        return checked(lambda: recorded(said["arguments"], said["results"], said["steps"]))  # type: ignore[no-any-return]

    return Annotated[model, AfterValidator(record), BeforeValidator(_inner_trace)]


def _inner_trace(data: object) -> object:
    return data[TRACED] if is_traced(data) and isinstance(data, Mapping) else data


def is_traced(data: object) -> bool:
    """Whether an entry is {traced: {...}}."""
    return isinstance(data, Mapping) and list(data) == [TRACED] and isinstance(data[TRACED], Mapping)


def _map_or_trace(data: object) -> str:
    return TRACED if is_traced(data) else "map" if isinstance(data, Mapping) else "one"


def _special(families: Kinds) -> dict[Any, Any]:
    """Types of fields that are no numbers, axes, texts or kinds."""
    expressions: Any = Annotated[mapped(ExpressionEntry), AfterValidator(pairs)]
    three = listed(ExpressionEntry)
    pose, traced = families.value(Pose), _traced(families)

    def seat(data: object) -> str:
        return "one" if isinstance(data, str) else "map"

    def as_found(data: object) -> AsFound:
        if data != AS_FOUND:
            refuse(
                f"expected a place such as [0.1 m, 0, 0], {{position: ..., rpy: ...}} or {AS_FOUND}, got {shown(data)}."
            )
        return AsFound()

    one_row = Annotated[ExpressionEntry, AfterValidator(lambda text: (("", text),))]
    return {
        Texts | Traced: either(_map_or_trace, map=expressions, traced=traced, one=one_row),
        Texts: expressions,
        tuple[Number, ...] | Traced | Sampled: either(
            lambda data: "traced" if isinstance(data, Mapping) else "list", list=three, traced=traced
        ),
        Pose | AsFound: either(seat, map=pose, one=Annotated[Any, AfterValidator(as_found)]),
        Start: families.value(Start),
    }


@dataclass(frozen=True)
class Schema:
    """Types of all entries, for the kinds that are defined.

    Arguments:
        kinds: types by class
        system: a machine inside a file
        file: a whole file
        sections: the entries of each kind of part, by section
        solids: keys of a body that say what it is made of
    """

    kinds: Kinds
    system: TypeAdapter[Any]
    file: TypeAdapter[Any]
    sections: dict[str, type[Entry]]
    solids: tuple[str, ...]


def schema(*, outside: bool = True) -> Schema:
    """The schema with the kinds that are defined now; without those from outside the package if that is asked for."""
    joints = {word(kind): kind for kind in kinds().values()}
    others = (kinds_of(base) for base in (AnySolid, Section, Shapes, Shape))
    return _schema(*(chosen(known, outside=outside) for known in (joints, *others)))


@lru_cache(maxsize=4)
def _schema(*known: tuple[tuple[str, type], ...]) -> Schema:
    joints, solids, sections, sets, shapes = (dict(pairs) for pairs in known)
    families = Kinds(
        {
            Joint: ("joint", joints),
            AnySolid: ("solid", solids),
            Section: ("section", sections),
            Shapes: ("set of shapes", sets),
            Shape: ("shape", shapes),
        }
    )
    families.drop_unreadable()
    families.models[Start] = _start(families)
    families.special |= _special(families)
    parts = {name: _part(families, kind) for name, kind in SECTIONS.items()}
    entries = _entries(families, parts)
    system = families.entry("System", entries, Entry, what="a machine")
    file = families.entry("File", {"kalaba": (Any, None), **entries, "run": (Any, None)}, Entry, what="a machine")
    families.finish()
    return Schema(families, TypeAdapter(system), TypeAdapter(file), parts, tuple(families.kind_entries(AnySolid)))


def _start(families: Kinds) -> Any:
    """The type of a start."""
    held = either(
        lambda data: "map" if isinstance(data, Mapping) else "list" if isinstance(data, list) else "one",
        one=number_type(ANY, with_expressions=False),
        list=listed(number_type(("m",), with_expressions=False)),
        map=families.value(Pose),
    )
    speed = either(
        lambda data: "list" if isinstance(data, list) else "one",
        one=number_type(RATES, with_expressions=False),
        list=listed(number_type(RATES, with_expressions=False)),
    )
    entries: dict[str, Any] = {"hold": (mapped(held), {}), "guess": (mapped(held), {}), "speed": (mapped(speed), {})}
    model = families.entry("Start", entries, Entry, what="a start")
    model.source = Start
    return Annotated[model, AfterValidator(lambda entry: checked(lambda: Start(**entry.said())))]


def _part(families: Kinds, kind: type) -> type[Entry]:
    """The entries of a kind of part. None is needed: a part that changes one of the file that is extended has few."""
    if kind is Body:
        model = families.model(Body, ("name", "solid"), needed=False, before=families.kind_entries(AnySolid))
        model.first = ""
        return model
    if kind is Placement:
        entries: dict[str, Any] = {"system": (TextEntry, None), "set": (VALUES, {})}
        return families.model(Placement, ("name", "system", "parameters"), needed=False, before=entries)
    if kind is Parameter:
        return families.model(Parameter, ("name", "value"), needed=False, before={"value": (ParameterEntry, None)})
    return families.model(kind, ("name",), needed=False)


VALUES = mapped(number_type(EVERY, with_expressions=False))


def _entries(families: Kinds, parts: dict[str, type[Entry]]) -> dict[str, Any]:
    """The entries of a machine."""
    texts = listed(TextEntry)
    gravity = number_type(("m/s^2",), with_expressions=True)
    return {
        "name": (TextEntry, None),
        "extends": (TextEntry, None),
        "remove": (texts, []),
        "coordinates": (texts, []),
        "gravity": (listed(gravity), None),
        "systems": (dict[str, Any], {}),
        **{name: (mapped(part), {}) for name, part in parts.items()},
        "set": (VALUES, {}),
        "start": (families.models[Start], None),
        "cuts": (mapped(TextEntry), {}),
        "order": (texts, []),
    }
