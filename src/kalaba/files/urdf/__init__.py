"""URDF and xacro in and out: trees of links, and the three ways in which files add loops to them.

file ─xacro→ elements ─machine, visuals→ the tree ─loops, loops_file→ what closes it
a System ─pieces, writing→ file, ─loops_out→ a file of loops beside it
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from kalaba.files.urdf.machine import OPTIONS, read
from kalaba.model.formats import Format

if TYPE_CHECKING:
    from pathlib import Path

    from kalaba.model.system import System
    from kalaba.run.scenario import Scenario

__all__ = ["FORMAT"]


def write(described: System | Scenario, path: Path) -> tuple[str, ...]:
    """Write a machine; see `writing`, which assembles loops and is imported when it is needed."""
    from kalaba.files.urdf.writing import write as written

    return written(described, path)


FORMAT = Format("URDF", (".urdf", ".xacro"), read, write, options=OPTIONS)
