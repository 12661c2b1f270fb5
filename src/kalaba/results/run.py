"""Run: what happened. Arrays with names, how it ended, and what it took."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.boundary import check_arguments
from kalaba.plant.state import NamedState, State
from kalaba.results.accuracy import Accuracy, Judgement, accuracy_of
from kalaba.results.notebook import run_html
from kalaba.space.arrays import Array
from kalaba.tolerances import JOLT_FELT

if TYPE_CHECKING:
    from pathlib import Path

    import xarray as xr

    from kalaba.model.system import System
    from kalaba.plant.laws import Controller
    from kalaba.plant.plant import Plant
    from kalaba.results.labelled import Labelled


class Ending(Enum):
    """How a run ended; the words are those of summaries and files."""

    DONE = "done"
    STOPPED = "stopped"
    NOT_FINITE = "not finite"
    STEP_UNDERFLOW = "step underflow"
    RESIDUAL_GROWTH = "residual growth"
    INCONSISTENT = "inconsistent rows"
    SINGULAR = "singular mass"
    UNSOLVED = "unsolved step"
    STEP_LIMIT = "step limit"
    TIME_LIMIT = "time limit"
    INTERRUPTED = "interrupted"

    @property
    def failed(self) -> bool:
        """Whether the run broke off."""
        return self not in {Ending.DONE, Ending.STOPPED}


@dataclass(frozen=True, slots=True)
class Status:
    """How and when a run ended, in words.

    Arguments:
        ending: how it ended
        time: when, s
        message: why, in words
    """

    ending: Ending
    time: float
    message: str = ""

    @property
    def failed(self) -> bool:
        """Whether the run broke off."""
        return self.ending.failed


class Shortfall(NamedTuple):
    """A sample at which a motor was asked for more than it may give.

    Arguments:
        time: when, s
        motor: name of the motor
        missing: what was asked for beyond its bound, N or N·m
    """

    time: float
    motor: str
    missing: float


class LostHold(NamedTuple):
    """Where motors lost hold of a machine: a singular position of the second kind.

    Arguments:
        time: when, s
        sigma: smallest singular value of what the motors do to the freedoms, at the nearest sample; 0 is singular
    """

    time: float
    sigma: float


class Worst(NamedTuple):
    """The largest residual of a run.

    Arguments:
        value: how far the row is from closed, in its unit
        row: name of the row
        time: when, s
    """

    value: float
    row: str
    time: float


class MethodChange(NamedTuple):
    """Where another method took over the steps of a run.

    Arguments:
        time: when, s
        stepper: name of the one that took over
        rate: fastest rate of the motion that limited explicit steps before, 1/s; 0: it is no longer stiff
    """

    time: float
    stepper: str
    rate: float

    @property
    def words(self) -> str:
        """In words."""
        why = f"stability limits explicit steps, rates up to {self.rate:.3g} /s" if self.rate else "no longer stiff"
        return f"{self.stepper} from t = {self.time:.4g} s on: {why}"


@dataclass(frozen=True, slots=True)
class Effort:
    """What a run took.

    Arguments:
        steps: steps that were taken
        rejected: steps that were tried and taken back
        choices: time (s) and rank of each choice of rows
        wall_time: how long the run took to compute, s
        settings: stepper, stabilisation and control, in words
        jolt: largest part of the speed that a projection changed, and when, s
        jolt_felt: part of the speed; a larger jolt is more than an error of the stepper
        changes: where a stepper that may do so changed its method, and why
        stays: why a stepper that may change its method did not, in words; "": it did, or may not
        stiff_rate: fastest rate of the motion that limited explicit steps since the last change, 1/s; 0: it did not
    """

    steps: int = 0
    rejected: int = 0
    choices: tuple[tuple[float, int], ...] = ()
    wall_time: float = 0.0
    settings: dict[str, str] = field(default_factory=dict)
    jolt: tuple[float, float] = (0.0, 0.0)
    jolt_felt: float = JOLT_FELT
    changes: tuple[MethodChange, ...] = ()
    stays: str = ""
    stiff_rate: float = 0.0

    @property
    def is_stiff(self) -> bool:
        """Whether stability limited explicit steps of a stepper that looks out for it."""
        return bool(self.changes) or self.stiff_rate > 0.0

    @property
    def method(self) -> str:
        """The methods that took the steps and why, in words."""
        if self.changes:
            return "; ".join(change.words for change in self.changes)
        return f"explicit throughout: {self.stays}" if self.stays else self.settings.get("stepper", "")

    @property
    def jolt_is_felt(self) -> bool:
        """Whether a projection changed the speed by more than an error of the stepper."""
        return self.jolt[0] > self.jolt_felt


@dataclass(frozen=True)
class Run:
    """A simulated motion. All arrays have the samples along their first axis.

    Arguments:
        plant: the machine that moved
        time: times of the samples, (N,), s
        q: configurations, (N, n_q)
        v: velocities, (N, n_v)
        acceleration: rates of v, (N, n_v)
        constraint_force: generalised force of the rows, (N, n_v), N or N·m
        actuation: what the motors gave, (N, motors), N or N·m
        inputs: actuation and sampled forces, (N, n_u)
        status: how and when it ended
        effort: what it took
        worst: the largest residual over every step; None: the machine has no rows
        work: done since the start by motors, forces and moving rows, less damping, (N,), J
        start_energy_loss: kinetic energy lost when the given start was made to obey the rows, J: the plastic impact of
            a grasp
        judgement: how far off the states are, as far as the run found out; see `accuracy`
        shortfalls: where a control law asked motors for more than they may give, sample by sample
        control: the controller that drove it; None: expressions did, which are in `effort`, or nobody; or the run is
            from a file, which holds the law as text
        lost_hold: where the motors of a control with goals lost hold of the machine; None: nowhere
    """

    plant: Plant = field(repr=False)
    time: Array = field(repr=False)
    q: Array = field(repr=False)
    v: Array = field(repr=False)
    acceleration: Array = field(repr=False)
    constraint_force: Array = field(repr=False)
    actuation: Array = field(repr=False)
    inputs: Array = field(repr=False)
    status: Status
    effort: Effort = field(repr=False)
    worst: Worst | None
    work: Array = field(repr=False)
    start_energy_loss: float = field(default=0.0, repr=False)
    shortfalls: tuple[Shortfall, ...] = field(default=(), repr=False)
    judgement: Judgement = field(default=Judgement(), repr=False)
    lost_hold: LostHold | None = field(default=None, repr=False)
    control: Controller | None = field(default=None, repr=False)

    @property
    def system(self) -> System:
        """The machine that moved, as it was described, with the numbers that it had."""
        return self.plant.system

    @property
    def end(self) -> NamedState:
        """The last state, to go on from: with this machine, or with one that has other parts and the same names."""
        last = State(self.q[-1].copy(), self.v[-1].copy())
        return NamedState.of(last, self.plant.coordinates, self.plant.velocities)

    @cached_property
    def accuracy(self) -> Accuracy:
        """How good the run is: estimated error of its states, energy balance, rows and jolts, with a verdict."""
        return accuracy_of(self)

    @cached_property
    def observed(self) -> dict[str, Array]:
        """Energies, momentum, power, residuals and outputs at every sample."""
        from kalaba.results.observe import observe  # which reads a Run

        return observe(self)

    @property
    def push(self) -> Array:
        """Generalised force of a law that pushes every velocity, (N, n_v); zero under laws of motors."""
        held = self.inputs.shape[1] - (layout := self.plant.layout).u.stop + layout.u.start
        return self.inputs[:, -held:] if held else np.zeros_like(self.v)

    @property
    def energy(self) -> Array:
        """Total energy at every sample, J."""
        return (self.observed["kinetic"] + self.observed["potential"])[:, 0]

    @property
    def residual(self) -> Array:
        """Every row's value at every sample, (N, m); zero for rows at velocity level."""
        return self.observed["residual"]

    @property
    def energy_balance(self) -> Array:
        """Energy gained since the start minus work done, J: zero but for errors."""
        return np.asarray(self.energy - self.energy[0] - self.work)

    def __getitem__(self, expression: str) -> Array:
        """The value of an expression at every sample: of words of the machine, or the name of an output, motor or row.

        `momentum.x`, `.y`, `.z` (kg·m/s) and `.rx`, `.ry`, `.rz` (kg·m²/s, about the world's origin) are the momentum
        of the whole machine in world axes.

        Arguments:
            expression: what is read, such as "theta1 - theta2", "motor2" or "momentum.rz"
        """
        from kalaba.results.observe import evaluate  # which reads a Run

        return evaluate(self, expression)

    @cached_property
    def data(self) -> xr.Dataset:
        """Everything as a labelled data set with units and provenance."""
        return self.labelled.to_xarray()

    @cached_property
    def labelled(self) -> Labelled:
        """What `data` holds, as arrays alone: made once, so that a file and `data` have the same date."""
        from kalaba.results.dataset import dataset  # which reads a Run

        return dataset(self)

    def save(self, path: str | Path) -> Path:
        """Write to a file: .nc (all), .csv or .parquet (samples as columns).

        Arguments:
            path: where to; its ending says the format

        Returns:
            Path: where it was written
        """
        check_arguments(Run.save, locals())
        from kalaba.results.saving import save_run  # which reads a Run

        return save_run(self, path)

    def _repr_html_(self) -> str:
        return run_html(self)
