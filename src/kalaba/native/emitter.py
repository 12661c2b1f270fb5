"""Third stage, the whole: pieces of code are written as a module in LLVM's language."""

from collections.abc import Sequence
from dataclasses import dataclass

from kalaba.native import elementary
from kalaba.native.body import called_functions, lines_of
from kalaba.native.operations import Lanes, declarations
from kalaba.native.passes import Cut, Piece

VERSION = 3  # raise it whenever the same program would give other machine code; cached kernels are then rebuilt
MAIN, PREPARE = "kalaba_main", "kalaba_prepare"  # the names of the two functions of a module

PAIR = Lanes(2)  # twins within one state
CIRCULAR = frozenset({"sin", "cos"})  # computed together
TOGETHER = 2  # pieces of a function that stay in one module with it
_ARGUMENTS = "ptr noalias %inputs, ptr noalias %outputs, ptr noalias %store"
_LIKELY_FALSE = '!0 = !{!"branch_weights", i32 1, i32 1000000}'


@dataclass(frozen=True, slots=True)
class Entry:
    """A function to be written: its name, what it runs, and on how many lanes."""

    name: str
    cut: Cut
    lanes: Lanes
    is_internal: bool = False


def module_texts(entries: Sequence[Entry], *, fused: bool, drivers: Sequence[str] = ()) -> list[str]:
    """Write modules: functions, what they call, and functions that come as text.

    Each piece of a long function is a module of its own. They compile one by one, and Ctrl-C is heard in between.
    """
    first, others = _Module(fused=fused), list[_Module]()
    for entry in entries:
        pieces = entry.cut.pieces
        if len(pieces) == 1:
            first.add(entry.name, "internal " if entry.is_internal else "", pieces[0], entry.lanes)
            continue
        names = [f"{entry.name}_{number}" for number in range(len(pieces))]
        for name, piece in zip(names, pieces, strict=True):
            if len(pieces) <= TOGETHER:
                first.add(name, "internal ", piece, entry.lanes)
                continue
            first.functions.append(f"declare void @{name}({_ARGUMENTS}) nounwind")
            others.append(_Module(fused=fused))
            others[-1].add(name, "", piece, entry.lanes)
        first.functions.append(_whole(entry, names))
    first.functions += drivers
    return [module.text() for module in (first, *others)]


class _Module:
    """Functions of one module, and what they call."""

    def __init__(self, *, fused: bool) -> None:
        self.functions: list[str] = []
        self._fused = fused
        self._called: dict[Lanes, set[str]] = {}

    def add(self, name: str, linkage: str, piece: Piece, lanes: Lanes) -> None:
        """Write a piece."""
        self.functions.append(_function(name, linkage, piece, lanes, fused=self._fused))
        for width, called in called_functions(piece, lanes).items():
            self._called.setdefault(width, set()).update(called)
        if lanes.count == 1 and piece.twins:
            self._called.setdefault(PAIR, set()).update({piece.instructions[a].op for a, _ in piece.twins} & CIRCULAR)

    def text(self) -> str:
        """The module in LLVM's language."""
        defined = []
        for lanes, called in self._called.items():
            if called & {"sin", "cos"}:
                called |= {"sin", "cos"}
                defined.append(elementary.sincos_definition(lanes, fused=self._fused))
            defined.append(elementary.definitions(lanes, called))
        declared = [*map(declarations, self._called), elementary.declarations(set().union(*self._called.values()))]
        return "\n\n".join([*declared, *self.functions, *defined, _LIKELY_FALSE])


def _whole(entry: Entry, pieces: Sequence[str]) -> str:
    """The function that calls all its pieces."""
    linkage = "internal " if entry.is_internal else ""
    calls = [f"call void @{piece}({_ARGUMENTS.replace('noalias ', '')})" for piece in pieces]
    return "\n".join([f"define {linkage}void @{entry.name}({_ARGUMENTS}) nounwind {{", *calls, "ret void", "}"])


def _function(name: str, linkage: str, piece: Piece, lanes: Lanes, *, fused: bool) -> str:
    head = f"define {linkage}void @{name}({_ARGUMENTS}) nounwind{_aligned(lanes)} {{"
    return "\n".join([head, *lines_of(piece, lanes, fused=fused), "ret void", "}"])


def _aligned(lanes: Lanes) -> str:
    """Ask for a stack on which a value kept there lies in one cache line; else 8 lanes take half as long again."""
    return "" if lanes.count == 1 else f" alignstack({8 * lanes.count})"
