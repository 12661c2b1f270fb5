"""Saved runs as descriptions: the machine that a run holds, and what drove it where the file says so in expressions."""

from __future__ import annotations

from pathlib import Path

from kalaba.errors import ModelError
from kalaba.model.formats import Described, Format
from kalaba.results.places import RUN_SUFFIXES
from kalaba.results.saving import open_run
from kalaba.run.again import scenario_of


def read(path: Path, roots: tuple[Path, ...] = ()) -> Described:  # noqa: ARG001  (a run names no other files)
    """The machine of a saved run, and its scenario.

    Arguments:
        path: the file
        roots: folders for other files, of which a run names none
    """
    run = open_run(path)
    try:
        return Described(run.system, scenario_of(run))
    except ModelError as error:
        return Described(run.system, not_run=str(error))


FORMAT = Format("saved run", RUN_SUFFIXES, read)
