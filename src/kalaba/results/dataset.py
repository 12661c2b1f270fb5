"""Run ↔ xarray: everything that a Run holds under names, with units and provenance.

Provenance is what a file says of how its numbers came about, as plain texts and numbers.
"""

from __future__ import annotations

import json
import logging
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from kalaba.constrain.solvers import SOLVERS
from kalaba.derive.methods import METHODS
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.model import units
from kalaba.model.formats import control_as_text
from kalaba.model.serial import from_json, to_json
from kalaba.native.backend import BACKENDS
from kalaba.plant.plant import Plant
from kalaba.results.accuracy import Judgement, StateError
from kalaba.results.labelled import Labelled, Variable
from kalaba.results.run import Effort, Ending, LostHold, MethodChange, Run, Shortfall, Status, Worst
from kalaba.space.arrays import Array
from kalaba.units import MOMENTUM, acceleration_unit, force_unit

if TYPE_CHECKING:
    import xarray as xr

    from kalaba.model.machine import Machine

Choice = TypeVar("Choice")
FORMAT = 2  # of files; a newer kalaba that changes it counts it up; 2: with a seal
SETTINGS = ("stepper", "stabilisation", "control", "stop", "save_every", "law")  # choices of a run, in words

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


def dataset(run: Run) -> Labelled:
    """Everything as a labelled data set: names as coordinates, units and long names, provenance as attributes."""
    values = {name: run.observed[key] for key, name in OBSERVED.items()}
    values |= {name: getattr(run, name) for name in ("q", "v", "acceleration", "constraint_force", "actuation", "work")}
    forces = slice(run.actuation.shape[1], run.plant.layout.u.stop - run.plant.layout.u.start)
    values |= {"energy": run.energy, "sampled_force": run.inputs[:, forces]}
    if run.inputs.shape[1] > forces.stop:
        values["push"] = run.push
    return labelled(run.plant.machine, run.time, values, provenance(run))


def labelled(machine: Machine, time: Array, values: Mapping[str, Array], facts: Mapping[str, Any]) -> Labelled:
    """Put names and units to the values of every variable."""
    coordinates = {"time": Variable(("time",), time, {"units": "s", "long_name": "time"})}
    for name, (dimension, entries) in names(machine).items():
        coordinates[name] = Variable((dimension,), np.array(entries, dtype=str), {})
    variables = dict(coordinates)
    for name, (dimension, unit, words) in VARIABLES.items():
        if name not in values:
            continue
        attributes = {"long_name": words, "units": unit or f"see {unit_coordinate(name)}"}
        shape: tuple[int, ...] = (len(time), -1) if dimension else (len(time),)
        array = values[name].reshape(shape) if values[name].size else values[name]
        variables[name] = Variable(("time", dimension) if dimension else ("time",), array, attributes)
    return Labelled(variables, tuple(coordinates), dict(facts))


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


def provenance(run: Run) -> dict[str, Any]:
    """Everything but the samples: who made them, from what, how, and how it ended."""
    plant, effort, status = run.plant, run.effort, run.status
    facts: dict[str, Any] = {
        "title": f"kalaba run of {plant.system.name}",
        "kalaba_format": FORMAT,
        "kalaba_version": version("kalaba"),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "platform": f"{platform.platform()}, Python {platform.python_version()}",
        "system_name": plant.system.name,
        "system": to_json(plant.system),
        "method": repr(plant.method),
        "backend": repr(plant.backend),
        "solver": repr(plant.solver),
        "samples": len(run.time),
        "status": status.ending.value,
        "status_time": float(status.time),
        "status_message": status.message,
        "steps": int(effort.steps),
        "steps_rejected": int(effort.rejected),
        "wall_time": float(effort.wall_time),
        "start_energy_loss": float(run.start_energy_loss),
        "jolt": float(effort.jolt[0]),
        "jolt_time": float(effort.jolt[1]),
        "jolt_felt": float(effort.jolt_felt),
        "method_changes": json.dumps(effort.changes),
        "method_stays": effort.stays,
        "stiff_rate": float(effort.stiff_rate),
        "rank_choices": json.dumps([[float(time), int(rank)] for time, rank in effort.choices]),
        "judgement": json.dumps(run.judgement),
        "shortfalls": json.dumps(run.shortfalls),
        "lost_hold": json.dumps(run.lost_hold),
        **{name: effort.settings[name] for name in SETTINGS if name in effort.settings},
        **_law(run),
    }
    if run.worst is not None:
        facts |= {
            "worst_residual": float(run.worst.value),
            "worst_residual_row": run.worst.row,
            "worst_residual_time": float(run.worst.time),
        }
    return facts


def _law(run: Run) -> dict[str, str]:
    """The control law of a run as text, so that its file can be run again; expressions of motors are kept in words."""
    if run.control is None:
        return {}
    return {"law": control_as_text(run.system, run.control)}


def run_of(data: xr.Dataset) -> Run:
    """Make the Run that a data set holds. Its plant derives and compiles nothing before it is used."""
    facts = data.attrs
    arrays = {name: np.asarray(data[name].values, dtype=float) for name in VARIABLES if name in data}
    plant = _plant(facts)
    _check_shapes(plant.machine, arrays, int(data.sizes["time"]))
    run = Run(
        plant=plant,
        time=np.asarray(data["time"].values, dtype=float),
        q=arrays["q"],
        v=arrays["v"],
        acceleration=arrays["acceleration"],
        constraint_force=arrays["constraint_force"],
        actuation=arrays["actuation"],
        work=arrays["work"],
        inputs=np.hstack([arrays[name] for name in ("actuation", "sampled_force", "push") if name in arrays]),
        status=_status(facts),
        effort=_effort(facts),
        worst=_worst(facts),
        start_energy_loss=float(facts.get("start_energy_loss", 0.0)),  # older files do not say
        shortfalls=_shortfalls(facts),
        judgement=_judgement(facts),
        lost_hold=_lost_hold(facts),
    )
    observed = {key: arrays[name].reshape(len(run.time), -1) for key, name in OBSERVED.items()}
    vars(run).update(observed=observed, data=data)  # cached readings, as they were saved
    return run


def _check_shapes(machine: Machine, arrays: Mapping[str, Array], samples: int) -> None:
    """Refuse arrays that are not the machine's."""
    along = {name: len(entries) for name, (_, entries) in names(machine).items()}
    for name, array in arrays.items():
        dimension = VARIABLES[name][0]
        expected = (samples, along[dimension]) if dimension else (samples,)
        if array.shape != expected:
            raise ValueError(f"{name} has the shape {array.shape}, expected {expected}")


def _plant(facts: Mapping[str, Any]) -> Plant:
    return Plant(
        from_json(facts["system"]),
        method=_chosen(facts["method"], (NewtonEuler(), *METHODS.values())),
        backend=_chosen(facts["backend"], BACKENDS),
        solver=_chosen(facts["solver"], SOLVERS),
    )


def _chosen(text: str, choices: tuple[Choice, ...]) -> Choice:
    """The choice that a text names; the default, which is the first, for one that is not kalaba's own."""
    known = {repr(choice): choice for choice in choices}
    if text not in known:
        logging.getLogger(__name__).warning("%s is not kalaba's own; going on with %r", text, choices[0])
    return known.get(text, choices[0])


def _status(facts: Mapping[str, Any]) -> Status:
    """How the run ended."""
    return Status(Ending(facts["status"]), float(facts["status_time"]), str(facts["status_message"]))


def _effort(facts: Mapping[str, Any]) -> Effort:
    """What the run took."""
    return Effort(
        steps=int(facts["steps"]),
        rejected=int(facts["steps_rejected"]),
        choices=tuple((float(time), int(rank)) for time, rank in json.loads(facts["rank_choices"])),
        wall_time=float(facts["wall_time"]),
        settings={name: str(facts[name]) for name in SETTINGS if name in facts},
        jolt=(float(facts["jolt"]), float(facts["jolt_time"])),
        jolt_felt=float(facts.get("jolt_felt", Effort().jolt_felt)),  # older files do not say
        changes=tuple(MethodChange(*change) for change in json.loads(facts.get("method_changes", "[]"))),
        stays=str(facts.get("method_stays", "")),
        stiff_rate=float(facts.get("stiff_rate", 0.0)),
    )


def _judgement(facts: Mapping[str, Any]) -> Judgement:
    """What the run found out about itself; older files do not say."""
    if "judgement" not in facts:
        return Judgement()
    error, *others = json.loads(facts["judgement"])
    return Judgement(StateError(*error), *others)


def _worst(facts: Mapping[str, Any]) -> Worst | None:
    """The largest residual; None for a machine without rows."""
    if "worst_residual" not in facts:
        return None
    return Worst(float(facts["worst_residual"]), str(facts["worst_residual_row"]), float(facts["worst_residual_time"]))


def _shortfalls(facts: Mapping[str, Any]) -> tuple[Shortfall, ...]:
    """Where motors were asked for more than they may give; older files do not say."""
    return tuple(
        Shortfall(float(t), str(motor), float(gap)) for t, motor, gap in json.loads(facts.get("shortfalls", "[]"))
    )


def _lost_hold(facts: Mapping[str, Any]) -> LostHold | None:
    """Where motors lost hold of the machine; older files do not say."""
    saved = json.loads(facts.get("lost_hold", "null"))
    return None if saved is None else LostHold(*map(float, saved))
