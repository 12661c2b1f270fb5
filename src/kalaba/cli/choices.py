"""Flags that commands share: what the shell offers for them on Tab, and how they are read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.flags import FlagGroup
from kalaba.errors import CommandError, KalabaError, near
from kalaba.model.formats import suffixes
from kalaba.results.places import RUN_SUFFIXES, RUN_SUFFIXES_IN_WORDS

if TYPE_CHECKING:
    from kalaba.constrain.solvers import Solver
    from kalaba.constrain.stabilisation import Stabilisation
    from kalaba.files.named import Named
    from kalaba.model.options import Choice, Option
    from kalaba.model.system import System
    from kalaba.run.scenario import Scenario
    from kalaba.steppers import Stepper

LAWS_OF_FILES = (
    "a file says who drives it: save it as .yaml (kalaba export) and write run: {control: {MOTOR: EXPRESSION}} there, "
    "or use kb.simulate(..., control=...)."
)


def machine_names(incomplete: str) -> list[str]:
    """Names of the catalogue that begin so."""
    from kalaba.robots.summaries import SUMMARIES

    return [name for name in SUMMARIES if name.startswith(incomplete)]


def run_files(incomplete: str) -> list[str]:
    """Saved runs whose path begins so, and the folders on the way to others."""
    return _files(incomplete, RUN_SUFFIXES)


def names_and_files(incomplete: str) -> list[str]:
    """Names of machines, and files that hold machines or runs."""
    return [*machine_names(incomplete), *_files(incomplete, suffixes())]


def _files(incomplete: str, endings: tuple[str, ...]) -> list[str]:
    folder, slash, start = incomplete.rpartition("/")
    try:
        paths = sorted(Path(folder + slash or ".").iterdir())
    except OSError:  # no such folder, or not ours to read: nothing to offer
        return []
    begins = [path for path in paths if path.name.startswith(start) and (start or path.name[0] != ".")]
    offered = ((path, "/" if path.is_dir() else "") for path in begins if path.is_dir() or path.suffix in endings)
    return [folder + slash + path.name + end for path, end in offered]


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
RootFlag = Annotated[
    list[Path] | None,
    typer.Option(
        "--root",
        metavar="FOLDER",
        help="A folder in which a file's package:// and model:// are looked for. May be repeated.",
    ),
]
LoopsFlag = Annotated[
    str | None, typer.Option(help="For kinds of files that cannot hold loops: a file beside it that says them.")
]
MACHINE_HELP = "A machine: a name that kalaba list names, or a file. my.py:robot is a value of a Python file."
NameArgument = Annotated[
    str,
    typer.Argument(metavar="MACHINE", help=MACHINE_HELP, autocompletion=names_and_files),
]
MachineOrRun = Annotated[
    str,
    typer.Argument(
        metavar="MACHINE_OR_RUN",
        help=f"A machine, as a name that kalaba list names or a file; or a saved run: {RUN_SUFFIXES_IN_WORDS}.",
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


class SolverName(StrEnum):
    """Solvers of the constrained motion by the names of the command line."""

    MASKED_LDL = "masked-ldl"
    UDWADIA_KALABA = "udwadia-kalaba"
    KKT = "kkt"
    NULL_SPACE = "null-space"


class StabilisationName(StrEnum):
    """Stabilisations by the names of the command line."""

    PROJECTION = "projection"
    BAUMGARTE = "baumgarte"
    NONE = "none"


DurationFlag = Annotated[float | None, typer.Option(help="Seconds to simulate, instead of the scenario's own.")]
StepFlag = Annotated[float | None, typer.Option(help="Step in seconds, a fixed one: of --stepper, or of rk4.")]
StepperFlag = Annotated[
    StepperName | None, typer.Option(metavar="NAME", help=f"How to integrate: {', '.join(StepperName)}.")
]
SolverFlag = Annotated[
    SolverName | None,
    typer.Option(metavar="NAME", help=f"How the constrained motion is solved: {', '.join(SolverName)}."),
]
StabilisationFlag = Annotated[
    StabilisationName | None,
    typer.Option(metavar="NAME", help=f"How rows are kept closed: {', '.join(StabilisationName)}."),
]
SaveEveryFlag = Annotated[
    float | None, typer.Option("--save-every", help="Seconds between samples, instead of the scenario's own.")
]


@dataclass(frozen=True)
class MachineFlags(FlagGroup):
    """The flags that say more of a machine than its name does."""

    changes: SetFlag = None
    roots: RootFlag = None
    loops: LoopsFlag = None

    def choose(self, name: str, **flags: str | None) -> Chosen:
        """The machine of a name with these; `flags` as `choose` takes them."""
        return choose(name, self.changes, self.roots, loops=self.loops, **flags)


@dataclass(frozen=True)
class Numerics(FlagGroup):
    """The flags that say how a run is computed; None: as the scenario has it, or the default."""

    stepper: StepperFlag = None
    step: StepFlag = None
    stabilisation: StabilisationFlag = None
    solver: SolverFlag = None
    save_every: SaveEveryFlag = None

    @property
    def flags(self) -> dict[str, object]:
        """What was given, by the name of its flag."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(self)}
        return {f"--{name.replace('_', '-')}": value for name, value in values.items() if value is not None}


@dataclass(frozen=True)
class Chosen:
    """A machine by its name or path, with what `--set` and other flags choose."""

    named: Named
    parameters: dict[str, float] = field(default_factory=dict)
    options: dict[str, Choice] = field(default_factory=dict)

    @property
    def system(self) -> System:
        """The machine."""
        return self.named.system(self.parameters, self.options)

    @property
    def scenario(self) -> Scenario:
        """What is to be run on it."""
        return self.named.scenario(self.parameters, self.options)

    def also(self, texts: Sequence[str], flag: str) -> Chosen:
        """The same with more of what `--set` takes."""
        added = _read(self.named, texts, flag)
        return Chosen(self.named, self.parameters | added.parameters, self.options | added.options)


def choose(
    name: str, texts: Sequence[str] | None = None, roots: Sequence[Path] | None = None, **flags: str | None
) -> Chosen:
    """Read a machine's name, `--set key=value` and flags such as `--allocation`, each short for an option of that name.

    A key with a dot is a parameter. One without is an option of the machine or of the kind of file; if there is none so
    called, it is a parameter that the machine itself declares.
    """
    from kalaba.files.named import named

    chosen = _read(named(name, roots or ()), texts or (), "--set")
    for key, value in flags.items():
        if value is None:
            continue
        options = chosen.named.options
        if key not in options:
            remedy = LAWS_OF_FILES if key == "control" and chosen.named.entry is None else near(key, options)
            raise CommandError(f"--{key} {value}: {chosen.named.title} has no option {key!r}; {remedy}")
        if key in chosen.options:
            raise CommandError(f"--{key} {value}: {key} is given twice. Name it once, as --{key} or in --set.")
        chosen.options[key] = value
    return chosen


def _read(named: Named, texts: Sequence[str], flag: str) -> Chosen:
    chosen = Chosen(named)
    for text in texts:
        key, equals, value = (piece.strip() for piece in text.partition("="))
        if not (key and equals and value):
            raise CommandError(f"{flag} {text}: expected key=value, for example {flag} {_example(named)}")
        if "." in key or (key not in _options(named) and key in named.parameters):
            chosen.parameters[key] = _number(f"{flag} {text}", value)
        else:
            chosen.options[key] = _option(named, key, value, flag)
    return chosen


def _options(named: Named) -> Mapping[str, Option]:
    """The machine's own, and those of any run."""
    from kalaba.files.named import RUN_OPTIONS

    return {**RUN_OPTIONS, **named.options}


def _example(named: Named) -> str:
    return next((f"{key}={option.default}" for key, option in named.options.items()), "crank.length=0.2")


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


def _option(named: Named, key: str, value: str, flag: str) -> Choice:
    """A value of an option, of the kind that its default is; a number where no such word is allowed."""
    options = _options(named)
    if key not in options:
        known = near(key, [*named.options, *named.parameters])
        raise CommandError(f"{flag} {key}={value}: {named.title} has no option or parameter {key!r}; {known}")
    default = options[key].default
    if isinstance(default, bool):
        return {"true": True, "yes": True, "false": False, "no": False}.get(value.lower(), value)
    try:
        number = type(default)(value) if isinstance(default, int | float) else float(value)
    except ValueError:
        return value  # refused by the option itself, which knows what is allowed
    takes_number = isinstance(default, int | float) or number in options[key].allowed
    return number if takes_number else value


def choose_solver(name: SolverName | None) -> Solver | None:
    """The solver of a flag; None: the default."""
    from kalaba.constrain.solvers import KKT, MaskedLDL, NullSpace, UdwadiaKalaba

    solvers: dict[SolverName, Solver] = {
        SolverName.MASKED_LDL: MaskedLDL(),
        SolverName.UDWADIA_KALABA: UdwadiaKalaba(),
        SolverName.KKT: KKT(),
        SolverName.NULL_SPACE: NullSpace(),
    }
    return None if name is None else solvers[name]


def choose_stabilisation(name: StabilisationName | None) -> Stabilisation:
    """The stabilisation of a flag; without one, projection."""
    from kalaba.constrain.stabilisation import Baumgarte, NoStabilisation, Projection

    stabilisations: dict[StabilisationName, Stabilisation] = {
        StabilisationName.PROJECTION: Projection(),
        StabilisationName.BAUMGARTE: Baumgarte(),
        StabilisationName.NONE: NoStabilisation(),
    }
    return stabilisations[name or StabilisationName.PROJECTION]


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
