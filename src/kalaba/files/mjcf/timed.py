"""Springs of an MJCF file that are given by a time constant: their stiffness follows from the mass matrix."""

from __future__ import annotations

import numpy as np

from kalaba.files.mjcf.machine import Assembly
from kalaba.model.parts import Connection, Constraint
from kalaba.model.system import System
from kalaba.native.backend import Interpreted
from kalaba.plant.guess import first_guess
from kalaba.plant.plant import build


def with_timed_springs(system: System, assembly: Assembly) -> System:
    """Add the springs: J of a joint is 1/(M⁻¹)_kk at the pose that the file draws, without its rows, as in MuJoCo."""
    rows = [part.name for part in system.parts if isinstance(part, Connection | Constraint)]
    plant = build(system.remove(*rows), backend=Interpreted())
    try:
        inverse = np.linalg.inv(plant.mass_matrix(first_guess(plant)))
    except np.linalg.LinAlgError:
        for timed in assembly.timed:
            assembly.notes.add("springs by a time constant are left out, as some joints move no mass", timed.name)
        return system
    places = {name: index for index, name in enumerate(plant.velocities)}
    assembly.parts = []
    for timed in assembly.timed:
        assembly.add_drive(timed.drive(1.0 / float(inverse[places[timed.name], places[timed.name]])))
    return system.add(*assembly.parts)
