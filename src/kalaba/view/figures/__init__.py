"""Plots of runs: one function each, which gives a matplotlib Figure; `save` writes it.

`kb.plot.overview(run)`, `kb.plot.compare({"one": run, "other": run2})`, `kb.plot.save(figure, "run.png")`.
"""

from kalaba.view.figures.beams import modes
from kalaba.view.figures.books import energy, residuals
from kalaba.view.figures.comparing import compare, tracking_error
from kalaba.view.figures.glance import overview
from kalaba.view.figures.histories import coordinates, forces, motors, outputs, speeds
from kalaba.view.figures.sources import papers
from kalaba.view.figures.tracks import paths
from kalaba.view.sheet import save

__all__ = [
    "compare",
    "coordinates",
    "energy",
    "forces",
    "modes",
    "motors",
    "outputs",
    "overview",
    "papers",
    "paths",
    "residuals",
    "save",
    "speeds",
    "tracking_error",
]
