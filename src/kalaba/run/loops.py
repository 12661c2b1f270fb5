"""Which loop runs a task: compiled where machine and stepper allow it, else one in Python."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kalaba.errors import IntegrationError, Interrupted
from kalaba.results.run import Ending
from kalaba.run.python_loop import run_python

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.run.task import Task


def run_task(task: Task) -> Run:
    """Run a task in the loop that can, unless its stepper refuses it; an interrupted run is handed over as it is."""
    run = runner(task)
    task.stepper.check(task)
    made = run(task)
    if made.status.ending is Ending.INTERRUPTED:
        raise Interrupted(made.status.message, made)
    return made


def runner(task: Task) -> Callable[[Task], Run]:
    """The loop that can run a task: compiled where machine and stepper allow it, else one in Python."""
    stepper = task.stepper
    if not stepper.scipy_class and task.plant.is_native:
        from kalaba.run.native_loop import run_native

        return run_native
    if task.feeds_back:
        raise IntegrationError(
            f"{task.name}: {task.stabilisation!r} needs a native stepper and the default solver. Try kb.Projection()."
        )
    if stepper.scipy_class:
        from kalaba.run.radau import run_stiff

        return run_stiff
    if not stepper.is_explicit:
        raise IntegrationError(f"{task.name}: {stepper!r} needs backend=Native() and the default solver.")

    return run_python
