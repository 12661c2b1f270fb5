"""Third stage, the whole: pieces of code are written as a module in LLVM's language."""

from collections.abc import Sequence
from dataclasses import dataclass

from kalaba.native import elementary
from kalaba.native.operations import FUNCTIONS, CodeWriter, Lanes, declarations
from kalaba.native.passes import Cut, Piece
from kalaba.native.program import LEAVES, Instruction, value_of

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
        used = {instruction.op for instruction in piece.instructions}
        self._called.setdefault(lanes, set()).update(used & FUNCTIONS.keys())
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
    body = _Body(piece.instructions, lanes, fused=fused)
    writes: dict[int, list[tuple[str, int]]] = {}
    for write in piece.writes:
        writes.setdefault(write.position, []).append((write.array, write.slot))
    twins = [pair for pair in piece.twins if lanes.count == 1 and body.can_pair(*pair)]
    first_of, delayed = {second: first for first, second in twins}, {first for first, _ in twins}
    for position in range(len(piece.instructions)):
        if position in delayed:  # it is computed with its twin, which nothing before reads
            continue
        body.add(position, first_of.get(position))
        for written in (first_of.get(position, position), position)[position not in first_of :]:
            for array, slot in writes.get(written, ()):
                body.code.store(body.value(written), array, slot)
    head = f"define {linkage}void @{name}({_ARGUMENTS}) nounwind{_aligned(lanes)} {{"
    return "\n".join([head, *body.code.lines, "ret void", "}"])


def _aligned(lanes: Lanes) -> str:
    """Ask for a stack on which a value kept there lies in one cache line; else 8 lanes take half as long again."""
    return "" if lanes.count == 1 else f" alignstack({8 * lanes.count})"


class _Body:
    """Translates instructions; remembers the names of their values."""

    def __init__(self, instructions: Sequence[Instruction], lanes: Lanes, *, fused: bool) -> None:
        self.code = CodeWriter(lanes, fused=fused)
        self._instructions = instructions
        self._values: dict[int, str] = {}
        self._sincos: dict[str, tuple[str, str]] = {}
        self._pairs: dict[tuple[int, int], str] = {}  # positions of two values → the vector of both
        self._within: dict[int, tuple[str, int]] = {}  # position → the vector that it is in, and where

    def can_pair(self, first: int, second: int) -> bool:
        """Whether two instructions are one operation that is done on two numbers at once."""
        op = self._instructions[first].op
        return op == self._instructions[second].op and (op in CIRCULAR or op not in FUNCTIONS)

    def add(self, position: int, twin: int | None = None) -> None:
        """Write an instruction, with its twin if it has one."""
        instruction = self._instructions[position]
        if twin is None:
            self._values[position] = self._alone(instruction)
            return
        operands = [self._pair(*both) for both in zip(self._instructions[twin].args, instruction.args, strict=True)]
        vector = self._operation(instruction.op, operands, PAIR)
        self._within[twin], self._within[position] = (vector, 0), (vector, 1)
        self._pairs[twin, position] = vector

    def value(self, position: int) -> str:
        """The name of a value by itself."""
        if position not in self._values:
            self._values[position] = self.code.part(*self._within[position])
        return self._values[position]

    def _alone(self, instruction: Instruction) -> str:
        if instruction.op == "constant":
            return self.code.lanes.constant(value_of(instruction.number))
        if not instruction.args:
            return self.code.load(_array(instruction), instruction.number)
        return self._operation(instruction.op, [self.value(arg) for arg in instruction.args], self.code.lanes)

    def _operation(self, op: str, operands: list[str], lanes: Lanes) -> str:
        if op in CIRCULAR:
            return self._sine_and_cosine(operands[0], lanes)[op == "cos"]
        return self.code.operate(op, *operands, lanes=lanes)

    def _pair(self, first: int, second: int) -> str:
        """The vector of two values."""
        both = (first, second)
        if both not in self._pairs:
            self._pairs[both] = self._made_pair(first, second)
        return self._pairs[both]

    def _made_pair(self, first: int, second: int) -> str:
        ours, theirs = self._instructions[first], self._instructions[second]
        if ours.op == theirs.op == "constant":
            return f"<double 0x{ours.number:016X}, double 0x{theirs.number:016X}>"
        if (second, first) in self._pairs:
            return self.code.swapped(self._pairs[second, first])
        if ours.op == theirs.op and ours.op in LEAVES and theirs.number == ours.number + 1:
            return self.code.load(_array(ours), ours.number, PAIR)
        return self.code.joined(self.value(first), self.value(second))

    def _sine_and_cosine(self, x: str, lanes: Lanes) -> tuple[str, str]:
        if x not in self._sincos:
            both, real = self.code.fresh(), lanes.real
            self._sincos[x] = (f"{both}.sin", f"{both}.cos")
            self.code.lines += [
                f"{both} = call {{{real}, {real}}} @{elementary.sincos_symbol(lanes)}({real} {x})",
                f"{both}.sin = extractvalue {{{real}, {real}}} {both}, 0",
                f"{both}.cos = extractvalue {{{real}, {real}}} {both}, 1",
            ]
        return self._sincos[x]


def _array(leaf: Instruction) -> str:
    return "inputs" if leaf.op == "input" else "store"
