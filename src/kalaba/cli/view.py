"""`kalaba view`: a machine or a saved run in motion, on a page in the browser or as a film."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kalaba.cli.choices import DurationFlag, MachineFlags, MachineOrRun
from kalaba.cli.terminal import Colour, console, picture_bar, say
from kalaba.errors import CommandError
from kalaba.results.places import RUN_SUFFIXES, check_place

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.view.studio.subject import Subject

FilmFlag = Annotated[
    Path | None, typer.Option("-o", "--output", help="Write a film (.gif, .mp4) or a picture (.png) instead of a page.")
]
HostFlag = Annotated[str, typer.Option(help="Address to serve on; another than this computer's own lets others in.")]
PortFlag = Annotated[int, typer.Option(min=0, max=65535, help="Port to serve on; the next free one if it is in use.")]
BrowserFlag = Annotated[bool, typer.Option("--browser/--no-browser", help="Open a browser where there is a screen.")]


def view(  # noqa: PLR0913  (one argument per flag)
    machine: MachineOrRun,
    *,
    flags: MachineFlags,
    duration: DurationFlag = None,
    output: FilmFlag = None,
    host: HostFlag = "127.0.0.1",
    port: PortFlag = 8080,
    browser: BrowserFlag = True,
) -> None:
    """Watch a machine or a saved run move: play, scrub, plots, forces; turn its numbers, drag it by a frame.

    Examples:
    kalaba view planar-parallel
    kalaba view run.nc
    """
    if output is not None:
        from kalaba.view.film import FILMS

        check_place(output, FILMS)
        _film(_subject(machine, flags, duration).first_run(), output)
        return
    from kalaba.view.studio.serving import check_viser

    check_viser()  # before a machine is built for nothing
    serve(_subject(machine, flags, duration), host, port, browser=browser)


def serve(subject: Subject, host: str = "127.0.0.1", port: int = 8080, *, browser: bool = True) -> None:
    """Open the page of a subject and stay until the user ends it."""
    from kalaba.view.studio.serving import studio

    out = console()

    def hear(line: str) -> None:
        if line.startswith("warning"):
            say(line, Colour.WARNING)
        else:
            out.print(line, markup=False)

    opened = studio(subject, host=host, port=port, browser=browser, say=hear)
    hear("Ctrl-C ends it")
    opened.serve()


def _subject(machine: str, flags: MachineFlags, duration: float | None) -> Subject:
    """What to show: a saved run by its suffix, else a machine by its name or its file."""
    from kalaba.results.saving import open_run
    from kalaba.view.studio.subject import subject_of, subject_of_named

    if Path(machine).suffix.lower() in RUN_SUFFIXES:
        if flags.changes:
            raise CommandError(
                f"--set {flags.changes[0]}: {machine} has been run already. Run it again: kalaba run {machine}"
            )
        return subject_of(open_run(machine))
    chosen = flags.choose(machine)
    subject = subject_of_named(chosen.named, chosen.options, chosen.scenario)
    return subject if duration is None else replace(subject, duration=duration)


def _film(run: Run, output: Path) -> None:
    from kalaba.view.film import film

    with picture_bar(run.system.name) as progress:
        drawn = film(run, output, progress=progress)
    kind = "film" if drawn.suffix in {".gif", ".mp4"} else "picture"
    console().print(f"{kind}: {drawn}", markup=False)
