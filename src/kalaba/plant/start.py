"""The start of a Plant: from hold, guess and speed to a consistent state, or from a state that is taken over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.constrain.rows import Sizes
from kalaba.errors import AssemblyError, ConstraintError
from kalaba.model.machine import MachineConnection
from kalaba.model.text.expressions import Values, evaluate
from kalaba.model.units import row_units
from kalaba.plant.arguments import checked, own_state
from kalaba.plant.assembly import TRIES, Assembled, assemble, weighted_step, without_turns
from kalaba.plant.guess import Placed, entry_number, entry_pose, first_guess
from kalaba.plant.readings import FrameReading, ScalarReadings
from kalaba.plant.reference import project_state
from kalaba.plant.state import State
from kalaba.space.arrays import Array
from kalaba.space.configuration import difference, retract
from kalaba.space.number import is_number
from kalaba.space.pose import Pose
from kalaba.space.rotations import rotation_of, rotation_vector
from kalaba.tolerances import (
    FALSE_ROOT_CLOSED,
    GUESS_MET,
    IMPACT_ROUNDING,
    IMPACT_SLIP,
    START_SPEED_EXACT,
    START_SPEED_MET,
)

if TYPE_CHECKING:
    from kalaba.model.machine import MachineConstraint
    from kalaba.model.parts import Start
    from kalaba.plant.plant import Plant

Targets = tuple[tuple[str, "Placed | float"], ...]  # what names are held at: a number, or the pose of a frame
SPEED_STEPS = 30
STIFF = 1e8  # factor on the mass of a beam's modes in the metric of an assembly: joints turn before links bend
SPEED_TRIES = 6


@dataclass(frozen=True)
class Closing:
    """The assembly problem of a plant: its rows at position level, and what is held."""

    plant: Plant
    held: Targets
    fixed: NDArray[np.bool_]  # velocities of the coordinates that are held as they are

    @property
    def sizes(self) -> Sizes:
        """Of the rows at position level, then of what is held."""
        plant = self.plant
        position = ~np.array(plant.machine.is_velocity_level, dtype=bool)
        return Sizes(np.concatenate([plant.scales.rows[position], self.held_sizes]), plant.scales.ways)

    @property
    def held_sizes(self) -> Array:
        """Of the gaps of the held names: the machine's reach for metres, 1 for angles."""
        return held_sizes(self.plant, tuple((key, isinstance(target, tuple)) for key, target in self.held))

    def size(self, q: Array) -> float:
        """How large a configuration is in the machine's sizes, at least 1."""
        return float(np.max(np.abs(q) / self.plant.scales.places, initial=1.0))

    def evaluate(self, q: Array) -> tuple[Array, Array, Array]:
        """Residual, matrix and metric."""
        plant, n = self.plant, len(self.plant.velocities)
        inputs = plant.inputs(q)
        at = plant.evaluate("system_matrices", inputs)
        position = ~np.array(plant.machine.is_velocity_level, dtype=bool)
        gaps, rows = self.held_rows(inputs)
        value, matrix = at["value"], at["matrix"].reshape((len(position), n), order="F")
        if names := plant.machine.wound_rows:
            value, matrix = value.copy(), matrix.copy()
            wound, places = plant.interpreted("wound"), [plant.constraints.index(name) for name in names]
            nearest = wound(inputs)
            value[places] = nearest[wound.outputs["value"]]
            matrix[places] = nearest[wound.outputs["matrix"]].reshape((len(places), n), order="F")
        return np.concatenate([value[position], gaps]), *self.without_fixed(
            np.vstack([matrix[position], rows]), self.metric(at["mass"].reshape((n, n), order="F"))
        )

    def metric(self, mass: Array) -> Array:
        """M, the modes of beams weighed as stiff: joints turn before links bend."""
        mass = mass.copy()
        for body in self.plant.machine.bodies:
            mass[np.ix_(body.modes_in_v, body.modes_in_v)] *= STIFF
        return mass

    def held_rows(self, inputs: Array) -> tuple[Array, Array]:
        """Gaps of the held names and their matrix."""
        n = len(self.plant.velocities)
        readings = zip(self.held, self.readings(inputs), strict=True)
        pairs = [_held_rows(reading, target, n) for (_, target), reading in readings]
        gaps = np.concatenate([np.zeros(0), *(gap for _, gap in pairs)])
        return gaps, np.vstack([np.zeros((0, n)), *(row for row, _ in pairs)])

    def without_fixed(self, matrix: Array, mass: Array) -> tuple[Array, Array]:
        """Matrix and metric in which the fixed coordinates take no part."""
        matrix, mass = matrix.copy(), mass.copy()
        matrix[:, self.fixed] = 0.0
        mass[self.fixed, :], mass[:, self.fixed] = 0.0, 0.0
        mass[self.fixed, self.fixed] = self._usual_inertia(mass) * self.plant.scales.ways[self.fixed] ** -2
        return matrix, mass

    def _usual_inertia(self, mass: Array) -> float:
        """The largest inertia in the machine's sizes, kg·m²; 1 where there is none."""
        return float(np.max(np.diag(mass) * self.plant.scales.ways**2, initial=0.0)) or 1.0

    def readings(self, inputs: Array) -> list[Array]:
        """What the held names read."""
        return self.plant.watch(tuple(name for name, _ in self.held), inputs)

    def retract(self, q: Array, step: Array) -> Array:
        """Move along a step; what is fixed stays."""
        return retract(self.plant.machine, q, np.where(self.fixed, 0.0, step))

    def difference(self, q: Array, origin: Array) -> Array:
        """The step from one configuration to another."""
        return difference(self.plant.machine, q, origin, len(self.plant.velocities))

    def whole_turns(self, q: Array, origin: Array) -> Array:
        """Whole turns by which angles are away from an origin, as a step of multiples of 2π."""
        turns = np.zeros(len(self.plant.velocities))
        for i, j in self.plant.machine.scalar_pairs:
            if self.plant.machine.coordinates[i].unit == "rad" and not self.fixed[j]:
                turns[j] = 2 * np.pi * np.round((q[i] - origin[i]) / (2 * np.pi))
        return turns

    def flipped(self, q: Array) -> bool:
        """Tell whether a connection sits at its false root."""
        return bool(np.any(self.plant.evaluate("alignments", self.plant.inputs(q))["cosines"] < 0))


def held_sizes(plant: Plant, names: tuple[tuple[str, bool], ...], length: float | None = None) -> Array:
    """Sizes of numbers that are held, by their units, and of frames, which have six: of a pose, or of a twist."""
    length = plant.scales.reach if length is None else length
    units = {c.name: c.unit for c in plant.machine.coordinates}
    units |= {name: displacement.unit for name, displacement in plant.machine.displacements.items()}
    pose = np.array([length] * 3 + [1.0] * 3)
    each = [pose if is_frame else np.array([length if units[key] == "m" else 1.0]) for key, is_frame in names]
    return np.concatenate([np.zeros(0), *each])


def closing(plant: Plant) -> Closing:
    """The assembly problem of a plant with nothing held: how its configuration moves, and whether it is flipped."""
    return Closing(plant, (), np.zeros(len(plant.velocities), dtype=bool))


def _held_rows(reading: Array, target: Placed | float, n: int) -> tuple[Array, Array]:
    """Matrix and residual of a held scalar or frame."""
    if not isinstance(target, tuple):
        scalar = ScalarReadings.of([reading], n)
        return scalar.gradients, scalar.values - target
    frame = FrameReading.of(reading)
    turned = rotation_vector(frame.rotation @ rotation_of(target[1]).T)
    return frame.jacobian, np.concatenate([frame.position - target[0], turned])


def _targets(plant: Plant, entries: tuple[tuple[str, Any], ...]) -> Targets:
    machine = plant.machine
    scalars = {*plant.coordinates, *machine.displacements}
    return tuple(
        (key, entry_number(key, value) if key in scalars else entry_pose(plant, key, value)) for key, value in entries
    )


def find_start(plant: Plant) -> State:
    """Assemble configuration and velocity at t = 0."""
    assembled, problem = find_configuration(plant, plant.machine.start)
    if not assembled.is_closed:
        raise _cannot_close(plant, assembled, problem)
    return State(assembled.q, _start_speed(plant, assembled.q))


def find_configuration(plant: Plant, start: Start, tries: int = TRIES) -> tuple[Assembled, Closing]:
    """Assemble the configuration of a start, which need not be the machine's own, whether it closes or not."""
    guess = first_guess(plant, start)
    columns = dict(plant.machine.scalar_pairs)
    fixed = np.zeros(len(plant.velocities), dtype=bool)
    by_rows = []
    for key, value in start.hold:
        index = plant.coordinates.index(key) if key in plant.coordinates else -1
        if index in columns:
            fixed[columns[index]] = True
        else:
            by_rows.append((key, value))
    problem = Closing(plant, _targets(plant, tuple(by_rows)), fixed)
    soft = [(k, v) for k, v in start.guess if k not in plant.coordinates and k not in dict(start.hold)]
    if soft:  # guesses of displacements and frames: meet them first with what is not guessed itself, then let go
        guessed = [j for i, j in columns.items() if plant.coordinates[i] in dict(start.guess)]
        still = np.isin(np.arange(len(fixed)), guessed) | fixed
        guess = _meet(Closing(plant, (*problem.held, *_targets(plant, tuple(soft))), still), guess)
    closed = assemble(problem, guess, np.where(fixed, 0.0, 1.0), tries)
    return without_turns(problem, closed, problem.whole_turns(closed.q, guess)), problem


def _meet(problem: Closing, q: Array) -> Array:
    """A few Newton steps on what is held alone, as far as they bring it nearer."""
    inputs = problem.plant.inputs(q)
    gaps, rows = problem.held_rows(inputs)
    sizes = Sizes(problem.held_sizes, problem.plant.scales.ways)
    for _ in range(20 if np.max(np.abs(gaps) / sizes.rows, initial=0.0) > GUESS_MET else 0):
        matrix, mass = problem.without_fixed(rows, problem.plant.problem(inputs).mass)
        step = weighted_step(matrix, mass, -gaps, sizes)
        longest = float(np.max(np.abs(step) / sizes.velocities, initial=0.0))
        trial = problem.retract(q, step * min(1.0, 1.0 / max(longest, 1e-300)))
        inputs = problem.plant.inputs(trial)
        new_gaps, rows = problem.held_rows(inputs)
        if not np.linalg.norm(new_gaps / sizes.rows) < np.linalg.norm(gaps / sizes.rows):
            break
        q, gaps = trial, new_gaps
    return q


def _labels(targets: Targets) -> list[str]:
    """One name per row: a frame has six."""
    return [key for key, value in targets for _ in range(6 if isinstance(value, tuple) else 1)]


def _cannot_close(plant: Plant, assembled: Assembled, problem: Closing) -> AssemblyError:
    machine = plant.machine
    held = [f"{key} = {value:g}" if is_number(value) else key for key, value in machine.start.hold]
    row, gap, unit = widest_gap(plant, assembled, problem)
    is_shut = bool((np.abs(assembled.residual) < FALSE_ROOT_CLOSED * problem.sizes.rows).all())
    closure = next((c for c in machine.closures if row in c.rows), None)
    where = f"{machine.name}.{closure.name if closure else row}"
    how = f" with {', '.join(held)} held" if held else ""
    what = "only a flipped position closes it" if is_shut else f"gap {gap:.3g} {unit}"
    free = "Free it with guess=, or check" if held else "Check the start guess and"
    return AssemblyError(f"{where}: the loop cannot close{how}; {what}. {free} {_seat(plant, closure)}.")


def widest_gap(plant: Plant, assembled: Assembled, problem: Closing) -> tuple[str, float, str]:
    """The row that is farthest from closed, its gap and the gap's unit."""
    levels = zip(plant.constraints, plant.machine.is_velocity_level, strict=True)
    names = [*(name for name, moving in levels if not moving), *_labels(problem.held)]
    gaps = np.abs(assembled.residual)
    worst = int(np.argmax(gaps / problem.sizes.rows)) if gaps.size else 0
    row, gap = (names[worst], float(gaps[worst])) if gaps.size else ("start", 0.0)
    units = dict(zip(plant.constraints, row_units(plant.machine), strict=True))
    return row, gap, units.get(row) or ("rad" if row.rpartition(".")[2] in {"rx", "ry", "rz"} else "m")


def _seat(plant: Plant, closure: MachineConnection | MachineConstraint | None) -> str:
    """Where a loop is to close, in words."""
    if not isinstance(closure, MachineConnection) or not isinstance(closure.at, Pose):
        return "the constraint's expressions"
    values = Values({p.name: p.value for p in plant.machine.parameters})
    shown = ", ".join(f"{float(evaluate(entry, values)):g}" for entry in closure.at.position)  # type: ignore[arg-type]
    return f"at=({shown})"


def _start_speed(plant: Plant, q: Array) -> Array:
    """The velocity of least kinetic energy that obeys every row and the speeds asked for."""
    speeds = tuple((key, _speed(plant, key, value)) for key, value in plant.machine.start.speed)
    n = len(plant.velocities)
    readings = plant.watch(tuple(key for key, _ in speeds), plant.inputs(q))
    rows = [
        FrameReading.of(reading).jacobian if len(value) == 6 else ScalarReadings.of([reading], n).gradients
        for (_, value), reading in zip(speeds, readings, strict=True)
    ]
    extra = np.vstack([np.zeros((0, n)), *rows])
    target = np.concatenate([np.zeros(0), *(value for _, value in speeds)])
    rng = np.random.default_rng(4)
    scales = plant.scales
    targets = held_sizes(plant, tuple((key, len(value) == 6) for key, value in speeds), scales.length)
    sizes = Sizes(np.concatenate([scales.strengths, targets]), scales.velocities)
    for attempt in range(SPEED_TRIES):  # rows that are not linear in the speeds may have no slope at rest
        v = rng.normal(size=n) * scales.velocities * scales.rate if attempt else np.zeros(n)
        v, residual = _meet_speeds(plant, q, v, (extra, target), sizes)
        fastest = max(float(scales.fastest(v)), float(np.max(np.abs(target) / targets, initial=0.0)))
        if np.max(np.abs(residual) / sizes.rows, initial=0.0) <= START_SPEED_MET * fastest:
            return v
        if attempt == 0:
            missed = residual
    labels = [*plant.constraints, *(key for key, value in speeds for _ in value)]
    worst = int(np.argmax(np.abs(missed) / sizes.rows))
    raise AssemblyError(
        f"{plant.system.name}.start.speed: no velocity obeys all rows and the speeds asked for; {labels[worst]} misses "
        f"by {abs(missed[worst]):.3g}. Ask for fewer speeds, or others."
    )


def _speed(plant: Plant, key: str, value: ArrayLike) -> Array:
    """One number for a scalar, six for a frame."""
    is_scalar = key in plant.coordinates or key in plant.machine.displacements
    names = ("rate",) if is_scalar else ("vx", "vy", "vz", "wx", "wy", "wz")
    return checked(np.atleast_1d(value) if is_scalar else value, len(names), f"start.speed.{key}", names)


def _meet_speeds(plant: Plant, q: Array, v: Array, wanted: tuple[Array, Array], sizes: Sizes) -> tuple[Array, Array]:
    """Newton's method on the rows' rates and on what is wanted for; the velocity and what it misses."""
    extra, target = wanted
    residual = np.concatenate([plant.velocity_residual(q, v), extra @ v - target])
    for _ in range(SPEED_STEPS):
        size = np.max(np.abs(residual) / sizes.rows, initial=0.0)
        if size < START_SPEED_EXACT * plant.scales.rate or not np.isfinite(residual).all():
            break
        problem = plant.problem(plant.inputs(q, v))
        v = v + weighted_step(np.vstack([problem.matrix, extra]), problem.mass, -residual, sizes)
        residual = np.concatenate([plant.velocity_residual(q, v), extra @ v - target])
    return v, residual


def take_over(plant: Plant, state: object) -> tuple[State, float]:
    """The nearest state (in the mass metric) that obeys every row, and the kinetic energy lost on the way to it."""
    before = own_state(plant.machine, state)
    try:
        after = project_state(plant, before, 0.0)
    except ConstraintError as error:
        gaps = np.abs(plant.residual(before.q))
        row = int(np.argmax(gaps / plant.scales.rows))
        raise AssemblyError(
            f"{plant.system.name}: the start cannot be projected onto the constraints; {plant.constraints[row]} is "
            f"open by {gaps[row]:.3g} {row_units(plant.machine)[row]} there. Give a start nearer to closed, or none."
        ) from error
    return after, energy_loss(plant, after.q, before.v, after.v)


def energy_loss(plant: Plant, q: Array, before: Array, after: Array) -> float:
    """Kinetic energy lost when rows take hold at once: T(v⁻) − T(v⁺).

    The impulses of the rows change the speed least in the mass metric (Carnot)::

        v⁺ = v⁻ − M⁻¹Aᵀ(A M⁻¹Aᵀ)⁺ A v⁻
        T(v⁻) − T(v⁺) = ½ Δᵀ M Δ + Δᵀ M v⁺,    Δ = v⁻ − v⁺

    The last term is zero unless a row moves by itself and pushes; without it the loss cannot be negative.
    """
    M, change = plant.mass_matrix(q), before - after
    loss = float(change @ M @ change) / 2
    slip = plant.constraint(q, after)[0] @ after / plant.scales.strengths
    if np.max(np.abs(slip), initial=0.0) > IMPACT_SLIP * plant.scales.fastest(after):
        loss += float(change @ M @ after)
    kinetic = float(before @ M @ before) / 2
    return 0.0 if abs(loss) < IMPACT_ROUNDING * kinetic else loss
