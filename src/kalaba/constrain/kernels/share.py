"""A share of a machine on the board of a program: its equations, and the slots of its entries for every limb."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

if TYPE_CHECKING:
    from kalaba.constrain.kernels.board import Board
    from kalaba.derive.equations import Equations
    from kalaba.model.topology.partition import Share


@dataclass(frozen=True)
class BoardShare:
    """A share's equations with the slots of its entries on the board, one row of slots a limb."""

    board: Board
    shares: tuple[Share, ...]
    equations: Equations
    tree: Equations  # the dynamics of what is the share's own
    own: list[int]  # entries of v that are its own

    @cached_property
    def mask(self) -> ca.SX:
        """The rows' masks."""
        return ca.SX.sym("mask", len(self.shares[0].rows))

    @cached_property
    def f(self) -> ca.SX:
        """Further generalised force on what is its own."""
        return ca.SX.sym("f", len(self.own))

    @property
    def hub(self) -> list[int]:
        """Entries of v that are the hub's."""
        return [j for j in range(len(self.shares[0].v)) if j not in self.own]

    @cached_property
    def own_q(self) -> list[int]:
        """Entries of q that are its own."""
        names = {c.name for c in self.tree.machine.coordinates}
        return [i for i, c in enumerate(self.equations.machine.coordinates) if c.name in names]

    def slots(self, of: np.ndarray, kind: str, chosen: list[int] | None = None) -> Any:  # noqa: ANN401
        """Slots of entries of q, v, u or rows, a row a limb."""
        places = np.array([getattr(share, kind) for share in self.shares], dtype=int).reshape(len(self.shares), -1)
        return of[places if chosen is None else places[:, chosen]]

    def translated(self, expressions: list[ca.SX]) -> list[ca.SX]:
        """Expressions of the tree's symbols in those of the share."""
        s, t = self.equations.symbols, self.tree.symbols
        if s is t:
            return expressions
        names = [p.name for p in self.equations.machine.free_parameters]
        p = [names.index(parameter.name) for parameter in self.tree.machine.free_parameters]
        old = [t.q, t.v, t.t, t.u, t.p]
        new = [s.q[self.own_q], s.v[self.own], s.t, s.u, s.p[p]]
        return ca.substitute(expressions, old, new)  # type: ignore[no-any-return]

    @property
    def arguments(self) -> dict[str, tuple[ca.SX, Any]]:
        """The share's inputs."""
        s, board = self.equations.symbols, self.board
        return {
            "q": (s.q, self.slots(board.input("q"), "q")),
            "v": (s.v, self.slots(board.input("v"), "v")),
            "t": (s.t, board.input("t")),
            "u": (s.u, self.slots(board.input("u"), "u")),
            "f": (self.f, self.slots(board.input("f"), "v", self.own)),
            "mask": (self.mask, self.slots(board.input("mask"), "rows")),
        }

    @cached_property
    def numbers(self) -> tuple[ca.SX, list[list[float | int]]]:
        """The parameters' symbols, and each limb's places among the machine's free parameters, or values."""
        places = {p.name: i for i, p in enumerate(self.board.machine.free_parameters)}
        free = [i for i, p in enumerate(self.equations.machine.parameters) if not p.is_structure]
        rows = [[share.machine.parameters[i] for i in free] for share in self.shares]
        return self.equations.symbols.p, [[places.get(p.name, float(p.value)) for p in row] for row in rows]
