"""The parts of a System: frozen values that name each other by dotted paths. No equations here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kalaba.errors import ModelError
from kalaba.model.joint import Free, Joint, Weld
from kalaba.model.number import Number, as_numbers, nested, scalar
from kalaba.model.pose import AsFound, Pose, as_pose
from kalaba.model.solid import AnySolid, check_solid
from kalaba.model.traced import Traced, trace

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
WORLD = "world"
Text = str | float | Traced


def check_name(name: object, what: str) -> None:
    """Refuse names that the expression grammar could not read."""
    if not isinstance(name, str) or not NAME.match(name) or name in {WORLD, "t", "pi"}:
        message = f"{what}: expected a name of letters, digits and underscores (not world, t, pi), got {name!r}."
        raise ModelError(message)


@dataclass(frozen=True, slots=True)
class Body:
    """A solid on a parent frame, moved by a joint: one link of a tree."""

    name: str
    solid: AnySolid = nested()
    parent: str = WORLD
    at: Pose | AsFound = nested("at", Pose())
    joint: Joint = nested("", Free())

    def __post_init__(self) -> None:
        check_name(self.name, "Body")
        object.__setattr__(self, "at", as_pose(self.at))
        if not hasattr(self.solid, "mass_properties"):
            message = f"{self.name}: expected a solid (Solid, Rod, Box, Cylinder), got {self.solid!r}."
            raise ModelError(message)
        _check_joint(self.name, self.joint, "a joint")
        if not self.joint.in_tree:
            message = f"{self.name}: {type(self.joint).__name__} closes loops only. Use it in a Connection."
            raise ModelError(message)
        if isinstance(self.at, AsFound):
            message = f"{self.name}.at: AsFound() is for a Connection. Give a Body a pose."
            raise ModelError(message)
        _check_numbers(self.name, self.solid)


def _check_joint(name: str, joint: object, expected: str) -> None:
    if not isinstance(joint, Joint):
        message = f"{name}.joint: expected {expected} such as kb.Revolute(kb.Z), got {joint!r}."
        raise ModelError(message)


def _check_numbers(name: str, solid: AnySolid) -> None:
    """Judge a solid made of plain numbers at once; expressions are judged when the System knows their values."""

    def plain(value: Number) -> float:
        if isinstance(value, str):
            raise LookupError
        return float(value)

    try:
        properties = solid.mass_properties(plain)
    except LookupError:
        return
    check_solid(name, properties)


@dataclass(frozen=True, slots=True)
class Connection:
    """A cut that is closed: `child` sits on `parent` at `at`, free to move as `joint` allows. Gives rows."""

    name: str
    child: str
    parent: str = WORLD
    at: Pose | AsFound = nested("at", Pose())
    joint: Joint = nested("", Weld())

    def __post_init__(self) -> None:
        check_name(self.name, "Connection")
        object.__setattr__(self, "at", as_pose(self.at))
        _check_joint(self.name, self.joint, "a joint")
        if not self.joint.rows:
            message = f"{self.name}: {type(self.joint).__name__} closes nothing. Leave the Connection out."
            raise ModelError(message)


@dataclass(frozen=True, slots=True)
class Frame:
    """A named place on a body or on the world."""

    name: str
    parent: str = WORLD
    at: Pose = nested("at", Pose())

    def __post_init__(self) -> None:
        check_name(self.name, "Frame")
        object.__setattr__(self, "at", as_pose(self.at))


@dataclass(frozen=True, slots=True)
class Constraint:
    """Expressions that stay zero. With rates of coordinates in it a row is kept at velocity level.

    `work` adds generalised forces that the constraint exerts beyond the ideal one, by coordinate: a constraint
    that does work.
    """

    name: str
    zero: Any  # str | {row: str} | callable, kept as a tuple of (row, expression) or as Traced
    work: Any = ()  # {coordinate: expression}

    def __post_init__(self) -> None:
        check_name(self.name, "Constraint")
        object.__setattr__(self, "zero", _rows(self.name, self.zero))
        object.__setattr__(self, "work", tuple(dict(self.work).items()))


def _rows(name: str, zero: object) -> tuple[tuple[str, Text], ...] | Traced:
    if isinstance(zero, Traced):
        return zero
    if isinstance(zero, Mapping):
        rows: tuple[tuple[str, Text], ...] = tuple(zero.items())
    elif isinstance(zero, str):
        rows = (("", zero),)
    elif isinstance(zero, tuple):
        rows = zero
    elif callable(zero):
        return trace(zero, name)
    else:
        message = f"{name}: expected an expression, a dict of rows or a callable, got {zero!r}."
        raise ModelError(message)
    if not rows:
        message = f"{name}: expected at least one row, got none."
        raise ModelError(message)
    return rows


@dataclass(frozen=True, slots=True)
class Actuator:
    """A motor: its force or torque is power-dual to the displacement it drives."""

    name: str
    displacement: str
    limit: float = math.inf

    def __post_init__(self) -> None:
        check_name(self.name, "Actuator")
        if not self.limit > 0:
            message = f"{self.name}.limit: expected more than zero, got {self.limit}."
            raise ModelError(message)


@dataclass(frozen=True, slots=True)
class Spring:
    """A spring and damper along a displacement d: force −stiffness (d − rest) − damping ḋ."""

    name: str
    displacement: str
    stiffness: Number = scalar("N/m", "stiffness", 0.0)
    damping: Number = scalar("N*s/m", "damping", 0.0)
    rest: Number = scalar("m", "displacement without force", 0.0)

    def __post_init__(self) -> None:
        check_name(self.name, "Spring")


@dataclass(frozen=True, slots=True)
class Sampled:
    """A Python function called at a fixed rate; what it returns is held until the next sample.

    Without `state` it is called as function(t, q, v) and returns the values. With `state` (its first value) it is
    called as function(t, q, v, state) and returns (values, state).
    """

    function: Callable[..., Any]
    rate: float  # Hz
    state: Any = None

    def __post_init__(self) -> None:
        if not callable(self.function) or not self.rate > 0 or not math.isfinite(self.rate):
            message = f"Sampled: expected a callable and a rate above 0 Hz, got {self.function!r}, {self.rate!r}."
            raise ModelError(message)

    @property
    def period(self) -> float:
        """Seconds between samples."""
        return 1.0 / self.rate


@dataclass(frozen=True, slots=True)
class Force:
    """A force and a torque on a frame, in world axes: expressions, a callable of the machine, or sampled values."""

    name: str
    parent: str
    force: Any = (0.0, 0.0, 0.0)
    torque: Any = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_name(self.name, "Force")
        for entry in ("force", "torque"):
            object.__setattr__(self, entry, _three(f"{self.name}.{entry}", getattr(self, entry)))


def _three(what: str, given: object) -> Any:  # noqa: ANN401
    if isinstance(given, Sampled | Traced):
        return given
    if callable(given):
        traced = trace(given, what)
        if len(traced.results) != 3:
            message = f"{what}: expected three components from the callable, got {len(traced.results)}."
            raise ModelError(message)
        return traced
    return as_numbers(given, 3, what)


@dataclass(frozen=True, slots=True)
class Output:
    """A named expression that a Run records."""

    name: str
    value: str
    unit: str = "1"

    def __post_init__(self) -> None:
        check_name(self.name, "Output")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named number that expressions and other numbers may use."""

    name: str
    value: float
    unit: str = "1"
    description: str = ""
    is_structure: bool = field(default=False, compare=False)  # a constant of the compiled code

    def __post_init__(self) -> None:
        if not isinstance(self.value, int | float) or not math.isfinite(self.value):
            message = f"{self.name}: expected a finite number, got {self.value!r}."
            raise ModelError(message)


@dataclass(frozen=True)
class Start:
    """Where a machine starts: `hold` exactly, `guess` near, `speed` as given. Frames as keys take a Pose."""

    hold: Any = ()
    guess: Any = ()
    speed: Any = ()

    def __post_init__(self) -> None:
        for entry in ("hold", "guess", "speed"):
            object.__setattr__(self, entry, tuple(dict(getattr(self, entry)).items()))

    def over(self, other: Start) -> Start:
        """Join two starts; what this one says of a name replaces what the other says."""
        mine = {key for key, _ in (*self.hold, *self.guess)}
        return Start(
            hold={**{k: v for k, v in other.hold if k not in mine}, **dict(self.hold)},
            guess={**{k: v for k, v in other.guess if k not in mine}, **dict(self.guess)},
            speed={**dict(other.speed), **dict(self.speed)},
        )

    def prefixed(self, prefix: str) -> Start:
        """Put a placement's name before every key."""
        return Start(
            *({f"{prefix}.{key}": value for key, value in entry} for entry in (self.hold, self.guess, self.speed))
        )
