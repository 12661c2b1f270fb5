"""Bars: a figure, what it must reach, and whether it does."""

from dataclasses import asdict, dataclass
from typing import Any

_SCALES = ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (float("inf"), 1.0, "s"))


@dataclass(frozen=True, slots=True)
class Faster:
    """Kalaba's time beside a peer's for the same work; the bar is how many times faster it must be."""

    what: str
    kalaba: float  # s
    peer: str
    peer_time: float  # s
    bar: float
    residual: float | None = None  # of what was timed: how far its rows are open, or how far it is from the peer's

    @property
    def ratio(self) -> float:
        """How many times faster kalaba is."""
        return self.peer_time / self.kalaba

    @property
    def met(self) -> bool:
        """Whether the bar is reached."""
        return self.ratio >= self.bar

    @property
    def cells(self) -> tuple[str, ...]:
        """A line of the table."""
        peer = f"{seconds(self.peer_time)} {self.peer}"
        ratio, bar = f"{self.ratio:.1f}", f"≥ {self.bar:g} times"
        return self.what, seconds(self.kalaba), peer, ratio, _size(self.residual), bar, _word(self)


@dataclass(frozen=True, slots=True)
class AtMost:
    """A figure of kalaba's own with an upper limit."""

    what: str
    kalaba: float
    bar: float
    unit: str  # "s", "MB", or "" for a number
    residual: float | None = None  # of what was timed, as above

    @property
    def met(self) -> bool:
        """Whether the figure stays below its limit; NaN, where there is nothing to measure it with, does not."""
        return self.kalaba <= self.bar

    @property
    def cells(self) -> tuple[str, ...]:
        """A line of the table."""
        bar = f"≤ {self._text(self.bar)}"
        return self.what, self._text(self.kalaba), "", "", _size(self.residual), bar, _word(self)

    def _text(self, value: float) -> str:
        return seconds(value) if self.unit == "s" else f"{value:.3g} {self.unit}".strip()


Bar = Faster | AtMost


@dataclass(frozen=True, slots=True)
class Report:
    """Bars of one group of measurements, and remarks that belong to them."""

    bars: tuple[Bar, ...]
    remarks: tuple[str, ...] = ()


def seconds(value: float) -> str:
    """A time in a unit that suits it."""
    scale, unit = next(((scale, unit) for limit, scale, unit in _SCALES if value < limit), (1.0, "s"))
    return f"{value * scale:.3g} {unit}"


def as_data(bar: Bar) -> dict[str, Any]:
    """A bar as plain data, for JSON."""
    ratio = {"ratio": bar.ratio} if isinstance(bar, Faster) else {}
    return {"kind": type(bar).__name__, **asdict(bar), **ratio, "met": bar.met}


def _size(residual: float | None) -> str:
    return "" if residual is None else f"{residual:.1e}"


def _word(bar: Bar) -> str:
    return "yes" if bar.met else "NO"
