"""SDF in: models and worlds, with poses relative to any frame, nested and included models, and loops as they are.

file ─scopes→ names and poses ─hinges→ joints ─machine→ the tree with the fewest coordinates, all else as rows
"""

from kalaba.files.sdf.machine import OPTIONS, read
from kalaba.model.formats import Format

__all__ = ["FORMAT"]

FORMAT = Format("SDF", (".sdf", ".world"), read, options=OPTIONS)
