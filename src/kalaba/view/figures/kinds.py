"""What can be drawn of a run, by name: the list that `kb.plot.draw` and `kalaba plot --figure` share.

A figure is a FigureKind: its name, one line on what it shows, and the function that draws it. One from elsewhere is
given to `draw` as it is, or known by its name once it is registered. Nothing heavy is imported before one is drawn.
"""

from __future__ import annotations

import runpy
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from kalaba.boundary import check_arguments
from kalaba.errors import FileError, ViewError, near
from kalaba.results.places import first_line
from kalaba.view import figures

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.results.run import Run

SUFFIX = ".py"  # of a file that holds a figure
HOLDS = "FIGURE"  # the name that such a file gives it


@dataclass(frozen=True)
class Request:
    """What a figure is drawn of.

    Arguments:
        runs: runs by the name that tells them apart
        frames: frames that the caller wants to see; none: the figure chooses
        progress: told of each run that has to be simulated first; None: nobody is told
    """

    runs: Mapping[str, Run] = field(repr=False)
    frames: tuple[str, ...] = ()
    progress: Callable[[str], None] | None = None

    @property
    def run(self) -> Run:
        """The run; the first of several."""
        return next(iter(self.runs.values()))


@dataclass(frozen=True)
class FigureKind:
    """One kind of figure.

    Arguments:
        name: the name it is chosen by
        summary: one line: what it shows
        draw: makes the figure of a request
        takes_several: whether it draws several runs over each other, and not one alone
        takes_frames: whether it reads the frames of a request
    """

    name: str
    summary: str
    draw: Callable[[Request], Figure] = field(repr=False)
    takes_several: bool = False
    takes_frames: bool = False


BUILT_IN = (
    FigureKind("overview", "the main quantities on one sheet", lambda r: figures.overview(r.run)),
    FigureKind("coordinates", "coordinates over time, by unit", lambda r: figures.coordinates(r.run)),
    FigureKind("speeds", "velocities over time, by unit", lambda r: figures.speeds(r.run)),
    FigureKind("outputs", "outputs over time, by unit", lambda r: figures.outputs(r.run)),
    FigureKind("paths", "paths of end points in space", lambda r: figures.paths(r.run, r.frames), takes_frames=True),
    FigureKind("motors", "forces and torques of the motors", lambda r: figures.motors(r.run)),
    FigureKind("forces", "generalised forces of the constraints", lambda r: figures.forces(r.run)),
    FigureKind("residuals", "residuals of the constraints, logarithmic", lambda r: figures.residuals(r.run)),
    FigureKind("energy", "energy, work and their balance", lambda r: figures.energy(r.run)),
    FigureKind("momentum", "momentum and how it changes", lambda r: figures.momentum(r.run)),
    FigureKind("grasps", "carrying and internal forces of arms on objects", lambda r: figures.grasps(r.run)),
    FigureKind("modes", "deflections and modes of beams", lambda r: figures.modes(r.run)),
    FigureKind(
        "papers", "figures of the machine's paper, ours over its claims", lambda r: figures.papers(r.run, r.progress)
    ),
    FigureKind("compare", "several runs over each other", lambda r: figures.compare(r.runs), takes_several=True),
)
_KNOWN = {kind.name: kind for kind in BUILT_IN}


def known() -> tuple[FigureKind, ...]:
    """All figures that can be drawn by name: kalaba's own, then those that were registered."""
    return tuple(_KNOWN.values())


def register(kind: FigureKind) -> FigureKind:
    """Make a figure known by its name; a name that is taken is refused.

    Arguments:
        kind: the figure

    Returns:
        the same figure
    """
    check_arguments(register, locals(), ViewError)
    if _KNOWN.get(kind.name, kind) is not kind:
        raise ViewError(f"plot: there is a figure {kind.name!r} already. Give yours another name.")
    _KNOWN[kind.name] = kind
    return kind


def draw(runs: Run | Mapping[str, Run], figure: str | FigureKind = "overview", frames: Sequence[str] = ()) -> Figure:
    """Draw a figure of a run, or of several by name.

    Arguments:
        runs: a run; for a figure that takes several, runs by the names that tell them apart
        figure: its name, one of `kalaba plot --help` or of those registered; or the FigureKind itself
        frames: names of frames to show, for figures that take them

    Returns:
        a matplotlib Figure; `kb.plot.save` writes it to a file
    """
    check_arguments(draw, locals(), ViewError)
    by_name = runs if isinstance(runs, Mapping) else {runs.plant.system.name: runs}
    return drawn(find(figure) if isinstance(figure, str) else figure, Request(by_name, tuple(frames)))


def find(name: str) -> FigureKind:
    """The figure of a name."""
    if name not in _KNOWN:
        raise ViewError(f"plot: no figure {name!r}; {near(name, _KNOWN)}")
    return _KNOWN[name]


def drawn(kind: FigureKind, request: Request) -> Figure:
    """Draw what is asked for, if the figure can show it."""
    check(kind, tuple(request.runs), request.frames)
    return kind.draw(request)


def check(kind: FigureKind, runs: Sequence[object], frames: Sequence[str]) -> None:
    """Refuse runs or frames that a figure does not take."""
    if kind.takes_several and len(runs) < 2:
        alone = f"{runs[0]} alone" if runs else "none"
        raise ViewError(
            f"figure {kind.name}: expected several runs, got {alone}. Name another run, or draw another figure."
        )
    if not kind.takes_several and len(runs) != 1:
        drawers = ", ".join(other.name for other in known() if other.takes_several)
        raise ViewError(f"figure {kind.name}: expected one run, got {len(runs)}. Several can be drawn by {drawers}.")
    if frames and not kind.takes_frames:
        takers = ", ".join(other.name for other in known() if other.takes_frames)
        raise ViewError(f"frame {frames[0]}: figure {kind.name} takes no frames. Leave it out, or draw {takers}.")


def read_figure(path: str | Path) -> FigureKind:
    """Run a Python file and give the figure that it holds under the name FIGURE."""
    place = Path(path)
    if not place.is_file():
        raise FileError(f"{place}: no such file. A figure of your own is a {SUFFIX} file that defines {HOLDS}.")
    try:
        kind = runpy.run_path(str(place)).get(HOLDS)
    except Exception as error:  # whatever the file does wrong is one line, as all that is refused
        raise FileError(f"{place}: cannot be run ({type(error).__name__}: {first_line(error)}).") from error
    if not isinstance(kind, FigureKind):
        raise FileError(f"{place}: expected {HOLDS} = kb.plot.FigureKind(...), got {kind!r}.")
    return kind
