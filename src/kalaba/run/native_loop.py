"""Runs in machine code: the kernels of a task, handed to the compiled loop, and its trajectory made a Run."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kalaba.boundary import called
from kalaba.compiled import Integration, Kernels, Opening, Schedule, TangentKernels, Trajectory
from kalaba.compiled import Status as LoopStatus
from kalaba.constrain.kernels.motion import motion, motion_by_limbs
from kalaba.constrain.kernels.slopes import tangent
from kalaba.constrain.layout import Layout
from kalaba.errors import IntegrationError
from kalaba.interruption import caught
from kalaba.native.backend import machine_code
from kalaba.native.batch import Code
from kalaba.results.run import Ending, MethodChange, Run, Worst
from kalaba.run.progress import Progress

if TYPE_CHECKING:
    from kalaba.native.backend import Evaluator
    from kalaba.plant.plant import Plant
    from kalaba.run.task import Task

LOOK_EVERY = 0.1  # s of wall time between two looks at the progress
FIRST_STEPS, MOST_STEPS = 128, 1 << 20  # in one call of the compiled loop, which nothing can interrupt

ENDINGS: Mapping[LoopStatus, Ending] = {
    LoopStatus.DONE: Ending.DONE,
    LoopStatus.STOPPED: Ending.STOPPED,
    LoopStatus.NAN: Ending.NOT_FINITE,
    LoopStatus.UNDERFLOW: Ending.STEP_UNDERFLOW,
    LoopStatus.RESIDUAL: Ending.RESIDUAL_GROWTH,
    LoopStatus.INCONSISTENT: Ending.INCONSISTENT,
    LoopStatus.SINGULAR: Ending.SINGULAR,
    LoopStatus.UNSOLVED: Ending.UNSOLVED,
}


def run_native(task: Task) -> Run:
    """Run in machine code from sample to sample of the Python functions, if there are any."""
    schedule = Schedule(end=task.duration, save_every=task.save_every)
    start = np.concatenate([[0.0], *task.start])
    stiff = None if task.is_pushed else lambda: _tangent_kernels(task)  # no tangent knows a law on every velocity
    integration = Integration(kernels_of(task), task.stepper, schedule, start, stiff)
    integration.weight[:] = task.plant.row_weights[:, np.newaxis]
    began = now = last_report = clock.perf_counter()
    steps = FIRST_STEPS
    limit = None
    try:
        while integration.running and limit is None:
            left = max(task.max_steps - integration.steps, 1)  # at the end there is a sample to record, no step to take
            integration.advance(_take_samples(task, integration), min(steps, left))
            before, now = now, clock.perf_counter()
            steps = _next_chunk(steps, now - before)
            limit = task.limit_reached(integration.steps, now - began, is_at_end=integration.is_at_end)
            if now - last_report >= LOOK_EVERY:
                _report(task, integration)
                last_report = now
        _report(task, integration)
    except KeyboardInterrupt:  # between two calls of the compiled loop, where all that it recorded is whole
        caught()
        limit = Ending.INTERRUPTED
    return _finish(task, _with_start(task, integration.trajectory()), clock.perf_counter() - began, limit)


def _next_chunk(steps: int, took: float) -> int:
    """Native steps of the next call, so that it takes about LOOK_EVERY; how a run is cut changes no bit of it."""
    if took < LOOK_EVERY / 2:
        return min(2 * steps, MOST_STEPS)
    return max(steps // 2, 1) if took > 2 * LOOK_EVERY else steps


def _report(task: Task, integration: Integration) -> None:
    """Tell whoever watches the run where it stands."""
    if task.progress is not None:
        worst = _worst(task.plant, integration.worst())
        called(
            task.progress,
            "progress",
            Progress(integration.time, task.duration, integration.steps, worst),
            error=IntegrationError,
        )


def _take_samples(task: Task, integration: Integration) -> float:
    """Take the samples that are due; give the time of the next one."""
    n_q, now = len(task.plant.coordinates), integration.time
    for sampler in task.samplers:
        if sampler.due <= now + integration.slack:
            y = integration.y[1:, 0].copy()
            integration.actuation[sampler.part, 0] = sampler.sample(now, y[:n_q], y[n_q:])
    return min((sampler.due for sampler in task.samplers), default=np.inf)


def kernels_of(task: Task) -> Kernels:
    """The machine code that a task calls."""
    plant, projects = task.plant, task.stabilisation.projects
    return Kernels(
        layout_of(task),
        motion=_code(_motion(task)),
        rows=_code(plant.standard("rows")) if plant.constraints else None,
        project=_code(plant.standard("project")) if projects else None,
        normalise=None if projects or not plant.machine.quaternions else _code(plant.standard("normalise")),
        control=None if task.control is None else _code(task.control),
        event=None if task.event is None else _code(task.event),
        displace=_code(plant.standard("displace")) if "displace" in task.stepper.kernels else None,
        tangent=_code(_tangent(task)) if "tangent" in task.stepper.kernels else None,
        limbs=plant.solved_by_limbs.limbs if plant.solved_by_limbs is not None else None,
        units=plant.scales.units,
    )


def _tangent_kernels(task: Task) -> TangentKernels:
    return TangentKernels(_code(task.plant.standard("displace")), _code(_tangent(task)))


def layout_of(task: Task) -> Layout:
    """The packed input; where a law pushes every velocity, f counts among the inputs u that it computes."""
    layout = task.plant.layout
    return replace(layout, n_u=layout.n_u + layout.n_v, pushed=True) if task.is_pushed else layout


def _motion(task: Task) -> Evaluator:
    """The motion function, with the rows' errors fed back where the stabilisation asks for it."""
    plant, feedback = task.plant, task.stabilisation.feedback
    if feedback is None:
        return plant.standard("motion")
    singular, blocks = plant.is_singular, plant.solved_by_limbs
    label = f"{feedback!r} {singular}"
    if blocks is not None:
        return plant.function("motion", lambda _: motion_by_limbs(blocks, baumgarte=feedback), f"{label} blocks")
    return plant.function("motion", lambda e: motion(e, is_singular=singular, baumgarte=feedback), label)


def _tangent(task: Task) -> Evaluator:
    """Mass, damping and stiffness; those of a feedback law with it, whose limits are left to the motion.

    A stepper keeps its tangent for some hundred steps, but with rows at position level it takes two per step.
    """
    plant, law, singular, scheme = task.plant, task.law, task.plant.is_singular, task.stepper.scheme
    seldom = scheme is None or not scheme.index_3
    if law is None or not law.is_feedback:
        return plant.function("tangent", lambda e: tangent(e, is_singular=singular), f"{singular}", seldom=seldom)
    label = f"{law.label} {law.numbers} {singular}"
    return plant.function("tangent", lambda e: tangent(e, law.inputs(e), is_singular=singular), label, seldom=seldom)


def _code(function: Evaluator) -> Code:
    native = machine_code(function)
    return Code(native.kernel.address, native.store.copy(), native.kernel, native.kernel.instructions)


def _with_start(task: Task, trajectory: Trajectory) -> Trajectory:
    """A run that fails at once still holds its start, without the motion there."""
    if trajectory.time.size:
        return trajectory
    unknown = np.full((1, len(task.plant.velocities)), np.nan)
    return replace(
        trajectory,
        time=np.zeros(1),
        y=np.concatenate([[0.0], *task.start])[np.newaxis],
        acceleration=unknown,
        constraint_force=unknown.copy(),
        actuation=np.full((1, trajectory.actuation.shape[1]), np.nan),
    )


def _finish(task: Task, trajectory: Trajectory, wall_time: float, limit: Ending | None) -> Run:
    """Name what the loop numbers: rows, endings, columns of y = [W, q, v]."""
    plant, n_q = task.plant, len(task.plant.coordinates)
    row = plant.constraints[trajectory.row] if trajectory.row >= 0 else ""
    effort = replace(
        task.effort(trajectory.steps, wall_time),
        rejected=trajectory.rejected,
        choices=tuple((choice.time, choice.rank) for choice in trajectory.choices),
        jolt=trajectory.jolt,
        changes=tuple(MethodChange(*change) for change in trajectory.changes),
        stays="" if trajectory.changes else task.why_explicit(trajectory.stiffest, trajectory.trials),
        stiff_rate=trajectory.stiffest,
    )
    return Run(
        plant=plant,
        time=trajectory.time,
        q=trajectory.y[:, 1 : 1 + n_q],
        v=trajectory.y[:, 1 + n_q :],
        acceleration=trajectory.acceleration,
        constraint_force=trajectory.constraint_force,
        actuation=trajectory.actuation[:, : len(plant.actuators)],
        inputs=trajectory.actuation,
        status=task.status(limit or ENDINGS[trajectory.status], trajectory.end_time, row),
        effort=effort,
        worst=_worst(plant, trajectory.worst),
        work=trajectory.y[:, 0],
    )


def _worst(plant: Plant, opening: Opening) -> Worst | None:
    """Name the largest residual; where no row was ever open by a bit, the first one stands for all."""
    if not plant.constraints:
        return None
    return Worst(opening.gap, plant.constraints[max(opening.row, 0)], opening.time)
