"""Third stage, a piece of code line by line: instructions become operations in LLVM's language.

On several lanes every value is a vector, one number per state. On one lane values are numbers, and two things are done
side by side: twins (see `twins.py`) are one operation on a vector of two, and sines and cosines of angles that are
known from the start are computed four at a time. Neither changes a bit of any value.
"""

from kalaba.native import elementary
from kalaba.native.operations import FUNCTIONS, CodeWriter, Lanes
from kalaba.native.passes import Piece
from kalaba.native.program import LEAVES, value_of

PAIR = Lanes(2)
CIRCULAR = frozenset({"sin", "cos"})  # computed together
_FOUR = 4


def called_functions(piece: Piece, lanes: Lanes) -> dict[Lanes, set[str]]:
    """The functions that a piece calls, by the width of their arguments; a width may be used without any."""
    used = {instruction.op for instruction in piece.instructions}
    called = {lanes: used & FUNCTIONS.keys()}
    if lanes.count == 1:
        called |= {Lanes(len(group)): used & CIRCULAR for group in _groups(piece)}
        if piece.twins:
            called.setdefault(PAIR, set())
    return called


def lines_of(piece: Piece, lanes: Lanes, *, fused: bool) -> list[str]:
    """Write what a piece computes and stores."""
    body = _Body(piece, lanes, fused=fused)
    for position, _ in enumerate(piece.instructions):
        body.add(position)
        for write in body.writes.get(position, ()):
            body.code.store(body.value(position), *write)
    return body.code.lines


def _groups(piece: Piece) -> list[tuple[int, ...]]:
    """Angles in groups of four or two: leaves, and sums of leaves; those of twins stand side by side.

    A group of three has the last one twice.
    """
    instructions = piece.instructions

    def is_early(position: int) -> bool:
        op, args, _ = instructions[position]
        return op in LEAVES or (op in {"add", "sub", "neg"} and all(instructions[arg].op in LEAVES for arg in args))

    def angle(position: int) -> int:
        return instructions[position].args[0]

    circular = [position for position, instruction in enumerate(instructions) if instruction.op in CIRCULAR]
    paired = [(angle(a), angle(b)) for a, b in piece.twins if instructions[a].op in CIRCULAR]
    first = [each for pair in paired if all(map(is_early, pair)) for each in pair]
    angles = list(dict.fromkeys([*first, *filter(is_early, map(angle, circular))]))
    groups = [tuple(angles[k : k + _FOUR]) for k in range(0, len(angles), _FOUR)]
    return [group if len(group) % 2 == 0 else (*group, group[-1]) for group in groups if len(group) > 1]


class _Body:
    """Translates instructions; remembers the names of their values."""

    def __init__(self, piece: Piece, lanes: Lanes, *, fused: bool) -> None:
        self.code = CodeWriter(lanes, fused=fused)
        self.writes: dict[int, list[tuple[str, int]]] = {}
        for write in piece.writes:
            self.writes.setdefault(write.position, []).append((write.array, write.slot))
        self._instructions = piece.instructions
        self._values: dict[int, str] = {}
        self._within: dict[int, tuple[str, int, Lanes]] = {}  # position → the vector that it is in, and where
        self._pairs: dict[tuple[int, int], str] = {}  # positions of two values → the vector of both
        self._circles: dict[tuple[int, ...], tuple[str, str]] = {}  # angles → the names of their sines and cosines
        alone = lanes.count == 1
        self._twins = {a: (a, b) for a, b in piece.twins if alone and self._can_pair(a, b)}
        self._twins |= {b: (a, b) for a, b in self._twins.values()}
        self._group = {angle: group for group in (_groups(piece) if alone else ()) for angle in group}

    def _can_pair(self, first: int, second: int) -> bool:
        """Whether two instructions are one operation that is done on two numbers at once."""
        op = self._instructions[first].op
        return op == self._instructions[second].op and op not in FUNCTIONS

    def add(self, position: int) -> None:
        """Write an instruction, with its twin if it has one, unless it is written already."""
        if position in self._values or position in self._within:
            return
        both = self._twins.get(position, (position,))
        for place in both:
            for arg in self._instructions[place].args:
                self.add(arg)
        if len(both) == 2:
            self._add_twins(*both)
        else:
            self._add_alone(position)

    def _add_twins(self, first: int, second: int) -> None:
        """Write one operation on a vector of two."""
        ours, theirs = self._instructions[first], self._instructions[second]
        operands = [self._pair(*pair) for pair in zip(ours.args, theirs.args, strict=True)]
        vector = self.code.operate(ours.op, *operands, lanes=PAIR)
        self._within[first], self._within[second] = (vector, 0, PAIR), (vector, 1, PAIR)
        self._pairs[first, second] = vector

    def _add_alone(self, position: int) -> None:
        op, args, number = self._instructions[position]
        if op == "constant":
            self._values[position] = self.code.lanes.constant(value_of(number))
        elif not args:
            self._values[position] = self.code.load(_array(op), number)
        elif op in CIRCULAR:
            group = self._group.get(args[0], args)
            name = self._circle(group)[op == "cos"]
            if len(group) == 1:
                self._values[position] = name
            else:
                self._within[position] = (name, group.index(args[0]), Lanes(len(group)))
        else:
            self._values[position] = self.code.operate(op, *map(self.value, args))

    def value(self, position: int) -> str:
        """The name of a value by itself."""
        if position not in self._values:
            self._values[position] = self.code.part(*self._within[position])
        return self._values[position]

    def _pair(self, first: int, second: int) -> str:
        """The vector of two values."""
        both = (first, second)
        if both not in self._pairs:
            self._pairs[both] = self._new_pair(first, second)
        return self._pairs[both]

    def _new_pair(self, first: int, second: int) -> str:
        (op, _, number), (other_op, _, other) = self._instructions[first], self._instructions[second]
        if op == other_op == "constant":
            return PAIR.constants(value_of(number), value_of(other))
        if (second, first) in self._pairs:
            return self.code.chosen(self._pairs[second, first], PAIR, (1, 0))
        if op == other_op and op in LEAVES and other == number + 1:
            return self.code.load(_array(op), number, PAIR)
        if first in self._within and second in self._within:
            (vector, place, lanes), (other_vector, other_place, _) = self._within[first], self._within[second]
            if vector == other_vector:
                return self.code.chosen(vector, lanes, (place, other_place))
        return self.code.joined((self.value(first), self.value(second)))

    def _circle(self, angles: tuple[int, ...]) -> tuple[str, str]:
        """The names of the sines and the cosines of some angles."""
        if angles not in self._circles:
            for angle in angles:
                self.add(angle)
            lanes = self.code.lanes if len(angles) == 1 else Lanes(len(angles))
            values = [self.value(angle) for angle in angles]
            x = values[0] if len(values) == 1 else self.code.joined(values)
            self._circles[angles] = self._both_of(x, lanes)
        return self._circles[angles]

    def _both_of(self, x: str, lanes: Lanes) -> tuple[str, str]:
        both, real = self.code.fresh(), lanes.real
        self.code.lines += [
            f"{both} = call {{{real}, {real}}} @{elementary.sincos_symbol(lanes)}({real} {x})",
            f"{both}.sin = extractvalue {{{real}, {real}}} {both}, 0",
            f"{both}.cos = extractvalue {{{real}, {real}}} {both}, 1",
        ]
        return f"{both}.sin", f"{both}.cos"


def _array(op: str) -> str:
    """The array that a leaf reads."""
    return "inputs" if op == "input" else "store"
