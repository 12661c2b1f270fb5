"""Beams: how far their tips bend, what their modes do, and at which frequencies."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from kalaba.analyse.at_rest import NotInEquilibriumWarning
from kalaba.analyse.frequencies import Frequencies, frequencies
from kalaba.boundary import check_arguments
from kalaba.errors import KalabaError, ViewError
from kalaba.space.arrays import Array
from kalaba.tolerances import SAMPLES_EVEN, SPECTRUM_SHOWN
from kalaba.view.figures.histories import heading
from kalaba.view.figures.quantities import largest_of, merged, reach
from kalaba.view.figures.reading import values_of
from kalaba.view.sheet import Curve, Level, Panel, over_time, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.model.machine import MachineBody
    from kalaba.results.run import Run

MOST_BEAMS = 4  # of which the modes are drawn
MOST_MARKS = 5  # natural frequencies in a spectrum
FEWEST = 16  # samples of which a spectrum says anything


def modes(run: Run) -> Figure:
    """Draw tip deflections, modal coordinates and the tips' spectrum with the natural frequencies at the start.

    Arguments:
        run: the run to draw, of a machine with a kb.Beam
    """
    check_arguments(modes, locals(), ViewError)
    beams = [body for body in run.plant.machine.bodies if body.solid.modes]
    if not beams:
        raise ViewError(
            f"{run.plant.system.name}: no body is a beam, so there are no modes to draw. Try the figure coordinates."
        )
    tips = deflections(run)
    panels = [Panel("tip deflections", "deflection [mm]", over_time(run.time, merged(_kept(tips))))]
    panels += [_modal(run, body) for body in beams[:MOST_BEAMS]]
    panels += _spectrum(run, tips)
    return sheet(heading(run, "modes"), panels)


def deflections(run: Run) -> dict[str, Array]:
    """Deflections of the beams' tips, mm."""
    names = [name for name in run.plant.machine.displacements if name.rpartition(".")[2].startswith("tip_deflection")]
    return {name: 1e3 * values for name, values in values_of(run, names).items()}


def _kept(tips: dict[str, Array]) -> list[tuple[str, Array]]:
    return largest_of(list(tips.items()), reach)[0]


def _modal(run: Run, body: MachineBody) -> Panel:
    """Modal coordinates of one beam: with shapes that are 1 at the tip they are its parts of the tip's deflection."""
    lengths = body.solid.mode_units.count("m")  # modes of bending stand first
    part = slice(body.mode_q, body.mode_q + lengths)
    names = [name.removeprefix(f"{body.name}.") for name in run.plant.coordinates[part]]
    lines, more = largest_of([(n, 1e3 * v) for n, v in zip(names, run.q[:, part].T, strict=True)], reach)
    note = f"not drawn: {more} smaller" if more else ""
    return Panel(f"modes of {body.name}", "modal coordinate [mm]", over_time(run.time, lines), note=note)


def _spectrum(run: Run, tips: dict[str, Array]) -> list[Panel]:
    """Amplitudes of the tips' motion about its mean, by frequency; a window of Hann keeps lines apart.

    Nothing for a run that broke off, or whose samples are not even; the last may be nearer to the one before it.
    """
    count = len(run.time) - 1
    steps = np.diff(run.time[:count])
    if count < FEWEST or np.ptp(steps) > SAMPLES_EVEN * steps.max() or not np.isfinite(run.q).all():
        return []
    window, hertz = np.hanning(count), np.fft.rfftfreq(count, steps[0])
    even = {name: values[:count] - values[:count].mean() for name, values in _kept(tips)}
    amplitudes = {name: 2 * np.abs(np.fft.rfft(values * window)) / window.sum() for name, values in even.items()}
    largest = max((size.max() for size in amplitudes.values()), default=0.0)
    if not largest > 0:
        return []
    heard = max(
        int(np.flatnonzero(size > SPECTRUM_SHOWN * largest)[-1]) for size in amplitudes.values() if size.max() > 0
    )
    last = min(len(hertz) - 1, heard + 2)
    curves = tuple(Curve(name, hertz[1 : last + 1], size[1 : last + 1]) for name, size in amplitudes.items())
    marks, said = _natural(run, float(hertz[last]))
    return [
        Panel(
            *("spectrum of the tips", "amplitude [mm]", curves, "frequency [Hz]"),
            is_logarithmic=True,
            levels=marks,
            remarks=said,
        )
    ]


def _natural(run: Run, highest: float) -> tuple[tuple[Level, ...], tuple[str, ...]]:
    """Natural frequencies at the start as marks, or one line on why there are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotInEquilibriumWarning)
        try:
            natural: Frequencies = frequencies(run.plant.system)
        except KalabaError:
            return (), ("no natural frequencies: at the start the machine cannot rest",)
    heard = [float(f) for f in natural.hertz if f > 0]
    marks = tuple(Level(f, f"{f:.3g} Hz", is_upright=True) for f in heard if f < highest)[:MOST_MARKS]
    moment = "" if natural.is_equilibrium else ", which is no equilibrium: they hold for a moment"
    listed = ", ".join(f"{f:.4g}" for f in heard[:MOST_MARKS])
    return marks, (f"natural at the start{moment}:", f"{listed} Hz" if heard else "none; nothing resists")
