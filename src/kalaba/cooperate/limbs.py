"""Carry limb by limb: what arms that are alike contribute is traced once.

z holds the velocities of the objects (o) and those that lead in the arms of a share (l). Each arm follows them,
v = T z, v̇ = T ż + γ, so the torques that ż takes of a share, and the map of its motors, are::

    F = Tᵀ (M (T ż + γ) + bias − applied)        W = Tᵀ B        V = D⁻¹ Wᵀ

The least ½ τᵀ D τ over all arms has τ = V ν with one ν for the objects, and one for the rates that lead in each arm,
which the arm eliminates itself::

    limb    y = V_l (W_l V_l)⁻¹ F_l        Y = V_o − V_l (W_l V_l)⁻¹ W_l V_o
    hub     (Σ W_o Y) ν = Σ (F_o − W_o y)
    limb    τ = y + Y ν

This is `least_squares` of the whole machine in another order, and in velocities of the plant instead of those of
centres of mass, which changes ν but not τ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.constrain.elimination import entries, factorise, stack
from kalaba.constrain.kernels.limb_solve import lower, symmetric
from kalaba.cooperate.equations import follow, object_maps
from kalaba.kinematics.objects.holding import Arm, Split

if TYPE_CHECKING:
    from kalaba.constrain.kernels.laws import LawShare
    from kalaba.constrain.kernels.limb_solve import Named
    from kalaba.derive.kinematics import Kinematics
    from kalaba.model.topology.partition import Partition, Share


@dataclass(frozen=True)
class LimbCarry:
    """The law of Carry in limb form."""

    split: Split
    weights: dict[int, float]  # the diagonal of D, by motor that shares
    acceleration: Callable[[Kinematics, ca.SX, ca.SX], ca.SX]  # s̈ from ṡ and the law's numbers

    def fits(self, partition: Partition) -> bool:
        """Whether all objects are in the hub."""
        return set(self.split.objects) <= set(partition.hub.v)

    def pattern(self, share: Share) -> Hashable:
        """The arms of a limb and the motors that share, by their places."""
        return self._arms(share, share.own_v), self._motors(share)

    def _arms(self, share: Share, own_v: Iterable[int]) -> tuple[Arm, ...]:
        """The arms whose velocities are a share's own; rows and velocities by their places in the share."""
        v, rows = ({index: i for i, index in enumerate(indices)} for indices in (share.v, share.rows))
        velocities = {share.v[j] for j in own_v}
        return tuple(
            Arm("", _placed(arm.rows, rows), _placed(arm.follow, v), _placed(arm.lead, v))
            for arm in self.split.arms
            if {*arm.follow, *arm.lead} <= velocities
        )

    def _motors(self, share: Share) -> tuple[int, ...]:
        """The motors of a share that drive arms, by their places."""
        return tuple(i for i, motor in enumerate(share.u) if motor in self.weights)

    @property
    def _leading(self) -> list[int]:
        """The velocities z of the whole machine."""
        return [*self.split.objects, *(j for arm in self.split.arms for j in arm.lead)]

    def shared(self, kinematics: Kinematics, numbers: ca.SX) -> Named:
        """The accelerations ż of the objects and of all rates that lead: T₀ s̈ + γ₀."""
        T, gamma, S = object_maps(kinematics, self.split)
        wanted = self.acceleration(kinematics, ca.mtimes(S, kinematics.symbols.v), numbers)
        return {"acceleration": ca.densify((ca.mtimes(T, wanted) + gamma)[self._leading])}

    def up(self, limb: LawShare) -> tuple[Named, Named]:
        """Y and y; Σ W_o Y and Σ (F_o − W_o y)."""
        F, W, V = self._required(limb)
        n = len(self.split.objects)
        W_o, W_l, Y, V_l = W[:n, :], W[n:, :], V[:, :n], V[:, n:]
        if not W_l.shape[0]:
            return {"Y": Y}, {"matrix": lower(ca.mtimes(W_o, Y)), "force": F[:n]}
        factor = factorise(ca.mtimes(W_l, V_l))
        y = ca.mtimes(V_l, stack(factor.solve(entries(F[n:]))))
        across = ca.mtimes(W_l, Y)
        Y = Y - ca.mtimes(V_l, ca.horzcat(*(stack(factor.solve(entries(across[:, j]))) for j in range(n))))
        return {"Y": Y, "y": y}, {"matrix": lower(ca.mtimes(W_o, Y)), "force": F[:n] - ca.mtimes(W_o, y)}

    def across(self, hub: LawShare, sums: Named) -> tuple[list[ca.SX], Named]:
        """Torques of the arms that are in the hub, and ν of the objects."""
        F, W, V = self._required(hub)
        n = len(self.split.objects)
        G = ca.densify(ca.mtimes(W, V))
        G[:n, :n] += symmetric(sums["matrix"], n)
        F[:n] += sums["force"]
        solution = stack(factorise(G).solve(entries(F)))
        return self._efforts(hub, ca.mtimes(V, solution)), {"solution": solution[:n]}

    def down(self, limb: LawShare, kept: Named, solved: Named) -> list[ca.SX]:
        """Torques of an arm."""
        torques = ca.mtimes(kept["Y"], solved["solution"])
        return self._efforts(limb, torques + kept["y"] if "y" in kept else torques)

    def _required(self, part: LawShare) -> tuple[ca.SX, ca.SX, ca.SX]:
        """F, W and V of a share."""
        share, first = part.share, part.share.shares[0]
        arms, motors, tree = self._arms(first, share.own_v), self._motors(first), share.tree
        z = [*(first.v.index(j) for j in self.split.objects), *(j for arm in arms for j in arm.lead)]
        T, gamma = ca.SX(len(first.v), len(z)), ca.SX(len(first.v), 1)
        for column, j in enumerate(z):
            T[j, column] = 1
        follow(share.equations, arms, T, gamma)
        T, gamma = T[share.own_v, :], gamma[share.own_v]
        leading = self._leading
        wanted = part.read("acceleration", [[leading.index(one.v[j]) for j in z] for one in share.shares])
        M, load, B = share.translated([tree.mass_matrix, tree.bias - tree.applied_force, tree.actuation_map])
        F = ca.mtimes(T.T, ca.mtimes(M, ca.mtimes(T, wanted) + gamma) + load)
        W = ca.densify(ca.mtimes(T.T, B[:, list(motors)]))
        D = part.constants([[self.weights[one.u[i]] for i in motors] for one in share.shares])
        return ca.densify(F), W, W.T / stack(D)

    def _efforts(self, part: LawShare, torques: ca.SX) -> list[ca.SX]:
        """Torques of the motors that share, and zero for the others."""
        share = part.share.shares[0]
        values = dict(zip(self._motors(share), entries(torques), strict=True))
        return [values.get(i, ca.SX(0)) for i in range(len(share.machine.actuators))]


def _placed(indices: Iterable[int], places: dict[int, int]) -> tuple[int, ...]:
    return tuple(places[index] for index in indices)
