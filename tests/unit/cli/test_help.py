"""The layout of help: order, headings, and an example at the end of every command's."""

import shlex

import pytest
import typer

from kalaba.cli.application import OTHERS, PANELS, app, invoke, laid_out, words_and_examples
from kalaba.cli.derive import MethodName
from kalaba.derive.methods import METHODS

COMMANDS = [str(command.name) for command in app.registered_commands]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_every_command_ends_with_an_example(capsys, command):
    assert invoke([command, "--help"]) == 0
    last = capsys.readouterr().out.rstrip().rpartition("╯")[2].split()
    assert last[:3] == ["Example:", "kalaba", command]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_flag_of_an_example_exists(capsys, command):
    callback = next(own.callback for own in app.registered_commands if own.name == command)
    examples = words_and_examples(callback)[1].split("\n\n")
    assert invoke([command, "--help"]) == 0
    offered = capsys.readouterr().out
    for example in examples:
        flags = [word for word in shlex.split(example.partition("#")[0]) if word.startswith("-")]
        assert [flag for flag in flags if flag not in offered] == []


def test_commands_stand_in_the_order_of_work(capsys):
    assert invoke(["--help"]) == 0
    shown = [line.split()[1] for line in capsys.readouterr().out.splitlines() if line[:3] == "│ " + line[2:3]]
    known = [name for names in PANELS.values() for name in names if name in COMMANDS]
    assert [word for word in shown if word in COMMANDS] == known


def test_every_command_has_a_heading_of_its_own():
    assert [command.name for command in laid_out(app).registered_commands if command.rich_help_panel == OTHERS] == []


def test_a_docstring_gives_words_and_examples():
    def command() -> None:
        """Do it.

        At length.

        Examples:
            kalaba do one
            kalaba do two --with
                more

        """

    words, examples = words_and_examples(command)
    assert words == "Do it.\n\nAt length."
    assert examples == "Example: kalaba do one\n\nExample: kalaba do two --with more"


def test_a_command_without_a_place_comes_last():
    own = typer.Typer()
    own.command("unheard-of")(lambda: None)
    own.command("run")(lambda: None)
    assert [command.name for command in laid_out(own).registered_commands] == ["run", "unheard-of"]
    assert own.registered_commands[-1].rich_help_panel == OTHERS


def test_every_derivation_has_its_word():
    assert list(MethodName) == list(METHODS)
