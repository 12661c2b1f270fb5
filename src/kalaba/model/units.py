"""Units of what a Run holds, from those of the machine's displacements. An empty text: not known."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from kalaba.model.machine import MachineConnection, Thrust
from kalaba.model.text.expressions import Expression
from kalaba.model.text.syntax import Binary, Call, Distance, Name, Node, Rate, Unary, fold
from kalaba.units import ALONG, FORCES, rate_unit

if TYPE_CHECKING:
    from kalaba.model.machine import Machine, MachineRotor, MachineSpring
    from kalaba.model.parts import Parameter


def actuator_units(machine: Machine) -> tuple[str, ...]:
    """Unit of each motor's force."""
    driven = [actuator.displacement for actuator in machine.actuators]
    return tuple("N" if isinstance(d, Thrust) else FORCES.get(unit_of(machine, d), "") for d in driven)


def sampled_units(machine: Machine) -> tuple[str, ...]:
    """Unit of each input that holds a sampled force or torque."""
    return tuple(FORCES["rad" if ".torque." in name else "m"] for name in machine.sampled_inputs)


def row_rate_units(machine: Machine) -> list[str]:
    """Units of the rows' rates; a row at velocity level is its own rate."""
    pairs = zip(row_units(machine), machine.is_velocity_level, strict=True)
    return [unit if moving else rate_unit(unit) for unit, moving in pairs]


def row_units(machine: Machine) -> tuple[str, ...]:
    """Unit of each constraint row."""
    units: list[str] = []
    for closure in machine.closures:
        if isinstance(closure, MachineConnection):
            units += closure.joint.row_units
        else:
            units += [unit_of(machine, entry) if isinstance(entry, Expression) else "" for entry in closure.zero]
    return tuple(units)


def with_units_along(machine: Machine) -> tuple[Parameter, ...]:
    """The machine's parameters, those of springs and rotors in the units of what they act along.

    About an axis a damping is N·m·s/rad, along a travel N·s/m; where the displacement does not say, it is as it was.
    """
    known = _known(machine)
    acting: list[MachineSpring | MachineRotor] = [*machine.springs, *machine.rotors]
    along = {part.name: fold(part.displacement.tree, partial(_unit, known)) for part in acting}
    pairs = {unit: pair for pair in ALONG for unit in pair}

    def fitting(parameter: Parameter) -> Parameter:
        unit = along.get(parameter.name.rpartition(".")[0]) or ""
        if unit not in ALONG[0] or parameter.unit not in pairs:
            return parameter
        return replace(parameter, unit=pairs[parameter.unit][ALONG[0].index(unit)])

    return tuple(map(fitting, machine.parameters))


def unit_of(machine: Machine, expression: Expression) -> str:
    """Unit of an expression that adds and scales things of one unit; empty where that does not say."""
    return fold(expression.tree, partial(_unit, _known(machine))) or ""


def _known(machine: Machine) -> dict[str, str]:
    """The unit of everything that an expression may name."""
    known = {p.name: p.unit for p in machine.parameters}
    known |= {f"{frame}.{axis}": "m" for frame in machine.frames for axis in "xyz"}
    known |= {c.name: c.unit for c in (*machine.velocities, *machine.coordinates)}
    known |= {name: displacement.unit for name, displacement in machine.displacements.items()}
    return known


def _unit(known: dict[str, str], node: Node, below: list[str | None]) -> str | None:  # noqa: PLR0911  (one per kind of node)
    """Unit of a node from those of its children; None for plain numbers, empty where it is not known."""
    match node:
        case Name(name):
            return known.get(name, None if name == "pi" else "")
        case Unary():
            return below[0]
        case Distance():
            return "m"
        case Rate():
            return rate_unit(below[0] or "")
        case Binary("*" | "/" as operator):
            left, right = below
            return left if right is None else right if left is None and operator == "*" else ""
        case Binary("+" | "-") | Call("abs" | "min" | "max"):
            return _common(below)
        case Binary() | Call("sqrt"):
            return "" if any(below) else None
        case _:
            return None  # a number, or a function such as cos


def _common(units: list[str | None]) -> str | None:
    distinct = {unit for unit in units if unit is not None}
    return None if not distinct else distinct.pop() if len(distinct) == 1 else ""
