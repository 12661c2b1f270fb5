"""The application: all commands under one name, their help, and one line on stderr for each problem or warning."""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Sequence
from typing import Annotated, Any

import typer

from kalaba import __version__
from kalaba.cli.compare import compare
from kalaba.cli.derive import derive
from kalaba.cli.export import export
from kalaba.cli.flags import with_groups
from kalaba.cli.machines import check, list_machines, show
from kalaba.cli.new import new
from kalaba.cli.papers import papers
from kalaba.cli.plot import plot
from kalaba.cli.report import report
from kalaba.cli.run import run
from kalaba.cli.sweep import sweep
from kalaba.cli.terminal import INTERRUPTED, Colour, drop_stdout, plain_warnings, say
from kalaba.cli.view import view
from kalaba.errors import KalabaError
from kalaba.interruption import heard

REFUSED = 2  # exit code of anything that kalaba refuses or that breaks off

PANELS = {
    "Begin one": ("new",),
    "Know a machine": ("list", "papers", "show", "check", "derive"),
    "Run it": ("run", "compare", "sweep"),
    "Look at it": ("view", "plot", "report"),
    "Take it elsewhere": ("export",),
}
OTHERS = "More"
EXAMPLE = re.compile(r"^Examples?:\s*", re.MULTILINE)
COMMAND = re.compile(r"\s+(?=kalaba )")  # where the next of several examples begins

COMMANDS: dict[str, Callable[..., Any]] = {
    "new": new,
    "list": list_machines,
    "papers": papers,
    "show": show,
    "check": check,
    "run": run,
    "compare": compare,
    "sweep": sweep,
    "derive": derive,
    "export": export,
    "plot": plot,
    "report": report,
    "view": view,
}
app = typer.Typer(name="kalaba", no_args_is_help=True, pretty_exceptions_enable=False)
for _name, _command in COMMANDS.items():
    app.command(_name)(with_groups(_command))

# What typer raises on a command line that it cannot read; its home differs between versions.
UsageProblem: type[Exception] = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "ClickException")


def invoke(arguments: Sequence[str]) -> int:
    """Run a command line and give its exit code; every problem and every warning is one line on stderr."""
    command = typer.main.get_command(laid_out(app))
    try:
        with heard(), plain_warnings():
            code = command.main(list(arguments), prog_name="kalaba", standalone_mode=False)
        sys.stdout.flush()
    except KalabaError as error:
        return _say(str(error), REFUSED)
    except UsageProblem as problem:
        return _usage(problem)
    except (KeyboardInterrupt, typer.Abort):
        return _say("interrupted", INTERRUPTED)
    except BrokenPipeError:  # the reader, such as head, has gone
        drop_stdout()
        return 0
    except OSError as error:
        drop_stdout()
        return _say(f"cannot be read or written: {error}", REFUSED)
    return _say("interrupted", code) if code == INTERRUPTED else code if isinstance(code, int) else 0


def _usage(problem: Any) -> int:  # noqa: ANN401  (a UsageProblem, which has no home to name)
    """Say what cannot be read; a bare `kalaba` shows its help and nothing else."""
    context = getattr(problem, "ctx", None)  # problems with files have none, and typer shows no class of those that do
    command = context.command_path if context is not None else "kalaba"
    text = problem.format_message()
    if type(problem).__name__ == "NoArgsIsHelpError":  # which typer does not show either
        typer.echo(text)
        return REFUSED
    return _say(f"{command}: {text} Try: {command} --help", REFUSED)


def _say(text: str, code: int) -> int:
    say(text, Colour.PROBLEM)
    return code


def _version(is_wanted: bool) -> None:  # noqa: FBT001  (typer calls it so)
    if is_wanted:
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


def laid_out(app: typer.Typer) -> typer.Typer:
    """Put the commands of an application in the order of work and under headings; laying out twice changes nothing.

    A docstring's paragraph `Example: kalaba ...` (or `Examples:`, one per line) becomes the end of the command's help.
    """
    order = [name for names in PANELS.values() for name in names]
    headings = {name: panel for panel, names in PANELS.items() for name in names}
    for command in app.registered_commands:
        command.help, command.epilog = words_and_examples(command.callback)
        command.rich_help_panel = headings.get(str(command.name), OTHERS)
    app.registered_commands.sort(key=lambda c: order.index(str(c.name)) if c.name in order else len(order))
    if (whole := app.registered_callback) is not None:
        whole.help, whole.epilog = words_and_examples(whole.callback)
    return app


def words_and_examples(function: object) -> tuple[str, str]:
    """Split a docstring into what a command does and its examples, one per paragraph."""
    words, *examples = EXAMPLE.split(inspect.getdoc(function) or "")
    listed = [" ".join(line.split()) for text in examples for line in COMMAND.split(text) if line.strip()]
    return words.strip(), "\n\n".join(f"Example: {line}" for line in listed)
