"""Simulate: a Plant, a stepper and what drives it → a Run.

A run is made in this order: `simulate` puts together the Task (run/task.py), `run_task` (run/loops.py) chooses the loop
that runs it (native_loop.py, python_loop.py or radau.py), `judge` (run/judge.py) says how good the Run is, and `warn`
(run/checks.py) what is doubtful in it.
"""

from __future__ import annotations

from dataclasses import replace
from math import inf
from typing import NamedTuple, cast

from numpy.typing import ArrayLike

from kalaba.boundary import check_choice
from kalaba.constrain.stabilisation import Projection, Stabilisation
from kalaba.errors import IntegrationError, Interrupted
from kalaba.interruption import heard
from kalaba.model.system import System
from kalaba.plant.arguments import own_state
from kalaba.plant.as_found import settle_as_found
from kalaba.plant.laws import Control, Controller, Law, controller
from kalaba.plant.plant import Plant, build
from kalaba.plant.start import take_over
from kalaba.plant.state import State
from kalaba.results.run import Run
from kalaba.run.checks import warn
from kalaba.run.judge import failure_cause, judge
from kalaba.run.loops import run_task
from kalaba.run.lost_hold import hold_message, lost_hold
from kalaba.run.progress import Watcher
from kalaba.run.sampling import samplers
from kalaba.run.scenario import Scenario
from kalaba.run.shortfall import shortfalls
from kalaba.run.task import Task
from kalaba.steppers import Auto, Stepper

SAVE_EVERY = 0.01  # s


def simulate(  # noqa: PLR0913, PLR0917  (the one place where a run is asked for)
    system: System | Plant | Scenario,
    duration: float | None = None,
    start: State | tuple[ArrayLike, ArrayLike] | None = None,
    stepper: Stepper | None = None,
    control: Control | None = None,
    stabilisation: Stabilisation = Projection(),
    save_every: float | None = None,
    stop: str | None = None,
    *,
    progress: Watcher | None = None,
    check: bool = True,
    max_steps: int = 100_000_000,
    max_time: float = inf,
) -> Run:
    """Simulate a machine for a duration in seconds and return the Run.

    Arguments:
        system: the machine, a System or a Plant; or a Scenario, whose settings hold where no others are given
        duration: time to simulate, s; None = the Scenario's, or as long as the control lasts, if it says
        start: a State or (q, v), or `run.end` of a machine that had other parts; rows that it does not obey take hold
            by a plastic impact, see `run.start_energy_loss`. None = where the control or else the machine begins
        stepper: how time is stepped, such as RungeKutta4(1e-3); None = the Scenario's, else Auto()
        control: {motor: expression}, a controller such as Carry(...), or Sampled(function, rate); None = no motor acts
        stabilisation: how constraint rows are kept closed: Projection(), Baumgarte(...) or NoStabilisation()
        save_every: time between samples, s; None = the Scenario's, else 0.01
        stop: a condition that ends the run when it becomes true, such as "nut.travel > 0.06"
        progress: a function that gets a Progress some ten times per second
        check: whether a run that breaks off is an error; if not it is returned, and `run.status` says why
        max_steps: steps after which the run ends if it has not come to its end
        max_time: wall time after which it ends likewise, s

    Raises:
        IntegrationError: the stepper cannot do the run, or the run broke off; then `.run` is the part done.
        Interrupted: Ctrl-C, also without `check`; a KeyboardInterrupt whose `.run` is the part done.
    """
    with heard():
        asked = _asked(system, duration, stepper, control, save_every, check=check)
        limits = Limits(stabilisation, stop, progress, max_steps, max_time)
        task, driver = _task(asked, start, limits)
        run = _made(task, driver, asked.controller)
        warn(task, run, controller_has_goals=asked.controller is not None)
    if check and run.status.failed:
        raise IntegrationError(run.status.message, run)
    return run


class Limits(NamedTuple):
    """What a run keeps to, and who watches it; see `simulate`."""

    stabilisation: Stabilisation = Projection()
    stop: str | None = None
    progress: Watcher | None = None
    max_steps: int = 100_000_000
    max_time: float = inf


def run_only(plant: Plant, scenario: Scenario, limits: Limits) -> Run:
    """The run that `simulate` makes, bit for bit, without its judgement: for many runs that are alike.

    Arguments:
        plant: the machine, in the place of the scenario's own
        scenario: what is to be run
        limits: what the run keeps to
    """
    asked = _asked(scenario, None, None, None, None, check=False)._replace(machine=plant)
    task, _ = _task(asked, None, limits)
    return replace(run_task(task), start_energy_loss=task.loss, control=asked.controller)


def _task(
    asked: _Asked, start: State | tuple[ArrayLike, ArrayLike] | None, limits: Limits
) -> tuple[Task, Controller | None]:
    """What the run is, checked, and who drives it."""
    plant, driver, state, loss = _driven(asked, start)
    drive = None if driver is None else driver.law(plant, state)
    task = Task(
        plant=plant,
        start=state,
        loss=loss,
        duration=driver.duration if asked.duration is None and driver is not None else asked.duration,  # type: ignore[arg-type]
        stepper=asked.stepper,
        law=drive if isinstance(drive, Law) else None,
        samplers=tuple(samplers(plant, drive)),
        save_every=asked.save_every,
        **limits._asdict(),
    )
    return task, driver


class _Asked(NamedTuple):
    """What a run is asked for, with what a Scenario says and defaults filled in."""

    machine: System | Plant
    duration: float | None
    stepper: Stepper
    control: Control | None
    save_every: float

    @property
    def controller(self) -> Controller | None:
        """The control, if it is given as a controller."""
        return self.control if self.control is not None and isinstance(self.control, Controller) else None


def _asked(
    system: System | Plant | Scenario,
    duration: float | None,
    stepper: Stepper | None,
    control: Control | None,
    save_every: float | None,
    *,
    check: bool,
) -> _Asked:
    check_choice(check, bool, "simulate: check", "True")
    if isinstance(system, Scenario):
        duration = system.duration if duration is None else duration
        stepper = system.stepper if stepper is None else stepper
        control = system.control if control is None else control
        save_every = system.save_every if save_every is None else save_every
    return _Asked(
        system.system if isinstance(system, Scenario) else system,
        duration,
        Auto() if stepper is None else stepper,
        control,
        SAVE_EVERY if save_every is None else save_every,
    )


def _driven(
    asked: _Asked, start: State | tuple[ArrayLike, ArrayLike] | None
) -> tuple[Plant, Controller | None, State, float]:
    """The machine, who drives it, where the run begins, and the energy lost in taking hold of a start."""
    plant = _plant(asked.machine, start)
    driver = None if asked.control is None else controller(asked.control, plant.system.name)
    return plant, driver, *_start(plant, driver, start)


def _start(
    plant: Plant, driver: Controller | None, start: State | tuple[ArrayLike, ArrayLike] | None
) -> tuple[State, float]:
    """Where a run begins, and the energy that is lost in taking hold of a start that was given."""
    if start is not None:
        return take_over(plant, start)
    return (plant.start if driver is None else driver.start(plant)), 0.0


def _made(task: Task, driver: Controller | None, control: Controller | None) -> Run:
    """Run and judge; whatever there is of the run when it is interrupted goes with the interruption."""
    try:
        run = replace(run_task(task), start_energy_loss=task.loss, control=control)
    except Interrupted as error:
        part = replace(cast("Run", error.run), start_energy_loss=task.loss, control=control)
        raise Interrupted(part.status.message, part) from None
    try:
        return _judged(run, task, driver)
    except KeyboardInterrupt:
        raise Interrupted(f"{task.name}: interrupted when the run was done and being checked.", run) from None


def _judged(run: Run, task: Task, driver: Controller | None) -> Run:
    """The run with what is known of it once it is done: shortfalls, accuracy, where motors lost hold."""
    run = replace(run, shortfalls=shortfalls(task, run))
    return _held(_explained(replace(run, judgement=judge(task, run)), task), task, driver)


def _explained(run: Run, task: Task) -> Run:
    """The run; if it broke off since its steps are too long, its status says so."""
    if not run.status.failed or not (cause := failure_cause(task, run)):
        return run
    return replace(run, status=replace(run.status, message=f"{run.status.message} The cause: {cause}"))


def _held(run: Run, task: Task, driver: Controller | None) -> Run:
    """The run with where its motors lost hold of the machine, if it had goals; if it broke off, that is the cause."""
    if driver is None or not driver.goals or task.is_pushed or (lost := lost_hold(run)) is None:
        return run
    status = run.status
    if status.failed:
        status = replace(status, message=f"{status.message} The cause: {hold_message(run, lost)}")
    return replace(run, lost_hold=lost, status=status)


def _plant(system: System | Plant, start: State | tuple[ArrayLike, ArrayLike] | None) -> Plant:
    """Build; what is grasped as found is found where the given start has it."""
    if start is None or not isinstance(system, System):
        return build(system)  # which refuses what is none
    return build(settle_as_found(system, own_state(system.machine, start).q))
