"""What an export asks of a control beside its law: what it is in words, where it leads, and why it may have no code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from kalaba.errors import ControlError
from kalaba.plant.laws import Control, Controller, Law, controller

if TYPE_CHECKING:
    from kalaba.control.allocation import Allocation
    from kalaba.model.acting import Sampled
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State


@runtime_checkable
class Exportable(Protocol):
    """A control that says of itself what an export needs; `Servo` is one, and a controller of one's own may be."""

    def start(self, plant: Plant) -> State:
        """Where a run begins."""

    def law(self, plant: Plant, start: State) -> Law | Sampled:
        """The law, in expressions; or a function to be sampled."""

    def refusal(self, plant: Plant) -> str:
        """Why there is no law in expressions on this machine, and what to do, for an error; "" where there is one."""

    def with_allocation(self, plant: Plant, allocation: Allocation) -> Exportable:
        """The same with another rule by which motors share; a ControlError where there is none."""

    def states_at(self, plant: Plant, times: Sequence[float]) -> list[State] | None:
        """Where it leads the machine at ascending times, s; None: only a run tells."""

    def described(self, law: Law) -> str:
        """What its law is, for people."""


@dataclass(frozen=True)
class PlainControl:
    """A control of which nothing is known but its law."""

    controller: Controller

    def start(self, plant: Plant) -> State:
        """Where a run begins."""
        return self.controller.start(plant)

    def law(self, plant: Plant, start: State) -> Law | Sampled:
        """The law of the controller."""
        return self.controller.law(plant, start)

    def refusal(self, plant: Plant) -> str:  # the law itself will tell
        """It has no reason of its own."""
        return ""

    def with_allocation(self, plant: Plant, allocation: Allocation) -> Exportable:
        """Refused: it shares by no rule."""
        raise ControlError(
            f"{plant.system.name}: its control is no kb.servo(...), which alone has an allocation. Leave it out."
        )

    def states_at(self, plant: Plant, times: Sequence[float]) -> list[State] | None:
        """Only a run tells."""
        return None

    def described(self, law: Law) -> str:
        """The text of the law."""
        return f"The law: {law.text}"


def exportable(control: Control, what: str) -> Exportable:
    """A control in any of its forms as one that can be exported; `what` asks for it, for the error of what is none."""
    return control if isinstance(control, Exportable) else PlainControl(controller(control, what))
