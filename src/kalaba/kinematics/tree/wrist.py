"""Three hinges whose axes meet in a point: the turns that give a rotation.

With the unit axes a, b, c of the chain at zero, R = R(a, α) R(b, β) R(c, γ)::

    a·R c = a·R(b, β) c                      linear in cos β and sin β: two β
    R(a, α) R(b, β) c = R c                  α
    R(c, γ) = R(b, β)ᵀ R(a, α)ᵀ R            γ

The axes need not be at right angles; then some rotations cannot be reached. Where R c lies along a, only α ± γ counts
and α is left at zero.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalaba.kinematics.tree.hinges import angle_about, turned
from kalaba.kinematics.tree.trigonometric import angles_of

Array = NDArray[np.float64]
ALONG = 1e-7  # sine of the angle between two axes that count as one: what the rounding of β leaves


def turns_of(directions: Array, rotation: Array) -> list[Array]:
    """The two triples of angles; seeds where the rotation is at the edge of what can be reached or beyond it."""
    a, b, c = directions
    goal = rotation @ c
    across = c - (b @ c) * b  # R(b, β) c = (b·c) b + cos β (c − (b·c) b) + sin β b × c
    middles = angles_of(float(a @ across), float(a @ np.cross(b, c)), float(a @ goal - (a @ b) * (b @ c)))
    found = []
    for middle in middles:
        tilted = turned(b, middle)
        is_along = np.linalg.norm(np.cross(a, goal)) < ALONG
        first = 0.0 if is_along else angle_about(a, tilted @ c, goal)
        rest = tilted.T @ turned(a, first).T @ rotation
        found.append(np.array([first, middle, angle_about(c, b - (b @ c) * c, rest @ (b - (b @ c) * c))]))
    return found
