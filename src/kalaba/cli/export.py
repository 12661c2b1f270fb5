"""`kalaba export`: a machine's equations as LaTeX or SymPy, or as C for a controller."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.choices import AllocationFlag, JsonFlag, NameArgument, QuietFlag, SetFlag, read_settings
from kalaba.cli.derive import MethodFlag, method_of
from kalaba.cli.terminal import console, print_json
from kalaba.errors import CommandError, near
from kalaba.results.places import check_place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from kalaba.cli.choices import Settings
    from kalaba.control.allocation import Allocation

EQUATIONS = (".tex", ".py")
SUFFIXES = (*EQUATIONS, ".c")


class FunctionName(StrEnum):
    """What is exported as C."""

    MOTION = "motion"
    INVERSE_DYNAMICS = "inverse-dynamics"
    SERVO = "servo"


OutputFlag = Annotated[
    Path, typer.Option("-o", "--output", help="Where to write: .tex (LaTeX), .py (SymPy) or .c.", show_default=False)
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


def export(  # noqa: PLR0913  (one argument per flag)
    name: NameArgument,
    *,
    output: OutputFlag,
    changes: SetFlag = None,
    method: MethodFlag = None,
    function: FunctionFlag = None,
    allocation: AllocationFlag = None,
    platform: PlatformFlag = None,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Write a machine's equations to a file, by its suffix: LaTeX, SymPy, or C.

    Examples:
    kalaba export dual-mobile-arm -o eq.tex
    kalaba export planar-parallel -o eq.py
    kalaba export pus-upu -o ctl.c --function servo --allocation least-squares
    kalaba export pus-upu -o eq.tex --platform platform
    """
    from kalaba.robots.catalogue import find

    find(name)  # an unknown machine is said first
    check_place(output, SUFFIXES)
    if platform is not None:
        flags = {"method": method, "function": function, "allocation": allocation}
        _refuse(flags, "the form of --platform is by Kane and has none. Leave it out.")
        files = _export_platform(name, output, read_settings(name, changes), platform)
    elif output.suffix.lower() == ".c":
        if method is not None:
            raise CommandError(f"--method {method}: C is made from what runs. Leave it out, or write to .tex or .py.")
        files = _export_c(name, output, read_settings(name, changes), function or FunctionName.MOTION, allocation)
    else:
        flags = {"function": function, "allocation": allocation}
        _refuse(flags, "only C has it. Leave it out, or write to a name that ends in .c.")
        files = (_export_equations(name, output, read_settings(name, changes), method),)
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


def _export_equations(name: str, output: Path, settings: Settings, method: MethodFlag) -> Path:
    """The equations in print."""
    from kalaba.export.sympy_module import export_sympy
    from kalaba.export.tex import Words, export_tex
    from kalaba.robots.catalogue import find, load

    entry = find(name)
    words = Words(entry.name, entry.summary, entry.source, entry.errata, entry.notation)
    system = load(name, settings.parameters, **settings.options)
    write = export_tex if output.suffix.lower() == ".tex" else export_sympy
    return write(system, output, words, method_of(method) if method is not None else None)


def _export_platform(name: str, output: Path, settings: Settings, frame: str) -> tuple[Path, ...]:
    """The equations in the speeds of a platform."""
    from kalaba.control.platform_space import platform_space
    from kalaba.export.platform_form import export_platform
    from kalaba.export.tex import Words
    from kalaba.robots.catalogue import find, load

    entry = find(name)
    words = Words(entry.name, entry.summary, entry.source, entry.errata, entry.notation)
    return export_platform(platform_space(load(name, settings.parameters, **settings.options), frame), output, words)


def _export_c(
    name: str, output: Path, settings: Settings, function: FunctionName, allocation: str | None
) -> tuple[Path, ...]:
    """C, with the scenario's control where that is a servo."""
    from kalaba.export.c import export_c
    from kalaba.robots.catalogue import find, scenario

    entry, options = find(name), dict(settings.options)
    shared = None
    if function == FunctionName.SERVO:
        if "control" in entry.options:
            options.setdefault("control", "servo")
        if allocation is not None and "allocation" in entry.options:
            options["allocation"], allocation = allocation, None
    if allocation is not None:
        shared = _allocation(allocation)
    return export_c(scenario(name, settings.parameters, **options), output, function=function.value, allocation=shared)


def _allocation(name: str) -> Allocation:
    from kalaba.control.allocation import Bounded, LeastSquares, MinMax

    kinds: dict[str, Callable[[], Allocation]] = {"least-squares": LeastSquares, "min-max": MinMax, "bounded": Bounded}
    if name not in kinds:
        raise CommandError(f"--allocation {name}: no such allocation; {near(name, kinds)}")
    return kinds[name]()
