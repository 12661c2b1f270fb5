"""What is asked of a machine as a whole: mobility, cuts, equilibrium, linear model, frequencies."""

from kalaba.door import names, opener

_NAMES = names(__file__)
__all__ = list(_NAMES)
__getattr__ = opener(__name__, _NAMES)
