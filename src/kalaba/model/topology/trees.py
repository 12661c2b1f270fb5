"""Trees of bodies: who carries whom."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.errors import ModelError, near

if TYPE_CHECKING:
    from kalaba.model.machine import MachineBody, MachineFrame


def parents_first(bodies: list[MachineBody], frames: dict[str, MachineFrame]) -> list[MachineBody]:
    """Order bodies so that a parent comes before its children; a ring of parents is an error."""
    indices = {body.name: index for index, body in enumerate(bodies)}
    parent = [carrier(body.parent, frames, indices) for body in bodies]
    done: dict[int, None] = {}
    for index in range(len(bodies)):
        chain: dict[int, None] = {}  # in order
        while index >= 0 and index not in done and index not in chain:
            chain[index] = None
            index = parent[index]  # noqa: PLW2901  (the climb to the root)
        if index in chain:
            names = ", ".join(bodies[i].name for i in chain)
            raise ModelError(
                f"{names}: these bodies are each other's parents. Cut the ring and close it with a Connection."
            )
        done.update(dict.fromkeys(reversed(chain)))
    return [bodies[index] for index in done]


def carrier(name: str, frames: dict[str, MachineFrame], indices: dict[str, int]) -> int:
    """Index of the body that carries a frame, −1 for the world; `indices` has the bodies by their frames."""
    seen: set[str] = set()
    while name not in indices and frames[name].parent:
        if name in seen:
            raise ModelError(f"{name}: this frame stands on itself. Check the parents of {', '.join(sorted(seen))}.")
        seen.add(name)
        name = frames[name].parent
        if name not in frames:
            raise ModelError(f"{next(iter(seen))}: no frame {name!r}; {near(name, frames)}")
    return indices.get(name, -1)
