"""System → Machine: lay out placed Systems under full names, collect every number, check that all names exist.

Two passes: the first gives names to coordinates, frames and parameters in declared order, the second resolves what
the parts say of each other. A name in a System is looked up in that System; `world` is what it stands on.
"""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from kalaba.errors import ModelError, near
from kalaba.model import acting
from kalaba.model import machine as flat
from kalaba.model import parts as described
from kalaba.model.appearance import MachineVisual, Visual
from kalaba.model.names import WORLD, check_name
from kalaba.model.plausible import check_values
from kalaba.model.system import Placement
from kalaba.model.text.expressions import Expression, parse
from kalaba.model.text.resolve import Scope, unknown_word
from kalaba.model.text.traced import Traced
from kalaba.model.topology.recut import recut
from kalaba.model.topology.trees import carrier, parents_first
from kalaba.model.units import with_units_along
from kalaba.space.number import check_number, is_structure, quantities, with_values
from kalaba.space.pose import AsFound

if TYPE_CHECKING:
    from kalaba.model.system import System


def flatten(system: System) -> flat.Machine:
    """Lay out a System flat, or raise a ModelError that names the part at fault."""
    layout = _Layout(system.name)
    layout.frames[WORLD] = flat.MachineFrame(WORLD, "", None, -1)
    layout.collect(system, Scope("", WORLD))
    gravity = layout.numbers(system, Scope("", WORLD), "").gravity
    resolved = {
        kind: [layout.resolve(part, scope) for part, scope in layout.parts_by_kind[kind]] for kind in _RESOLVE_ORDER
    }
    bodies = parents_first(resolved[described.Body], layout.frames)
    layout.set_carriers(bodies)
    closures = [layout.resolve(part, scope) for part, scope in layout.closures]
    layout.check_numbers()
    connections = [c for c in closures if isinstance(c, flat.MachineConnection)]
    check_values(bodies, connections, layout.frames.values(), layout.parameters.values())
    for connection in connections:
        layout.check_connection(connection)
    machine = flat.Machine(
        name=system.name,
        gravity=gravity,
        coordinates=layout.coordinates_with_units(bodies),
        velocities=layout.velocities_with_units(bodies),
        bodies=tuple(bodies),
        frames=layout.frames,
        closures=tuple(closures),
        actuators=tuple(resolved[acting.Actuator]),
        springs=tuple(resolved[acting.Spring]),
        rotors=tuple(resolved[acting.Rotor]),
        forces=tuple(resolved[acting.Force]),
        outputs=tuple(resolved[described.Output]),
        parameters=tuple(layout.parameters.values()),
        start=described.Start.joined(layout.starts),
        quaternions=tuple(layout.quaternions),
        scalar_pairs=tuple(layout.scalar_pairs),
        visuals=tuple(resolved[Visual]),
    )
    machine = replace(machine, parameters=with_units_along(machine))
    known = _start_words(machine)
    for loop, body in layout.cuts:
        machine = recut(machine, loop, body)
    _check_start(machine, known | _start_words(machine))
    return machine


def _start_words(machine: flat.Machine) -> set[str]:
    """What a start may name."""
    return {*(c.name for c in machine.coordinates), *machine.displacements, *machine.frames}


def _check_start(machine: flat.Machine, known: set[str]) -> None:
    """Refuse start entries for names that do not exist."""
    for key, _ in (*machine.start.hold, *machine.start.guess, *machine.start.speed):
        if key not in known:
            raise ModelError(f"{machine.name}.start: no coordinate, displacement or frame {key!r}; {near(key, known)}")


_ACTING = (acting.Actuator, acting.Spring, acting.Rotor, acting.Force)
_RESOLVE_ORDER: tuple[Any, ...] = (described.Body, *_ACTING, described.Output, Visual)


@dataclass
class _Layout:
    """What has been found so far; lives only while a System is laid out."""

    name: str
    frames: dict[str, flat.MachineFrame] = field(default_factory=dict)
    parameters: dict[str, described.Parameter] = field(default_factory=dict)
    overrides: dict[str, float] = field(default_factory=dict)
    coordinates: dict[str, str] = field(default_factory=dict)  # name: unit ("" while unknown)
    velocities: dict[str, str] = field(default_factory=dict)
    displacements: dict[str, str] = field(default_factory=dict)
    quaternions: list[tuple[int, int]] = field(default_factory=list)
    scalar_pairs: list[tuple[int, int]] = field(default_factory=list)
    body_indices: dict[str, tuple[int, int]] = field(default_factory=dict)
    mode_indices: dict[str, tuple[int, int]] = field(default_factory=dict)
    readings: dict[str, str] = field(default_factory=dict)  # deflections and slopes of beams' tips, with units
    parts_by_kind: dict[Any, list[tuple[Any, Scope]]] = field(
        default_factory=lambda: {kind: [] for kind in _RESOLVE_ORDER}
    )
    closures: list[tuple[Any, Scope]] = field(default_factory=list)
    starts: list[described.Start] = field(default_factory=list)  # what an outer System says comes first
    cuts: list[tuple[str, str]] = field(default_factory=list)  # (connection, body)
    taken: set[str] = field(default_factory=set)
    derived: list[tuple[str, Expression]] = field(default_factory=list)  # numbers given as expressions
    copies: dict[str, Any] = field(default_factory=dict)  # parts with their numbers as expressions, by path

    def collect(self, system: System, scope: Scope) -> None:
        """First pass: names, coordinates, frames, in declared order."""
        for path, value in system.parameters:
            if not scope.prefix or not path.startswith("gravity."):  # only the outermost gravity acts
                self.overrides.setdefault(scope.full(path), value)
        mine = system.start.prefixed(scope.prefix) if scope.prefix else system.start
        self.cuts += [(scope.full(connection), scope.full(body)) for connection, body in system.cuts]
        self.starts.append(mine)
        for name in system.coordinates:
            check_name(name, f"{system.name}.coordinates")
            self._take(scope.full(name), "coordinate")
            self._add_scalar(scope.full(name), "")
        for part in system.parts:
            self._take(scope.full(part.name), "part")
            self._collect_part(part, scope)

    def _collect_part(self, part: Any, scope: Scope) -> None:
        name = scope.full(part.name)
        if isinstance(part, Placement):
            for path, value in part.parameters:
                self.overrides.setdefault(f"{name}.{path}", value)
            self.starts.append(part.start.prefixed(name))
            at = self.numbers(part, scope, name).at
            self.frames[name] = flat.MachineFrame(name, scope.frame(part.parent), at, -1)
            self.collect(part.system, Scope(name, name))
        elif isinstance(part, described.Body):
            self._collect_body(part, name)
            self.parts_by_kind[described.Body].append((part, scope))
        elif isinstance(part, described.Frame):
            at = self.numbers(part, scope, name).at
            self.frames[name] = flat.MachineFrame(name, scope.frame(part.parent), at, -1)
        elif isinstance(part, described.Parameter):
            check_name(part.name, "Parameter")
            self._add_parameter(replace(part, name=name))
        elif isinstance(part, described.Connection | described.Constraint):
            self.closures.append((part, scope))
        else:
            kind = acting.Actuator if isinstance(part, acting.Thruster) else type(part)
            self.parts_by_kind[kind].append((part, scope))
        if isinstance(part, described.Body | described.Connection | acting.Spring | acting.Rotor):
            self.numbers(part, scope, name)  # so that every expression knows every number

    def _collect_body(self, part: described.Body, name: str) -> None:
        self.frames[name] = flat.MachineFrame(name, "", None, -1)
        if part.solid.mass_properties(lambda _: 1.0).tip is not None:
            self.frames[f"{name}.tip"] = flat.MachineFrame(f"{name}.tip", name, None, -1, is_tip=True)
        if part.joint.has_quaternion:
            self._add_quaternion(part, name)
        for (label, unit), expression in zip(part.joint.displacements, part.joint.expressions, strict=True):
            self.displacements[f"{name}.{label}"] = unit
            if expression is None:
                self._add_scalar(f"{name}.{label}", unit)
        if part.solid.modes:
            self.mode_indices[name] = (len(self.coordinates), len(self.velocities))
        for mode, unit in enumerate(part.solid.mode_units, start=1):
            self._add_scalar(f"{name}.mode{mode}", unit)
        readings = {reading: unit for reading, unit, _ in part.solid.readings(name)}
        self.readings |= readings
        self.displacements |= readings

    def _add_scalar(self, name: str, unit: str) -> None:
        self.scalar_pairs.append((len(self.coordinates), len(self.velocities)))
        self.coordinates[name] = unit
        self.velocities[name] = unit

    def _add_quaternion(self, part: described.Body, name: str) -> None:
        first_q, first_v = self.body_indices[name] = (len(self.coordinates), len(self.velocities))
        scalars = part.joint.q_count - 4  # the position before the quaternion
        self.scalar_pairs += [(first_q + i, first_v + i) for i in range(scalars)]
        self.quaternions.append((first_q + scalars, first_v + scalars))
        self.coordinates |= {f"{name}.{label}": unit for label, unit in part.joint.coordinates}
        self.velocities |= {f"{name}.{label}": unit for label, unit in part.joint.velocities}

    def _take(self, name: str, what: str) -> None:
        if name in self.taken:
            raise ModelError(f"{self.name}.{name}: a second {what} of that name. Rename one of them.")
        self.taken.add(name)

    def _add_parameter(self, parameter: described.Parameter) -> None:
        value = self.overrides.get(parameter.name, parameter.value)
        known = replace(parameter, value=value, is_structure=value == 0.0)
        self.parameters[parameter.name] = known

    def numbers(self, part: Any, scope: Scope, path: str) -> Any:
        """Copy a part with every number replaced by an expression in full names; note the parameters."""
        if path in self.copies:
            return self.copies[path]
        by_path = {quantity.path: quantity for quantity in quantities(part)}

        def number(inner: str) -> Expression:
            quantity = by_path[inner]
            full = f"{path}.{inner}" if path else inner
            value = self.overrides.get(full, quantity.value)
            if isinstance(value, str):
                self.derived.append((full, scope.parameter_expression(value, full)))
                return self.derived[-1][1]
            check_number(full, value)
            structure = is_structure(quantity, value)
            self.parameters[full] = described.Parameter(full, value, quantity.unit, quantity.description, structure)
            return parse(full)

        self.copies[path] = with_values(part, number)
        return self.copies[path]

    def resolve(self, part: Any, scope: Scope) -> Any:
        """Second pass: one part in full names."""
        return _RESOLVERS[type(part)](self, part, scope, scope.full(part.name))

    def expression(self, text: Any, scope: Scope, path: str) -> Expression:
        """Read an expression of coordinates, displacements, parameters and frames."""
        return scope.expression(text, path, self.scalars, self.frames)

    @property
    def scalars(self) -> ChainMap[str, Any]:
        """All names that have one number; looked up where they are, since there may be thousands."""
        return ChainMap[str, Any](self.coordinates, self.velocities, self.displacements, self.parameters)

    def set_carriers(self, bodies: Iterable[flat.MachineBody]) -> None:
        """Find the body that carries each frame."""
        indices = {body.name: index for index, body in enumerate(bodies)}
        for name in self.frames:
            self.frames[name] = replace(self.frames[name], body=carrier(name, self.frames, indices))

    def check_connection(self, connection: flat.MachineConnection) -> None:
        """Refuse a connection between frames of one body."""
        child, parent = self.frames[connection.child], self.frames[connection.parent]
        if child.body == parent.body:
            raise ModelError(
                f"{self.name}.{connection.name}: expected frames of two bodies, got {connection.child} and "
                f"{connection.parent} on one. Connect it to another body or to the world."
            )

    def check_numbers(self) -> None:
        """Refuse values and expressions of parameters that do not exist."""
        for path, expression in self.derived:
            for name in (name for name in expression.names if name not in self.parameters):
                raise unknown_word(expression, name, path, self.parameters)
        for path in self.overrides:
            if path not in self.parameters:
                raise ModelError(f"{self.name}: no parameter {path!r}; {near(path, self.parameters)}")

    def coordinates_with_units(self, bodies: Iterable[flat.MachineBody]) -> tuple[flat.Coordinate, ...]:
        """Coordinates, declared ones with the unit of the first displacement that they move."""
        for displacement in (d for body in bodies for d in body.displacements):
            for name in displacement.expression.names:
                if self.coordinates.get(name) == "":
                    self.coordinates[name] = displacement.unit
        return tuple(flat.Coordinate(name, unit or "1") for name, unit in self.coordinates.items())

    def velocities_with_units(self, bodies: Iterable[flat.MachineBody]) -> tuple[flat.Coordinate, ...]:
        """Velocities: a plain coordinate's rate has its name."""
        units = {c.name: f"{c.unit}/s" for c in self.coordinates_with_units(bodies)}
        names = list(self.velocities)
        plain = {names[v] for _, v in self.scalar_pairs}
        return tuple(
            flat.Coordinate(name, units.get(name, unit) if name in plain else unit)
            for name, unit in self.velocities.items()
        )


def _body(layout: _Layout, part: described.Body, scope: Scope, name: str) -> flat.MachineBody:
    copy = layout.numbers(part, scope, name)
    displacements = []
    for (label, unit), entry in zip(part.joint.displacements, part.joint.expressions, strict=True):
        full = f"{name}.{label}"
        known = ChainMap[str, Any](layout.coordinates, layout.parameters, layout.readings)
        text = parse(full) if entry is None else scope.expression(entry, f"{full} (q=)", known, {})
        if text.has_rate or text.uses_time:
            raise ModelError(
                f"{full}: expected q= as an expression of coordinates, got one of time or rates: {entry!r}. "
                "To drive it in time, add a Constraint."
            )
        displacements.append(flat.Displacement(full, unit, text))
    q_index, v_index = layout.body_indices.get(name, (-1, -1))
    parent = scope.known_frame(part.parent, name, layout.frames)
    return flat.MachineBody(
        *(name, copy.solid, parent, copy.at, copy.joint, tuple(displacements), q_index, v_index),
        *layout.mode_indices.get(name, (-1, -1)),
        readings=tuple(flat.Displacement(full, unit, parse(text)) for full, unit, text in part.solid.readings(name)),
    )


def _connection(layout: _Layout, part: described.Connection, scope: Scope, name: str) -> flat.MachineConnection:
    copy = layout.numbers(part, scope, name)
    child, parent = (scope.known_frame(f, name, layout.frames) for f in (part.child, part.parent))
    return flat.MachineConnection(name, child, parent, part.at if isinstance(part.at, AsFound) else copy.at, copy.joint)


def _constraint(layout: _Layout, part: described.Constraint, scope: Scope, name: str) -> flat.MachineConstraint:
    zero: tuple[Expression | flat.TracedRow, ...]
    if isinstance(part.zero, Traced):
        labels, zero = part.zero.results, _traced(layout, part.zero, scope, name)
    else:
        labels = tuple(label for label, _ in part.zero)
        zero = tuple(layout.expression(text, scope, name) for _, text in part.zero)
    work = []
    for key, text in part.work:
        full = scope.full(key)
        if full not in layout.velocities:
            raise ModelError(f"{name}.work: no velocity {full!r}; {near(full, layout.velocities)}")
        work.append((full, layout.expression(text, scope, f"{name}.work")))
    return flat.MachineConstraint(name, tuple(f"{name}.{x}" if x else name for x in labels), zero, tuple(work))


def _traced(layout: _Layout, traced: Traced, scope: Scope, path: str) -> tuple[flat.TracedRow, ...]:
    arguments = tuple(layout.expression(text, scope, path) for text in traced.arguments)
    return tuple(flat.TracedRow(traced, index, arguments) for index in range(len(traced.results)))


def _thruster(layout: _Layout, part: acting.Thruster, scope: Scope, name: str) -> flat.MachineActuator:
    frame = scope.known_frame(part.frame, name, layout.frames)
    return flat.MachineActuator(name, flat.Thrust(frame, part.axis), part.limit)


def _actuator(layout: _Layout, part: acting.Actuator, scope: Scope, name: str) -> flat.MachineActuator:
    return flat.MachineActuator(name, _displacement(layout, part, scope, name), part.limit)


def _spring(layout: _Layout, part: acting.Spring, scope: Scope, name: str) -> flat.MachineSpring:
    copy, displacement = layout.numbers(part, scope, name), _displacement(layout, part, scope, name)
    return flat.MachineSpring(name, displacement, copy.stiffness, copy.damping, copy.rest, copy.friction, part.creep)


def _rotor(layout: _Layout, part: acting.Rotor, scope: Scope, name: str) -> flat.MachineRotor:
    copy, displacement = layout.numbers(part, scope, name), _displacement(layout, part, scope, name)
    if displacement.uses_time:
        raise ModelError(
            f"{name}.displacement: expected an expression of positions alone, got one of time: {part.displacement!r}."
        )
    return flat.MachineRotor(name, displacement, copy.inertia)


def _displacement(
    layout: _Layout, part: acting.Actuator | acting.Spring | acting.Rotor, scope: Scope, name: str
) -> Expression:
    """What a motor, a spring or a rotor acts along: a length or an angle, not a rate."""
    expression = layout.expression(part.displacement, scope, name)
    speeds = (name for name in expression.names if name in layout.velocities and name not in layout.coordinates)
    if expression.has_rate or any(speeds):
        raise ModelError(
            f"{name}.displacement: expected an expression of positions, got one of rates: {part.displacement!r}. "
            "For a force of the speed use damping= or a control law."
        )
    return expression


def _force(layout: _Layout, part: acting.Force, scope: Scope, name: str) -> flat.MachineForce:
    def half(content: Any) -> Any:
        if isinstance(content, acting.Sampled):
            return content
        if isinstance(content, Traced):
            return _traced(layout, content, scope, name)
        return tuple(layout.expression(entry, scope, name) for entry in content)

    frame = scope.known_frame(part.parent, name, layout.frames)
    return flat.MachineForce(name, frame, half(part.force), half(part.torque))


def _output(layout: _Layout, part: described.Output, scope: Scope, name: str) -> flat.MachineOutput:
    return flat.MachineOutput(name, layout.expression(part.value, scope, name), part.unit)


def _visual(layout: _Layout, part: Visual, scope: Scope, name: str) -> MachineVisual:
    return MachineVisual(name, scope.known_frame(part.parent, name, layout.frames), part.shape, part.at, part.colour)


_RESOLVERS: dict[type, Callable[..., Any]] = {
    described.Body: _body,
    described.Connection: _connection,
    described.Constraint: _constraint,
    acting.Actuator: _actuator,
    acting.Thruster: _thruster,
    acting.Spring: _spring,
    acting.Rotor: _rotor,
    acting.Force: _force,
    described.Output: _output,
    Visual: _visual,
}
