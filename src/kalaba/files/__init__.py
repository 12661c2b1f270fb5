"""Models in and out: one module per kind of file, and the door through which machines are named."""

from kalaba.door import names, opener

_NAMES = names(__file__)
__all__ = list(_NAMES)
__getattr__ = opener(__name__, _NAMES)
