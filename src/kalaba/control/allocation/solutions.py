"""All torques that give a required force, in numbers and as expressions: what every allocation rule starts from.

W τ = F has the solutions τ = τ₀ + N z, with τ₀ the least in the metric D and N a basis of what has no effect, W N = 0.
So W τ = F holds to rounding whichever z a rule chooses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, cast

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import finite_array, real_array, shown
from kalaba.constrain.elimination import factorise
from kalaba.errors import ControlError
from kalaba.space.arrays import Array
from kalaba.units import counted


class Solutions(NamedTuple):
    """All τ with W τ = F."""

    least: Array  # τ₀, one number per motor
    null: Array  # N, (motors, motors − rank): with D^½ N orthonormal


def solutions(W: ArrayLike, F: ArrayLike, weights: tuple[float, ...] | None, rows: Sequence[str]) -> Solutions:
    """τ₀ and N; with y = D^½ τ the least is y₀ = (W D^-½)⁺ F. Rows are made of length one: they may differ in units."""
    W = finite_array(W, "force_map", (None, None), ControlError)
    F = finite_array(F, "force", (len(W),), ControlError)
    if len(rows) not in (0, len(W)):
        raise ControlError(f"rows: expected {counted(len(W), 'name')}, one per row of the force map, got {len(rows)}.")
    root = np.ones(W.shape[1]) if weights is None else np.sqrt(matching(weights, W.shape[1]))
    W_y = W / root
    length = row_lengths(W_y)
    U, sigma, Vt = np.linalg.svd(W_y / length[:, np.newaxis])
    rank = int(np.sum(sigma > tolerances.DEPENDENT_FORCES * sigma.max(initial=0.0)))
    wanted = F / length
    y = Vt[:rank].T @ ((U[:, :rank].T @ wanted) / sigma[:rank])
    missing = wanted - (W_y / length[:, np.newaxis]) @ y
    if np.abs(missing).max(initial=0.0) > tolerances.FORCE_REACHED * np.abs(wanted).max(initial=0.0):
        raise unreachable(F, missing * length, rows, "no torque of these motors gives it. Add motors or ask for less.")
    return Solutions(np.asarray(y / root), np.asarray(Vt[rank:].T / root[:, np.newaxis]))


def row_lengths(W: Array) -> Array:
    """Lengths by which rows are divided; a row of rounding stays what it is."""
    length = np.linalg.norm(W, axis=1)
    return np.where(length > tolerances.FORCE_ROW_VANISHED * length.max(initial=0.0), length, 1.0)


def unreachable(F: Array, missing: Array, rows: Sequence[str], reason: str) -> ControlError:
    """The error of a force out of reach, with the rows that lack most."""
    names = rows if len(rows) else [f"entry {i}" for i in range(len(F))]
    shown = [
        f"{gap:.3g} of {whole:.3g} at {name}"
        for name, gap, whole in zip(names, missing, F, strict=True)
        if abs(gap) > tolerances.MISSING_SHOWN * np.abs(missing).max()
    ]
    return ControlError(f"allocation: the force is out of reach, missing {', '.join(shown)}; {reason}")


def least_squares(
    force_map: ca.SX,
    force: ca.SX,
    weights: tuple[float, ...] | None = None,
    preload: tuple[float, ...] | None = None,
) -> ca.SX:
    """The τ of least ½ (τ − τ_p)ᵀ D (τ − τ_p) with W τ = F: τ_p + D⁻¹ Wᵀ (W D⁻¹ Wᵀ)⁻¹ (F − W τ_p).

    W has full rank; D is diagonal, by default 1; the preload τ_p by default 0.
    """
    W = ca.densify(force_map)
    if preload is not None:
        offset = ca.SX(ca.DM(preload))
        return offset + least_squares(W, force - ca.mtimes(W, offset), weights)
    spread = W.T if weights is None else W.T / ca.DM(weights)
    share = factorise(ca.mtimes(W, spread)).solve(ca.vertsplit(ca.densify(force)))
    return ca.mtimes(spread, ca.vertcat(*share))


def null_direction(force_map: ca.SX, weights: tuple[float, ...] | None = None) -> ca.SX:
    """The n with W n = 0 where W has one column more than rows.

    The projector 1 − W⁺ W is n nᵀ / nᵀ D n D: its column with the largest diagonal entry is taken.
    """
    m = force_map.shape[1]
    columns = [ca.SX.eye(m)[:, j] - least_squares(force_map, force_map[:, j], weights) for j in range(m)]
    best, size = columns[0], columns[0][0]
    for j in range(1, m):
        is_larger = ca.gt(columns[j][j], size)
        best = ca.if_else(is_larger, columns[j], best)
        size = ca.if_else(is_larger, columns[j][j], size)
    return best


def largest(values: ca.SX) -> ca.SX:
    """The largest |x_i|."""
    peak = ca.fabs(values[0])
    for i in range(1, values.shape[0]):
        peak = ca.fmax(peak, ca.fabs(values[i]))
    return peak


def finite_numbers(numbers: object, path: str, what: str = "finite numbers") -> tuple[float, ...] | None:
    """One number per motor as a tuple; None stays None."""
    if numbers is None:
        return None
    message = f"{path}: expected {what}, one per motor, got {shown(numbers)}."
    try:
        entries = tuple(float(entry) for entry in cast("Sequence[float]", numbers))
    except Exception as error:  # whatever entries of somebody's class do
        raise ControlError(message) from error
    if not np.isfinite(entries).all():
        raise ControlError(message)
    return entries


def positive_numbers(numbers: object, path: str) -> tuple[float, ...] | None:
    """One number above zero per motor as a tuple; None stays None."""
    entries = finite_numbers(numbers, path, "numbers above zero")
    if entries is not None and not all(entry > 0 for entry in entries):
        raise ControlError(f"{path}: expected numbers above zero, one per motor, got {shown(numbers)}.")
    return entries


def matching(numbers: tuple[float, ...], count: int, what: str = "weights") -> Array:
    """The numbers as an array, if there are as many as motors."""
    if len(numbers) != count:
        raise ControlError(
            f"{what}: expected {counted(count, 'number')}, one per motor, got {len(numbers)}. Give them in the "
            "motors' order."
        )
    return np.array(numbers)


def each_motor(limits: ArrayLike, motors: int) -> Array:
    """The limits of motors as an array, infinite where there is none; each must be above zero."""
    numbers = real_array(limits, "limits", ControlError)
    if numbers.shape != (motors,) or not (numbers > 0).all():
        raise ControlError(
            f"limits: expected {counted(motors, 'number')} above zero, one per motor, got {shown(limits)}."
        )
    return numbers
