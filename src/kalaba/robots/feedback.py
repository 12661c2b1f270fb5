"""Control laws of the scenarios, as expressions, and the numbers of them that can be chosen."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kalaba.model.options import Option, numeric

SERVO: Mapping[str, Option] = {  # of controllers that lead along a path
    "frequency": numeric(20.0, "frequency ω of the feedback, rad/s"),
    "damping": numeric(1.0, "damping ratio ζ of the feedback"),
}
SERVO_ONLY: Mapping[str, Option] = {  # the same where other laws can be chosen
    name: replace(option, description=f"{option.description}, with control=servo") for name, option in SERVO.items()
}
SPRINGS: Mapping[str, Option] = {  # of several springs and dampers that differ
    "stiffness": numeric(1.0, "stiffness of the springs over the usual one"),
    "damping": numeric(1.0, "damping of the dampers over the usual one"),
}
RUN_UP: Mapping[str, Option] = {
    "speed": numeric(10.0, "speed that the motor runs up to, rad/s"),
    "gain": numeric(0.2, "torque of the motor per speed that is missing, N·m·s/rad"),
}


def spring(stiffness: float, damping: float) -> dict[str, Option]:
    """Numbers of a spring and a damper at a hinge that a motor imitates."""
    return {
        "stiffness": numeric(stiffness, "stiffness of the spring that a motor imitates, N·m/rad"),
        "damping": numeric(damping, "damping of the damper that a motor imitates, N·m·s/rad"),
    }


def swinging(swing: float, rate: float) -> dict[str, Option]:
    """Numbers of a target that swings, a sin(ω t)."""
    return {
        "swing": numeric(swing, "how far the target swings to either side, rad"),
        "rate": numeric(rate, "angular frequency of the swing, rad/s"),
    }


def follow(displacement: str, target: str, stiffness: float, damping: float) -> str:
    """Pull a displacement d to its target like a spring and a damper: k (target − d) − c ḋ."""
    return f"{digits(stiffness)}*({target} - {displacement}) - {digits(damping)}*rate({displacement})"


def run_up(displacement: str, speed: float, gain: float) -> str:
    """Run up to a speed ω from below: k (ω − ḋ)."""
    return f"{digits(gain)}*({digits(speed)} - rate({displacement}))"


def digits(value: float) -> str:
    """Write a number in a law, short where that says all of it, in full where it does not."""
    short = f"{value:g}"
    return short if float(short) == value else repr(float(value))


def turning(frequency: float) -> str:
    """Write 2 f π t for a frequency in Hz."""
    halves = digits(2 * frequency)
    return "pi*t" if halves == "1" else f"{halves}*pi*t"
