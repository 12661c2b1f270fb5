"""What is between a motor and the displacement that it drives: friction, and a gap in its gears."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np

from kalaba import tolerances
from kalaba.boundary import check_fields
from kalaba.constrain.kernels.functions import expressions
from kalaba.errors import ControlError
from kalaba.paths.checks import positive, zero_or_more
from kalaba.plant.start import closing
from kalaba.space.arrays import Array
from kalaba.space.number import measured

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.native.backend import Evaluator
    from kalaba.plant.plant import Plant


@dataclass(frozen=True, slots=True)
class Friction:
    """Dry and viscous friction along a displacement s, against its motion and smooth: F(ṡ) = c tanh(ṡ/ṡ₀) + b ṡ.

    It takes the power F ṡ ≥ 0, which is c |ṡ| + b ṡ² once |ṡ| is a few ṡ₀. Around rest it is viscous, c/ṡ₀ + b: nothing
    sticks, and what is pushed by less than c creeps slower than ṡ₀.

    In a `Drive` it is held from sample to sample: c/ṡ₀ + b must stay below m · rate, m the least mass that a motor
    feels. Friction of the machine's own joints acts at every stage: `kb.Spring("rub", "elbow.angle", friction=c)`.

    Arguments:
        coulomb: c, N or N·m
        viscous: b, N·s/m or N·m·s/rad
        creep: ṡ₀, m/s or rad/s
    """

    coulomb: float = measured("N", "N*m", default=0.0)
    viscous: float = measured("N*s/m", "N*m*s/rad", default=0.0)
    creep: float = measured("m/s", "rad/s", default=0.01)

    def __post_init__(self) -> None:
        check_fields(self, ControlError)
        for name in ("coulomb", "viscous"):
            zero_or_more(getattr(self, name), f"Friction.{name}")
        positive(self.creep, "Friction.creep")

    def force(self, speed: Array) -> Array:
        """F, with the sign of the speed: what a motor gives beyond what arrives."""
        return self.coulomb * np.tanh(speed / self.creep) + self.viscous * speed

    def slope(self, speed: Array) -> Array:
        """F/ṡ, at rest its limit c/ṡ₀ + b."""
        slow = np.abs(speed) < tolerances.CREEPING * self.creep
        safe = np.where(slow, self.creep, speed)
        return (
            np.where(slow, self.coulomb / self.creep, self.coulomb * np.tanh(safe / self.creep) / safe) + self.viscous
        )


@dataclass(frozen=True, slots=True)
class Backlash:
    """A gap between a motor and its load: the motor's side s_m is free within |s_m − s| ≤ gap/2.

    Where the sides touch, they move as one, and the effort u less friction F arrives as long as it presses them
    together. Otherwise nothing arrives, and the motor's side moves by itself until it meets the load::

        m_r s̈_m = u − F(ṡ_m)        at the samples: ṡ_m⁺ = (ṡ_m + h u/m_r) / (1 + h F(ṡ_m)/(ṡ_m m_r)),  h = 1/rate

    With u = 0 and much friction s_m is the play operator of s, a hysteresis as wide as the gap. Encoders are on the
    motors: they read s_m, and were set to the load's s in the contact in which a run begins, that of the first efforts.

    Where the sides touch, m_r is a part of the machine's own inertia; what it brings along when they meet is lost, and
    contact is judged at samples only. The gap is the same for all motors.

    Arguments:
        gap: from contact to contact, m or rad
        rotor: m_r, inertia of the motor's side as felt along the displacement, kg or kg·m²
    """

    gap: float = measured("m", "rad")
    rotor: float = measured("kg", "kg*m^2")

    if TYPE_CHECKING:

        def __init__(self, gap: float, rotor: float) -> None: ...

    def __post_init__(self) -> None:
        check_fields(self, ControlError)
        positive(self.gap, "Backlash.gap")
        positive(self.rotor, "Backlash.rotor")


class Sides(NamedTuple):
    """The motors' sides at a sample, and their efforts until the next."""

    place: Array  # s_m
    speed: Array  # ṡ_m
    touch: Array  # 1 and −1 where the motor pushes in the positive and the negative direction, 0 within the gap
    zero: Array | None  # s_m − s where the encoders were set; None before there were efforts
    effort: Array  # u
    offset: Array  # what the encoders read less s
    slip: Array  # ṡ_m − ṡ


@dataclass(frozen=True)
class Transmission:
    """Friction and gap of all motors of a machine, from sample to sample."""

    plant: Plant
    friction: Friction
    backlash: Backlash | None
    period: float  # h, s
    encoders: Evaluator

    def read(self, before: Sides | None, state: tuple[float, Array, Array]) -> Sides:
        """Where the motors' sides are, for the load at a time and state."""
        t, q, v = state
        s, rate = np.split(self.encoders(self.plant.layout.pack(q, v, t)), 2)
        if self.backlash is None or before is None or before.zero is None:
            nothing = np.zeros(len(s))
            return Sides(s, rate, nothing, None, nothing, nothing, nothing)
        return self._advanced(before, before.zero, s, rate)

    def _advanced(self, before: Sides, zero: Array, s: Array, rate: Array) -> Sides:
        """The sides one period on, with the load at s."""
        assert self.backlash is not None  # noqa: S101  (else there are no sides)
        h, m, half = self.period, self.backlash.rotor, self.backlash.gap / 2
        free = (before.speed + h * before.effort / m) / (1 + h * self.friction.slope(before.speed) / m)
        apart = before.place + h * free - s
        pressed = before.touch * (before.effort - self.friction.force(rate)) > 0  # had they moved as one until now
        touch = np.where(pressed, before.touch, np.sign(apart) * (np.abs(apart) >= half))
        apart = np.where(touch != 0, touch * half, apart)
        speed = np.where(touch != 0, rate, free)
        return Sides(s + apart, speed, touch, zero, before.effort, apart - zero, speed - rate)

    def seen(self, now: Sides, q: Array, v: Array) -> tuple[Array, Array]:
        """The state that the encoders tell of: the least step, to first order, at which displacements are as read."""
        if self.backlash is None:
            return q, v
        spread = np.linalg.pinv(self.plant.actuation_map(q).T)
        return closing(self.plant).retract(q, spread @ now.offset), v + spread @ now.slip

    def give(self, now: Sides, effort: Array) -> tuple[Array, Sides]:
        """What arrives of the motors' efforts."""
        net = effort - self.friction.force(now.speed)
        if self.backlash is None:
            return net, now
        if now.zero is None:
            touch = np.sign(net)
            zero = touch * self.backlash.gap / 2
            now = now._replace(place=now.place + zero, touch=touch, zero=zero)
        return np.where(now.touch * net > 0, net, 0.0), now._replace(effort=effort)


def encoders(plant: Plant, who: str) -> Evaluator:
    """The motors' displacements δ, then their rates Bᵀ v."""
    for name in plant.machine.thrusters:
        raise ControlError(f"{who}: expected motors on displacements, but {name} is a thruster.")

    def values(equations: Equations) -> list[ca.SX]:
        k = equations.kinematics
        places = [k.value(displacement) for displacement in k.machine.motor_displacements.values()]
        return [*places, ca.mtimes(equations.actuation_map.T, equations.symbols.v)]

    return plant.function("encoders", lambda equations: expressions(equations, values))
