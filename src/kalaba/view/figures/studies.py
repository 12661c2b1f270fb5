"""Results of a study on one sheet: how each measure is distributed, what it depends on, and its worst cases."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.boundary import check_arguments
from kalaba.errors import ViewError
from kalaba.studies.results import StudyResults, open_study
from kalaba.tolerances import DRAWN_ROUNDING
from kalaba.view.sheet import COLOURS, STYLE

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_MEASURES = 6  # one row of panels each
MOST_VARIABLES = 12  # bars in a panel
MOST_BINS = 60
WORST = 5  # samples that are marked and listed
WIDE, HIGH = 11.0, 2.7  # inches: of the sheet, and of a row


def study(results: StudyResults | str | Path) -> Figure:
    """Draw the results of a study: distributions of measures, sensitivities, worst cases.

    Arguments:
        results: what `study.run` or `kb.open_study` gave, or the folder
    """
    check_arguments(study, locals(), ViewError)
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    shown = results if isinstance(results, StudyResults) else open_study(results)
    measures = [name for name in shown.measures if np.isfinite(shown.table[name]).any()][:MOST_MEASURES]
    if not measures:
        raise ViewError(f"{shown.path}: no sample has a measure to draw. Look at the errors: open_study(...).failed")
    with rc_context(STYLE):
        figure = Figure(figsize=(WIDE, HIGH * len(measures) + 0.5), layout="constrained")
        figure.suptitle(_heading(shown), fontsize=11, x=0.01, ha="left")
        grid: Any = figure.subplots(len(measures), 3, squeeze=False)
        for row, name in zip(grid, measures, strict=True):
            ranked = _ranked(shown, name)
            _distribution(row[0], shown, name)
            _bars(row[1], ranked, name)
            _scatter(row[2], shown, name, str(ranked.index[0]))
    return figure


def _heading(shown: StudyResults) -> str:
    failed = f", {len(shown.failed)} failed" if len(shown.failed) else ""
    return f"{shown.name}: {len(shown.table)} of {shown.count} samples{failed}"


def _ranked(shown: StudyResults, name: str) -> pd.DataFrame:
    """What a measure depends on, the strongest first."""
    rows = shown.sensitivities.loc[name].drop(columns="samples")
    order = rows.abs().max(axis=1).sort_values(ascending=False, kind="stable").index
    return rows.loc[order]


def _distribution(axes: Axes, shown: StudyResults, name: str) -> None:
    values = shown.table[name].to_numpy()
    values = values[np.isfinite(values)]
    middle, spread = float(values.mean()), float(np.ptp(values))
    is_one = spread <= DRAWN_ROUNDING * max(abs(middle), float(np.abs(values).max()))
    axes.hist(values, bins=1 if is_one else min(MOST_BINS, 5 + int(np.sqrt(len(values)))), color=COLOURS[0], alpha=0.8)
    axes.axvline(middle, color=COLOURS[-1], linewidth=1)
    axes.set_title(f"{name}: mean {middle:.5g}, deviation {values.std():.2g}", loc="left", fontsize=9)
    axes.set_xlabel(name)
    axes.set_ylabel("samples")


def _bars(axes: Axes, ranked: pd.DataFrame, name: str) -> None:
    drawn = ranked.iloc[:MOST_VARIABLES][::-1]
    places = np.arange(len(drawn))
    high = 0.8 / len(drawn.columns)
    for number, column in enumerate(drawn.columns):
        offset = (number - (len(drawn.columns) - 1) / 2) * high
        label = str(column).replace("_", " ")
        axes.barh(places - offset, drawn[column].to_numpy(), high, color=COLOURS[number], label=label)
    axes.set_yticks(places, [str(variable) for variable in drawn.index])
    axes.axvline(0.0, color=COLOURS[-1], linewidth=0.5)
    axes.legend(fontsize=7, frameon=False)
    axes.set_title(f"what {name} depends on", loc="left", fontsize=9)


def _scatter(axes: Axes, shown: StudyResults, name: str, variable: str) -> None:
    table, worst = shown.table, shown.worst(WORST, name)
    axes.plot(table[variable], table[name], ".", color=COLOURS[0], markersize=2, rasterized=True)
    axes.plot(worst[variable], worst[name], "o", color=COLOURS[1], fillstyle="none")
    numbers = ", ".join(str(number) for number in worst.index)
    axes.set_title(f"largest: samples {numbers}", loc="left", fontsize=9)
    axes.set_xlabel(variable)
    axes.set_ylabel(name)
