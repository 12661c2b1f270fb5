"""Drives: what stands between a control law and the machine. Noisy readings at a rate; efforts that lag and hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.control.transmission import Backlash, Friction, Sides, Transmission, encoders
from kalaba.errors import ControlError
from kalaba.model.parts import Sampled
from kalaba.paths.checks import positive, zero_or_more
from kalaba.plant.laws import Controller, law_function, law_of
from kalaba.plant.start import closing

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drive:
    """Samples at a rate; readings with white noise, efforts u through a lag, held from sample to sample.

    ::

        u_k = c_k + (u_{k−1} − c_k) e^(−1/(rate · lag))        c_k the command, u_0 = c_0

    which is T u̇ = c − u at the samples. What arrives at the machine, and in `run.actuation`, is u less friction where
    the motor touches its load, and nothing where it does not; within the motor's limit, as all efforts.

    `Friction` and `Backlash` have the equations. Friction of the machine itself, which motors push against at every
    stage and which `run.actuation` then has in it, is a `Spring(damping=..., friction=...)`.
    """

    rate: float = 1000.0  # Hz
    lag: float = 0.0  # T, s
    position_noise: float = 0.0  # standard deviation of each displacement as read, m or rad
    speed_noise: float = 0.0  # of each velocity as read, m/s or rad/s
    seed: int = 0
    friction: Friction | None = None  # of each motor
    backlash: Backlash | None = None

    def __post_init__(self) -> None:
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
        kept = exp(-1.0 / (self.rate * self.lag)) if self.lag else 0.0
        return command + kept * (effort - command)

    def transmission(self, plant: Plant) -> Transmission | None:
        """What is between the motors of a machine and their displacements; None where all that they do arrives."""
        if self.friction is None and self.backlash is None:
            return None
        return Transmission(
            plant, self.friction or Friction(), self.backlash, 1.0 / self.rate, encoders(plant, "Drive")
        )

    def around(self, control: Controller | Mapping[str, Any] | Sampled) -> Driven:
        """A control behind this drive."""
        if not isinstance(control, Controller | Mapping | Sampled):
            raise ControlError(f"Drive: expected a control such as kb.servo(...) or a mapping, got {control!r}.")
        return Driven(control, self)


@dataclass(frozen=True)
class Driven:
    """A control that reads and acts through a drive; made by `Drive.around`."""

    control: Controller | Mapping[str, Any] | Sampled
    drive: Drive

    @property
    def duration(self) -> float | None:
        """How long the control takes, if it says."""
        found: float | None = getattr(self.control, "duration", None)
        return found

    @property
    def goals(self) -> tuple[Any, ...]:
        """What the control is to meet, if it says."""
        return tuple(getattr(self.control, "goals", ()))

    def start(self, plant: Plant) -> State:
        """Where the control has a run begin."""
        own = getattr(self.control, "start", None)
        found: State = own(plant) if callable(own) else plant.start
        return found

    def law(self, plant: Plant, start: State) -> Sampled:
        """The control's own law, called at the drive's rate."""
        command, memory = _commands(plant, self.control, start, self.drive)
        limits = plant.limits
        between = self.drive.transmission(plant)

        def efforts(t: float, q: Array, v: Array, state: _State) -> tuple[Array, _State]:
            sample, effort, kept, sides = state
            if between is not None:
                sides = between.read(sides, (t, q, v))
                q, v = between.seen(sides, q, v)
            given, kept = command(t, *self.drive.read(plant, sample, q, v), kept)
            wanted = np.clip(_efforts(plant, given), -limits, limits)
            effort = arrives = wanted if effort is None else self.drive.give(effort, wanted)
            if between is not None and sides is not None:
                arrives, sides = between.give(sides, effort)
            return arrives, (sample + 1, effort, kept, sides)

        return Sampled(efforts, self.drive.rate, state=(0, None, memory, None))


_State = tuple[int, Array | None, Any, Sides | None]  # samples so far, efforts, what the control remembers, the gaps


def _commands(plant: Plant, control: Any, start: State, drive: Drive) -> tuple[Any, Any]:  # noqa: ANN401
    """The control as function(t, q, v, memory) → (efforts, memory), and its first memory."""
    inner, motors = law_of(plant, control, start), len(plant.actuators)
    if isinstance(inner, Sampled):
        if abs(inner.rate - drive.rate) > 1e-9 * drive.rate:
            raise ControlError(
                f"Drive: the control is itself sampled at {inner.rate:g} Hz, the drive at {drive.rate:g} Hz. "
                "Give both one rate."
            )
        if inner.state is not None:
            return inner.function, inner.state
        return lambda t, q, v, _: (inner.function(t, q, v), None), None
    assert inner is not None  # noqa: S101  (a drive has a control)
    function = law_function(plant, inner)

    def command(t: float, q: Array, v: Array, _: None) -> tuple[Array, None]:
        return function(plant.pack(q, v, t, rows="start"))[:motors], None

    return command, None


def _efforts(plant: Plant, given: Any) -> Array:  # noqa: ANN401
    """What a sampled function returned, one number a motor."""
    values = [given.get(name, 0.0) for name in plant.actuators] if isinstance(given, Mapping) else given
    return np.atleast_1d(np.asarray(values, dtype=float))
