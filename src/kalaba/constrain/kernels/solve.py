"""The calls of a program that solve for a machine with limbs: reduce, hand up, move the hub, give back.

Each kind of limb has its functions, called limb by limb. The calls that deal with rows handed up are made only for
limbs that hand up some.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca

from kalaba.constrain.kernels.board import Kept, Step
from kalaba.constrain.kernels.limb import Named, hand_up, seats, solve_hub, symmetric
from kalaba.space.symbolic_configuration import unit

if TYPE_CHECKING:
    from kalaba.constrain.kernels.board import Arguments, Board, Results
    from kalaba.constrain.kernels.share import BoardShare

NO_NUMBERS = ca.SX(0, 1)
HubResults = Callable[[ca.SX, ca.SX], tuple[dict[str, Any], dict[str, Any]]]


@dataclass
class _Left:
    """What a kind of limb leaves on the board for the way back."""

    kept: Kept
    V: Any = None
    pivots: Any = None

    @property
    def handed(self) -> Any:  # noqa: ANN401
        """Slots that say how many rows each limb hands up."""
        return self.kept.slots("handed")


@dataclass(frozen=True)
class Back:
    """The way back to a kind of limb: the hub's motion x and the limb's λ as expressions, and what it kept."""

    solve: LimbSolve
    share: BoardShare
    kept: Named
    x: ca.SX
    load: ca.SX
    arguments: Arguments
    reads: Kept

    def call(self, arguments: Arguments, written: Results, added: Results) -> None:
        """Add the call that gives the limbs' results; its arguments are entries of the limb's q and v."""
        places: list[list[float | int]] = [[] for _ in self.share.shares]
        numbers = (NO_NUMBERS, places)
        self.solve.board.add(Step({**self.arguments, **arguments}, written, added, numbers, reads=self.reads))


@dataclass
class LimbSolve:
    """Lays out the calls; `columns` is the number of right-hand sides."""

    board: Board
    hub: BoardShare
    limbs: list[BoardShare]
    columns: int
    hub_arguments: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n, board = len(self.hub.own), self.board
        triangle = n * (n + 1) // 2
        self.left: dict[int, _Left] = {}
        self.sums = {
            "inertia": board.sums(triangle),
            "push": board.sums(n * self.columns),
            "R": board.sums(n * n),
            "S": board.sums(triangle),
            "beta": board.sums(n * self.columns),
            "taken": board.sums(n),
        }
        self.x, self.mu, self.pivots = board.room(n * self.columns), board.room(n * self.columns), board.room(n)

    def reduce(self, index: int, kept: Named, given: Named, written: Results, added: Results) -> None:
        """Eliminate a kind of limb, each by its own rows; then hand up what is left of them.

        `kept` and `given` are what `Limb.reduce` finds, and whatever else is to be kept.
        """
        share, board = self.limbs[index], self.board
        added = {**{name: (value, self.sums[name]) for name, value in given.items()}, **added}
        size = sum(value.numel() for value in kept.values())
        others = sum(value.numel() for value, _ in (*written.values(), *added.values()))
        room = max(others, self._further(share))  # behind what is kept: other results, then arguments of the way back
        leaves = Kept(board.regions(len(share.shares), size + room), kept)
        self.left[index] = _Left(leaves, pivots=written["pivots"][1] if "pivots" in written else None)
        board.add(Step(share.arguments, written, added, share.numbers, leaves=leaves))
        self._hand_up(share, self.left[index])

    def _further(self, share: BoardShare) -> int:
        """Arguments of the way back that are not kept: x, the load of rows handed up, q and v of the limb."""
        return self.columns * (len(self.hub.own) + len(share.shares[0].rows)) + len(share.own_q) + len(share.own)

    def _hand_up(self, share: BoardShare, left: _Left) -> None:
        mask, n, m = ca.SX.sym("mask", len(share.shares[0].rows)), len(self.hub.own), len(share.shares[0].rows)
        symbols = left.kept.as_symbols().values
        kept, given = hand_up(mask, symmetric(symbols["G"], m), symbols["B"], symbols["r"], n)
        left.V = self.board.room(len(share.shares), m * n)
        arguments = {name: (symbols[name], left.kept.slots(name)) for name in ("G", "B", "r")}
        self.board.add(
            Step(
                {"mask": (mask, share.arguments["mask"][1]), **arguments},
                {"V": (kept["V"], left.V)},
                {name: (value, self.sums[name]) for name, value in given.items()},
                (NO_NUMBERS, [[] for _ in share.shares]),
                when=left.handed,
            )
        )

    def hub_step(
        self,
        mass: ca.SX,
        push: ca.SX,
        rows: tuple[ca.SX, ca.SX],
        results: HubResults,
        *,
        is_unit: bool = False,
    ) -> None:
        """Move the hub: its own M, Q and rows (matrix, right-hand sides) with what the limbs have given."""
        hub, n = self.hub, len(self.hub.own)
        shapes = {"push": (n, self.columns), "R": (n, n), "beta": (n, self.columns)}
        got = {name: ca.SX.sym(name, *shapes.get(name, (len(slots), 1))) for name, slots in self.sums.items()}
        A, rhs = rows
        x, _, own_pivots, mu, pivots = solve_hub(
            mass + symmetric(got["inertia"], n), push + got["push"], (A, rhs, hub.mask), got
        )
        written, added = results(x, own_pivots)
        written |= {"x": (x, self.x), "mu": (mu, self.mu), "d": (pivots, self.pivots)}
        if is_unit:
            written, added = with_unit(hub, written, added)
        arguments = {**hub.arguments, **self.hub_arguments}
        arguments |= {f"got_{name}": (symbol, self.sums[name]) for name, symbol in got.items()}
        self.board.add(Step(arguments, written, added, hub.numbers))

    def back(self, index: int) -> Back:
        """The way back to a kind of limb; first gives those that handed rows up what the hub found for them."""
        share, left, n = self.limbs[index], self.left[index], len(self.hub.own)
        m, count = len(share.shares[0].rows), len(share.shares)
        extra = self.board.sums(count, m * self.columns)
        mask, V = ca.SX.sym("mask", m), ca.SX.sym("V", m, n)
        mu, d = ca.SX.sym("mu", n, self.columns), ca.SX.sym("d", n)
        added = {"load": (ca.mtimes(V, mu), extra)}
        if left.pivots is not None:
            added["pivots"] = (ca.mtimes(seats(mask, n).T, d), left.pivots)
        given: Arguments = {"mask": (mask, share.arguments["mask"][1]), "V": (V, left.V)}
        given |= {"mu": (mu, self.mu), "d": (d, self.pivots)}
        self.board.add(Step(given, {}, added, (NO_NUMBERS, [[] for _ in share.shares]), when=left.handed))
        reads = left.kept.as_symbols()
        x, more = ca.SX.sym("x", n, self.columns), ca.SX.sym("load", m, self.columns)
        load = reads.values["k"] - ca.mtimes(reads.values["K"], x) + more
        return Back(self, share, reads.values, x, load, {"x": (x, self.x), "load": (more, extra)}, reads)


def with_unit(share: BoardShare, *results: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Results of a state whose quaternions are made unit first: from a stretched one Newton does not converge."""
    q, quaternions = share.equations.symbols.q, share.equations.machine.quaternions
    if not quaternions:
        return results
    values = [value[0] if isinstance(value, tuple) else value for found in results for value in found.values()]
    changed = iter(ca.substitute(values, [q], [unit(quaternions, q)]))

    def renewed(value: Any) -> Any:  # noqa: ANN401
        return (next(changed), value[1]) if isinstance(value, tuple) else next(changed)

    return tuple({name: renewed(value) for name, value in found.items()} for found in results)
