"""Drives: what stands between a control law and the motors. Noisy readings at a rate; efforts that lag and hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.actuation import Controller, law_function, law_of
from kalaba.control.path.checks import finite, positive
from kalaba.errors import ControlError
from kalaba.model.parts import Sampled
from kalaba.starting import closing

if TYPE_CHECKING:
    from kalaba.plant import Plant
    from kalaba.state import State

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Drive:
    """Samples at a rate; readings with white noise, efforts u through a lag, held from sample to sample.

    ::

        u_k = c_k + (u_{k−1} − c_k) e^(−1/(rate · lag))        c_k the command, u_0 = c_0

    which is T u̇ = c − u at the samples. Friction is no part of it but of the machine: give it `Spring(damping=...)`.
    """

    rate: float = 1000.0  # Hz
    lag: float = 0.0  # T, s
    position_noise: float = 0.0  # standard deviation of each displacement as read, m or rad
    speed_noise: float = 0.0  # of each velocity as read, m/s or rad/s
    seed: int = 0

    def __post_init__(self) -> None:
        positive(self.rate, "Drive.rate")
        for name in ("lag", "position_noise", "speed_noise"):
            if finite(getattr(self, name), f"Drive.{name}") < 0:
                raise ControlError(f"Drive.{name}: expected zero or more, got {getattr(self, name)!r}.")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int) or self.seed < 0:
            raise ControlError(f"Drive.seed: expected a whole number, zero or more, got {self.seed!r}.")

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

    def start(self, plant: Plant) -> State:
        """Where the control has a run begin."""
        own = getattr(self.control, "start", None)
        found: State = own(plant) if callable(own) else plant.start
        return found

    def law(self, plant: Plant, start: State) -> Sampled:
        """The control's own law, called at the drive's rate."""
        command, memory = _commands(plant, self.control, start, self.drive)
        limits = np.array([actuator.limit for actuator in plant.machine.actuators])

        def efforts(t: float, q: Array, v: Array, state: _State) -> tuple[Array, _State]:
            sample, effort, kept = state
            given, kept = command(t, *self.drive.read(plant, sample, q, v), kept)
            wanted = np.clip(_efforts(plant, given), -limits, limits)
            effort = wanted if effort is None else self.drive.give(effort, wanted)
            return effort, (sample + 1, effort, kept)

        return Sampled(efforts, self.drive.rate, state=(0, None, memory))


_State = tuple[int, Array | None, Any]  # samples so far, efforts, what the control itself remembers


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
        inputs = plant.layout.pack(q, v, t)
        inputs[plant.layout.mask] = plant.choice.mask
        return function(inputs)[:motors], None

    return command, None


def _efforts(plant: Plant, given: Any) -> Array:  # noqa: ANN401
    """What a sampled function returned, one number a motor."""
    values = [given.get(name, 0.0) for name in plant.actuators] if isinstance(given, Mapping) else given
    return np.atleast_1d(np.asarray(values, dtype=float))
