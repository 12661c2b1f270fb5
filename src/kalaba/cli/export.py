"""`kalaba export`: a machine as a model file, its equations as LaTeX or SymPy, or as C for a controller."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.choices import (
    AllocationFlag,
    Chosen,
    JsonFlag,
    MachineFlags,
    NameArgument,
    QuietFlag,
)
from kalaba.cli.derive import MethodFlag, method_of
from kalaba.cli.terminal import console, print_json
from kalaba.errors import CommandError, FileError, near
from kalaba.model.formats import written_suffixes
from kalaba.results.places import check_place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kalaba.control.allocation import Allocation
    from kalaba.export.tex import Words
    from kalaba.model.system import System
    from kalaba.run.scenario import Scenario

EQUATIONS = (".tex", ".py")
SUFFIXES = (*EQUATIONS, ".c")


class FunctionName(StrEnum):
    """What is exported as C."""

    MOTION = "motion"
    INVERSE_DYNAMICS = "inverse-dynamics"
    SERVO = "servo"


OutputFlag = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        help="Where to write: .tex (LaTeX), .py (SymPy), .c, or a model: .yaml, .urdf, .sdf, .xml.",
        show_default=False,
    ),
]
FunctionFlag = Annotated[
    FunctionName | None,
    typer.Option(help="For .c: motion (by default), inverse-dynamics or servo.", show_default=False),
]
PlatformFlag = Annotated[
    str | None,
    typer.Option(
        help="Write the equations in the speeds of this frame, the platform of a parallel robot.", show_default=False
    ),
]
ObjectsFlag = Annotated[
    bool,
    typer.Option("--objects", help="Write the equations in the velocities of the objects that arms hold."),
]


def export(  # noqa: PLR0913  (one argument per flag)
    name: NameArgument,
    *,
    output: OutputFlag,
    flags: MachineFlags,
    method: MethodFlag = None,
    function: FunctionFlag = None,
    allocation: AllocationFlag = None,
    platform: PlatformFlag = None,
    objects: ObjectsFlag = False,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Write a machine to a file, by its suffix: its equations as LaTeX, SymPy or C; or itself as a model.

    Examples:
    kalaba export dual-mobile-arm -o eq.tex
    kalaba export planar-parallel -o eq.py
    kalaba export pus-upu -o ctl.c --function servo --allocation least-squares
    kalaba export pus-upu -o eq.tex --platform platform
    kalaba export two-arm-scissors -o eq.tex --objects
    """
    chosen = flags.choose(name)  # an unknown machine is said first
    check_place(output, (*SUFFIXES, *written_suffixes()))
    if platform is not None:
        others = {"method": method, "function": function, "allocation": allocation, "objects": objects or None}
        _refuse(others, "the form of --platform is by Kane and has none. Leave it out.")
        files = _export_platform(chosen, output, platform)
    elif objects:
        others = {"method": method, "function": function, "allocation": allocation}
        _refuse(others, "the form of --objects has none. Leave it out.")
        files = _export_objects(chosen, output)
    elif output.suffix.lower() == ".c":
        if method is not None:
            raise CommandError(f"--method {method}: C is made from what runs. Leave it out, or write to .tex or .py.")
        files = _export_c(chosen, output, function or FunctionName.MOTION, allocation)
    elif output.suffix.lower() in EQUATIONS:
        others = {"function": function, "allocation": allocation}
        _refuse(others, "only C has it. Leave it out, or write to a name that ends in .c.")
        files = (_export_equations(chosen, output, method),)
    else:
        others = {"method": method, "function": function, "allocation": allocation}
        _refuse(others, "a model file has no equations. Leave it out, or write to .tex, .py or .c.")
        files = (_export_model(chosen, output),)
    if as_json:
        print_json({"files": [str(file) for file in files]})
    elif not quiet:
        for file in files:
            console().print(f"written: {file}", markup=False)


def _refuse(flags: Mapping[str, object], why: str) -> None:
    """Say of the first flag that was given why it has no place."""
    for flag, value in flags.items():
        if value is not None:
            raise CommandError(f"--{flag} {value}: {why}")


def _words(chosen: Chosen, system: System) -> Words:
    """What is said of a machine beside its equations."""
    from kalaba.export.tex import Words

    entry = chosen.named.entry
    if entry is None:
        return Words(system.name, source=chosen.named.name)
    return Words(entry.name, entry.summary, entry.source, entry.errata, entry.notation)


def _export_equations(chosen: Chosen, output: Path, method: MethodFlag) -> Path:
    """The equations in print."""
    from kalaba.export.sympy_module import export_sympy
    from kalaba.export.tex import export_tex

    system = chosen.system
    write = export_tex if output.suffix.lower() == ".tex" else export_sympy
    return write(system, output, _words(chosen, system), method_of(method) if method is not None else None)


def _export_model(chosen: Chosen, output: Path) -> Path:
    """The machine as a model file; with its scenario, where there is one and the format holds it."""
    from kalaba.model.formats import save

    try:
        described: System | Scenario = chosen.scenario
    except FileError:  # a saved run that does not say how it was driven: its machine is there
        described = chosen.system
    return save(described, output)


def _export_platform(chosen: Chosen, output: Path, frame: str) -> tuple[Path, ...]:
    """The equations in the speeds of a platform."""
    from kalaba.control.platform_space import platform_space
    from kalaba.export.platform_form import export_platform

    system = chosen.system
    return export_platform(platform_space(system, frame), output, _words(chosen, system))


def _export_objects(chosen: Chosen, output: Path) -> tuple[Path, ...]:
    """The equations in the velocities of the objects."""
    from kalaba.cooperate.object_space import object_space
    from kalaba.export.object_form import export_objects

    system = chosen.system
    return export_objects(object_space(system), output, _words(chosen, system))


def _export_c(chosen: Chosen, output: Path, function: FunctionName, allocation: str | None) -> tuple[Path, ...]:
    """C, with the scenario's control where that is a servo."""
    from kalaba.export.c import export_c

    known, options = chosen.named.options, dict(chosen.options)
    shared = None
    if function == FunctionName.SERVO:
        if "control" in known:
            options.setdefault("control", "servo")
        if allocation is not None and "allocation" in known:
            options["allocation"], allocation = allocation, None
    if allocation is not None:
        shared = _allocation(allocation)
    scenario = replace(chosen, options=options).scenario
    return export_c(scenario, output, function=function.value, allocation=shared)


def _allocation(name: str) -> Allocation:
    from kalaba.control.allocation import Bounded, LeastSquares, MinMax

    kinds: dict[str, Callable[[], Allocation]] = {"least-squares": LeastSquares, "min-max": MinMax, "bounded": Bounded}
    if name not in kinds:
        raise CommandError(f"--allocation {name}: no such allocation; {near(name, kinds)}")
    return kinds[name]()
