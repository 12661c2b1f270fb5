"""Control laws in limb form: programs that evaluate a law limb by limb, as the motion is evaluated (`limb_solve.py`).

Such a law has four stages::

    shared    quantities that all shares read, such as what the goals ask for      once
    up        a limb keeps some values and adds others to the hub's sums           per limb
    across    efforts of the hub's motors, and what the hub solves for             once, from the sums
    down      efforts of the limb's motors                                         per limb, from both

The stages of a kind of limb are traced once, whatever the number of its limbs. Rows that a limb hands up to the hub
play no part here: a law reads the equations, not the elimination.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

import casadi as ca
import numpy as np

from kalaba.constrain.elimination import stack
from kalaba.constrain.kernels.board import Arguments, Board, Kept, Results, Slots, Step
from kalaba.constrain.kernels.functions import bounded
from kalaba.constrain.kernels.limb_solve import Named
from kalaba.derive.kinematics import Kinematics

if TYPE_CHECKING:
    from kalaba.constrain.kernels.board import BoardShare
    from kalaba.constrain.kernels.limb_machine import LimbMachine
    from kalaba.model.topology.partition import Share
    from kalaba.native.blocks import BlockProgram


class LimbLaw(Protocol):
    """A control law in limb form. Efforts are one expression per motor of a share, in the share's order."""

    def pattern(self, share: Share) -> Hashable:
        """What limbs of one kind must have in common, beside their equations, to be traced together."""

    def shared(self, kinematics: Kinematics, numbers: ca.SX) -> Named:
        """Quantities that all shares read, from the whole machine's state and the law's numbers."""

    def up(self, limb: LawShare) -> tuple[Named, Named]:
        """What a limb keeps for the way down, and what it adds to the hub's sums, which are the same for all kinds."""

    def across(self, hub: LawShare, sums: Named) -> tuple[list[ca.SX], Named]:
        """Efforts of the hub's motors, and what all limbs read on the way down."""

    def down(self, limb: LawShare, kept: Named, solved: Named) -> list[ca.SX]:
        """Efforts of a limb's motors."""


@dataclass
class LawShare:
    """The hub or a kind of limb in one stage of a law: its equations, and what the stage reads beside the state."""

    share: BoardShare
    shared: dict[str, Slots]  # where the shared quantities stand on the board
    _read: Arguments = field(default_factory=dict)
    _symbols: list[ca.SX] = field(default_factory=list)  # of constants and numbers
    _rows: list[list[float | int]] = field(default_factory=list)  # their values or places, one row per limb

    @property
    def motors(self) -> list[list[int]]:
        """Indices of the motors among those of the machine, one row per limb."""
        return [list(share.u[: len(share.machine.actuators)]) for share in self.share.shares]

    def read(self, name: str, entries: Sequence[Sequence[int]]) -> ca.SX:
        """Entries of a shared quantity, one row per limb."""
        chosen = np.array(entries, dtype=int).reshape(len(self.share.shares), -1)
        symbol = ca.SX.sym(name, chosen.shape[1])
        self._read[f"{name} {len(self._read)}"] = (symbol, np.asarray(self.shared[name])[chosen])
        return symbol

    def constants(self, rows: Sequence[Sequence[float]]) -> list[ca.SX]:
        """Numbers of the law, one row per limb; those that all limbs have in common stand in the code itself."""
        columns = list(zip(*rows, strict=True))
        symbols = [ca.SX(float(c[0])) if len(set(c)) == 1 else ca.SX.sym("constant") for c in columns]
        varying = [k for k, symbol in enumerate(symbols) if not symbol.is_constant()]
        self._add_numbers([symbols[k] for k in varying], [[float(row[k]) for k in varying] for row in rows])
        return symbols

    def numbers_at(self, places: Sequence[Sequence[int]]) -> list[ca.SX]:
        """Numbers of the kernel by their places among parameters and the law's numbers, one row per limb."""
        symbols = [ca.SX.sym("number") for _ in places[0]]
        self._add_numbers(symbols, places)
        return symbols

    def _add_numbers(self, symbols: list[ca.SX], rows: Sequence[Sequence[float | int]]) -> None:
        """Symbols with a value (float) or a place (int) for every limb."""
        self._symbols += symbols
        before = self._rows or [[] for _ in rows]
        self._rows = [[*old, *row] for old, row in zip(before, rows, strict=True)]

    def arguments(self, values: Iterable[ca.SX], others: Arguments) -> Arguments:
        """The inputs of the stage that expressions read: of the share, shared, and others."""
        named = {f"other {name}": argument for name, argument in others.items()}
        return _used({**self.share.arguments, **self._read, **named}, values)

    @property
    def numbers(self) -> tuple[ca.SX, list[list[float | int]]]:
        """Symbols of the parameters and of the constants, and for every limb their places or values."""
        p, places = self.share.numbers
        rows = self._rows or [[] for _ in places]
        return stack([p, *self._symbols]), [[*place, *row] for place, row in zip(places, rows, strict=True)]


@dataclass(frozen=True)
class _Kind:
    """A kind of limb while a law is laid out: its stages up and down, and what the way up keeps and adds to sums."""

    up: LawShare
    down: LawShare
    kept: Named
    summed: Named


def law_by_limbs(machine: LimbMachine, law: LimbLaw, count: int) -> BlockProgram:
    """The held inputs under a law in limb form with `count` numbers, within bounds; `functions.law_values` is flat.

    After the law's own numbers come the lowest and then the highest effort, one per motor: other bounds need no other
    code.
    """
    whole = machine.machine
    board = machine.board("law", {"values": len(whole.actuators) + len(whole.sampled_inputs)})
    board.n_numbers = count + 2 * len(whole.actuators)
    return law_program(board, *machine.shares(board), law, count)


def law_program(board: Board, hub: BoardShare, limbs: list[BoardShare], law: LimbLaw, count: int) -> BlockProgram:
    """Lay out a law with `count` numbers of its own; the bounds follow them."""
    shared = _add_shared(board, law, count)
    kinds = [_kind(group, shared, law) for limb in limbs for group in _groups(limb, law)]
    sums = _places({name: value for kind in kinds for name, value in kind.summed.items()}, board.sums)
    middle = LawShare(hub, shared)
    efforts, answers = law.across(middle, _symbols(sums))
    efforts = _within_bounds(middle, efforts)
    solved = _places(answers, board.room)
    downs = [_add_up(board, kind, sums, solved, law) for kind in kinds]
    written = {**_results(answers, solved), "efforts": (stack(efforts), _motor_slots(middle))}
    board.add(Step(middle.arguments([*answers.values(), *efforts], sums), written, {}, middle.numbers))
    for step in downs:
        board.add(step)
    _pass_on(board)
    return board.program()


def _groups(limb: BoardShare, law: LimbLaw) -> list[BoardShare]:
    """The limbs of a kind, those together that a law can trace together."""
    groups: dict[Hashable, list[Share]] = {}
    for share in limb.shares:
        groups.setdefault(law.pattern(share), []).append(share)
    return [replace(limb, shares=tuple(shares)) for shares in groups.values()]


def _kind(limb: BoardShare, shared: dict[str, Slots], law: LimbLaw) -> _Kind:
    up = LawShare(limb, shared)
    return _Kind(up, LawShare(limb, shared), *law.up(up))


def _add_shared(board: Board, law: LimbLaw, count: int) -> dict[str, Slots]:
    """Add the step that gives the shared quantities, and tell where they stand."""
    k, numbers = Kinematics(board.machine), ca.SX.sym("numbers", board.n_numbers)
    s, values = k.symbols, law.shared(k, numbers[:count])
    slots = {name: board.room(value.numel()) for name, value in values.items()}
    arguments = {name: (getattr(s, name), board.input(name)) for name in ("q", "v", "t", "u")}
    written = {name: (value, slots[name]) for name, value in values.items()}
    places: list[float | int] = list(range(len(board.machine.free_parameters) + board.n_numbers))
    board.add(Step(_used(arguments, values.values()), written, {}, (ca.vertcat(s.p, numbers), [places])))
    return slots


def _add_up(board: Board, kind: _Kind, sums: Arguments, solved: Arguments, law: LimbLaw) -> Step:
    """Add the way up of a kind of limb, and give its way down."""
    kept = {name: ca.SX.sym(name, *value.shape) for name, value in kind.kept.items()}
    efforts = _within_bounds(kind.down, law.down(kind.down, kept, _symbols(solved)))
    arguments = kind.down.arguments(efforts, solved)
    # behind what is kept: room for the other results of the way up, then for the other arguments of the way down
    others = max(_count(kind.summed.values()), _count(symbol for symbol, _ in arguments.values()))
    region = board.regions(len(kind.up.share.shares), _count(kept.values()) + others)
    read = kind.up.arguments([*kind.kept.values(), *kind.summed.values()], {})
    board.add(Step(read, {}, _results(kind.summed, sums), kind.up.numbers, leaves=Kept(region, kind.kept)))
    written = {"efforts": (stack(efforts), _motor_slots(kind.down))}
    return Step(arguments, written, {}, kind.down.numbers, reads=Kept(region, kept))


def _pass_on(board: Board) -> None:
    """Sampled forces stand behind the motors and pass through."""
    n = len(board.machine.actuators)
    slots = board.input("u")[n:]
    if len(slots):
        u = ca.SX.sym("u", len(slots))
        board.add(Step({"u": (u, slots)}, {"u": (u, board.output("values")[n:])}, {}, (ca.SX(0, 1), [[]])))


def _within_bounds(part: LawShare, efforts: list[ca.SX]) -> list[ca.SX]:
    """Efforts of a share's motors, cut off at their bounds."""
    board, n = part.share.board, len(part.share.board.machine.actuators)
    first = len(board.machine.free_parameters) + board.n_numbers - 2 * n  # the lowest efforts, then the highest
    lowest, highest = (part.numbers_at([[at + i for i in row] for row in part.motors]) for at in (first, first + n))
    return [bounded(*entry) for entry in zip(efforts, lowest, highest, strict=True)]


def _motor_slots(part: LawShare) -> Slots:
    """Where the efforts of a share's motors stand among the law's values."""
    motors = np.array(part.motors, dtype=int).reshape(len(part.motors), -1)
    return np.asarray(part.share.board.output("values")[motors])


def _places(values: Named, slots: Callable[[int], Slots]) -> Arguments:
    """A symbol and new slots for each of some values."""
    return {name: (ca.SX.sym(name, *value.shape), slots(value.numel())) for name, value in values.items()}


def _symbols(places: Arguments) -> Named:
    return {name: symbol for name, (symbol, _) in places.items()}


def _results(values: Named, places: Arguments) -> Results:
    return {name: (value, places[name][1]) for name, value in values.items()}


def _used(arguments: Arguments, values: Iterable[ca.SX]) -> Arguments:
    """Those entries of arguments that expressions read."""
    read = {symbol.element_hash() for symbol in ca.symvar(stack([ca.vec(value) for value in values]))}
    chosen: Arguments = {}
    for name, (symbol, slots) in arguments.items():
        entries = [k for k, entry in enumerate(ca.vertsplit(ca.vec(symbol))) if entry.element_hash() in read]
        if entries:
            chosen[name] = (ca.vec(symbol)[entries], np.asarray(slots)[..., entries])
    return chosen


def _count(values: Iterable[ca.SX]) -> int:
    return sum(value.numel() for value in values)
