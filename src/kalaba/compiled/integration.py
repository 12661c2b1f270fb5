"""An integration under way: what Python holds while the compiled loop runs."""

from collections.abc import Callable
from math import inf

import numpy as np
import numpy.typing as npt

from kalaba.compiled.kernels import Kernels
from kalaba.compiled.memory import RUNNING
from kalaba.compiled.methods import Methods, TangentKernels
from kalaba.compiled.schedule import Schedule
from kalaba.compiled.trajectory import Change, Opening, RankAtTime, Status, Trajectory
from kalaba.compiled.workspace import workspace
from kalaba.errors import IntegrationError
from kalaba.native.machine_code import Floats
from kalaba.steppers.stepper import Stepper

NO_LIMIT = int(np.iinfo(np.int64).max) // 2  # far from overflow when steps are added to it


class Integration:
    """A run from its start to its end, advanced in as many calls as one likes; see `kalaba.compiled`.

    Not a value but the one thing here that changes: `advance` moves it on in place.
    """

    def __init__(
        self,
        kernels: Kernels,
        stepper: Stepper,
        schedule: Schedule,
        start: npt.ArrayLike,
        tangent_kernels: Callable[[], TangentKernels] | None = None,
    ) -> None:
        """Start at the state `start`: (n_y,) for all lanes or (n_y, lanes); it should obey its constraints.

        `tangent_kernels` are asked for when a stepper that may change its method first does.
        """
        shape = (kernels.layout.n_y, kernels.layout.lanes)
        y = np.asarray(start, dtype=np.float64)
        y = np.repeat(y[:, None], kernels.layout.lanes, axis=1) if y.ndim == 1 else y
        if y.shape != shape:
            raise IntegrationError(f"start has shape {y.shape}, expected {shape} or {shape[:1]} for all lanes")
        self._kernels = kernels  # keeps code and stores alive
        self._workspace = workspace(kernels, stepper, schedule, y)
        self._end = float(schedule.end)
        self._methods = Methods(self._workspace, kernels, stepper, tangent_kernels)

    def advance(self, until: float = inf, steps: int = NO_LIMIT) -> None:
        """Integrate to exactly `until` (at most the end), or for `steps` more steps if that comes first.

        A limit on steps, or an `until` on the grid of fixed steps, changes nothing in the results; any other `until`
        shortens the step that reaches it. The sample due at `until` is recorded by the next call, with the actuation
        that begins there; the run is over only when `running` is False.
        """
        goal, last = min(float(until), self._end), self.steps + steps
        is_on = True
        while is_on and self.running:
            limit = 1 if self.is_at_end else self._methods.steps_to_review(last - self.steps)  # a sample is no step
            self._methods.advance(self._workspace.memory, goal, limit)
            is_last = self.is_at_end and until > self._end + self.slack  # nothing begins there: its sample may follow
            is_on = is_last or (self._methods.review() and self.steps < last)

    @property
    def running(self) -> bool:
        """Whether some lane goes on."""
        return RUNNING in self._workspace.arrays["status"].tolist()

    @property
    def is_at_end(self) -> bool:
        """Whether the time is that of the end, or no lane goes on: no step is left to take."""
        return not self.running or self.time >= self._end - self.slack

    @property
    def status(self) -> tuple[Status, ...]:
        """How each lane stands."""
        return tuple(Status(int(value)) for value in self._workspace.arrays["status"])

    @property
    def time(self) -> float:
        """Time reached, s."""
        return float(self._workspace.memory["time"][0])

    @property
    def steps(self) -> int:
        """Steps accepted so far."""
        return int(self._workspace.memory["n_steps"][0])

    def worst(self, lane: int = 0) -> Opening:
        """The largest residual of a lane so far."""
        arrays = self._workspace.arrays
        gap, row, time = (arrays[name][lane].item() for name in ("worst", "worst_row", "worst_time"))
        return Opening(gap * (float(arrays["gap_units"][row]) if row >= 0 else 1.0), row, time)

    @property
    def slack(self) -> float:
        """Times nearer than this are the same, s."""
        return float(self._workspace.memory["slack"][0])

    @property
    def changes(self) -> tuple[Change, ...]:
        """Where another method took over."""
        return tuple(self._methods.changes)

    @property
    def y(self) -> Floats:
        """The state (n_y, lanes) at `time`, for lanes that run, else the last good one; read only."""
        view: Floats = self._workspace.arrays["y"].view()
        view.flags.writeable = False
        return view

    @property
    def actuation(self) -> Floats:
        """Held actuation (n_u, lanes); write to it between calls of `advance`."""
        return self._inputs[self._kernels.layout.u]

    @property
    def force(self) -> Floats:
        """Held generalised force (n_v, lanes); write to it between calls of `advance`."""
        return self._inputs[self._kernels.layout.f]

    @property
    def weight(self) -> Floats:
        """Weights of the rows (n_rows, lanes) beside a singular M; 1 unless written to before the first `advance`."""
        return self._inputs[self._kernels.layout.w]

    @property
    def mask(self) -> Floats:
        """The rows in use (n_rows, lanes): 1 kept, 0 left out; chosen by the loop, first when it starts."""
        return self._inputs[self._kernels.layout.mask]

    @property
    def _inputs(self) -> Floats:
        inputs: Floats = self._workspace.arrays["inputs"]
        return inputs

    def trajectory(self, lane: int = 0) -> Trajectory:
        """Give a copy of what one lane has recorded so far."""
        arrays, memory = self._workspace.arrays, self._workspace.memory
        count, n_choices = int(arrays["samples"][lane]), int(memory["n_choices"][0])
        logged = arrays["choices"][:n_choices]
        return Trajectory(
            time=arrays["sample_time"][:count, lane].copy(),
            y=arrays["sample_y"][:count, :, lane].copy(),
            acceleration=arrays["sample_acceleration"][:count, :, lane].copy(),
            constraint_force=arrays["sample_force"][:count, :, lane].copy(),
            actuation=arrays["sample_actuation"][:count, :, lane].copy(),
            gap=arrays["sample_gap"][:count, lane].copy(),
            gap_row=arrays["sample_gap_row"][:count, lane].copy(),
            status=self.status[lane],
            row=int(arrays["row"][lane]),
            end_time=float(arrays["reached"][lane]),
            end_y=self.y[:, lane].copy(),
            worst=self.worst(lane),
            jolt=(float(arrays["jolt"][lane]), float(arrays["jolt_time"][lane])),
            steps=self.steps,
            rejected=int(memory["n_rejected"][0]),
            choices=tuple(RankAtTime(float(time), int(rank)) for time, of, rank in logged if of == lane),
            n_choices=n_choices,
            changes=self.changes,
            stiffest=float(memory["stiffest"][0]),
            trials=self._methods.trials,
        )
