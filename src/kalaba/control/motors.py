"""Which motors a law drives: all of them, one or several by name."""

from __future__ import annotations

from collections.abc import Sequence

from kalaba.plant.plant import Plant

ALL = "all"


def named_motors(plant: Plant, actuators: str | Sequence[str], what: str) -> tuple[int, ...]:
    """Indices of motors: of "all", of one or of several by name."""
    names = plant.actuators if isinstance(actuators, str) and actuators == ALL else listed(actuators)
    return plant.motors(names, what)


def listed(names: str | Sequence[str]) -> tuple[str, ...]:
    """One name or several as a tuple."""
    return (names,) if isinstance(names, str) else tuple(names)
