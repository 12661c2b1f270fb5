"""Runs on disk: .nc holds everything with names, .csv and .parquet one row per sample; all three open again.

NetCDF holds the labelled data set, CSV and Parquet a table: one column per quantity. A column has the name by which
`run[…]` knows it where there is one: `crank.angle`, `rate(crank.angle)`. `time`, `energy` and the like stand alone; all
others say first what they are: `acceleration:crank.angle`, `constraint_force:crank.angle`, `actuation:motor`,
`residual:pin.x`, `outputs:reach`. No name holds a colon, so no two columns collide.

A file is made in memory, sealed (`seal.py`), written beside its place and moved there when it is whole, so that nothing
half-written stays and a disk that is full is an error like any other. What opens is what was saved: the seal is checked
before anything else.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kalaba.boundary import as_path, check_arguments
from kalaba.errors import FileError, KalabaError
from kalaba.model.serial import from_json
from kalaba.results.dataset import FORMAT, OPTIONAL, VARIABLES, labelled, names, run_of, unit_coordinate
from kalaba.results.labelled import DataSet
from kalaba.results.places import check_place, first_line, known_suffix, replacing
from kalaba.results.seal import OPEN, check_seal, write_sealed
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    import xarray as xr

    from kalaba.results.run import Run

CSV_MARK = "# kalaba run"
PARQUET_KEY, SEAL_KEY = b"kalaba", b"kalaba_seal"
SEALED = 2  # the first format whose files have a seal
CSV_PART = 1024  # samples that one thread writes at a time
MOST_NUMBERS = 2_000_000_000  # in a file that is opened: 16 GB
TIME = "time"
WITHOUT_PREFIX = {TIME, *(variable for variable, (dimension, _, _) in VARIABLES.items() if not dimension)}


def save_run(run: Run, path: str | Path) -> Path:
    """Write a run to a file: .nc (all of it), .csv or .parquet (samples as columns); gives the path."""
    place = check_place(path, FORMATS)
    data: DataSet = run.data if "data" in vars(run) else run.labelled  # once asked for, it may have been added to
    with replacing(place) as beside:
        FORMATS[place.suffix.lower()].write(data, beside)
    return place


def open_run(path: str | Path) -> Run:
    """Read a run that `run.save` wrote. Nothing is derived or compiled before an expression asks for it.

    Arguments:
        path: a .nc, .csv or .parquet file

    Raises:
        FileError: no such file, or not one that kalaba wrote
    """
    check_arguments(open_run, locals())
    place = as_path(path, "open_run")
    suffix = known_suffix(place, FORMATS)
    if not place.is_file():
        raise FileError(f"{place}: no such file. Check the path; kalaba run NAME -o {place.name} writes one.")
    try:
        return run_of(_checked(place, FORMATS[suffix]))
    except FileError:
        raise
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RuntimeError, MemoryError, KalabaError) as error:
        raise FileError(
            f"{place}: expected a whole file written by kalaba ({first_line(error)}). Write it again."
        ) from error


def _checked(place: Path, kind: Format) -> xr.Dataset:
    """The data set of a file whose seal is whole; files of formats that had none are taken as they are."""
    whole = check_seal(place)
    data = kind.read(place)
    if not whole and int(data.attrs["kalaba_format"]) >= SEALED:
        raise FileError(f"{place}: the seal of the file is gone, so something has changed it. Write it again.")
    return data


def _check_format(place: Path, facts: dict[str, Any]) -> None:
    """Refuse a file that kalaba did not write, or that a newer one wrote."""
    if "kalaba_format" not in facts:
        raise FileError(
            f"{place}: expected a run saved by kalaba, got another file. Open it with the program that wrote it."
        )
    if int(facts["kalaba_format"]) > FORMAT:
        theirs = f"written by kalaba {facts.get('kalaba_version', '?')} in format {facts['kalaba_format']}"
        raise FileError(f"{place}: {theirs}; this kalaba reads format {FORMAT}. Try: pip install --upgrade kalaba")


def write_netcdf(data: DataSet, path: Path) -> None:
    """Write all of a data set; in memory first, since HDF5 ends the process where a disk is full."""
    from kalaba.results.netcdf import netcdf_bytes

    write_sealed(path, netcdf_bytes(data), OPEN, place=1)


def read_netcdf(path: Path) -> xr.Dataset:
    """Read a data set into memory."""
    import xarray as xr

    _check_holds_itself(path)
    data = xr.load_dataset(path, engine="h5netcdf", decode_times=False)
    _check_format(path, data.attrs)
    return data


def _check_holds_itself(path: Path) -> None:
    """Refuse a file that leads to others, or that says it has more numbers than it has room for."""
    import h5py

    with h5py.File(path, "r") as file:
        for name in file:
            link = file.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                raise FileError(f"{path}: {name} leads to another file or place, which no run of kalaba does.")
            entry = file[name]
            if not isinstance(entry, h5py.Dataset) or entry.external or entry.is_virtual:
                raise FileError(f"{path}: {name} keeps its numbers elsewhere, which no run of kalaba does.")
            if entry.dtype.kind == "f" and entry.nbytes > path.stat().st_size:
                raise FileError(f"{path}: {name} has {entry.size} numbers, more than the file has room for.")


def write_csv(data: DataSet, path: Path) -> None:
    """Write comment lines with provenance and units, a header, then one line per sample; numbers keep all digits."""
    import pyarrow as pa
    from pyarrow import csv

    table = to_table(data)
    lines = [f"{CSV_MARK}, format {FORMAT}"]
    lines += [f"# {key}: {json.dumps(_plain(value))}" for key, value in table.provenance.items()]
    lines += [f"# units: {','.join(table.units.values())}", f"# {OPEN.decode()}", ",".join(table.columns), ""]
    samples, bare = pa.table(table.columns), csv.WriteOptions(include_header=False)

    def written(first: int) -> pa.Buffer:
        part = pa.BufferOutputStream()
        csv.write_csv(samples.slice(first, CSV_PART), part, bare)
        return part.getvalue()

    with ThreadPoolExecutor() as beside:  # digits are most of the work, and no Python
        parts = list(beside.map(written, range(0, samples.num_rows, CSV_PART)))
    write_sealed(path, "\n".join(lines).encode(), *parts, place=0)


def read_csv(path: Path) -> xr.Dataset:
    """Read what `write_csv` wrote; a file that was cut off is refused."""
    import pyarrow as pa
    from pyarrow import csv

    comments, header = _heading(path)
    facts = {key: json.loads(value) for key, colon, value in comments if colon and key != "units"}
    _check_format(path, facts)
    kinds = csv.ConvertOptions(column_types=dict.fromkeys(header.split(","), pa.float64()))
    table = csv.read_csv(path, csv.ReadOptions(skip_rows=len(comments)), convert_options=kinds)
    if not _ends_whole(path) or table.num_rows != facts["samples"]:
        raise ValueError(f"not all of {facts['samples']} samples are there")
    return from_table({name: table[name].to_numpy() for name in table.column_names}, facts)


def _heading(path: Path) -> tuple[list[tuple[str, str, str]], str]:
    """Comment lines as (key, colon, value), and the header."""
    comments: list[tuple[str, str, str]] = []
    with path.open(encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                return comments, line.strip()
            comments.append(line.removeprefix("# ").partition(": "))
    return comments, ""


def _ends_whole(path: Path) -> bool:
    with path.open("rb") as file:
        file.seek(-1, 2)
        return file.read() == b"\n"


def write_parquet(data: DataSet, path: Path) -> None:
    """Write columns with their units as field metadata, and provenance as JSON in the schema's metadata."""
    import pyarrow as pa

    table = to_table(data)
    fields = [pa.field(name, pa.float64(), metadata={"unit": table.units[name]}) for name in table.columns]
    facts = json.dumps({key: _plain(value) for key, value in table.provenance.items()})
    schema = pa.schema(fields, metadata={PARQUET_KEY: facts, SEAL_KEY: OPEN})
    write_sealed_parquet(pa.table([pa.array(column) for column in table.columns.values()], schema=schema), path)


def write_sealed_parquet(table: Any, path: Path) -> None:  # noqa: ANN401  (pyarrow has no types)
    """Write a table whose schema's metadata hold an open seal under `SEAL_KEY`."""
    import pyarrow as pa
    from pyarrow import parquet

    made = pa.BufferOutputStream()
    parquet.write_table(table, made, use_dictionary=False)  # of numbers that hardly repeat
    whole = memoryview(made.getvalue())
    footer = 8 + int.from_bytes(whole[-8:-4], "little")  # with its own length, and a mark of four bytes
    write_sealed(path, whole[:-footer], whole[-footer:], place=1)


def read_parquet(path: Path) -> xr.Dataset:
    """Read what `write_parquet` wrote."""
    from pyarrow import parquet

    held = parquet.read_metadata(path)
    if held.num_rows * held.num_columns > MOST_NUMBERS:
        raise FileError(f"{path}: {held.num_rows} samples of {held.num_columns} columns are more than memory holds.")
    table = parquet.read_table(path)
    facts = json.loads((table.schema.metadata or {}).get(PARQUET_KEY, b"{}"))
    _check_format(path, facts)
    return from_table({name: table[name].to_numpy() for name in table.column_names}, facts)


def _plain(value: object) -> object:
    return value.item() if isinstance(value, np.generic) else value


class Format(NamedTuple):
    """A kind of file: how a data set is written to it, and read back."""

    write: Callable[[DataSet, Path], None]
    read: Callable[[Path], xr.Dataset]


FORMATS = {
    ".nc": Format(write_netcdf, read_netcdf),
    ".csv": Format(write_csv, read_csv),
    ".parquet": Format(write_parquet, read_parquet),
}


class Table(NamedTuple):
    """Columns with their units, and the provenance of all of them."""

    columns: dict[str, Array]
    units: dict[str, str]
    provenance: dict[str, Any]


def to_table(data: DataSet) -> Table:
    """Lay a data set out flat."""
    held = data.variables  # without the coordinates that data[name] puts beside each
    along = {str(name): [str(entry) for entry in held[name].values] for name in data.coords if name != TIME}
    columns, units = {TIME: held[TIME].values}, {TIME: "s"}
    for variable, (dimension, unit, _) in VARIABLES.items():
        if variable not in held:
            continue
        values = held[variable].values if dimension else held[variable].values[:, None]
        column_units = along[unit_coordinate(variable)] if dimension else [unit]
        for index, name in enumerate(column_names(variable, along)):
            columns[name], units[name] = values[:, index], column_units[index]
    return Table(columns, units, dict(data.attrs))


def from_table(columns: Mapping[str, Array], facts: Mapping[str, Any]) -> xr.Dataset:
    """Put the columns of a table back under the names of the machine that the provenance describes."""
    machine = from_json(facts["system"]).machine
    along = {name: entries for name, (_, entries) in names(machine).items()}
    size = len(columns[TIME])
    wanted = {variable: column_names(variable, along) for variable in VARIABLES}
    values = {
        variable: _stacked(columns, entries_wanted, size)
        for variable, entries_wanted in wanted.items()
        if variable not in OPTIONAL or all(name in columns for name in entries_wanted)
    }
    return labelled(machine, columns[TIME], values, facts).to_xarray()


def column_names(variable: str, along: Mapping[str, Sequence[str]]) -> list[str]:
    """Names of a variable's columns, from those along its dimension."""
    dimension = VARIABLES[variable][0]
    if not dimension:
        return [variable]
    entries = along[dimension]
    if variable == "q":
        return [f"q:{name}" if name in WITHOUT_PREFIX else name for name in entries]
    if variable == "v":
        plain = set(along["coordinate"])
        return [f"rate({name})" if name in plain else name for name in entries]
    return [f"{variable}:{name}" for name in entries]


def _stacked(columns: Mapping[str, Array], wanted: Sequence[str], size: int) -> Array:
    return np.column_stack([columns[name] for name in wanted]) if wanted else np.zeros((size, 0))
