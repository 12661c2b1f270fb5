"""Panels on one sheet: curves in colours that most eyes can tell apart, with units on the axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.boundary import check_arguments, check_fields, check_whole
from kalaba.errors import ViewError
from kalaba.results.places import check_place, replacing
from kalaba.space.arrays import Array
from kalaba.tolerances import LEVEL_SPAN

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PICTURES = (".png", ".svg", ".pdf")
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")  # Okabe and Ito, without yellow
DASHES = ("-", (0, (5, 1.5)), (0, (1.2, 1.2)), (0, (6, 1.5, 1.2, 1.5)))
PUBLISHED = "0.55"  # grey of what a source says
TIME = "time [s]"
HEADROOM = 0.08  # of the height of a panel, for each line of its legend
LEGEND_LETTERS = 64  # that fit beside each other in a panel
LONGEST_NAME = 48  # letters of a name in a legend
PANEL_SIZE = (4.6, 2.9)  # inches
EQUAL_HEIGHT = 3.6  # inches, of panels with equal scales
DECADES = 1.0  # a logarithmic axis shows this much at least
RESOLUTION = 130  # dots per inch
MOST_COLUMNS = 12  # of panels beside each other
STYLE: Any = {"font.size": 9, "axes.spines.top": False, "axes.spines.right": False, "svg.fonttype": "none"}


@dataclass(frozen=True, slots=True)
class Curve:
    """A named line; one that a source published is drawn broad and grey, under the others.

    Arguments:
        name: its name in the legend
        x: values along the horizontal axis, (n,)
        y: values along the vertical axis, (n,)
        is_published: whether a source published it
        style: which colour and dash; None: by its place in the panel
    """

    name: str
    x: Array
    y: Array
    is_published: bool = False
    style: int | None = None

    def __post_init__(self) -> None:
        check_fields(self, ViewError)
        for name in ("x", "y"):
            object.__setattr__(self, name, np.asarray(getattr(self, name), dtype=float))
        if np.ndim(self.x) != 1 or np.shape(self.x) != np.shape(self.y):
            raise ViewError(
                f"Curve {self.name}: expected x and y in rows of one length, got shapes {np.shape(self.x)} and "
                f"{np.shape(self.y)}."
            )


@dataclass(frozen=True, slots=True)
class Level:
    """A number as a line across a panel, or up through it."""

    value: float
    text: str
    is_upright: bool = False


@dataclass(frozen=True, slots=True)
class Panel:
    """What one set of axes shows.

    Arguments:
        title: above the axes
        label: of the vertical axis, with its unit
        curves: the lines
        x_label: of the horizontal axis; time if not given
        is_logarithmic: whether the vertical axis is
        is_equal: whether a metre is as long along both axes
        is_dotted: whether points are drawn without lines between them
        levels: straight lines with names, across or upright
        starts: points (x, y) that are marked, one per curve
        note: small print above the axes, at the right
        remarks: lines under the panel
    """

    title: str
    label: str
    curves: tuple[Curve, ...]
    x_label: str = TIME
    is_logarithmic: bool = False
    is_equal: bool = False
    is_dotted: bool = False
    levels: tuple[Level, ...] = ()
    starts: tuple[tuple[float, float], ...] = ()
    note: str = ""
    remarks: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_fields(self, ViewError)


def over_time(time: Array, lines: Sequence[tuple[str, Array]]) -> tuple[Curve, ...]:
    """Named values over the same time."""
    return tuple(Curve(name, time, values) for name, values in lines)


def sheet(heading: str, shown: Sequence[Panel], footnotes: Sequence[str] = (), columns: int | None = None) -> Figure:
    """Draw panels into one figure, which belongs to nobody: no state of matplotlib is touched.

    Arguments:
        heading: what stands above
        shown: the panels
        footnotes: lines that stand below
        columns: panels beside each other; None: as leaves little of the sheet empty
    """
    check_arguments(sheet, locals(), ViewError)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    if columns is not None:
        check_whole(columns, "sheet: columns", 1, MOST_COLUMNS, ViewError)
    columns = columns or (1 if len(shown) == 1 else 2 if len(shown) in {2, 3, 4, 7, 8} else 3)
    rows = max(1, math.ceil(len(shown) / columns))
    width, height = PANEL_SIZE[0] * max(columns, 1.5), sum(_row_heights(shown, columns, rows))
    with rc_context(STYLE):
        figure = Figure(figsize=(width, height + 0.5 + 0.17 * len(footnotes)), layout="constrained")
        figure.suptitle(heading, fontsize=11, x=0.01, ha="left")
        grid: Any = figure.subplots(rows, columns, squeeze=False, height_ratios=_row_heights(shown, columns, rows))
        for axes, panel in zip(grid.ravel(), shown, strict=False):
            _draw(axes, panel)
        for axes in grid.ravel()[len(shown) :]:
            axes.remove()
        _same_time(list(zip(grid.ravel(), shown, strict=False)))
        if footnotes:
            figure.supxlabel("\n".join(footnotes), fontsize=8, color="0.3", x=0.01, ha="left")
    return figure


def save(figure: Figure, path: str | Path) -> Path:
    """Write a figure to .png, .svg or .pdf; a file that stands there is replaced when the new one is whole.

    Arguments:
        figure: what to write
        path: where to write: .png, .svg or .pdf
    """
    check_arguments(save, locals(), ViewError)
    from matplotlib import rc_context

    place = check_place(path, PICTURES)
    with rc_context(STYLE), replacing(place) as beside:
        figure.savefig(beside, dpi=RESOLUTION)
    return place


def _row_heights(shown: Sequence[Panel], columns: int, rows: int) -> list[float]:
    """Inches of each row: panels with equal scales need more, remarks stand below."""
    heights = []
    for row in range(rows):
        panels = shown[row * columns : (row + 1) * columns]
        tall = any(panel.is_equal for panel in panels)
        remarks = max((len(panel.remarks) for panel in panels), default=0)
        heights.append((EQUAL_HEIGHT if tall else PANEL_SIZE[1]) + 0.16 * remarks)
    return heights


def _same_time(drawn: Sequence[tuple[Axes, Panel]]) -> None:
    """Let panels over time run from the same to the same."""
    over = [axes for axes, panel in drawn if panel.x_label == TIME and panel.curves]
    limits = np.array([axes.get_xlim() for axes in over])
    if over and np.ptp(limits[:, 1]) < 0.05 * limits[:, 1].max():
        for axes in over:
            axes.set_xlim(limits[:, 0].min(), limits[:, 1].max())


def _draw(axes: Axes, panel: Panel) -> None:
    thin = 0.9 if panel.is_logarithmic else 1.3
    index = 0
    for curve in panel.curves:
        name = curve.name if len(curve.name) <= LONGEST_NAME else f"{curve.name[: LONGEST_NAME - 1]}…"
        if curve.is_published:
            axes.plot(curve.x, curve.y, color=PUBLISHED, linewidth=4.5, alpha=0.55, label=name, zorder=1)
            continue
        kind = index if curve.style is None else curve.style
        style: dict[str, Any] = {"color": COLOURS[kind % len(COLOURS)], "linewidth": thin, "label": name}
        if panel.is_dotted:
            axes.plot(curve.x, curve.y, marker=".", markersize=2.5, linestyle="none", rasterized=True, **style)
        else:
            axes.plot(curve.x, curve.y, linestyle=DASHES[_dash(kind, max(kind + 1, len(panel.curves)))], **style)
        index += 1
    if panel.is_logarithmic:
        _logarithmic(axes, panel)
    _frame(axes, panel)
    if not panel.is_logarithmic and not panel.is_equal:
        _open(axes, panel)
    for (x, y), colour in zip(panel.starts, COLOURS * len(panel.starts), strict=False):
        axes.plot(x, y, "o", markersize=4, color=colour, markerfacecolor="white", zorder=3)
    for level in panel.levels:
        _level(axes, level)
    names = [curve.name for curve in panel.curves]
    if names:
        _add_legend(axes, names)


def _dash(index: int, count: int) -> int:
    """Colours alone tell few lines apart in black and white: dashes go round too."""
    return index % len(DASHES) if count > 1 else 0


def _logarithmic(axes: Axes, panel: Panel) -> None:
    positive = [curve.y[np.isfinite(curve.y) & (curve.y > 0)] for curve in panel.curves]
    sizes = np.concatenate(positive) if positive else np.zeros(0)
    sizes = np.concatenate([sizes, [level.value for level in panel.levels if not level.is_upright]])
    if not sizes.size:
        return
    axes.set_yscale("log")
    low, high = np.log10(sizes.min()), np.log10(sizes.max())
    room = max(0.0, DECADES - (high - low)) / 2 + 0.05 * (high - low) + 0.1
    axes.set_ylim(10 ** (low - room), 10 ** (high + room))


def _open(axes: Axes, panel: Panel) -> None:
    """Give a panel in which nothing moves some height: rounding must not fill it."""
    values = np.concatenate([curve.y[np.isfinite(curve.y)] for curve in panel.curves] or [np.zeros(1)])
    if values.size and np.ptp(values) <= LEVEL_SPAN * max(1.0, float(np.abs(values).max())):
        middle = float(np.mean(values))
        half = 0.05 * abs(middle) or 1.0
        axes.set_ylim(middle - half, middle + half)


def _frame(axes: Axes, panel: Panel) -> None:
    """Titles, labels, grid."""
    axes.set_title(panel.title, loc="left", fontsize=10, fontweight="bold")
    if panel.note:
        axes.set_title(panel.note, loc="right", fontsize=8, color="0.35")
    axes.set_xlabel(panel.x_label)
    axes.set_ylabel(panel.label)
    axes.margins(x=0.01, y=0.1 if panel.levels else 0.06)
    if panel.remarks:
        below: dict[str, Any] = {"xycoords": "axes fraction", "textcoords": "offset points", "va": "top"}
        axes.annotate("\n".join(panel.remarks), (0, 0), (0, -32), fontsize=7.5, color="0.25", **below)
    if panel.is_equal:
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.08)
    axes.grid(visible=True, color="0.9", linewidth=0.7)
    axes.set_axisbelow(True)


def _level(axes: Axes, level: Level) -> None:
    style: dict[str, Any] = {"color": "0.35", "linewidth": 1.0, "linestyle": (0, (2, 2)), "zorder": 1.5}
    words: dict[str, Any] = {"fontsize": 7, "color": "0.25", "textcoords": "offset points"}
    if level.is_upright:
        axes.axvline(level.value, **style)
        place: dict[str, Any] = {"xy": (level.value, 0.0), "xycoords": ("data", "axes fraction"), "xytext": (2, 3)}
        axes.annotate(level.text, ha="left", va="bottom", rotation=90, **place, **words)
    else:
        axes.axhline(level.value, **style)
        place = {"xy": (1.0, level.value), "xycoords": ("axes fraction", "data"), "xytext": (-2, 2)}
        words |= {"bbox": {"facecolor": "white", "edgecolor": "none", "alpha": 0.7, "pad": 0.5}}
        if level.value < 0:
            axes.annotate(level.text, ha="right", va="top", **place | {"xytext": (-2, -2)}, **words)
        else:
            axes.annotate(level.text, ha="right", va="bottom", **place, **words)


def _add_legend(axes: Axes, names: list[str]) -> None:
    """Put the legend above the curves, with room made for it."""
    columns = max(1, min(4, LEGEND_LETTERS // (min(LONGEST_NAME, max(map(len, names))) + 7)))
    room = min(0.6, HEADROOM * math.ceil(len(names) / columns))
    style: dict[str, Any] = {"fontsize": 7, "handlelength": 2.2, "columnspacing": 1.0, "labelspacing": 0.25}
    style |= {"frameon": True, "facecolor": "white", "edgecolor": "none", "framealpha": 0.85}
    if axes.get_aspect() != "auto":  # scales are equal: no room can be made inside
        axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2, **style)
        return
    to_axis = axes.yaxis.get_transform()
    bottom, top = to_axis.transform(np.array(axes.get_ylim()))
    axes.set_ylim(top=float(to_axis.inverted().transform([top + (top - bottom) * room / (1 - room)])[0]))
    axes.legend(loc="upper left", ncols=columns, borderaxespad=0.2, **style)
