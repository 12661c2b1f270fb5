"""Numbers with units, as people write them in files: "0.7 m", "30 deg", "2 N*m". All become SI.

A unit is a product of words with powers: `kg*m^2`, `N*s/m`, `m/s^2`. Decimal prefixes move the point and nothing else:
"35 mm" is exactly the number 0.035. Angles count as a dimension of their own where that tells mistakes: a length of
30 deg is refused, a stiffness may be in N*m/rad or N*m.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal, localcontext
from functools import lru_cache

DIGITS = 60  # of products of decimal factors: all of them
_NUMBER = r"\s*([-+]?(?:\.[0-9]+|[0-9]+\.?[0-9]*)(?:[eE][-+]?[0-9]{1,3})?)"
_NUMBER_AND_UNIT = re.compile(_NUMBER + r"(?:\s*([A-Za-zµ%°].*?)|\s+(1.*?))\s*\Z")
_FACTOR = re.compile(r"([*/]?)([A-Za-zµ%°]+|1)(?:\^(-?[0-9]))?")
_AROUND = re.compile(r"\s*([*/^])\s*")
_EXPONENT_ONLY = re.compile(r"[eE][-+]?[0-9]*")


@dataclass(frozen=True)
class Unit:
    """A unit as SI.

    Arguments:
        scale: how many SI units it is, a decimal number
        turn: a factor beside it that no decimal number is, such as π/180
        dimensions: powers of m, kg, s, rad and turns, those that are not zero, in order of their names
    """

    scale: Decimal = Decimal(1)
    turn: float = 1.0
    dimensions: tuple[tuple[str, int], ...] = ()

    def value(self, number: str) -> float:
        """A number of this unit in SI."""
        with localcontext() as context:
            context.prec = DIGITS
            scaled = float(Decimal(number) * self.scale)
        return scaled if self.turn == 1.0 else scaled * self.turn

    def times(self, other: Unit, power: int) -> Unit:
        """Its product with a power of another."""
        powers = Counter(dict(self.dimensions))
        for name, count in other.dimensions:
            powers[name] += power * count
        with localcontext() as context:
            context.prec = DIGITS
            scale = self.scale * other.scale**power
        kept = tuple(sorted((name, count) for name, count in powers.items() if count))
        return Unit(scale, self.turn * other.turn**power, kept)

    def fits(self, expected: Unit) -> bool:
        """Whether a number of this unit is one of the expected unit; angles may be left out where others stand by."""
        mine, other = dict(self.dimensions), dict(expected.dimensions)
        angle, expected_angle = mine.pop("rad", 0), other.pop("rad", 0)
        return mine == other and (angle == expected_angle or (angle == 0 and bool(mine)))


def _base(name: str) -> Unit:
    return Unit(dimensions=((name, 1),))


def _scaled(unit: Unit, scale: str) -> Unit:
    return Unit(Decimal(scale) * unit.scale, unit.turn, unit.dimensions)


def _table() -> dict[str, Unit]:
    one, m, kg, s, rad = Unit(), _base("m"), _base("kg"), _base("s"), _base("rad")
    newton = kg.times(m, 1).times(s, -2)
    joule, watt = newton.times(m, 1), newton.times(m, 1).times(s, -1)
    pascal, hertz = newton.times(m, -2), _base("turn").times(s, -1)
    units = {"1": one, "%": _scaled(one, "0.01"), "m": m, "kg": kg, "s": s, "rad": rad}
    units |= {"km": _scaled(m, "1000"), "dm": _scaled(m, "0.1"), "cm": _scaled(m, "0.01"), "mm": _scaled(m, "0.001")}
    units |= {"um": _scaled(m, "1e-6"), "in": _scaled(m, "0.0254"), "ft": _scaled(m, "0.3048")}
    units |= {"g": _scaled(kg, "0.001"), "mg": _scaled(kg, "1e-6"), "t": _scaled(kg, "1000")}
    units |= {"lb": _scaled(kg, "0.45359237")}
    units |= {"ms": _scaled(s, "0.001"), "us": _scaled(s, "1e-6"), "min": _scaled(s, "60"), "h": _scaled(s, "3600")}
    units |= {"mrad": _scaled(rad, "0.001"), "deg": Unit(turn=math.pi / 180, dimensions=rad.dimensions)}
    units |= {"rev": Unit(turn=2 * math.pi, dimensions=rad.dimensions)}
    units |= {"rpm": Unit(turn=2 * math.pi / 60, dimensions=rad.times(s, -1).dimensions)}
    units |= {"N": newton, "kN": _scaled(newton, "1000"), "mN": _scaled(newton, "0.001")}
    units |= {"Nm": joule, "kNm": _scaled(joule, "1000"), "Nmm": _scaled(joule, "0.001"), "J": joule}
    units |= {"kJ": _scaled(joule, "1000"), "W": watt, "kW": _scaled(watt, "1000")}
    units |= {"Pa": pascal, "kPa": _scaled(pascal, "1000"), "MPa": _scaled(pascal, "1e6")}
    units |= {"GPa": _scaled(pascal, "1e9"), "Hz": hertz, "kHz": _scaled(hertz, "1000")}
    return units | {"µm": units["um"], "µs": units["us"], "°": units["deg"]}


UNITS = _table()

WORDS = {
    "m": ("a length", "0.15 m"),
    "kg": ("a mass", "0.3 kg"),
    "s": ("a time", "0.5 s"),
    "rad": ("an angle", "30 deg"),
    "m/s": ("a speed", "0.2 m/s"),
    "rad/s": ("a rate", "2 rad/s"),
    "m/s^2": ("an acceleration", "9.81 m/s^2"),
    "N": ("a force", "2 N"),
    "N*m": ("a torque", "2 N*m"),
    "Hz": ("a frequency", "1000 Hz"),
    "kg*m^2": ("an inertia", "0.01 kg*m^2"),
    "N/m": ("a stiffness", "200 N/m"),
    "Pa": ("a modulus", "70 GPa"),
    "kg/m^3": ("a density", "2700 kg/m^3"),
    "1": ("a plain number", "0.3"),
}


def expected_words(units: tuple[str, ...]) -> str:
    """What a message says was expected: "a length such as 0.15 m"."""
    named = [WORDS.get(unit, (f"a number in {unit}", f"2 {unit}")) for unit in units]
    return " or ".join(f"{what} such as {example}" for what, example in named)


@lru_cache(maxsize=512)
def unit(text: str) -> Unit | None:
    """A unit by its text; None if it is none. A middle dot, ² and ³ are read as *, ^2 and ^3."""
    plain = text.strip().replace("·", "*").replace("²", "^2").replace("³", "^3").replace("**", "^")
    plain = _AROUND.sub(r"\1", plain)
    result, position = Unit(), 0
    while position < len(plain):
        factor = _FACTOR.match(plain, position)
        if factor is None or factor[2] not in UNITS or bool(factor[1]) != bool(position):
            return None
        power = int(factor[3] or 1) * (-1 if factor[1] == "/" else 1)
        result, position = result.times(UNITS[factor[2]], power), factor.end()
    return result if plain else None


def split(text: str) -> tuple[str, str] | None:
    """The number and the unit that a text consists of; None if it is something else, such as an expression."""
    match = _NUMBER_AND_UNIT.match(text)
    if match is None or _EXPONENT_ONLY.fullmatch(written := match[2] or match[3]):
        return None
    return match[1], written


def is_expected(written: Unit, expected: tuple[str, ...]) -> bool:
    """Whether a unit measures what one of the expected units does."""
    return any(known is not None and written.fits(known) for known in map(unit, expected))


def si_text(text: str) -> str:
    """The SI unit of a unit: "mm" → "m"; one that is SI already as it is written."""
    written = unit(text)
    if written is None or (written.scale == 1 and written.turn == 1.0):
        return text
    known = [name for name in WORDS if unit(name) == Unit(dimensions=written.dimensions)]
    powers = (f"{name}^{power}" if power != 1 else name for name, power in written.dimensions)
    return known[0] if known else "*".join(powers)
