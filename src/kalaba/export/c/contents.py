"""What a C export holds, before it is text: tables for people, numbers, routines, and the cases of its test program."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from kalaba.export.c.routine import DOUBLE, Cost, Routine
from kalaba.model.listing import UNLIMITED, actuators
from kalaba.model.units import row_units
from kalaba.space.arrays import Array
from kalaba.tolerances import C_AGREES, C_CASE_SMALL
from kalaba.units import acceleration_unit

if TYPE_CHECKING:
    from kalaba.model.parts import Parameter
    from kalaba.plant.plant import Plant

SLACK = 4.0  # C may differ from what was expected by this multiple of what rounding was seen to do
FRAMES = 64  # numbers for arguments and addresses of calls within calls


@dataclass(frozen=True, slots=True)
class Table:
    """An ordered list in the header's comment."""

    heading: str
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Numbers:
    """A constant array of the export, each number with a remark; `size` is the macro that counts it."""

    name: str
    size: str
    values: tuple[float, ...]
    remarks: tuple[str, ...]
    text: str


@dataclass(frozen=True, slots=True)
class Entry:
    """A function that users call: its prototype without the semicolon, what it does, and its body."""

    prototype: str
    text: str
    body: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Trial:
    """The cases of the test program: arrays of shape (cases, n), what is done before a call, the call, and its results.

    In the C lines `k` is the number of the case; an input is read as `given_name[k]`.
    """

    inputs: tuple[tuple[str, Array], ...]
    declarations: tuple[str, ...]
    before: tuple[str, ...]
    call: tuple[str, ...]
    expected: tuple[tuple[str, Array], ...]
    note: str
    tolerance: float = C_AGREES


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """All of a C export."""

    prefix: str
    title: str
    notes: tuple[str, ...]  # paragraphs: what it computes, how to call it, what it takes for granted
    tables: tuple[Table, ...]
    macros: tuple[tuple[str, str, str], ...]  # name, value, remark
    numbers: tuple[Numbers, ...]
    types: tuple[str, ...]
    routines: tuple[Routine, ...]
    inner: tuple[str, ...]  # functions that only the others call
    entries: tuple[Entry, ...]
    cost: tuple[str, ...]
    trial: Trial


def listed(heading: str, names: tuple[str, ...], remarks: tuple[str, ...] | list[str]) -> Table:
    """A table of names in their order, each with a unit or a remark."""
    pairs = zip(names, remarks, strict=True)
    return Table(heading, tuple(f"[{i}] {name}{f', {word}' if word else ''}" for i, (name, word) in enumerate(pairs)))


def machine_tables(plant: Plant) -> dict[str, Table]:
    """The orders of a machine's coordinates, velocities, accelerations, inputs and rows."""
    machine = plant.machine
    limited = actuators(machine)
    pairs = zip(limited.column("unit"), limited.column("limit"), strict=True)
    motors = [unit if limit == UNLIMITED else f"{unit}, at most {limit}" for unit, limit in pairs]
    speeds = [c.unit for c in machine.velocities]
    sampled, free = machine.sampled_inputs, machine.free_parameters
    fixed = [parameter for parameter in machine.parameters if parameter.is_structure]
    return {
        "q": listed("q, the coordinates", plant.coordinates, [c.unit for c in machine.coordinates]),
        "v": listed("v, the velocities", plant.velocities, speeds),
        "acceleration": listed("accelerations", plant.velocities, [acceleration_unit(unit) for unit in speeds]),
        "motors": listed("motors", plant.actuators, motors),
        "u": listed(
            "u, the motors' efforts and sampled forces", (*plant.actuators, *sampled), motors + [""] * len(sampled)
        ),
        "p": listed("p, the parameters", tuple(p.name for p in free), [_described(p) for p in free]),
        "fixed": Table("numbers that are part of the code", tuple(f"{p.name}, {_described(p)}" for p in fixed)),
        "rows": listed("rows of the constraints", plant.constraints, row_units(machine)),
    }


def _described(parameter: Parameter) -> str:
    """Value, unit and meaning."""
    return f"{parameter.value!r} {parameter.unit}{f': {parameter.description}' if parameter.description else ''}"


def parameters(plant: Plant, prefix: str) -> tuple[Numbers, ...]:
    """The machine's own parameters as a default array; none where it has none."""
    free = plant.machine.free_parameters
    if not free:
        return ()
    remarks = [f"{p.name}, {p.unit}" for p in free]
    text = "The parameters of the machine as it was exported. Copy and change them, or pass them as they are."
    return (
        Numbers(
            f"{prefix}_parameters",
            f"{prefix.upper()}_PARAMETERS",
            tuple(plant.parameters.tolist()),
            tuple(remarks),
            text,
        ),
    )


def sizes(plant: Plant, prefix: str, **more: tuple[int, str]) -> tuple[tuple[str, str, str], ...]:
    """Macros of the sizes of arrays."""
    counts = {
        "COORDINATES": (len(plant.coordinates), "numbers in q"),
        "VELOCITIES": (len(plant.velocities), "numbers in v"),
        "PARAMETERS": (len(plant.parameters), "numbers in p"),
        **more,
    }
    return tuple((f"{prefix.upper()}_{name}", str(size), remark) for name, (size, remark) in counts.items())


def gap(results: Array, expected: Array) -> float:
    """Largest difference over the largest number expected, in each case or a thousandth of that of all cases."""
    sizes = np.maximum(
        np.abs(expected).max(axis=1, initial=0.0), C_CASE_SMALL * (np.abs(expected).max(initial=0.0) or 1.0)
    )
    return float((np.abs(results - expected).max(axis=1, initial=0.0) / sizes).max(initial=0.0))


def cost_lines(cost: Cost, arrays: int = 0, of: str = "") -> tuple[str, ...]:
    """What a call costs, in words; `arrays` counts the numbers that the function itself keeps on the stack."""
    stack = cost.stack + DOUBLE * (arrays + FRAMES)
    return (
        f"{cost.flops} floating-point operations{of}: {cost.text}",
        f"at most {stack} bytes of stack where no function is inlined, as a rule less",
        "no other memory",
    )
