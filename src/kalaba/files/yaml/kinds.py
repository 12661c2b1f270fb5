"""Entries of files from the classes of the model: their fields are the entries, their names the words for kinds.

A value of a kind is written in one of three ways, here a joint::

    joint: free                                   all its entries have their defaults
    joint: {revolute: -y}                         the first entry alone
    joint: {revolute: {axis: -y, q: theta1}}      entries by name

`Kinds` makes the types by which pydantic checks such values, for all kinds that are defined at that moment, those from
outside the package included.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields, is_dataclass
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, ClassVar, ForwardRef, Optional, Union, get_args, get_origin, get_type_hints

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Tag,
    create_model,
    model_validator,
)
from pydantic import Field as Declared

from kalaba.errors import near
from kalaba.files.yaml.tree import shown
from kalaba.files.yaml.values import (
    ANY,
    AxisEntry,
    TextEntry,
    TruthEntry,
    WholeEntry,
    checked,
    number_type,
    refuse,
)
from kalaba.joints import Joint
from kalaba.joints.joint import PACKAGE
from kalaba.space.pose import Axis
from kalaba.units import ALONG

PLAIN: dict[Any, Any] = {str: TextEntry, int: WholeEntry, bool: TruthEntry, Axis: AxisEntry}
_WORD_ENDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def word(kind: type) -> str:
    """What a kind is called in files: PointOnLine → point-on-line; steppers as on the command line."""
    name = vars(kind).get("name")  # a stepper's; other kinds have properties or nothing of that name
    return name if isinstance(name, str) and name else spelled(kind.__name__)


def spelled(name: str) -> str:
    """The name of a class as a word: PointOnLine → point-on-line."""
    return _WORD_ENDS.sub("-", name).lower()


def key_of(name: str) -> str:
    """A word as a name of Python's: it may be written so too."""
    return name.replace("-", "_")


def kinds_of(base: type) -> dict[str, type]:
    """All kinds below a class that can be made, by their words; of two classes of one name the later one."""
    found: dict[str, type] = {}
    subclasses: list[type] = base.__subclasses__()
    for kind in subclasses:
        if is_dataclass(kind) and "__dataclass_fields__" in vars(kind) and not kind.__name__.startswith("_"):
            found[word(kind)] = kind
        found |= kinds_of(kind)
    return found


def chosen(known: dict[str, type], *, outside: bool) -> tuple[tuple[str, type], ...]:
    """Kinds as pairs; those from outside the package only if that is asked for."""
    return tuple((name, kind) for name, kind in known.items() if outside or kind.__module__.startswith(PACKAGE))


def entries_of(kind: type) -> list[Field[Any]]:
    """The fields of a class that a file holds."""
    return [entry for entry in fields(kind) if entry.init and entry.compare]


def is_needed(entry: Field[Any]) -> bool:
    """Whether a field has no default."""
    return entry.default is MISSING and entry.default_factory is MISSING


def default_of(entry: Field[Any]) -> Any:
    """The default of a field; MISSING if it has none."""
    return entry.default if entry.default_factory is MISSING else entry.default_factory()


def units_of(kind: type, entry: Field[Any]) -> tuple[str, ...]:
    """Units that the numbers of a field may have.

    Those of a joint's `q` and `limits` are its displacements', and what acts along a displacement may act along a
    travel or an angle.
    """
    mark = entry.metadata
    units = (mark["unit"],) if "unit" in mark else tuple(mark.get("units", ()))
    if issubclass(kind, Joint) and entry.name in {"q", "limits"}:
        labels = kind.displacements
        return tuple(dict.fromkeys(unit for _, unit in labels)) if isinstance(labels, tuple) else ANY
    if acts_along_displacement(kind):
        return next((pair for pair in ALONG if units and units[0] in pair), units)
    return units


def acts_along_displacement(kind: type) -> bool:
    """Whether a kind of part acts along a displacement, whose unit says which its numbers have."""
    return any(entry.name == "displacement" for entry in fields(kind))


class Entry(BaseModel):
    """A map of a file whose keys are known; a value that is no map stands for its first entry."""

    model_config = ConfigDict(extra="forbid", arbitrary_types_allowed=True, protected_namespaces=())
    first: ClassVar[str] = ""
    what: ClassVar[str] = ""  # what it is, for messages
    source: ClassVar[object] = None  # the class whose fields its entries are, or the function that takes them

    @model_validator(mode="before")
    @classmethod
    def _written(cls, data: object) -> object:
        return cls.normalised(data)

    @classmethod
    def normalised(cls, data: object) -> object:
        """The map that is meant."""
        if not isinstance(data, Mapping):
            if cls.first and data is not None:
                return {cls.first: data}
            refuse(f"expected {cls.what or 'a map'} with {', '.join(cls.known_words())}, got {shown(data)}.")
        known = {key_of(name): name for name in cls.known_words()}
        for name in data:
            if key_of(name) not in known:
                refuse(f"unknown key; {near(name, known.values())}{_hint(name)}", name)
        spelled = {known[key_of(name)]: value for name, value in data.items()}
        if len(spelled) < len(data):
            refuse("expected each key once, got one with - and with _.")
        return spelled

    @classmethod
    def known_words(cls) -> list[str]:
        """Its keys."""
        return [entry.alias or name for name, entry in cls.model_fields.items()]

    def said(self) -> dict[str, Any]:
        """What the file says, by key."""
        entries = type(self).model_fields
        return {str(entries[name].alias): getattr(self, name) for name in entries if name in self.model_fields_set}


def _hint(name: str) -> str:
    return ". Write a text with commas in quotes" if ")" in name else ""


class Choice(Entry):
    """One of some kinds: its word, or a map with its word as the only key."""

    @classmethod
    def normalised(cls, data: object) -> object:
        """The kind with its entries."""
        if isinstance(data, str):
            data = {data: {}}
        if not isinstance(data, Mapping) or len(data) != 1:
            refuse(f"expected one {cls.what}: {', '.join(cls.known_words())}; got {shown(data)}.")
        [(name, content)] = data.items()
        known = {key_of(kind): kind for kind in cls.known_words()}
        if key_of(name) not in known:
            refuse(f"no {cls.what} {name!r}; {near(name, known.values())}", name)
        return {known[key_of(name)]: {} if content is None else content}

    def chosen(self) -> Any:
        """The value of the kind."""
        [value] = self.said().values()
        return value


@dataclass
class Kinds:
    """Types of entries, made of classes.

    Arguments:
        families: what each base class is called in messages, and its kinds by their words
        special: types of fields whose annotations are no numbers, axes, texts or kinds
    """

    families: dict[Any, tuple[str, dict[str, type]]]
    special: dict[Any, Any] = field(default_factory=dict)
    models: dict[type, Any] = field(default_factory=dict)
    made: list[type[BaseModel]] = field(default_factory=list)

    def finish(self) -> None:
        """Make the types of all families; those that refer to each other or to themselves find each other here."""
        names = {self._reference(base): self.choice(base) for base in self.families}
        for model in self.made:
            model.model_rebuild(_types_namespace=names)

    def drop_unreadable(self) -> None:
        """Leave out kinds from outside the package that have fields which no file can hold."""
        for _, known in self.families.values():
            for name, kind in chosen(known, outside=True):
                if kind.__module__.startswith(PACKAGE):
                    continue
                try:
                    self.model(kind)
                except (TypeError, NameError):
                    del known[name]

    def _reference(self, base: Any) -> str:
        return f"{self.families[base][0].title().replace(' ', '')}Entry"

    def choice(self, base: Any) -> Any:
        """The type of a value of one of the kinds of a family."""
        if base not in self.models:
            what, known = self.families[base]
            model = self.entry(f"Any{self._reference(base)}", self.kind_entries(base), Choice, what=what)
            self.models[base] = Annotated[model, AfterValidator(lambda entry: entry.chosen())]
            for kind in known.values():
                self.value(kind)
        return self.models[base]

    def kind_entries(self, base: Any) -> dict[str, tuple[Any, Any]]:
        """One entry per kind of a family, none of them needed."""
        return {name: (self.value(kind), None) for name, kind in self.families[base][1].items()}

    def value(self, kind: type) -> Any:
        """The type of a value of one class."""
        if kind not in self.models:
            model = self.model(kind)

            def make(entry: Entry) -> Any:
                return checked(lambda: kind(**entry.said()))

            self.models[kind] = Annotated[model, AfterValidator(make)]
        return self.models[kind]

    def model(
        self,
        kind: type,
        without: tuple[str, ...] = (),
        *,
        needed: bool = True,
        before: Mapping[str, tuple[Any, Any]] = MappingProxyType({}),
    ) -> type[Entry]:
        """The entries of a class, without some fields and after some entries that are none."""
        entries = [entry for entry in entries_of(kind) if entry.name not in without]
        hints = get_type_hints(kind)
        entered = {
            entry.name: (self.entry_type(kind, entry, hints[entry.name]), ... if needed and is_needed(entry) else None)
            for entry in entries
        }
        every = {**before, **entered}
        model = self.entry(kind.__name__, every, Entry, first=next(iter(every), ""), what=f"a {word(kind)}")
        model.source = kind
        return model

    def entry(self, name: str, entries: dict[str, Any], base: type[Entry], **members: str) -> type[Entry]:
        """A map with these entries."""
        named = {
            f"entry_{key_of(key)}": (kind, Declared(default, alias=key)) for key, (kind, default) in entries.items()
        }
        model: type[Entry] = create_model(name, __base__=base, **named)  # type: ignore[call-overload]
        for member, text in members.items():
            setattr(model, member, text)
        self.made.append(model)
        return model

    def entry_type(self, kind: type, entry: Field[Any], hint: Any) -> Any:
        """The type of a field's entry."""
        mark, units = entry.metadata, units_of(kind, entry)
        if "parts" in mark:
            one = number_type(units, with_expressions=True, words=mark["description"])
            many = listed(one) if mark["parts"] else one
            return Optional[many] if entry.default is None else many  # noqa: UP045  (of a name of a type)
        return self.hinted(hint, units)

    def hinted(self, hint: Any, units: tuple[str, ...]) -> Any:  # noqa: PLR0911  (one case per kind of annotation)
        """The type of an annotation."""
        if hint in self.special:
            return self.special[hint]
        if hint in PLAIN:
            return PLAIN[hint]
        if hint in (float, float | str):
            return number_type(units, with_expressions=hint is not float)
        if hint in self.families:
            return ForwardRef(self._reference(hint))
        origin, arguments = get_origin(hint), get_args(hint)
        if origin in (Union, UnionType) and NoneType in arguments:
            rest = [argument for argument in arguments if argument is not NoneType]
            return Optional[self.hinted(Union[tuple(rest)], units)]  # noqa: UP007, UP045  (of names of types)
        if origin is tuple:
            return listed(self.hinted(arguments[0], units))
        if is_dataclass(hint) and isinstance(hint, type):
            return self.value(hint)
        raise TypeError(f"no entry of a file for {hint}")


def either(choose: Any, **types: Any) -> Any:
    """A type that is one of several; `choose` tells from what is written which."""
    tagged = tuple(Annotated[inner, Tag(tag)] for tag, inner in types.items())
    return Annotated[Union[tagged], Discriminator(choose)]  # noqa: UP007  (of a tuple)


def pairs(entries: Mapping[str, Any]) -> tuple[tuple[str, Any], ...]:
    """A map as pairs."""
    return tuple(entries.items())


def mapped(one: Any) -> Any:
    """The type of a map from names."""
    return dict.__class_getitem__((str, one))


def listed(one: Any, most: int | None = None) -> Any:
    """The type of a list, which becomes a tuple; of at most so many entries."""

    def checked_length(entries: object) -> object:
        if most is not None and isinstance(entries, list) and len(entries) > most:
            refuse(f"expected at most {most} entries, got {len(entries)} of them.")
        return entries

    return Annotated[list.__class_getitem__(one), BeforeValidator(checked_length), AfterValidator(tuple)]
