"""Scene: every body of a machine as a mesh, and where all of them are at a configuration."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.model.names import WORLD
from kalaba.model.text.expressions import Values, number
from kalaba.space.arrays import Array
from kalaba.tolerances import NO_EXTENT
from kalaba.view.scene.beams import BentBeam, outline
from kalaba.view.scene.joints import THREAD, Strut, marker_mesh, pad
from kalaba.view.scene.meshes import Faces, Mesh, joined
from kalaba.view.scene.places import Placed, Places, seat
from kalaba.view.scene.solids import Sizes, body_mesh, equivalent_edges
from kalaba.view.scene.visuals import visual_mesh

if TYPE_CHECKING:
    from kalaba.joints.marker import Marker
    from kalaba.model.machine import Machine, MachineBody
    from kalaba.plant.plant import Plant

NEUTRAL = -1  # colour of joints and of the ground
FEW = 4  # colours that the eye takes in at once
BARE = 0.1  # m: the size of a machine that has no extent at all


class Bending(Protocol):
    """What gives a shape that bends: a beam, a strut between places that move apart."""

    def mesh(self, q: Array, placed: Placed) -> Mesh:
        """The shape in its frame at a configuration, where the places are as placed there."""


@dataclass(frozen=True)
class Shape:
    """Triangles that move with a frame. Those that bend have other corners at every configuration."""

    name: str  # unique in its scene
    body: str  # the frame that it moves with: a body, or world
    vertices: Array  # (V, 3) in that frame, at the configuration that the scene was made with
    faces: Faces  # (F, 3)
    colour: int  # one per placed System, else one per body; -1 for joints and feet
    source: Bending | None = None  # what the corners of a shape that bends are worked out from
    tint: tuple[float, ...] | None = None  # red, green and blue that the model gives it, 0 to 1

    @property
    def bends(self) -> bool:
        """Whether its corners differ from configuration to configuration."""
        return self.source is not None


@dataclass(frozen=True)
class Scene:
    """A machine that can be drawn. Made by `scene_of`."""

    plant: Plant
    shapes: tuple[Shape, ...]
    size: float  # m: the diagonal of the box around the machine
    low: Array  # (3,): that box, in the world, at the configuration that the scene was made with
    high: Array
    places: Places

    @property
    def frames(self) -> tuple[str, ...]:
        """Names of all frames, those of the bodies and the world included."""
        return tuple(self.plant.machine.frames)

    @property
    def colours(self) -> int:
        """How many colours tell its parts apart."""
        return 1 + max((shape.colour for shape in self.shapes), default=0)

    @cached_property
    def _bodies(self) -> NDArray[np.intp]:
        return np.array([self.places.index[shape.body] for shape in self.shapes], dtype=np.intp)

    def placed(self, q: ArrayLike) -> Placed:
        """Poses of the frames that the shapes move with, one per shape; q may be many configurations, (N, n_q)."""
        return self.places.at(q).of(self._bodies)

    def framed(self, q: ArrayLike) -> Placed:
        """Poses of all frames, in the order of `frames`."""
        return self.places.at(q).of(np.arange(len(self.frames)))

    def bent(self, q: ArrayLike) -> dict[int, Array]:
        """Corners of the shapes that bend, by their index, in their frames at one configuration."""
        at = np.asarray(q, dtype=float)
        sources = {index: shape.source for index, shape in enumerate(self.shapes) if shape.source is not None}
        if not sources:
            return {}
        placed = self.places.at(at)
        return {index: source.mesh(at, placed).vertices for index, source in sources.items()}

    def corners(self, q: ArrayLike) -> list[Array]:
        """Corners of every shape in the world at one configuration."""
        placed, bent = self.placed(q), self.bent(q)
        pairs = zip(placed.positions, placed.rotations, strict=True)
        local = (bent.get(index, shape.vertices) for index, shape in enumerate(self.shapes))
        return [x + vertices @ R.T for (x, R), vertices in zip(pairs, local, strict=True)]

    def bounds(self, q: ArrayLike) -> tuple[Array, Array]:
        """The lowest and the highest corner of the box around all shapes, over one or many configurations."""
        rows = np.atleast_2d(np.asarray(q, dtype=float))
        boxes = [(np.concatenate(self.corners(row))) for row in rows]
        return np.min([b.min(axis=0) for b in boxes], axis=0), np.max([b.max(axis=0) for b in boxes], axis=0)


def scene_of(plant: Plant, q: ArrayLike | None = None) -> Scene:
    """The machine of a plant as shapes.

    Boxes, rods, cylinders and beams look as their numbers say; beams bend. A solid given by its mass and inertia is
    bars or a plate to whatever sits on it, and a block of the same inertia where nothing does. What has no thickness of
    its own gets one from the machine's size, which is taken at `q` (the start, if not given).
    """
    places = Places(plant)
    at = np.asarray(plant.start.q if q is None else q, dtype=float)
    placed = places.at(at)
    builder = _Builder(plant, places, placed, at)
    shapes = tuple(builder.shapes())
    corners = np.concatenate(
        [placed.positions[places.index[s.body]] + s.vertices @ placed.rotations[places.index[s.body]].T for s in shapes]
    )
    return Scene(plant, shapes, builder.sizes.machine, corners.min(axis=0), corners.max(axis=0), places)


class _Builder:
    """What the shapes of one machine are made with."""

    def __init__(self, plant: Plant, places: Places, placed: Placed, q: Array) -> None:
        self.machine: Machine = plant.machine
        self.places, self.placed, self.q = places, placed, q
        self._values = Values({parameter.name: parameter.value for parameter in self.machine.parameters})
        self._anchors = self._all_anchors()
        self.sizes = Sizes(self._extent(), self._middling())
        self._colours = _colours(self.machine)

    def number(self, entry: Any) -> float:  # noqa: ANN401  (a number of the model, in any form)
        """The value of a number of the model."""
        return float(number(entry, self._values))

    def shapes(self) -> Iterator[Shape]:
        """All shapes: bodies in their order, each with its joint; then what closes loops, and the ground."""
        visuals = list(self._visuals())
        dressed = {self.machine.frames[shape.body].body for shape in visuals}
        for index, body in enumerate(self.machine.bodies):
            if index in dressed:
                continue
            yield self._solid(body)
            reaches = f"{body.name}.tip" in self.machine.frames
            marker = body.joint.marker
            yield from self._joint(body.name, body.name, marker, is_marked=not (reaches and marker.has_strut))
        for connection in self.machine.connections:
            frame = self.machine.frames[connection.child]
            yield from self._joint(connection.name, frame.name, connection.joint.marker)
        yield from visuals
        yield from self._ground()

    def _visuals(self) -> Iterator[Shape]:
        """Shapes that the model gives; the bodies that carry them need no others."""
        for visual in self.machine.visuals:
            mesh = visual_mesh(visual)
            if mesh is not None:
                carrier = self.machine.body_of(visual.frame)
                colour = NEUTRAL if carrier < 0 else self._colours[self.machine.bodies[carrier].name]
                yield Shape(visual.name, visual.frame, *mesh, colour, tint=visual.colour)

    def _solid(self, body: MachineBody) -> Shape:
        colour = self._colours[body.name]
        if (beam := body.solid.beam) is not None:
            corners = outline(beam, self.number, self.sizes.least)
            bent = BentBeam(beam, body.mode_q, self.number(beam.length), corners)
            return Shape(body.name, body.name, *bent.mesh(self.q, self.placed), colour, source=bent)
        mesh = body_mesh(body.solid, body.joint.marker, self._anchors[body.name], self.number, self.sizes)
        return Shape(body.name, body.name, *mesh, colour)

    def _joint(self, name: str, frame: str, marker: Marker, *, is_marked: bool = True) -> Iterator[Shape]:
        """The marker of a joint, on its child's frame, and the strut to its seat; a telescope needs no marker."""
        if is_marked and (mesh := marker_mesh(marker, self.sizes)) is not None:
            yield Shape(f"{name}.joint", frame, *mesh, NEUTRAL)
        if marker.has_strut:
            strut = Strut(self.places.index[frame], self.places.index[seat(name)], THREAD * self.sizes.thin)
            yield Shape(f"{name}.strut", frame, *strut.mesh(self.q, self.placed), NEUTRAL, source=strut)

    def _ground(self) -> Iterator[Shape]:
        """Feet under the joints that stand on the world."""
        standing = [(b.name, b.parent, b.joint) for b in self.machine.bodies]
        standing += [(c.name, c.parent, c.joint) for c in self.machine.connections]
        feet: list[Mesh] = []
        for name, parent, joint in standing:
            if self.machine.body_of(parent) < 0 and joint.marker.has_foot:
                feet.append(pad(self.sizes).moved(self.placed.positions[self.places.index[seat(name)]]))
        if feet:
            yield Shape("feet", WORLD, *joined(feet), NEUTRAL)

    def _all_anchors(self) -> dict[str, Array]:
        """Places of all that sits on each body, in its frame: frames, joints' seats, ends of connections."""
        machine = self.machine
        carried = [(name, frame.body) for name, frame in machine.frames.items()]
        carried += [(seat(body.name), machine.body_of(body.parent)) for body in machine.bodies]
        carried += [(seat(c.name), machine.body_of(c.parent)) for c in machine.connections]
        anchors: dict[str, list[Array]] = {body.name: [] for body in machine.bodies}
        for place, index in carried:
            if index >= 0:
                name = machine.bodies[index].name
                anchors[name].append(self.placed.local(self.places.index[name], self.places.index[place])[0])
        return {name: np.array(points).reshape(-1, 3) for name, points in anchors.items()}

    def _middling(self) -> float:
        """The median, over bodies, of how far what sits on them is from their origin."""
        away = [float(np.linalg.norm(points, axis=1).max(initial=0.0)) for points in self._anchors.values()]
        least = NO_EXTENT * max(away, default=0.0)
        return float(np.median([length for length in away if length > least] or [BARE]))

    def _extent(self) -> float:
        """The diagonal of the box around all places on bodies, with the extents of their solids."""
        points = [np.zeros((0, 3))]
        for body in self.machine.bodies:
            index = self.places.index[body.name]
            form = body.solid.form(self.number)
            reach = 0.0 if form is None else form.reach
            corners = np.concatenate([self._anchors[body.name], reach * np.vstack([np.eye(3), -np.eye(3)])])
            points.append(self.placed.positions[index] + corners @ self.placed.rotations[index].T)
        cloud = np.concatenate(points)
        diagonal = float(np.linalg.norm(cloud.max(axis=0) - cloud.min(axis=0))) if len(cloud) else 0.0
        return diagonal if diagonal > NO_EXTENT * np.abs(cloud).max(initial=0.0) else self._lone_extent()

    def _lone_extent(self) -> float:
        """The diagonal of the largest cuboid that has a body's mass and inertia: what a lone body is measured by."""
        cuboids = [equivalent_edges(body.solid.mass_properties(self.number))[0] for body in self.machine.bodies]
        return max((float(np.linalg.norm(edges)) for edges in cuboids if edges is not None), default=BARE)


def _colours(machine: Machine) -> dict[str, int]:
    """One colour a placed System; a body that stands alone has its own. Where that makes many, leg1 is as leg2."""
    groups = [body.name.partition(".")[0] for body in machine.bodies]
    if len(set(groups)) > FEW:
        groups = [group.rstrip("0123456789") for group in groups]
    order = {group: index for index, group in enumerate(dict.fromkeys(groups))}
    return {body.name: order[group] for body, group in zip(machine.bodies, groups, strict=True)}
