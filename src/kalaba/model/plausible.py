"""Numbers that cannot be: judged when all values are known, those that expressions and new parameters give included."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from kalaba.errors import ModelError
from kalaba.model.machine import MachineBody, MachineConnection, MachineFrame
from kalaba.model.parts import Parameter
from kalaba.model.solids import judge
from kalaba.model.text.expressions import Values, number
from kalaba.space.number import quantities
from kalaba.space.pose import Pose
from kalaba.tolerances import TURNING_LENGTH


def check_values(
    bodies: Iterable[MachineBody],
    connections: Iterable[MachineConnection],
    frames: Iterable[MachineFrame],
    parameters: Iterable[Parameter],
) -> None:
    """Refuse solids that cannot exist, joints without a length or pitch, quaternions that do not turn."""
    values = Values({parameter.name: parameter.value for parameter in parameters})

    def value(entry: Any) -> float:
        return number(entry, values)

    jointed: list[MachineBody | MachineConnection] = [*bodies, *connections]
    for body in jointed:
        if isinstance(body, MachineBody):
            judge(body.name, body.solid, value)
    for part in jointed:
        for entry in quantities(part.joint):
            part.joint.check_value(f"{part.name}.{entry.path}", value(entry.value))
        _check_turn(part.name, part.at, value)
    for frame in frames:
        _check_turn(frame.name, frame.at, value)


def _check_turn(name: str, at: object, value: Callable[[Any], float]) -> None:
    if isinstance(at, Pose) and at.quaternion is not None:
        length = math.hypot(*(value(entry) for entry in at.quaternion))
        if abs(length - 1.0) > TURNING_LENGTH:
            raise ModelError(
                f"{name}.at: expected a quaternion of length one, got {length:g}. Set all four of qw qx qy qz."
            )
