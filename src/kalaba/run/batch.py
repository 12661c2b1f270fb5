"""Many runs of one machine at once: eight side by side in the lanes of a register, on as many threads as asked for.

Fixed explicit steps go through the compiled loop in lanes, and give each run the bits that it has alone. What chooses
its own steps, solves equations or samples Python functions runs one after the other on each thread, with the same code.
"""

from __future__ import annotations

import os
import sys
import threading
import time as clock
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.boundary import check_arguments, check_whole
from kalaba.compiled import Integration, Kernels, Schedule, Trajectory
from kalaba.constrain.stabilisation import Projection
from kalaba.errors import ModelError
from kalaba.native.backend import MOST_THREADS
from kalaba.native.batch import Code
from kalaba.native.kernels import Kernel
from kalaba.plant.lanes import Traced
from kalaba.plant.laws import Control, Controller, Law, LawCode, controller, law_code
from kalaba.plant.plant import Plant, build
from kalaba.plant.start import take_over
from kalaba.plant.state import State
from kalaba.results.runs import Runs
from kalaba.run.cases import Cases, Done, cases_of, of_run, together, widths
from kalaba.run.loops import run_task
from kalaba.run.native_loop import ENDINGS, layout_of
from kalaba.run.sampling import samplers
from kalaba.run.task import MOST_SAMPLES, Task, event_code
from kalaba.space.arrays import Array
from kalaba.space.configuration import unit
from kalaba.steppers import RungeKutta4, Stepper
from kalaba.tolerances import REFERENCE_PROJECTED
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.model.system import System

LANES = 8
MOST_STEPS = 100_000_000  # of one run
CHUNK = 4096  # steps between two looks at whether the others go on


def simulate_batch(  # noqa: PLR0913  (as many as a run alone has)
    system: System | Plant,
    duration: float,
    start: State | tuple[ArrayLike, ArrayLike] | None = None,
    parameters: Mapping[str, ArrayLike] | None = None,
    control: Control | None = None,
    *,
    stepper: Stepper | None = None,
    save_every: float | None = None,
    stop: str | None = None,
    threads: int | None = None,
) -> Runs:
    """Simulate a machine many times, from other states or with other numbers, and return all Runs.

    A run that breaks off has its status and does not stop the others. Runs are not judged one by one; to have one with
    all that a Run knows: `kb.simulate(plant.with_parameters(runs.numbers(k)), ...)`.

    Arguments:
        system: the machine, a System or a Plant
        duration: time to simulate, s
        start: q and v, one row per run, or one for all; None = where the machine starts
        parameters: {parameter: values}, one number per run, in the parameters' units; None = the machine's own
        control: {motor: expression} or a controller; None = no motor acts
        stepper: how time is stepped; None = RungeKutta4(1e-3)
        save_every: time between samples, s; None = the start and the end alone
        stop: a condition that ends a run when it becomes true, such as "nut.travel > 0.06"
        threads: how many work at once; None = one per processor core
    """
    check_arguments(simulate_batch, locals())
    if threads is not None:
        check_whole(threads, "simulate_batch: threads", 1, MOST_THREADS, ModelError)
    plant = build(system)
    cases = cases_of(plant, start, parameters)
    batch = _Batch.of(plant, cases, control, _Settings(duration, stepper or RungeKutta4(), save_every, stop))
    began, stopped = clock.perf_counter(), threading.Event()
    with ThreadPoolExecutor(threads or _cores()) as pool:
        try:
            done = [run for group in pool.map(partial(batch.run, stopped), batch.groups) for run in group]
        finally:
            stopped.set()  # Ctrl-C ends those that are under way
    return together(batch.task, batch.cases, done, clock.perf_counter() - began)


def _cores() -> int:
    """Processor cores that this process may use."""
    return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1


class _Settings(NamedTuple):
    """What all runs share."""

    duration: float
    stepper: Stepper
    save_every: float | None
    stop: str | None


@dataclass(frozen=True)
class _Batch:
    """Runs to be made, and how."""

    cases: Cases
    driver: Controller | None
    task: Task  # of the first run

    @classmethod
    def of(cls, plant: Plant, cases: Cases, control: Control | None, settings: _Settings) -> _Batch:
        """Check what is common to all runs."""
        duration, stepper, save_every, stop = settings
        driver = None if control is None else controller(control, plant.system.name)
        start = plant.start if driver is None else driver.start(plant)
        drive = None if driver is None else driver.law(plant, start)
        task = Task(
            plant=plant,
            start=start,
            loss=0.0,
            duration=duration,
            stepper=stepper,
            law=drive if isinstance(drive, Law) else None,
            samplers=tuple(samplers(plant, drive)),
            stabilisation=Projection(),
            save_every=duration if save_every is None else save_every,
            stop=stop,
            progress=None,
            max_steps=MOST_STEPS,
            max_time=np.inf,
        )
        numbers = len(cases) * Schedule(task.duration, task.save_every).n_samples * sum(widths(plant))
        if numbers > MOST_SAMPLES:
            raise ModelError(
                f"simulate_batch: {counted(len(cases), 'run')} would keep {numbers:.1e} numbers; "
                f"expected at most {MOST_SAMPLES:.0e}. Give a longer save_every, or none."
            )
        task.stepper.check(task)
        return cls(cases, driver, task)

    @cached_property
    def is_in_lanes(self) -> bool:
        """Whether the loop can take the steps of several runs at once."""
        stepper, task = self.task.stepper, self.task
        return task.plant.is_native and stepper.is_explicit and stepper.pace.is_fixed and not task.samplers

    @property
    def groups(self) -> Iterator[list[int]]:
        """The numbers of the runs that go on together."""
        size = LANES if self.is_in_lanes else 1
        return (list(range(first, min(first + size, len(self.cases)))) for first in range(0, len(self.cases), size))

    def run(self, stopped: threading.Event, group: list[int]) -> list[Done]:
        """Make the runs of a group."""
        if stopped.is_set():
            return []
        return self._in_lanes(stopped, group) if self.is_in_lanes else [self._alone(group[0])]

    def _plant(self, k: int) -> Plant:
        """The machine of one run."""
        if not self.cases.names:
            return self.task.plant
        return self.task.plant.with_parameters(dict(zip(self.cases.names, self.cases.values[k].tolist(), strict=True)))

    def _start(self, k: int, plant: Plant) -> State:
        """Where one run starts, on its rows."""
        if self.cases.q is None or self.cases.v is None:
            return plant.start if self.driver is None else self.driver.start(plant)
        return take_over(plant, State(self.cases.q[k], self.cases.v[k]))[0]

    def _law(self, plant: Plant, start: State) -> Law | None:
        """The law of one run."""
        if self.driver is None or self.task.law is None:
            return self.task.law
        law = self.driver.law(plant, start)
        return law if isinstance(law, Law) else None

    def _alone(self, k: int) -> Done:
        """Make one run by itself."""
        plant = self._plant(k)
        start = self._start(k, plant)
        task = replace(self.task, plant=plant, start=start, law=self._law(plant, start))
        if self.driver is not None and task.samplers:
            task = replace(task, samplers=tuple(samplers(plant, self.driver.law(plant, start))))
        return of_run(run_task(task))

    @cached_property
    def _kernels(self) -> dict[str, Kernel]:
        """The machine code of all runs."""
        task, plant = self.task, self.task.plant
        names = ["motion", "project", *(["rows"] if plant.constraints else [])]
        kernels = {name: plant.lanes(name, LANES)[0] for name in names}
        if task.stop is not None:
            kernels["event"], _ = plant.traced_lanes(Traced("event", *event_code(plant, task.stop)), LANES)
        if task.law is not None:
            code = law_code(plant, task.law, side_by_side=True)
            kernels["control"] = plant.unbound_lanes(Traced("control", code.trace, code.label), LANES)
        return kernels

    def _in_lanes(self, stopped: threading.Event, group: list[int]) -> list[Done]:
        """Make up to LANES runs side by side; lanes that are left over do what the last one does."""
        task, plant, lanes = self.task, self.task.plant, [*group, *[group[-1]] * (LANES - len(group))]
        numbers = self._numbers(lanes)
        starts, laws = self._starts(lanes, numbers)
        if any(law is not None and law.label != self._law_code.label for law in laws):
            return [self._alone(k) for k in group]  # its code depends on where it starts
        stores = {name: kernel.store(numbers) for name, kernel in self._kernels.items() if name != "control"}
        if "control" in self._kernels:
            of_laws = np.array([law.numbers for law in laws if law is not None]).T
            stores["control"] = self._kernels["control"].store(np.concatenate([numbers, of_laws]))
        codes = {name: Code(kernel.address, stores[name], kernel) for name, kernel in self._kernels.items()}
        limbs = plant.solved_by_limbs
        kernels = Kernels(
            replace(layout_of(task), lanes=LANES),
            limbs=None if limbs is None else limbs.limbs,
            units=plant.scales.units,
            **codes,
        )
        integration = Integration(kernels, task.stepper, Schedule(task.duration, task.save_every), starts)
        integration.weight[:] = plant.row_weights[:, np.newaxis]
        while integration.running and not stopped.is_set():
            integration.advance(steps=CHUNK)
        return [self._of_lane(integration.trajectory(lane)) for lane, _ in enumerate(group)]

    def _numbers(self, lanes: Sequence[int]) -> Array:
        """The parameters of all lanes, (n_p, lanes)."""
        plant = self.task.plant
        places = {parameter.name: i for i, parameter in enumerate(plant.machine.free_parameters)}
        numbers = np.repeat(plant.parameters[:, np.newaxis], len(lanes), axis=1)
        for column, name in enumerate(self.cases.names):
            numbers[places[name]] = self.cases.values[lanes, column]
        return numbers

    @cached_property
    def _law_code(self) -> LawCode:
        assert self.task.law is not None  # noqa: S101  (asked for where there is one)
        return law_code(self.task.plant, self.task.law, side_by_side=True)

    def _starts(self, lanes: Sequence[int], numbers: Array) -> tuple[Array, list[LawCode | None]]:
        """Where each lane starts, y (n_y, lanes), and its law.

        A state that obeys the rows with the numbers of its lane is taken as it is, as a run alone takes it.
        """
        task, plant = self.task, self.task.plant
        q = np.repeat(task.start.q[np.newaxis], len(lanes), axis=0) if self.cases.q is None else self.cases.q[lanes]
        v = np.repeat(task.start.v[np.newaxis], len(lanes), axis=0) if self.cases.v is None else self.cases.v[lanes]
        q = np.array([unit(plant.machine, row) for row in q])
        closed = self._are_closed(q, v, numbers)
        laws: list[LawCode | None] = []
        for lane, k in enumerate(lanes):
            asks = task.law is not None and (
                bool(task.law.numbers) or lane == 0
            )  # without numbers it is the same for all
            own = self._plant(k) if not closed[lane] or asks else plant
            if not closed[lane]:
                q[lane], v[lane] = self._start(k, own)
            if asks or lane == 0:
                law = self._law(own, State(q[lane], v[lane]))
            laws.append(None if law is None else law_code(own, law, side_by_side=True))
        return np.concatenate([np.zeros((1, len(lanes))), q.T, v.T]), laws

    def _are_closed(self, q: Array, v: Array, numbers: Array) -> NDArray[np.bool_]:
        """Which lanes obey their rows to the rounding of a projection."""
        plant, kernel = self.task.plant, self._kernels["project"]
        packed = plant.layout.pack_each(q, v, 0.0).T
        values = kernel(packed, kernel.store(numbers))
        gaps, rates = (np.abs(values[kernel.output_slice(name)]) for name in ("residual", "speed_residual"))
        sizes = REFERENCE_PROJECTED * plant.scales.rows[:, np.newaxis]
        fastest = np.array([plant.scales.fastest(row) for row in v])
        return np.asarray(((gaps < sizes) & (rates < sizes * fastest)).all(axis=0))

    def _of_lane(self, trajectory: Trajectory) -> Done:
        plant = self.task.plant
        row = plant.constraints[trajectory.row] if trajectory.row >= 0 else ""
        size = plant.scales.rows[trajectory.worst.row] if trajectory.worst.row >= 0 else 1.0
        return Done(
            time=trajectory.time,
            state=trajectory.y[:, 1:],
            acceleration=trajectory.acceleration,
            constraint_force=trajectory.constraint_force,
            actuation=trajectory.actuation[:, : len(plant.actuators)],
            end=trajectory.end_y[1:],
            status=self.task.status(ENDINGS[trajectory.status], trajectory.end_time, row),
            residual=trajectory.worst.gap / size,
            steps=trajectory.steps,
        )
