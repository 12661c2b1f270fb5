"""Flags that commands share: what the shell offers for them on Tab, and how they are read."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.errors import CommandError, KalabaError, near
from kalaba.results.places import RUN_SUFFIXES, RUN_SUFFIXES_IN_WORDS

if TYPE_CHECKING:
    from kalaba.robots.entry import Choice, Entry
    from kalaba.steppers import Stepper

ENTRY = re.compile(r"^\s+(\w+)\.ENTRY,$", re.MULTILINE)


def machine_names(incomplete: str) -> list[str]:
    """Names of the catalogue that begin so.

    They are read from the text of the catalogue: importing it costs a second, and a shell asks at every Tab.
    """
    text = (Path(__file__).parents[1] / "robots" / "catalogue.py").read_text(encoding="utf-8")
    names = (module.replace("_", "-") for module in ENTRY.findall(text))
    return [name for name in names if name.startswith(incomplete)]


def run_files(incomplete: str) -> list[str]:
    """Saved runs whose path begins so, and the folders on the way to others."""
    folder, slash, start = incomplete.rpartition("/")
    try:
        paths = sorted(Path(folder + slash or ".").iterdir())
    except OSError:  # no such folder, or not ours to read: nothing to offer
        return []
    begins = [path for path in paths if path.name.startswith(start) and (start or path.name[0] != ".")]
    offered = ((path, "/" if path.is_dir() else "") for path in begins if path.is_dir() or path.suffix in RUN_SUFFIXES)
    return [folder + slash + path.name + end for path, end in offered]


def names_and_files(incomplete: str) -> list[str]:
    """Names of machines and saved runs, for commands that take either."""
    return [*machine_names(incomplete), *run_files(incomplete)]


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
MachineOrRun = Annotated[
    str,
    typer.Argument(
        metavar="MACHINE_OR_RUN",
        help=f"A machine of the catalogue, or a saved run: {RUN_SUFFIXES_IN_WORDS}.",
        autocompletion=names_and_files,
    ),
]


class StepperName(StrEnum):
    """Steppers by the names of the command line."""

    AUTO = "auto"
    RK4 = "rk4"
    DP5 = "dp5"
    KVAERNO = "kvaerno"
    SEMI_IMPLICIT_EULER = "semi-implicit-euler"
    RADAU = "radau"
    WILSON_THETA = "wilson-theta"
    NEWMARK = "newmark"
    HHT = "hht"
    GENERALISED_ALPHA = "generalised-alpha"
    CENTRAL_DIFFERENCE = "central-difference"


@dataclass(frozen=True, slots=True)
class Settings:
    """What `--set` sets."""

    parameters: dict[str, float] = field(default_factory=dict)
    options: dict[str, Choice] = field(default_factory=dict)


def read_settings(name: str, texts: Sequence[str] | None, flag: str = "--set") -> Settings:
    """Read `--set key=value` for a machine of the catalogue.

    A key with a dot is a parameter. One without is an option of the machine; if there is none so called, it is a
    parameter that the machine itself declares.
    """
    from kalaba.robots.catalogue import find

    entry, settings = find(name), Settings()
    for text in texts or ():
        key, equals, value = (piece.strip() for piece in text.partition("="))
        if not (key and equals and value):
            raise CommandError(f"{flag} {text}: expected key=value, for example {flag} {_example(entry)}")
        if "." in key or _is_parameter(entry, key):
            settings.parameters[key] = _number(f"{flag} {text}", value)
        else:
            settings.options[key] = _option(entry, key, value, flag)
    return settings


def read_flags(name: str, texts: Sequence[str] | None, **flags: str | None) -> Settings:
    """Read `--set` together with flags such as `--allocation`, each short for an option of that name."""
    from kalaba.robots.catalogue import find

    entry, settings = find(name), read_settings(name, texts)
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
    try:
        number = float(value)  # of an option that takes a number beside words
    except ValueError:
        return value
    return number if number in entry.options[key].allowed else value


def choose_stepper(name: StepperName | None, step: float | None, of_scenario: Stepper | None) -> Stepper:
    """The stepper of the flags, or the scenario's own, or the default: with a step that of fixed steps."""
    from kalaba import steppers

    default = steppers.Auto() if step is None else steppers.RungeKutta4()
    chosen = steppers.BY_NAME[name]() if name is not None else of_scenario if of_scenario is not None else default
    if step is None:
        return chosen
    if not chosen.has_step:
        raise CommandError(
            f"--step {step:g}: {type(chosen).__name__} chooses its own steps. Leave it out, or take --stepper rk4."
        )
    return chosen.with_step(step)
