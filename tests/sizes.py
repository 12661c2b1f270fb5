"""The same machine at another size: every number with a unit in other units of length, mass and time."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import kalaba as kb
from kalaba.model.system import Placement
from kalaba.model.units import unit_of

# Exponents of length, mass and time.
UNITS: dict[str, tuple[int, int, int]] = {
    "1": (0, 0, 0),
    "rad": (0, 0, 0),
    "m": (1, 0, 0),
    "kg": (0, 1, 0),
    "s": (0, 0, 1),
    "Hz": (0, 0, -1),
    "N": (1, 1, -2),
    "J": (2, 1, -2),
    "Pa": (-1, 1, -2),
}
# Power of length by which a spring's number along an angle differs from the unit of one along a length.
ANGULAR_SPRING = {"stiffness": 2, "damping": 2, "friction": 1, "rest": -1}


def exponents(unit: str) -> tuple[int, int, int]:
    """Exponents of length, mass and time of a unit such as kg*m^2 or m/s^2."""
    total = [0, 0, 0]
    for sign, word, power in re.findall(r"(^|[*/])([A-Za-z]+|1)(?:\^(\d))?", unit):
        factor = (-1 if sign == "/" else 1) * int(power or 1)
        total = [t + factor * e for t, e in zip(total, UNITS[word], strict=True)]
    return total[0], total[1], total[2]


def factor(unit: str, size: tuple[float, float, float]) -> float:
    """How many times larger a quantity of a unit is."""
    (a, b, c), (length, mass, time) = exponents(unit), size
    return float(length**a * mass**b * time**c)


def scaled(system: kb.System, length: float, mass: float, time: float = 1.0) -> kb.System:
    """A System with its lengths, masses and times multiplied: numbers, start, limits of travels and motors.

    Numbers that stand in expressions have no unit and stay.
    """
    size, machine = (length, mass, time), system.machine
    values = {p.name: p.value * factor(p.unit, size) for p in machine.parameters}
    for spring in machine.springs:  # their parameters say metres whatever they act along
        if unit_of(machine, spring.displacement) == "rad":
            for name in ANGULAR_SPRING.keys() & {key.removeprefix(f"{spring.name}.") for key in values}:
                values[f"{spring.name}.{name}"] *= float(length) ** ANGULAR_SPRING[name]
    parts = tuple(_scaled_part(part, machine, size) for part in system.parts)
    start = machine.start
    scale = {c.name: factor(c.unit, size) for c in machine.coordinates}
    scale |= {d.name: factor(d.unit, size) for d in machine.displacements.values()}
    moved = kb.Start(
        hold={key: _scaled_entry(value, scale.get(key, 1.0), length) for key, value in start.hold},
        guess={key: _scaled_entry(value, scale.get(key, 1.0), length) for key, value in start.guess},
        speed={key: _scaled_speed(value, scale.get(key, 1.0), length, time) for key, value in start.speed},
    )
    return replace(system, parts=parts, start=moved).with_parameters(values)


def _scaled_part(part: Any, machine: Any, size: tuple[float, float, float], prefix: str = "") -> Any:
    """A part with its plain numbers, which are no parameters, at the other size."""
    if isinstance(part, Placement):
        inner = f"{prefix}{part.name}."
        parts = tuple(_scaled_part(each, machine, size, inner) for each in part.system.parts)
        return replace(part, system=replace(part.system, parts=parts))
    if isinstance(part, kb.Actuator):
        motor = next(a for a in machine.actuators if a.name == prefix + part.name)
        return replace(part, limit=part.limit * factor(_force_unit(unit_of(machine, motor.displacement)), size))
    if isinstance(part, kb.Thruster):
        return replace(part, limit=part.limit * factor("N", size))
    if isinstance(part, kb.Body | kb.Connection) and part.joint.limits is not None:
        scale = factor(part.joint.displacements[0][1], size)
        return replace(part, joint=replace(part.joint, limits=tuple(scale * limit for limit in part.joint.limits)))
    if isinstance(part, kb.Spring):
        spring = next(s for s in machine.springs if s.name == prefix + part.name)
        return replace(part, creep=part.creep * factor(unit_of(machine, spring.displacement), size) / size[2])
    return part


def _force_unit(unit: str) -> str:
    return {"m": "N", "rad": "N*m"}.get(unit, "J")


def _scaled_entry(value: Any, scale: float, length: float) -> Any:
    """A held or guessed number, or the pose of a frame."""
    if isinstance(value, kb.Pose):
        return replace(value, position=tuple(length * float(x) for x in value.position))
    return value * scale if isinstance(value, float | int) else tuple(length * float(x) for x in value)


def _scaled_speed(value: Any, scale: float, length: float, time: float) -> Any:
    """A rate, or the twist of a frame."""
    if isinstance(value, float | int):
        return value * scale / time
    return tuple(float(x) * (length if k < 3 else 1.0) / time for k, x in enumerate(value))
