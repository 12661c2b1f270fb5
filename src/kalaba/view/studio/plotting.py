"""A plot beside the scene: one quantity over time, with a line at the cursor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.space.arrays import Array
from kalaba.view.sheet import COLOURS

if TYPE_CHECKING:
    from kalaba.view.studio.quantities import Quantity

MOST = 300  # samples that are sent to the page
HEIGHT = 190  # pixels
CURSOR = "#5c616a"


def thinned(time: Array, values: Array) -> tuple[Array, Array]:
    """At most MOST samples, the first and the last among them."""
    indices = np.unique(np.linspace(0, len(time) - 1, min(MOST, len(time))).astype(int))
    return time[indices], values[indices]


def lines(quantity: Quantity, time: Array, cursor: float) -> tuple[Array, ...]:
    """Columns of a plot: time, every line, and a stroke that stands upright at the cursor.

    The cursor's time stands three times among the times: the stroke goes from 0 up to 1 and back, on its own scale.
    """
    t, values = thinned(time, np.log10(quantity.values) if quantity.is_logarithmic else quantity.values)
    at = int(np.searchsorted(t, cursor))
    columns = [np.insert(t, at, [cursor] * 3)]
    columns += [np.insert(column, at, [np.interp(cursor, t, column)] * 3) for column in values.T]
    return (*columns, np.insert(np.zeros(len(t)), at, [0.0, 1.0, 0.0]))


class Plot:
    """A plot on the page. It is made anew for another quantity, and gets new columns for another time."""

    def __init__(self, gui: Any) -> None:
        self._gui = gui
        self._handle: Any = None
        self.quantity: Quantity | None = None
        self._time: Array = np.zeros(0)

    def put(self, quantity: Quantity, time: Array, cursor: float, order: float | None = None) -> None:
        """Show a quantity."""
        from viser import uplot

        self.remove()
        self.quantity, self._time = quantity, time
        strokes = [COLOURS[i % len(COLOURS)] for i in range(len(quantity.names))]
        series = [uplot.Series(label="t [s]")]
        series += [
            uplot.Series(label=name, stroke=stroke, width=1.5)
            for name, stroke in zip(quantity.names, strokes, strict=True)
        ]
        series.append(uplot.Series(label=" ", stroke=CURSOR, width=1.0, scale="cursor"))
        title = f"log₁₀ of {quantity.label}" if quantity.is_logarithmic else quantity.label
        self._handle = self._gui.add_uplot(
            lines(quantity, time, cursor),
            tuple(series),
            title=title,
            scales={"x": uplot.Scale(time=False), "cursor": uplot.Scale(range=(0.0, 1.0))},
            height=HEIGHT,
            order=order,
        )

    def move(self, cursor: float) -> None:
        """Put the line at another time."""
        if self._handle is not None and self.quantity is not None:
            self._handle.data = lines(self.quantity, self._time, cursor)

    def remove(self) -> None:
        """Take the plot off the page."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
