"""Paths in files: by the functions of `kb.path` that make them, with their arguments as entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import AfterValidator

from kalaba.errors import FileError, KalabaError
from kalaba.files.yaml.encoding import Data, Encoder
from kalaba.files.yaml.kinds import Entry, Kinds, either, listed
from kalaba.files.yaml.values import (
    AxisEntry,
    ExpressionEntry,
    TruthEntry,
    WholeEntry,
    checked,
    number_type,
    refuse,
)
from kalaba.paths import making
from kalaba.paths.chain import Circular, Quintic
from kalaba.paths.path import Path
from kalaba.paths.timing import Constant, MeanSpeed, MinimumJerk, Timing, Trapezoid

RELATIVE = "relative"
TIMINGS = {"trapezoid": Trapezoid, "mean-speed": MeanSpeed, "minimum-jerk": MinimumJerk, "constant": Constant}
BLENDS = {"circular": Circular, "quintic": Quintic}
Blend = Circular | Quintic
METRES, SPEED, TIME = ("m",), ("m/s",), ("s",)
TIMED = {"speed": SPEED, "duration": TIME, "timing": ()}
# Functions that make paths, and the units of their arguments.
RECIPES: dict[str, tuple[Callable[..., Path], dict[str, tuple[str, ...]]]] = {
    "circle": (
        making.circle,
        {"diameter": METRES, "speed": SPEED, "accel": ("m/s^2",), "centre": METRES}
        | {"normal": (), "phase": ("rad",), "turns": ()},
    ),
    "line": (making.line, {"start": METRES, "end": METRES, **TIMED}),
    "polyline": (making.polyline, {"points": METRES, **TIMED, "blend": METRES}),
    "spline": (making.spline, {"points": METRES, **TIMED, "degree": (), "closed": ()}),
    "expression": (making.expression, {"x": METRES, "y": METRES, "z": METRES, "duration": TIME}),
}
MOST_POINTS = 500  # of a path: curves by arc length are fitted piece by piece
NEEDED = {"diameter", "start", "end", "points", "x", "y", "z"}


def path_type(families: Kinds) -> Any:
    """The type of a path."""
    models = {name: _recipe(families, name) for name in RECIPES}
    entries = {**{name: (kind, None) for name, kind in models.items()}, RELATIVE: (TruthEntry, None)}
    model = families.entry("Path", entries, Entry, what="a path")
    return Annotated[model, AfterValidator(_made)]


def _recipe(families: Kinds, name: str) -> Any:
    make, units = RECIPES[name]
    entries = {key: (_argument(families, key, unit), ... if key in NEEDED else None) for key, unit in units.items()}
    model = families.entry(f"{name.title()}Path", entries, Entry, what=f"a {name}")
    model.source = make
    return Annotated[model, AfterValidator(lambda entry: checked(lambda: make(**entry.said())))]


def _argument(families: Kinds, name: str, units: tuple[str, ...]) -> Any:
    """The type of an argument."""
    number = number_type(units, with_expressions=False)
    types: dict[str, Any] = {
        "centre": listed(number),
        "start": listed(number),
        "end": listed(number),
        "points": listed(listed(number), MOST_POINTS),
        "normal": AxisEntry,
        "turns": WholeEntry,
        "degree": WholeEntry,
        "closed": TruthEntry,
        "timing": families.hinted(Timing, ()),
        "blend": either(
            lambda data: "kind" if isinstance(data, Mapping) else "one", one=number, kind=families.hinted(Blend, ())
        ),
        **dict.fromkeys(("x", "y", "z"), ExpressionEntry),
    }
    return types.get(name, number)


def _made(entry: Entry) -> Path:
    said = entry.said()
    relative = said.pop(RELATIVE, None)
    if len(said) != 1:
        refuse(f"expected one of {', '.join(RECIPES)}, got {' and '.join(said) or 'none'}.")
    path: Path = next(iter(said.values()))
    return path if relative is None else replace(path, is_relative=relative)


def path_data(path: Path, place: str, encoder: Encoder) -> Data:
    """The entries of a path."""
    recipe = path.recipe
    if recipe is None or recipe.name not in RECIPES:
        raise FileError(f"{place}: a path that no function of kb.path made cannot be written to a file.")
    make, units = RECIPES[recipe.name]
    arguments: dict[str, Any] = dict(recipe.arguments)
    try:
        again = make(**arguments)
    except KalabaError:
        again = None
    if again is None or replace(again, is_relative=path.is_relative) != path:
        raise FileError(f"{place}: a path that was changed after kb.path made it cannot be written to a file.")
    data = {name: encoder.value(value, units[name], f"{place}.{name}") for name, value in arguments.items()}
    relative = {} if again.is_relative == path.is_relative else {RELATIVE: path.is_relative}
    return {recipe.name: data, **relative}
