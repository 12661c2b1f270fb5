"""Derivatives of the motion along the constraints: what changes when a state moves and stays consistent.

A consistent change of state is δq = N T z and δv = T w + S z: T spans the motions that the rows allow, and S z is the
velocity that must go along with a displacement so that the rows' rates stay zero, A S = −∂(φ̇)/∂q N T.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

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


def derivatives(plant: Plant, inputs: Array) -> Derivatives:
    """Differentiate the motion at packed inputs by automatic differentiation, rows chosen there and frozen."""
    n = len(plant.velocities)
    inputs = inputs.copy()
    rows = rows_at(plant, inputs)
    keep_rows(plant, inputs, rows.mask)
    function = plant.interpreted("sensitivity")
    slopes = {name: function(inputs)[part] for name, part in function.outputs.items()}
    by_q, by_v, by_force = (slopes[name].reshape((n, n), order="F") for name in ("by_q", "by_v", "by_force"))
    T = rows.free_directions()
    rates = (slopes["rate_by_q"].reshape((len(plant.constraints), n), order="F") @ T)[rows.kept]
    A = rows.matrix[rows.kept]
    S = np.column_stack([weighted_step(A, np.eye(n), -column) for column in rates.T] or [np.zeros((n, 0))])
    return Derivatives(T, S, by_q @ T + by_v @ S, by_v @ T, by_force)
