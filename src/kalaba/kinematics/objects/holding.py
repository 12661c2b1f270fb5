"""Who holds what in a machine: its objects, the arms, and the connections between them, as names and numbers.

How a machine is sorted into them stands in `cooperate/arms.py`.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Arm:
    """A tree that holds: the velocities that follow from its rows, and those that lead beside the objects'."""

    name: str
    rows: tuple[int, ...]
    follow: tuple[int, ...]  # as many as rows
    lead: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Hold:
    """A connection between an arm and an object."""

    name: str
    arm: str
    arm_frame: str  # the end on the arm, without the connection's `at`
    child: str
    body: int  # of the object
    is_child_on_arm: bool


@dataclass(frozen=True, slots=True)
class Split:
    """A machine seen from its objects."""

    free: tuple[int, ...]  # bodies of the objects that float on the world
    objects: tuple[int, ...]  # velocities of the objects
    arms: tuple[Arm, ...]
    holds: tuple[Hold, ...]
