"""Parts that push: motors, thrusters, springs, rotors, forces, and functions of yours that are sampled."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar, overload

from numpy.typing import ArrayLike

from kalaba.boundary import shown
from kalaba.errors import ModelError
from kalaba.hints import is_real
from kalaba.model.names import check_frame, check_name, check_path
from kalaba.model.text.traced import Traceable, Traced, trace
from kalaba.space.arrays import Array
from kalaba.space.number import Number, as_numbers, check_number, is_number, measured, scalar
from kalaba.space.pose import Axis, AxisLike, PointLike, X, as_axis
from kalaba.tolerances import SMALLEST_NUMBER

Returned = ArrayLike | Mapping[str, float]  # what a sampled function returns
Memory = TypeVar("Memory")


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
