"""Run ↔ xarray: everything that a Run holds under names, with units and provenance."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.model import units
from kalaba.model.serial import from_json
from kalaba.results.provenance import effort_of, provenance, shortfalls_of, status_of, worst_of
from kalaba.results.run import Run
from kalaba.units import MOMENTUM, acceleration_unit, force_unit

if TYPE_CHECKING:
    import xarray as xr

    from kalaba.model.machine import Machine
    from kalaba.plant.plant import Plant

Array = NDArray[np.float64]

# variable: (dimension beside time, unit where it is the same for all, long name)
VARIABLES: dict[str, tuple[str, str, str]] = {
    "q": ("coordinate", "", "configuration"),
    "v": ("velocity", "", "velocity"),
    "acceleration": ("velocity", "", "acceleration"),
    "constraint_force": ("velocity", "", "generalised constraint force"),
    "actuation": ("actuator", "", "force or torque of the motors"),
    "sampled_force": ("sampled", "", "forces and torques from sampled functions"),
    "push": ("velocity", "", "generalised force of a law that pushes every velocity"),
    "residual": ("row", "", "value of the constraint rows"),
    "residual_rate": ("row", "", "rate of the constraint rows"),
    "kinetic_energy": ("", "J", "kinetic energy"),
    "potential_energy": ("", "J", "potential energy"),
    "energy": ("", "J", "total energy"),
    "work": ("", "J", "work done since the start by motors, forces and moving rows, less damping"),
    "momentum": ("momentum_component", "", "linear momentum, then angular about the world's origin"),
    "outputs": ("output", "", "outputs of the machine"),
}
OPTIONAL = ("push",)  # variables that only some runs have
OBSERVED = {
    "kinetic": "kinetic_energy",
    "potential": "potential_energy",
    "momentum": "momentum",
    "residual": "residual",
    "speed_residual": "residual_rate",
    "outputs": "outputs",
}


def dataset(run: Run) -> xr.Dataset:
    """Everything as a labelled data set: names as coordinates, units and long names, provenance as attributes."""
    values = {name: run.observed[key] for key, name in OBSERVED.items()}
    values |= {name: getattr(run, name) for name in ("q", "v", "acceleration", "constraint_force", "actuation", "work")}
    forces = slice(run.actuation.shape[1], run.plant.layout.u.stop - run.plant.layout.u.start)
    values |= {"energy": run.energy, "sampled_force": run.inputs[:, forces]}
    if run.inputs.shape[1] > forces.stop:
        values["push"] = run.push
    return labelled(run.plant.machine, run.time, values, provenance(run))


def labelled(machine: Machine, time: Array, values: Mapping[str, Array], said: Mapping[str, Any]) -> xr.Dataset:
    """Put names and units to the values of every variable."""
    import xarray as xr

    variables: dict[str, Any] = {}
    for name, (dimension, unit, words) in VARIABLES.items():
        if name not in values:
            continue
        attributes = {"long_name": words, "units": unit or f"see {unit_coordinate(name)}"}
        shape, along = ((len(time), -1), ("time", dimension)) if dimension else ((len(time),), ("time",))
        array = values[name].reshape(shape) if values[name].size else values[name]
        variables[name] = (along, array, attributes)
    beside = {name: (dimension, np.array(entries, dtype=str)) for name, (dimension, entries) in names(machine).items()}
    coordinates = {"time": ("time", time, {"units": "s", "long_name": "time"}), **beside}
    return xr.Dataset(variables, coords=coordinates, attrs=dict(said))


def unit_coordinate(variable: str) -> str:
    """Name of the auxiliary coordinate that holds the unit of each column of a variable."""
    of_velocity = {
        "acceleration": "acceleration_unit",
        "constraint_force": "force_unit",
        "push": "force_unit",
        "residual_rate": "row_rate_unit",
    }
    return of_velocity.get(variable, f"{VARIABLES[variable][0]}_unit")


def names(machine: Machine) -> dict[str, tuple[str, Sequence[str]]]:
    """Names along every dimension, and the units beside them, each with its dimension."""
    speeds = [velocity.unit for velocity in machine.velocities]
    rows = units.row_units(machine)
    sampled = machine.sampled_inputs
    return {
        "coordinate": ("coordinate", [coordinate.name for coordinate in machine.coordinates]),
        "coordinate_unit": ("coordinate", [coordinate.unit for coordinate in machine.coordinates]),
        "velocity": ("velocity", [velocity.name for velocity in machine.velocities]),
        "velocity_unit": ("velocity", speeds),
        "acceleration_unit": ("velocity", [acceleration_unit(unit) for unit in speeds]),
        "force_unit": ("velocity", [force_unit(unit) for unit in speeds]),
        "actuator": ("actuator", [actuator.name for actuator in machine.actuators]),
        "actuator_unit": ("actuator", units.actuator_units(machine)),
        "sampled": ("sampled", sampled),
        "sampled_unit": ("sampled", units.sampled_units(machine)),
        "row": ("row", machine.rows),
        "row_unit": ("row", rows),
        "row_rate_unit": ("row", units.row_rate_units(machine)),
        "output": ("output", [output.name for output in machine.outputs]),
        "output_unit": ("output", [output.unit for output in machine.outputs]),
        "momentum_component": ("momentum_component", list(MOMENTUM)),
        "momentum_component_unit": ("momentum_component", list(MOMENTUM.values())),
    }


def run_of(data: xr.Dataset) -> Run:
    """Make the Run that a data set holds. Its plant derives and compiles nothing before it is asked to."""
    said = data.attrs
    arrays = {name: np.asarray(data[name].values, dtype=float) for name in VARIABLES if name in data}
    run = Run(
        plant=_plant(said),
        time=np.asarray(data["time"].values, dtype=float),
        q=arrays["q"],
        v=arrays["v"],
        acceleration=arrays["acceleration"],
        constraint_force=arrays["constraint_force"],
        actuation=arrays["actuation"],
        work=arrays["work"],
        inputs=np.hstack([arrays[name] for name in ("actuation", "sampled_force", "push") if name in arrays]),
        status=status_of(said),
        effort=effort_of(said),
        worst=worst_of(said),
        start_energy_loss=float(said.get("start_energy_loss", 0.0)),  # files of older versions say nothing of it
        shortfalls=shortfalls_of(said),
    )
    observed = {key: arrays[name].reshape(len(run.time), -1) for key, name in OBSERVED.items()}
    vars(run).update(observed=observed, data=data)  # its own cached readings, as they were
    return run


def _plant(said: dict[str, Any]) -> Plant:
    from kalaba.constrain.solvers import KKT, MaskedLDL, NullSpace, UdwadiaKalaba
    from kalaba.derive.kane import Kane
    from kalaba.derive.lagrange import Lagrange
    from kalaba.derive.newton_euler import NewtonEuler
    from kalaba.native.backend import Interpreted, Native
    from kalaba.plant.plant import Plant

    return Plant(
        from_json(said["system"]),
        method=_chosen(said["method"], (NewtonEuler(), Lagrange(), Kane())),
        backend=_chosen(said["backend"], (Native(), Interpreted())),
        solver=_chosen(said["solver"], (MaskedLDL(), UdwadiaKalaba(), KKT(), NullSpace())),
    )


def _chosen(text: str, choices: tuple[Any, ...]) -> Any:  # noqa: ANN401
    """The choice that a text names; the default, which is the first, for one that is not kalaba's own."""
    known = {repr(choice): choice for choice in choices}
    if text not in known:
        logging.getLogger(__name__).warning("%s is not kalaba's own; going on with %r", text, choices[0])
    return known.get(text, choices[0])
