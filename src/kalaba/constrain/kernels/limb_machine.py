"""A machine that is divided into a hub and limbs, many of which are alike: what is alike is traced once.

The standard functions then are programs of blocks (`native/blocks.py`) with the same inputs and outputs as for the
whole machine, so nobody who calls such a kernel needs to know. Three kinds of equations take part:

    hub     its bodies, its own rows
    limb    a limb with the hub's bodies that it hangs on: its rows, in its own columns and in the hub's
    tree    the limb's bodies alone: their inertia and the forces on them

How limbs and hub are eliminated, and in which order, is in `limb_solve.py`; the mask says which rows a limb hands up.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from kalaba.constrain.kernels.board import Board, BoardShare, Results, Step
from kalaba.constrain.layout import Layout
from kalaba.derive.equations import equations_of

if TYPE_CHECKING:
    from kalaba.constrain.rows import Limbs
    from kalaba.derive.dynamics import Method
    from kalaba.model.machine import Machine
    from kalaba.model.topology.partition import Partition
    from kalaba.native.blocks import BlockProgram

WIDTH = 4  # limbs that are worked on at once, on the lanes of a processor's registers


class LimbMachine:
    """The hub and the limbs of a machine: the equations of each kind of limb, and its slots on a program's board."""

    def __init__(self, machine: Machine, partition: Partition, method: Method) -> None:
        self.machine, self.partition, self.width = machine, partition, WIDTH
        self._hub = equations_of(partition.hub.machine, method)
        self._pairs = [equations_of(kind.pattern.machine, method) for kind in partition.kinds]
        self._trees = [equations_of(kind.tree.machine, method) for kind in partition.kinds]

    @property
    def n_hub(self) -> int:
        """Velocities of the hub; also the number of rows that it has free for those handed up."""
        return len(self.partition.hub.v)

    @property
    def limbs(self) -> Limbs:
        """Rows and own columns of every limb, and how many can be handed up, for those who choose rows."""
        shares = [share for kind in self.partition.kinds for share in kind.shares]
        rows = [list(share.rows) for share in shares]
        columns = [[share.v[j] for j in sorted(share.own_v)] for share in shares]
        return (*_listed(rows), *_listed(columns)), self.n_hub

    def board(self, name: str, outputs: dict[str, int]) -> Board:
        """An empty board with the inputs of the machine and named outputs of some sizes."""
        return Board(name, Layout.of(self.machine).sizes, outputs, self.machine, self.width)

    def shares(self, board: Board) -> tuple[BoardShare, list[BoardShare]]:
        """The hub's share of a board, and one for each kind of limb."""
        hub = BoardShare(board, (self.partition.hub,), self._hub, self._hub, list(range(self.n_hub)))
        limbs = [
            BoardShare(board, kind.shares, pair, tree, sorted(kind.pattern.own_v))
            for kind, pair, tree in zip(self.partition.kinds, self._pairs, self._trees, strict=True)
        ]
        return hub, limbs

    def one_by_one(self) -> LimbMachine:
        """The same limb after limb: for kernels whose lanes are needed for several states."""
        other = copy(self)
        other.width = 1
        return other

    def spread(
        self,
        board: Board,
        results: Callable[[BoardShare], Results],
        sums: Callable[[BoardShare], Results] = lambda _: {},
    ) -> BlockProgram:
        """A program in which every share writes its part of the outputs, and adds to what is summed."""
        hub, limbs = self.shares(board)
        for share in (hub, *limbs):
            board.add(Step(share.arguments, results(share), sums(share), share.numbers))
        return board.program()


def _listed(lists: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Lists one after the other: where each ends (the first begins at 0), and all entries."""
    ends = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return ends, np.array([entry for row in lists for entry in row], dtype=np.int64)
