"""The overview of a run as a file, for commands that draw by the way."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kalaba.results.places import check_place
from kalaba.view.figures.glance import overview as drawn
from kalaba.view.sheet import PICTURES, save

if TYPE_CHECKING:
    from kalaba.results.run import Run


def overview(run: Run, path: str | Path) -> Path:
    """Draw coordinates, speeds or outputs, forces, residuals and the energy balance into one picture."""
    place = check_place(path, PICTURES)
    return save(drawn(run), place)
