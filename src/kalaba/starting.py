"""The start of a Plant: from hold, guess and speed to a consistent state."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.assembly import Assembled, assemble, weighted_step
from kalaba.errors import AssemblyError, ModelError
from kalaba.model.expression import Values, evaluate, parse
from kalaba.model.machine import MachineConnection
from kalaba.model.parts import Connection
from kalaba.model.pose import AsFound, Pose
from kalaba.rotations import from_pose, multiply, quaternion_of, rotation_of, turn

if TYPE_CHECKING:
    from kalaba.model.machine import Machine
    from kalaba.model.system import System
    from kalaba.plant import Plant, State

Array = NDArray[np.float64]
SPEED_STEPS = 30
SPEED_TOLERANCE = 1e-9


def resting(machine: Machine) -> Array:
    """Q with everything at zero or mid-limit, quaternions at identity."""
    q = np.zeros(len(machine.coordinates))
    for first, _ in machine.quaternions:
        q[first] = 1.0
    names = [c.name for c in machine.coordinates]
    for body in machine.bodies:
        limits = getattr(body.joint, "limits", None)
        if limits is not None and body.displacements[0].name in names:
            q[names.index(body.displacements[0].name)] = (limits[0] + limits[1]) / 2
    return q


def first_guess(plant: Plant) -> Array:
    """The guess: plain coordinates and free bodies set as `hold` and `guess` say."""
    machine = plant.machine
    q = resting(machine)
    names = {c.name: i for i, c in enumerate(machine.coordinates)}
    entries = {**dict(machine.start.guess), **dict(machine.start.hold)}
    for key, value in entries.items():
        if key in names:
            q[names[key]] = _number(key, value)
    free = {body.name: body for body in machine.bodies if body.joint.has_quaternion and not body.joint.rows}
    for key, value in entries.items():
        if key in free:
            q = _place(plant, q, free[key], _pose(plant, key, value))
    return q


def _number(key: str, value: Any) -> float:  # noqa: ANN401
    if not isinstance(value, int | float) or not np.isfinite(value):
        message = f"start.{key}: expected a finite number, got {value!r}."
        raise ModelError(message)
    return float(value)


def _pose(plant: Plant, key: str, value: Any) -> tuple[Array, Array]:  # noqa: ANN401
    """Position and quaternion of a Pose given as a start entry; its numbers may be expressions of parameters."""
    pose = value if isinstance(value, Pose) else Pose(value)
    values = Values({p.name: p.value for p in plant.machine.parameters})
    try:
        return from_pose(pose, lambda entry: float(evaluate(parse(entry), values)))
    except (TypeError, ValueError) as error:
        message = f"start.{key}: expected a Pose of finite numbers, got {value!r}."
        raise ModelError(message) from error


def _place(plant: Plant, q: Array, body: Any, pose: tuple[Array, Array]) -> Array:  # noqa: ANN401
    """Set a free body's coordinates so that its frame has a pose in the world."""
    at_seat = q.copy()
    at_seat[body.q_index : body.q_index + 7] = (0, 0, 0, 1, 0, 0, 0)
    reading = plant.watch((body.name,), plant.inputs(at_seat))[0]
    seat, R = reading[:3], reading[3:12].reshape((3, 3), order="F")
    q = q.copy()
    q[body.q_index : body.q_index + 3] = R.T @ (pose[0] - seat)
    q[body.q_index + 3 : body.q_index + 7] = quaternion_of(R.T @ rotation_of(pose[1]))
    return q


@dataclass(frozen=True)
class _Closing:
    """The assembly problem of a plant: its rows at position level, and what is held."""

    plant: Plant
    held: tuple[tuple[str, Any], ...]  # name, number or (position, quaternion)

    def evaluate(self, q: Array) -> tuple[Array, Array, Array]:
        """Residual, matrix and metric."""
        plant = self.plant
        inputs = plant.inputs(q)
        found = plant.problem(inputs)
        position = ~np.array(plant.machine.is_velocity_level, dtype=bool)
        residual = plant.residual(q)[position]
        rows, targets = [found.matrix[position]], [residual]
        for (_, target), reading in zip(self.held, self.readings(inputs), strict=True):
            row, gap = _held_rows(reading, target, len(plant.velocities))
            rows.append(row)
            targets.append(gap)
        return np.concatenate(targets), np.vstack(rows), found.mass

    def readings(self, inputs: Array) -> list[Array]:
        """What the held names read."""
        return self.plant.watch(tuple(name for name, _ in self.held), inputs)

    def retract(self, q: Array, step: Array) -> Array:
        """Move along a step; quaternions turn."""
        moved = q.copy()
        for i, j in self.plant.machine.scalar_pairs:
            moved[i] += step[j]
        for i, j in self.plant.machine.quaternions:
            moved[i : i + 4] = multiply(q[i : i + 4], turn(step[j : j + 3]))
            moved[i : i + 4] /= np.linalg.norm(moved[i : i + 4])
        return moved

    def difference(self, q: Array, origin: Array) -> Array:
        """The step from one configuration to another; twice the vector part for quaternions."""
        step = np.zeros(len(self.plant.velocities))
        for i, j in self.plant.machine.scalar_pairs:
            step[j] = q[i] - origin[i]
        for i, j in self.plant.machine.quaternions:
            w, *xyz = origin[i : i + 4]
            relative = multiply(np.array([w, *(-np.array(xyz))]), q[i : i + 4])
            step[j : j + 3] = 2 * relative[1:] * np.sign(relative[0] or 1.0)
        return step

    def flipped(self, q: Array) -> bool:
        """Tell whether a connection or a held frame sits at its false root."""
        inputs = self.plant.inputs(q)
        cosines = self.plant.evaluate("alignments", inputs)["cosines"]
        for (_, target), reading in zip(self.held, self.readings(inputs), strict=True):
            if isinstance(target, tuple):
                relative = reading[3:12].reshape((3, 3), order="F") @ rotation_of(target[1]).T
                cosines = np.append(cosines, (np.trace(relative) - 1) / 2)
        return bool(np.any(cosines < 0))


def _held_rows(reading: Array, target: Any, n: int) -> tuple[Array, Array]:  # noqa: ANN401
    """Matrix and residual of a held scalar or frame."""
    if not isinstance(target, tuple):
        return reading[1:].reshape(1, n), reading[:1] - target
    jacobian = reading[12:].reshape((6, n), order="F")
    E = reading[3:12].reshape((3, 3), order="F") @ rotation_of(target[1]).T
    turned = np.array([E[2, 1] - E[1, 2], E[0, 2] - E[2, 0], E[1, 0] - E[0, 1]]) / 2
    return jacobian, np.concatenate([reading[:3] - target[0], turned])


def _targets(plant: Plant, entries: tuple[tuple[str, Any], ...]) -> tuple[tuple[str, Any], ...]:
    machine = plant.machine
    scalars = {*plant.coordinates, *machine.displacements}
    return tuple((key, _number(key, value) if key in scalars else _pose(plant, key, value)) for key, value in entries)


def find_start(plant: Plant) -> State:
    """Assemble configuration and velocity at t = 0."""
    from kalaba.plant import State

    machine = plant.machine
    guess = first_guess(plant)
    soft = [(k, v) for k, v in machine.start.guess if k not in plant.coordinates]
    if soft:  # guesses of displacements and frames: meet them first, then let go
        wished = _Closing(plant, _targets(plant, tuple(soft)))
        guess = _meet(wished, guess)
    problem = _Closing(plant, _targets(plant, machine.start.hold))
    movable = np.ones(len(plant.velocities))
    for key, _ in machine.start.hold:
        if key in plant.velocities:
            movable[plant.velocities.index(key)] = 0.0
    found = assemble(problem, guess, movable)
    if not found.is_closed:
        raise _cannot_close(plant, found)
    return State(found.q, _start_speed(plant, found.q))


def _meet(problem: _Closing, q: Array) -> Array:
    """A few Newton steps on the wishes alone."""
    for _ in range(20):
        inputs = problem.plant.inputs(q)
        pairs = zip(problem.held, problem.readings(inputs), strict=True)
        rows, gaps = zip(
            *(_held_rows(r, target, len(problem.plant.velocities)) for (_, target), r in pairs), strict=True
        )
        step = weighted_step(np.vstack(rows), problem.plant.problem(inputs).mass, -np.concatenate(gaps))
        q = problem.retract(q, np.clip(step, -1, 1))
    return q


def _cannot_close(plant: Plant, found: Assembled) -> AssemblyError:
    machine = plant.machine
    position = [
        name for name, moving in zip(plant.constraints, plant.machine.is_velocity_level, strict=True) if not moving
    ]
    held = [f"{key} = {value:g}" if isinstance(value, int | float) else key for key, value in machine.start.hold]
    names = [*position, *(key for key, _ in machine.start.hold)]
    worst = int(np.argmax(np.abs(found.residual)))
    row = names[min(worst, len(names) - 1)]
    closure = next((c for c in machine.closures if row in c.rows), None)
    where = f"{machine.name}.{closure.name if closure else row}"
    gap = float(np.max(np.abs(found.residual)))
    how = f" with {', '.join(held)} held" if held else ""
    what = f"gap {gap:.3g} m" if gap > 1e-9 else "only a flipped position closes it"
    free = "Free it with guess=, or check" if held else "Check the start guess and"
    message = f"{where}: the loop cannot close{how}; {what}. {free} {_seat(plant, closure)}."
    return AssemblyError(message)


def _seat(plant: Plant, closure: Any) -> str:  # noqa: ANN401
    if not isinstance(closure, MachineConnection) or not isinstance(closure.at, Pose):
        return "the constraint's expressions"
    values = Values({p.name: p.value for p in plant.machine.parameters})
    shown = ", ".join(f"{float(evaluate(entry, values)):g}" for entry in closure.at.position)  # type: ignore[arg-type]
    return f"at=({shown})"


def _start_speed(plant: Plant, q: Array) -> Array:
    """The velocity of least kinetic energy that obeys every row and the speeds asked for."""
    speeds = plant.machine.start.speed
    names = tuple(key for key, _ in speeds)
    n = len(plant.velocities)
    readings = plant.watch(names, plant.inputs(q))
    wanted, rows = [], []
    for (key, value), reading in zip(speeds, readings, strict=True):
        is_frame = (
            key in plant.machine.frames and key not in plant.machine.displacements and key not in plant.coordinates
        )
        rows.append(reading[12:].reshape((6, n), order="F") if is_frame else reading[1:].reshape(1, n))
        wanted.append(np.atleast_1d(np.asarray(value, dtype=float)))
    extra = np.vstack(rows) if rows else np.zeros((0, n))
    target = np.concatenate(wanted) if wanted else np.zeros(0)
    v = np.zeros(n)
    for _ in range(SPEED_STEPS):
        found = plant.problem(plant.inputs(q, v))
        residual = np.concatenate([plant.velocity_residual(q, v), extra @ v - target])
        if np.max(np.abs(residual), initial=0.0) < 1e-14:
            break
        v = v + weighted_step(np.vstack([found.matrix, extra]), found.mass, -residual)
    scale = max(1.0, float(np.max(np.abs(target), initial=0.0)))
    if np.max(np.abs(residual), initial=0.0) > SPEED_TOLERANCE * scale:
        labels = [*plant.constraints, *(key for key, _ in speeds)]
        worst = labels[min(int(np.argmax(np.abs(residual))), len(labels) - 1)]
        message = (
            f"{plant.system.name}.start.speed: no velocity obeys all rows and the speeds asked for; {worst} misses by "
            f"{np.max(np.abs(residual)):.3g}. Ask for fewer speeds, or others."
        )
        raise AssemblyError(message)
    return v


def settle_as_found(system: System) -> System:
    """Replace every `at=AsFound()` by where the start guess puts the child on its parent."""
    waiting = [p for p in system.parts if isinstance(p, Connection) and isinstance(p.at, AsFound)]
    nested = [c for c in system.machine.closures if isinstance(c, MachineConnection) and isinstance(c.at, AsFound)]
    if len(nested) > len(waiting):
        message = f"{nested[0].name}.at: AsFound() works in the outermost System. Give a pose, or connect there."
        raise ModelError(message)
    if not waiting:
        return system
    from kalaba.backend import Interpreted
    from kalaba.plant import build

    plant = build(system.remove(*(part.name for part in waiting)), backend=Interpreted())
    q = plant.start.q
    settled = []
    for part in system.parts:
        if part in waiting and isinstance(part, Connection):
            child, parent = plant.pose(part.child, q), plant.pose(part.parent, q)
            R = parent.rotation.T @ child.rotation
            at = Pose(tuple(parent.rotation.T @ (child.position - parent.position)), quaternion=tuple(quaternion_of(R)))
            settled.append(replace(part, at=at))
        else:
            settled.append(part)  # type: ignore[arg-type]
    return replace(system, parts=tuple(settled))
