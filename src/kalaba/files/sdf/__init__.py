"""SDF in and out: models and worlds, poses relative to any frame, nested and included models, loops as they are.

file ─scopes→ names and poses ─hinges→ joints ─machine→ the tree with the fewest coordinates, all else as rows
a System ─pieces, acting, writing→ file
"""

from kalaba.files.sdf.machine import OPTIONS, read
from kalaba.files.sdf.writing import write
from kalaba.model.formats import Format

__all__ = ["FORMAT"]

FORMAT = Format("SDF", (".sdf", ".world"), read, write, OPTIONS)
