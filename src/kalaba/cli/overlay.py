"""`kalaba plot --over`: measured data under ours, and the differences as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kalaba.cli.terminal import console, print_json, print_table
from kalaba.errors import CommandError

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.view.figures.overlay import Match


@dataclass(frozen=True, slots=True)
class Data:
    """The flags that say what is drawn under a run."""

    file: Path | None
    maps: tuple[str, ...]
    scales: tuple[str, ...]
    time_scale: float | None
    time_shift: float | None

    def check(self, other_figure: bool, runs: int) -> None:  # noqa: FBT001  (whether --figure or --frame was given)
        """Refuse flags that do not go together."""
        given = {
            "--map": self.maps,
            "--scale": self.scales,
            "--time-scale": self.time_scale is not None,
            "--time-shift": self.time_shift is not None,
        }
        alone = [flag for flag, is_given in given.items() if is_given] if self.file is None else []
        if alone:
            raise CommandError(f"{alone[0]}: is for measured data. Name their file too: --over measured.csv")
        if self.file is not None and (other_figure or runs != 1):
            raise CommandError(
                f"--over {self.file}: is a figure of its own, of one run. Leave out --figure and others."
            )

    @property
    def names(self) -> dict[str, str]:
        """What columns are in the run."""
        return dict(_pair("--map", text, "x=crank.tip.x") for text in self.maps)

    @property
    def factors(self) -> dict[str, float]:
        """What takes columns to SI."""
        factors = {}
        for text in self.scales:
            column, value = _pair("--scale", text, "x=0.001")
            try:
                factors[column] = float(value)
            except ValueError:
                raise CommandError(f"--scale {text}: expected a number, got {value!r}.") from None
        return factors


def draw_over(run: Run, data: Data, place: Path, *, as_json: bool, quiet: bool) -> None:
    """Draw, and say how far measured and ours are apart."""
    from kalaba.model.listing import table
    from kalaba.results.measured import read_measured
    from kalaba.view.figures.overlay import matched, over_matches
    from kalaba.view.sheet import save

    scale, shift = 1.0 if data.time_scale is None else data.time_scale, data.time_shift or 0.0
    measured = read_measured(data.file or "", data.factors, scale, shift)
    matches = matched(run, measured, data.names)
    save(over_matches(run, measured, matches), place)
    if as_json:
        print_json({"over": str(data.file), "columns": _plain(matches), "file": str(place)})
    elif not quiet:
        out = console()
        columns = ("column", "quantity", "unit", "samples", "RMS difference", "largest", "at t [s]")
        print_table(out, table(f"{measured.name} minus ours", columns, map(_row, matches)))
        out.print(f"picture: {place}", markup=False)


def _row(match: Match) -> tuple[str, ...]:
    most, at = match.largest
    numbers = f"{match.root_mean_square:.4g}", f"{most:.4g}", f"{at:.4g}"
    return match.column, match.quantity, match.unit or "-", str(len(match.time)), *numbers


def _plain(matches: Sequence[Match]) -> list[dict[str, Any]]:
    return [
        {
            "column": match.column,
            "quantity": match.quantity,
            "unit": match.unit,
            "samples": len(match.time),
            "root_mean_square": match.root_mean_square,
            "largest": match.largest[0],
            "at": match.largest[1],
        }
        for match in matches
    ]


def _pair(flag: str, text: str, example: str) -> tuple[str, str]:
    """Both sides of the first `=`."""
    left, equals, right = (piece.strip() for piece in text.partition("="))
    if not (left and equals and right):
        raise CommandError(f"{flag} {text}: expected {flag} COLUMN=..., for example {flag} {example}")
    return left, right
