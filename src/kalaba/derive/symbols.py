"""The symbols of a machine's equations, with their names."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.space.symbolic_configuration import rate_map

if TYPE_CHECKING:
    from kalaba.model.machine import Machine


@dataclass(frozen=True)
class Symbols:
    """One symbol for every number that the equations depend on."""

    q: ca.SX  # configuration, (n_q,)
    v: ca.SX  # velocity, (n_v,)
    t: ca.SX  # time
    u: ca.SX  # actuation and held values of sampled forces, (n_u,)
    p: ca.SX  # parameters that are not structure, (n_p,)
    rate_map: ca.SX  # N(q) with q̇ = N v, (n_q, n_v)

    @property
    def q_dot(self) -> ca.SX:
        """q̇ = N(q) v."""
        return ca.mtimes(self.rate_map, self.v)

    def rate(self, value: ca.SX) -> ca.SX:
        """Total time derivative of an expression of q and t: ∂e/∂q · N v + ∂e/∂t."""
        return ca.jtimes(value, self.q, self.q_dot) + ca.jtimes(value, self.t, ca.SX(1))

    def gradient(self, value: ca.SX) -> ca.SX:
        """Derivative of an expression of q along the velocities: ∂e/∂q · N."""
        return ca.mtimes(ca.jacobian(value, self.q), self.rate_map)


def symbols(machine: Machine) -> Symbols:
    """Name the symbols of a machine by its dotted paths."""
    q = _named([c.name for c in machine.coordinates])
    positions = {c.name for c in machine.coordinates}
    v = _named([f"rate({c.name})" if c.name in positions else c.name for c in machine.velocities])
    held = [actuator.name for actuator in machine.actuators] + list(machine.sampled_inputs)
    p = _named([parameter.name for parameter in machine.free_parameters])
    return Symbols(q, v, ca.SX.sym("t"), _named(held), p, rate_map(machine, q, len(machine.velocities)))


def _named(names: list[str]) -> ca.SX:
    return ca.vertcat(*(ca.SX.sym(name) for name in names)) if names else ca.SX(0, 1)
