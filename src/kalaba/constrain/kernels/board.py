"""Laying out a program of blocks: who reads and writes which slots of the board, and a share of a machine on it."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal, TypeAlias

import casadi as ca
import numpy as np

from kalaba.native.blocks import BlockProgram, Call

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from kalaba.derive.equations import Equations
    from kalaba.model.machine import Machine
    from kalaba.model.topology.partition import Share

Slots: TypeAlias = "NDArray[np.int64]"  # (calls, size), or (size,) where all calls share them
Table: TypeAlias = "NDArray[np.int32]"  # slots as a program holds them
PLAIN = 1 << 40  # while a board grows, slots below 0 begin as zero, those from here on need not; see `_placed`
Arguments = dict[str, tuple[ca.SX, Slots]]  # symbol and slots of each argument
Results = dict[str, tuple[ca.SX, Slots]]  # expression and slots of each result


@dataclass
class Kept:
    """Values that stand together on the board, one region per call: as expressions when left, as symbols when read."""

    region: Slots  # (calls, width)
    values: dict[str, ca.SX]

    def slots(self, name: str) -> Slots:
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
    """A function of the board, called once per row of its slots.

    `numbers` are the parameters' symbols and, for every call, their places among the machine's free parameters or,
    where they are not free there, their values. What is read and left in place comes before other arguments and
    results. Where the slots `when` hold zero, no call is made.
    """

    arguments: Arguments
    written: Results
    added: Results
    numbers: tuple[ca.SX, list[list[float | int]]]
    when: Slots | None = None
    reads: Kept | None = None
    leaves: Kept | None = None


@dataclass
class Board:
    """Slots of a program while it is laid out: the inputs and outputs by name, then what is handed on."""

    name: str
    inputs: dict[str, int]  # sizes
    outputs: dict[str, int]
    machine: Machine
    width: int = 1  # so many limbs are worked on at once
    n_numbers: int = 0  # of a law: they follow the machine's free parameters
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
        slots = PLAIN + np.arange(self._plain, self._plain + int(np.prod(shape))).reshape(shape)
        self._plain += int(np.prod(shape))
        return slots

    def regions(self, count: int, size: int) -> NDArray[np.int64]:
        """New slots for what is kept in place, (count, size): entry by entry for as many as are worked on at once."""
        w = self.width if count > 1 else 1
        groups = -(-count // w)
        slots = self.room(groups, size, w)
        return slots.transpose(0, 2, 1).reshape(groups * w, size)

    def add(self, step: Step) -> None:
        """Add a step after those that are there."""
        self._steps.append(step)

    def program(self) -> BlockProgram:
        """Close the board."""
        return BlockProgram(
            name=self.name,
            inputs=tuple(self.inputs.items()),
            outputs=tuple(self.outputs.items()),
            n_parameters=self._n_parameters,
            n_zeroed=self._zeroed,
            n_board=self._waste + 1,
            calls=tuple(self._made(number, step) for number, step in enumerate(self._steps)),
            constants=tuple(self._constants),
        )

    @property
    def _n_parameters(self) -> int:
        return len(self.machine.free_parameters) + self.n_numbers

    @property
    def _base(self) -> int:
        return sum(self.inputs.values()) + sum(self.outputs.values())

    def _made(self, number: int, step: Step) -> Call:
        p, places = step.numbers
        reads, leaves, calls = step.reads, step.leaves, len(places)
        width = self.width if calls > 1 else 1
        results = [*step.written.values(), *step.added.values()]
        left = list(leaves.values.values()) if leaves else []
        expressions = [ca.vec(ca.densify(e)) for e in (*left, *(e for e, _ in results))]
        split = sum(e.numel() for e in expressions) - sum(e.numel() for e, _ in step.added.values())
        symbols = [*(reads.values.values() if reads else ()), *(symbol for symbol, _ in step.arguments.values())]
        for in_place, entries in ((reads, symbols), (leaves, expressions)):
            needed = sum(entry.numel() for entry in entries)
            if in_place and needed > in_place.region.shape[1]:
                raise ValueError(f"{self.name}{number}: expected room for {needed} values in place.")
        together = ca.densify(ca.cse(ca.vertcat(*expressions)))
        outputs = [together[:split], together[split:]]
        name = f"{self.name}{number}"
        numbers = np.array([[self._number(entry) for entry in row] for row in places]).reshape(calls, -1)
        return Call(
            function=ca.Function(name, [ca.vertcat(*map(ca.vec, symbols)), p], outputs, ["x", "p"], ["y", "z"]),
            x=self._table(calls, width, [slots for _, slots in step.arguments.values()]),
            y=self._table(calls, width, [slots for _, slots in step.written.values()], self._waste),
            z=self._table(calls, width, [slots for _, slots in step.added.values()], self._waste),
            p=_padded(numbers, width),
            when=None if step.when is None else _padded(self._placed(np.asarray(step.when)[:calls]), width).ravel(),
            x_kept=self._firsts(reads, width),
            y_kept=self._firsts(leaves, width),
            width=width,
        )

    @property
    def _waste(self) -> int:
        """The last slot: takes the results of calls that only fill up a group."""
        return self._base + self._zeroed + self._plain

    def _firsts(self, kept: Kept | None, width: int) -> Table | None:
        return None if kept is None else self._placed(kept.region[::width, 0]).astype(np.int32)

    def _number(self, entry: float) -> int:
        if isinstance(entry, int):
            return entry
        self._constants.append(entry)
        return self._n_parameters + len(self._constants) - 1

    def _table(self, calls: int, width: int, columns: list[Slots], padding: int = -1) -> Table:
        placed = [self._placed(np.asarray(slots)) for slots in columns]
        wide = [
            np.broadcast_to(slots[:calls] if slots.ndim > 1 else slots, (calls, slots.shape[-1])) for slots in placed
        ]
        return _padded(np.hstack([np.zeros((calls, 0), dtype=int), *wide]), width, padding)

    def _placed(self, slots: NDArray[np.int64]) -> NDArray[np.int64]:
        """Where slots stand on the finished board: inputs, outputs, those that begin as zero, all others."""
        plain = slots - PLAIN + self._base + self._zeroed
        return np.where(slots < 0, self._base - 1 - slots, np.where(slots >= PLAIN, plain, slots))


@dataclass(frozen=True)
class BoardShare:
    """The hub, or one kind of limb: its equations with the slots of its entries on the board, one row per limb."""

    board: Board
    shares: tuple[Share, ...]  # one for each limb of the kind
    equations: Equations  # of the limb with the part of the hub that it hangs on
    tree: Equations  # the dynamics of what is the share's own
    own_v: list[int]  # entries of v that are its own

    @cached_property
    def mask(self) -> ca.SX:
        """The rows' masks."""
        return ca.SX.sym("mask", len(self.shares[0].rows))

    @cached_property
    def f(self) -> ca.SX:
        """Further generalised force on what is its own."""
        return ca.SX.sym("f", len(self.own_v))

    @property
    def hub(self) -> list[int]:
        """Entries of v that are the hub's."""
        return [j for j in range(len(self.shares[0].v)) if j not in self.own_v]

    @cached_property
    def own_q(self) -> list[int]:
        """Entries of q that are its own."""
        names = {c.name for c in self.tree.machine.coordinates}
        return [i for i, c in enumerate(self.equations.machine.coordinates) if c.name in names]

    def slots(self, of: Slots, kind: Literal["q", "v", "u", "rows"], chosen: list[int] | None = None) -> Slots:
        """Slots of entries of q, v, u or rows, one row per limb."""
        places = np.array([getattr(share, kind) for share in self.shares], dtype=int).reshape(len(self.shares), -1)
        return np.asarray(of[places if chosen is None else places[:, chosen]])

    def translated(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Expressions of the tree's symbols in those of the share."""
        s, t = self.equations.symbols, self.tree.symbols
        if s is t:
            return expressions
        names = [p.name for p in self.equations.machine.free_parameters]
        p = [names.index(parameter.name) for parameter in self.tree.machine.free_parameters]
        old = [t.q, t.v, t.t, t.u, t.p]
        new = [s.q[self.own_q], s.v[self.own_v], s.t, s.u, s.p[p]]
        return ca.substitute(expressions, old, new)  # type: ignore[no-any-return]

    def all_translated(self, *groups: dict[str, ca.SX]) -> list[dict[str, ca.SX]]:
        """The same for expressions by name, which may have symbols of both."""
        expressions = iter(self.translated([value for group in groups for value in group.values()]))
        return [{name: next(expressions) for name in group} for group in groups]

    @property
    def arguments(self) -> Arguments:
        """The share's inputs."""
        s, board = self.equations.symbols, self.board
        return {
            "q": (s.q, self.slots(board.input("q"), "q")),
            "v": (s.v, self.slots(board.input("v"), "v")),
            "t": (s.t, board.input("t")),
            "u": (s.u, self.slots(board.input("u"), "u")),
            "f": (self.f, self.slots(board.input("f"), "v", self.own_v)),
            "mask": (self.mask, self.slots(board.input("mask"), "rows")),
        }

    @cached_property
    def numbers(self) -> tuple[ca.SX, list[list[float | int]]]:
        """The parameters' symbols, and each limb's places among the machine's free parameters, or values."""
        places = {p.name: i for i, p in enumerate(self.board.machine.free_parameters)}
        free = [i for i, p in enumerate(self.equations.machine.parameters) if not p.is_structure]
        rows = [[share.machine.parameters[i] for i in free] for share in self.shares]
        return self.equations.symbols.p, [[places.get(p.name, float(p.value)) for p in row] for row in rows]


def _padded(table: NDArray[np.int64], width: int, padding: int = -1) -> Table:
    """Fill up the last group of rows: with copies of the last row, or with a number."""
    missing = -len(table) % width
    last = np.repeat(table[-1:], missing, axis=0) if padding < 0 else np.full((missing, *table.shape[1:]), padding)
    return np.ascontiguousarray(np.concatenate([table, last]), dtype=np.int32)
