"""A labelled data set as the bytes of a NetCDF 4 file.

It is written with h5py at once: libraries above it look at all again before each variable, which takes longer than the
samples of most runs.

NetCDF 4 is HDF5 with a convention. A dimension is a *scale*: a dataset of its name, with a number in `_Netcdf4Dimid`. A
variable has one scale attached to each of its axes. A dimension without entries has no end, since NetCDF has no other
way to say so. What stands beside a dimension (units along it) is named in the attribute `coordinates` of the variables.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.errors import FileError
from kalaba.results.labelled import DataSet, Variable

if TYPE_CHECKING:
    import h5py
    import xarray as xr

TEXT = "OUS"  # kinds of dtypes that hold texts
NUMBERS = "biuf"
CHUNK = 1024  # samples that are stored together where an axis has no end
UNNAMED = "This is a netCDF dimension but not a netCDF variable."  # words of the convention
MADE_BY = "version=2,h5py={}"  # what NetCDF writes into a file about the libraries that made it


def netcdf_bytes(data: DataSet) -> memoryview:
    """All of a data set: numbers and texts, their names, units and provenance."""
    import h5py

    made = BytesIO()
    with h5py.File(made, "w", track_order=True) as file:
        file.attrs["_NCProperties"] = np.bytes_(MADE_BY.format(h5py.__version__))
        _describe(file, data.attrs)
        beside = {str(name): set(data.variables[name].dims) for name in data.coords if name not in data.sizes}
        for name, variable in data.variables.items():
            entry = _write(file, str(name), variable)
            around = sorted(other for other, along in beside.items() if along <= set(variable.dims))
            if around and name not in data.coords:
                entry.attrs["coordinates"] = " ".join(around)
        _attach(file, data)
    return made.getbuffer()


def _attach(file: h5py.File, data: DataSet) -> None:
    """Make scales of the dimensions, and attach them to the axes of all others."""
    for dimension in data.sizes.keys() - data.variables.keys():
        file.create_dataset(str(dimension), (data.sizes[dimension],), ">f4")
    scales = {dimension: file[str(dimension)] for dimension in data.sizes}
    for number, (dimension, scale) in enumerate(scales.items()):
        scale.make_scale(str(dimension) if dimension in data.variables else f"{UNNAMED}{len(scale):10}")
        scale.attrs["_Netcdf4Dimid"] = np.int32(number)
    for name, variable in data.variables.items():
        if name not in scales:
            axes = file[str(name)].dims
            for axis, dimension in enumerate(variable.dims):
                axes[axis].attach_scale(scales[dimension])


def _write(file: h5py.File, name: str, variable: Variable | xr.Variable) -> h5py.Dataset:
    """The numbers or texts of a variable, and what it says of them."""
    import h5py

    values = variable.values
    settings: dict[str, Any] = {}
    if 0 in values.shape:
        settings["maxshape"] = tuple(length or None for length in values.shape)
        settings["chunks"] = tuple(min(length, CHUNK) or 1 for length in values.shape)
    if values.dtype.kind == "f":
        settings["fillvalue"] = np.nan
    if values.dtype.kind in TEXT:
        values, settings["dtype"] = values.astype(object), h5py.string_dtype()
    elif values.dtype.kind not in NUMBERS:
        raise FileError(f"save: {name} holds {values.dtype}, expected numbers or texts. Take it out of run.data.")
    entry = file.create_dataset(name, data=values, track_order=True, **settings)
    if "fillvalue" in settings:
        entry.attrs["_FillValue"] = np.array([np.nan], values.dtype)
    _describe(entry, variable.attrs)
    return entry


def _describe(entry: h5py.HLObject, attributes: Mapping[Any, Any]) -> None:
    for name, value in attributes.items():
        try:
            entry.attrs[str(name)] = value if isinstance(value, str | bytes) else np.atleast_1d(value)
        except (TypeError, ValueError) as error:
            raise FileError(
                f"save: the attribute {name} of run.data is a {type(value).__name__}, expected a text or numbers. "
                "Take it out."
            ) from error
