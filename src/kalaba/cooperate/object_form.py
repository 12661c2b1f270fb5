"""The equations of arms and objects in the objects' velocities as a paper writes them: H s̈ + τ_b = F, piece by piece.

With bodies i of the objects, arms i, and for each arm the twist J_i q̇_i by which it moves the centre of mass of its
body::

    ṡ_Ci = J_Ci ṡ        H_0i = diag(m, R I Rᵀ)        τ_b0i = (−m g, ω × R I Rᵀ ω)
    q̇_i = T_i ṡ          T_i = J_i⁻¹ J_Ci and H_i* = J_i⁻ᵀ H_i J_i⁻¹ where a weld holds and J_i is square
    H = Σ J_Ciᵀ H_0i J_Ci + Σ T_iᵀ H_i T_i        W = Σ T_iᵀ B_i        F = W τ
    τ_b = Σ J_Ciᵀ (τ_b0i + H_0i J̇_Ci ṡ) + Σ T_iᵀ (τ_bi + H_i γ_i)        q̈_i = T_i s̈ + γ_i

Springs, dampers, forces and drives within the objects stand in τ_b and W only. J with ṡ = J q̇ takes each body's twist
from the first arm that holds it by a weld, and rates of joints from the twists of the bodies that they join::

    ṗ = J_f⁺ (J_i q̇_i − J_C ṡ_known)        J_Ci = [J_C, J_f], the columns of ṡ that are known and those that are not

Reference: Sun et al., equations (2.10), (4.30), (4.32)-(4.39), (5.14)-(5.20).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import casadi as ca
import numpy as np

from kalaba.boundary import check_arguments
from kalaba.cooperate.equations import ObjectEquations, object_equations, object_maps
from kalaba.cooperate.grasp_forces import connection_of
from kalaba.derive.equations import Equations
from kalaba.derive.kane import body_velocities
from kalaba.joints import Weld
from kalaba.model.topology.groups import Groups
from kalaba.plant.arguments import own_state
from kalaba.printing.reading import operation_count
from kalaba.space.symbolic import cross, skew, solve

if TYPE_CHECKING:
    from kalaba.cooperate.object_space import ObjectSpace
    from kalaba.kinematics.objects.holding import Arm, Hold, Split
    from kalaba.plant.state import State
    from kalaba.space.arrays import Array

TWIST_SIZE = 6


class Piece(NamedTuple):
    """One matrix of the form.

    Arguments:
        letter: in LaTeX
        title: what it is
        value: the expression
        has_inverse: whether the inverse of an arm's rows is in it: quotients, which nobody multiplies out
    """

    letter: str
    title: str
    value: ca.SX
    has_inverse: bool = False


@dataclass(frozen=True)
class ObjectForm(Equations):
    """The equations of a machine, and the same in the velocities of its objects. Made by `object_form`.

    Arguments:
        method: how M and the bias of the trees are derived
        kinematics: the machine with the motion of its bodies as expressions
        split: who holds what
    """

    split: Split = field(repr=False)

    @cached_property
    def reduced(self) -> ObjectEquations:
        """H, τ_b, W, T and γ."""
        return object_equations(self, self.split)

    @cached_property
    def bodies(self) -> tuple[int, ...]:
        """Bodies of the objects: C_1, C_2, … in their order."""
        groups, objects = Groups(self.machine), set(self.split.objects)
        return tuple(i for tree in groups.trees if set(groups.velocities(tree)) & objects for i in sorted(tree))

    @cached_property
    def pieces(self) -> dict[str, Piece]:
        """All matrices by name: `J_C1`, `H_01`, `tau_b01` of bodies; `J_1`, `T_1`, `H_1`, `tau_b1`, `Hs_1` of arms.

        Then `J`, `H`, `tau_b` and `W` of all. `Hs_1` (H_1*) and `J` are there only where welds make them.
        """
        e = self.reduced
        pieces = self._of_bodies() | self._of_arms()
        if (J := self._speeds_from_arms()) is not None:
            pieces["J"] = Piece("J", "Velocities of the objects from the arms' rates: s' = J q'", J, has_inverse=True)
        return pieces | {
            "H": Piece("H", "Inertia of arms and objects", e.inertia, has_inverse=True),
            "tau_b": Piece(
                r"(\tau_{b})", "Coriolis, centrifugal, gravity and all other forces", e.bias, has_inverse=True
            ),
            "W": Piece("W", "Map of the motors: F = W tau", e.force_map, has_inverse=True),
        }

    def operation_counts(self) -> dict[str, int]:
        """Operations that each piece takes, common parts worked out once."""
        s = self.symbols
        inputs = ca.vertcat(s.q, s.v, s.t, s.u, s.p)
        return {name: operation_count(piece.value, inputs) for name, piece in self.pieces.items()}

    @cached_property
    def _object_map(self) -> ca.SX:
        """T of the objects alone, (n_v, d)."""
        return object_maps(self.kinematics, self.split)[0]

    @cached_property
    def _body_maps(self) -> dict[int, ca.SX]:
        """J_C of every body of the objects; with a body that floats all on it move as one, [1, −r×; 0, 1]."""
        velocities = ca.jacobian(body_velocities(self.kinematics), self.symbols.v)
        maps = {}
        for i in self.bodies:
            V = velocities[TWIST_SIZE * i : TWIST_SIZE * (i + 1), :]
            J = ca.mtimes(ca.vertcat(V[3:, :], V[:3, :]), self._object_map)
            root = self._root(i)
            if root in self.split.free:
                first = TWIST_SIZE * self.split.free.index(root)
                J[:, first : first + TWIST_SIZE] = ca.SX.eye(TWIST_SIZE)
                J[:3, first + 3 : first + TWIST_SIZE] = -skew(self._centre(i) - self._centre(root)) if i != root else 0
            maps[i] = ca.sparsify(J)
        return maps

    def _root(self, index: int) -> int:
        """The body on the world under a body."""
        parent = self.kinematics.body(index).parent
        return index if parent < 0 else self._root(parent)

    def _centre(self, index: int) -> ca.SX:
        """A body's centre of mass in the world."""
        body = self.kinematics.body(index)
        return body.world.position + ca.mtimes(body.world.rotation, body.com)

    def _of_bodies(self) -> dict[str, Piece]:
        pieces = {}
        for number, index in enumerate(self.bodies, 1):
            body, name = self.kinematics.body(index), self.machine.bodies[index].name
            pieces[f"J_C{number}"] = Piece(f"(J_{{C_{number}}})", f"Twist of {name} by s'", self._body_maps[index])
            if body.beam is not None:
                continue  # what a beam's mass does is in H
            inertia = ca.mtimes(body.world.rotation, ca.mtimes(body.inertia, body.world.rotation.T))
            w = ca.mtimes(self._body_maps[index][3:, :], ca.mtimes(self.reduced.speed_map, self.symbols.v))
            H = ca.diagcat(ca.SX.eye(3) * body.mass, inertia)
            load = ca.vertcat(-body.mass * self.kinematics.gravity, cross(w, ca.mtimes(inertia, w)))
            pieces[f"H_0{number}"] = Piece(f"(H_{{0{number}}})", f"Inertia of {name}", H)
            pieces[f"tau_b0{number}"] = Piece(rf"(\tau_{{b0{number}}})", f"Gravity and gyroscopic load of {name}", load)
        return pieces

    def _of_arms(self) -> dict[str, Piece]:
        pieces = {}
        M, load, T = self.mass_matrix, self.bias - self.applied_force, self.reduced.velocity_map
        for number, arm in enumerate(self.split.arms, 1):
            mine = sorted((*arm.follow, *arm.lead))
            for place, hold in enumerate(self._holds(arm)):
                more = "" if place == 0 else f"_{place + 1}"
                title = f"Twist of {arm.name} at the centre of {self.machine.bodies[hold.body].name} by its rates"
                pieces[f"J_{number}{more}"] = Piece(f"(J_{{{number}{more}}})", title, self._arm_map(arm, hold))
            H = M[mine, mine]
            pieces[f"T_{number}"] = Piece(
                f"(T_{{{number}}})", f"Rates of {arm.name} by s'", T[mine, :], has_inverse=True
            )
            pieces[f"H_{number}"] = Piece(f"(H_{{{number}}})", f"Inertia of {arm.name}", H)
            pieces[f"tau_b{number}"] = Piece(rf"(\tau_{{b{number}}})", f"Load of {arm.name} in itself", load[mine])
            if self._is_paper_arm(arm):
                inverse = solve(ca.densify(pieces[f"J_{number}"].value), ca.SX.eye(TWIST_SIZE))
                pieces[f"Hs_{number}"] = Piece(
                    f"(H_{{{number}}}^{{*}})",
                    f"Inertia of {arm.name} at the centre of its body",
                    ca.mtimes(inverse.T, ca.mtimes(H, inverse)),
                    has_inverse=True,
                )
        return pieces

    def _holds(self, arm: Arm) -> tuple[Hold, ...]:
        return tuple(hold for hold in self.split.holds if hold.arm == arm.name)

    def _is_weld(self, hold: Hold) -> bool:
        return connection_of(self.machine, hold).joint.kind == Weld.__name__

    def _is_paper_arm(self, arm: Arm) -> bool:
        """Whether an arm has six rates and one grasp, a weld."""
        holds = self._holds(arm)
        return len(holds) == 1 and self._is_weld(holds[0]) and len(arm.follow) == TWIST_SIZE and not arm.lead

    def _arm_map(self, arm: Arm, hold: Hold) -> ca.SX:
        """J_i: the arm's twist at the centre of mass of the body that it holds."""
        J = self.jacobian(hold.arm_frame)[:, sorted((*arm.follow, *arm.lead))]
        shift = self._centre(hold.body) - self.kinematics.frame(hold.arm_frame).position
        return ca.vertcat(J[:3, :] - ca.mtimes(skew(shift), J[3:, :]), J[3:, :])

    def _speeds_from_arms(self) -> ca.SX | None:
        """J with ṡ = J q̇, (d, rates of all arms); None where a rate does not follow from welds, body after body."""
        columns = [j for arm in self.split.arms for j in sorted((*arm.follow, *arm.lead))]
        d, objects = self.reduced.bias.shape[0], len(self.split.objects)
        J, known = ca.SX(d, len(columns)), set(range(objects, d))
        for place, j in enumerate(j for arm in self.split.arms for j in arm.lead):
            J[objects + place, columns.index(j)] = 1
        for index in self.bodies:
            body_map = self._body_maps[index]
            wanted = [c for c in range(objects) if c not in known and body_map[:, c].nnz()]
            hold = next((h for h in self.split.holds if h.body == index and self._is_weld(h)), None)
            if not wanted or hold is None or len(wanted) > TWIST_SIZE:
                continue  # a later body may tell
            arm = next(one for one in self.split.arms if one.name == hold.arm)
            twist = ca.SX(TWIST_SIZE, len(columns))
            twist[:, [columns.index(j) for j in sorted((*arm.follow, *arm.lead))]] = self._arm_map(arm, hold)
            ready = sorted(known & set(range(objects)))
            rest = twist - ca.mtimes(body_map[:, ready], J[ready, :]) if ready else twist
            J[wanted, :] = _left_inverse(ca.densify(body_map[:, wanted]), rest)
            known |= set(wanted)
        return ca.sparsify(J) if len(known) == d else None


def _left_inverse(matrix: ca.SX, rhs: ca.SX) -> ca.SX:
    """J_f⁺ R = (J_fᵀ J_f)⁻¹ J_fᵀ R; where J_f is the identity, R itself."""
    if ca.sparsify(matrix).is_eye():
        return rhs
    return solve(ca.mtimes(matrix.T, matrix), ca.mtimes(matrix.T, rhs))


def object_form(space: ObjectSpace) -> ObjectForm:
    """The equations of arms and objects with all pieces as expressions, for print and export.

    Arguments:
        space: the machine in the velocities of its objects, made by `kb.object_space`
    """
    check_arguments(object_form, locals())
    equations = space.plant.equations
    return ObjectForm(equations.method, equations.kinematics, space.split)


def pieces_at(space: ObjectSpace, state: State, t: float = 0.0) -> dict[str, Array]:
    """All pieces in numbers, by the names of `object_form(space).pieces`.

    Arguments:
        space: the machine in the velocities of its objects
        state: q and v, closed and consistent
        t: time, s
    """
    check_arguments(pieces_at, locals())
    state = own_state(space.plant.machine, state)
    form = object_form(space)
    s, plant = form.symbols, space.plant
    values = [ca.densify(piece.value) for piece in form.pieces.values()]
    efforts = np.zeros(s.u.shape[0])  # forces that a run samples count as zero
    numbers = ca.Function("pieces", [s.q, s.v, s.t, s.u, s.p], values)(*state, t, efforts, plant.parameters)
    return dict(zip(form.pieces, (np.array(number) for number in numbers), strict=True))
