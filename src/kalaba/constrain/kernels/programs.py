"""The functions of `constrain/functions.py` for a machine whose limbs are alike: programs of blocks.

Inputs and outputs are the same, so nobody who calls such a kernel needs to know. What is alike is traced once; the
mask also says which rows a limb hands up to the hub (see `blocks/limb.py`).
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from kalaba.constrain.elimination import stack
from kalaba.constrain.kernels.board import Board, Results, Step
from kalaba.constrain.kernels.functions import displaced, restoring
from kalaba.constrain.kernels.limb import Limb
from kalaba.constrain.kernels.share import BoardShare
from kalaba.constrain.kernels.solve import LimbSolve, with_unit
from kalaba.constrain.layout import Layout
from kalaba.constrain.rows import Limbs
from kalaba.derive.applied import damping_power
from kalaba.derive.equations import Equations, equations_of
from kalaba.derive.kinematics import Kinematics
from kalaba.joints.closure import alignment
from kalaba.model.machine import MachineConnection
from kalaba.space.symbolic_configuration import unit

if TYPE_CHECKING:
    from collections.abc import Callable

    from kalaba.constrain.stabilisation import Baumgarte
    from kalaba.derive.dynamics import Method
    from kalaba.model.machine import Machine
    from kalaba.model.topology.partition import Partition
    from kalaba.native.blocks import BlockProgram


WIDTH = 4  # limbs that are worked on at once, on the lanes of a processor's registers


class Blocks:
    """Traces the programs of a machine that is divided into a hub and limbs."""

    def __init__(self, machine: Machine, parted: Partition, method: Method) -> None:
        self.machine, self.parted, self.width = machine, parted, WIDTH
        self._hub = equations_of(parted.hub.machine, method)
        self._pairs = [equations_of(kind.pattern.machine, method) for kind in parted.kinds]
        self._trees = [equations_of(kind.tree.machine, method) for kind in parted.kinds]

    @property
    def n_hub(self) -> int:
        """Velocities of the hub; also the number of its seats for rows that are handed up."""
        return len(self.parted.hub.v)

    @property
    def limbs(self) -> Limbs:
        """Rows and own columns of every limb, and the hub's seats, for those who choose rows."""
        shares = [share for kind in self.parted.kinds for share in kind.shares]
        rows = [list(share.rows) for share in shares]
        columns = [[share.v[j] for j in sorted(share.own)] for share in shares]
        return (*_listed(rows), *_listed(columns)), self.n_hub

    def _board(self, name: str, outputs: dict[str, int]) -> Board:
        return Board(name, Layout.of(self.machine).sizes, outputs, self.machine, self.width)

    def _shares(self, board: Board) -> tuple[BoardShare, list[BoardShare]]:
        hub = BoardShare(board, (self.parted.hub,), self._hub, self._hub, list(range(self.n_hub)))
        limbs = [
            BoardShare(board, kind.shares, pair, tree, sorted(kind.pattern.own))
            for kind, pair, tree in zip(self.parted.kinds, self._pairs, self._trees, strict=True)
        ]
        return hub, limbs

    def one_by_one(self) -> Blocks:
        """The same limb after limb: for kernels whose lanes are needed for several states."""
        other = copy(self)
        other.width = 1
        return other

    # the programs, by the names of `constrain/functions.py`

    def motion_with_slack(self) -> BlockProgram:
        """The constrained motion with the slack of every row; see `functions.motion_with_slack`."""
        return self.motion(with_slack=True)

    def motion(self, *, with_slack: bool = False, baumgarte: Baumgarte | None = None) -> BlockProgram:
        """The constrained motion; see `functions.motion`."""
        n, m = len(self.machine.velocities), len(self.machine.rows)
        sizes = {"power": 1, "q_dot": len(self.machine.coordinates), "acceleration": n, "constraint_force": n}
        sizes |= {"pivots": m, "gap": m, **({"slack": m} if with_slack else {})}
        board = self._board("motion", sizes)
        hub, limbs = self._shares(board)
        solve = LimbSolve(board, hub, limbs, 1)
        for index, limb in enumerate(limbs):
            e = limb.equations
            b = e.constraint_rhs if baumgarte is None else e.constraint_rhs - restoring(e, baumgarte)
            M, Q, power = limb.translated([limb.tree.mass_matrix, limb.tree.force, _power(limb.tree)])
            Q = Q + limb.f
            tree = Limb(M, e.constraint_matrix[:, limb.own], e.constraint_matrix[:, limb.hub], limb.mask)
            y = tree.free(Q)
            kept, given = tree.reduce([b - ca.mtimes(tree.A, y)])
            written = {
                "pivots": (kept.pop("pivots"), limb.slots(board.output("pivots"), "rows")),
                "q_dot": (e.symbols.q_dot[limb.own_q], limb.slots(board.output("q_dot"), "q", limb.own_q)),
                "gap": (ca.fabs(e.rows.value), limb.slots(board.output("gap"), "rows")),
            }
            power += ca.dot(limb.f, e.symbols.v[limb.own])
            kept |= {"y": y, "A": tree.A, **({"b": e.constraint_rhs} if with_slack else {})}
            solve.reduce(index, kept, given, written, {"power": (power, board.output("power"))})
        self._hub_motion(solve, hub, baumgarte, with_slack=with_slack)
        for index, limb in enumerate(limbs):
            self._limb_motion(solve, index, limb, with_slack=with_slack)
        return board.program()

    @staticmethod
    def _hub_motion(solve: LimbSolve, hub: BoardShare, baumgarte: Baumgarte | None, *, with_slack: bool) -> None:
        board, e = solve.board, hub.equations
        Q = e.force + hub.f

        def results(x: ca.SX, pivots: ca.SX) -> tuple[Results, Results]:
            held = ca.mtimes(e.mass_matrix, x) - Q
            written = {
                "q_dot": (e.symbols.q_dot, hub.slots(board.output("q_dot"), "q")),
                "acceleration": (x, hub.slots(board.output("acceleration"), "v")),
                "constraint_force": (held, hub.slots(board.output("constraint_force"), "v")),
                "pivots": (pivots, hub.slots(board.output("pivots"), "rows")),
                "gap": (ca.fabs(e.rows.value), hub.slots(board.output("gap"), "rows")),
            }
            if with_slack:
                slack = e.constraint_rhs - ca.mtimes(e.constraint_matrix, x)
                written["slack"] = (slack, hub.slots(board.output("slack"), "rows"))
            power = _power(e) + ca.dot(hub.f + held, e.symbols.v)
            return written, {"power": (power, board.output("power"))}

        b = e.constraint_rhs if baumgarte is None else e.constraint_rhs - restoring(e, baumgarte)
        solve.hub_step(e.mass_matrix, Q, (e.constraint_matrix, b), results)

    @staticmethod
    def _limb_motion(solve: LimbSolve, index: int, limb: BoardShare, *, with_slack: bool) -> None:
        board, back = solve.board, solve.back(index)
        v = ca.SX.sym("v", len(limb.own))
        acceleration = back.kept["y"] + ca.mtimes(back.kept["moved"], back.load)
        held = ca.mtimes(back.kept["A"].T, back.load)
        written = {
            "acceleration": (acceleration, limb.slots(board.output("acceleration"), "v", limb.own)),
            "constraint_force": (held, limb.slots(board.output("constraint_force"), "v", limb.own)),
        }
        if with_slack:
            moved = ca.mtimes(back.kept["A"], acceleration) + ca.mtimes(back.kept["B"], back.x)
            written["slack"] = (back.kept["b"] - moved, limb.slots(board.output("slack"), "rows"))
        back.call(
            {"v": (v, limb.slots(board.input("v"), "v", limb.own))},
            written,
            {"power": (ca.dot(held, v), board.output("power"))},
        )

    def project(self) -> BlockProgram:
        """One Newton step back to the constraints; see `functions.project`."""
        n_q, n, m = len(self.machine.coordinates), len(self.machine.velocities), len(self.machine.rows)
        board = self._board("project", {"work_next": 1, "q_next": n_q, "v_next": n, "residual": m, "speed_residual": m})
        hub, limbs = self._shares(board)
        solve = LimbSolve(board, hub, limbs, 2)
        for index, limb in enumerate(limbs):
            e = limb.equations
            M = limb.translated([limb.tree.mass_matrix])[0]
            tree = Limb(M, e.constraint_matrix[:, limb.own], e.constraint_matrix[:, limb.hub], limb.mask)
            kept, given = tree.reduce([-e.rows.value, -e.rows.rate])
            del kept["pivots"]
            written = {
                "residual": (e.rows.value, limb.slots(board.output("residual"), "rows")),
                "speed_residual": (e.rows.rate, limb.slots(board.output("speed_residual"), "rows")),
            }
            kept, given, written = with_unit(limb, kept, given, written)
            solve.reduce(index, kept, given, written, {})
        e = hub.equations

        def results(x: ca.SX, pivots: ca.SX) -> tuple[Results, Results]:  # noqa: ARG001
            work = ca.SX.sym("work")
            solve.hub_arguments["work"] = (work, board.input("work"))
            q = e.symbols.q + ca.mtimes(e.symbols.rate_map, x[:, 0])
            written = {
                "work_next": (work, board.output("work_next")),
                "q_next": (unit(e.machine.quaternions, q), hub.slots(board.output("q_next"), "q")),
                "v_next": (e.symbols.v + x[:, 1], hub.slots(board.output("v_next"), "v")),
                "residual": (e.rows.value, hub.slots(board.output("residual"), "rows")),
                "speed_residual": (e.rows.rate, hub.slots(board.output("speed_residual"), "rows")),
            }
            return written, {}

        rhs = ca.horzcat(-e.rows.value, -e.rows.rate)
        still = ca.SX.zeros(self.n_hub, 2)
        solve.hub_step(e.mass_matrix, still, (e.constraint_matrix, rhs), results, is_unit=True)
        for index, limb in enumerate(limbs):
            back, t = solve.back(index), limb.tree.symbols
            step = ca.mtimes(back.kept["moved"], back.load)
            quaternions = limb.tree.machine.quaternions
            q = unit(quaternions, t.q)
            moved = q + ca.mtimes(ca.substitute(t.rate_map, t.q, q), step[:, 0])
            back.call(
                {
                    "q": (t.q, limb.slots(board.input("q"), "q", limb.own_q)),
                    "v": (t.v, limb.slots(board.input("v"), "v", limb.own)),
                },
                {
                    "q_next": (unit(quaternions, moved), limb.slots(board.output("q_next"), "q", limb.own_q)),
                    "v_next": (t.v + step[:, 1], limb.slots(board.output("v_next"), "v", limb.own)),
                },
                {},
            )
        return board.program()

    def rows(self) -> BlockProgram:
        """M and A, for choosing rows; see `functions.rows`."""
        n, m = len(self.machine.velocities), len(self.machine.rows)
        board = self._board("rows", {"mass": n * n, "matrix": m * n})

        def results(share: BoardShare) -> Results:
            M = share.translated([share.tree.mass_matrix])[0]
            return _matrices(board, share, M)

        return self._spread(board, results)

    def system_matrices(self) -> BlockProgram:
        """M, bias, force, A, b and the rows; see `functions.system_matrices`."""
        n, m = len(self.machine.velocities), len(self.machine.rows)
        sizes = {"mass": n * n, "bias": n, "force": n, "matrix": m * n, "rhs": m, "value": m, "rate": m}
        board = self._board("matrices", {**sizes, "damping_power": 1})

        def results(share: BoardShare) -> Results:
            t, e = share.tree, share.equations
            M, bias, force = share.translated([t.mass_matrix, t.bias, t.force])
            return {
                **_matrices(board, share, M),
                "bias": (bias, share.slots(board.output("bias"), "v", share.own)),
                "force": (force + share.f, share.slots(board.output("force"), "v", share.own)),
                "rhs": (e.constraint_rhs, share.slots(board.output("rhs"), "rows")),
                "value": (e.rows.value, share.slots(board.output("value"), "rows")),
                "rate": (e.rows.rate, share.slots(board.output("rate"), "rows")),
            }

        def sums(share: BoardShare) -> Results:
            damping = share.translated([damping_power(share.tree.kinematics)])[0]
            return {"damping_power": (damping, board.output("damping_power"))}

        return self._spread(board, results, sums)

    def observe(self) -> BlockProgram:
        """Energies, momentum, rows, and the machine's outputs; see `functions.observe`."""
        m = len(self.machine.rows)
        sizes = {"kinetic": 1, "potential": 1, "momentum": 6, "residual": m, "speed_residual": m}
        board = self._board("observe", {**sizes, "outputs": len(self.machine.outputs)})

        def results(share: BoardShare) -> Results:
            rows = share.equations.rows
            return {
                "residual": (rows.value, share.slots(board.output("residual"), "rows")),
                "speed_residual": (rows.rate, share.slots(board.output("speed_residual"), "rows")),
            }

        def sums(share: BoardShare) -> Results:
            t = share.tree
            found = share.translated([t.kinetic_energy, t.potential_energy, t.momentum])
            names = ("kinetic", "potential", "momentum")
            return {name: (value, board.output(name)) for name, value in zip(names, found, strict=True)}

        if self.machine.outputs:
            self._outputs(board)
        return self._spread(board, results, sums)

    def _outputs(self, board: Board) -> None:
        """The machine's outputs, which may read anything."""
        k = Kinematics(self.machine)
        s, values = k.symbols, stack([k.value(output.value) for output in self.machine.outputs])
        arguments = {name: (getattr(s, name), board.input(name)) for name in ("q", "v", "t", "u")}
        places: list[float | int] = list(range(len(self.machine.free_parameters)))
        board.add(Step(arguments, {"outputs": (values, board.output("outputs"))}, {}, (s.p, [places])))

    def normalise(self) -> BlockProgram:
        """The state with unit quaternions; see `functions.normalise`."""
        sizes = {"work_next": 1, "q_next": len(self.machine.coordinates), "v_next": len(self.machine.velocities)}
        board = self._board("normalise", sizes)

        def results(share: BoardShare) -> Results:
            t = share.tree
            q = share.translated([unit(t.machine.quaternions, t.symbols.q)])[0]
            return {
                "q_next": (q, share.slots(board.output("q_next"), "q", share.own_q)),
                "v_next": (share.equations.symbols.v[share.own], share.slots(board.output("v_next"), "v", share.own)),
            }

        work = ca.SX.sym("work")
        written = {"work_next": (work, board.output("work_next"))}
        board.add(Step({"work": (work, board.input("work"))}, written, {}, (ca.SX(0, 1), [[]])))
        return self._spread(board, results)

    def displace(self) -> BlockProgram:
        """Where a displacement, put in the place of v, leads; see `functions.displace`."""
        board = self._board("displace", {"q_next": len(self.machine.coordinates)})

        def results(share: BoardShare) -> Results:
            q = share.translated([displaced(share.tree)])[0]
            return {"q_next": (q, share.slots(board.output("q_next"), "q", share.own_q))}

        return self._spread(board, results)

    def alignments(self) -> BlockProgram:
        """One cosine a connection; see `functions.alignments`."""
        order = [c.name for c in self.machine.closures if isinstance(c, MachineConnection)]
        board = self._board("alignments", {"cosines": len(order)})

        def results(share: BoardShare) -> Results:
            k = share.equations.kinematics
            own = [[c for c in s.machine.closures if isinstance(c, MachineConnection)] for s in share.shares]
            values = [alignment(k, connection) for connection in own[0]]
            places = np.array([[order.index(c.name) for c in row] for row in own], dtype=int)
            slots = board.output("cosines")[places.reshape(len(own), -1)]
            return {"cosines": (stack(values), slots)}

        return self._spread(board, results)

    def _spread(
        self,
        board: Board,
        results: Callable[[BoardShare], Results],
        sums: Callable[[BoardShare], Results] = lambda _: {},
    ) -> BlockProgram:
        """A program in which every share writes its part of the outputs, and adds to what is summed."""
        hub, limbs = self._shares(board)
        for share in (hub, *limbs):
            board.add(Step(share.arguments, results(share), sums(share), share.numbers))
        return board.program()


def _listed(lists: list[list[int]]) -> tuple[Any, Any]:
    """Lists one after the other: where each ends (the first begins at 0), and all entries."""
    ends = np.cumsum([0, *map(len, lists)]).astype(np.int64)
    return ends, np.array([entry for found in lists for entry in found], dtype=np.int64)


def _power(tree: Equations) -> ca.SX:
    """Power of all that acts on a tree, the constraints and further forces apart."""
    return ca.dot(tree.force + tree.bias, tree.symbols.v) - damping_power(tree.kinematics)


def _matrices(board: Board, share: BoardShare, mass: ca.SX) -> Results:
    """The share's blocks of M and A."""
    n, m = len(board.machine.velocities), len(board.machine.rows)
    v = np.array([entry.v for entry in share.shares], dtype=int).reshape(len(share.shares), -1)
    rows = np.array([entry.rows for entry in share.shares], dtype=int).reshape(len(share.shares), -1)
    own, A = v[:, share.own], share.equations.constraint_matrix
    return {
        "mass": (ca.densify(mass), board.output("mass")[_places(own, own, n)]),
        "matrix": (ca.densify(A), board.output("matrix")[_places(rows, v, m)]),
    }


def _places(rows: Any, columns: Any, height: int) -> Any:  # noqa: ANN401
    """Places of a block's entries, column by column, in a matrix that is stored so; one line a limb."""
    found = columns[:, :, np.newaxis] * height + rows[:, np.newaxis, :]
    return found.reshape(len(rows), -1)
