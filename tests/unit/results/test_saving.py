"""Runs on disk: what is written is what is read, and what cannot be is refused on one line."""

import dataclasses
import json
import logging
import os
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
import xarray as xr

import kalaba as kb
from kalaba.errors import FileError
from kalaba.results import places, saving
from unit.results.samples import broken_run, small_run

SUFFIXES = (".nc", ".csv", ".parquet")
each_suffix = pytest.mark.parametrize("suffix", SUFFIXES)


def refusal(action, *arguments) -> str:
    with pytest.raises(FileError) as caught:
        action(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@each_suffix
def test_everything_comes_back(tmp_path, suffix):
    run = small_run()
    found = kb.open_run(run.save(tmp_path / f"run{suffix}"))
    assert found.data.identical(run.data)
    for name in (
        "time",
        "q",
        "v",
        "acceleration",
        "constraint_force",
        "actuation",
        "inputs",
        "energy",
        "residual",
        "work",
    ):
        assert np.array_equal(getattr(found, name), getattr(run, name)), name
    assert (found.status, found.worst, found.effort) == (run.status, run.worst, run.effort)
    assert (found.plant.method, found.plant.backend, found.plant.solver) == (
        run.plant.method,
        run.plant.backend,
        run.plant.solver,
    )
    assert found.observed.keys() == run.observed.keys()


@each_suffix
def test_a_run_that_broke_off_comes_back(tmp_path, suffix):
    run = broken_run()
    found = kb.open_run(run.save(tmp_path / f"run{suffix}"))
    assert found.data.identical(run.data)
    assert found.status == run.status
    assert found.effort == run.effort


@each_suffix
def test_a_file_that_does_not_say_when_a_jolt_is_felt_opens(tmp_path, suffix):
    data = broken_run().data.copy()
    del data.attrs["jolt_felt"]  # as earlier versions wrote it
    saving.FORMATS[suffix].write(data, tmp_path / f"run{suffix}")
    assert kb.open_run(tmp_path / f"run{suffix}").effort.jolt_is_felt  # as of the default stepper


@each_suffix
def test_expressions_can_be_asked_of_an_opened_run_and_nothing_is_built_before(tmp_path, suffix):
    run = small_run()
    found = kb.open_run(run.save(tmp_path / f"run{suffix}"))
    assert found.energy_balance.shape == run.time.shape
    assert found["height"][0] == run["height"][0]
    assert len(found.plant._functions) == 0
    assert "equations" not in vars(found.plant)
    assert np.array_equal(found["2*rate(crank.angle) + rocker.x"], run["2*rate(crank.angle) + rocker.x"])


@each_suffix
def test_saving_an_opened_run_changes_nothing(tmp_path, suffix):
    first = kb.open_run(small_run().save(tmp_path / f"one{suffix}"))
    assert kb.open_run(first.save(tmp_path / f"two{suffix}")).data.identical(first.data)


def test_a_data_set_opens_without_kalaba_with_names_and_units(tmp_path):
    path = small_run().save(tmp_path / "run.nc")
    with xr.open_dataset(path, engine="h5netcdf") as data:
        angle = data["q"].sel(coordinate="crank.angle")
        assert angle.coordinate_unit == "rad"
        assert data["energy"].attrs == {"long_name": "total energy", "units": "J"}
        assert data["v"].sel(velocity="ball.vx").velocity_unit == "m/s"
        assert data["constraint_force"].sel(velocity="crank.angle").force_unit == "N*m"
        assert data["actuation"].sel(actuator="motor").actuator_unit == "N*m"
        assert data["residual"].sel(row=["pin.x", "pin.rx"]).row_unit.values.tolist() == ["m", "rad"]
        assert data["outputs"].sel(output="height").output_unit == "m"
        assert data.attrs["stepper"] == "RungeKutta4(step=0.005)"
        assert data.attrs["control"].startswith("motor=")
        assert data.attrs["system_name"] == "sample"
        assert data.attrs["status"] == "done"
        assert {"kalaba_version", "date", "platform", "wall_time", "worst_residual", "method"} <= set(data.attrs)


def test_columns_bear_the_names_that_expressions_use(tmp_path):
    run = small_run()
    lines = run.save(tmp_path / "run.csv").read_text(encoding="utf-8").splitlines()
    comments = [line for line in lines if line.startswith("# ")]
    names = lines[len(comments)].split(",")
    units = comments[-2].removeprefix("# units: ").split(",")
    assert comments[0] == "# kalaba run, format 2"
    assert dict(zip(names, units, strict=True))["rate(crank.angle)"] == "rad/s"
    assert names[:2] == ["time", "q:energy"]
    assert {
        "crank.angle",
        "ball.qw",
        "ball.wx",
        "actuation:motor",
        "residual:pin.x",
        "energy",
        "outputs:height",
    } <= set(names)
    assert {"acceleration:ball.wx", "constraint_force:crank.angle", "sampled_force:gust.force.x", "momentum:x"} <= set(
        names
    )
    assert len(lines) == len(comments) + 1 + len(run.time)


def test_parquet_fields_bear_their_units(tmp_path):
    schema = pq.read_schema(small_run().save(tmp_path / "run.parquet"))
    assert schema.field("rate(crank.angle)").metadata == {b"unit": b"rad/s"}
    assert json.loads(schema.metadata[b"kalaba"])["system_name"] == "sample"


def test_the_path_is_given_back_and_case_does_not_matter(tmp_path):
    assert small_run().save(str(tmp_path / "RUN.NC")) == tmp_path / "RUN.NC"
    assert len(kb.open_run(tmp_path / "RUN.NC").time) == len(small_run().time)


def test_a_solver_of_somebodys_own_is_replaced_by_the_default_and_says_so(tmp_path, caplog):
    run = small_run()
    data = run.data.assign_attrs(solver="MySolver()")
    saving.write_netcdf(data, tmp_path / "run.nc")
    with caplog.at_level(logging.WARNING):
        assert kb.open_run(tmp_path / "run.nc").plant.solver == kb.MaskedLDL()
    assert "MySolver()" in caplog.text


@each_suffix
def test_a_truncated_file_is_refused(tmp_path, suffix):
    path = small_run().save(tmp_path / f"run{suffix}")
    whole = path.read_bytes()
    for size in (0, 10, len(whole) // 3, len(whole) - 200, len(whole) - 3):
        path.write_bytes(whole[:size])
        assert str(path) in refusal(kb.open_run, path)


@each_suffix
def test_a_foreign_file_is_refused(tmp_path, suffix):
    path = tmp_path / f"other{suffix}"
    path.write_bytes(b"time,x\n0,1\n" * 100)
    assert "kalaba" in refusal(kb.open_run, path)


def test_a_foreign_data_set_is_refused(tmp_path):
    xr.Dataset({"a": ("b", [1.0])}).to_netcdf(tmp_path / "other.nc", engine="h5netcdf")
    assert "expected a run saved by kalaba" in refusal(kb.open_run, tmp_path / "other.nc")


@each_suffix
def test_a_file_of_a_newer_kalaba_is_refused_with_a_remedy(tmp_path, suffix):
    newer = dataclasses.replace(small_run())
    vars(newer)["data"] = small_run().data.assign_attrs(kalaba_format=3, kalaba_version="9.1")
    path = newer.save(tmp_path / f"run{suffix}")
    assert "written by kalaba 9.1 in format 3" in refusal(kb.open_run, path)
    assert "pip install --upgrade kalaba" in refusal(kb.open_run, path)


def test_a_damaged_description_is_refused(tmp_path):
    saving.write_netcdf(small_run().data.assign_attrs(system="{"), tmp_path / "run.nc")
    assert "expected a whole file" in refusal(kb.open_run, tmp_path / "run.nc")


def test_paths_that_cannot_be_are_refused_with_a_remedy(tmp_path, monkeypatch):
    run = small_run()
    assert "expected a name that ends in .nc, .csv, .parquet, got '.txt'" in refusal(run.save, "run.txt")
    assert "got 'no suffix'" in refusal(run.save, "run")
    assert f"mkdir -p {tmp_path / 'gone'}" in refusal(run.save, tmp_path / "gone" / "run.nc")
    (tmp_path / "directory.nc").mkdir()
    assert "got a directory" in refusal(run.save, tmp_path / "directory.nc")
    assert "no such file" in refusal(kb.open_run, tmp_path / "gone.nc")
    assert "expected a name that ends in" in refusal(kb.open_run, tmp_path / "gone.txt")
    (tmp_path / "kept.nc").touch()
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "read-only" in refusal(run.save, tmp_path / "kept.nc")


def test_a_directory_that_cannot_be_written_is_refused(tmp_path, monkeypatch):
    def refuse(**_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(places.tempfile, "mkstemp", refuse)
    assert "cannot be written, permission denied. Give another place." in refusal(small_run().save, tmp_path / "run.nc")


def test_nothing_half_written_stays_and_what_was_there_is_kept(tmp_path, monkeypatch):
    def break_off(_, path: Path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    (tmp_path / "run.nc").write_text("before")
    monkeypatch.setitem(saving.FORMATS, ".nc", saving.FORMATS[".nc"]._replace(write=break_off))
    assert "No space left on device" in refusal(small_run().save, tmp_path / "run.nc")
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.nc"]
    assert (tmp_path / "run.nc").read_text() == "before"


def test_every_suffix_that_is_offered_has_its_format():
    assert tuple(saving.FORMATS) == places.RUN_SUFFIXES
