"""What is to be run on a machine: the section `run` of a file ↔ a Scenario."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from pydantic import TypeAdapter

from kalaba.errors import FileError, KalabaError
from kalaba.files.yaml.checking import validated
from kalaba.files.yaml.kinds import Entry, Kinds, kinds_of, mapped
from kalaba.files.yaml.tree import Document
from kalaba.files.yaml.values import ExpressionEntry, TextEntry, number_type
from kalaba.files.yaml.writing import encoded, kind_data
from kalaba.model.system import System
from kalaba.run.scenario import Scenario
from kalaba.steppers import Stepper, stepper

RUN = "run"


def steppers() -> dict[str, type]:
    """Steppers by their words, without the classes that others are made from."""
    return {name: kind for name, kind in kinds_of(Stepper).items() if kind.__module__ != stepper.__name__}


def run_entries() -> TypeAdapter[Any]:
    """The type of the section, for the kinds that are defined now."""
    return _run_entries(tuple(steppers().items()))


@lru_cache(maxsize=2)
def _run_entries(known: tuple[tuple[str, type], ...]) -> TypeAdapter[Any]:
    families = Kinds({Stepper: ("stepper", dict(known))})
    time = number_type(("s",), with_expressions=False)
    entries = {
        "duration": (time, None),
        "stepper": (families.hinted(Stepper, ()), None),
        "control": (mapped(ExpressionEntry), None),
        "save_every": (time, None),
        "description": (TextEntry, None),
        "published": (TextEntry, None),
    }
    model = families.entry("Run", entries, Entry, what="a run")
    families.finish()
    return TypeAdapter(model)


def scenario(document: Document, system: System) -> Scenario | None:
    """What a file wants to be run; None if it does not say."""
    if RUN not in document.data:
        return None
    values = validated(document, run_entries(), document.data[RUN], (RUN,)).said()
    if "duration" not in values:
        raise document.error((RUN,), "expected an entry duration, such as 5 s, got none.")
    try:
        return Scenario(system, **values)
    except KalabaError as error:
        raise document.error((RUN,), str(error).removeprefix(f"{system.name}: ")) from error


def run_data(described: Scenario) -> dict[str, Any]:
    """The entries of the section."""
    path = f"{described.system.name}.run"
    data: dict[str, Any] = {"duration": encoded(described.duration, ("s",), path)}
    if described.stepper is not None:
        data["stepper"] = kind_data(described.stepper, f"{path}.stepper")
    if described.control is not None:
        if not isinstance(described.control, Mapping):
            raise FileError(f"{path}.control: {type(described.control).__name__} cannot be written to a file.")
        data["control"] = {name: encoded(law, (), path) for name, law in described.control.items()}
    for name in ("save_every", "description", "published"):
        if (value := getattr(described, name)) != type(described).__dataclass_fields__[name].default:
            data[name] = encoded(value, ("s",), path)
    return data
