"""What is to be run on a machine: the section `run` of a file ↔ a Scenario.

Control laws, which need much of the package, are in `laws`, imported where a file has one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter

from kalaba.errors import KalabaError
from kalaba.files.yaml.checking import validated
from kalaba.files.yaml.encoding import Data, Encoder
from kalaba.files.yaml.kinds import Entry, Kinds, chosen, kinds_of, mapped
from kalaba.files.yaml.tree import Document
from kalaba.files.yaml.values import ExpressionEntry, TextEntry, number_type
from kalaba.model.system import System
from kalaba.run.scenario import Scenario
from kalaba.steppers import Stepper, stepper

if TYPE_CHECKING:
    from kalaba.plant.laws import Controller

RUN = "run"


def steppers() -> dict[str, type]:
    """Steppers by their words, without the classes that others are made from."""
    return {name: kind for name, kind in kinds_of(Stepper).items() if kind.__module__ != stepper.__name__}


@dataclass(frozen=True)
class RunSchema:
    """Types of the entries of a run, for the kinds that are defined.

    Arguments:
        kinds: types by class
        entries: the section
    """

    kinds: Kinds
    entries: TypeAdapter[Any]


def run_entries(families: Kinds, control: Any) -> RunSchema:
    """The schema of the section, with the type of its control."""
    time = number_type(("s",), with_expressions=False)
    entries = {
        "duration": (time, None),
        "stepper": (families.hinted(Stepper, ()), None),
        "control": (control, None),
        "save_every": (time, None),
        "description": (TextEntry, None),
        "published": (TextEntry, None),
    }
    model = families.entry("Run", entries, Entry, what="a run")
    model.source = Scenario
    families.finish()
    return RunSchema(families, TypeAdapter(model))


@lru_cache(maxsize=2)
def _without_laws(known: tuple[tuple[str, type], ...]) -> RunSchema:
    """The schema of a run whose control, if it has one, is an expression per motor."""
    families = Kinds({Stepper: ("stepper", dict(known))})
    families.drop_unreadable()
    return run_entries(families, mapped(ExpressionEntry))


def _has_law(data: object) -> bool:
    """Whether the control is something else than expressions by motor."""
    control = data.get("control", {}) if isinstance(data, Mapping) else {}
    return not isinstance(control, Mapping) or any(isinstance(entry, Mapping | list) for entry in control.values())


def _schema_for(data: object) -> RunSchema:
    if not _has_law(data):
        return _without_laws(chosen(steppers(), outside=True))
    from kalaba.files.yaml.laws import run_schema

    return run_schema()


def scenario(document: Document, system: System) -> Scenario:
    """What a file wants to be run on its machine."""
    data = document.data[RUN]
    values = validated(document, _schema_for(data).entries, data, (RUN,)).said()
    if "duration" not in values:
        values["duration"] = _own_duration(document, values.get("control"))
    try:
        return Scenario(system, **values)
    except KalabaError as error:
        raise document.error((RUN,), str(error).removeprefix(f"{system.name}: ")) from error


def _own_duration(document: Document, control: Mapping[str, str] | Controller | None) -> float:
    """How long a control law takes by itself."""
    duration = None if control is None or isinstance(control, Mapping) else control.duration
    if duration is None:
        raise document.error((RUN,), "expected an entry duration, such as 5 s, got none.")
    return duration


def run_data(described: Scenario) -> Data:
    """The entries of the section."""
    encoder, path = Encoder(), f"{described.system.name}.run"
    data: Data = {"duration": encoder.value(described.duration, ("s",), path)}
    if described.stepper is not None:
        data["stepper"] = encoder.kind(described.stepper, f"{path}.stepper")
    if isinstance(described.control, Mapping):
        data["control"] = encoder.value(described.control, (), f"{path}.control")
    elif described.control is not None:
        from kalaba.files.yaml.laws import control_data

        data["control"] = control_data(described.control, f"{path}.control")
    for name in ("save_every", "description", "published"):
        if (value := getattr(described, name)) != type(described).__dataclass_fields__[name].default:
            data[name] = encoder.value(value, ("s",), path)
    return data
