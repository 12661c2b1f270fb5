"""Studies: a machine run many times with other numbers, on all cores or a cluster, and what was found.

Study ─run→ folder ─open_study→ StudyResults
"""

from kalaba.door import names, opener

_NAMES = names(__file__)
__all__ = list(_NAMES)
__getattr__ = opener(__name__, _NAMES)
