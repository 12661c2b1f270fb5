"""Report: a machine and a run of it as one page of HTML that opens without a network."""

from __future__ import annotations

import warnings
from html import escape
from io import BytesIO
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kalaba.boundary import as_path, check_arguments
from kalaba.errors import KalabaError, ViewError
from kalaba.files.named import named
from kalaba.model.listing import size_words
from kalaba.results.places import check_place, write_text
from kalaba.results.run import Run
from kalaba.results.saving import FORMATS, open_run
from kalaba.robots import recognise
from kalaba.robots.catalogue import ENTRIES, scenario
from kalaba.robots.entry import Entry
from kalaba.units import counted
from kalaba.view.figures.sources import Progress, simulated
from kalaba.view.report import machine, motion
from kalaba.view.report.page import embedded, page, paragraph
from kalaba.view.report.paper import paper_sections
from kalaba.view.scene import scene_of

PAGES = (".html", ".htm")
SIZE = (880, 560)  # pixels, of the machine's picture
WHITE, ROOM = 250, 24  # what counts as empty; pixels left above and below


def report(run: Run | str | Path, path: str | Path, progress: Progress | None = None) -> Path:
    """Write a report of a run, of a file that holds one, or of a machine in its own scenario.

    The page has the machine's picture, source and errata, parts and parameters, mobility, plots, peaks, residuals,
    energy balance, timing, sizes of the equations and provenance; nothing in it is fetched from elsewhere. Of a machine
    that is from a paper it has the paper's figures with ours over them; panels on other options than the run's are
    simulated for it.

    Arguments:
        run: a Run, the path of a saved one, or a machine: a name of the catalogue or the path of a file
        path: where to write, .html
        progress: called with the options of each run that is simulated for a panel of the paper; None: nobody is told

    Returns:
        the path written
    """
    check_arguments(report, locals(), ViewError)
    place = check_place(path, PAGES)
    return write_text(place, composed(run if isinstance(run, Run) else _run_of(run), progress))


def composed(run: Run, progress: Progress | None = None) -> str:
    """The text of a report."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what is doubtful stands in the page
        entry = _entry(run)
        sections = (
            motion.motion(run),
            motion.trust(run),
            *paper_sections(run, entry, progress),
            machine.mobility_section(run),
            machine.what_it_is(entry),
            machine.parts(run),
            machine.numbers(run),
            machine.sizes(run),
            motion.effort(run),
            motion.origin(run),
        )
        return page(f"{run.plant.system.name}: report", _opening(run, entry), sections)


def _run_of(source: str | Path) -> Run:
    if as_path(source, "report").suffix.lower() in FORMATS:
        return open_run(source)
    return simulated(named(source).scenario())


def _entry(run: Run) -> Entry | None:
    """The catalogue's entry, if the machine has its coordinates; a namesake of one's own has others."""
    entry = ENTRIES.get(run.plant.system.name)
    if entry is None:
        return None
    bodies = {body.name for body in run.plant.machine.bodies}
    usual = {body.name for body in entry.build(**entry.machine_settings({})).machine.bodies}
    return entry if bodies & usual else None


def _opening(run: Run, entry: Entry | None) -> str:
    name = run.plant.system.name
    words = (
        entry.summary
        if entry is not None
        else f"{counted(len(run.plant.machine.bodies), 'body')}, {size_words(run.plant.machine)}"
    )
    lead = paragraph(words[:1].upper() + words[1:] + ".", "lead")
    return f"<h1>{escape(name)}</h1>\n{lead}\n{_picture(run)}\n{_description(run, entry)}{motion.at_a_glance(run)}"


def _description(run: Run, entry: Entry | None) -> str:
    """What happens in the run, if it is the scenario that the catalogue has for the machine."""
    if entry is None:
        return ""
    usual = scenario(entry.name)
    if not recognise.is_told_by(run, usual):
        return ""
    return paragraph(usual.description) + (paragraph(f"Published: {usual.published}") if usual.published else "")


def _trimmed(drawn: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """A picture without the empty rows above and below the machine."""
    rows = np.flatnonzero((drawn < WHITE).any(axis=(1, 2)))
    return drawn[max(rows[0] - ROOM, 0) : rows[-1] + ROOM] if rows.size else drawn


def _picture(run: Run) -> str:
    """The machine half-way through its run; a line where it cannot be drawn."""
    from PIL import Image

    from kalaba.view.still import camera_for, image

    whole = run.q[np.isfinite(run.q).all(axis=1)]
    try:
        q = whole[len(whole) // 2] if len(whole) else run.plant.start.q
        scene = scene_of(run.plant, q)
        drawn = image(scene, q, camera_for(scene, q[None], SIZE), SIZE)
    except KalabaError as error:
        return paragraph(f"The machine could not be drawn: {error}", "soft")
    stream = BytesIO()
    Image.fromarray(_trimmed(drawn)).save(stream, format="PNG", optimize=True)
    return embedded(stream.getvalue(), "image/png", f"{run.plant.system.name} in the middle of its run")
