"""Panels on one sheet: lines over time in colours that most eyes can tell apart, with units on the axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.files.places import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Array = NDArray[np.float64]
Line = tuple[str, Array]  # a name and its values
PICTURES = (".png", ".svg", ".pdf")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito, without yellow
DASHES = ("-", "--")
HEADROOM = 0.08  # of the height of a panel, for each line of its legend
LEGEND_LETTERS = 72  # that fit beside each other in a panel
PANEL_SIZE = (4.6, 2.9)  # inches


@dataclass(frozen=True, slots=True)
class Panel:
    """What one set of axes shows."""

    title: str
    label: str  # of the vertical axis, with its unit
    lines: tuple[Line, ...]
    is_logarithmic: bool = False
    note: str = ""


def draw_sheet(heading: str, time: Array, shown: Sequence[Panel], place: Path) -> Path:
    """Draw panels over the same time into one picture, at a place that was checked."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    columns = 2 if len(shown) in {1, 2, 3, 4, 7, 8} else 3  # so that little of the sheet stays empty
    rows = math.ceil(len(shown) / columns)
    with rc_context({"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"}):
        figure = Figure(figsize=(PANEL_SIZE[0] * columns, PANEL_SIZE[1] * rows + 0.5), layout="constrained")
        figure.suptitle(heading, fontsize=11, x=0.01, ha="left")
        grid = figure.subplots(rows, columns, squeeze=False, sharex=True).ravel()
        for axes, panel in zip(grid, shown, strict=False):
            _draw(axes, time, panel)
        for index, axes in enumerate(grid):
            axes.set_visible(index < len(shown))
            if index >= len(shown) - columns:
                axes.set_xlabel("time [s]")
                axes.tick_params(labelbottom=True)
        with replacing(place) as beside:
            figure.savefig(beside, dpi=130)
    return place


def _draw(axes: Axes, time: Array, panel: Panel) -> None:
    for index, (name, values) in enumerate(panel.lines):
        colour, dash = COLOURS[index % len(COLOURS)], DASHES[(index // len(COLOURS)) % len(DASHES)]
        axes.plot(time, values, dash, color=colour, linewidth=0.8 if panel.is_logarithmic else 1.3, label=name)
    if panel.is_logarithmic and any(np.isfinite(values).any() for _, values in panel.lines):
        axes.set_yscale("log")
    axes.set_title(panel.title, loc="left", fontsize=10, fontweight="bold")
    if panel.note:
        axes.set_title(panel.note, loc="right", fontsize=8, color="0.35")
    axes.set_ylabel(panel.label)
    axes.margins(x=0.01, y=0.06)
    axes.grid(visible=True, color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)
    if panel.lines:
        _add_legend(axes, [name for name, _ in panel.lines])


def _add_legend(axes: Axes, names: list[str]) -> None:
    """Put the legend above the lines, with room made for it."""
    columns = max(1, min(4, LEGEND_LETTERS // (max(map(len, names)) + 5)))
    room = HEADROOM * math.ceil(len(names) / columns)
    to_axis = axes.yaxis.get_transform()
    bottom, top = to_axis.transform(np.array(axes.get_ylim()))
    axes.set_ylim(top=float(to_axis.inverted().transform([top + (top - bottom) * room / (1 - room)])[0]))
    style = {"fontsize": 7, "frameon": False, "handlelength": 1.4, "columnspacing": 1.0, "labelspacing": 0.25}
    axes.legend(loc="upper left", ncols=columns, borderaxespad=0.2, **style)
