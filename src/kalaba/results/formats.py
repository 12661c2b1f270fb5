"""The formats of results: NetCDF for the labelled data set, CSV and Parquet for a table with one row a sample."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.errors import FileError
from kalaba.results.provenance import FORMAT
from kalaba.results.table import from_table, to_table

if TYPE_CHECKING:
    import xarray as xr

CSV_MARK = "# kalaba run"
PARQUET_KEY = b"kalaba"


def check_format(place: Path, said: dict[str, Any]) -> None:
    """Refuse a file that kalaba did not write, or that a newer one wrote."""
    if "kalaba_format" not in said:
        raise FileError(
            f"{place}: expected a run saved by kalaba, got another file. Open it with the program that wrote it."
        )
    if int(said["kalaba_format"]) > FORMAT:
        theirs = f"written by kalaba {said.get('kalaba_version', '?')} in format {said['kalaba_format']}"
        raise FileError(f"{place}: {theirs}; this kalaba reads format {FORMAT}. Try: pip install --upgrade kalaba")


def write_netcdf(data: xr.Dataset, path: Path) -> None:
    """Write all of a data set."""
    data.to_netcdf(path, engine="h5netcdf")


def read_netcdf(path: Path) -> xr.Dataset:
    """Read a data set into memory."""
    import xarray as xr

    data = xr.load_dataset(path, engine="h5netcdf", decode_times=False)
    check_format(path, data.attrs)
    return data


def write_csv(data: xr.Dataset, path: Path) -> None:
    """Write comment lines with provenance and units, a header, then one line a sample; numbers keep all digits."""
    import pyarrow as pa
    from pyarrow import csv

    table = to_table(data)
    lines = [f"{CSV_MARK}, format {FORMAT}"]
    lines += [f"# {key}: {json.dumps(_plain(value))}" for key, value in table.provenance.items()]
    lines += [f"# units: {','.join(table.units.values())}", ",".join(table.columns), ""]
    with path.open("wb") as file:
        file.write("\n".join(lines).encode())
        csv.write_csv(pa.table(table.columns), file, csv.WriteOptions(include_header=False))


def read_csv(path: Path) -> xr.Dataset:
    """Read what `write_csv` wrote; a file that was cut off is refused."""
    import pyarrow as pa
    from pyarrow import csv

    comments, header = _heading(path)
    said = {key: json.loads(value) for key, colon, value in comments if colon and key != "units"}
    check_format(path, said)
    kinds = csv.ConvertOptions(column_types=dict.fromkeys(header.split(","), pa.float64()))
    table = csv.read_csv(path, csv.ReadOptions(skip_rows=len(comments)), convert_options=kinds)
    if not _ends_whole(path) or table.num_rows != said["samples"]:
        raise ValueError(f"not all of {said['samples']} samples are there")
    return from_table({name: table[name].to_numpy() for name in table.column_names}, said)


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


def write_parquet(data: xr.Dataset, path: Path) -> None:
    """Write columns with their units as field metadata, and provenance as JSON in the schema's metadata."""
    import pyarrow as pa
    from pyarrow import parquet

    table = to_table(data)
    fields = [pa.field(name, pa.float64(), metadata={"unit": table.units[name]}) for name in table.columns]
    said = json.dumps({key: _plain(value) for key, value in table.provenance.items()})
    schema = pa.schema(fields, metadata={PARQUET_KEY: said})
    parquet.write_table(pa.table([pa.array(column) for column in table.columns.values()], schema=schema), path)


def read_parquet(path: Path) -> xr.Dataset:
    """Read what `write_parquet` wrote."""
    from pyarrow import parquet

    table = parquet.read_table(path)
    said = json.loads((table.schema.metadata or {}).get(PARQUET_KEY, b"{}"))
    check_format(path, said)
    return from_table({name: table[name].to_numpy() for name in table.column_names}, said)


def _plain(value: Any) -> Any:  # noqa: ANN401
    return value.item() if isinstance(value, np.generic) else value


WRITERS: dict[str, Callable[[Any, Path], None]] = {".nc": write_netcdf, ".csv": write_csv, ".parquet": write_parquet}
READERS: dict[str, Callable[[Path], Any]] = {".nc": read_netcdf, ".csv": read_csv, ".parquet": read_parquet}
