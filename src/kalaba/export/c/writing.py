"""Writing an export to disk: a .c and a .h file, and a test program beside them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from kalaba.errors import CommandError, near
from kalaba.export.c import text
from kalaba.export.c.inverse_dynamics import inverse_export
from kalaba.export.c.motion import motion_export
from kalaba.export.c.servo import servo_export
from kalaba.plant.plant import Plant, build
from kalaba.results.places import check_place, replacing
from kalaba.run.scenario import Scenario

if TYPE_CHECKING:
    from kalaba.control.allocation import Allocation
    from kalaba.export.c.export import Export
    from kalaba.model.system import System

FUNCTIONS = ("motion", "inverse-dynamics", "servo")


def export_c(
    machine: Scenario | System | Plant,
    path: str | Path,
    function: str = "motion",
    allocation: Allocation | None = None,
    encoders: tuple[str, ...] = (),
) -> tuple[Path, ...]:
    """Write a machine's motion, inverse dynamics or controller as C99; gives the files written.

    `path` ends in .c; a header and a test program are written beside it. The code needs math.h alone, no heap, and
    takes the same time at every call. `function` is "motion", "inverse-dynamics" or "servo", which needs a Scenario
    whose control is a law. `allocation` replaces that of the control. A servo reads the displacements of all motors
    and, if need be, of further `encoders`, expressions of the machine.
    """
    place = check_place(path, (".c",))
    targets = place, place.with_suffix(".h"), place.with_name(f"{place.stem}_test.c")
    for target in targets[1:]:
        check_place(target, (".c", ".h"))
    if function not in FUNCTIONS:
        raise CommandError(f"export: no function {function!r}; {near(function, FUNCTIONS)}")
    scenario = machine if isinstance(machine, Scenario) else None
    plant = build(machine.system if isinstance(machine, Scenario) else machine)
    prefix = identifier(place.stem)
    export = _made(plant, prefix, function, (scenario, allocation, encoders))
    contents = text.source(export, place.stem), text.header(export), text.program(export, place.stem)
    for target, content in zip(targets, contents, strict=True):
        with replacing(target) as beside:
            beside.write_text(content, encoding="utf-8")
    return targets


def identifier(stem: str) -> str:
    """The stem of a file as the beginning of C names."""
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)
    return name if name[:1].isalpha() else f"c_{name}"


def _made(
    plant: Plant, prefix: str, function: str, how: tuple[Scenario | None, Allocation | None, tuple[str, ...]]
) -> Export:
    """The export of a function; motors and allocations are looked at before anything is derived."""
    scenario, allocation, encoders = how
    if function == "servo":
        return servo_export(plant, prefix, scenario, allocation, encoders)
    if encoders:
        raise CommandError(f"export: encoders are read by a servo, not by {function}. Leave them out.")
    if function == "inverse-dynamics":
        return inverse_export(plant, prefix, allocation)
    if allocation is not None:
        raise CommandError("export: the motion has no allocation. Leave it out, or export servo or inverse-dynamics.")
    return motion_export(plant, prefix)
