r"""Letters: every symbol of a machine's equations by a LaTeX name that a person would choose, with its value and unit.

A `Notation` says how a source writes them; what it does not name gets a letter from its path: left.link1.mass becomes
m_{left.link1}, theta1 becomes \theta_{1}, and its rate \dot{\theta}_{1}.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from kalaba.printing.polynomial import Kind

if TYPE_CHECKING:
    from kalaba.model.machine import Machine

GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "rho"),
    *("sigma", "tau", "phi", "chi", "psi", "omega"),
)
WORD = re.compile(r"([A-Za-z]+?)_?(\d*)$")
ENDS = {  # what the last words of a path stand for
    "mass": "m",
    "length": "l",
    "radius": "r",
    "density": r"\rho",
    "young": "E",
    "poisson": r"\nu",
    "stiffness": "k",
    "damping": "d",
    "pitch": "h",
    "angle": r"\theta",
    "travel": "s",
    **{f"com.{axis}": f"c_{{{axis}}}" for axis in "xyz"},
    **{f"tip.{axis}": f"l_{{{axis}}}" for axis in "xyz"},
    **{f"at.{axis}": f"p_{{{axis}}}" for axis in "xyz"},
    **{f"inertia.{axes}": f"I_{{{axes}}}" for axes in ("xx", "yy", "zz", "xy", "xz", "yz")},
    **{f"q{axis}": f"e_{{{axis}}}" for axis in "wxyz"},
    **{f"v{axis}": f"v_{{{axis}}}" for axis in "xyz"},
    **{f"w{axis}": rf"\omega_{{{axis}}}" for axis in "xyz"},
}


@dataclass(frozen=True)
class Notation:
    """How a source writes the symbols of a machine. Paths that the machine does not have are passed over."""

    symbols: Mapping[str, str] = field(default_factory=dict)  # path → LaTeX; "-g": the letter is minus the number
    relations: Mapping[str, str] = field(default_factory=dict)  # parameter → expression of others, while that holds
    abbreviations: Mapping[str, str] = field(default_factory=dict)  # LaTeX → product of parameters and functions


@dataclass(frozen=True, slots=True)
class Letter:
    """One symbol of the equations."""

    name: str  # that CasADi has it by: a path, or rate(path)
    latex: str
    kind: Kind
    unit: str = ""
    description: str = ""
    value: float | None = None  # of a parameter; of the letter, which may be minus the parameter
    sign: int = 1


def symbol(name: str) -> str:
    r"""A dotted name as LaTeX: left.theta1 → \theta_{1,\mathrm{left}}, rate(x) → \dot{x}."""
    if name.startswith("rate(") and name.endswith(")"):
        return dotted(symbol(name[5:-1]))
    for end, letter in ENDS.items():
        if name == end or name.endswith(f".{end}"):
            return _indexed(letter, name[: -len(end)].rstrip("."))
    path, _, last = name.rpartition(".")
    parts = WORD.match(last)
    word, index = parts.groups() if parts else (last, "")
    letter = rf"\{word}" if word in GREEK else word if len(word) == 1 else _upright(word)
    if word in {"angle", "mode", "motor"}:
        letter = {"angle": r"\theta", "mode": r"\eta", "motor": "u"}[word]
    return _indexed(f"{letter}_{{{index}}}" if index else letter, path)


def _upright(word: str) -> str:
    escaped = word.replace("_", r"\_")
    return rf"\mathrm{{{escaped}}}"


def _indexed(letter: str, path: str) -> str:
    """A letter with the path of its owner below it."""
    if not path:
        return letter
    if letter.endswith("}") and "_{" in letter:
        return f"{letter[:-1]},{_upright(path)}}}"
    return f"{letter}_{{{_upright(path)}}}"


def dotted(latex: str) -> str:
    """The rate of a letter: the dot stands over the letter, not over its index."""
    head, mark, index = latex.partition("_")
    return rf"\dot{{{head}}}{mark}{index}"


def letters(machine: Machine, notation: Notation) -> tuple[Letter, ...]:
    """The letters of q, v, t, u and p, in this order, no two alike."""
    chosen = notation.symbols
    positions = {c.name: c for c in machine.coordinates}
    listed = [Letter(c.name, chosen.get(c.name, symbol(c.name)), Kind.COORDINATE, c.unit) for c in machine.coordinates]
    for c in machine.velocities:
        is_rate = c.name in positions
        latex = dotted(chosen.get(c.name, symbol(c.name))) if is_rate else chosen.get(c.name, symbol(c.name))
        listed.append(Letter(f"rate({c.name})" if is_rate else c.name, latex, Kind.VELOCITY, c.unit))
    listed.append(Letter("t", "t", Kind.COORDINATE, "s", "time"))
    held = [*(actuator.name for actuator in machine.actuators), *machine.sampled_inputs]
    listed += [Letter(name, chosen.get(name, symbol(name)), Kind.INPUT) for name in held]
    down = [p.name for p in machine.free_parameters if p.name.startswith("gravity.")]
    for p in machine.free_parameters:
        default = ("-g" if p.value < 0 else "g") if p.name in down and len(down) == 1 else symbol(p.name)
        latex = chosen.get(p.name, default)
        sign = -1 if latex.startswith("-") else 1
        kind = Kind.MASS if p.unit in {"kg", "kg*m^2"} else Kind.PARAMETER
        listed.append(Letter(p.name, latex.lstrip("-"), kind, p.unit, p.description, sign * p.value, sign))
    return _distinct(listed)


def _distinct(listed: Iterable[Letter]) -> tuple[Letter, ...]:
    """Letters that two symbols share are written as paths."""
    every = list(listed)
    seen: dict[str, int] = {}
    for letter in every:
        seen[letter.latex] = seen.get(letter.latex, 0) + 1
    return tuple(letter if seen[letter.latex] == 1 else replace(letter, latex=_long(letter.name)) for letter in every)


def _long(name: str) -> str:
    return dotted(_upright(name[5:-1])) if name.startswith("rate(") else _upright(name)
