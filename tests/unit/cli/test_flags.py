"""Groups of flags."""

import inspect
from dataclasses import dataclass
from typing import Annotated

import pytest
import typer

from kalaba.cli.application import COMMANDS, app
from kalaba.cli.choices import MachineFlags, Numerics
from kalaba.cli.flags import FlagGroup, with_groups


@dataclass(frozen=True)
class Sizes(FlagGroup):
    width: Annotated[float, typer.Option(help="How wide.")] = 1.0
    height: Annotated[float | None, typer.Option("--tall")] = None


def area(name: str, *, sizes: Sizes, quiet: bool = False) -> str:
    """Say sizes."""
    return f"{name} {sizes.width} {sizes.height} {quiet}"


def test_a_group_stands_for_its_flags_in_their_place():
    command = with_groups(area)
    assert list(inspect.signature(command).parameters) == ["name", "width", "height", "quiet"]
    assert command(name="a", width=2.0, height=None, quiet=True) == "a 2.0 None True"
    assert command.__doc__ == "Say sizes."


def test_a_command_line_fills_a_group():
    from typer.testing import CliRunner

    lines = typer.Typer()
    lines.command()(printing_of(with_groups(area)))
    result = CliRunner().invoke(lines, ["a", "--tall", "3"])
    assert result.output == "a 1.0 3.0 False\n"


def printing_of(command):
    """The same, which prints what it gives."""

    def printing(**values):
        typer.echo(command(**values))

    printing.__signature__ = inspect.signature(command)
    printing.__annotations__ = command.__annotations__
    return printing


@pytest.mark.parametrize("name", ["run", "compare", "report"])
def test_commands_that_run_a_machine_have_the_flags_of_both_groups(name):
    command = next(c for c in app.registered_commands if c.name == name)
    flags = inspect.signature(command.callback).parameters
    assert {*MachineFlags.__dataclass_fields__, *Numerics.__dataclass_fields__} <= {*flags}
    assert not {*flags} & {"flags", "numerics"}
    assert name in COMMANDS
