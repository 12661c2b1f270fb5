"""Which entry of the catalogue a run is of: by the machine's name, and by its structure and its kind of control."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from kalaba.model.fingerprint import fingerprint
from kalaba.model.options import Choice
from kalaba.plant.laws import written
from kalaba.robots import catalogue
from kalaba.robots.catalogue import ENTRIES

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.run.scenario import Scenario


def with_figures() -> tuple[str, ...]:
    """Names of the machines whose source has figures."""
    return tuple(name for name, entry in ENTRIES.items() if entry.figures is not None)


def scenario_with(name: str, parameters: Mapping[str, float], options: Mapping[str, Choice]) -> Scenario:
    """The scenario of a machine with options, and with those of the parameters that it has."""
    plain = catalogue.scenario(name, {}, **options)
    known = {parameter.name for parameter in plain.system.machine.parameters}
    values = {key: value for key, value in parameters.items() if key in known}
    return catalogue.scenario(name, values, **options) if values else plain


def is_scenario(run: Run, chosen: Scenario) -> bool:
    """Whether a run is one of a scenario, whatever its numbers: the same structure and the same control.

    Expressions of motors are compared as they are read; of controllers the kind alone.
    """
    same = fingerprint(run.plant.machine) == fingerprint(chosen.system.machine)
    return same and _control(run.effort.settings.get("control", "")) == _control(_words(chosen))


def is_told_by(run: Run, chosen: Scenario) -> bool:
    """Whether a run is one of a scenario with the very numbers of its path and law, so that its description holds."""
    return is_scenario(run, chosen) and run.effort.settings.get("control", "") == _words(chosen)


def changed(run: Run, chosen: Scenario) -> dict[str, float]:
    """Numbers of a run's machine that are not those of a scenario."""
    usual = {parameter.name: parameter.value for parameter in chosen.system.machine.parameters}
    return {p.name: p.value for p in run.plant.machine.parameters if p.name in usual and usual[p.name] != p.value}


def _words(chosen: Scenario) -> str:
    if chosen.control is None:
        return ""
    return written(chosen.control) if isinstance(chosen.control, Mapping) else repr(chosen.control)


def _control(text: str) -> str:
    """What tells controls apart: the kind of a controller, or the expressions of the motors."""
    return _kind(text) or text


def _kind(text: str) -> str:
    """`Servo(...)` is Servo; texts of motors and none have no kind."""
    head, bracket, _ = text.partition("(")
    return head if bracket and head.isidentifier() else ""
