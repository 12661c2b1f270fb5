"""Sections of beams: area, and second moment of area for bending along y or z."""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

from kalaba.model.number import Number, scalar
from kalaba.model.solid import Evaluate


@dataclass(frozen=True, slots=True)
class Rectangle:
    """A rectangle: `height` along y, `width` along z."""

    height: Number = scalar("m", "height of the section, along y")
    width: Number = scalar("m", "width of the section, along z")

    def area(self, value: Evaluate) -> Any:  # noqa: ANN401
        """A = b h."""
        return value(self.height) * value(self.width)

    def second_moment(self, direction: int, value: Evaluate) -> Any:  # noqa: ANN401
        """I = b h³/12 for bending along y (1), h b³/12 along z (2)."""
        h, b = value(self.height), value(self.width)
        return b * h**3 / 12 if direction == 1 else h * b**3 / 12


@dataclass(frozen=True, slots=True)
class Circle:
    """A solid circle."""

    radius: Number = scalar("m", "radius of the section")

    def area(self, value: Evaluate) -> Any:  # noqa: ANN401
        """A = π r²."""
        return pi * value(self.radius) ** 2

    def second_moment(self, direction: int, value: Evaluate) -> Any:  # noqa: ANN401, ARG002
        """I = π r⁴/4."""
        return pi * value(self.radius) ** 4 / 4


@dataclass(frozen=True, slots=True)
class Tube:
    """A circular tube."""

    outer: Number = scalar("m", "outer radius of the section")
    inner: Number = scalar("m", "inner radius of the section")

    def area(self, value: Evaluate) -> Any:  # noqa: ANN401
        """A = π (R² − r²)."""
        return pi * (value(self.outer) ** 2 - value(self.inner) ** 2)

    def second_moment(self, direction: int, value: Evaluate) -> Any:  # noqa: ANN401, ARG002
        """I = π (R⁴ − r⁴)/4."""
        return pi * (value(self.outer) ** 4 - value(self.inner) ** 4) / 4


Section = Rectangle | Circle | Tube
