"""How an integration stands."""

from enum import IntEnum


class Status(IntEnum):
    """How far a lane has come and why it went no further; all but the first three are failures."""

    RUNNING = 0
    DONE = 1  # the end was reached
    STOPPED = 2  # the event came
    NAN = 3  # the state or its rate is no longer finite
    UNDERFLOW = 4  # the error asks for steps below rounding
    RESIDUAL = 5  # projection does not bring the state back to the constraints
    INCONSISTENT = 6  # a row contradicts the others; `row` says which
    SINGULAR = 7  # the mass matrix is not positive definite
    UNSOLVED = 8  # Newton's method found no end of a fixed step

    @property
    def failed(self) -> bool:
        """Whether the integration broke off."""
        return self > Status.STOPPED
