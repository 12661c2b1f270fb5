"""When an integration starts, ends and saves."""

from dataclasses import dataclass
from math import floor, isfinite

from kalaba.errors import IntegrationError
from kalaba.tolerances import ON_GRID


@dataclass(frozen=True, slots=True)
class Schedule:
    """From `start` to `end`, with samples at start + k·save_every and at the end."""

    end: float  # s
    save_every: float = 0.01  # s
    start: float = 0.0  # s

    def __post_init__(self) -> None:
        if not (isfinite(self.start) and isfinite(self.end) and self.end >= self.start):
            raise IntegrationError(f"a run cannot go from {self.start} s to {self.end} s; it must end after it starts")
        if not self.save_every > 0:
            raise IntegrationError(f"save_every must be above 0 s, got {self.save_every}")

    @property
    def n_samples(self) -> int:
        """How many samples a run holds that reaches its end."""
        intervals = (self.end - self.start) / self.save_every
        whole = floor(intervals + ON_GRID)
        return whole + (2 if intervals - whole > ON_GRID else 1)
