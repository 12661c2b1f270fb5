"""C99 from a machine's equations: motion, inverse dynamics, and controllers that read encoders.

    Plant ──▶ CasADi function ──read──▶ Program ──cut──▶ C functions ──▶ Export ──▶ name.c, name.h, name_test.c

`export_c` is the way in.
"""

from kalaba.export.c.writing import export_c

__all__ = ["export_c"]
