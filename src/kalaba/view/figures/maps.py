"""Maps of how near machines are to singular, side by side with one scale."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from kalaba.boundary import check_arguments
from kalaba.errors import ViewError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.kinematics.closed.region import SingularityMap

LEVELS = 12
WIDE, HIGH = 4.6, 4.2  # inches, of one map


def singularity_maps(maps: Mapping[str, SingularityMap], first: str, second: str, measure: str = "parallel") -> Figure:
    """Draw maps of `kb.kinematics.singularity_map` side by side; white is out of reach, a cross the smallest value.

    Arguments:
        maps: by title
        first: what is across, with its unit: "x (m)"
        second: what is upwards, with its unit
        measure: "parallel" (motors that hold the frame) or "serial"
    """
    check_arguments(singularity_maps, locals(), ViewError)
    from matplotlib.figure import Figure

    if not maps or measure not in {"parallel", "serial"}:
        raise ViewError(f"singularity_maps: expected maps and parallel or serial, got {len(maps)} and {measure!r}.")
    values = {title: np.asarray(getattr(one, measure)) for title, one in maps.items()}
    if any(min(one.shape) < 2 for one in values.values()):
        raise ViewError(
            "singularity_maps: expected maps of two values or more each way. Give more values of first, second."
        )
    largest = max((float(np.nanmax(one)) for one in values.values() if np.isfinite(one).any()), default=0.0)
    if not largest > 0.0:
        raise ViewError("singularity_maps: no pose of these maps can be reached. Take another region.")
    figure = Figure(figsize=(WIDE * len(maps) + 1.0, HIGH), layout="constrained")
    row = figure.subplots(1, len(maps), squeeze=False)[0]
    levels = np.linspace(0.0, largest, LEVELS + 1)
    for axes, (title, one) in zip(row, maps.items(), strict=True):
        drawn = axes.contourf(one.first, one.second, values[title], levels=levels, cmap="viridis")
        if np.isfinite(values[title]).any():
            i, j = np.unravel_index(int(np.nanargmin(values[title])), values[title].shape)
            axes.plot(one.first[j], one.second[i], "rx", markersize=8, clip_on=False)
            axes.set_title(f"{title}: smallest {values[title][i, j]:.2g}", loc="left", fontsize=10)
        axes.set_xlabel(first)
    row[0].set_ylabel(second)
    figure.colorbar(drawn, ax=list(row), label=f"σ of {next(iter(maps.values())).frame}, {measure}, 0 is singular")
    return figure
