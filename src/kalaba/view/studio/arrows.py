"""Arrows: the forces and torques at one sample of a run, and how long they are drawn.

What a connection exerts on its child is `plant.reaction`. Rows written as expressions have no place of their own: of
them the constraint force along a body's own travel is shown. Motors push along, or turn about, the axis of their joint.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.constrain.kernels.functions import expressions
from kalaba.errors import KalabaError
from kalaba.model.machine import MachineConstraint, Thrust
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    import casadi as ca

    from kalaba.derive.equations import Equations
    from kalaba.model.machine import MachineBody
    from kalaba.results.run import Run
    from kalaba.view.scene import Scene
    from kalaba.view.scene.places import Placed

LONGEST = 0.22  # of the machine's size: the largest force of a run
SAMPLES = 9  # of a run that are looked at for the largest
SHORT = 0.02  # of the largest: shorter arrows are left out


class Arrow(NamedTuple):
    """A force or torque at a place, world axes."""

    kind: str  # "reaction", "motor force" or "motor torque"
    name: str
    origin: Array  # m
    vector: Array  # N or N·m


@dataclass(frozen=True)
class Forces:
    """The arrows of a run, with what they are measured by."""

    scene: Scene
    run: Run
    largest: dict[str, float]  # by kind

    @classmethod
    def of(cls, scene: Scene, run: Run) -> Forces:
        """Look through a run for the largest force of each kind."""
        largest: dict[str, float] = {}
        for index in np.unique(np.linspace(0, len(run.time) - 1, SAMPLES).astype(int)):
            for arrow in arrows(scene, run, int(index)):
                largest[arrow.kind] = max(largest.get(arrow.kind, 0.0), float(np.linalg.norm(arrow.vector)))
        return cls(scene, run, largest)

    def drawn(self, index: int, kinds: tuple[str, ...]) -> list[tuple[Arrow, Array]]:
        """Arrows of some kinds at a sample, each with the end that it is drawn to."""
        ends = []
        for arrow in arrows(self.scene, self.run, index):
            most = self.largest.get(arrow.kind, 0.0)
            size = float(np.linalg.norm(arrow.vector))
            if arrow.kind in kinds and most > 0 and size > SHORT * most:
                ends.append((arrow, arrow.origin + arrow.vector * LONGEST * self.scene.size / most))
        return ends


def arrows(scene: Scene, run: Run, index: int) -> Iterator[Arrow]:
    """All forces at a sample."""
    placed = scene.places.at(run.q[index])
    yield from _reactions(scene, run, index, placed)
    yield from _travels(scene, run, index, placed)
    yield from _motors(scene, run, index, placed)


def _reactions(scene: Scene, run: Run, index: int, placed: Placed) -> Iterator[Arrow]:
    plant, where = run.plant, scene.places.index
    for connection in plant.machine.connections:
        acting = {"t": float(run.time[index]), "actuation": run.actuation[index]}
        try:
            reaction = plant.reaction(connection.name, run.q[index], run.v[index], **acting)
        except KalabaError:  # no finite force at this very sample, near a singular position
            continue
        yield Arrow("reaction", connection.name, placed.positions[where[connection.child]], reaction.force)


def _travels(scene: Scene, run: Run, index: int, placed: Placed) -> Iterator[Arrow]:
    """The constraint force along the travels of bodies, where rows are expressions.

    Forces f along the joints' own displacements, whose rates are u = J v, do the same work: Jᵀ f = Qc.
    """
    plant = run.plant
    if not any(isinstance(closure, MachineConstraint) for closure in plant.machine.closures):
        return
    function = plant.function("joint_rates", lambda e: expressions(e, _joint_rates))
    J = function(plant.inputs(run.q[index])).reshape((-1, len(plant.velocities)), order="F")
    along = np.linalg.lstsq(J.T, run.constraint_force[index], rcond=None)[0]
    for body, first in zip(plant.machine.bodies, _first_rates(plant.machine.bodies), strict=True):
        axes = _travel_axes(body)
        if len(axes):
            seat = placed.rotations[scene.places.index[f"seat of {body.name}"]]
            force = seat @ (along[first : first + len(axes)] @ axes)
            yield Arrow("reaction", body.name, placed.positions[scene.places.index[body.name]], force)


def _joint_rates(equations: Equations) -> list[ca.SX]:
    """∂u/∂v of the joints' own displacements, the modes of beams left out."""
    import casadi as ca

    k = equations.kinematics
    pairs = zip(equations.machine.bodies, k.bodies, strict=True)
    rates = [k.joint_rates[body.rates.stop - part.joint.v_count : body.rates.stop] for part, body in pairs]
    return [ca.vec(ca.densify(ca.jacobian(ca.vertcat(*rates), k.symbols.v)))]


def _first_rates(bodies: Sequence[MachineBody]) -> list[int]:
    """Where the rates of each body's joint begin."""
    return [sum(body.joint.v_count for body in bodies[:i]) for i in range(len(bodies))]


def _travel_axes(body: MachineBody) -> Array:
    """Directions (k, 3) in the seat of the first rates of a joint, those that are travels."""
    return np.array([axis.components for axis in body.joint.travel_axes]).reshape(-1, 3)


def _motors(scene: Scene, run: Run, index: int, placed: Placed) -> Iterator[Arrow]:
    machine, where = run.plant.machine, scene.places.index
    driven = {d.name: (body, d.unit) for body in machine.bodies for d in body.displacements}
    coordinates = {d.expression.text: d.name for body in machine.bodies for d in body.displacements}
    for actuator, effort in zip(machine.actuators, run.actuation[index], strict=True):
        drive = actuator.displacement
        if isinstance(drive, Thrust):
            axis = placed.rotations[where[drive.frame]] @ np.array(drive.axis.components)
            yield Arrow("motor force", actuator.name, placed.positions[where[drive.frame]], effort * axis)
            continue
        body, unit = driven.get(coordinates.get(drive.text, drive.text), (None, ""))
        if body is not None and body.joint.screw_axis is not None:
            axis = placed.rotations[where[body.name]] @ np.array(body.joint.screw_axis.components)
            kind = "motor force" if unit == "m" else "motor torque"
            yield Arrow(kind, actuator.name, placed.positions[where[body.name]], effort * axis)
