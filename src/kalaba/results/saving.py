"""Runs on disk: .nc holds everything with names, .csv and .parquet one row a sample; all three open again.

A file is written beside its place and moved there when it is whole, so that nothing half-written stays.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kalaba.errors import FileError, KalabaError
from kalaba.results.dataset import run_of
from kalaba.results.formats import READERS, WRITERS
from kalaba.results.places import check_place, first_line, known_suffix, replacing

if TYPE_CHECKING:
    from kalaba.results.run import Run


def save_run(run: Run, path: str | Path) -> Path:
    """Write a run to a file: .nc (all of it), .csv or .parquet (samples as columns); gives the path."""
    place = check_place(path, WRITERS)
    with replacing(place) as beside:
        WRITERS[place.suffix.lower()](run.data, beside)
    return place


def open_run(path: str | Path) -> Run:
    """Read a run that `run.save` wrote. Nothing is derived or compiled before an expression asks for it.

    Arguments:
        path: a .nc, .csv or .parquet file

    Raises:
        FileError: no such file, or not one that kalaba wrote
    """
    place = Path(path)
    suffix = known_suffix(place, READERS)
    if not place.is_file():
        raise FileError(f"{place}: no such file. Check the path; kalaba run NAME -o {place.name} writes one.")
    try:
        return run_of(READERS[suffix](place))
    except FileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, KalabaError) as error:
        raise FileError(
            f"{place}: expected a whole file written by kalaba ({first_line(error)}). Write it again."
        ) from error
