"""Fingerprint of a machine: equal for machines whose equations are the same code, whatever the numbers in it."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from kalaba.model.acting import Sampled

if TYPE_CHECKING:
    from kalaba.model.machine import Machine, MachineForce


def fingerprint(machine: Machine) -> str:
    """Hash what shapes the equations: parts, names, structural numbers; not the values of parameters, not the start."""
    shape = (
        machine.gravity,
        machine.coordinates,
        machine.velocities,
        machine.bodies,
        tuple(machine.frames.items()),
        machine.closures,
        tuple((actuator.name, actuator.displacement) for actuator in machine.actuators),
        machine.springs,
        machine.rotors,
        tuple(_force(force) for force in machine.forces),
        machine.outputs,
        machine.measured,
        tuple(parameter.name for parameter in machine.free_parameters),
        tuple((parameter.name, parameter.value) for parameter in machine.parameters if parameter.is_structure),
        *_formulas(machine),
    )
    return hashlib.sha256(repr(shape).encode()).hexdigest()


def _formulas(machine: Machine) -> list[str]:
    """Formulas of joints that are defined outside the package, which may change while its version does not."""
    joints = [body.joint for body in machine.bodies]
    joints += [connection.joint for connection in machine.connections]
    return sorted({joint.signature() for joint in joints if joint.is_from_outside})


def _force(force: MachineForce) -> tuple[object, ...]:
    halves = ("sampled" if isinstance(half, Sampled) else half for half in (force.force, force.torque))
    return (force.name, force.frame, *halves)
