"""The figures of a machine's source: ours over what it claims, with the runs that its panels are about."""

from __future__ import annotations

import textwrap
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.boundary import called, check_arguments
from kalaba.errors import ViewError
from kalaba.robots import recognise
from kalaba.robots.catalogue import ENTRIES
from kalaba.robots.entry import Entry
from kalaba.robots.published import Claim, Line, Measure, Options, PaperFigures, PaperPanel
from kalaba.run.checks import AccuracyWarning, SingularWarning
from kalaba.run.simulate import simulate
from kalaba.space.arrays import Array
from kalaba.steppers import Auto, Stepper
from kalaba.tolerances import DRAWN_FLOOR
from kalaba.units import printed
from kalaba.view.figures.quantities import label_of, reach
from kalaba.view.figures.reading import values_of
from kalaba.view.sheet import TIME, Curve, Level, Panel, sheet

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from kalaba.results.run import Run
    from kalaba.run.scenario import Scenario

Progress = Callable[[str], None]
LETTERS = 64  # of a remark under a panel
SAMPLES = 500  # of a run at least, so that peaks are not missed
SEVERAL = 4  # numbers that are listed by name


class Compared(NamedTuple):
    """A number of the source beside ours."""

    panel: str  # as the source numbers it: "figure 3: ..."
    text: str  # what it is a number of
    ours: float
    published: float
    unit: str


class PaperSheet(NamedTuple):
    """The figures of a source, and the numbers in them."""

    figure: Figure
    numbers: tuple[Compared, ...]


def papers(run: Run, progress: Progress | None = None) -> Figure:
    """Draw the figures of the source of a run's machine, ours over its claims.

    Panels on other options than the run's (fewer motors, more modes) are simulated afresh, with the run's numbers.

    Arguments:
        run: a run of a machine of the catalogue
        progress: called with the options of each run that is simulated
    """
    check_arguments(papers, locals(), ViewError)
    return paper_sheet(run, progress).figure


def paper_sheet(run: Run, progress: Progress | None = None, columns: int | None = None) -> PaperSheet:
    """The same with the numbers that the source claims, each beside ours.

    Arguments:
        run: a run of a machine of the catalogue
        progress: called with the options of each run that is simulated
        columns: panels beside each other; None: as leaves little of the sheet empty
    """
    name = run.plant.system.name
    entry = ENTRIES.get(name)
    if entry is None or entry.figures is None:
        known = ", ".join(recognise.with_figures())
        raise ViewError(f"{name}: no figures of a paper are known for it; there are some for {known}.")
    figures = entry.figures
    runs = _Runs(run, entry, figures, progress or (lambda _: None))
    drawn = [_panel(panel, runs) for panel in figures.panels]
    heading = f"{name}: {figures.title}"
    return PaperSheet(
        sheet(heading, [panel for panel, _ in drawn], runs.said(), columns),
        tuple(row for _, rows in drawn for row in rows),
    )


class _Runs:
    """The runs that panels ask for, by options; the one given serves for those that it is a run of."""

    def __init__(self, run: Run, entry: Entry, figures: PaperFigures, progress: Progress) -> None:
        self.run, self.entry, self.progress = run, entry, progress
        self._made: dict[str, Run] = {}
        every = [
            {**panel.options, **line.options}
            for panel in figures.panels
            for line in panel.lines
            if panel.options or line.options
        ]
        plain = {self._key(options): recognise.scenario_with(entry.name, {}, options) for options in every}
        matching = {key: len(recognise.changed(run, s)) for key, s in plain.items() if recognise.is_told_by(run, s)}
        self.given_key = min(matching, key=lambda key: matching[key]) if matching else None
        self.numbers = recognise.changed(run, plain[self.given_key]) if self.given_key is not None else {}
        self.sample_time = float(np.diff(run.time).max(initial=0.0))
        self.usual_sample_time = _sample_time(plain[self.given_key]) if self.given_key is not None else 0.0

    def of(self, options: Options) -> Run:
        """The run of a machine with options; none: the run given."""
        key = self._key(options)
        if not options or key == self.given_key:
            return self.run
        if key not in self._made:
            called(self.progress, "papers: progress", _listed(options), error=ViewError)
            self._made[key] = simulated(recognise.scenario_with(self.entry.name, self.numbers, options))
        return self._made[key]

    def by(self, stepper: Stepper, options: Options) -> Run:
        """The run of a machine with options by a stepper of the source."""
        key = f"{self._key(options)} {stepper.words}"
        if key not in self._made:
            words = ", ".join(filter(None, (_listed(options), stepper.words)))
            called(self.progress, "papers: progress", words, error=ViewError)
            chosen = recognise.scenario_with(self.entry.name, self.numbers, options)
            self._made[key] = simulated(replace(chosen, stepper=stepper))
        return self._made[key]

    def said(self) -> list[str]:
        """What readers must know of the runs."""
        remarks = []
        if self.numbers:
            listed = [f"{name} = {value:g}" for name, value in self.numbers.items()]
            more = f" and {len(listed) - SEVERAL} more" if len(listed) > SEVERAL else ""
            remarks.append(f"with other numbers than the catalogue's: {', '.join(listed[:SEVERAL])}{more}")
        if self.usual_sample_time and round(self.sample_time / self.usual_sample_time) > 1:
            remarks.append(
                f"the run given is read every {self.sample_time:.3g} s, which may miss peaks; "
                f"with save_every={self.usual_sample_time:.3g} of kb.simulate it is read as the others"
            )
        if self._made and self.given_key is None:
            remarks.append("the run given has options of its own; all panels are simulated as the source has them")
        return remarks

    def _key(self, options: Options) -> str:
        return repr(sorted(self.entry.settings(dict(options)).items()))


def simulated(chosen: Scenario) -> Run:
    """A run of a scenario with samples enough for its peaks; one that breaks off is given too."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SingularWarning)
        warnings.simplefilter("ignore", AccuracyWarning)
        return simulate(
            chosen.system,
            chosen.duration,
            stepper=chosen.stepper or Auto(),
            control=chosen.control,
            check=False,
            save_every=_sample_time(chosen),
        )


def _listed(options: Options) -> str:
    return ", ".join(f"{name}={value}" for name, value in options.items())


def _sample_time(chosen: Scenario) -> float:
    """Seconds between samples of what is simulated."""
    return min(chosen.save_every, chosen.duration / SAMPLES)


@dataclass(frozen=True, slots=True, eq=False)
class _Drawn:
    """A line with its numbers."""

    name: str
    x: Array
    y: Array


def _panel(panel: PaperPanel, runs: _Runs) -> tuple[Panel, list[Compared]]:
    """A panel, and the numbers of the source that it shows."""
    ours = _lines(panel, panel.lines, runs)
    theirs = _lines(panel, panel.published, runs)
    claims = [(claim, _found(claim, ours)) for claim in panel.claims]
    unseen = [line for line in ours if panel.is_logarithmic and not np.isfinite(line.y).any()]
    floor = f"at {DRAWN_FLOOR:g} what is never larger: {', '.join(line.name for line in unseen)}" if unseen else ""
    drawn = Panel(
        title=panel.title,
        label=_label(panel),
        curves=(
            *(Curve(c.name, c.x, c.y, is_published=True) for c in theirs),
            *(Curve(c.name, c.x, np.full_like(c.y, DRAWN_FLOOR) if c in unseen else c.y) for c in ours),
        ),
        x_label=f"{panel.across[0].rpartition('.')[2]} [m]" if panel.across else TIME,
        is_logarithmic=panel.is_logarithmic,
        is_equal=bool(panel.across),
        is_dotted=panel.is_logarithmic,
        levels=tuple(level for claim, _ in claims if claim.is_drawn for level in _levels(claim, ours, panel)),
        remarks=tuple(_remarks([*(_sentence(claim, value) for claim, value in claims), floor], panel.note)),
    )
    return drawn, [Compared(panel.title, claim.text, value, claim.value, claim.unit) for claim, value in claims]


def _label(panel: PaperPanel) -> str:
    if panel.across:
        return f"{panel.lines[0].expression.rpartition('.')[2]} [m]"
    if panel.quantity:
        return f"{panel.quantity} [{printed(panel.unit)}]"
    return f"|error| [{printed(panel.unit)}]" if panel.is_logarithmic else label_of(panel.unit)


def _lines(panel: PaperPanel, lines: Sequence[Line], runs: _Runs) -> list[_Drawn]:
    """Values of lines; each run reads all that is asked of it at once."""
    across = panel.across or ("",) * len(lines)
    texts_by_run: dict[int, tuple[Run, list[str]]] = {}
    owners: list[Run] = []
    for line, horizontal in zip(lines, across, strict=False):
        options = {**panel.options, **line.options}
        run = runs.of(options) if line.stepper is None else runs.by(line.stepper, options)
        owners.append(run)
        texts = texts_by_run.setdefault(id(run), (run, []))[1]
        texts += [text for text in (line.expression, horizontal) if text]
    values: Mapping[int, Mapping[str, Array]] = {
        key: values_of(run, texts) for key, (run, texts) in texts_by_run.items()
    }
    drawn = []
    for line, horizontal, run in zip(lines, across, owners, strict=False):
        readings = values[id(run)]
        y = panel.factor * readings[line.expression]
        if panel.is_logarithmic:
            y = np.where(np.abs(y) > DRAWN_FLOOR, np.abs(y), np.nan)
        drawn.append(_Drawn(line.name, readings[horizontal] if horizontal else run.time, np.asarray(y)))
    return drawn


def _found(claim: Claim, ours: Sequence[_Drawn]) -> float:
    """Our number for a claim."""
    if claim.measure is Measure.PEAK:
        return max(reach(line.y) for line in ours)
    if claim.measure is Measure.LARGEST:
        return max(float(np.max(line.y[np.isfinite(line.y)], initial=-np.inf)) for line in ours)
    first, last = ours[0], ours[-1]
    if claim.measure is Measure.LARGEST_DIFFERENCE:
        return reach(np.interp(last.x, first.x, first.y) - last.y)
    apart = abs(reach(first.y) - reach(last.y))
    return apart if claim.measure is Measure.PEAK_DIFFERENCE else 100 * apart / reach(last.y)


def _levels(claim: Claim, ours: Sequence[_Drawn], panel: PaperPanel) -> list[Level]:
    """Lines across the panel where the curves go: above, below or on both sides of zero."""
    text = f"published {claim.value:g} {printed(claim.unit)}"
    values = np.concatenate([line.y[np.isfinite(line.y)] for line in ours])
    low, high = float(np.min(values, initial=0.0)), float(np.max(values, initial=0.0))
    is_above = panel.is_logarithmic or high > -low / 2
    is_below = not panel.is_logarithmic and low < -high / 2
    return [Level(claim.value, text)] * is_above + [Level(-claim.value, text)] * is_below


def _sentence(claim: Claim, value: float) -> str:
    unit = printed(claim.unit)
    return f"{claim.text}: ours {value:.3g} {unit}, published {claim.value:g} {unit}"


def _remarks(sentences: Sequence[str], note: str) -> list[str]:
    return [part for text in (*sentences, note) if text for part in textwrap.wrap(text, LETTERS)]
