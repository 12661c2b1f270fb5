"""What the settings of a stepper must be."""

from math import inf, isfinite

from kalaba.errors import IntegrationError


def positive(stepper: object, name: str, *, finite: bool = True) -> None:
    """Refuse a setting that is not a number above 0, by its name."""
    value = getattr(stepper, name)
    if not (0 < value < inf if finite else value > 0):
        raise IntegrationError(f"{type(stepper).__name__}: {name} must be above 0, got {value}")


def tolerances(stepper: object, relative: float, absolute: float) -> None:
    """Refuse tolerances that no step can meet: negative, not finite, or both 0."""
    if not (isfinite(relative) and isfinite(absolute) and relative >= 0 and absolute >= 0 and relative + absolute > 0):
        raise IntegrationError(
            f"{type(stepper).__name__}: rtol and atol must be 0 or above and not both 0, got {relative} and {absolute}"
        )
