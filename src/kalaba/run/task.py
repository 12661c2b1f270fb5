"""What a run is: everything that was asked for, checked and put into one value that each loop reads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from kalaba.analyse.at_rest import slopes_at, swinging
from kalaba.boundary import check_choice, shown
from kalaba.constrain.kernels.functions import expressions
from kalaba.constrain.stabilisation import Stabilisation
from kalaba.errors import ExpressionError, IntegrationError, ModelError
from kalaba.hints import is_real, is_text
from kalaba.model.text.expressions import parse_condition
from kalaba.plant import failures
from kalaba.plant.choice import keep_rows, rows_at
from kalaba.plant.laws import Law, law_function, read
from kalaba.plant.plant import Plant, Trace
from kalaba.plant.state import State
from kalaba.results.run import Effort, Ending, Status
from kalaba.run.progress import Watcher
from kalaba.run.sampling import Sampler
from kalaba.space.number import is_number
from kalaba.steppers.stepper import Stepper
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.native.backend import Evaluator

MOST_SAMPLES = 1_000_000_000  # of a run: 8 GB for one quantity
MOST_CALLS = 100_000_000  # of a sampled function
ROUNDING = 2.0**-52


@dataclass(frozen=True)
class Task:
    """All that says what a run is, checked. It answers what a stepper asks before it starts (`Circumstances`)."""

    plant: Plant
    start: State
    loss: float  # of kinetic energy, where the start was made to obey the rows, J
    duration: float  # s
    stepper: Stepper
    law: Law | None  # evaluated at every stage; None = no motor acts, or samplers hold them
    samplers: tuple[Sampler, ...]  # Python functions that are called at a fixed rate
    stabilisation: Stabilisation
    save_every: float  # s
    stop: str | None  # a condition that ends the run when it becomes true
    progress: Watcher | None
    max_steps: int  # the run ends when it has taken so many
    max_time: float  # s of wall time, the same

    def __post_init__(self) -> None:  # noqa: C901  (one line per thing that a run is asked for)
        name, duration, save_every = self.name, self.duration, self.save_every
        if not is_number(duration) or not duration > 0:
            raise ModelError(f"{name}: expected a duration above 0 s, got {shown(duration)}. Say how long to simulate.")
        if not is_number(save_every) or not save_every > 0:
            raise ModelError(
                f"{name}: expected save_every above 0 s, got {shown(save_every)}. It is the time between samples."
            )
        if duration / save_every > MOST_SAMPLES:
            raise ModelError(
                f"{name}: {duration:g} s saved every {save_every:g} s are {duration / save_every:.3g} samples; "
                f"expected at most {MOST_SAMPLES:.0e}. Give a longer save_every."
            )
        check_choice(self.stepper, Stepper, f"{name}: stepper", "kb.RungeKutta4(1e-3)", IntegrationError)
        check_choice(self.stabilisation, Stabilisation, f"{name}: stabilisation", "kb.Projection()", IntegrationError)
        step = self.stepper.pace.step
        if self.stepper.pace.is_fixed and not step > ROUNDING * duration:
            raise IntegrationError(
                f"{name}: steps of {step:g} s are below the rounding of a time of {duration:g} s. Give a longer step."
            )
        for sampler in self.samplers:
            check_calls(name, duration, sampler.source.rate)
        if self.progress is not None and not callable(self.progress):
            raise ModelError(f"{name}: progress: expected a function, got {shown(self.progress)}.")
        if self.stop is not None and not is_text(self.stop):
            raise ModelError(f'{name}: stop: expected a condition such as "nut.travel > 0.06", got {shown(self.stop)}.')
        if not is_number(self.max_steps) or not self.max_steps >= 1:
            raise ModelError(f"{name}: expected max_steps of at least 1, got {shown(self.max_steps)}.")
        if not is_real(self.max_time) or not self.max_time > 0:
            raise ModelError(f"{name}: expected max_time above 0 s of wall time, got {shown(self.max_time)}.")
        if self.plant.is_singular:
            rows_at(self.plant, self.plant.inputs(*self.start))  # refuses a motion with neither inertia nor a row
        object.__setattr__(self, "duration", float(duration))
        object.__setattr__(self, "save_every", float(save_every))

    @property
    def name(self) -> str:
        """Name of the machine."""
        return self.plant.system.name

    @property
    def is_pushed(self) -> bool:
        """Whether the law pushes every velocity."""
        return self.law is not None and self.law.pushes is not None

    @property
    def is_sampled(self) -> bool:
        """Whether Python functions are sampled."""
        return bool(self.samplers)

    @property
    def has_velocity_rows(self) -> bool:
        """Whether some rows hold velocities only."""
        return any(self.plant.machine.is_velocity_level)

    @property
    def feeds_back(self) -> bool:
        """Whether the rows' errors are fed back in the equations of motion."""
        return self.stabilisation.feedback is not None

    def stable_step(self) -> float:
        """Largest step at which central differences are stable at the start, s."""
        return stable_step(self.plant, self.start)

    @property
    def held(self) -> slice:
        """The packed inputs that are held or computed by the law: u, and f after it where that is pushed."""
        layout = self.plant.layout
        return slice(layout.u.start, layout.f.stop if self.is_pushed else layout.u.stop)

    @cached_property
    def control(self) -> Evaluator | None:
        """The law as a function of the packed input."""
        return None if self.law is None else law_function(self.plant, self.law)

    @cached_property
    def event(self) -> Evaluator | None:
        """The expression that rises through zero when the stop condition becomes true."""
        return None if self.stop is None else event_function(self.plant, self.stop)

    @property
    def settings(self) -> dict[str, str]:
        """The choices of the run in words."""
        control = self.law.text if self.law else ", ".join(shown(sampler.source) for sampler in self.samplers)
        return {
            "stepper": self.stepper.words,
            "stabilisation": self.stabilisation.words,
            "control": control,
            "stop": self.stop or "",
            "save_every": repr(self.save_every),
        }

    def effort(self, steps: int = 0, wall_time: float = 0.0) -> Effort:
        """What the run took: how many steps and how long (s), beside what was chosen for it."""
        return Effort(steps=steps, wall_time=wall_time, settings=self.settings, jolt_felt=self.stepper.jolt_felt)

    def why_explicit(self, rate: float, trials: int = 0) -> str:
        """Why a stepper that may change its method did not, in words.

        `rate` is the fastest that limited its steps, 1/s, 0 if none did; `trials` those of the other method, in vain.
        """
        if self.stepper.if_stiff is None:
            return ""
        if not rate:
            return "the motion is not stiff"
        limited = f"rates up to {rate:.3g} /s limit the steps, but"
        if self.is_pushed:
            return f"{limited} implicit steps do not know a law that pushes every coordinate"
        if trials:
            return f"{limited} implicit steps, tried {counted(trials, 'time')}, cost more"
        return f"{limited} few lie ahead"

    def limit_reached(self, steps: int, wall_time: float, *, is_at_end: bool) -> Ending | None:
        """The limit that a run has reached, if any; one that has come to its end has reached none."""
        if is_at_end:
            return None
        if steps >= self.max_steps:
            return Ending.STEP_LIMIT
        return Ending.TIME_LIMIT if wall_time >= self.max_time else None

    def status(self, ending: Ending, time: float, row: str = "") -> Status:
        """How the run ended, with one line for people if it broke off; `row` is the one a failure speaks of."""
        if not ending.failed:
            return Status(ending, time, "")
        drive = "control law" if self.law is not None or self.samplers else ""
        step = "step" if self.stepper.pace.is_fixed else "tolerance"
        words = _FAILURES[ending].words("", row, step, drive)
        return Status(ending, time, f"{self.name}: stopped at t = {time:.6g} s: {words}")


def check_calls(name: str, duration: float, rate: float) -> None:
    """Refuse a sampled function that is called so often that a run would not end."""
    if not duration * rate <= MOST_CALLS:
        raise ModelError(
            f"{name}: {duration:g} s at {rate:g} Hz are {duration * rate:.3g} calls of a sampled function; expected at "
            f"most {MOST_CALLS:.0e}. Give a lower rate."
        )


_FAILURES = {
    Ending.NOT_FINITE: failures.NOT_FINITE,
    Ending.STEP_UNDERFLOW: failures.STEP_UNDERFLOW,
    Ending.RESIDUAL_GROWTH: failures.RESIDUAL_GROWTH,
    Ending.INCONSISTENT: failures.INCONSISTENT,
    Ending.UNSOLVED: failures.UNSOLVED,
    Ending.SINGULAR: failures.SINGULAR,
    Ending.STEP_LIMIT: failures.STEP_LIMIT,
    Ending.TIME_LIMIT: failures.TIME_LIMIT,
    Ending.INTERRUPTED: failures.INTERRUPTED,
}


def event_function(plant: Plant, stop: str) -> Evaluator:
    """The expression that rises through zero when a condition becomes true."""
    trace, label = event_code(plant, stop)
    return plant.function("event", trace, label)


def event_code(plant: Plant, stop: str) -> tuple[Trace, str]:
    """What traces the event of a condition, and what tells its code apart."""
    try:
        condition = parse_condition(stop)
    except ExpressionError as error:
        raise ExpressionError(f"stop: {error.problem}", error.text, error.position, error.remedy) from None
    for side in (condition.left, condition.right):
        read(plant, side, "stop")
    expression = condition.crossing
    return lambda e: expressions(e, lambda f: [f.kinematics.value(expression)]), expression.canonical


def stable_step(plant: Plant, state: State) -> float:
    """The step at which central differences become unstable at a state, 2/ω_max; infinite where nothing swings.

    ω² are the eigenvalues of Tᵀ K T against Tᵀ M T, T spanning the motions that the rows allow and K being the
    stiffness about the motion at that state, without motors.
    """
    inputs = plant.inputs(*state)
    rows = rows_at(plant, inputs)
    keep_rows(plant, inputs, rows.mask)
    slopes = slopes_at(plant.interpreted("tangent"), inputs)
    T = rows.free_directions()
    if not T.shape[1]:
        return np.inf
    highest = swinging(T.T @ slopes.mass @ T, T.T @ slopes.stiffness @ T)[0][-1]
    return float(2 / np.sqrt(highest)) if highest > 0 else np.inf


def fastest_rate(plant: Plant, state: State) -> float:
    """The largest |λ| of small motions about the motion at a state, 1/s: how fast it swings or decays, without motors.

    λ are the eigenvalues of M q̈ + C q̇ + K q = 0 in the motions that the rows allow.
    """
    inputs = plant.inputs(*state)
    rows = rows_at(plant, inputs)
    keep_rows(plant, inputs, rows.mask)
    slopes = slopes_at(plant.interpreted("tangent"), inputs)
    T = rows.free_directions()
    n = T.shape[1]
    if not n:
        return 0.0
    mass, damping, stiffness = (T.T @ matrix @ T for matrix in (slopes.mass, slopes.damping, slopes.stiffness))
    slope = np.block(
        [[np.zeros((n, n)), np.eye(n)], [-np.linalg.solve(mass, stiffness), -np.linalg.solve(mass, damping)]]
    )
    return float(np.abs(np.linalg.eigvals(slope)).max())
