"""Provenance: what a file says of how its numbers came about, as plain texts and numbers."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from kalaba.model.serial import to_json
from kalaba.results.run import Effort, Ending, Shortfall, Status, Worst

if TYPE_CHECKING:
    from kalaba.results.run import Run

FORMAT = 1
SETTINGS = ("stepper", "stabilisation", "control", "stop", "save_every")  # choices of a run, in words


def provenance(run: Run) -> dict[str, Any]:
    """Everything but the samples: who made them, from what, how, and how it ended."""
    plant, effort, status = run.plant, run.effort, run.status
    facts: dict[str, Any] = {
        "title": f"kalaba run of {plant.system.name}",
        "kalaba_format": FORMAT,
        "kalaba_version": version("kalaba"),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "platform": f"{platform.platform()}, Python {platform.python_version()}",
        "system_name": plant.system.name,
        "system": to_json(plant.system),
        "method": repr(plant.method),
        "backend": repr(plant.backend),
        "solver": repr(plant.solver),
        "samples": len(run.time),
        "status": status.ending.value,
        "status_time": float(status.time),
        "status_message": status.message,
        "steps": int(effort.steps),
        "steps_rejected": int(effort.rejected),
        "wall_time": float(effort.wall_time),
        "start_energy_loss": float(run.start_energy_loss),
        "jolt": float(effort.jolt[0]),
        "jolt_time": float(effort.jolt[1]),
        "rank_choices": json.dumps([[float(time), int(rank)] for time, rank in effort.choices]),
        "shortfalls": json.dumps(run.shortfalls),
        **{name: effort.settings[name] for name in SETTINGS if name in effort.settings},
    }
    if run.worst is not None:
        facts |= {
            "worst_residual": float(run.worst.value),
            "worst_residual_row": run.worst.row,
            "worst_residual_time": float(run.worst.time),
        }
    return facts


def status_of(said: Mapping[str, Any]) -> Status:
    """How the run ended."""
    return Status(Ending(said["status"]), float(said["status_time"]), str(said["status_message"]))


def effort_of(said: Mapping[str, Any]) -> Effort:
    """What the run took."""
    return Effort(
        steps=int(said["steps"]),
        rejected=int(said["steps_rejected"]),
        choices=tuple((float(time), int(rank)) for time, rank in json.loads(said["rank_choices"])),
        wall_time=float(said["wall_time"]),
        settings={name: str(said[name]) for name in SETTINGS if name in said},
        jolt=(float(said["jolt"]), float(said["jolt_time"])),
    )


def worst_of(said: Mapping[str, Any]) -> Worst | None:
    """The largest residual; None for a machine without rows."""
    if "worst_residual" not in said:
        return None
    return Worst(float(said["worst_residual"]), str(said["worst_residual_row"]), float(said["worst_residual_time"]))


def shortfalls_of(said: Mapping[str, Any]) -> tuple[Shortfall, ...]:
    """Where motors were asked for more than they may give; files of older versions say nothing of it."""
    return tuple(
        Shortfall(float(t), str(motor), float(gap)) for t, motor, gap in json.loads(said.get("shortfalls", "[]"))
    )
