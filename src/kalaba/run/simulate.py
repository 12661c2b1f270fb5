"""Simulate: a Plant, a stepper and what drives it → a Run."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.stabilisation import Baumgarte, Projection, Stabilisation
from kalaba.errors import ExpressionError, IntegrationError, ModelError
from kalaba.model.parts import Sampled
from kalaba.model.text.expressions import parse_condition
from kalaba.native.backend import NativeFunction
from kalaba.plant.laws import Controller, Law, law_function, law_of, read
from kalaba.plant.plant import Plant, build
from kalaba.plant.start import take_over
from kalaba.plant.state import State, own_state
from kalaba.results.run import Effort, Ending, Run, Status, Worst
from kalaba.run.deformation import DeformationWarning, large_deformation
from kalaba.run.progress import Progress, Watcher
from kalaba.run.sampling import Sampler, samplers
from kalaba.run.shortfall import ShortfallWarning, shortfall_message, shortfalls
from kalaba.run.structures import check_structural, structural_functions
from kalaba.space.number import is_number
from kalaba.steppers import Radau, RungeKutta4, SemiImplicitEuler, Structural

if TYPE_CHECKING:
    from kalaba.compiled import Integration, Kernels, Trajectory
    from kalaba.compiled.trajectory import Opening
    from kalaba.model.system import System
    from kalaba.native.backend import Evaluator
    from kalaba.native.batch import Code

Array = NDArray[np.float64]
Control = Mapping[str, Any] | Sampled | Controller | None
JERK = 1e-3  # of the speed: a projection that changes more is no correction of the stepper's error
LOOK_EVERY = 0.1  # s of wall time between two looks at the progress
FEWEST_STEPS, MOST_STEPS = 16, 1 << 20  # in one call of the native loop, which nothing can interrupt


class SingularWarning(UserWarning):
    """A run passed so near a singular position that projection changed its speed."""


@dataclass(frozen=True)
class Task:
    """All that says what a run is, checked."""

    plant: Plant
    start: State
    loss: float  # of kinetic energy, where the start was made to obey the rows, J
    duration: float
    stepper: Any
    law: Law | None
    samplers: tuple[Sampler, ...]
    stabilisation: Stabilisation
    save_every: float
    stop: str | None
    progress: Watcher | None

    @property
    def is_pushed(self) -> bool:
        """Whether the law pushes every velocity."""
        return self.law is not None and self.law.pushes is not None


def simulate(  # noqa: PLR0913, PLR0917  (the one place where a run is asked for)
    system: System | Plant,
    duration: float | None = None,
    start: State | tuple[Any, Any] | None = None,
    stepper: Any = RungeKutta4(1e-3),  # noqa: ANN401
    control: Control = None,
    stabilisation: Stabilisation = Projection(),
    save_every: float = 0.01,
    stop: str | None = None,
    *,
    progress: Watcher | None = None,
    check: bool = True,
) -> Run:
    """Simulate a machine for a duration in seconds and return the Run.

    `control` is {motor: expression}, a controller such as Carry(...), or Sampled(function, rate); `stop` a condition
    such as "nut.travel > 0.06". A run that breaks off raises an IntegrationError that carries the part done as `.run`;
    with check=False it is returned, and `run.status` says why. `start` is a State, or `run.end` of a machine that may
    have had other parts: grasped and let go since. Rows that it does not obey take hold by a plastic impact; see
    `run.start_energy_loss`. `progress` is a function that gets a Progress some ten times a second.
    """
    task = _task(_plant(system, start), duration, start, stepper, control, stabilisation, save_every, stop, progress)
    run = _runner(task)(task)
    run = replace(run, start_energy_loss=task.loss, shortfalls=shortfalls(task, run))
    if run.shortfalls and isinstance(control, Controller):  # laws of one's own may mean to be cut off
        warnings.warn(shortfall_message(run), ShortfallWarning, stacklevel=2)
    if run.effort.jolt[0] > JERK and not _is_coarse(stepper):
        warnings.warn(_jolt_message(run), SingularWarning, stacklevel=2)
    if bent := large_deformation(run):
        warnings.warn(bent, DeformationWarning, stacklevel=2)
    if check and run.status.failed:
        raise IntegrationError(run.status.message, run)
    return run


def _is_coarse(stepper: Any) -> bool:  # noqa: ANN401
    """Tell whether a stepper leaves errors of the speed to projection that are as large as a jolt."""
    return isinstance(stepper, SemiImplicitEuler) or (isinstance(stepper, Structural) and stepper.scheme.index_3)


def _jolt_message(run: Run) -> str:
    size, time = run.effort.jolt
    return (
        f"{run.plant.system.name}: projection changed the speed by {size:.2g} of it at t = {time:.6g} s, near a "
        "singular position; what follows is one of several motions. See run.energy_balance, and try another step."
    )


def _task(plant: Plant, duration: float | None, start: Any, stepper: Any, control: Control, *rest: Any) -> Task:  # noqa: ANN401
    stabilisation, save_every, stop, progress = rest
    name = plant.system.name
    duration = getattr(control, "duration", None) if duration is None else duration
    if not is_number(duration) or not duration > 0:  # type: ignore[operator]
        raise ModelError(f"{name}: expected a duration above 0 s, got {duration!r}. Say how long to simulate.")
    if not is_number(save_every) or not save_every > 0:
        raise ModelError(f"{name}: expected save_every above 0 s, got {save_every!r}. It is the time between samples.")
    if control is not None and not isinstance(control, Mapping | Sampled | Controller):
        kinds = "{motor: expression}, a controller such as kb.Carry(...), or kb.Sampled(...)"
        raise ModelError(f"{name}: expected control as {kinds}, got {control!r}.")
    state, loss = (_own_start(plant, control), 0.0) if start is None else take_over(plant, start)
    drive = law_of(plant, control, state)
    return Task(
        plant=plant,
        start=state,
        loss=loss,
        duration=float(duration),  # type: ignore[arg-type]
        stepper=stepper,
        law=drive if isinstance(drive, Law) else None,
        samplers=tuple(samplers(plant, drive)),
        stabilisation=stabilisation,
        save_every=float(save_every),
        stop=stop,
        progress=progress,
    )


def _own_start(plant: Plant, control: Control) -> State:
    """Where a run begins unless told otherwise: where its control wants it to, else at the machine's start."""
    begin = getattr(control, "start", None)
    return begin(plant) if callable(begin) else plant.start


def _plant(system: System | Plant, start: Any) -> Plant:  # noqa: ANN401
    """Build; what is grasped as found is found where the given start has it."""
    if start is None or isinstance(system, Plant) or not hasattr(system, "machine"):
        return build(system)
    from kalaba.plant.start import settle_as_found

    return build(settle_as_found(system, own_state(system.machine, start).q))


def _runner(task: Task) -> Callable[[Task], Run]:
    is_stiff = isinstance(task.stepper, Radau)
    if not is_stiff and task.plant.is_native:
        return run_native
    if isinstance(task.stabilisation, Baumgarte):
        name = task.plant.system.name
        raise IntegrationError(
            f"{name}: {task.stabilisation!r} needs a native stepper and the default solver. Try kb.Projection()."
        )
    if is_stiff:
        from kalaba.run.radau import run_stiff

        return run_stiff
    from kalaba.run.python_loop import run_python

    return run_python


def run_native(task: Task) -> Run:
    """Run in machine code from sample to sample of the Python functions, if there are any."""
    from kalaba.compiled import Integration, Schedule

    check_structural(task)
    kernels = _kernels(task)
    schedule = Schedule(end=task.duration, save_every=task.save_every)
    integration = Integration(kernels, task.stepper, schedule, np.concatenate([[0.0], *task.start]))
    integration.weight[:] = task.plant.weight if task.plant.is_singular else 1.0
    began = now = told = clock.perf_counter()
    steps = FEWEST_STEPS
    while integration.running:
        integration.advance(_sample(task, integration), steps)
        before, now = now, clock.perf_counter()
        steps = _next_chunk(steps, now - before)
        if now - told >= LOOK_EVERY:
            _tell(task, integration)
            told = now
    _tell(task, integration)
    return _finish(task, _with_start(task, integration.trajectory()), clock.perf_counter() - began)


def _next_chunk(steps: int, took: float) -> int:
    """Native steps of the next call, so that it takes about LOOK_EVERY; how a run is cut changes no bit of it."""
    if took < LOOK_EVERY / 2:
        return min(2 * steps, MOST_STEPS)
    return max(steps // 2, 1) if took > 2 * LOOK_EVERY else steps


def _tell(task: Task, integration: Integration) -> None:
    """Say where a run stands to whoever watches it."""
    if task.progress is not None:
        worst = _worst(task.plant, integration.worst())
        task.progress(Progress(integration.time, task.duration, integration.steps, worst))


def _worst(plant: Plant, found: Opening) -> Worst | None:
    """Name the largest residual; where no row was ever open by a bit, the first one stands for all."""
    return Worst(found.gap, plant.constraints[max(found.row, 0)], found.time) if plant.constraints else None


def _sample(task: Task, integration: Integration) -> float:
    """Take the samples that are due; give the time of the next one."""
    n_q, now = len(task.plant.coordinates), integration.time
    for sampler in task.samplers:
        if sampler.due <= now + integration.slack:
            y = integration.y[1:, 0].copy()
            integration.actuation[sampler.part, 0] = sampler.sample(now, y[:n_q], y[n_q:])
    return min((sampler.due for sampler in task.samplers), default=np.inf)


def _kernels(task: Task) -> Kernels:
    from kalaba.compiled import Kernels
    from kalaba.compiled.kernels import Layout as LoopLayout

    plant = task.plant
    layout = plant.layout
    projects = isinstance(task.stabilisation, Projection)
    n_v, n_u = len(plant.velocities), (layout.f.stop if task.is_pushed else layout.u.stop) - layout.u.start
    return Kernels(
        LoopLayout(1 + len(plant.coordinates), n_v, n_u, len(plant.constraints), pushed=task.is_pushed),
        motion=_code(_motion(task)),
        rows=_code(plant.standard("rows")) if plant.constraints else None,
        project=_code(plant.standard("project")) if projects else None,
        normalise=None if projects or not plant.machine.quaternions else _code(plant.standard("normalise")),
        control=None if task.law is None else _code(law_function(plant, task.law)),
        event=None if task.stop is None else _code(event_function(plant, task.stop)),
        limbs=plant.blocks.limbs if plant.blocks is not None else None,
        **{name: _code(function) for name, function in structural_functions(task).items()},
    )


def _motion(task: Task) -> Evaluator:
    """The motion function, with the rows' errors fed back where Baumgarte asks for it."""
    plant, chosen = task.plant, task.stabilisation
    if not isinstance(chosen, Baumgarte):
        return plant.standard("motion")
    from kalaba.constrain.kernels.motion import motion, motion_by_limbs

    singular, blocks = plant.is_singular, plant.blocks
    label = f"{chosen!r} {singular}"
    if blocks is not None:
        return plant.function("motion", lambda _: motion_by_limbs(blocks, baumgarte=chosen), f"{label} blocks")
    return plant.function("motion", lambda e: motion(e, is_singular=singular, baumgarte=chosen), label)


def _code(function: Evaluator) -> Code:
    from kalaba.native.batch import Code

    assert isinstance(function, NativeFunction)  # noqa: S101
    return Code(function.kernel.address, function.store.copy(), function.kernel)


def event_function(plant: Plant, stop: str) -> Evaluator:
    """The expression that rises through zero when a condition becomes true."""
    from kalaba.constrain.kernels.functions import expressions

    try:
        condition = parse_condition(stop)
    except ExpressionError as error:
        raise ExpressionError(f"stop: {error.problem}", error.text, error.position, error.remedy) from None
    for side in (condition.left, condition.right):
        read(plant, side, "stop")
    expression = condition.crossing
    label = expression.canonical
    return plant.function("event", lambda e: expressions(e, lambda f: [f.kinematics.value(expression)]), label)


def _with_start(task: Task, found: Trajectory) -> Trajectory:
    """A run that fails at once still holds its start, without the motion there."""
    if found.time.size:
        return found
    unknown = np.full((1, len(task.plant.velocities)), np.nan)
    return replace(
        found,
        time=np.zeros(1),
        y=np.concatenate([[0.0], *task.start])[np.newaxis],
        acceleration=unknown,
        constraint_force=unknown.copy(),
        actuation=np.full((1, found.actuation.shape[1]), np.nan),
    )


def _finish(task: Task, found: Trajectory, wall_time: float) -> Run:
    plant, n_q = task.plant, len(task.plant.coordinates)
    row = plant.constraints[found.row] if found.row >= 0 else ""
    ending = _ENDINGS[found.status.name]
    choices = tuple((choice.time, choice.rank) for choice in found.choices)
    return Run(
        plant=plant,
        time=found.time,
        q=found.y[:, 1 : 1 + n_q],
        v=found.y[:, 1 + n_q :],
        acceleration=found.acceleration,
        constraint_force=found.constraint_force,
        actuation=found.actuation[:, : len(plant.actuators)],
        inputs=found.actuation,
        status=Status(ending, found.end_time, failure_message(plant, ending, found.end_time, row)),
        effort=Effort(found.steps, found.rejected, choices, wall_time, settings(task), found.jolt),
        worst=_worst(plant, found.worst),
        work=found.y[:, 0],
    )


_ENDINGS = {
    "DONE": Ending.DONE,
    "STOPPED": Ending.STOPPED,
    "NAN": Ending.NOT_FINITE,
    "UNDERFLOW": Ending.STEP_UNDERFLOW,
    "RESIDUAL": Ending.RESIDUAL_GROWTH,
    "INCONSISTENT": Ending.INCONSISTENT,
    "SINGULAR": Ending.SINGULAR,
    "UNSOLVED": Ending.UNSOLVED,
}
_REMEDIES = {
    Ending.NOT_FINITE: "the state is no longer finite. Try a smaller step, or check the control law",
    Ending.STEP_UNDERFLOW: "steps fall below rounding. Look for a jump in the forces; if stiff, try kb.Radau()",
    Ending.RESIDUAL_GROWTH: "projection cannot close {row}. The machine is where it cannot go on; try a smaller step",
    Ending.INCONSISTENT: "no motion obeys all rows; {row} contradicts the others. Remove one of them",
    Ending.UNSOLVED: "Newton's method finds no end of the step. Try a smaller step, kb.GeneralisedAlpha(rtol=1e-5), "
    "or near a singular position its formulation='arnold-bruls'",
    Ending.SINGULAR: "some motion has neither inertia nor constraint. Give the body mass, or constrain it",
}


def failure_message(plant: Plant, ending: Ending, time: float, row: str) -> str:
    """One line for a run that broke off."""
    if not ending.failed:
        return ""
    return f"{plant.system.name}: stopped at t = {time:.6g} s: {_REMEDIES[ending].format(row=row or 'the rows')}."


def settings(task: Task) -> dict[str, str]:
    """The choices of a run in words."""
    control = task.law.text if task.law else ", ".join(repr(s.source) for s in task.samplers)
    return {
        "stepper": repr(task.stepper),
        "stabilisation": repr(task.stabilisation),
        "control": control,
        "stop": task.stop or "",
        "save_every": repr(task.save_every),
    }
