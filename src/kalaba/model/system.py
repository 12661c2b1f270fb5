"""A System: a name, named parts, gravity and a start. It can be placed in a System."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.boundary import entries_of, shown
from kalaba.errors import ModelError, near
from kalaba.hints import is_text
from kalaba.model.acting import Actuator, Force, Rotor, Spring, Thruster
from kalaba.model.appearance import Visual
from kalaba.model.formats import save
from kalaba.model.listing import system_html
from kalaba.model.names import WORLD, check_frame, check_line, check_name
from kalaba.model.parts import Body, Connection, Constraint, Frame, Output, Parameter, Start, fixed_pose
from kalaba.space.number import as_numbers, is_number, nested, vector
from kalaba.space.pose import PointLike, Pose, PoseLike, Vector3

if TYPE_CHECKING:
    from kalaba.model.machine import Machine


Values = Mapping[str, float]
Pairs = tuple[tuple[str, float], ...]


@dataclass(frozen=True)
class Placement:
    """A System as a part of another: template, name, and where it stands."""

    name: str
    system: System
    parent: str = WORLD
    at: Pose = nested("at", Pose())
    parameters: Pairs = ()
    start: Start = Start()

    if TYPE_CHECKING:

        def __init__(
            self,
            name: str,
            system: System,
            parent: str = WORLD,
            at: PoseLike = Pose(),
            parameters: Values | Pairs = (),
            start: Start = Start(),
        ) -> None: ...

    def __post_init__(self) -> None:
        check_name(self.name, "place")
        check_frame(self.parent, f"{self.name}.parent")
        object.__setattr__(self, "at", fixed_pose(self.at, self.name))
        object.__setattr__(self, "parameters", _overrides(self.parameters))


Acting = Actuator | Thruster | Spring | Rotor | Force
AnyPart = Body | Connection | Frame | Constraint | Acting | Output | Parameter | Visual | Placement
PART_TYPES = (
    Body,
    Connection,
    Frame,
    Constraint,
    Actuator,
    Thruster,
    Spring,
    Rotor,
    Force,
    Output,
    Parameter,
    Visual,
    Placement,
)


@dataclass(frozen=True)
class System:
    """A machine, described. Checked when made: a System that exists has parts that fit together.

    Arguments:
        name: name of the machine
        parts: bodies, connections, frames, motors, ... in the order that coordinates and rows shall have
        coordinates: names of coordinates of its own, which the `q=` of joints may use in expressions; a joint without
            `q=` has coordinates of its own
        gravity: acceleration of gravity, m/s²
        start: where it starts; everything at zero or mid-limit if not given
        parameters: values that replace those of the parts, by path, in the unit of each
        cuts: {connection: body}: loops that are cut at the joint of a body instead of at the connection that closes
            them; see `kb.cuts`
    """

    name: str
    parts: tuple[AnyPart, ...]
    coordinates: tuple[str, ...] = ()
    gravity: Vector3 = vector("m/s^2", "gravity", (0.0, 0.0, -9.81))
    start: Start = Start()
    parameters: Pairs = ()
    cuts: tuple[tuple[str, str], ...] = ()

    if TYPE_CHECKING:

        def __init__(  # noqa: PLR0913, PLR0917  (the fields)
            self,
            name: str,
            parts: Iterable[AnyPart],
            coordinates: tuple[str, ...] | list[str] = (),
            gravity: PointLike = (0.0, 0.0, -9.81),
            start: Start = Start(),
            parameters: Values | Pairs = (),
            cuts: Mapping[str, str] | tuple[tuple[str, str], ...] = (),
        ) -> None: ...

    def __post_init__(self) -> None:
        check_line(self.name, "System.name")
        object.__setattr__(self, "cuts", _names(self.cuts, f"{self.name}.cuts"))
        object.__setattr__(self, "parts", _listed(self.parts, f"{self.name}.parts"))
        object.__setattr__(self, "coordinates", _listed(self.coordinates, f"{self.name}.coordinates"))
        object.__setattr__(self, "gravity", as_numbers(self.gravity, 3, f"{self.name}.gravity"))
        object.__setattr__(self, "parameters", _overrides(self.parameters))
        for part in self.parts:
            if not isinstance(part, PART_TYPES):
                raise ModelError(f"{self.name}: expected parts such as Body or Connection, got {shown(part)}.")
        if not isinstance(self.start, Start):
            raise ModelError(
                f"{self.name}.start: expected kb.Start(hold={{...}}, guess={{...}}), got {shown(self.start)}."
            )
        _ = self.machine  # resolves every name, so that mistakes show here

    @cached_property
    def machine(self) -> Machine:
        """The System laid out flat, with full names."""
        from kalaba.model.flatten import flatten  # which reads a System

        return flatten(self)

    def _repr_html_(self) -> str:
        return system_html(self)

    def __getstate__(self) -> dict[str, Any]:
        """Pickle the description only."""
        return {key: value for key, value in self.__dict__.items() if key != "machine"}

    def place(
        self,
        name: str,
        parent: str = WORLD,
        at: PoseLike = Pose(),
        parameters: Values | Pairs = (),
        start: Start = Start(),
    ) -> Placement:
        """Make a part of this System, to stand in another one under a name.

        Arguments:
            name: its name there; names inside it become name.part
            parent: the frame it stands on
            at: where on that frame: a Pose, or a position in m
            parameters: values that replace its own, by path inside it
            start: where it starts; goes before its own start
        """
        return Placement(name, self, parent, at, _overrides(parameters), start)

    def add(self, *parts: AnyPart) -> System:
        """Return a System with more parts.

        Arguments:
            parts: bodies, connections, frames, ... in the order that rows and coordinates shall have
        """
        return replace(self, parts=(*self.parts, *parts))

    def remove(self, *names: str) -> System:
        """Return a System without the named parts.

        Arguments:
            names: names of parts of this System, not of those placed in it
        """
        known = [part.name for part in self.parts]
        for name in names:
            if not is_text(name) or name not in known:
                raise ModelError(f"{self.name}: no part {shown(name)} to remove; {near(name, known)}")
        return replace(self, parts=tuple(part for part in self.parts if part.name not in names))

    def with_parameters(self, values: Values) -> System:
        """Return a System with other numbers.

        Arguments:
            values: new values by path, in the unit of each parameter
        """
        return replace(self, parameters=_overrides({**dict(self.parameters), **dict(_overrides(values))}))

    def save(self, path: str | Path) -> Path:
        """Write the machine to a file: .yaml or .json hold all of it; .urdf, .sdf and .xml (MJCF) what they can hold.

        Arguments:
            path: where; its suffix says which kind of file

        Returns:
            the path
        """
        return save(self, path)


def _listed(content: Any, path: str) -> tuple[Any, ...]:
    if isinstance(content, str | np.ndarray) or not isinstance(content, Iterable):
        what = shown(content) if isinstance(content, str) else type(content).__name__
        raise ModelError(f"{path}: expected a tuple, got {what}. A tuple of one ends with a comma: (a,).")
    return entries_of(content)


def _names(content: Any, path: str) -> tuple[tuple[str, str], ...]:
    try:
        pairs = tuple((connection, body) for connection, body in dict(content).items())
    except Exception:  # noqa: BLE001  (whatever a map of somebody's class does)
        pairs = ((shown(content), content),)
    if any(not isinstance(name, str) for pair in pairs for name in pair):
        raise ModelError(f"{path}: expected {{connection: body}}, both names, got {shown(content)}.")
    return pairs


def _overrides(values: Values | Pairs) -> Pairs:
    try:
        pairs = dict(values)
    except Exception as error:  # whatever a map of somebody's class does
        raise ModelError(f"parameters: expected {{path: number}}, got {shown(values)}.") from error
    for path, value in pairs.items():
        if not is_number(value):
            raise ModelError(f"{path}: expected a finite number, got {shown(value)}. Expressions belong in the parts.")
    return tuple(sorted((path, float(value)) for path, value in pairs.items()))
