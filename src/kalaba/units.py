"""Units in words: SI, as texts such as "m", "rad/s", "N*m"; and counts with their nouns."""

from __future__ import annotations

FORCES = {"m": "N", "rad": "N*m", "1": "J"}  # power-dual to a displacement in that unit
# Units of what acts along a displacement: along a travel, and about an axis.
ALONG = (
    ("m", "rad"),
    ("m/s", "rad/s"),
    ("N", "N*m"),
    ("N/m", "N*m/rad"),
    ("N*s/m", "N*m*s/rad"),
    ("kg", "kg*m^2"),
)
MOMENTUM = {"x": "kg*m/s", "y": "kg*m/s", "z": "kg*m/s", "rx": "kg*m^2/s", "ry": "kg*m^2/s", "rz": "kg*m^2/s"}


def rate_unit(unit: str) -> str:
    """Unit of a rate: m → m/s; unknown stays unknown."""
    return f"{unit}/s" if unit else ""


def acceleration_unit(velocity_unit: str) -> str:
    """m/s → m/s^2."""
    return f"{velocity_unit}^2" if velocity_unit.endswith("/s") else f"{velocity_unit}/s"


def force_unit(velocity_unit: str) -> str:
    """Unit of the generalised force on a velocity: their product is power."""
    return FORCES.get(velocity_unit.removesuffix("/s"), f"W/({velocity_unit})")


def printed(unit: str) -> str:
    """A unit as people write it: N*m → N·m, m/s^2 → m/s²."""
    return unit.replace("*", "·").replace("^2", "²").replace("^3", "³")


def counted(count: int, noun: str) -> str:
    """A count with its noun, which is in the plural unless it is one: 1 row, 2 rows, 0 bodies."""
    if count == 1:
        return f"1 {noun}"
    ends_in_y = noun.endswith("y") and noun[-2:-1] not in {"a", "e", "o", "u"}
    return f"{count} {noun[:-1]}ies" if ends_in_y else f"{count} {noun}s"
