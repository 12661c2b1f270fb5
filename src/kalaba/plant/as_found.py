"""Connections that close where their child is found: `at=AsFound()` becomes the pose it has at a configuration."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from numpy.typing import ArrayLike

from kalaba.errors import ModelError
from kalaba.model.parts import Connection
from kalaba.native.backend import Interpreted
from kalaba.space.pose import AsFound

if TYPE_CHECKING:
    from kalaba.model.system import System


def settle_as_found(system: System, q: ArrayLike | None = None) -> System:
    """Replace every `at=AsFound()` by where the child is on its parent at a configuration, or at the System's start."""
    waiting = [p for p in system.parts if isinstance(p, Connection) and isinstance(p.at, AsFound)]
    nested = [c for c in system.machine.connections if isinstance(c.at, AsFound)]
    if len(nested) > len(waiting):
        raise ModelError(
            f"{nested[0].name}.at: AsFound() works in the outermost System. Give a pose, or connect there."
        )
    if not waiting:
        return system
    for grip in waiting:
        if not grip.joint.closes_on_seat:
            raise ModelError(f"{grip.name}.at: AsFound() leaves no distance between child and seat. Give a pose.")
    from kalaba.plant.plant import build  # whose Plant settles its connections here

    plant = build(system.remove(*(part.name for part in waiting)), backend=Interpreted())
    q = plant.start.q if q is None else q
    settled = []
    for part in system.parts:
        if part in waiting and isinstance(part, Connection):
            seat = plant.pose(part.child, q).seen_from(plant.pose(part.parent, q))
            settled.append(replace(part, at=seat.as_pose))
        else:
            settled.append(part)  # type: ignore[arg-type]
    return replace(system, parts=tuple(settled))
