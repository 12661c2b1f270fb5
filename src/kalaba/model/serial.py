"""A System as plain data and back: dicts, lists, texts and numbers that any JSON writer takes. Nothing is executed.

Every value of the model is a dataclass and is written as its fields beside its `kind`; only the kinds listed here
and the joints that are defined are read. Numbers keep all their digits. A placed System is written once, under a digest
of its content::

    {"kalaba": 1, "system": {"kind": "System", "name": …, "parts": […]}, "systems": {"3f0a…": {…}}}
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from numbers import Integral, Real
from typing import Any, NoReturn

from kalaba.boundary import shown
from kalaba.errors import ModelError, near
from kalaba.joints import Joint, kinds
from kalaba.model import acting, appearance, parts, system
from kalaba.model import solids as solid
from kalaba.model.acting import Sampled
from kalaba.model.beams import beam, section, shapes
from kalaba.model.system import System
from kalaba.model.text.traced import Traced, recorded, steps
from kalaba.space import pose

FORMAT = 1
DIGEST_LENGTH = 16

KINDS: dict[str, type[Any]] = {
    name: kind
    for module in (system, parts, acting, appearance, solid, beam, section, shapes, pose)
    for name, kind in vars(module).items()
    if isinstance(kind, type)
    and is_dataclass(kind)
    and kind.__module__ == module.__name__
    and kind not in {Sampled, solid.AnySolid, appearance.Shape, appearance.MachineVisual}
}


@dataclass(frozen=True, slots=True)
class NotStored:
    """Stands for a Python function that a file could not hold; says so when it is called."""

    name: str

    def __call__(self, *_: object) -> NoReturn:
        """Refuse."""
        raise ModelError(
            f"{self.name}: a file holds no Python functions. Remove the part and add it again with its function."
        )


def to_plain(described: System) -> dict[str, Any]:
    """Write a System as plain data."""
    shared: dict[str, Any] = {}
    return {"kalaba": FORMAT, "system": _fields(described, shared), "systems": shared}


def from_plain(plain: object) -> System:
    """Make the System that plain data describe, or raise a ModelError that names the place."""
    if not isinstance(plain, Mapping) or "system" not in plain:
        raise ModelError("system: expected data with an entry `system`, got something else. Write it with to_plain.")
    if plain.get("kalaba") != FORMAT:
        raise ModelError(f"system: expected format {FORMAT}, got {plain.get('kalaba')!r}. Read it with a newer kalaba.")
    described = _Reader(plain.get("systems", {}), {}).value(plain["system"], "system")
    if not isinstance(described, System):
        raise ModelError(f"system: expected a System, got {type(described).__name__}.")
    return described


def to_json(described: System) -> str:
    """Write a System as one line, keys in order."""
    return _line(to_plain(described))


def from_json(text: str) -> System:
    """Make the System that a line of `to_json` describes."""
    try:
        plain = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"system: expected JSON, got {text[:40]!r}… Is the file complete?") from error
    return from_plain(plain)


def _line(plain: object) -> str:
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def _plain(value: Any, shared: dict[str, Any]) -> Any:  # noqa: PLR0911  (one per kind of value)
    """Write one value; placed Systems go to `shared`."""
    if value is None or isinstance(value, str | bool):
        return value
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value) if math.isfinite(value) else {"kind": "number", "is": repr(float(value))}
    if isinstance(value, System):
        return {"kind": "System", "same_as": _share(value, shared)}
    if isinstance(value, Traced):
        plain = {"arguments": value.arguments, "results": value.results, "steps": steps(value)}
        return {"kind": "Traced", **{key: _plain(entry, shared) for key, entry in plain.items()}}
    if isinstance(value, Sampled):
        return {"kind": "Sampled", "function": function_name(value.function), "rate": float(value.rate)}
    if isinstance(value, Joint) or type(value) in KINDS.values():
        return _fields(value, shared)
    if isinstance(value, Iterable):
        return [_plain(entry, shared) for entry in value]
    raise ModelError(f"system: {type(value).__name__} cannot be written as plain data: {shown(value)}.")


def _fields(value: Any, shared: dict[str, Any]) -> dict[str, Any]:
    entries = {entry.name: _plain(getattr(value, entry.name), shared) for entry in fields(value) if entry.compare}
    return {"kind": type(value).__name__, **entries}


def _share(placed: System, shared: dict[str, Any]) -> str:
    plain = _fields(placed, shared)
    digest = hashlib.sha256(_line(plain).encode()).hexdigest()[:DIGEST_LENGTH]
    shared[digest] = plain
    return digest


def function_name(function: Any) -> str:
    """What a Python function is called, with its module; a callable without a name by its class."""
    if isinstance(function, NotStored):
        return function.name
    # Python says of no callable that it has a name: functions and classes do, partial objects do not.
    module, name = (getattr(function, entry, "") for entry in ("__module__", "__qualname__"))
    return f"{module}.{name}" if name else type(function).__qualname__


@dataclass(frozen=True, slots=True)
class _Reader:
    """Reads values; `known` keeps the shared Systems read so far (None while one is being read)."""

    shared: Mapping[str, Any]
    known: dict[str, System | None]

    def value(self, plain: Any, where: str) -> Any:
        """Read one value; lists become tuples."""
        if isinstance(plain, list | tuple):
            return tuple(self.value(entry, where) for entry in plain)
        if not isinstance(plain, Mapping):
            return plain
        entries = dict(plain)
        kind = entries.pop("kind", None)
        where = f"{where}.{entries['name']}" if isinstance(entries.get("name"), str) else where
        if kind == "System" and "same_as" in entries:
            return self._shared(entries["same_as"], where)
        return self._made(str(kind), {key: self.value(entry, where) for key, entry in entries.items()}, where)

    def _shared(self, digest: str, where: str) -> System:
        if digest not in self.known:
            if digest not in self.shared:
                raise ModelError(f"{where}: no System {digest!r} beside it; {near(digest, self.shared)}")
            self.known[digest] = None
            self.known[digest] = self.value(self.shared[digest], where)
        described = self.known[digest]
        if not isinstance(described, System):
            raise ModelError(f"{where}: expected a System {digest!r} that does not contain itself.")
        return described

    @staticmethod
    def _made(kind: str, entries: dict[str, Any], where: str) -> Any:
        known = KINDS | kinds()
        try:
            match kind:
                case "number":
                    return float(entries["is"])
                case "Traced":
                    return recorded(entries["arguments"], entries["results"], entries["steps"])
                case "Sampled":
                    return Sampled(NotStored(str(entries["function"])), entries["rate"])
                case _ if kind in known:
                    return known[kind](**entries)
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            raise ModelError(
                f"{where}: no {kind} can be made of {_shown(entries)} ({error}). A newer kalaba may read it."
            ) from error
        raise ModelError(
            f"{where}: unknown kind {kind!r}; {near(kind, known)} It may be of a newer kalaba, or a joint of your own: "
            "import the module that defines it."
        )


def _shown(entries: dict[str, Any]) -> str:
    text = repr(entries)
    return text if len(text) <= 80 else f"{text[:77]}..."
