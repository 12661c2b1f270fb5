"""Grasps: which arm holds which body, where, and by what joint."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kalaba.boundary import shown
from kalaba.errors import ModelError, near
from kalaba.joints import Joint, Weld
from kalaba.model.names import OnFrame, check_name
from kalaba.model.parts import Body, Connection, Frame
from kalaba.space.pose import AsFound, Pose, PoseLike, as_pose

if TYPE_CHECKING:
    from kalaba.model.system import Placement, System


@dataclass(frozen=True, slots=True)
class Grasp:
    """An arm holds a body: the arm's tool sits on the body at `at`, free to move on it as `joint` allows.

    With AsFound() the tool stays where the start has it. `tool` is a frame of the arm; None takes its only Frame that
    carries nothing, or else its last body. `body` may be a frame on a body. A Weld holds all six freedoms, a Spherical
    is a point contact that does not slip.

    Arguments:
        arm: name of the arm, as it is placed
        body: name of the body that it holds, or of a frame on one
        at: where the tool sits on the body: a Pose, a position in m, or AsFound()
        tool: name of a frame of the arm; None: its only Frame that carries nothing, or else its last body
        joint: how the tool may move on the body; kb.Weld() if not given
    """

    arm: str
    body: str
    at: Pose | AsFound = AsFound()
    tool: str | None = None
    joint: Joint = Weld()

    if TYPE_CHECKING:

        def __init__(
            self,
            arm: str,
            body: str,
            at: PoseLike | AsFound = AsFound(),
            tool: str | None = None,
            joint: Joint = Weld(),
        ) -> None: ...

    def __post_init__(self) -> None:
        check_name(self.arm, "Grasp.arm")
        if not isinstance(self.body, str):
            raise ModelError(
                f"Grasp of {self.arm}: expected the name of a body, got {shown(self.body)}. Write its name."
            )
        object.__setattr__(self, "at", as_pose(self.at))
        Connection("grip", self.arm, parent=self.body, joint=self.joint)  # refuses what closes nothing


def default_grasps(bodies: Sequence[str], arms: Sequence[Placement]) -> tuple[Grasp, ...]:
    """Arm i holds body i as found; one body is held by all."""
    if len(bodies) > 1 and len(arms) > len(bodies):
        raise ModelError(
            f"hold: expected at most {len(bodies)} arms for {len(bodies)} bodies, got {len(arms)}. Give grasps=."
        )
    return tuple(Grasp(arm.name, bodies[i if len(bodies) > 1 else 0]) for i, arm in enumerate(arms))


def tool_of(arm: Placement, grasp: Grasp) -> str:
    """The frame of the arm that holds, by its name in the arm."""
    frames = arm.system.machine.frames
    if grasp.tool is not None:
        if grasp.tool not in frames:
            raise ModelError(f"Grasp of {arm.name}: no frame {grasp.tool!r} in the arm; {near(grasp.tool, frames)}")
        return grasp.tool
    parents = {part.parent for part in arm.system.parts if isinstance(part, OnFrame)}
    leaves = [part.name for part in arm.system.parts if isinstance(part, Frame) and part.name not in parents]
    bodies = [part.name for part in arm.system.parts if isinstance(part, Body)]
    if len(leaves) != 1 and not bodies:
        raise ModelError(f"Grasp of {arm.name}: the arm has neither one tool frame nor a body of its own. Give tool=.")
    return leaves[0] if len(leaves) == 1 else bodies[-1]


def check_grasps(objects: System, arms: Sequence[Placement], grasps: Sequence[Grasp]) -> None:
    """Refuse grasps of arms and bodies that do not exist, and a tool that holds twice."""
    names = {arm.name: arm for arm in arms}
    held: dict[tuple[str, str], str] = {}
    for grasp in grasps:
        if not isinstance(grasp, Grasp):
            raise ModelError(f"hold.grasps: expected kb.Grasp(arm, body, ...), got {grasp!r}.")
        if grasp.arm not in names:
            raise ModelError(f"hold.grasps: no arm {grasp.arm!r}; {near(grasp.arm, names)}")
        if grasp.body not in objects.machine.frames or objects.machine.body_of(grasp.body) < 0:
            raise ModelError(f"hold.grasps: {grasp.arm} cannot hold {grasp.body!r}; {near(grasp.body, _held(objects))}")
        tool = (grasp.arm, tool_of(names[grasp.arm], grasp))
        if tool in held:
            raise ModelError(
                f"hold.grasps: {grasp.arm}.{tool[1]} holds both {held[tool]} and {grasp.body}. "
                "Give each arm one grasp, or another tool=."
            )
        held[tool] = grasp.body


def _held(objects: System) -> list[str]:
    """Frames that move: those of bodies."""
    return [name for name, frame in objects.machine.frames.items() if frame.body >= 0]


def connections(objects: System, arms: Sequence[Placement], grasps: Sequence[Grasp]) -> tuple[Connection, ...]:
    """One Connection per grasp, named `grip_<arm>`, with a number where that name is taken."""
    by_name = {arm.name: arm for arm in arms}
    taken = {*(part.name for part in objects.parts), *by_name}
    made = []
    for grasp in grasps:
        wanted = [f"grip_{grasp.arm}", *(f"grip_{grasp.arm}_{i}" for i in range(2, len(taken) + 3))]
        name = next(word for word in wanted if word not in taken)
        taken.add(name)
        child = f"{grasp.arm}.{tool_of(by_name[grasp.arm], grasp)}"
        made.append(Connection(name, child, parent=grasp.body, at=grasp.at, joint=grasp.joint))
    return tuple(made)
