"""Third stage, the whole: pieces of code are written as a module in LLVM's language."""

from collections.abc import Sequence
from dataclasses import dataclass

from kalaba.native import elementary
from kalaba.native.operations import FUNCTIONS, CodeWriter, Lanes, declarations
from kalaba.native.passes import Cut, Piece
from kalaba.native.program import Instruction, value_of

VERSION = 1  # raise it whenever the same program would give other machine code; cached kernels are then rebuilt
MAIN, PREPARE = "kalaba_main", "kalaba_prepare"  # the names of the two functions of a module

_ARGUMENTS = "ptr noalias %inputs, ptr noalias %outputs, ptr noalias %store"
_LIKELY_FALSE = '!0 = !{!"branch_weights", i32 1, i32 1000000}'


@dataclass(frozen=True, slots=True)
class Entry:
    """A function to be written: its name, what it runs, and on how many lanes."""

    name: str
    cut: Cut
    lanes: Lanes
    is_internal: bool = False


def module_text(entries: Sequence[Entry], *, fused: bool, drivers: Sequence[str] = ()) -> str:
    """Write a module: its functions, what they call, and functions that come as text."""
    functions = [text for entry in entries for text in _entry_and_pieces(entry, fused=fused)]
    needed: dict[Lanes, set[str]] = {}
    for entry in entries:
        used = {instruction.op for piece in entry.cut.pieces for instruction in piece.instructions}
        needed.setdefault(entry.lanes, set()).update(used & FUNCTIONS.keys())
    for lanes, called in needed.items():
        if called & {"sin", "cos"}:
            called |= {"sin", "cos"}
            functions.append(elementary.sincos_definition(lanes, fused=fused))
        functions.append(elementary.definitions(lanes, called))
    declared = [*map(declarations, needed), elementary.declarations(set().union(*needed.values()))]
    return "\n\n".join([*declared, *functions, *drivers, _LIKELY_FALSE])


def _entry_and_pieces(entry: Entry, *, fused: bool) -> list[str]:
    name, cut, lanes, linkage = entry.name, entry.cut, entry.lanes, "internal " if entry.is_internal else ""
    if len(cut.pieces) == 1:
        return [_function(name, linkage, cut.pieces[0], lanes, fused=fused)]
    names = [f"{name}_{number}" for number in range(len(cut.pieces))]
    calls = [f"call void @{piece}({_ARGUMENTS.replace('noalias ', '')})" for piece in names]
    whole = "\n".join([f"define {linkage}void @{name}({_ARGUMENTS}) nounwind {{", *calls, "ret void", "}"])
    pieces = [
        _function(piece_name, "internal ", piece, lanes, fused=fused)
        for piece_name, piece in zip(names, cut.pieces, strict=True)
    ]
    return [*pieces, whole]


def _function(name: str, linkage: str, piece: Piece, lanes: Lanes, *, fused: bool) -> str:
    body = _Body(lanes, fused=fused)
    writes: dict[int, list[tuple[str, int]]] = {}
    for write in piece.writes:
        writes.setdefault(write.position, []).append((write.array, write.slot))
    for position, instruction in enumerate(piece.instructions):
        value = body.add(instruction)
        for array, slot in writes.get(position, ()):
            body.code.store(value, array, slot)
    head = f"define {linkage}void @{name}({_ARGUMENTS}) nounwind{_aligned(lanes)} {{"
    return "\n".join([head, *body.code.lines, "ret void", "}"])


def _aligned(lanes: Lanes) -> str:
    """Ask for a stack on which a value kept there lies in one cache line; else 8 lanes take half as long again."""
    return "" if lanes.count == 1 else f" alignstack({8 * lanes.count})"


class _Body:
    """Translates instructions; remembers the names of their values."""

    def __init__(self, lanes: Lanes, *, fused: bool) -> None:
        self.code = CodeWriter(lanes, fused=fused)
        self._values: list[str] = []
        self._sincos: dict[str, tuple[str, str]] = {}

    def add(self, instruction: Instruction) -> str:
        """Write an instruction and give the name of its value."""
        value = self._leaf(instruction) if not instruction.args else self._operation(instruction)
        self._values.append(value)
        return value

    def _leaf(self, leaf: Instruction) -> str:
        if leaf.op == "constant":
            return self.code.lanes.constant(value_of(leaf.number))
        return self.code.load("inputs" if leaf.op == "input" else "store", leaf.number)

    def _operation(self, instruction: Instruction) -> str:
        operands = [self._values[arg] for arg in instruction.args]
        if instruction.op in {"sin", "cos"}:
            return self._sine_and_cosine(operands[0])[instruction.op == "cos"]
        return self.code.operate(instruction.op, *operands)

    def _sine_and_cosine(self, x: str) -> tuple[str, str]:
        if x not in self._sincos:
            both, real = self.code.fresh(), self.code.lanes.real
            self._sincos[x] = (f"{both}.sin", f"{both}.cos")
            self.code.lines += [
                f"{both} = call {{{real}, {real}}} @{elementary.sincos_symbol(self.code.lanes)}({real} {x})",
                f"{both}.sin = extractvalue {{{real}, {real}}} {both}, 0",
                f"{both}.cos = extractvalue {{{real}, {real}}} {both}, 1",
            ]
        return self._sincos[x]
