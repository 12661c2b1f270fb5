"""NetCDF files are what xarray would write, and hold what run.data holds."""

import numpy as np
import pytest
import xarray as xr

import kalaba as kb
from kalaba.errors import FileError
from kalaba.results.netcdf import netcdf_bytes


@pytest.fixture(scope="module")
def run() -> kb.Run:
    return kb.simulate(kb.load("four-bar"), 0.1)


@pytest.fixture(scope="module")
def data(run) -> xr.Dataset:
    return run.data


def read(content: memoryview, place) -> xr.Dataset:
    place.write_bytes(content)
    return xr.load_dataset(place, engine="h5netcdf")


def test_a_file_holds_what_xarray_would_have_written(tmp_path, data):
    data.to_netcdf(tmp_path / "theirs.nc", engine="h5netcdf")
    theirs, ours = xr.load_dataset(tmp_path / "theirs.nc"), read(netcdf_bytes(data), tmp_path / "ours.nc")
    assert ours.identical(theirs)
    assert ours.equals(data)
    assert list(ours.variables) == list(theirs.variables)


def test_a_file_written_without_xarray_holds_the_same(tmp_path, run, data):
    ours, theirs = (
        read(netcdf_bytes(run.labelled), tmp_path / "ours.nc"),
        read(netcdf_bytes(data), tmp_path / "theirs.nc"),
    )
    assert ours.identical(theirs)


def test_what_is_added_to_the_data_of_a_run_is_saved(tmp_path):
    run = kb.simulate(kb.load("four-bar"), 0.01)
    run.data.attrs["note"] = "added"
    assert kb.open_run(run.save(tmp_path / "run.nc")).data.attrs["note"] == "added"


def test_what_somebody_adds_to_the_data_is_kept(tmp_path, data):
    more = data.assign(mine=("trial", np.arange(3)), word=("trial", ["a", "é", ""])).assign_attrs(note=[1.0, 2.0])
    ours = read(netcdf_bytes(more), tmp_path / "ours.nc")
    assert ours["mine"].values.tolist() == [0, 1, 2]
    assert ours["word"].values.tolist() == ["a", "é", ""]
    assert ours.attrs["note"].tolist() == [1.0, 2.0]


def test_what_netcdf_has_no_place_for_is_refused(data):
    with pytest.raises(FileError, match="mine holds complex128"):
        netcdf_bytes(data.assign(mine=("time", np.zeros(data.sizes["time"], complex))))
    with pytest.raises(FileError, match="the attribute note"):
        netcdf_bytes(data.assign_attrs(note=object()))
