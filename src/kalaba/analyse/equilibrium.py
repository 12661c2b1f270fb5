"""Equilibrium: where a machine stays at rest on its constraints.

Newton's method on the tangent space: with the force r = TᵀQ and the tangent stiffness K of `at_rest.py`::

    K z = r        q ← q + N T z, then back onto the constraints

A step that would go far, or up to an equilibrium that is not stable, is replaced by one that falls: along the modes of
K each component goes the way of its force, no further than Newton's step or a half (of the machine's length, radians).
So a start goes down to a stable equilibrium, unless it lies within a tenth of one that is not.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from kalaba.analyse.at_rest import Actuation, Balance, Rest, plant_of
from kalaba.boundary import check_arguments, shown
from kalaba.errors import ConstraintError, ModelError, near
from kalaba.model.parts import Constraint, Start
from kalaba.native.backend import Interpreted
from kalaba.plant.plant import Plant, build
from kalaba.plant.reference import project_state
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.configuration import displaced
from kalaba.space.number import is_number
from kalaba.tolerances import (
    EQUILIBRIUM_ARRIVED,
    EQUILIBRIUM_LOST,
    EQUILIBRIUM_NOISE,
    EQUILIBRIUM_RESISTS,
    EQUILIBRIUM_SOFT,
    UNSTABLE_NEAR,
)

if TYPE_CHECKING:
    from kalaba.model.system import System

STEPS = 200
FAR = 0.5  # rad, or of the machine's length: largest change of a coordinate in one step
CALM = 40  # steps, after which they become shorter
HELD = "held_still"


def equilibrium(system: System | Plant, hold: Mapping[str, float] | None = None, actuation: Actuation = None) -> State:
    """The state of rest that is reached from the start: v = 0 and no acceleration along the constraints.

    Directions in which nothing pulls and nothing resists (a floating base) stay as they are.

    Arguments:
        system: a System or a Plant
        hold: {coordinate or displacement: value} that is kept there, as by a hand (m, rad)
        actuation: efforts of the motors, {motor: value} or one number per motor (N, N·m)

    Returns:
        the State, its velocities zero

    Raises:
        ConstraintError: where there is no equilibrium, or the search does not find it; it names what stays unbalanced
    """
    check_arguments(equilibrium, locals())
    plant = plant_of(system)
    if hold:
        plant = _held(plant, hold)
    rest = Rest(plant, actuation)
    q = plant.start.q
    rest.check_still(q)
    zero, strides = np.zeros(len(plant.velocities)), _strides(plant)
    for count in range(STEPS):
        balance = rest.at(q)
        step = _step(balance, FAR * 0.95 ** max(0, count - CALM) * strides)
        if np.max(np.abs(step) / plant.scales.ways, initial=0.0) <= EQUILIBRIUM_ARRIVED:
            break
        q = project_state(plant, State(displaced(plant.machine, q, step), zero), 0.0).q
    balance = rest.at(q)
    if not balance.is_equilibrium:
        raise _unbalanced(plant, balance)
    rest.check_still(q)  # rows such as rate(a) + 3*a are at rest at some configurations only
    return State(q, zero)


def _strides(plant: Plant) -> Array:
    """Sizes of the velocities; springs may give way by more than the machine's length."""
    scales = plant.scales
    is_length = np.array([c.unit.startswith("m") for c in plant.machine.velocities], dtype=bool)
    return np.where(is_length, max(scales.length, scales.sag), 1.0)


def _step(balance: Balance, far: Array) -> Array:
    """Newton's step T z, or a falling one where that goes far, or up, or where nothing resists."""
    T, K = balance.tangent, balance.reduced(balance.stiffness)
    r = T.T @ balance.unbalanced
    if not r.size or np.max(balance.pulls) <= EQUILIBRIUM_NOISE * balance.force_scale:
        return np.zeros(len(T))
    metric = balance.reduced(balance.mass)
    metric = metric + 1e-9 * max(float(np.trace(metric)) / len(r), 1e-300) * np.eye(len(r))
    lower = np.linalg.inv(np.linalg.cholesky(metric))
    U, sigma, Vt = np.linalg.svd(lower @ K @ lower.T)
    force = lower @ r
    firm = sigma > EQUILIBRIUM_SOFT * sigma.max()
    newton = T @ (lower.T @ (Vt[firm].T @ ((U.T @ force)[firm] / sigma[firm])))
    lost = np.linalg.solve(lower, U[:, ~firm] @ (U.T @ force)[~firm])
    K = lower @ (K + K.T) @ lower.T / 2
    is_stable = np.linalg.eigvalsh(K)[0] >= -EQUILIBRIUM_SOFT * sigma.max()
    limit = far if is_stable else np.minimum(UNSTABLE_NEAR * balance.sizes, far)
    is_lost = np.max(np.abs(T @ lost) / balance.sizes) > EQUILIBRIUM_LOST * balance.force_scale
    if (np.abs(newton) <= limit).all() and not is_lost:
        return np.asarray(newton)
    return _fall(T @ lower.T, K, force, far)


def _fall(motions: Array, stiffness: Array, force: Array, far: Array) -> Array:
    """Every mode of the stiffness goes the way of its force, no further than to its own balance."""
    values, vectors = np.linalg.eigh(stiffness)
    shapes, pull = motions @ vectors, vectors.T @ force
    reach = 1 / np.maximum((np.abs(shapes) / far[:, np.newaxis]).max(axis=0), 1e-300)
    with np.errstate(divide="ignore", invalid="ignore"):
        way = np.minimum(np.abs(pull / values), reach)
    step = np.asarray(shapes @ np.where(pull == 0, 0.0, np.sign(pull) * way))
    return step * min(1.0, 1 / max(float((np.abs(step) / far).max()), 1e-300))


def _held(plant: Plant, hold: Mapping[str, float]) -> Plant:
    """The plant with names held at values; its own start entries become guesses."""
    system, known = plant.system, {*plant.coordinates, *plant.machine.displacements}
    for name, value in hold.items():
        if name not in known:
            raise ModelError(f"hold: no coordinate or displacement {name!r}; {near(name, known)}")
        if not is_number(value):
            raise ModelError(f"hold.{name}: expected a finite number, got {shown(value)}.")
    rows = {f"row{i}": f"{name} - ({float(value)!r})" for i, (name, value) in enumerate(hold.items())}
    guess = {**dict(system.start.guess), **dict(system.start.hold), **hold}
    held = replace(system.add(Constraint(HELD, rows)), start=Start(guess=guess))
    return build(held, plant.method, Interpreted())


def _unbalanced(plant: Plant, balance: Balance) -> ConstraintError:
    K = balance.reduced(balance.stiffness)
    bare = balance.tangent.T @ balance.unbalanced  # along S⁻¹ T
    resists = np.linalg.norm(K @ bare) > EQUILIBRIUM_RESISTS * np.linalg.norm(K) * np.linalg.norm(bare)
    why = "the search from the start ended there" if resists else "nothing resists it"
    return ConstraintError(
        f"{plant.system.name}: no equilibrium found; unbalanced: {balance.worst(plant.velocities)} (N, N*m); {why}. "
        "Start nearer, hold= a coordinate, or give actuation=."
    )
