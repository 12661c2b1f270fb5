"""`kalaba view`: look at a run that was saved."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

RunArgument = Annotated[Path, typer.Argument(help="A saved run: .nc, .csv or .parquet.", show_default=False)]
PictureFlag = Annotated[
    Path | None, typer.Option("-o", "--output", help="Where to draw: .png, .svg or .pdf; beside the run if not given.")
]


def view(path: RunArgument, *, output: PictureFlag = None) -> None:
    """Draw an overview of a saved run, and open it where there is a screen.

    Example: kalaba view run.nc
    """
    from kalaba.cli.terminal import console
    from kalaba.files.results import open_run
    from kalaba.view.plots import overview

    picture = overview(open_run(path), path.with_suffix(".png") if output is None else output)
    console().print(f"picture: {picture}", markup=False)
    if _has_screen():
        typer.launch(str(picture))


def _has_screen() -> bool:
    """Whether a window can be opened: not in a pipe, not on a machine without a display."""
    if not sys.stdout.isatty():
        return False
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
