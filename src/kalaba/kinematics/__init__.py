"""Kinematics: of arms, of closed chains, and of arms with the objects that they hold."""

from kalaba.door import names, opener

_NAMES = names(__file__)
__all__ = list(_NAMES)
__getattr__ = opener(__name__, _NAMES)
