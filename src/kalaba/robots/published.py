"""Figures of a source as data: what it draws, in expressions of the machine, and what it claims of that in numbers.

A machine's module says these; `kalaba.view.figures.sources` draws ours over them. Nothing here knows a machine.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kalaba.steppers import Stepper

Options = Mapping[str, bool | int | float | str]


class Measure(Enum):
    """How the number that a claim speaks of is read off the lines of a panel."""

    PEAK = "peak"  # the largest size of any line
    LARGEST = "largest value"  # of any line
    PEAK_DIFFERENCE = "difference of the first and the last line's peaks"
    PEAK_RATIO = "the same over the last line's peak, %"
    LARGEST_DIFFERENCE = "largest difference of the first and the last line at any time"


@dataclass(frozen=True, slots=True)
class Claim:
    """A number of the source, and how ours is read off."""

    text: str  # what it is a number of
    value: float
    unit: str
    measure: Measure = Measure.PEAK
    is_drawn: bool = False  # as a line across the panel, at the value and, for signed forces, at minus the value


@dataclass(frozen=True, slots=True)
class Line:
    """One line: an expression, of a run with other options than the panel's or by another stepper if it names some."""

    name: str
    expression: str
    options: Options = field(default_factory=dict)
    stepper: Stepper | None = None  # the source's own method; None: that of our scenario


@dataclass(frozen=True, slots=True)
class PaperPanel:
    """One set of axes. `across` makes it a path: pairs of lines, horizontal then vertical."""

    title: str  # as the source numbers it: "figure 3: ..."
    unit: str
    lines: tuple[Line, ...]
    published: tuple[Line, ...] = ()  # curves that the source prescribes, as expressions too
    across: tuple[str, ...] = ()  # expressions along the horizontal axis, one per line; empty: time
    factor: float = 1.0  # ours times this is in `unit`
    is_logarithmic: bool = False
    claims: tuple[Claim, ...] = ()
    quantity: str = ""  # what the vertical axis shows, "distance"; empty: what the unit stands for
    note: str = ""  # an erratum, or what the source leaves open
    options: Options = field(default_factory=dict)  # of the machine that the panel is about


@dataclass(frozen=True, slots=True)
class PaperFigures:
    """All panels of a source for one machine."""

    title: str
    panels: tuple[PaperPanel, ...] = field(default=())
