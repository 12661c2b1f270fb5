"""Natural frequencies and mode shapes of a machine on its constraints.

With mass, damping and stiffness on the tangent space (see `at_rest.py`)::

    (TᵀK T) φ = ω² (TᵀM T) φ        x = T φ        xᵀM x = 1        ζ = xᵀC x / 2ω

Motions that nothing resists have ω = 0; where ω² < 0 a motion grows as e^(√−ω² t). ζ is exact for damping that does not
couple modes; the poles of `kb.linearise` hold for any damping.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from kalaba.analyse.at_rest import Actuation, Balance, Rest, balance_at, plant_of, state_at_rest, swinging
from kalaba.boundary import check_arguments
from kalaba.errors import ConstraintError
from kalaba.plant.choice import not_unique
from kalaba.space.arrays import Array
from kalaba.tolerances import MODE_RIGID, MODE_TINY, PART_SHOWN, STIFFNESS_SYMMETRIC
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State


@dataclass(frozen=True)
class Frequencies:
    """Natural frequencies, lowest first; motions that grow come before all, rigid ones next.

    Arguments:
        name: name of the machine
        hertz: (k,), Hz; 0 for rigid motions and for those that grow
        damping: ζ, (k,)
        growth: (k,), 1/s: √−ω² where ω² < 0, else 0
        shapes: (n_v, k): velocities of each mode, xᵀM x = 1
        names: names of the velocities
        shares: (n_v, k): part of each mode's kinetic energy, x (M x)
        is_equilibrium: whether the state is one
    """

    name: str
    hertz: Array
    damping: Array
    growth: Array
    shapes: Array = field(repr=False)
    names: tuple[str, ...] = field(repr=False)
    shares: Array = field(repr=False)
    is_equilibrium: bool = True

    def __len__(self) -> int:
        """How many there are: one per freedom."""
        return len(self.hertz)

    @property
    def rigid(self) -> int:
        """How many motions nothing resists."""
        return int(np.sum((self.hertz == 0) & (self.growth == 0)))

    def __str__(self) -> str:
        """A table for people: frequency, damping, and where the energy is."""
        freedoms = counted(len(self), "freedom")
        head = f"{self.name}: {freedoms}" + (f", {self.rigid} rigid" if self.rigid else "")
        lines = [head + ("" if self.is_equilibrium else " (not an equilibrium)")]
        for k in range(len(self)):
            if self.growth[k] > 0:
                what = f"grows, e-fold in {1 / self.growth[k]:.4g} s"
            else:
                what = "rigid" if self.hertz[k] == 0 else f"{self.hertz[k]:.6g} Hz"
            damped = f"  damping {self.damping[k]:.3g}" if self.damping[k] else ""
            lines.append(f"{k + 1:4d}  {what:<14s}{damped}  {self._where(k)}")
        return "\n".join(lines)

    def _where(self, mode: int) -> str:
        part = np.abs(self.shares[:, mode])
        part = part / max(part.sum(), 1e-300)
        order = [j for j in np.argsort(-part)[:4] if part[j] > PART_SHOWN]
        return ", ".join(f"{self.names[j]} {100 * part[j]:.0f} %" for j in order)


def frequencies(system: System | Plant, at: State | None = None, actuation: Actuation = None) -> Frequencies:
    """Natural frequencies and mode shapes about a state at rest under held actuation.

    Reduced to the constraints' tangent space, with the geometric stiffness of the forces that constraints carry. Warns
    if the state is no equilibrium. Forces without a potential (a thruster that turns with its body) are refused:
    they couple modes, so the poles of `kb.linearise` are what is meant. So are rows such as rate(a) + 3*a.

    Arguments:
        system: a System or a Plant
        at: a State at rest; the start if not given
        actuation: efforts of the motors, {motor: value} or one number per motor (N, N·m)
    """
    check_arguments(frequencies, locals())
    plant = plant_of(system)
    q, rest = state_at_rest(plant, at), Rest(plant, actuation)
    balance = balance_at(rest, q)
    for row in np.flatnonzero((balance.following != 0.0).any(axis=1)):
        raise ConstraintError(
            f"{plant.system.name}: {plant.constraints[row]} ties rates to where the machine is, so there are no "
            "natural frequencies as such. Use kb.linearise(...).poles."
        )
    return _solve(plant, balance)


def _solve(plant: Plant, balance: Balance) -> Frequencies:
    from scipy.linalg import LinAlgError

    T, M, K = balance.tangent, balance.reduced(balance.mass), balance.reduced(balance.stiffness)
    n = len(plant.velocities)
    largest = float(np.max(np.abs(balance.stiffness), initial=0.0))
    if balance.is_equilibrium and np.max(np.abs(K - K.T), initial=0.0) > STIFFNESS_SYMMETRIC * max(largest, 1e-300):
        raise ConstraintError(
            f"{plant.system.name}: some force has no potential, so there are no natural frequencies as such. "
            "Use kb.linearise(...).poles."
        )
    if not K.size:
        none, wide = np.zeros(0), np.zeros((n, 0))
        return Frequencies(plant.system.name, none, none, none, wide, plant.velocities, wide)
    try:
        vectors = swinging(M, K)[1]
    except LinAlgError as error:
        raise not_unique(plant, plant.problem(plant.inputs(plant.start.q))) from error
    shapes = T @ (vectors / np.sqrt(np.sum(vectors * (M @ vectors), axis=0)))
    squares = _squares(balance, shapes)  # from the shapes: low ones keep their digits beside stiff ones
    order = np.argsort(squares, kind="stable")
    squares, shapes = squares[order], shapes[:, order]
    shapes = shapes * np.sign(shapes[np.argmax(np.abs(shapes), axis=0), np.arange(shapes.shape[1])])
    omega = np.sqrt(np.maximum(squares, 0.0))
    return Frequencies(
        name=plant.system.name,
        hertz=omega / (2 * np.pi),
        damping=_damping(balance, shapes, omega),
        growth=np.sqrt(np.maximum(-squares, 0.0)),
        shapes=shapes,
        names=plant.velocities,
        shares=shapes * (balance.mass @ shapes),
        is_equilibrium=balance.is_equilibrium,
    )


def _squares(balance: Balance, shapes: Array) -> Array:
    """ω² = xᵀK x, rounding set to zero."""
    squares = np.sum(shapes * (balance.stiffness @ shapes), axis=0)
    size = np.sum(np.abs(shapes) * (np.abs(balance.stiffness) @ np.abs(shapes)), axis=0)
    is_real = np.abs(squares) > MODE_RIGID * size + MODE_TINY * np.abs(squares).max(initial=0.0)
    return np.where(is_real, squares, 0.0)


def _damping(balance: Balance, shapes: Array, omega: Array) -> Array:
    """ζ = xᵀC x / 2ω; infinite for a motion that is damped and has no stiffness."""
    lost = np.sum(shapes * (balance.damping @ shapes), axis=0)
    lost = np.where(np.abs(lost) > MODE_RIGID * np.abs(lost).max(initial=0.0), lost, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(lost == 0.0, 0.0, lost / (2 * omega))
