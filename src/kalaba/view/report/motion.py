"""What a report says of a run: pictures of it, peaks, whether it can be trusted, what it took, where it comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np

from kalaba.errors import ViewError
from kalaba.model.fingerprint import fingerprint
from kalaba.results.accuracy import Verdict
from kalaba.results.dataset import provenance
from kalaba.tolerances import DRAWN_ROUNDING
from kalaba.units import counted, printed
from kalaba.view import figures
from kalaba.view.figures.efforts import motor_efforts
from kalaba.view.figures.kinds import FigureKind, Request, find
from kalaba.view.figures.quantities import Named, named, reach, span
from kalaba.view.report.machine import residual_rows
from kalaba.view.report.page import Section, drawing, facts, folded, paragraph, rows_html

if TYPE_CHECKING:
    from kalaba.results.run import Run

SHOWN = ("paths", "coordinates", "outputs", "motors", "forces", "modes")  # figures, by name
MOST_PEAKS = 8  # of each unit
LONGEST = 300  # letters of a setting
ADDRESS = re.compile(r" at 0x[0-9a-f]+")


def at_a_glance(run: Run) -> str:
    """The few numbers that matter."""
    entries = [(f"{run.status.time:.4g} s", "simulated"), (f"{run.effort.wall_time:.3g} s", "wall time")]
    if run.worst is not None:
        entries.append((f"{run.worst.value:.1e}", f"worst residual, {run.worst.row}"))
    entries.append((f"{reach(run.energy_balance):.1e} J", "energy balance off at most"))
    title, efforts = motor_efforts(run)
    largest = f"largest of {title}" if title != "motors" else "largest motor"
    for columns, words in ((efforts, largest), (named(run, "constraint_force"), "largest constraint force")):
        rows = _peaks(run, columns, 1)
        for kind in dict.fromkeys(unit for _, _, unit, _ in rows):
            name, value, unit, _ = next(row for row in rows if row[2] == kind)
            entries.append((f"{float(value):.4g} {printed(unit)}", f"{words}, {name}"))
    return facts(entries)


def motion(run: Run) -> Section:
    """Plots of what moved and what pushed, and the largest of each."""
    body = "".join(_shown(run, find(name)) for name in SHOWN)
    title, efforts = motor_efforts(run)
    forces = named(run, "constraint_force")
    for columns, words in ((named(run, "v"), "speeds"), (efforts, title), (forces, "constraint forces")):
        rows = _peaks(run, columns, MOST_PEAKS)
        if rows:
            body += f"<h3>Peaks: {words}</h3>" + rows_html(
                ("of", "value", "unit", "at t [s]"), rows, ("value", "at t [s]")
            )
    return Section("motion", "Motion", body or paragraph("Nothing moves."))


def _shown(run: Run, kind: FigureKind) -> str:
    name = run.plant.system.name
    try:
        return drawing(kind.draw(Request({name: run})), f"{name}: {kind.summary}")
    except ViewError:
        return ""  # there is nothing of the kind


def trust(run: Run) -> Section:
    """Residuals, energy balance and how the run ended."""
    name = run.plant.system.name
    ended = run.status.ending.value
    body = paragraph(f"The run ended at {run.status.time:.6g} s: {ended}.", "bad" if run.status.failed else "")
    body += paragraph(f"Accuracy: {run.accuracy.words}.", "" if run.accuracy.verdict is Verdict.GOOD else "bad")
    if run.accuracy.cause and not run.status.failed:
        body += paragraph(run.accuracy.cause, "bad")
    if run.status.message:
        body += paragraph(run.status.message, "bad")
    if run.effort.jolt[0] > 0:
        part, time = run.effort.jolt
        body += paragraph(f"Projection changed the speed by {part:.1e} of it at most, at {time:.4g} s.")
    if run.start_energy_loss:
        body += paragraph(f"In the impact at the start {run.start_energy_loss:.4g} J of kinetic energy were lost.")
    if run.plant.constraints:
        body += drawing(figures.residuals(run), f"{name}: residuals of the constraints")
        listed = rows_html(("row", "largest residual", "unit"), residual_rows(run), ("largest residual",))
        body += folded(f"largest residual of {counted(len(run.plant.constraints), 'row')}", listed)
    exchanged = max(span(run.energy), reach(run.work))
    off = reach(run.energy_balance)
    body += paragraph(f"Energy gained and work done differ by {off:.2e} J at most; {exchanged:.4g} J were exchanged.")
    body += drawing(figures.energy(run), f"{name}: energy and its balance")
    return Section("trust", "Residuals and energy", body)


def effort(run: Run) -> Section:
    """What the run took."""
    took = run.effort
    wall = max(took.wall_time, 1e-12)
    rows: list[tuple[str, str]] = [
        ("wall time", f"{took.wall_time:.4g} s"),
        ("simulated time over wall time", f"{run.status.time / wall:.3g}"),
        ("steps", f"{took.steps}"),
        ("time per step", f"{1e6 * took.wall_time / max(took.steps, 1):.3g} µs"),
        ("samples recorded", f"{len(run.time)}"),
    ]
    if took.rejected:
        rows.insert(3, ("steps rejected", f"{took.rejected}"))
    if len(took.choices) > 1:
        ranks = ", ".join(f"{rank} from {time:.4g} s" for time, rank in took.choices[:6])
        rows.append(("choices of rows, by rank", ranks))
    return Section("timing", "Timing", rows_html(("what", "value"), rows))


def origin(run: Run) -> Section:
    """Where the numbers come from: version, platform, date, settings; no names of people or places."""
    said = dict(run.data.attrs) or provenance(run)
    keys = ("kalaba_version", "kalaba_format", "date", "platform", "method", "backend", "solver")
    rows = [(key.replace("_", " "), str(said[key])) for key in keys if key in said]
    rows += [(key.replace("_", " "), _short(value)) for key, value in run.effort.settings.items() if value]
    rows.append(("fingerprint of the structure", fingerprint(run.plant.machine)))
    return Section("provenance", "Provenance", rows_html(("what", "value"), rows))


def _short(text: str) -> str:
    plain = ADDRESS.sub("", text)
    return plain if len(plain) <= LONGEST else f"{plain[:LONGEST]}… ({counted(len(plain), 'letter')})"


def _peaks(run: Run, columns_of_run: Named, most: int) -> list[tuple[str, str, str, str]]:
    """The largest entries, by unit and size: name, value, unit and when."""
    columns = [np.where(np.isfinite(column), column, 0.0) for column in columns_of_run.values.T]
    least = DRAWN_ROUNDING * max((reach(column) for column in columns), default=0.0)
    units = list(columns_of_run.units)
    order = sorted(range(len(columns)), key=lambda i: (-units.count(units[i]), units[i], -reach(columns[i])))
    rows = []
    felt = [i for i in order if reach(columns[i]) > least]
    for i in [i for k, i in enumerate(felt) if sum(units[j] == units[i] for j in felt[:k]) < most]:
        sample = int(np.argmax(np.abs(columns[i])))
        rows.append(
            (columns_of_run.names[i], f"{columns[i][sample]:.5g}", columns_of_run.units[i], f"{run.time[sample]:.4g}")
        )
    return rows
