"""Places: where every frame of a machine and every seat of its joints is, from one compiled function of q."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.constrain.kernels.functions import expressions
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    import casadi as ca

    from kalaba.derive.equations import Equations
    from kalaba.plant.plant import Plant


class Placed(NamedTuple):
    """Poses in the world; further axes in front are those of the configurations."""

    positions: Array  # (..., S, 3)
    rotations: Array  # (..., S, 3, 3): columns are the axes

    def of(self, indices: NDArray[np.intp]) -> Placed:
        """Some of the poses."""
        return Placed(self.positions[..., indices, :], self.rotations[..., indices, :, :])

    def local(self, body: int, place: int) -> tuple[Array, Array]:
        """Position and rotation of one place seen from another."""
        axes = self.rotations[body]
        return axes.T @ (self.positions[place] - self.positions[body]), axes.T @ self.rotations[place]


def seat(name: str) -> str:
    """What the seat of a body's joint, or of a connection, is called among the places."""
    return f"seat of {name}"


@dataclass(frozen=True)
class Places:
    """The frames and seats of a plant by name."""

    plant: Plant

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Frames as the machine has them, then the seats of bodies and of connections."""
        machine = self.plant.machine
        bodies = tuple(seat(body.name) for body in machine.bodies)
        return (*machine.frames, *bodies, *(seat(c.name) for c in machine.connections))

    @cached_property
    def index(self) -> dict[str, int]:
        """Where a name stands."""
        return {name: i for i, name in enumerate(self.names)}

    def at(self, q: ArrayLike) -> Placed:
        """Poses of all places at one configuration (n_q,), or at many (N, n_q)."""
        configurations = np.asarray(q, dtype=float)
        packed = self.plant.layout.pack_each(np.atleast_2d(configurations))
        function = self.plant.function("places", lambda e: expressions(e, _poses))
        poses = function.each(packed).reshape(*configurations.shape[:-1], len(self.names), 4, 3)
        return Placed(poses[..., 0, :], np.swapaxes(poses[..., 1:, :], -1, -2))


def _poses(equations: Equations) -> list[ca.SX]:
    """Position and rotation, column by column, of every place."""
    import casadi as ca

    k, machine = equations.kinematics, equations.machine
    poses = [k.frame(name) for name in machine.frames]
    poses += [k.frame(body.parent).then(k.pose(body.at)) for body in machine.bodies]
    poses += [k.frame(c.parent).then(k.pose(c.at)) for c in machine.connections]  # type: ignore[arg-type]
    return [ca.vertcat(pose.position, ca.vec(ca.densify(pose.rotation))) for pose in poses]
