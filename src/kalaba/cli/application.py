"""The application: all commands under one name, and one line to stderr for whatever goes wrong or is doubtful."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import typer

from kalaba.cli.check import check
from kalaba.cli.compare import compare
from kalaba.cli.derive import derive
from kalaba.cli.export import export
from kalaba.cli.help import laid_out
from kalaba.cli.listing import list_machines
from kalaba.cli.plot import plot
from kalaba.cli.report import report
from kalaba.cli.run import run
from kalaba.cli.show import show
from kalaba.cli.terminal import Colour, plain_warnings, say
from kalaba.cli.view import view
from kalaba.errors import KalabaError

REFUSED = 2  # exit code of anything that kalaba refuses or that breaks off
INTERRUPTED = 130

app = typer.Typer(name="kalaba", no_args_is_help=True, pretty_exceptions_enable=False)
app.command("list")(list_machines)
app.command("show")(show)
app.command("check")(check)
app.command("run")(run)
app.command("compare")(compare)
app.command("derive")(derive)
app.command("export")(export)
app.command("plot")(plot)
app.command("report")(report)
app.command("view")(view)

# What typer raises on a command line that it cannot read; its home differs between versions.
UsageProblem: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def invoke(arguments: Sequence[str]) -> int:
    """Run a command line and give its exit code; every problem and every warning is one line on stderr."""
    command = typer.main.get_command(laid_out(app))
    try:
        with plain_warnings():
            code = command.main(list(arguments), prog_name="kalaba", standalone_mode=False)
        sys.stdout.flush()
    except KalabaError as error:
        return _say(str(error), REFUSED)
    except UsageProblem as problem:
        return _usage(problem)
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader, such as head, has gone
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return _say("interrupted", code) if code == INTERRUPTED else code if isinstance(code, int) else 0


def _usage(problem: Exception) -> int:
    """Say what cannot be read; a bare `kalaba` shows its help and nothing else."""
    context = getattr(problem, "ctx", None)
    asked = context.command_path if context is not None else "kalaba"
    text = problem.format_message() if hasattr(problem, "format_message") else str(problem)
    if type(problem).__name__ == "NoArgsIsHelpError":
        typer.echo(text)
        return REFUSED
    return _say(f"{asked}: {text} Try: {asked} --help", REFUSED)


def _say(text: str, code: int) -> int:
    say(text, Colour.PROBLEM)
    return code


def _version(asked: bool) -> None:  # noqa: FBT001  (typer calls it so)
    if asked:
        from kalaba import __version__

        typer.echo(f"kalaba {__version__}")
        raise typer.Exit


@app.callback()
def kalaba(
    *,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_version)
    ] = False,
) -> None:
    """Model, simulate and control robots that hold on to things.

    Example: kalaba run four-bar -o four-bar.nc --plot four-bar.png
    """
