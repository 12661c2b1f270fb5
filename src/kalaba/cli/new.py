"""`kalaba new`: a file to start from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def new(
    path: Annotated[Path, typer.Argument(metavar="FILE", help="Where to write it: my.yaml, or my.py.")],
) -> None:
    """Write a machine to start from: a four-bar with a comment on every entry, as YAML or as Python.

    Examples:
        kalaba new my.yaml
        kalaba new my.py
    """
    from kalaba.files.beginning import begin

    place = begin(path)
    typer.echo(f"{place}: a four-bar to start from. Edit it, then: kalaba check {place} ; kalaba run {place}")
