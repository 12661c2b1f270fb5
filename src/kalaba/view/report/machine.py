"""What a report says of a machine: parts, numbers, how it can move, how large its equations are."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.analyse.mobility import Mobility, check
from kalaba.errors import KalabaError
from kalaba.model import listing
from kalaba.model.units import row_units
from kalaba.results.notebook import dependencies
from kalaba.tolerances import PRINTED_ZERO
from kalaba.view.report.page import Section, paragraph, rows_html, titled

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.robots.entry import Entry


def what_it_is(entry: Entry | None) -> Section:
    """Source and errata of a machine of the catalogue; a line for one's own."""
    if entry is None:
        body = paragraph("A machine of one's own: it is not one of the catalogue, so that no source is known.")
        return Section("source", "Source", body)
    body = paragraph(entry.source)
    if not entry.errata:
        return Section("source", "Source", body)
    body += titled(entry.errata_table)
    return Section("source", "Source and errata", body)


def parts(run: Run) -> Section:
    """Bodies, connections, actuators, springs, forces and outputs."""
    return Section("parts", "Parts", "".join(map(titled, listing.parts(run.plant.machine))))


def numbers(run: Run) -> Section:
    """Coordinates at the start and the end, and all parameters that are not zero."""
    machine = run.plant.machine
    coordinates = [
        (c.name, c.unit, _number(first, size), _number(last, size))
        for c, first, last, size in zip(
            machine.coordinates, run.q[0], run.q[-1], run.plant.scales.coordinates, strict=True
        )
    ]
    body = titled(listing.table("coordinates", ("name", "unit", "first", "last"), coordinates, ("first", "last")))
    parameters = listing.parameters(machine)
    body += titled(parameters)
    zero = len(machine.parameters) - len(parameters.rows)
    if zero:
        body += paragraph(f"{zero} more parameters are zero.", "soft")
    return Section("numbers", "Coordinates and parameters", body)


def mobility_section(run: Run) -> Section:
    """Freedoms, rank, dependent rows and which reactions are unique, at the machine's own start."""
    try:
        mobility: Mobility = check(run.plant)
    except KalabaError as error:
        return Section("mobility", "Mobility", paragraph(f"It could not be examined: {error}", "bad"))
    lines: list[tuple[str, object]] = [
        ("coordinates", mobility.coordinates),
        ("velocities", mobility.velocities),
        ("constraint rows", len(mobility.rows)),
        ("rank of the rows", mobility.rank),
        ("freedoms at the start", mobility.freedoms),
        ("freedoms nearby", mobility.freedoms_nearby),
    ]
    if mobility.rows:
        lines.append(
            ("smallest singular value", f"{mobility.smallest_singular_value:.3g}, from {mobility.weakest_row}")
        )
    body = rows_html(("what", "how many"), lines)
    if mobility.is_mass_singular:
        body += paragraph("Some motion has no inertia of its own; the rows determine it.")
    body += titled(dependencies(mobility))
    if mobility.non_unique_reactions:
        body += paragraph(f"Reactions that are not unique: {', '.join(mobility.non_unique_reactions)}.")
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
        matrix = expression()
        if matrix.numel():
            made = ca.Function("size", arguments, [matrix], {"allow_free": True})
            rows.append((name, f"{matrix.shape[0]} × {matrix.shape[1]}", matrix.nnz(), made.n_instructions()))
    body = paragraph(f"Derived by {type(run.plant.method).__name__}; solved by {type(run.plant.solver).__name__}.")
    columns = ("expression", "shape", "entries that are not zero", "operations")
    body += rows_html(columns, rows, columns[1:])
    note = "Operations are counted before the compiler removes what is common to several expressions."
    return Section("sizes", "Size of the equations", body + paragraph(note, "soft"))


def residual_rows(run: Run) -> list[tuple[str, str, str]]:
    """Every row with its largest residual at the samples."""
    largest = np.max(np.abs(np.where(np.isfinite(run.residual), run.residual, 0.0)), axis=0, initial=0.0)
    units = row_units(run.plant.machine)
    rows = zip(run.plant.constraints, largest, units, strict=True)
    return [(row, f"{value:.1e}", unit) for row, value, unit in rows]


def _number(value: float, size: float) -> str:
    """A coordinate; what is rounding beside the machine's size is zero."""
    return f"{value if abs(value) > PRINTED_ZERO * size else 0.0:.6g}"
