"""Scales: the machine's own length, mass and time, and the sizes that coordinates, velocities and rows have with them.

The same machine can be a micrometre or ten kilometres large. What decides compares with these: a gap in metres with the
machine's length, an angle with 1. All scales follow from the numbers of the machine alone, and each is homogeneous: a
machine with all lengths times λ has its `length` times λ.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.constrain.rows import Sizes
from kalaba.model.machine import MachineConstraint
from kalaba.model.text.expressions import Values, number, parse
from kalaba.model.units import row_units, unit_of
from kalaba.plant.guess import first_guess
from kalaba.space.arrays import Array
from kalaba.space.number import quantities
from kalaba.space.pose import Pose
from kalaba.space.rotations import from_pose, rotation_of
from kalaba.tolerances import ROW_NOTHING

if TYPE_CHECKING:
    from kalaba.compiled.kernels import Units
    from kalaba.model.machine import Coordinate, Machine, MachineConnection
    from kalaba.plant.plant import Plant

# Powers of length, mass and time in the units that quantities have; angles and pure numbers have none.
_POWERS = {"m": (1, 0, 0), "kg": (0, 1, 0), "s": (0, 0, 1), "N": (1, 1, -2), "J": (2, 1, -2), "W": (2, 1, -3)}
UNSCALED = 1.0  # m, kg: of a machine whose numbers hold no length, or no mass, at all


@dataclass(frozen=True)
class Scales:
    """How large a machine is. Made by `plant.scales`.

    Arguments:
        length: m, its own size: the largest of the distances between places on one body or on the world, radii of
            gyration, lengths of beams, joints and springs, and ranges of travels
        reach: m, at least `length`: how far from the world's origin it stands, which its positions are rounded by
        mass: kg, of its heaviest body
        sag: m, how far the heaviest body's weight stretches the softest spring along a length; 0 without one
        time: s, √(length/g) where gravity acts; else of the slowest of its springs and beams; None: it has none
        coordinates: one per coordinate of q: `length` for metres, 1 for angles and quaternions
        velocities: one per velocity, the same; of a speed in the unit of time that is at hand
        rows: one per constraint row: `reach` for metres (and metres per second), 1 for angles; for gaps
        strengths: the same with `length` for metres: for what rows say, which does not depend on where they stand
        places: one per coordinate: `reach` for metres, 1 for angles; for where things stand
        ways: one per velocity, the same: for displacements to there
    """

    length: float
    reach: float
    mass: float
    sag: float
    time: float | None
    coordinates: Array
    velocities: Array
    rows: Array
    strengths: Array
    places: Array
    ways: Array

    @property
    def rate(self) -> float:
        """1/s: that of its `time`; 1 for a machine that has none."""
        return 1.0 / self.time if self.time else 1.0

    @property
    def sizes(self) -> Sizes:
        """Of rows and velocities, where their rank is decided."""
        return Sizes(self.strengths, self.velocities)

    @property
    def gaps(self) -> Sizes:
        """Of rows and displacements, where a machine is put together."""
        return Sizes(self.rows, self.ways)

    @property
    def units(self) -> Units:
        """The same for the compiled loop."""
        from kalaba.compiled.kernels import Units

        return Units(self.coordinates, self.velocities, self.rows, self.strengths, self.rate)

    @property
    def nothing(self) -> Array:
        """Of each row, in these sizes: one without a larger entry is rounding of where the machine stands."""
        return np.asarray(ROW_NOTHING * self.rows / self.strengths)

    def fastest(self, v: Array) -> Array:
        """The largest velocity, in the machine's sizes, at least its own `rate`, 1/s; of many states as a column."""
        return np.asarray(np.max(np.abs(v) / self.velocities, axis=-1, initial=self.rate, keepdims=v.ndim > 1))

    def of_unit(self, unit: str, time: float) -> float:
        """How large a quantity of a unit such as kg*m^2/s is by the machine's length and mass and a time in s."""
        size = 1.0
        for sign, word, power in re.findall(r"(^|[*/·])([A-Za-z]+)(?:\^(\d))?", unit):
            length, mass, times = _POWERS.get(word, (0, 0, 0))
            factor = self.length**length * self.mass**mass * time**times
            size *= factor ** ((-1 if sign == "/" else 1) * int(power or 1))
        return size

    @property
    def twist(self) -> Array:
        """Of three lengths and three angles: a pose, a twist."""
        return np.array([self.length] * 3 + [1.0] * 3)


def scales_of(plant: Plant) -> Scales:
    """Measure a machine at its parameters and its first guess."""
    machine = plant.machine
    geometry = Geometry(machine)
    guess = first_guess(plant)
    travels = _largest(abs(guess[i]) for i, c in enumerate(machine.coordinates) if c.unit == "m")
    mass = geometry.mass
    length = geometry.length or travels or geometry.sag or UNSCALED
    reach = max(length, travels, geometry.farthest)
    velocities = _each(machine.velocities, length)
    rows, strengths = _row_scales(plant, guess, (reach, length), velocities)
    return Scales(
        length=length,
        reach=reach,
        sag=geometry.sag,
        mass=mass or _largest(geometry.moments) / length**2 or UNSCALED,
        time=geometry.time(length, mass),
        coordinates=_each(machine.coordinates, length),
        velocities=velocities,
        rows=rows,
        strengths=strengths,
        places=_each(machine.coordinates, reach),
        ways=_each(machine.velocities, reach),
    )


class Geometry:
    """The numbers of a machine that have a size."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self._values = Values({parameter.name: parameter.value for parameter in machine.parameters})
        self._placed: dict[str, tuple[Array, Array]] = {}  # frames: position and rotation on the body that carries them
        self._solids = [body.solid.mass_properties(self.number) for body in machine.bodies]

    def number(self, entry: Any) -> float:  # noqa: ANN401  (a number of the model, in any form)
        """The value of a number of the model."""
        return number(parse(entry), self._values)

    @property
    def mass(self) -> float:
        """Mass of the heaviest body, kg."""
        return _largest(float(solid.mass) for solid in self._solids)

    @property
    def moments(self) -> list[float]:
        """Largest moment of inertia of each body, kg·m²."""
        return [_largest(map(float, solid.inertia[:3])) for solid in self._solids]

    @property
    def length(self) -> float:
        """The largest length of the machine's own, m; zero if it has none."""
        return max(_largest(self._spans()), _largest(self._gyrations()), _largest(self._written()))

    @property
    def farthest(self) -> float:
        """Distance from the world's origin of the farthest place on the world, m."""
        return _largest(float(np.linalg.norm(place)) for place in self._places()[-1])

    @property
    def sag(self) -> float:
        """How far the heaviest body's weight stretches the softest spring, m."""
        soft = [stiffness for unit, stiffness in self._springs() if unit == "m"]
        return self.mass * self._gravity / min(soft) if soft else 0.0

    def time(self, length: float, mass: float) -> float | None:
        """√(length/g), or the longest time of a spring or beam; None: nothing pulls it back."""
        if self._gravity:
            return float(np.sqrt(length / self._gravity))
        inertia = {"m": mass, "rad": mass * length**2}
        times = [float(np.sqrt(inertia[unit] / k)) for unit, k in self._springs() if inertia.get(unit)]
        times += self._beam_times()
        return max(times, default=None)

    @property
    def _gravity(self) -> float:
        return float(np.linalg.norm([self.number(entry) for entry in self.machine.gravity]))

    def _springs(self) -> Iterator[tuple[str, float]]:
        """Unit of each spring's displacement and its stiffness."""
        for spring in self.machine.springs:
            if (stiffness := abs(self.number(spring.stiffness))) > 0.0:
                yield unit_of(self.machine, spring.displacement), stiffness

    def _beam_times(self) -> list[float]:
        """√(m l³ / E I) of each beam."""
        times = []
        for body, solid in zip(self.machine.bodies, self._solids, strict=True):
            if (beam := body.solid.beam) is not None:
                stiffness = min(float(beam.bending_stiffness(plane, self.number)) for plane in beam.planes)
                times.append(float(np.sqrt(solid.mass * self.number(beam.length) ** 3 / stiffness)))
        return times

    def _gyrations(self) -> Iterator[float]:
        """Radii at which the heaviest body's mass has the moment of each; a body may have moments and hardly a mass."""
        if self.mass > 0:
            yield from (float(np.sqrt(moment / self.mass)) for moment in self.moments)

    def _written(self) -> Iterator[float]:
        """Lengths of joints and springs, ranges of travels, and parameters in metres that rows read."""
        machine = self.machine
        for joint in (*(body.joint for body in machine.bodies), *(c.joint for c in machine.connections)):
            yield from (abs(self.number(q.value)) for q in quantities(joint) if q.unit == "m")
            travels = all(unit == "m" for _, unit in joint.displacements)
            if joint.limits is not None and np.isfinite(joint.limits).all() and travels:
                yield float(joint.limits[1] - joint.limits[0])
        for spring in machine.springs:
            if unit_of(machine, spring.displacement) == "m":
                yield abs(self.number(spring.rest))
        read = {name for closure in machine.closures for name in _names(closure)}
        yield from (abs(p.value) for p in machine.parameters if p.unit == "m" and p.name in read)

    def _spans(self) -> Iterator[float]:
        """The diagonal of the box around the places on each body, and on the world."""
        for places in self._places():
            cloud = np.array(places).reshape(-1, 3)
            if len(cloud):
                yield float(np.linalg.norm(cloud.max(axis=0) - cloud.min(axis=0)))

    def _places(self) -> list[list[Array]]:
        """Where joints, frames, tips and centres of mass are on each body, in its axes; last those on the world."""
        machine = self.machine
        places: list[list[Array]] = [[np.zeros(3), np.array(solid.com, dtype=float)] for solid in self._solids]
        places.append([])
        for body in machine.bodies:
            if machine.body_of(body.parent) >= 0 or not body.joint.has_position:  # a free body's seat is no place
                places[machine.body_of(body.parent)].append(self._on_body(body.parent, body.at)[0])
        for connection in machine.connections:
            places[machine.body_of(connection.child)].append(self._frame(connection.child)[0])
            if isinstance(connection.at, Pose):
                places[machine.body_of(connection.parent)].append(self._on_body(connection.parent, connection.at)[0])
        for name, frame in machine.frames.items():
            if frame.body >= 0:
                places[frame.body].append(self._frame(name)[0])
        return places

    def _frame(self, name: str) -> tuple[Array, Array]:
        """Position and rotation of a frame on the body that carries it."""
        if name not in self._placed:
            frame = self.machine.frames[name]
            if frame.is_tip:
                tip = self._solids[frame.body].tip
                self._placed[name] = np.array(tip, dtype=float), np.eye(3)
            elif frame.at is None:
                self._placed[name] = np.zeros(3), np.eye(3)
            elif frame.inverse_of:
                position, axes = self._on_body(frame.inverse_of, frame.at)
                self._placed[name] = -axes.T @ position, axes.T
            else:
                self._placed[name] = self._on_body(frame.parent, frame.at)
        return self._placed[name]

    def _on_body(self, parent: str, at: Pose) -> tuple[Array, Array]:
        """Position and rotation, on the body that carries it, of a pose on a frame."""
        origin, axes = self._frame(parent)
        position, quaternion = from_pose(at, self.number)
        return origin + axes @ position, axes @ rotation_of(quaternion)


def _names(closure: MachineConnection | MachineConstraint) -> Iterable[str]:
    """Names that the rows of a user's constraint read; those of a connection are its joint's."""
    if isinstance(closure, MachineConstraint):
        for entry in closure.zero:
            for expression in entry.reads:
                yield from expression.names


def _row_scales(plant: Plant, guess: Array, lengths: tuple[float, float], velocities: Array) -> list[Array]:
    """Of each row by its unit, for some lengths; of an unknown one, by what the velocities move it at the guess."""
    units = row_units(plant.machine)
    scales = [np.array([_of_unit(unit, length) for unit in units]) for length in lengths]
    if not scales[0].all():
        matrix = plant.constraint(guess, np.zeros(len(velocities)))[0]
        moved = np.max(np.abs(matrix) * velocities, axis=1, initial=0.0)
        scales = [np.where(scale > 0, scale, np.where(moved > 0, moved, 1.0)) for scale in scales]
    return scales


def _each(coordinates: Sequence[Coordinate], length: float) -> Array:
    """The size of each coordinate by its unit; 1 for one that is no length."""
    return np.array([_of_unit(c.unit, length) or 1.0 for c in coordinates])


def _of_unit(unit: str, length: float) -> float:
    """Size of a quantity, or of its rate; zero for a unit that is neither a length nor an angle."""
    return {"m": length, "rad": 1.0, "1": 1.0}.get(unit.removesuffix("/s"), 0.0)


def _largest(sizes: Iterable[float]) -> float:
    return max(sizes, default=0.0)
