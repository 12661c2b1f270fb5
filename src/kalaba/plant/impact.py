"""Going on from a given state: its numbers found by name, its speed made to obey the rows by a plastic impact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.errors import ModelError
from kalaba.plant.arguments import checked
from kalaba.plant.reference import project_state
from kalaba.plant.state import NamedState, State

if TYPE_CHECKING:
    from kalaba.model.machine import Machine
    from kalaba.plant.plant import Plant

Array = NDArray[np.float64]
SLIP = 1e-9  # of the speed: rows that move faster than this after the impact are driven
ROUNDING = 1e-20  # of the kinetic energy: the square of a change of speed that is rounding
SHOWN = 3  # missing names in a message


def take_over(plant: Plant, given: Any) -> tuple[State, float]:  # noqa: ANN401
    """The nearest state (in the mass metric) that obeys every row, and the kinetic energy lost on the way to it."""
    before = own_state(plant.machine, given)
    after = project_state(plant, before, 0.0)
    return after, energy_loss(plant, after.q, before.v, after.v)


def energy_loss(plant: Plant, q: Array, before: Array, after: Array) -> float:
    """Kinetic energy lost when rows take hold at once: T(v⁻) − T(v⁺).

    The impulses of the rows change the speed least in the mass metric (Carnot)::

        v⁺ = v⁻ − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺ A v⁻
        T(v⁻) − T(v⁺) = ½ Δᵀ M Δ + Δᵀ M v⁺,    Δ = v⁻ − v⁺

    The last term is zero unless a row moves by itself and pushes; without it the loss cannot be negative.
    """
    M, change = plant.mass_matrix(q), before - after
    loss = float(change @ M @ change) / 2
    slip = plant.constraint(q, after)[0] @ after
    if np.max(np.abs(slip), initial=0.0) > SLIP * max(1.0, float(np.max(np.abs(after), initial=0.0))):
        loss += float(change @ M @ after)
    kinetic = float(before @ M @ before) / 2
    return 0.0 if abs(loss) < ROUNDING * kinetic else loss


def own_state(machine: Machine, given: Any) -> State:  # noqa: ANN401
    """The machine's own q and v of a given state: by name where the state knows its names, else as they stand."""
    if not isinstance(given, tuple | list) or len(given) != 2:
        raise ModelError(f"{machine.name}.start: expected a State (q, v), got {given!r}. Try run.end or plant.start.")
    q, v = given
    coordinates, velocities = (tuple(c.name for c in side) for side in (machine.coordinates, machine.velocities))
    if isinstance(given, NamedState) and given.coordinates:
        q = _picked(machine.name, q, given.coordinates, coordinates)
        v = _picked(machine.name, v, given.velocities, velocities)
    return State(
        checked(q, len(coordinates), "start q", coordinates), checked(v, len(velocities), "start v", velocities)
    )


def _picked(name: str, values: Array, known: tuple[str, ...], wanted: tuple[str, ...]) -> Array:
    """The wanted entries by name; those of parts that are gone are left behind."""
    missing = [entry for entry in wanted if entry not in known]
    if missing:
        more = f" and {len(missing) - SHOWN} more" if len(missing) > SHOWN else ""
        raise ModelError(
            f"{name}.start: the state given knows nothing of {', '.join(missing[:SHOWN])}{more}. "
            f"Give a State (q, v) with all {len(wanted)} numbers."
        )
    index = {entry: i for i, entry in enumerate(known)}
    return np.asarray([values[index[entry]] for entry in wanted], dtype=float)
