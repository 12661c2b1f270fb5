"""The parts of a System: frozen values that name each other by dotted paths. No equations here."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, overload, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from kalaba.boundary import check_arguments, shown
from kalaba.errors import ModelError
from kalaba.hints import is_real
from kalaba.joints import Free, Joint, Weld
from kalaba.model.solids import AnySolid, judge
from kalaba.model.text.grammar import RESERVED
from kalaba.model.text.traced import Traceable, Traced, trace
from kalaba.space.arrays import Array
from kalaba.space.number import (
    Number,
    as_numbers,
    check_number,
    is_number,
    measured,
    nested,
    plain,
    quantities,
    scalar,
)
from kalaba.space.pose import (
    AsFound,
    Axis,
    AxisLike,
    Floats,
    PointLike,
    Pose,
    PoseLike,
    X,
    as_axis,
    as_pose,
)
from kalaba.tolerances import LARGEST_NUMBER, SMALLEST_NUMBER

NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
WORLD = "world"
Text = str | float | Traced
Texts = tuple[tuple[str, Text], ...]
Held = float | PoseLike  # a number of a displacement, or where a frame is
Speed = float | Floats  # a rate of a displacement, or the six of a frame
Returned = ArrayLike | Mapping[str, float]  # what a sampled function returns
Memory = TypeVar("Memory")


@runtime_checkable
class Named(Protocol):
    """What has a name, such as every part."""

    @property
    def name(self) -> str:
        """Its name."""


@runtime_checkable
class OnFrame(Protocol):
    """A part that sits on a frame, closes onto it, or acts on it."""

    @property
    def parent(self) -> str:
        """Name of that frame."""


def check_name(name: object, what: str) -> None:
    """Refuse names that the expression grammar could not read."""
    if not isinstance(name, str) or not NAME.match(name) or name in {WORLD, *RESERVED}:
        raise ModelError(
            f"{what}: expected a name of letters, digits and underscores (not world, t, pi or a function such as sin), "
            f"got {shown(name)}. Rename it."
        )


def check_path(name: object, what: str) -> None:
    """Refuse names whose words, between dots, the grammar could not read: `elbow.motor` is one of two words."""
    for word in name.split(".") if isinstance(name, str) else (name,):
        check_name(word, what)


def check_line(text: object, path: str) -> None:
    """Refuse what is not one line of printable text: such words stand in files and in code that is exported."""
    if not isinstance(text, str) or not text.isprintable():
        raise ModelError(
            f"{path}: expected one line of text, got {shown(text)}. Leave line breaks and control codes out."
        )


def check_frame(name: object, path: str) -> None:
    """Refuse what cannot be the name of a frame, such as the part itself."""
    if not isinstance(name, str):
        hint = f"Write {name.name!r}." if isinstance(name, Named) else "Write its name."
        raise ModelError(f"{path}: expected the name of a frame, got {type(name).__name__} {shown(name)}. {hint}")


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
    except (TypeError, ValueError) as error:
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
class Actuator:
    """A motor: its force or torque is power-dual to the displacement it drives.

    Arguments:
        name: its name, by which control laws drive it; words with dots between them, such as elbow.motor, are one name
        displacement: what it drives, such as "crank.angle"
        limit: the most that it gives in either direction, N or N·m; no limit if not given
    """

    name: str
    displacement: str
    limit: float = measured("N", "N*m", default=math.inf)

    if TYPE_CHECKING:

        def __init__(self, name: str, displacement: str, limit: float = math.inf) -> None: ...

    def __post_init__(self) -> None:
        check_path(self.name, "Actuator")
        _check_limit(self.name, self.limit)


@dataclass(frozen=True, slots=True)
class Thruster:
    """An actuator that pushes a frame along an axis fixed in it: force u R a, on the frame's origin.

    What it throws off takes the momentum along, so momentum is not kept. It counts among the actuators, in order.

    Arguments:
        name: its name, by which control laws drive it
        frame: name of the frame that it pushes
        axis: direction of its force, fixed in the frame: kb.X or three numbers
        limit: the most that it gives in either direction, N; no limit if not given
    """

    name: str
    frame: str
    axis: Axis = X
    limit: float = measured("N", default=math.inf)

    if TYPE_CHECKING:

        def __init__(self, name: str, frame: str, axis: AxisLike = X, limit: float = math.inf) -> None: ...

    def __post_init__(self) -> None:
        check_path(self.name, "Thruster")
        check_frame(self.frame, f"{self.name}.frame")
        object.__setattr__(self, "axis", as_axis(self.axis))
        _check_limit(self.name, self.limit)


def _check_limit(name: str, limit: float) -> None:
    if not (is_real(limit) and (limit == math.inf or (is_number(limit) and limit > 0))):
        raise ModelError(f"{name}.limit: expected a number above zero, got {shown(limit)}. It bounds both directions.")


@dataclass(frozen=True, slots=True)
class Spring:
    """A spring and damper along a displacement d: −stiffness (d − rest) − damping ḋ − friction tanh(ḋ/creep).

    Friction is dry, but smooth: it does not stick, and what is pushed by less creeps slower than `creep`.

    Arguments:
        name: its name
        displacement: what it acts along, such as "crank.angle"
        stiffness: N/m or N·m/rad
        damping: N·s/m or N·m·s/rad
        rest: displacement at which the spring has no force, m or rad
        friction: dry friction, N or N·m
        creep: speed around which friction changes its direction, m/s or rad/s: of the order of the least speed that
            matters
    """

    name: str
    displacement: str
    stiffness: Number = scalar("N/m", "stiffness", 0.0)
    damping: Number = scalar("N*s/m", "damping", 0.0)
    rest: Number = scalar("m", "displacement without force", 0.0)
    friction: Number = scalar("N", "dry friction", 0.0)
    creep: float = measured("m/s", "rad/s", default=0.01)

    if TYPE_CHECKING:

        def __init__(  # noqa: PLR0913, PLR0917  (the fields)
            self,
            name: str,
            displacement: str,
            stiffness: Number = 0.0,
            damping: Number = 0.0,
            rest: Number = 0.0,
            friction: Number = 0.0,
            creep: float = 0.01,
        ) -> None: ...

    def __post_init__(self) -> None:
        check_path(self.name, "Spring")
        if not is_number(self.creep) or not self.creep > 0:
            raise ModelError(f"{self.name}.creep: expected a speed above zero, got {shown(self.creep)}.")


@dataclass(frozen=True, slots=True)
class Rotor:
    """Inertia that spins along a displacement d, such as a motor's behind its gears (armature): T = ½ inertia ḋ².

    A rotor of moment J behind a gear of ratio n has the inertia n² J along the angle of the joint that it drives. It
    adds to the mass matrix: no weight, and no momentum of the whole, since it turns relative to what it sits between.

    Arguments:
        name: its name
        displacement: what it moves along, such as "crank.angle", or "3*crank.angle - rocker.angle"; not of time
        inertia: kg·m² along an angle, kg along a travel
    """

    name: str
    displacement: str
    inertia: Number = scalar("kg*m^2", "inertia along the displacement")

    if TYPE_CHECKING:

        def __init__(self, name: str, displacement: str, inertia: Number) -> None: ...

    def __post_init__(self) -> None:
        check_path(self.name, "Rotor")
        check_number(f"{self.name}.inertia", self.inertia)
        if is_number(self.inertia) and float(self.inertia) < 0:
            raise ModelError(f"{self.name}.inertia: expected an inertia of zero or more, got {shown(self.inertia)}.")


@dataclass(frozen=True, slots=True)
class Sampled:
    """A Python function called at a fixed rate; what it returns is held until the next sample.

    Without `state` it is called as function(t, q, v) and returns the values. With `state` (its first value) it is
    called as function(t, q, v, state) and returns (values, state).

    Arguments:
        function: what is called; it returns one number per motor (per axis for a Force), or {motor: number}, N or N·m
        rate: samples per second, Hz
        state: first value of what the function remembers; None: it remembers nothing
    """

    function: Callable[..., Any]
    rate: float
    state: Any = None

    if TYPE_CHECKING:

        @overload
        def __init__(
            self, function: Callable[[float, Array, Array], Returned], rate: float, state: None = None
        ) -> None: ...
        @overload
        def __init__(
            self,
            function: Callable[[float, Array, Array, Memory], tuple[Returned, Memory]],
            rate: float,
            state: Memory,
        ) -> None: ...
        def __init__(self, function: Callable[..., Any], rate: float, state: object = None) -> None: ...

    def __post_init__(self) -> None:
        if not callable(self.function) or not is_number(self.rate) or not self.rate >= SMALLEST_NUMBER:
            raise ModelError(
                f"Sampled: expected a callable and a rate above 0 Hz, got {shown(self.function)}, {shown(self.rate)}."
            )

    @property
    def period(self) -> float:
        """Seconds between samples."""
        return 1.0 / self.rate


@dataclass(frozen=True, slots=True)
class Force:
    """A force and a torque on a frame, in world axes: expressions, a callable of the machine, or sampled values.

    Arguments:
        name: its name
        parent: name of the frame that it acts on, at the frame's origin
        force: x, y and z, N: three numbers or expressions, a function that is called once with `m` (see Constraint) and
            gives three, or kb.Sampled(...)
        torque: the same about x, y and z, N·m
    """

    name: str
    parent: str
    force: tuple[Number, ...] | Traced | Sampled = (0.0, 0.0, 0.0)
    torque: tuple[Number, ...] | Traced | Sampled = (0.0, 0.0, 0.0)

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            parent: str,
            force: PointLike | Traced | Traceable | Sampled = (0.0, 0.0, 0.0),
            torque: PointLike | Traced | Traceable | Sampled = (0.0, 0.0, 0.0),
        ) -> None: ...

    def __post_init__(self) -> None:
        check_name(self.name, "Force")
        check_frame(self.parent, f"{self.name}.parent")
        for entry in ("force", "torque"):
            object.__setattr__(self, entry, _three(f"{self.name}.{entry}", getattr(self, entry)))


def _three(what: str, content: object) -> tuple[Number, ...] | Traced | Sampled:
    if isinstance(content, Sampled | Traced):
        return content
    if callable(content):
        traced = trace(content, what)
        if len(traced.results) != 3:
            raise ModelError(f"{what}: expected three components from the callable, got {len(traced.results)}.")
        return traced
    return as_numbers(content, 3, what)


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
        mine = {key for key, _ in (*self.hold, *self.guess)}
        return Start(
            hold={**{k: v for k, v in other.hold if k not in mine}, **dict(self.hold)},
            guess={**{k: v for k, v in other.guess if k not in mine}, **dict(self.guess)},
            speed={**dict(other.speed), **dict(self.speed)},
        )

    def prefixed(self, prefix: str) -> Start:
        """Put a placement's name before every key."""
        check_arguments(Start.prefixed, locals())
        return Start(
            hold={f"{prefix}.{key}": value for key, value in self.hold},
            guess={f"{prefix}.{key}": value for key, value in self.guess},
            speed={f"{prefix}.{key}": value for key, value in self.speed},
        )
