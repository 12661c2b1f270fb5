"""Parts of a System that it consists of, and that close it: frozen values that name each other by dotted paths.

Those that push are in `acting`. No equations here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.boundary import check_arguments, shown
from kalaba.errors import ModelError
from kalaba.joints import Free, Joint, Weld
from kalaba.model.names import WORLD, check_frame, check_line, check_name, check_path
from kalaba.model.solids import AnySolid, judge
from kalaba.model.text.traced import Traceable, Traced, trace
from kalaba.space.number import check_number, is_number, nested, plain, quantities
from kalaba.space.pose import (
    AsFound,
    Floats,
    Pose,
    PoseLike,
    as_pose,
)
from kalaba.tolerances import LARGEST_NUMBER

Text = str | float | Traced
Texts = tuple[tuple[str, Text], ...]
Held = float | PoseLike  # a number of a displacement, or where a frame is
Speed = float | Floats  # a rate of a displacement, or the six of a frame


@dataclass(frozen=True, slots=True)
class Body:
    """A solid on a parent frame, moved by a joint: one link of a tree.

    Arguments:
        name: its name, which is also that of its frame
        solid: what it is made of: kb.Rod, kb.Box, kb.Cylinder, kb.Solid or kb.Beam
        parent: name of the frame it sits on: "world", a body, a body's tip such as "crank.tip", or a Frame
        at: where its seat is on that frame: a Pose, or a position in m
        joint: how it moves on its seat; kb.Free() if not given
    """

    name: str
    solid: AnySolid = nested()
    parent: str = WORLD
    at: Pose = nested("at", Pose())
    joint: Joint = nested("", Free())

    if TYPE_CHECKING:

        def __init__(
            self, name: str, solid: AnySolid, parent: str = WORLD, at: PoseLike = Pose(), joint: Joint = Free()
        ) -> None: ...

    def __post_init__(self) -> None:
        check_name(self.name, "Body")
        object.__setattr__(self, "at", fixed_pose(self.at, self.name))
        check_frame(self.parent, f"{self.name}.parent")
        if not isinstance(self.solid, AnySolid):
            raise ModelError(f"{self.name}: expected a solid such as kb.Rod(0.3, mass=1.0), got {shown(self.solid)}.")
        _check_joint(self.name, self.joint, "a joint")
        if not self.joint.in_tree:
            raise ModelError(f"{self.name}: {self.joint.kind} closes loops only. Use it in a Connection.")
        _check_numbers(self.name, self.solid)


def fixed_pose(content: PoseLike | AsFound, name: str) -> Pose:
    """Accept a Pose or three numbers; AsFound() has no meaning here."""
    at = as_pose(content)
    if isinstance(at, AsFound):
        raise ModelError(f"{name}.at: expected a Pose, got AsFound(), which is for a Connection. Give a pose.")
    return at


def _check_joint(name: str, joint: object, expected: str) -> None:
    if not isinstance(joint, Joint):
        raise ModelError(f"{name}.joint: expected {expected} such as kb.Revolute(kb.Z), got {shown(joint)}.")


def _check_numbers(name: str, solid: AnySolid) -> None:
    """Judge a solid made of plain numbers at once; expressions are judged when the System knows their values."""
    for quantity in quantities(solid):
        check_number(f"{name}.{quantity.path}", quantity.value)

    with suppress(LookupError):
        judge(name, solid, plain)


@dataclass(frozen=True, slots=True)
class Connection:
    """A cut that is closed: `child` sits on `parent` at `at`, free to move as `joint` allows. Gives rows.

    Arguments:
        name: its name, which its rows begin with
        child: name of the frame that is held
        parent: name of the frame that holds it
        at: where the child sits on that frame: a Pose, a position in m, or AsFound(), where the start has it
        joint: how the child may move there; kb.Weld() if not given
    """

    name: str
    child: str
    parent: str = WORLD
    at: Pose | AsFound = nested("at", Pose())
    joint: Joint = nested("", Weld())

    if TYPE_CHECKING:

        def __init__(
            self, name: str, child: str, parent: str = WORLD, at: PoseLike | AsFound = Pose(), joint: Joint = Weld()
        ) -> None: ...

    def __post_init__(self) -> None:
        check_name(self.name, "Connection")
        check_frame(self.child, f"{self.name}.child")
        check_frame(self.parent, f"{self.name}.parent")
        object.__setattr__(self, "at", as_pose(self.at))
        _check_joint(self.name, self.joint, "a joint")
        if self.joint.is_free:
            raise ModelError(f"{self.name}.joint: {self.joint.kind} closes nothing. Leave the Connection out.")
        if self.joint.q is not None:
            raise ModelError(
                f"{self.name}.joint: q= {self.joint.q!r} moves a Body; a Connection only closes. Leave q= out."
            )


@dataclass(frozen=True, slots=True)
class Frame:
    """A named place on a body or on the world.

    Arguments:
        name: its name
        parent: name of the frame it sits on
        at: where on that frame: a Pose, or a position in m
    """

    name: str
    parent: str = WORLD
    at: Pose = nested("at", Pose())

    if TYPE_CHECKING:

        def __init__(self, name: str, parent: str = WORLD, at: PoseLike = Pose()) -> None: ...

    def __post_init__(self) -> None:
        check_name(self.name, "Frame")
        check_frame(self.parent, f"{self.name}.parent")
        object.__setattr__(self, "at", fixed_pose(self.at, self.name))


@dataclass(frozen=True, slots=True)
class Constraint:
    """Expressions that stay zero. With rates of coordinates in it a row is kept at velocity level.

    `work` adds generalised forces that the constraint exerts beyond the ideal one, by coordinate: a constraint
    that does work.

    Arguments:
        name: its name, which its rows begin with
        zero: one expression, {row: expression}, or a function that is called once with `m`, where m["crank.angle"] is
            the value of an expression, and gives one row, a list or {row: value}; in whatever unit the rows have
        work: {coordinate: expression}, generalised forces beside the ideal one, N or N·m; none if not given
    """

    name: str
    zero: Texts | Traced
    work: Texts = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            zero: str | Mapping[str, Text] | Texts | Traced | Traceable,
            work: Mapping[str, Text] | Texts = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        check_name(self.name, "Constraint")
        object.__setattr__(self, "zero", _rows(self.name, self.zero))
        object.__setattr__(self, "work", _pairs(self.work, f"{self.name}.work", "{coordinate: expression}"))


def _pairs(content: Any, path: str, expected: str) -> tuple[tuple[str, Any], ...]:
    try:
        pairs = tuple(dict(content).items())
        is_paired = len(pairs) == len(content) and not any(isinstance(entry, str) for entry in content)
    except Exception as error:  # whatever a map of somebody's class does
        raise ModelError(f"{path}: expected {expected}, got {shown(content)}.") from error
    is_named = all(isinstance(key, str) for key, _ in pairs)
    if not is_named or not (is_paired or isinstance(content, Mapping)):  # a text of two letters is no pair
        raise ModelError(f"{path}: expected {expected}, got {shown(content)}.")
    return tuple((key, tuple(value) if isinstance(value, list | np.ndarray) else value) for key, value in pairs)


ROWS = "an expression, or {row: expression} for several rows"


def _rows(name: str, zero: object) -> Texts | Traced:
    if isinstance(zero, Traced):
        return zero
    if isinstance(zero, Mapping):
        rows: Texts = _pairs(zero, name, ROWS)
    elif isinstance(zero, str):
        rows = (("", zero),)
    elif isinstance(zero, tuple):
        rows = _pairs(zero, name, ROWS)
    elif callable(zero):
        return trace(zero, name)
    else:
        raise ModelError(f"{name}: expected {ROWS}, or a function of m, got {shown(zero)}.")
    if not rows:
        raise ModelError(f"{name}: expected at least one row, got none.")
    return rows


@dataclass(frozen=True, slots=True)
class Output:
    """A named expression that a Run records.

    Arguments:
        name: its name in a Run
        value: an expression, such as "distance(left.tip, right.tip)"
        unit: its unit, for plots and files; "1" if not given
    """

    name: str
    value: str
    unit: str = "1"

    def __post_init__(self) -> None:
        check_name(self.name, "Output")
        check_line(self.unit, f"{self.name}.unit")


@dataclass(frozen=True, slots=True)
class Parameter:
    """A named number that expressions and other numbers may use.

    Arguments:
        name: its name in expressions
        value: its value
        unit: its unit; "1" if not given
        description: what it is, in words
        is_structure: whether it is a constant of the compiled code, so that a new value derives the equations again
    """

    name: str
    value: float
    unit: str = "1"
    description: str = ""
    is_structure: bool = field(default=False, compare=False)

    def __post_init__(self) -> None:
        check_path(self.name, "Parameter")  # a machine's have full paths
        check_line(self.unit, f"{self.name}.unit")
        check_line(self.description, f"{self.name}.description")
        if not is_number(self.value):
            raise ModelError(
                f"{self.name}: expected a finite number up to {LARGEST_NUMBER:g}, got {shown(self.value)}."
            )


@dataclass(frozen=True)
class Start:
    """Where a machine starts: `hold` exactly, `guess` near, `speed` as given. Frames as keys take a Pose.

    Arguments:
        hold: {displacement: m or rad} and {frame: Pose or position in m} that are kept exactly
        guess: the same, from which the assembly begins; what is not named is at zero or mid-limit
        speed: {displacement: m/s or rad/s} and {frame: (vx, vy, vz, wx, wy, wz)}, m/s and rad/s, world axes
    """

    hold: tuple[tuple[str, Held], ...] = ()
    guess: tuple[tuple[str, Held], ...] = ()
    speed: tuple[tuple[str, Speed], ...] = ()

    if TYPE_CHECKING:

        def __init__(
            self,
            hold: Mapping[str, Held] | tuple[tuple[str, Held], ...] = (),
            guess: Mapping[str, Held] | tuple[tuple[str, Held], ...] = (),
            speed: Mapping[str, Speed] | tuple[tuple[str, Speed], ...] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        for entry in ("hold", "guess", "speed"):
            pairs = _pairs(getattr(self, entry), f"start.{entry}", "{name: value}")
            object.__setattr__(self, entry, pairs)

    def over(self, other: Start) -> Start:
        """Join two starts; what this one says of a name replaces what the other says."""
        check_arguments(Start.over, locals())
        return Start.joined((self, other))

    @staticmethod
    def joined(starts: Sequence[Start]) -> Start:
        """Join starts; what an earlier one says of a name replaces what later ones say."""
        hold: dict[str, Held] = {}
        guess: dict[str, Held] = {}
        speed: dict[str, Speed] = {}
        for start in reversed(starts):
            for key, _ in (*start.hold, *start.guess):
                hold.pop(key, None)
                guess.pop(key, None)
            hold.update(start.hold)
            guess.update(start.guess)
            speed.update(start.speed)
        return Start(hold, guess, speed)

    def prefixed(self, prefix: str) -> Start:
        """Put a placement's name before every key."""
        check_arguments(Start.prefixed, locals())
        return Start(
            hold={f"{prefix}.{key}": value for key, value in self.hold},
            guess={f"{prefix}.{key}": value for key, value in self.guess},
            speed={f"{prefix}.{key}": value for key, value in self.speed},
        )
