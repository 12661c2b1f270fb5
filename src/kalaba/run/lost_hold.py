"""Where motors lose hold of a machine: singular positions of the second kind, at which it moves while they are locked.

The motors push the freedoms by Nᵀ B u, N spanning the velocities that the rows allow, orthonormal in the mass metric::

    σ = smallest singular value of Nᵀ B        each motor in parts of its largest effect in the run

At σ = 0 some motion is beyond all motors, and a law that asks for it asks for efforts without bound. With as many
motors as freedoms σ passes zero where the determinant of the rows and of the motors' directions, [A; Bᵀ], changes its
sign, be it between two samples.

Reference: Gosselin and Angeles (1990), IEEE Trans. Robotics and Automation 6(3), 281-290.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kalaba import tolerances
from kalaba.errors import KalabaError
from kalaba.plant.choice import rows_at
from kalaba.results.run import LostHold
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.results.run import Run

LOOKED_AT = 400  # samples of a run at the most


class HoldWarning(UserWarning):
    """A run with goals came to a position at which its motors lose hold of the machine."""


class _Sample(NamedTuple):
    """The motors' hold on a machine at a sample."""

    time: float
    pushed: Array  # Nᵀ B, (freedoms, motors)
    kept: tuple[bool, ...]  # rows of the independent set
    sign: float  # of the determinant of [A; Bᵀ]; 0 if there are more motors than freedoms
    size: float  # logarithm of its size


def lost_hold(run: Run) -> LostHold | None:
    """Where the motors that took part lose hold of the machine; looked for where efforts are large or were missing."""
    motors = np.flatnonzero(np.abs(run.actuation).max(axis=0, initial=0.0) > 0)
    if not motors.size or not _is_suspect(run, run.actuation[:, motors]):
        return None
    stride = max(1, len(run.time) // LOOKED_AT)
    samples = [one for k in range(0, len(run.time), stride) if (one := _sample(run, k, motors)) is not None]
    if not samples or not samples[0].pushed.size or samples[0].pushed.shape[0] > len(motors):
        return None
    effects = np.max([np.linalg.norm(one.pushed, axis=0) for one in samples], axis=0)
    scale = np.where(effects > 0, effects, 1.0)
    sigma = np.array([np.linalg.svd(one.pushed / scale, compute_uv=False).min() for one in samples])
    worst = int(sigma.argmin())
    crossed = [k for k in range(len(samples) - 1) if _is_crossed(samples[k], samples[k + 1])]
    if crossed:
        k = min(crossed, key=lambda k: min(sigma[k], sigma[k + 1]))
        before, after = samples[k], samples[k + 1]
        part = 1 / (1 + np.exp(np.clip(after.size - before.size, -50, 50)))
        return LostHold(before.time + float(part) * (after.time - before.time), float(min(sigma[k], sigma[k + 1])))
    return LostHold(samples[worst].time, float(sigma[worst])) if sigma[worst] < tolerances.HOLD_LOST else None


def hold_message(run: Run, lost: LostHold) -> str:
    """Say it in one line."""
    return (
        f"{run.plant.system.name}: its motors lose hold of it at t = {lost.time:.4g} s, a singular position of the "
        f"second kind (σ = {lost.sigma:.2g} at the nearest sample); the efforts have no bound there. Lead the goals "
        "around it, or add a motor."
    )


def _is_suspect(run: Run, actuation: Array) -> bool:
    """Whether a run broke off, or its efforts rise far above what they mostly are."""
    if run.status.failed or run.shortfalls:
        return True
    efforts = np.linalg.norm(actuation / np.abs(actuation).max(axis=0), axis=1)
    return bool(efforts.max() > tolerances.EFFORTS_RISE * np.median(efforts))


def _sample(run: Run, k: int, motors: NDArray[np.int_]) -> _Sample | None:
    """The hold at a sample; None where the state is not finite or its rows cannot be chosen."""
    plant = run.plant
    if not (np.isfinite(run.q[k]).all() and np.isfinite(run.v[k]).all()):
        return None
    try:
        rows = rows_at(plant, plant.inputs(run.q[k], run.v[k], float(run.time[k])))
        B = plant.actuation_map(run.q[k])[:, motors]
    except KalabaError:
        return None
    N = (
        rows.free_directions(mass_orthonormal=True)
        if len(rows.matrix)
        else np.linalg.inv(np.linalg.cholesky(rows.metric)).T
    )
    stacked = np.vstack([rows.sizes.of_rows(rows.matrix)[rows.kept], B.T * rows.sizes.velocities])
    sign, size = np.linalg.slogdet(stacked) if stacked.shape[0] == stacked.shape[1] else (0.0, 0.0)
    return _Sample(float(run.time[k]), N.T @ B, tuple(rows.kept.tolist()), float(sign), float(size))


def _is_crossed(before: _Sample, after: _Sample) -> bool:
    """Whether σ passes zero between two samples, as far as the same rows tell."""
    return before.kept == after.kept and before.sign * after.sign < 0
