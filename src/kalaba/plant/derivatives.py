"""Derivatives of the motion along the constraints: what changes when a state moves and stays consistent.

A consistent change of state is δq = N d and δv = T w + S d. T spans the velocities that the rows allow, and S d is the
velocity that must go along with a displacement d so that the rows' rates stay zero, A S = −∂(φ̇)/∂q N. Rows at position
level allow displacements d = T z only; those at velocity level forbid none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.constrain.rows import IndependentRows
from kalaba.plant.assembly import weighted_step
from kalaba.plant.choice import keep_rows, rows_at
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant


class Derivatives(NamedTuple):
    """Derivatives of v̇ on the tangent space; independent of the choice of rows.

    Arguments:
        tangent: T, (n_v, freedoms): orthonormal, A T = 0
        following: S, (n_v, freedoms): velocity that goes along with a displacement T z
        by_q: (n_v, freedoms): by z
        by_v: (n_v, freedoms): by w
        by_force: (n_v, n_v): by a generalised force
    """

    tangent: Array
    following: Array
    by_q: Array
    by_v: Array
    by_force: Array


class Slopes(NamedTuple):
    """Derivatives of v̇ at one state, rows chosen there and frozen; displacements and velocities as yet unrelated."""

    rows: IndependentRows
    by_q: Array  # (n_v, n_v): by a displacement along each velocity
    by_v: Array  # (n_v, n_v)
    by_force: Array  # (n_v, n_v)
    rate_by_q: Array  # (rows, n_v): of the rows' rates, by a displacement
    following: Array  # S, (n_v, n_v): the least velocity, in the machine's sizes, that goes along with a displacement


def slopes(plant: Plant, inputs: Array) -> Slopes:
    """Differentiate the motion at packed inputs by automatic differentiation."""
    n = len(plant.velocities)
    inputs = inputs.copy()
    rows = rows_at(plant, inputs)
    keep_rows(plant, inputs, rows.mask)
    function = plant.interpreted("sensitivity")
    values = function(inputs)
    parts = {name: values[part] for name, part in function.outputs.items()}
    by_q, by_v, by_force = (parts[name].reshape((n, n), order="F") for name in ("by_q", "by_v", "by_force"))
    rates = parts["rate_by_q"].reshape((len(plant.constraints), n), order="F")
    A, sizes = rows.matrix[rows.kept], rows.sizes.some(rows.kept)
    least = np.diag(sizes.velocities**-2.0)
    following = [weighted_step(A, least, -column, sizes) for column in rates[rows.kept].T]
    return Slopes(rows, by_q, by_v, by_force, rates, np.reshape(following, (n, n)).T)


def derivatives(plant: Plant, inputs: Array) -> Derivatives:
    """Differentiate the motion at packed inputs along the motions that the rows allow there."""
    rows, by_q, by_v, by_force, _, following = slopes(plant, inputs)
    T = np.linalg.qr(rows.free_directions())[0]
    S = following @ T
    return Derivatives(T, S, by_q @ T + by_v @ S, by_v @ T, by_force)
