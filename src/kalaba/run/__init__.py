"""Simulation: a Plant, a stepper and what drives it give a Run."""

from kalaba.door import names, opener

_NAMES = names(__file__)
__all__ = list(_NAMES)
__getattr__ = opener(__name__, _NAMES)
