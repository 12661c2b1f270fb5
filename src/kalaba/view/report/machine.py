"""What a report says of a machine: parts, numbers, how it can move, how large its equations are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.analyse.mobility import Mobility, check
from kalaba.errors import KalabaError
from kalaba.model.machine import MachineConnection
from kalaba.model.units import actuator_units, row_units
from kalaba.view.figures.quantities import UNITS
from kalaba.view.report.page import Section, folded, paragraph, table

if TYPE_CHECKING:
    from kalaba.model.machine import Machine
    from kalaba.results.run import Run

ROUNDING = 1e-12  # m, rad
MOST_OPEN = 30  # rows of a table that is not folded


def what_it_is(entry: Any) -> Section:  # noqa: ANN401
    """Source and errata of a machine of the catalogue; a line for one's own."""
    if entry is None:
        body = paragraph("A machine of one's own: it is not one of the catalogue, so that no source is known.")
        return Section("source", "Source", body)
    body = paragraph(entry.source)
    if not entry.errata:
        return Section("source", "Source", body)
    body += "<h3>Errata of the source</h3>" + table(("where", "printed", "correct"), entry.errata)
    return Section("source", "Source and errata", body)


def parts(run: Run) -> Section:
    """Bodies, connections, motors, springs, coordinates and parameters."""
    machine = run.plant.machine
    bodies = [(b.name, b.parent, _joint(b.joint), type(b.solid).__name__.lower()) for b in machine.bodies]
    closures = [_closure(closure) for closure in machine.closures]
    units = actuator_units(machine)
    motors = [
        (a.name, a.displacement.text, f"{a.limit:g} {_printed(unit)}" if np.isfinite(a.limit) else "none")
        for a, unit in zip(machine.actuators, units, strict=True)
    ]
    body = _listed("bodies", ("body", "sits on", "joint", "solid"), bodies)
    body += _listed("connections and constraints", ("name", "joins", "by", "rows"), closures)
    body += _listed("motors", ("motor", "drives", "limit"), motors)
    body += _listed("springs", ("spring", "along"), [(s.name, s.displacement.text) for s in machine.springs])
    body += _listed("outputs", ("output", "value", "unit"), [(o.name, o.value.text, o.unit) for o in machine.outputs])
    return Section("parts", "Parts", body)


def numbers(run: Run) -> Section:
    """Coordinates at the start and the end, and all parameters that are not zero."""
    machine = run.plant.machine
    rows = [
        (c.name, _printed(c.unit), _number(first), _number(last))
        for c, first, last in zip(machine.coordinates, run.q[0], run.q[-1], strict=True)
    ]
    body = _listed("coordinates", ("coordinate", "unit", "first", "last"), rows, (2, 3))
    shown = [(p.name, f"{p.value:.10g}", _printed(p.unit), p.description) for p in machine.parameters if p.value != 0]
    body += _listed("parameters", ("path", "value", "unit", "meaning"), shown, (1,))
    zero = len(machine.parameters) - len(shown)
    if zero:
        body += paragraph(f"{zero} more parameters are zero.", "soft")
    return Section("numbers", "Coordinates and parameters", body)


def mobility(run: Run) -> Section:
    """Freedoms, rank, dependent rows and which reactions are unique, at the machine's own start."""
    try:
        found: Mobility = check(run.plant)
    except KalabaError as error:
        return Section("mobility", "Mobility", paragraph(f"It could not be examined: {error}", "bad"))
    lines: list[tuple[str, object]] = [
        ("coordinates", found.coordinates),
        ("velocities", found.velocities),
        ("constraint rows", len(found.rows)),
        ("rank of the rows", found.rank),
        ("freedoms at the start", found.freedoms),
        ("freedoms nearby", found.freedoms_nearby),
    ]
    if found.rows:
        lines.append(("smallest singular value", f"{found.smallest_singular_value:.3g}, from {found.weakest_row}"))
    body = table(("what", "how many"), lines)
    if found.is_mass_singular:
        body += paragraph("Some motion has no inertia of its own; the rows determine it.")
    if found.dependencies:
        rows = [(row, _combination(terms), _when(found, row)) for row, terms in found.dependencies]
        body += "<h3>Rows that say nothing new</h3>" + table(("row", "follows from", "holds"), rows)
    if found.non_unique_reactions:
        body += paragraph(f"Reactions that are not unique: {', '.join(found.non_unique_reactions)}.")
    return Section("mobility", "Mobility", body)


def sizes(run: Run) -> Section:
    """How large the equations are: entries and operations of each, as derived."""
    import casadi as ca

    equations = run.plant.equations
    s = equations.symbols
    arguments = [s.q, s.v, s.t, s.u, s.p]
    wanted: dict[str, Callable[[], Any]] = {
        "mass matrix M": lambda: equations.mass_matrix,
        "bias h": lambda: equations.bias,
        "constraint matrix A": lambda: equations.constraint_matrix,
        "constraint right-hand side b": lambda: equations.constraint_rhs,
        "motors' map B": lambda: equations.actuation_map,
    }
    rows = []
    for name, expression in wanted.items():
        found = expression()
        if found.numel():
            made = ca.Function("size", arguments, [found], {"allow_free": True})
            rows.append((name, f"{found.shape[0]} × {found.shape[1]}", found.nnz(), made.n_instructions()))
    body = paragraph(f"Derived by {type(run.plant.method).__name__}; solved by {type(run.plant.solver).__name__}.")
    body += table(("expression", "shape", "entries that are not zero", "operations"), rows, (1, 2, 3))
    note = "Operations are counted before the compiler removes what is common to several expressions."
    return Section("sizes", "Size of the equations", body + paragraph(note, "soft"))


def residual_rows(run: Run) -> list[tuple[str, str, str]]:
    """Every row with its largest residual at the samples."""
    largest = np.max(np.abs(np.where(np.isfinite(run.residual), run.residual, 0.0)), axis=0, initial=0.0)
    units = row_units(run.plant.machine)
    found = zip(run.plant.constraints, largest, units, strict=True)
    return [(row, f"{value:.1e}", _printed(unit)) for row, value, unit in found]


def _listed(title: str, headings: tuple[str, ...], rows: list[Any], numeric: tuple[int, ...] = ()) -> str:
    """A titled table, folded where it is long."""
    if not rows:
        return ""
    made = table(headings, rows, numeric)
    if len(rows) > MOST_OPEN:
        made = folded(f"{len(rows)} {title}", made)
    return f"<h3>{title.capitalize()}</h3>{made}"


def _closure(closure: Any) -> tuple[str, str, str, str]:  # noqa: ANN401
    rows = ", ".join(row.removeprefix(f"{closure.name}.") for row in closure.rows)
    if isinstance(closure, MachineConnection):
        return closure.name, f"{closure.child} to {closure.parent}", _joint(closure.joint), rows
    return closure.name, "expressions", "constraint", rows


def _joint(joint: Any) -> str:  # noqa: ANN401
    return type(joint).__name__.lower()


def _combination(terms: tuple[tuple[str, float], ...]) -> str:
    return " ".join(f"{factor:+.3g} {other}" for other, factor in terms) or "0"


def _when(found: Mobility, row: str) -> str:
    return "while the loop is closed" if row in found.on_manifold_only else "always"


def _number(value: float) -> str:
    """A coordinate; what is rounding is zero."""
    return f"{value if abs(value) > ROUNDING else 0.0:.6g}"


def _printed(unit: str) -> str:
    return UNITS.get(unit, unit)


def size_words(machine: Machine) -> str:
    """A machine in one line."""
    return f"{len(machine.bodies)} bodies, {len(machine.velocities)} velocities, {len(machine.rows)} constraint rows"
