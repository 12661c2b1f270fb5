"""A run as what is to be run: how it was made, read back from the words in which it keeps its settings."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import inf
from typing import TypeVar

import numpy as np

from kalaba.errors import ModelError
from kalaba.model.acting import Sampled
from kalaba.model.formats import control_from_text
from kalaba.model.serial import NotStored
from kalaba.plant.laws import Control, controller
from kalaba.plant.state import State
from kalaba.results.run import Run
from kalaba.run.scenario import Scenario
from kalaba.steppers import KINDS, Stepper
from kalaba.tolerances import SAME_START

Value = TypeVar("Value")


@dataclass(frozen=True)
class Made:
    """How a run was made.

    Arguments:
        control: {motor: expression}, or a controller; None: no motor acted
        stepper: how time was stepped; None: by one that is not kalaba's own
        start: where it began, if that is not where the machine begins
    """

    control: Control | None
    stepper: Stepper | None
    start: State | None


def made(run: Run) -> Made:
    """Read back how a run was made.

    Arguments:
        run: a run, perhaps a saved one

    Raises:
        ModelError: it was driven by what no file holds, such as Python functions
    """
    functions = [
        force.name for force in run.system.machine.forces if any(_is_lost(half) for half in (force.force, force.torque))
    ]
    if functions:
        raise ModelError(f"a file holds no Python functions, which {', '.join(functions)} had. Add those parts again.")
    control = _control(run)
    return Made(control, from_words(run.effort.settings.get("stepper", ""), KINDS), _start(run, control))


def scenario_of(run: Run) -> Scenario:
    """Give the scenario of a run: its machine, its control, its stepper and the time between samples.

    Arguments:
        run: a run, perhaps a saved one

    Raises:
        ModelError: it was driven by what no file holds, or it began elsewhere than its machine does
    """
    how = made(run)
    if how.start is not None:
        raise ModelError("the run began elsewhere than its machine does. Simulate it from run.q[0], run.v[0].")
    every = run.effort.settings.get("save_every", "")
    usual = Scenario(run.system, float(run.time[-1]) or 1.0, how.stepper, how.control)
    return replace(usual, save_every=float(every)) if every else usual


def _control(run: Run) -> Control | None:
    """Who drove it; in a file {motor: expression} as `written` wrote it on one line, or a law as text."""
    text, law = (run.effort.settings.get(key, "") for key in ("control", "law"))
    if run.control is not None:
        return run.control
    if law:
        return control_from_text(law, run.system)
    if not text:
        return None
    control = {motor: expression for motor, _, expression in (law.partition("=") for law in text.split("; "))}
    if not set(control) <= {motor.name for motor in run.system.machine.actuators}:
        raise ModelError(
            f"the run keeps its control in words alone: {text[:40]}. Open the machine by its name, or its scenario."
        )
    return control


def _is_lost(load: object) -> bool:
    """Whether a force was a Python function that a file does not hold."""
    return isinstance(load, Sampled) and isinstance(load.function, NotStored)


def _start(run: Run, control: Control | None) -> State | None:
    begins = run.plant.start if control is None else controller(control, run.system.name).start(run.plant)
    scales = run.plant.scales
    at = (np.abs(run.q[0] - begins.q) <= SAME_START * scales.places).all()
    still = (np.abs(run.v[0] - begins.v) <= SAME_START * scales.velocities * scales.rate).all()
    return None if at and still else State(run.q[0], run.v[0])


def from_words(text: str, kinds: Iterable[type[Value]]) -> Value | None:
    """The value of one of some classes that its `repr` tells, `RungeKutta4(step=0.001)`; None: it tells none.

    Settings are numbers, texts and None; nothing is executed.
    """
    try:
        call = ast.parse(text, mode="eval").body
        known = {kind.__name__: kind for kind in kinds}
        if not (isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args):
            return None
        entries = {str(keyword.arg): _literal(keyword.value) for keyword in call.keywords}
        return known[call.func.id](**entries)
    except (SyntaxError, ValueError, KeyError, TypeError):
        return None


def _literal(node: ast.expr) -> object:
    return inf if isinstance(node, ast.Name) and node.id == "inf" else ast.literal_eval(node)
