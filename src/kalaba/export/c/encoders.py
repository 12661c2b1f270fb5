"""The state of a machine from what its encoders read: Gauss-Newton steps in which the rows hold exactly.

With e(q) what the encoders should read, J = ∂e/∂q N, and A the structural rows that are kept, a step Δ is::

    minimise |e* − e − J Δ|²   with   A Δ = −φ,       q ← q ⊕ Δ

so that more encoders than freedoms share their errors by least squares. JᵀJ alone is singular; with w AᵀA added, which
changes nothing where A Δ is given, it has a factor L D Lᵀ if rows and encoders see every motion. The change of v
follows from the same system with the encoders' rates and φ̇; repeated at a q that stays, it takes away rounding.

What neither rows nor encoders see is held as it was at the start, modes of beams first, if the law does not read it:
it takes part in J with readings that do not change. Where rows and encoders at position level leave motions that only
rolling determines, the rows at velocity level take part as A Δ = 0: nothing slips between two samples.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.elimination import Elimination, eliminate, stack
from kalaba.constrain.solvers import mass_weight
from kalaba.errors import ControlError
from kalaba.model.units import unit_of
from kalaba.plant.laws import read
from kalaba.space.arrays import Array
from kalaba.space.symbolic_configuration import unit
from kalaba.tolerances import ENCODER_UNSEEN, PART_SHOWN

if TYPE_CHECKING:
    from kalaba.model.text.expressions import Expression
    from kalaba.plant.plant import Plant

STIFF = 1e4  # a mode of a beam is held rather than a joint


@dataclass(frozen=True)
class Encoders:
    """The encoders of a machine, and how its state follows from them."""

    plant: Plant
    names: tuple[str, ...]
    readings: tuple[Expression, ...]
    held: tuple[int, ...] = ()  # velocities that nothing tells, kept at zero

    @property
    def remarks(self) -> tuple[str, ...]:
        """What each one reads, and its unit."""
        machine = self.plant.machine
        return tuple(f"{reading.canonical}, {unit_of(machine, reading)}".rstrip(", ") for reading in self.readings)

    @cached_property
    def values(self) -> ca.SX:
        """e(q)."""
        k = self.plant.equations.kinematics
        return stack([k.value(reading) for reading in self.readings])

    @cached_property
    def matrix(self) -> ca.SX:
        """J, with a row for each velocity that is held."""
        s = self.plant.equations.symbols
        fixed = ca.SX.eye(s.v.shape[0])[list(self.held), :]
        return ca.densify(ca.vertcat(s.gradient(self.values), fixed))

    @cached_property
    def kept(self) -> Array:
        """The independent rows, 1 or 0, at position and at velocity level."""
        return (self.plant.choice.mask > 0).astype(float)

    @cached_property
    def at_start(self) -> tuple[Array, Array]:
        """A of the rows that are kept, the others zero, and J at the start, with what is held."""
        s, state = self.plant.equations.symbols, self.plant.start
        A = self.plant.constraint(*state)[0] * self.kept[:, None]
        J = ca.Function("J", [s.q, s.p], [self.matrix])(state.q, self.plant.parameters)
        return A, np.array(J).reshape(self.matrix.shape)

    @cached_property
    def needs_rolling(self) -> bool:
        """Whether part of q follows from rows at velocity level only."""
        A, J = self.at_start
        position = ~np.array(self.plant.machine.is_velocity_level, dtype=bool)
        return len(_unseen(np.vstack([A[position], J]))) > 0

    def holding(self, law: ca.Function) -> Encoders:
        """The same with all held that nothing sees; refuses a law that reads it."""
        unseen = _unseen(np.vstack(self.at_start))
        weight = np.abs(unseen).max(axis=0, initial=0.0)
        if (weight[self._read_by(law)] > ENCODER_UNSEEN).any():
            raise self._blind(weight)
        held: list[int] = []
        for _ in range(len(unseen)):
            held.append(int((np.linalg.norm(unseen, axis=0) * self._stiffness).argmax()))
            direction = unseen[:, held[-1]] / np.linalg.norm(unseen[:, held[-1]])
            unseen = unseen - np.outer(direction, direction @ unseen)
        return replace(self, held=tuple(sorted(held)))

    @property
    def _stiffness(self) -> Array:
        """Order in which velocities are held, the largest first: links are taken as rigid before joints as stuck."""
        stiffness = np.ones(len(self.plant.velocities))
        for body in self.plant.machine.bodies:
            stiffness[body.modes_in_v] = STIFF
        return stiffness

    def _read_by(self, law: ca.Function) -> list[int]:
        """The velocities that a law of (t, q, v, p) reads, or the coordinates of."""
        places, speeds = (set(law.jac_sparsity(0, law.index_in(name)).get_col()) for name in ("q", "v"))
        machine = self.plant.machine
        turned = [
            column + i for row, column in machine.quaternions for i in range(3) if places & set(range(row, row + 4))
        ]
        return sorted({*speeds, *turned, *(column for row, column in machine.scalar_pairs if row in places)})

    def _blind(self, weight: Array) -> ControlError:
        plant = self.plant
        seen = [n for n, w in zip(plant.velocities, weight, strict=True) if w > PART_SHOWN * weight.max()]
        shown = ", ".join(seen[:6]) + (", ..." if len(seen) > 6 else "")
        count = f"{len(self.names)} encoder{'' if len(self.names) == 1 else 's'}"
        return ControlError(
            f"{plant.system.name}: {count} of the motors and the rows do not tell how {shown} move, and the law reads "
            "them. Name displacements that do, encoders=(...), or export the motion."
        )

    @cached_property
    def _arguments(self) -> dict[str, ca.SX]:
        """The arguments of a step, by name."""
        s, k = self.plant.equations.symbols, len(self.names)
        read = {"encoders": ca.SX.sym("encoders", k), "rates": ca.SX.sym("rates", k)}
        return {"t": s.t, "q": s.q, "v": s.v, **read, "p": s.p}

    def solve(self) -> ca.Function:
        """One step of q and of v to what the encoders and their rates read: q_next, v_next; what was open before."""
        s, rows = self.plant.equations.symbols, self.plant.equations.rows
        moving, kept = np.array(rows.is_velocity_level, dtype=bool), self.kept > 0
        placed = kept if self.needs_rolling else kept & ~moving
        missing, fixed = self._arguments["encoders"] - self.values, ca.SX.zeros(len(self.held))
        slower = ca.vertcat(self._arguments["rates"], fixed) - ca.mtimes(self.matrix, s.v)
        open_rows = [ca.SX(0) if moving[i] else rows.value[i] for i in range(len(kept))]
        parts = self._parts(placed)
        step = self._step(parts, stack([open_rows[i] for i in np.flatnonzero(placed)]), ca.vertcat(missing, fixed))
        both = parts if (placed == kept).all() else self._parts(kept)
        change = self._step(both, stack([rows.rate[i] for i in np.flatnonzero(kept)]), slower)
        outputs = {
            "q_next": unit(self.plant.machine.quaternions, s.q + ca.mtimes(s.rate_map, step)),
            "v_next": s.v + change,
            "row_gaps": stack([open_rows[i] for i in np.flatnonzero(~moving)]),
            "encoder_gaps": missing,
        }
        held = s.u
        settled = ca.substitute(list(outputs.values()), [held], [ca.SX.zeros(held.shape[0])])
        results = [ca.densify(value) for value in ca.cse(settled)]
        return ca.Function("solve", list(self._arguments.values()), results, list(self._arguments), list(outputs))

    def move(self) -> ca.Function:
        """The configuration a displacement farther: q_next."""
        s = self.plant.equations.symbols
        step = ca.SX.sym("step", s.v.shape[0])
        moved = unit(self.plant.machine.quaternions, s.q + ca.mtimes(s.rate_map, step))
        return ca.Function("move", [s.q, step], [ca.densify(moved)], ["q", "step"], ["q_next"])

    def _parts(self, chosen: NDArray[np.bool_]) -> _Normal:
        """The factors for the rows chosen."""
        matrix, J = self.at_start
        w = mass_weight(J.T @ J, matrix)
        A = ca.densify(self.plant.equations.constraint_matrix[np.flatnonzero(chosen).tolist(), :])
        metric = ca.mtimes(self.matrix.T, self.matrix) + w * ca.mtimes(A.T, A)
        return _Normal(A, w, eliminate(metric, A, ca.SX.ones(A.shape[0])))

    def _step(self, normal: _Normal, gaps: ca.SX, wanted: ca.SX) -> ca.SX:
        """The Δ of least |wanted − J Δ|² with A Δ = −gaps."""
        driven = ca.mtimes(self.matrix.T, wanted) - normal.weight * ca.mtimes(normal.matrix.T, gaps)
        return normal.parts.solve(driven, -gaps)[0]


@dataclass(frozen=True)
class _Normal:
    """JᵀJ + w AᵀA and A, factored."""

    matrix: ca.SX
    weight: float
    parts: Elimination


def _unseen(rows: Array) -> Array:
    """Directions that no row sees."""
    lengths = np.linalg.norm(rows, axis=1)
    rows = rows[lengths > 0] / lengths[lengths > 0, None]
    if not len(rows):
        return np.eye(rows.shape[1])
    _, sizes, directions = np.linalg.svd(rows)
    rank = int(np.sum(sizes > ENCODER_UNSEEN * sizes[0]))
    return np.asarray(directions[rank:])


def encoders_of(plant: Plant, further: tuple[str, ...] = ()) -> Encoders:
    """The displacements of all motors, then further expressions; thrusters have none."""
    motors = list(plant.machine.motor_displacements.items())
    more = [(text, read(plant, text, f"encoder {text}")) for text in further]
    for text, expression in more:
        if expression.has_rate:
            raise ControlError(f"encoder {text}: expected an expression of coordinates, got one with rates.")
    both = [*motors, *more]
    return Encoders(plant, tuple(name for name, _ in both), tuple(expression for _, expression in both))
