"""Colours on a terminal only, quiet commands, and JSON for scripts."""

import json
import sys

import pytest

from kalaba.cli.application import app, invoke
from kalaba.cli.terminal import Colour, console, has_colours, print_json, say

ESCAPE = "\x1b["
PRINTS = {"list", "papers", "show", "derive"}  # commands that are for what they print
OPENS = "view"  # a page


def on_a_terminal(monkeypatch) -> None:
    """Make the streams say they are a terminal which knows colours."""
    for stream in (sys.stdout, sys.stderr):
        monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)


def test_a_problem_is_red_on_a_terminal(capsys, monkeypatch):
    on_a_terminal(monkeypatch)
    say("no such\n  machine", Colour.PROBLEM)
    assert capsys.readouterr().err == "\x1b[31mno such machine\x1b[0m\n"


@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_a_terminal_may_ask_for_no_colours(capsys, monkeypatch, name, value):
    on_a_terminal(monkeypatch)
    monkeypatch.setenv(name, value)
    assert not has_colours(sys.stderr)
    assert invoke(["list"]) == 0
    assert invoke(["run", "nothing"]) == 2
    captured = capsys.readouterr()
    assert f"{ESCAPE}3" not in captured.out + captured.err  # no colour; rich may still write bold to NO_COLOR


def test_there_are_no_escapes_in_a_pipe(capsys):
    for command in (["list"], ["show", "four-bar"], ["--help"], ["run", "--help"]):
        assert invoke(command) == 0
    assert invoke(["run", "nothing"]) == 2
    captured = capsys.readouterr()
    assert ESCAPE not in captured.out + captured.err


def test_a_table_in_a_pipe_is_not_cut_to_the_width_of_a_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "20")
    assert console().width == 200


def test_numbers_that_json_does_not_know_become_null(capsys):
    print_json({"a": float("nan"), "b": [float("inf"), 1.0]})
    assert json.loads(capsys.readouterr().out) == {"a": None, "b": [None, 1.0]}


@pytest.mark.parametrize("command", [str(own.name) for own in app.registered_commands])
def test_scripts_can_ask_for_json_and_for_silence(capsys, command):
    assert invoke([command, "--help"]) == 0
    offered = capsys.readouterr().out
    assert ("--json" in offered) == (command != OPENS)
    assert ("--quiet" in offered) == (command not in {*PRINTS, OPENS})


def test_a_quiet_check_says_nothing_of_a_machine_that_assembles(capsys):
    assert invoke(["check", "four-bar", "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


def test_a_quiet_check_says_what_cannot_be_assembled(capsys):
    assert invoke(["check", "four-bar", "--quiet", "--set", "coupler.length=0.05"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "four-bar" in captured.err
