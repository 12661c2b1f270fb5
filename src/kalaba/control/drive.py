"""Drives: what stands between a control law and the machine. Noisy readings at a rate; efforts that lag and hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import check_arguments, check_fields, is_a, shown
from kalaba.control.transmission import Backlash, Friction, Sides, Transmission, encoders
from kalaba.errors import ControlError
from kalaba.model.acting import Sampled
from kalaba.paths.checks import positive, zero_or_more
from kalaba.plant.laws import Control, Controller, Law, Limited, controller, law_function, limited
from kalaba.plant.start import closing
from kalaba.space.arrays import Array
from kalaba.space.number import measured

if TYPE_CHECKING:
    from kalaba.control.goals import Goal
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State


@dataclass(frozen=True, slots=True)
class Drive:
    """Samples at a rate; readings with white noise, efforts u through a lag, held from sample to sample.

    ::

        u_k = c_k + (u_{k−1} − c_k) e^(−1/(rate · lag))        c_k the command, u_0 = c_0

    which is T u̇ = c − u at the samples. What arrives at the machine, and in `run.actuation`, is u less friction where
    the motor touches its load, and nothing where it does not; within the motor's limit, as all efforts.

    `Friction` and `Backlash` have the equations. Friction of the machine itself, which motors push against at every
    stage and which `run.actuation` then has in it, is a `Spring(damping=..., friction=...)`.

    Arguments:
        rate: samples per second, Hz
        lag: T, s
        position_noise: standard deviation of each displacement as read, m or rad
        speed_noise: standard deviation of each velocity as read, m/s or rad/s
        seed: of the noise: the same seed gives the same noise
        friction: of each motor; None: none
        backlash: of each motor; None: none
    """

    rate: float = measured("Hz", default=1000.0)
    lag: float = measured("s", default=0.0)
    position_noise: float = measured("m", "rad", default=0.0)
    speed_noise: float = measured("m/s", "rad/s", default=0.0)
    seed: int = 0
    friction: Friction | None = None
    backlash: Backlash | None = None

    def __post_init__(self) -> None:
        check_fields(self, ControlError)
        positive(self.rate, "Drive.rate")
        for name in ("lag", "position_noise", "speed_noise"):
            zero_or_more(getattr(self, name), f"Drive.{name}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ControlError(f"Drive.seed: expected a whole number, zero or more, got {self.seed!r}.")
        for name, kind in (("friction", Friction), ("backlash", Backlash)):
            if not isinstance(getattr(self, name), kind | None):
                raise ControlError(f"Drive.{name}: expected kb.{kind.__name__}(...), got {getattr(self, name)!r}.")

    def read(self, plant: Plant, sample: int, q: Array, v: Array) -> tuple[Array, Array]:
        """The state as the sensors have it at a sample; the same noise whenever it is run."""
        if not self.position_noise and not self.speed_noise:
            return q, v
        noise = np.random.default_rng((self.seed, sample)).standard_normal((2, len(v)))
        return closing(plant).retract(q, self.position_noise * noise[0]), v + self.speed_noise * noise[1]

    def give(self, effort: Array, command: Array) -> Array:
        """The effort one sample on."""
        remaining = exp(-1.0 / (self.rate * self.lag)) if self.lag else 0.0
        return command + remaining * (effort - command)

    def transmission(self, plant: Plant) -> Transmission | None:
        """What is between the motors of a machine and their displacements; None where all that they do arrives."""
        if self.friction is None and self.backlash is None:
            return None
        return Transmission(
            plant, self.friction or Friction(), self.backlash, 1.0 / self.rate, encoders(plant, "Drive")
        )

    def around(self, control: Control) -> Driven:
        """A control behind this drive."""
        check_arguments(Drive.around, locals(), ControlError)
        if not is_a(control, Controller | Mapping | Sampled):
            raise ControlError(f"Drive: expected a control such as kb.servo(...) or a mapping, got {shown(control)}.")
        return Driven(control, self)

    def sampled(self, plant: Plant, law: DriveLaw, memory: Any, effort: Array | None) -> Sampled:  # noqa: ANN401  (a law's memory is its own)
        """A law that commands motors through this drive, at its rate.

        Arguments:
            plant: the machine
            law: of a Reading and of what the law remembers: the commands, one per motor, and what it remembers next
            memory: what the law remembers at first
            effort: what the motors give at first, N or N·m; None: what is first commanded
        """
        between, limits = self.transmission(plant), plant.limits

        def efforts(t: float, q: Array, v: Array, state: _State) -> tuple[Limited, _State]:
            sample, effort, memory, sides = state
            if between is not None:
                sides = between.read(sides, (t, q, v))
            wanted, memory = law(Reading(t, q, v, sample, effort, sides), memory)
            command = limited(wanted, -limits, limits)
            effort = arrives = command.efforts if effort is None else self.give(effort, command.efforts)
            if between is not None and sides is not None:
                arrives, sides = between.give(sides, effort)
            return Limited(arrives, command.missing), (sample + 1, effort, memory, sides)

        first: _State = (0, effort, memory, None)
        return Sampled(efforts, self.rate, state=first)


class Reading(NamedTuple):
    """What a law behind a drive may know at a sample."""

    t: float  # s
    q: Array  # of the machine itself: `Drive.read` gives it as sensors have it
    v: Array
    sample: int  # samples so far
    effort: Array | None  # behind the lag, before friction; None before the first command
    sides: Sides | None  # the motors' sides of their gaps; None where all that motors do arrives


DriveLaw = Callable[[Reading, Any], tuple[Array | Limited, Any]]
_State = tuple[int, Array | None, Any, Sides | None]  # samples so far, efforts, what the law remembers, the gaps


@dataclass(frozen=True)
class Driven:
    """A control that reads and acts through a drive; made by `Drive.around`."""

    control: Control
    drive: Drive

    @property
    def duration(self) -> float | None:
        """How long the control takes, s, if it says."""
        return self._inner.duration

    @property
    def goals(self) -> tuple[Goal, ...]:
        """What the control is to meet, if it says."""
        return self._inner.goals

    def start(self, plant: Plant) -> State:
        """Where the control has a run begin."""
        return self._inner.start(plant)

    @property
    def _inner(self) -> Controller:
        return controller(self.control, "Drive")

    def law(self, plant: Plant, start: State) -> Sampled:
        """The control's own law, called at the drive's rate."""
        inner = self._inner.law(plant, start)
        command, memory = _sampled(plant, inner, self.drive) if isinstance(inner, Sampled) else _traced(plant, inner)
        between = self.drive.transmission(plant)

        def commands(now: Reading, memory: Any) -> tuple[Array | Limited, Any]:  # noqa: ANN401  (a law's memory is its own)
            q, v = now.q, now.v
            if between is not None and now.sides is not None:
                q, v = between.seen(now.sides, q, v)
            return command(now.t, *self.drive.read(plant, now.sample, q, v), memory)

        return self.drive.sampled(plant, commands, memory, None)


_Command = Callable[[float, Array, Array, Any], tuple[Array | Limited, Any]]  # of t, q, v and memory: efforts, memory


def _sampled(plant: Plant, inner: Sampled, drive: Drive) -> tuple[_Command, Any]:
    """A sampled control as commands, and its first memory."""
    if abs(inner.rate - drive.rate) > tolerances.SAME_RATE * drive.rate:
        raise ControlError(
            f"Drive: the control is itself sampled at {inner.rate:g} Hz, the drive at {drive.rate:g} Hz. "
            "Give both one rate."
        )

    def command(t: float, q: Array, v: Array, memory: Any) -> tuple[Array | Limited, Any]:  # noqa: ANN401  (a law's memory is its own)
        if inner.state is None:
            return _per_motor(plant, inner.function(t, q, v)), None
        values, memory = inner.function(t, q, v, memory)
        return _per_motor(plant, values), memory

    return command, inner.state


def _traced(plant: Plant, law: Law) -> tuple[_Command, None]:
    """A law of expressions as commands; it remembers nothing."""
    function, motors = law_function(plant, law, limited=False), len(plant.actuators)

    def command(t: float, q: Array, v: Array, _: None) -> tuple[Limited, None]:
        return limited(function(plant.pack(q, v, t, rows="start"))[:motors], *law.range(plant)), None

    return command, None


def _per_motor(plant: Plant, values: Mapping[str, float] | ArrayLike | Limited) -> Array | Limited:
    """What a sampled function returned, one number per motor."""
    if isinstance(values, Limited):
        return values
    listed = [values.get(name, 0.0) for name in plant.actuators] if isinstance(values, Mapping) else values
    return np.atleast_1d(np.asarray(listed, dtype=float))
