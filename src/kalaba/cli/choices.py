"""Flags that commands share: `--set`, the stepper, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.completion import machine_names
from kalaba.errors import CommandError, KalabaError, near

if TYPE_CHECKING:
    from kalaba.robots.entry import Choice, Entry
    from kalaba.steppers import Stepper

SetFlag = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="A parameter by its path (left.link2.mass=5), or an option of the machine (arms=8). May be repeated.",
    ),
]
AllocationFlag = Annotated[
    str | None, typer.Option(help="How motors share a load, for machines with that option: least-squares, min-max, ...")
]
ControlFlag = Annotated[
    str | None, typer.Option(help="Who drives the machine, for machines with that option: servo, hybrid, ...")
]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
QuietFlag = Annotated[bool, typer.Option("--quiet", help="Print nothing unless it goes wrong.")]
NameArgument = Annotated[
    str, typer.Argument(help="A machine of the catalogue; kalaba list names them.", autocompletion=machine_names)
]


class StepperName(StrEnum):
    """Steppers by the names of the command line."""

    RK4 = "rk4"
    DP5 = "dp5"
    SEMI_IMPLICIT_EULER = "semi-implicit-euler"
    RADAU = "radau"
    WILSON_THETA = "wilson-theta"
    NEWMARK = "newmark"
    HHT = "hht"
    GENERALISED_ALPHA = "generalised-alpha"
    CENTRAL_DIFFERENCE = "central-difference"


@dataclass(frozen=True, slots=True)
class Settings:
    """What `--set` asked for."""

    parameters: dict[str, float] = field(default_factory=dict)
    options: dict[str, Choice] = field(default_factory=dict)


def read_settings(name: str, given: Sequence[str] | None, flag: str = "--set") -> Settings:
    """Read `--set key=value` for a machine of the catalogue.

    A key with a dot is a parameter. One without is an option of the machine; if there is none so called, it is a
    parameter that the machine itself declares.
    """
    from kalaba.robots.catalogue import find

    entry, settings = find(name), Settings()
    for text in given or ():
        key, equals, value = (piece.strip() for piece in text.partition("="))
        if not (key and equals and value):
            raise CommandError(f"{flag} {text}: expected key=value, for example {flag} {_example(entry)}")
        if "." in key or _is_parameter(entry, key):
            settings.parameters[key] = _number(f"{flag} {text}", value)
        else:
            settings.options[key] = _option(entry, key, value, flag)
    return settings


def read_flags(name: str, given: Sequence[str] | None, **flags: str | None) -> Settings:
    """Read `--set` together with flags such as `--allocation`, each short for an option of that name."""
    from kalaba.robots.catalogue import find

    entry, settings = find(name), read_settings(name, given)
    for key, value in flags.items():
        if value is None:
            continue
        if key not in entry.options:
            raise CommandError(f"--{key} {value}: {entry.name} has no option {key!r}; {near(key, entry.options)}")
        if key in settings.options:
            raise CommandError(f"--{key} {value}: {key} is given twice. Name it once, as --{key} or in --set.")
        settings.options[key] = value
    return settings


def _example(entry: Entry) -> str:
    return next((f"{key}={option.default}" for key, option in entry.options.items()), "crank.length=0.2")


def _is_parameter(entry: Entry, key: str) -> bool:
    return key not in entry.options and key in _parameters(entry)


def _parameters(entry: Entry) -> list[str]:
    return [parameter.name for parameter in entry.build(**entry.settings({})).machine.parameters]


def _number(text: str, value: str) -> float:
    """A number, or arithmetic on numbers such as pi/2."""
    from kalaba.model.text.expressions import parse

    try:
        number = parse(value).constant
    except KalabaError:
        number = None
    if number is None:
        raise CommandError(f"{text}: expected a number, got {value!r}. Write it like 0.2, 1e-3 or pi/2.")
    return number


def _option(entry: Entry, key: str, value: str, flag: str) -> Choice:
    if key not in entry.options:
        known = near(key, [*entry.options, *_parameters(entry)])
        raise CommandError(f"{flag} {key}={value}: {entry.name} has no option or parameter {key!r}; {known}")
    default = entry.options[key].default
    if isinstance(default, bool):
        return {"true": True, "yes": True, "false": False, "no": False}.get(value.lower(), value)
    if isinstance(default, int | float):
        try:
            return type(default)(value)
        except ValueError:
            return value  # refused by the option itself, which knows what is allowed
    return value


def choose_stepper(name: StepperName | None, step: float | None, own: Stepper | None) -> Stepper:
    """The stepper of the flags, or the scenario's own, or the default."""
    from kalaba import steppers

    chosen = steppers.BY_NAME[name]() if name is not None else own if own is not None else steppers.RungeKutta4()
    if step is None:
        return chosen
    if not chosen.has_step:
        raise CommandError(
            f"--step {step:g}: {type(chosen).__name__} chooses its own steps. Leave it out, or take --stepper rk4."
        )
    return chosen.with_step(step)
