"""How `kalaba --help` is laid out: commands in the order of work, and an example at the end of each one's help."""

from __future__ import annotations

import inspect
import re

import typer

PANELS = {
    "Know a machine": ("list", "show", "check", "derive"),
    "Run it": ("run", "compare"),
    "Look at it": ("view", "plot", "report"),
    "Take it elsewhere": ("export",),
}
OTHERS = "More"
EXAMPLE = re.compile(r"^Examples?:\s*", re.MULTILINE)
COMMAND = re.compile(r"\s+(?=kalaba )")  # where the next of several examples begins


def laid_out(app: typer.Typer) -> typer.Typer:
    """Put the commands of an application in order and under headings; laying out twice changes nothing.

    A docstring's paragraph `Example: kalaba ...` (or `Examples:`, one a line) becomes the end of the command's help.
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
    """Split a docstring into what a command does and its examples, one a paragraph."""
    words, *examples = EXAMPLE.split(inspect.getdoc(function) or "")
    listed = [" ".join(line.split()) for text in examples for line in COMMAND.split(text) if line.strip()]
    return words.strip(), "\n\n".join(f"Example: {line}" for line in listed)
