"""The constrained solve of a machine whose limbs hang on a hub, limb by limb: equations, and calls of a program.

With M_i, A_i (own columns), B_i (the hub's columns) of limb i, and the rows it eliminates itself (mask 1)::

    limb    G = A M⁻¹ Aᵀ       k = Ĝ⁻¹ r,  K = Ĝ⁻¹ B             Ĝ⁻¹: on the rows that it eliminates
    hub     (M_0 + Σ Bᵀ K) x = Q_0 + Σ Bᵀ k + Rᵀ μ + A_0ᵀ λ_0
    limb    λ = k − K x + V μ                                   M⁻¹ Aᵀ λ moves the limb

Rows that the limb's own joints cannot meet, or hardly, are handed up (mask 2 + s: to free row s of it): with
V = (1 − Ĝ⁻¹ G) at these rows, R = Vᵀ B, S = Vᵀ G V, β = Vᵀ r they become rows of the hub, R x + S μ = β. This is the
same elimination in another order, exact for every choice of who eliminates what; S is small where the limb is singular
and zero where it has too few joints.

`LimbSolve` lays out the calls of a program in this order; each kind of limb has its functions, called limb by limb:

    1  reduce    every limb: K, k and what the hub gets, Σ Bᵀ K and Σ Bᵀ k
    2  hand up   limbs that hand up rows: V, and Σ R, Σ S, Σ β over all of them
    3  hub       once: x, and μ of the rows that were handed up
    4  load      limbs that have handed up rows: V μ
    5  back      every limb: λ, and with it whatever is to be known of the limb
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import casadi as ca

from kalaba.constrain.elimination import (
    Column,
    Elimination,
    MassFactor,
    eliminate_rows,
    entries,
    factorise,
    gram_matrix,
    row_columns,
    stack,
)
from kalaba.constrain.kernels.board import Kept, Step
from kalaba.space.symbolic_configuration import unit

if TYPE_CHECKING:
    from kalaba.constrain.kernels.board import Arguments, Board, BoardShare, Results, Slots

OWN = 1.0  # mask of a row that its limb eliminates
FIRST_HUB_ROW = 2.0  # mask of a row that is handed up to the hub's first free row

Named = dict[str, ca.SX]
NO_NUMBERS = ca.SX(0, 1)
HubResults = Callable[[ca.SX, ca.SX], tuple["Results", "Results"]]


def lower(matrix: ca.SX) -> ca.SX:
    """The lower triangle, row by row."""
    size = matrix.shape[0]
    return stack([ca.SX(matrix[i, j]) for i in range(size) for j in range(i + 1)])


def symmetric(triangle: ca.SX, size: int) -> ca.SX:
    """The matrix of a lower triangle."""
    matrix = ca.SX(size, size)
    position = 0
    for i in range(size):
        for j in range(i + 1):
            matrix[i, j] = matrix[j, i] = triangle[position]
            position += 1
    return matrix


def hub_rows(mask: ca.SX, count: int) -> ca.SX:
    """(count, m): 1 where a row is handed up to a free row of the hub."""
    rows = [ca.horzcat(*(ca.eq(entry, FIRST_HUB_ROW + s) for entry in entries(mask))) for s in range(count)]
    return ca.vertcat(*rows)


@dataclass(frozen=True)
class Limb:
    """One limb: the factors of its tree's mass matrix, its rows split into own columns A and the hub's columns B."""

    mass: MassFactor
    A: ca.SX
    B: ca.SX
    mask: ca.SX

    @cached_property
    def parts(self) -> Elimination:
        """M and the rows that the limb eliminates itself."""
        return eliminate_rows(self.mass, self.A, ca.eq(self.mask, OWN))

    def free(self, load: Column) -> ca.SX:
        """M⁻¹ Q, from the load L⁻¹ Q: the limb's motion without its rows."""
        return stack(self.parts.back(load))

    def reduce(self, residuals: list[ca.SX]) -> tuple[Named, Named]:
        """What is kept for the way back, and what the hub gets, for some right-hand sides r."""
        B, parts = ca.densify(self.B), self.parts
        columns = [parts.correct(entries(B[:, j])) for j in range(B.shape[1])]
        K = ca.horzcat(*map(stack, columns))
        k = ca.horzcat(*(stack(parts.correct(entries(r))) for r in residuals))
        kept = {
            "pivots": ca.eq(self.mask, OWN) * stack(parts.gram.pivots),
            "handed": ca.sum1(ca.gt(self.mask, OWN)),
            "K": K,
            "k": k,
            "moved": ca.horzcat(*map(stack, parts.moved)),
            "B": B,
            "G": lower(gram_matrix(parts.mass, parts.spread)),
            "r": ca.horzcat(*residuals),
        }
        return kept, {"inertia": lower(ca.mtimes(B.T, K)), "push": ca.mtimes(B.T, k)}


def hand_up(mask: ca.SX, G: ca.SX, B: ca.SX, r: ca.SX, count: int) -> tuple[Named, Named]:
    """Rows that go up: what is kept (V), and what the hub gets (R, S, β, which of its free rows are taken)."""
    m = mask.shape[0]
    factor = factorise(ca.SX(ca.tril(G)), ca.eq(mask, OWN))
    columns = [stack(factor.solve(entries(G[:, k]))) for k in range(m)]
    at = hub_rows(mask, count)
    V = ca.mtimes(ca.SX.eye(m) - ca.horzcat(*columns), at.T)
    S = ca.mtimes(V.T, ca.mtimes(G, V))
    to_hub = {"R": ca.mtimes(V.T, B), "S": lower(S), "beta": ca.mtimes(V.T, r), "taken": ca.sum2(at)}
    return {"V": V}, to_hub


def solve_hub(
    mass: ca.SX,
    push: ca.SX,
    hub_rows: tuple[ca.SX, ca.SX, ca.SX],
    handed: Named,
) -> tuple[ca.SX, ca.SX, ca.SX, ca.SX, ca.SX]:
    """Motion of the hub for some right-hand sides: x, its own rows' λ_0 and pivots, μ and pivots of those handed up.

    `hub_rows` are the hub's own rows: matrix, right-hand sides and mask.
    """
    A, rhs, mask = hub_rows
    n_own, n_seats = A.shape[0], handed["R"].shape[0]
    rows, wanted = ca.vertcat(A, handed["R"]), ca.vertcat(rhs, handed["beta"])
    factor = factorise(ca.SX(ca.tril(mass)))
    spread = [factor.forward(row) for row in row_columns(rows)]
    G = gram_matrix(factor, spread)
    S = symmetric(handed["S"], n_seats)
    for i in range(n_seats):
        for j in range(i + 1):
            G[n_own + i, n_own + j] = G[n_own + i, n_own + j] + S[i, j]
    gram = factorise(G, ca.vertcat(mask, handed["taken"]))
    parts = Elimination(factor, spread, gram)
    moved, forces = [], []
    for c in range(push.shape[1]):
        x = stack(factor.solve(entries(push[:, c])))
        multipliers = parts.correct(entries(wanted[:, c] - ca.mtimes(rows, x)))
        moved.append(x + stack(parts.push(multipliers)))
        forces.append(stack(multipliers))
    x, loads = ca.horzcat(*moved), ca.horzcat(*forces)
    pivots = stack(gram.pivots)
    return x, loads[:n_own, :], pivots[:n_own], loads[n_own:, :], pivots[n_own:]


@dataclass
class _Left:
    """What a kind of limb leaves on the board for the way back."""

    kept: Kept
    V: Slots  # how rows handed up load the limb
    pivots: Slots | None  # where the pivots of the limb's rows are written, if they are

    @property
    def handed(self) -> Slots:
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
    hub_arguments: Arguments = field(default_factory=dict)

    def __post_init__(self) -> None:
        n, board = len(self.hub.own_v), self.board
        triangle = n * (n + 1) // 2
        self.left: dict[int, _Left] = {}
        self.sums = {  # over all limbs: what the hub gets
            "inertia": board.sums(triangle),  # Bᵀ K, lower triangle
            "push": board.sums(n * self.columns),  # Bᵀ k
            "R": board.sums(n * n),  # rows handed up
            "S": board.sums(triangle),
            "beta": board.sums(n * self.columns),
            "taken": board.sums(n),  # 1 for a free row that is taken
        }
        self.x, self.mu, self.pivots = board.room(n * self.columns), board.room(n * self.columns), board.room(n)

    def reduce(self, index: int, kept: Named, to_hub: Named, written: Results, added: Results) -> None:
        """Eliminate a kind of limb, each by its own rows; then hand up what is left of them.

        `kept` and `to_hub` are what `Limb.reduce` finds, and whatever else is to be kept.
        """
        share, board = self.limbs[index], self.board
        added = {**{name: (value, self.sums[name]) for name, value in to_hub.items()}, **added}
        size = sum(value.numel() for value in kept.values())
        others = sum(value.numel() for value, _ in (*written.values(), *added.values()))
        room = max(others, self._further(share))  # behind what is kept: other results, then arguments of the way back
        leaves = Kept(board.regions(len(share.shares), size + room), kept)
        V = board.room(len(share.shares), len(share.shares[0].rows) * len(self.hub.own_v))
        self.left[index] = _Left(leaves, V, written["pivots"][1] if "pivots" in written else None)
        board.add(Step(share.arguments, written, added, share.numbers, leaves=leaves))
        self._hand_up(share, self.left[index])

    def _further(self, share: BoardShare) -> int:
        """Arguments of the way back that are not kept: x, the load of rows handed up, q and v of the limb."""
        return self.columns * (len(self.hub.own_v) + len(share.shares[0].rows)) + len(share.own_q) + len(share.own_v)

    def _hand_up(self, share: BoardShare, left: _Left) -> None:
        """Step 2: made only for limbs that hand up rows."""
        mask, n, m = ca.SX.sym("mask", len(share.shares[0].rows)), len(self.hub.own_v), len(share.shares[0].rows)
        symbols = left.kept.as_symbols().values
        kept, to_hub = hand_up(mask, symmetric(symbols["G"], m), symbols["B"], symbols["r"], n)
        arguments = {name: (symbols[name], left.kept.slots(name)) for name in ("G", "B", "r")}
        self.board.add(
            Step(
                {"mask": (mask, share.arguments["mask"][1]), **arguments},
                {"V": (kept["V"], left.V)},
                {name: (value, self.sums[name]) for name, value in to_hub.items()},
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
        hub, n = self.hub, len(self.hub.own_v)
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
        share, left, n = self.limbs[index], self.left[index], len(self.hub.own_v)
        m, count = len(share.shares[0].rows), len(share.shares)
        extra = self.board.sums(count, m * self.columns)
        mask, V = ca.SX.sym("mask", m), ca.SX.sym("V", m, n)
        mu, d = ca.SX.sym("mu", n, self.columns), ca.SX.sym("d", n)
        added = {"load": (ca.mtimes(V, mu), extra)}
        if left.pivots is not None:
            added["pivots"] = (ca.mtimes(hub_rows(mask, n).T, d), left.pivots)
        arguments: Arguments = {"mask": (mask, share.arguments["mask"][1]), "V": (V, left.V)}
        arguments |= {"mu": (mu, self.mu), "d": (d, self.pivots)}
        self.board.add(Step(arguments, {}, added, (NO_NUMBERS, [[] for _ in share.shares]), when=left.handed))
        reads = left.kept.as_symbols()
        x, more = ca.SX.sym("x", n, self.columns), ca.SX.sym("load", m, self.columns)
        load = reads.values["k"] - ca.mtimes(reads.values["K"], x) + more
        return Back(self, share, reads.values, x, load, {"x": (x, self.x), "load": (more, extra)}, reads)


def with_unit(share: BoardShare, *results: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    """Results of a state whose quaternions are made unit first: from a stretched one Newton does not converge."""
    q, quaternions = share.equations.symbols.q, share.equations.machine.quaternions
    if not quaternions:
        return results
    values = [value[0] if isinstance(value, tuple) else value for group in results for value in group.values()]
    changed = iter(ca.substitute(values, [q], [unit(quaternions, q)]))

    def renewed(value: Any) -> Any:  # noqa: ANN401  (any value of a share)
        return (next(changed), value[1]) if isinstance(value, tuple) else next(changed)

    return tuple({name: renewed(value) for name, value in group.items()} for group in results)
