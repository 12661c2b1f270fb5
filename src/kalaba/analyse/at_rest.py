"""Balance: what acts on a machine at rest, seen along the motions that its constraints allow.

With the tangent T (A T = 0) of the rows, and v̇ and λ of the motion from rest held while the rest is differentiated::

    e = S⁻² T Tᵀ Q                          what no constraint balances; S⁻¹ T is orthonormal, S the machine's sizes
    K = ∂(M v̇ − Q − Aᵀλ)/∂q N               tangent stiffness: it contains the geometric stiffness of λ
    C = ∂(M v̇ − Q − Aᵀλ)/∂v                 damping

Near an equilibrium (e = 0, v̇ = 0) small motions δq = N T z obey TᵀM T z̈ + TᵀC T ż + TᵀK T z = 0: from Tᵀ(M v̇ − Q) = 0
with δTᵀ Aᵀ = −Tᵀ δAᵀ. K is symmetric there if forces have a potential; elsewhere it depends on the coordinates.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from kalaba.errors import ConstraintError, ModelError, near
from kalaba.native.backend import Evaluator, Interpreted
from kalaba.plant.arguments import checked
from kalaba.plant.choice import independent_rows_of, keep_rows, not_finite, not_unique
from kalaba.plant.plant import Plant, build
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.tolerances import REST_BALANCED, REST_STILL, REST_STRAIN

if TYPE_CHECKING:
    from kalaba.model.system import System

Actuation = Mapping[str, float] | ArrayLike | None  # {motor: value}, or one number per motor; N, N·m


class NotInEquilibriumWarning(UserWarning):
    """A state at rest that does not stay at rest: what is linear about it holds for a moment only."""


@dataclass(frozen=True)
class Balance:
    """Forces, stiffness, damping and mass of a machine at rest."""

    sizes: Array  # S, (n_v,): of the velocities, by which forces and torques are compared
    tangent: Array  # T, (n_v, freedoms): S⁻¹ T is orthonormal
    unbalanced: Array  # e, (n_v,)
    force_scale: float  # the largest force at work in the sizes, balanced or not, J
    mass: Array  # M, (n_v, n_v)
    stiffness: Array  # K, (n_v, n_v)
    damping: Array  # C, (n_v, n_v)
    following: Array  # ∂φ̇/∂q N T, (rows, freedoms): the rates that a displacement gives the rows at rest

    @property
    def is_equilibrium(self) -> bool:
        """Whether the machine stays at rest."""
        return bool(np.max(self.pulls, initial=0.0) <= REST_BALANCED * self.force_scale)

    @property
    def pulls(self) -> Array:
        """The sizes of what is unbalanced, J."""
        return np.asarray(np.abs(self.unbalanced) * self.sizes)

    def reduced(self, matrix: Array) -> Array:
        """Tᵀ · T of a matrix."""
        return np.asarray(self.tangent.T @ matrix @ self.tangent)

    def worst(self, names: tuple[str, ...]) -> str:
        """The coordinates with the largest unbalanced force, in words."""
        size = self.pulls
        order = [j for j in np.argsort(-size)[:3] if size[j] > max(0.1 * size.max(), REST_BALANCED * self.force_scale)]
        return ", ".join(f"{names[j]} by {self.unbalanced[j]:.3g}" for j in order)


class Slopes(NamedTuple):
    """Mass, damping and stiffness about the motion at a state, each (n_v, n_v); ∂(A v̇ − b)/∂v, (rows, n_v)."""

    mass: Array
    damping: Array
    stiffness: Array
    rows_damping: Array


def slopes_at(tangent: Evaluator, inputs: Array) -> Slopes:
    """Evaluate the function "tangent" of a plant."""
    values = tangent(inputs)
    entries = [values[tangent.outputs[name]] for name in Slopes._fields]
    n = math.isqrt(entries[0].size)
    return Slopes(*(entry.reshape((entry.size // max(n, 1), n), order="F") for entry in entries))


def swinging(mass: Array, stiffness: Array) -> tuple[Array, Array]:
    """The ω², lowest first, and the φ of K φ = ω² M φ, with the symmetric parts of M and K on the tangent space."""
    from scipy.linalg import eigh

    squares, vectors = eigh((stiffness + stiffness.T) / 2, (mass + mass.T) / 2)
    return squares, vectors


class Rest:
    """A plant at rest under held actuation: gives its Balance at any configuration."""

    def __init__(self, plant: Plant, actuation: Actuation = None) -> None:
        self.plant = plant
        self.actuation = actuation_vector(plant, actuation)
        self._tangent: Evaluator = plant.interpreted("tangent")

    def packed(self, q: ArrayLike) -> Array:
        """The packed inputs of a configuration at rest."""
        return self.plant.packed(q, np.zeros(len(self.plant.velocities)), actuation=self.actuation)

    def check_still(self, q: Array) -> None:
        """Refuse rows that move or accelerate by themselves."""
        still = np.zeros(len(self.plant.velocities))
        scales = self.plant.scales
        moves = (self.plant.velocity_residual(q, still), scales.rate, "/s")
        for values, rate, unit in (moves, (self.plant.constraint(q, still)[1], scales.rate**2, "/s²")):
            sizes = np.abs(values) / (scales.strengths * rate)
            if np.max(sizes, initial=0.0) > REST_STILL:
                worst = int(np.argmax(sizes))
                row, speed = self.plant.constraints[worst], abs(values[worst])
                raise ConstraintError(
                    f"{self.plant.system.name}: {row} moves by itself at t = 0 ({speed:.3g}{unit}), so nothing "
                    "is at rest. Remove it, or let it start from rest."
                )

    def at(self, q: Array) -> Balance:
        """The balance at a configuration."""
        plant, inputs = self.plant, self.packed(q)
        n = len(plant.velocities)
        problem = plant.problem(inputs)
        if not all(np.isfinite(part).all() for part in problem):
            raise not_finite(plant)
        S = plant.scales.velocities
        T = np.diag(S)
        if plant.constraints:  # a machine without rows may be at rest where some motion has no inertia
            rows = independent_rows_of(plant, problem)
            T = rows.free_directions()
            keep_rows(plant, inputs, rows.mask)
        _, C, K, rows_damping = slopes_at(self._tangent, inputs)
        if not (np.isfinite(K).all() and np.isfinite(C).all()):
            raise not_unique(plant, problem)
        unbalanced = T @ (T.T @ problem.force) / S**2
        motors = plant.actuation_map(q) @ self.actuation
        forces = (plant.bias(q, np.zeros(n)), problem.force, motors, K.diagonal() * S * REST_STRAIN)
        scale = max(float(np.max(np.abs(part) * S, initial=0.0)) for part in forces)
        return Balance(S, T, unbalanced, max(scale, np.finfo(float).tiny), problem.mass, K, C, rows_damping @ T)


def actuation_vector(plant: Plant, actuation: Actuation) -> Array:
    """Values of all motors from {motor: value} or an array; None and unlisted motors give nothing."""
    names = plant.actuators
    if actuation is None:
        return np.zeros(len(names))
    if isinstance(actuation, Mapping):
        for name in actuation:
            if name not in names:
                raise ModelError(f"actuation: {plant.system.name} has no actuator {name!r}; {near(name, names)}")
        return checked([actuation.get(name, 0.0) for name in names], len(names), "actuation", names)
    return checked(actuation, len(names), "actuation", names)


def plant_of(system: System | Plant) -> Plant:
    """A Plant as it is; a System without compiling, since a few evaluations are all that is asked of it."""
    return system if isinstance(system, Plant) else build(system, backend=Interpreted())


def state_at_rest(plant: Plant, at: State | None) -> Array:
    """The configuration of a state; None is the start, with its speeds left out."""
    if at is None:
        return plant.start.q
    q, v = at
    speed = checked(v, len(plant.velocities), "at.v", plant.velocities)
    parts = np.abs(speed) / plant.scales.velocities
    if np.max(parts, initial=0.0) > REST_STILL * plant.scales.rate:
        worst = int(np.argmax(parts))
        name, fastest = plant.velocities[worst], float(abs(speed[worst]))
        raise ModelError(
            f"{plant.system.name}: expected a state at rest, got one in which {name} moves at {fastest:.3g}. "
            "Find a state with kb.equilibrium(...), or use plant.derivatives(q, v) for one in motion."
        )
    return checked(q, len(plant.coordinates), "at.q", plant.coordinates)


def balance_at(rest: Rest, q: Array) -> Balance:
    """The balance at a configuration; refuses rows that move by themselves, warns of a state that is no equilibrium."""
    rest.check_still(q)
    plant, balance = rest.plant, rest.at(q)
    if not balance.is_equilibrium:
        warnings.warn(
            f"{plant.system.name}: not an equilibrium; unbalanced: {balance.worst(plant.velocities)}. "
            "What follows holds for a moment only. Start from kb.equilibrium(...).",
            NotInEquilibriumWarning,
            stacklevel=3,
        )
    return balance
