"""Hold: objects and arms joined by grasps → a System."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from kalaba.boundary import check_arguments
from kalaba.cooperate.grasp import Grasp, check_grasps, connections, default_grasps
from kalaba.cooperate.reach import check_reach
from kalaba.errors import ModelError
from kalaba.model.parts import Body, Start
from kalaba.model.system import Placement, System
from kalaba.space.pose import AsFound


def hold(
    objects: System | Body | Sequence[Body],
    arms: Sequence[Placement],
    grasps: Sequence[Grasp] | None = None,
    name: str | None = None,
    *,
    start: Start = Start(),
    check: bool = True,
) -> System:
    """Make one System of objects and the arms that hold them.

    The objects are a tree: the first body is free, the others sit on it by joints. Each grasp becomes a Connection
    `grip_<arm>`, so `system.remove("grip_left")` lets go and `system.add(kb.Connection(...))` grasps. Without `grasps`
    arm i holds body i as found in the start, and all arms hold the body where there is one only.

    What `start` says comes before what the objects and the arms say of theirs. Where it holds the first body's pose and
    a grasp has a pose, the arm's own start is a guess from which assembly finds its joint angles. With `check` each arm
    is examined alone: one that cannot reach its grasp, or whose grasp is singular, is refused by name.

    Arguments:
        objects: a tree of bodies, or one body
        arms: arms that are placed, such as arm.place("left", at=(0, 0.4, 0))
        grasps: which arm holds which body, and where
        name: name of the System; None: that of the objects
        start: where it begins
        check: whether each arm is examined at its grasp
    """
    check_arguments(hold, locals())
    tree = _objects(objects, name, start)
    arms = _arms(arms)
    bodies = tuple(part.name for part in tree.parts if isinstance(part, Body))
    grasps = default_grasps(bodies, arms) if grasps is None else tuple(grasps)
    check_grasps(tree, arms, grasps)
    frames = tree.machine.frames
    is_held = any(key in frames and frames[key].body == frames[bodies[0]].body for key, _ in tree.start.hold)
    seeking = {g.arm for g in grasps if is_held and not isinstance(g.at, AsFound)}
    system = replace(
        tree,
        parts=(*arms, *tree.parts, *connections(tree, arms, grasps)),
        start=start.over(_merged(tree.start, arms, seeking)),
    )
    if check:
        reached = Start(guess=check_reach(system, tree, arms, grasps))
        system = replace(system, start=start.over(reached.over(_merged(tree.start, arms, seeking))))
    return system


def _objects(objects: System | Body | Sequence[Body], name: str | None, start: Start) -> System:
    """The objects as a System that stands alone, with what the start says of them."""
    tree = objects if isinstance(objects, System) else _tree((objects,) if isinstance(objects, Body) else objects)
    bodies = [part for part in tree.parts if isinstance(part, Body)]
    if not bodies or not bodies[0].joint.is_free:
        got = f"{bodies[0].name} with {bodies[0].joint.kind}" if bodies else "none"
        raise ModelError(f"hold: expected a first body that is Free, got {got}. Arms carry what nothing else holds.")
    known = {*tree.machine.frames, *tree.machine.displacements, *(c.name for c in tree.machine.coordinates)}
    mine = Start(
        hold={key: value for key, value in start.hold if key in known},
        guess={key: value for key, value in start.guess if key in known},
        speed={key: value for key, value in start.speed if key in known},
    )
    return replace(tree, name=name or tree.name, start=mine.over(tree.start))


def _tree(bodies: Sequence[Body]) -> System:
    """Bodies as a System under the name of the first."""
    if not isinstance(bodies, Sequence) or not bodies or not all(isinstance(body, Body) for body in bodies):
        raise ModelError(f"hold: expected a System, a Body or some Bodies as objects, got {bodies!r}.")
    for body in bodies:
        if body.parent == body.name:
            raise ModelError(
                f"hold: {body.name} sits on itself. A joint lies between two bodies: give another parent=."
            )
    return System(bodies[0].name, tuple(bodies))


def _arms(placements: Placement | Sequence[Placement]) -> tuple[Placement, ...]:
    arms = (placements,) if isinstance(placements, Placement) else placements
    if not isinstance(arms, Sequence) or not arms or not all(isinstance(arm, Placement) for arm in arms):
        raise ModelError(f"hold: expected arms such as arm.place('left', at=(0, 0.4, 0)), got {placements!r}.")
    return tuple(arms)


def _merged(objects: Start, arms: tuple[Placement, ...], seeking: set[str]) -> Start:
    """The objects' start, and of each arm that seeks its grasp what it would hold, as guesses."""
    guesses: dict[str, Any] = {}
    for arm in arms:
        start = arm.start.over(arm.system.machine.start).prefixed(arm.name)
        if arm.name in seeking:
            guesses |= dict(start.hold)
    return objects.over(Start(guess=guesses))
