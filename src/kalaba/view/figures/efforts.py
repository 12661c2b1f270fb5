"""What motors give, or would have to give where rows lead a machine and no motor acts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from kalaba.control.driven_rows import driven_constraints, motors_in_place
from kalaba.view.figures.quantities import Named, named

if TYPE_CHECKING:
    from kalaba.results.run import Run

SAMPLES = 500  # at which efforts in place of rows are worked out at most; lines are drawn between them


def motor_efforts(run: Run) -> tuple[str, Named]:
    """Efforts of the motors and their title: of those that would stand in for rows, where only rows lead it."""
    efforts = motors_in_place(run, SAMPLES)
    given = named(run, "actuation")
    if efforts is None:
        return "motors", given
    columns = [np.interp(run.time, efforts.time, column) for column in efforts.actuation.T]
    return in_place_of(run), Named(given.names, given.units, np.stack(columns, axis=1))


def in_place_of(run: Run) -> str:
    """What stands above efforts that motors do not give, but would need."""
    return f"motors needed in place of {', '.join(driven_constraints(run.plant))}"
