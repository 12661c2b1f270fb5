"""`kalaba new`: a file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kalaba.cli.choices import JsonFlag, QuietFlag
from kalaba.cli.terminal import print_json


def new(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it: my.yaml, or my.py.")],
    *,
    as_json: JsonFlag = False,
    quiet: QuietFlag = False,
) -> None:
    """Write a machine to start from: a four-bar with a comment on every entry, as YAML or as Python.

    Examples:
        kalaba new my.yaml
        kalaba new my.py
    """
    from kalaba.files.beginning import begin

    place = begin(path)
    if as_json:
        print_json({"file": str(place)})
    elif not quiet:
        typer.echo(f"{place}: a four-bar to start from. Edit it, then: kalaba check {place} ; kalaba run {place}")
