"""Forward dynamics of many states: native code works on several at a time, packed from the arrays as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.constrain.solvers import Motion
from kalaba.errors import ModelError
from kalaba.native.backend import slices
from kalaba.plant.arguments import check_unit
from kalaba.plant.choice import health_bounds
from kalaba.plant.forward import motion, motion_name

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kalaba.native import Kernel
    from kalaba.plant.choice import Choice
    from kalaba.plant.plant import Plant

Array = NDArray[np.float64]
LANES = 8  # states that a kernel works on at a time


class Acting(NamedTuple):
    """What acts on a batch, each for all states or one a state."""

    force: ArrayLike | None = None
    t: ArrayLike = 0.0
    actuation: ArrayLike | None = None
    wrenches: Mapping[str, ArrayLike] | None = None


def batch_motion(plant: Plant, q: ArrayLike, v: ArrayLike, acting: Acting) -> Motion:
    """Motions of many states; those whose rows are not as chosen at the start are looked at one by one."""
    given = _fields(plant, q, v, acting)
    if not plant.is_native:
        results = [motion(plant, _packed(plant, given, index)) for index in range(len(given["q"]))]
        return Motion(np.array([r.acceleration for r in results]), np.array([r.constraint_force for r in results]))
    acceleration, constraint_force, health = _run(plant, given)
    for index in _unhealthy(plant.choice, acceleration, health):
        acceleration[index], constraint_force[index] = motion(plant, _packed(plant, given, index))
    return Motion(acceleration, constraint_force)


def _unhealthy(choice: Choice, acceleration: Array, health: Array) -> NDArray[np.intp]:
    """States that need a choice of their own, or a close look at the rows that are left out."""
    low, high = health_bounds(choice, health.shape[1])
    fine = (health >= low) & (health <= high)
    if fine.all() and np.isfinite(acceleration.sum()):
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(~(fine.all(axis=1) & np.isfinite(acceleration).all(axis=1)))


def _run(plant: Plant, given: dict[str, Array]) -> tuple[Array, Array, Array]:
    """Accelerations, constraint forces, and what tells whether the rows are as chosen, of every state."""
    from kalaba.native.batch import Code, Piece, Slots, batch

    kernel, store = plant.lanes(motion_name(plant), LANES)
    layout, outputs, count = plant.layout, slices(dict(kernel.outputs)), len(given["q"])
    firsts = {"q": layout.q.start, "v": layout.v.start, "force": layout.f.start, "actuation": layout.u.start}
    firsts |= {"t": layout.t, "mask": layout.mask.start, "w": layout.w}
    values = {**given, "mask": plant.choice.mask, "w": np.full(1, plant.weight if plant.is_singular else 1.0)}
    parts = [outputs["acceleration"], outputs["constraint_force"], slice(outputs["pivots"].start, kernel.n_outputs)]
    results = [np.empty((count, part.stop - part.start)) for part in parts]
    batch(
        Code(kernel.address, store, kernel),
        Slots(kernel.n_inputs, kernel.n_outputs, kernel.lanes),
        [Piece(firsts[name], array) for name, array in values.items()],
        [Piece(part.start, array) for part, array in zip(parts, results, strict=True)],
        plant.backend.threads,
    )
    return results[0], results[1], results[2]


def run_kernel(kernel: Kernel, store: Array, packed: Array) -> Array:
    """Evaluate a kernel on every row of packed inputs."""
    from kalaba.native.batch import Code, Piece, Slots, batch

    results = np.empty((len(packed), kernel.n_outputs))
    slots = Slots(kernel.n_inputs, kernel.n_outputs, kernel.lanes)
    batch(Code(kernel.address, store, kernel), slots, [Piece(0, packed)], [Piece(0, results)])
    return results


def _fields(plant: Plant, q: ArrayLike, v: ArrayLike, acting: Acting) -> dict[str, Array]:
    """Check what a batch is given: arrays (count, width), or (width,) for all states; q is always the former."""
    count, n = len(np.asarray(q)), len(plant.velocities)
    widths = {"q": len(plant.coordinates), "v": n, "force": n, "actuation": len(plant.actuators)}
    found: dict[str, Array] = {}
    for name, given in {"q": q, "v": v, "force": acting.force, "actuation": acting.actuation}.items():
        if given is not None:
            found[name] = _checked(name, given, count, widths[name])
    check_unit(found["q"], plant.machine)
    times = np.asarray(acting.t, dtype=float)
    found["t"] = _checked("t", times.reshape((-1, 1) if times.ndim else (1,)), count, 1)
    for frame, wrench in (acting.wrenches or {}).items():
        each = np.broadcast_to(_checked(f"wrench on {frame}", wrench, count, 6), (count, 6))
        pushed = np.array([plant.jacobian(frame, row).T @ w for row, w in zip(found["q"], each, strict=True)])
        found["force"] = pushed + found.get("force", 0.0)
    return found


def _checked(name: str, given: ArrayLike, count: int, width: int) -> Array:
    values = np.ascontiguousarray(given, dtype=float)
    if values.shape not in {(count, width), (width,)} or (name == "q" and values.ndim == 1):
        raise ModelError(f"{name}: expected a batch of shape ({count}, {width}), got {values.shape}.")
    if not np.isfinite(values.sum()):
        raise ModelError(f"{name}: expected finite numbers in the batch, got NaN or infinity.")
    return values


def _packed(plant: Plant, given: dict[str, Array], index: int) -> Array:
    """Pack one state of a batch."""
    row = {name: values[index] if values.ndim == 2 else values for name, values in given.items()}
    return plant.packed(row["q"], row["v"], row.get("force"), float(row["t"][0]), row.get("actuation"))
