"""Allocation: which of the many torques that give a required force the motors are to supply.

Of all τ with W τ = F, where W has more columns than rows::

    LeastSquares    the least ½ (τ − τ_p)ᵀ D (τ − τ_p)
    MinMax          the least max |τ_i| / limit_i
    Bounded         the least ½ τᵀ D τ with lower ≤ τ ≤ upper

All solutions are τ = τ₀ + N z, with τ₀ the least in the metric D and N a basis of what has no effect, W N = 0. So
W τ = F holds to rounding whichever is chosen.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.errors import ControlError

Array = NDArray[np.float64]
VANISHED = 1e-13  # rows shorter than this part of the longest are rounding, whatever their units
DEPENDENT = 1e-10  # of the largest singular value of W with rows of length one
MISSING = 1e-9  # of the required force, row by row of length one: less is rounding
INFEASIBLE = 1e-9  # residual of the dual problem: zero but for rounding if no τ is within the bounds
WITHIN = 1e-9  # of the bounds: a torque over by less is rounding


class OutOfBoundsError(ControlError):
    """No efforts within the bounds give the required force; `excess` has what motors would need beyond them."""

    def __init__(self, message: str, excess: dict[int, float]) -> None:
        super().__init__(message)
        self.excess = excess  # of the motors that set it, N or N·m; empty where no efforts of any size do


class Allocation(Protocol):
    """A way to share a required force among motors."""

    def allocate(self, force_map: Array, force: Array, limits: ArrayLike, rows: Sequence[str] = ()) -> Array:
        """τ with W τ = F; `limits` bound |τ|, `rows` name the entries of F in messages."""

    def check(self, limits: Array) -> None:
        """Refuse numbers that do not fit motors with these limits."""


@dataclass(frozen=True, slots=True)
class LeastSquares:
    """The least ½ (τ − τ_p)ᵀ D (τ − τ_p): τ = τ_p + D⁻¹ Wᵀ (W D⁻¹ Wᵀ)⁻¹ (F − W τ_p).

    `weights` is the diagonal of D, one number a motor. `preload` is τ_p, one effort a motor: what the motors push
    against each other, as far as that moves nothing; it takes play out of joints. Limits play no part.
    """

    weights: tuple[float, ...] | None = None
    preload: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _positive(self.weights, "LeastSquares.weights"))
        object.__setattr__(self, "preload", _finite(self.preload, "LeastSquares.preload"))

    def check(self, limits: Array) -> None:
        """One weight and one preload a motor."""
        for name in ("weights", "preload"):
            if (numbers := getattr(self, name)) is not None:
                _matching(numbers, len(limits), name)

    def allocate(self, force_map: Array, force: Array, limits: ArrayLike, rows: Sequence[str] = ()) -> Array:  # noqa: ARG002
        """The τ of least weighted squares."""
        if self.preload is None:
            return _solutions(force_map, force, self.weights, rows).least
        offset = _matching(self.preload, force_map.shape[1], "preload")
        return offset + _solutions(force_map, force - force_map @ offset, self.weights, rows).least


@dataclass(frozen=True, slots=True)
class MinMax:
    """The least largest |τ_i| / limit_i, by a linear programme; without limits the least largest |τ_i|.

    Motors that are not at the largest ratio may have any torque below it: of those the programme's own is taken.
    """

    def check(self, limits: Array) -> None:
        """All motors have limits, or none."""
        limit_scale(limits)

    def allocate(self, force_map: Array, force: Array, limits: ArrayLike, rows: Sequence[str] = ()) -> Array:
        """Minimise ρ over z and ρ with −ρ limit ≤ τ₀ + N z ≤ ρ limit."""
        from scipy.optimize import linprog

        scale = limit_scale(limits)
        found = _solutions(force_map * scale, force, None, rows)
        N, least = found.null, found.least
        if N.shape[1] == 0:
            return least * scale
        size = max(float(np.abs(least).max()), 1e-300)  # the solver's tolerances are absolute
        one = np.ones((len(least), 1))
        cost = np.append(np.zeros(N.shape[1]), 1.0)
        sides = np.block([[N, -one], [-N, -one]])
        bounds = [(None, None)] * N.shape[1] + [(0, None)]
        result = linprog(cost, A_ub=sides, b_ub=np.concatenate([-least, least]) / size, bounds=bounds, method="highs")
        if result.status != 0:
            raise ControlError(f"MinMax: the linear programme did not end ({result.message}). Use LeastSquares.")
        return np.asarray((least + size * (N @ result.x[:-1])) * scale)


@dataclass(frozen=True, slots=True)
class Bounded:
    """The least ½ τᵀ D τ with lower ≤ τ ≤ upper, one number a motor; by default the motors' own limits.

    With y = D^½ τ this is the shortest z with l ≤ D^-½ (y₀ + N z) ≤ u, which is solved through its dual, a problem of
    least squares with no negative unknown: it ends after finitely many steps.

    Reference: Lawson and Hanson (1974), Solving Least Squares Problems, chapter 23 (LDP).
    """

    lower: tuple[float, ...] | None = None
    upper: tuple[float, ...] | None = None
    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", _positive(self.weights, "Bounded.weights"))
        for name in ("lower", "upper"):
            given = getattr(self, name)
            object.__setattr__(self, name, None if given is None else tuple(float(entry) for entry in given))

    def check(self, limits: Array) -> None:
        """One pair of bounds and one weight a motor."""
        self.bounds(limits)
        if self.weights is not None:
            _matching(self.weights, len(limits))

    def allocate(self, force_map: Array, force: Array, limits: ArrayLike, rows: Sequence[str] = ()) -> Array:
        """The τ of least weighted squares within the bounds."""
        low, high = self.bounds(np.asarray(limits, dtype=float))
        found = _solutions(force_map, force, self.weights, rows)
        room = _room(low, high)
        if _is_within(found.least, low, high, room):
            return found.least
        z = _shortest(found.null / room[:, np.newaxis], (low - found.least) / room, (high - found.least) / room)
        torques = found.least if z is None else found.least + found.null @ z
        if z is None or not _is_within(torques, low, high, room):
            raise _out_of_bounds(force_map, force, low, high, rows)
        return torques

    def bounds(self, limits: Array) -> tuple[Array, Array]:
        """Lower and upper bounds of motors with these limits."""
        low = -limits if self.lower is None else np.array(self.lower)
        high = limits if self.upper is None else np.array(self.upper)
        if low.shape != limits.shape or high.shape != limits.shape or not (low < high).all():
            raise ControlError(
                f"Bounded: expected {len(limits)} lower numbers, each below its upper one, got {low.tolist()} and "
                f"{high.tolist()}. Give one a motor."
            )
        return low, high


class _Solutions(NamedTuple):
    """All τ with W τ = F."""

    least: Array  # τ₀, (k,)
    null: Array  # N, (k, k − rank): with D^½ N orthonormal


def _solutions(W: ArrayLike, F: ArrayLike, weights: tuple[float, ...] | None, rows: Sequence[str]) -> _Solutions:  # noqa: N803
    """τ₀ and N; with y = D^½ τ the least is y₀ = (W D^-½)⁺ F. Rows are made of length one: they may differ in units."""
    W, F = np.asarray(W, dtype=float), np.asarray(F, dtype=float)
    root = np.ones(W.shape[1]) if weights is None else np.sqrt(_matching(weights, W.shape[1]))
    W_y = W / root
    length = np.linalg.norm(W_y, axis=1)
    length = np.where(length > VANISHED * length.max(initial=0.0), length, 1.0)  # a row of rounding stays what it is
    U, sigma, Vt = np.linalg.svd(W_y / length[:, np.newaxis])
    rank = int(np.sum(sigma > DEPENDENT * sigma.max(initial=0.0)))
    wanted = F / length
    y = Vt[:rank].T @ ((U[:, :rank].T @ wanted) / sigma[:rank])
    missing = wanted - (W_y / length[:, np.newaxis]) @ y
    if np.abs(missing).max(initial=0.0) > MISSING * np.abs(wanted).max(initial=0.0):
        raise _unreachable(F, missing * length, rows, "no torque of these motors gives it. Add motors or ask for less.")
    return _Solutions(np.asarray(y / root), np.asarray(Vt[rank:].T / root[:, np.newaxis]))


def _shortest(G: Array, low: Array, high: Array) -> Array | None:  # noqa: N803
    """The z of least length with low ≤ G z ≤ high, or None if there is none.

    One-sided rows C z ≥ d: u ≥ 0 minimises |E u − e| with E = [Cᵀ; dᵀ] and e = (0, ..., 0, 1); z = −r/r_last of the
    residual r. The rows with u > 0 hold as equalities, from which z is found again to rounding.
    """
    from scipy.optimize import nnls

    C, d = np.vstack([G, -G]), np.concatenate([low, -high])
    kept = np.isfinite(d)
    C, d = C[kept], d[kept]
    E, e = np.vstack([C.T, d]), np.append(np.zeros(C.shape[1]), 1.0)
    u, distance = nnls(E, e)
    if distance < INFEASIBLE:
        return None
    active = u > 0
    return np.asarray(np.linalg.lstsq(C[active], d[active], rcond=None)[0])


def _room(low: Array, high: Array) -> Array:
    """A scale for each bound: its own size."""
    sizes = np.maximum(np.where(np.isfinite(low), np.abs(low), 0.0), np.where(np.isfinite(high), np.abs(high), 0.0))
    return np.where(sizes > 0, sizes, 1.0)


def _is_within(torques: Array, low: Array, high: Array, room: Array) -> bool:
    return bool((torques >= low - WITHIN * room).all() and (torques <= high + WITHIN * room).all())


def _out_of_bounds(W: Array, F: Array, low: Array, high: Array, rows: Sequence[str]) -> ControlError:  # noqa: N803
    """Word the error with what is missing after the bounds are used up."""
    from scipy.optimize import lsq_linear

    length = np.linalg.norm(W, axis=1)
    length = np.where(length > VANISHED * length.max(initial=0.0), length, 1.0)  # a row of rounding stays what it is
    nearest = lsq_linear(W / length[:, np.newaxis], F / length, (low, high), tol=1e-14).x
    error = _unreachable(F, F - W @ nearest, rows, "the motors are at their bounds. Ask for less or raise limits.")
    return OutOfBoundsError(str(error), _least_excess(W / length[:, np.newaxis], F / length, low, high))


def _least_excess(W: Array, F: Array, low: Array, high: Array) -> dict[int, float]:  # noqa: N803
    """By how much motors must go beyond their bounds at the least: min ρ with W τ = F, low − ρ ≤ τ ≤ high + ρ."""
    from scipy.optimize import linprog

    m = W.shape[1]
    one = np.ones((m, 1))
    sides, bounds = np.block([[np.eye(m), -one], [-np.eye(m), -one]]), np.concatenate([high, -low])
    kept = np.isfinite(bounds)
    found = linprog(
        np.append(np.zeros(m), 1.0),
        A_ub=sides[kept],
        b_ub=bounds[kept],
        A_eq=np.hstack([W, np.zeros((len(F), 1))]),
        b_eq=F,
        bounds=[(None, None)] * m + [(0, None)],
        method="highs",
    )
    if found.status != 0:
        return {}
    excess = np.maximum(found.x[:m] - high, low - found.x[:m])
    return {i: float(excess[i]) for i in range(m) if excess[i] > (1 - WITHIN) * found.x[m]}


def _unreachable(F: Array, missing: Array, rows: Sequence[str], reason: str) -> ControlError:  # noqa: N803
    names = rows or [f"entry {i}" for i in range(len(F))]
    shown = [
        f"{gap:.3g} of {whole:.3g} at {name}"
        for name, gap, whole in zip(names, missing, F, strict=True)
        if abs(gap) > 1e-3 * np.abs(missing).max()
    ]
    return ControlError(f"allocation: the force is out of reach, missing {', '.join(shown)}; {reason}")


def limit_scale(limits: ArrayLike) -> Array:
    """The limits where every motor has one, ones where none has."""
    given = np.asarray(limits, dtype=float)
    bounded = np.isfinite(given)
    if bounded.all():
        return given
    if bounded.any():
        count = int((~bounded).sum())
        raise ControlError(
            f"MinMax: {count} of {len(given)} motors have no limit. Give every Actuator a limit, or none."
        )
    return np.ones_like(given)


def _finite(given: object, path: str, what: str = "finite numbers") -> tuple[float, ...] | None:
    if given is None:
        return None
    message = f"{path}: expected {what}, one a motor, got {given!r}."
    try:
        numbers = tuple(float(entry) for entry in cast("Sequence[float]", given))
    except (TypeError, ValueError) as error:
        raise ControlError(message) from error
    if not np.isfinite(numbers).all():
        raise ControlError(message)
    return numbers


def _positive(given: object, path: str) -> tuple[float, ...] | None:
    numbers = _finite(given, path, "numbers above zero")
    if numbers is not None and not all(number > 0 for number in numbers):
        raise ControlError(f"{path}: expected numbers above zero, one a motor, got {given!r}.")
    return numbers


def _matching(numbers: tuple[float, ...], count: int, what: str = "weights") -> Array:
    if len(numbers) != count:
        raise ControlError(
            f"{what}: expected {count} numbers, one a motor, got {len(numbers)}. Give them in the motors' order."
        )
    return np.array(numbers)
