"""Laying out a program of blocks: who reads and writes which slots of the board."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from kalaba.native.blocks import BlockProgram, Call

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kalaba.model.machine import Machine

Slots = Any  # an array of slots, (calls, size), or (size,) where all calls share them
Arguments = dict[str, tuple[ca.SX, Slots]]  # symbol and slots of each argument
Results = dict[str, tuple[ca.SX, Slots]]  # expression and slots of each result


@dataclass
class Kept:
    """Values that stand together on the board, one region a call: as expressions when left, as symbols when read."""

    region: Any  # slots, (calls, width)
    values: dict[str, ca.SX]

    def slots(self, name: str) -> Any:  # noqa: ANN401
        """Slots of one of the values."""
        first = 0
        for key, value in self.values.items():
            if key == name:
                return self.region[:, first : first + value.numel()]
            first += value.numel()
        raise KeyError(name)

    def as_symbols(self) -> Kept:
        """The same values as new symbols."""
        return Kept(self.region, {name: ca.SX.sym(name, *value.shape) for name, value in self.values.items()})


@dataclass(frozen=True)
class Step:
    """A function of the board, called once a row of its slots.

    `numbers` are the parameters' symbols and, for every call, their places among the machine's free parameters or,
    where they are not free there, their values. What is read and left in place comes before other arguments and
    results. Where the slots `when` hold zero, no call is made.
    """

    arguments: Arguments
    written: Results
    added: Results
    numbers: tuple[ca.SX, list[list[float | int]]]
    when: Slots = None
    reads: Kept | None = None
    leaves: Kept | None = None


@dataclass
class Board:
    """Slots of a program while it is laid out: the inputs and outputs by name, then what is handed on."""

    name: str
    inputs: dict[str, int]  # sizes
    outputs: dict[str, int]
    machine: Machine
    _zeroed: int = 0
    _plain: int = 0
    _steps: list[Step] = field(default_factory=list)
    _constants: list[float] = field(default_factory=list)

    def input(self, name: str) -> NDArray[np.int64]:
        """Slots of an input."""
        return self._segment(self.inputs, name, 0)

    def output(self, name: str) -> NDArray[np.int64]:
        """Slots of an output."""
        return self._segment(self.outputs, name, sum(self.inputs.values()))

    @staticmethod
    def _segment(sizes: dict[str, int], name: str, first: int) -> NDArray[np.int64]:
        for key, size in sizes.items():
            if key == name:
                return np.arange(first, first + size)
            first += size
        raise KeyError(name)

    def sums(self, *shape: int) -> NDArray[np.int64]:
        """New slots that begin as zero."""
        first = self._zeroed
        self._zeroed += int(np.prod(shape))
        return -1 - np.arange(first, self._zeroed).reshape(shape)  # their place is known when all are

    def room(self, *shape: int) -> NDArray[np.int64]:
        """New slots that are written before they are read."""
        first = 1 << 40
        found = first + np.arange(self._plain, self._plain + int(np.prod(shape))).reshape(shape)
        self._plain += int(np.prod(shape))
        return found

    def add(self, step: Step) -> None:
        """Add a step after those that are there."""
        self._steps.append(step)

    def program(self) -> BlockProgram:
        """Close the board."""
        return BlockProgram(
            name=self.name,
            inputs=tuple(self.inputs.items()),
            outputs=tuple(self.outputs.items()),
            n_parameters=len(self.machine.free_parameters),
            n_zeroed=self._zeroed,
            n_board=self._base + self._zeroed + self._plain,
            calls=tuple(self._made(number, step) for number, step in enumerate(self._steps)),
            constants=tuple(self._constants),
        )

    @property
    def _base(self) -> int:
        return sum(self.inputs.values()) + sum(self.outputs.values())

    def _made(self, number: int, step: Step) -> Call:
        p, places = step.numbers
        reads, leaves, calls = step.reads, step.leaves, len(places)
        results = [*step.written.values(), *step.added.values()]
        left = list(leaves.values.values()) if leaves else []
        expressions = [ca.vec(ca.densify(e)) for e in (*left, *(e for e, _ in results))]
        split = sum(e.numel() for e in expressions) - sum(e.numel() for e, _ in step.added.values())
        given = [*(reads.values.values() if reads else ()), *(symbol for symbol, _ in step.arguments.values())]
        together = ca.densify(ca.cse(ca.vertcat(*expressions)))
        outputs = [together[:split], together[split:]]
        name = f"{self.name}{number}"
        return Call(
            function=ca.Function(name, [ca.vertcat(*map(ca.vec, given)), p], outputs, ["x", "p"], ["y", "z"]),
            x=self._table(calls, [slots for _, slots in step.arguments.values()]),
            y=self._table(calls, [slots for _, slots in step.written.values()]),
            z=self._table(calls, [slots for _, slots in step.added.values()]),
            p=np.array([[self._number(entry) for entry in row] for row in places], dtype=np.int32).reshape(calls, -1),
            when=self._column(step.when, calls),
            x_kept=self._column(reads.region[:, 0] if reads else None, calls),
            y_kept=self._column(leaves.region[:, 0] if leaves else None, calls),
        )

    def _column(self, slots: Slots, calls: int) -> Any:  # noqa: ANN401
        return None if slots is None else self._placed(np.asarray(slots)).astype(np.int32).reshape(calls)

    def _number(self, entry: float) -> int:
        if isinstance(entry, int):
            return entry
        self._constants.append(entry)
        return len(self.machine.free_parameters) + len(self._constants) - 1

    def _table(self, calls: int, columns: list[Slots]) -> Any:  # noqa: ANN401
        wide = [np.broadcast_to(self._placed(np.asarray(slots)), (calls, np.shape(slots)[-1])) for slots in columns]
        return np.ascontiguousarray(np.hstack([np.zeros((calls, 0)), *wide]), dtype=np.int32)

    def _placed(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where slots stand on the finished board."""
        plain = slots - (1 << 40) + self._base + self._zeroed
        return np.where(slots < 0, self._base - 1 - slots, np.where(slots >= 1 << 40, plain, slots))
