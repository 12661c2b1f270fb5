"""Measured data, or another program's, as a table of text: a time column and columns with names and units.

Columns are parted by commas, semicolons, tabs or spaces; lines that begin with # are comments. A heading such as
`x [mm]` gives a unit, and the numbers are taken to SI by it. With semicolons a decimal comma is understood. An empty
cell is a sample that is missing.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import numpy as np

from kalaba.boundary import as_path, check_arguments
from kalaba.errors import FileError, near
from kalaba.results.places import first_line
from kalaba.space.arrays import Array
from kalaba.space.number import is_number
from kalaba.units import counted

SI = {  # what a unit is in SI
    **dict.fromkeys(("", "1", "m", "rad", "s", "m/s", "rad/s", "m/s^2", "rad/s^2", "N", "N*m", "J", "kg", "W"), 1.0),
    "mm": 1e-3,
    "cm": 1e-2,
    "ms": 1e-3,
    "us": 1e-6,
    "min": 60.0,
    "mm/s": 1e-3,
    "mm/s^2": 1e-3,
    "deg": math.pi / 180,
    "deg/s": math.pi / 180,
    "deg/s^2": math.pi / 180,
    "rpm": math.pi / 30,
    "mN": 1e-3,
    "kN": 1e3,
    "N*mm": 1e-3,
    "mN*m": 1e-3,
    "kN*m": 1e3,
    "mJ": 1e-3,
    "kJ": 1e3,
}
TIMES = ("time", "t")  # headings of a time column, in any case
DELIMITERS = (";", "\t", ",")
NO_FACTORS: Mapping[str, float] = MappingProxyType({})


@dataclass(frozen=True)
class Measured:
    """Samples over time, in SI units.

    Arguments:
        name: what they are called in figures and messages, such as the file
        time: (n,), s, increasing
        columns: by name, (n,) each; NaN where a sample is missing
        unknown_units: units by column that are not known: these columns are as they were written
    """

    name: str
    time: Array
    columns: Mapping[str, Array] = field(repr=False)
    unknown_units: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        time = np.asarray(self.time, dtype=float)
        if time.ndim != 1 or not len(time) or not np.isfinite(time).all():
            raise FileError(f"{self.name}: expected times, one finite number per sample.")
        if (np.diff(time) <= 0).any():
            at = int(np.argmax(np.diff(time) <= 0)) + 1
            raise FileError(f"{self.name}: expected times that increase, got {time[at]:g} after {time[at - 1]:g}.")
        for column, values in self.columns.items():
            if np.shape(values) != time.shape:
                raise FileError(f"{self.name}: expected {counted(len(time), 'sample')} of {column}.")


def read_measured(
    path: str | Path,
    scale: Mapping[str, float] = NO_FACTORS,
    time_scale: float = 1.0,
    time_shift: float = 0.0,
) -> Measured:
    """Read a table of measured data, or one that another program wrote.

    Arguments:
        path: the file
        scale: factors by column that take its numbers to SI, in place of its heading's unit
        time_scale: a factor that stretches the times, after their own unit
        time_shift: s, added to the times then: where the data's zero is in the run's time

    Raises:
        FileError: no such file, or no such table; the message says which line and what was expected
    """
    check_arguments(read_measured, locals())
    place = as_path(path, "read_measured")
    for name, number in (("time_scale", time_scale), ("time_shift", time_shift), *scale.items()):
        if not is_number(number) or not math.isfinite(number):
            raise FileError(f"{place}: expected a number for {name}, got {number!r}.")
    if time_scale <= 0:
        raise FileError(f"{place}: expected a time_scale above 0, got {time_scale!r}.")
    names, units, numbers = _table(place)
    for name in scale:
        if name not in names:
            raise FileError(f"{place}: no column {name!r} to scale; {near(name, names)}")
    known = {name: _plain(unit) for name, unit in zip(names, units, strict=True)}
    unknown = {name: unit for name, unit in known.items() if unit not in SI and name not in scale}
    factors = {name: float(scale.get(name, SI.get(unit, 1.0))) for name, unit in known.items()}
    time_name = next((name for name in names if name.lower() in TIMES), None)
    if time_name is None:
        raise FileError(f"{place}: expected a column {' or '.join(TIMES)}, got {', '.join(names)}. Name one so.")
    columns = {name: factors[name] * numbers[:, i] for i, name in enumerate(names)}
    if time_name in unknown:
        raise FileError(f"{place}: the times are in {unknown[time_name]!r}, which is not known. Write them in s or ms.")
    time = time_scale * columns.pop(time_name) + time_shift
    return Measured(place.name, time, columns, unknown)


def _plain(unit: str) -> str:
    """A unit as kalaba writes it."""
    return unit.replace("·", "*").replace(" ", "").replace("²", "^2").replace("°", "deg").replace("µ", "u")


def _table(place: Path) -> tuple[list[str], list[str], Array]:
    """Names and units of the columns, and the numbers, one row per sample."""
    try:
        if not place.is_file():
            raise FileError(f"{place}: no such file. Check the path.")
        text = place.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise FileError(f"{place}: expected a table of text, got another file ({first_line(error)}).") from error
    lines = [
        (number, line) for number, line in enumerate(text.splitlines(), 1) if line.strip() and not line.startswith("#")
    ]
    if len(lines) < 2:
        raise FileError(
            f"{place}: expected a line of headings and lines of numbers, got {counted(len(lines), 'line')}."
        )
    delimiter = next((mark for mark in DELIMITERS if mark in lines[0][1]), None)
    cells = [(number, _cells(line, delimiter)) for number, line in lines]
    headings = [_heading(cell) for cell in cells[0][1]]
    names = [name for name, _ in headings]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None or "" in names:
        raise FileError(f"{place}: expected headings with one name each, got {twice or 'an empty one'!r}.")
    if all(_is_number(name) for name in names):
        raise FileError(
            f"{place}: line {lines[0][0]}: expected headings such as time,x, got numbers. Add a first line."
        )
    rows = [_numbers(place, number, row, names, delimiter) for number, row in cells[1:]]
    return names, [unit for _, unit in headings], np.array(rows, dtype=float)


def _cells(line: str, delimiter: str | None) -> list[str]:
    if delimiter is None:
        return line.split()
    return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter))]


def _heading(cell: str) -> tuple[str, str]:
    """Name and unit of `x [mm]`."""
    name, bracket, rest = cell.partition("[")
    return (name.strip(), rest.rpartition("]")[0].strip()) if bracket and rest.endswith("]") else (cell, "")


def _numbers(place: Path, line: int, row: Sequence[str], names: Sequence[str], delimiter: str | None) -> list[float]:
    if len(row) != len(names):
        raise FileError(f"{place}: line {line}: expected {counted(len(names), 'number')}, got {len(row)}.")
    numbers = []
    for name, cell in zip(names, row, strict=True):
        text = cell.replace(",", ".") if delimiter == ";" else cell
        if text and not _is_number(text):
            raise FileError(f"{place}: line {line}, column {name}: expected a number, got {cell!r}.")
        numbers.append(float(text) if text else math.nan)
    return numbers


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
