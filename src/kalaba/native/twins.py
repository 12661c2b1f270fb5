"""Second stage, signs and twins: a − b and b − a are one value, and what parts that are alike compute stands together.

Two arms that are alike take the same operations on numbers of their own. If partners among the inputs are known, such
as an angle of the left arm and the same angle of the right one, so are partners among all values: the partner of
op(x, y) is op(x′, y′), where it is there, up to its sign (a difference of both arms is its own partner with the other
sign). Two partners are *twins*: one operation on two numbers at once, where a function works on one state at a time.

Nothing rests on the partners being right: what is written is verified value by value, and partners that are none are no
twins. Signs travel with the values that read them, so nothing is negated on the way; sums alone know the sign of a
zero, and a result gets the sign that it would have had.
"""

from collections.abc import Sequence
from typing import NamedTuple

from kalaba.native.program import Instruction, Listing, ListingWriter

_SIGN_BIT = 1 << 63
_INFINITE = 0x7FF << 52  # the bits of infinity; those of NaN are above
_EVEN = frozenset({"sq", "fabs", "cos"})
_ODD = frozenset({"inv", "sin"})  # of one value
_SUMS = frozenset({"add", "sub", "twice", "sum"})
_PRODUCTS = frozenset({"mul", "div"})
_SIGN_MATTERS = frozenset({"atan2", "copysign", "sign", "pow"})  # of a zero: functions with these are left as they are


class Signed(NamedTuple):
    """A value or its negative."""

    value: int  # a number of a `_Value`
    sign: int = 1

    def times(self, sign: int) -> "Signed":
        """The same with this sign."""
        return Signed(self.value, self.sign * sign)


class _Value(NamedTuple):
    """An operation on values with their signs, written in one way only: sums have no sign before their first value."""

    op: str
    args: tuple[Signed, ...] = ()
    number: int = 0  # of a leaf


def with_twins(listing: Listing, partners: dict[Instruction, Instruction]) -> Listing:
    """Merge values that are equal up to their sign, and put twins one behind the other.

    `partners` are leaves of parts that are alike, both ways; other leaves are their own partners.
    """
    if any(instruction.op in _SIGN_MATTERS for instruction in listing.instructions):
        return listing
    values = _Values()
    signed: list[Signed] = []
    for instruction in listing.instructions:
        signed.append(values.add(instruction.op, [signed[arg] for arg in instruction.args], instruction.number))
    results = [signed[position] for position in listing.results]
    return _Writer(values, results, values.partners(partners) if partners else []).listing()


class _Values:
    """All values of a listing, each once."""

    def __init__(self) -> None:
        self.all: list[_Value] = []
        self._numbers: dict[_Value, int] = {}

    def add(self, op: str, args: Sequence[Signed], number: int = 0) -> Signed:
        """The value of an operation, with its sign."""
        value, sign = _plain(op, args, number)
        if value is None:
            return args[0].times(sign)
        place = self._numbers.setdefault(value, len(self.all))
        if place == len(self.all):
            self.all.append(value)
        return Signed(place, sign)

    def partners(self, leaves: dict[Instruction, Instruction]) -> list[Signed | None]:
        """The partner of each value; None where there is none."""
        partners: list[Signed | None] = []
        for op, args, number in self.all:
            if not args:
                leaf = leaves.get(Instruction(op, number=number), Instruction(op, number=number))
                place = self._numbers.get(_Value(leaf.op, number=leaf.number))
                partners.append(None if place is None else Signed(place))
                continue
            theirs = [partners[arg.value] for arg in args]
            partners.append(
                self._known(op, [p.times(arg.sign) for p, arg in zip(theirs, args, strict=True) if p], args)
            )
        return partners

    def _known(self, op: str, theirs: Sequence[Signed], ours: Sequence[Signed]) -> Signed | None:
        if len(theirs) < len(ours):
            return None
        value, sign = _plain(op, theirs)
        place = None if value is None else self._numbers.get(value)
        return None if place is None else Signed(place, sign)


def _plain(op: str, args: Sequence[Signed], number: int = 0) -> tuple[_Value | None, int]:
    """An operation in the one way in which it is written, and its sign; no value: the first argument with that sign."""
    if not args:
        negative = op == "constant" and number & _SIGN_BIT and number ^ _SIGN_BIT <= _INFINITE
        return (_Value(op, number=number ^ _SIGN_BIT), -1) if negative else (_Value(op, number=number), 1)
    x, y = args[0], args[-1]
    if op == "neg":
        return None, -1
    if op in _SUMS:
        first, second = x, y.times(-1) if op == "sub" else y
        if first.value > second.value:
            first, second = second, first
        return _Value("sum", (Signed(first.value), second.times(first.sign))), first.sign
    if op in _PRODUCTS:
        factors = [x.value, y.value] if op == "div" else sorted((x.value, y.value))
        if op == "mul" and x.value == y.value:
            op, factors = "sq", [x.value]
        return _Value(op, tuple(map(Signed, factors))), x.sign * y.sign
    if op in _EVEN | _ODD:
        return _Value(op, (Signed(x.value),)), x.sign if op in _ODD else 1
    return _Value(op, tuple(args)), 1


class _Writer:
    """Writes values as instructions again; each stands there with a sign of its own, so that few are negated."""

    def __init__(self, values: _Values, results: list[Signed], partners: list[Signed | None]) -> None:
        self._values, self._results, self._partners = values.all, results, partners
        self._writer = ListingWriter()
        self._written: dict[int, Signed] = {}  # value → position and sign of what stands there

    def listing(self) -> Listing:
        """Write what the results need."""
        needed = self._needed()
        twin_of: dict[int, Signed] = {}
        for place, partner in enumerate(self._partners):
            if partner is not None and partner.value != place and {place, partner.value} <= needed:
                back = self._partners[partner.value]
                if back == Signed(place, partner.sign) and self._values[place].args:
                    twin_of[place] = partner
        for place in sorted(needed):
            self._write(place, twin_of)
        return self._writer.listing(tuple(self._position(result) for result in self._results))

    def _needed(self) -> set[int]:
        needed = {result.value for result in self._results}
        for place in range(len(self._values) - 1, -1, -1):
            if place in needed:
                needed.update(arg.value for arg in self._values[place].args)
        return needed

    def _write(self, place: int, twin_of: dict[int, Signed]) -> None:
        """Write a value, before it what it and its twin read, and behind it the twin."""
        waiting = [place]
        while waiting:
            value = waiting[-1]
            if value in self._written:
                waiting.pop()
                continue
            twin = twin_of.get(value)
            reads = [arg.value for arg in self._values[value].args]
            if twin is not None:
                reads += [arg.value for arg in self._values[twin.value].args]
            missing = [read for read in reads if read not in self._written]
            if missing:
                waiting += reversed(missing)
                continue
            before = len(self._writer.instructions)
            self._written[value] = self._made(value)
            if twin is not None:
                self._write_twin(value, twin, is_new=self._written[value].value >= before)
            waiting.pop()

    def _made(self, place: int) -> Signed:
        """Write one value, and say with what sign it stands there."""
        op, args, number = self._values[place]
        if not args:
            return Signed(self._writer.add(op, number=number))
        here = [self._written[arg.value].times(arg.sign) for arg in args]
        positions = [entry.value for entry in here]
        if op == "sum":
            first, second = here
            return Signed(self._writer.add("add" if first.sign == second.sign else "sub", *positions), first.sign)
        if op in _PRODUCTS:
            return Signed(self._writer.add(op, *positions), here[0].sign * here[1].sign)
        if op in _EVEN:
            return Signed(self._writer.add(op, *positions))
        if op in _ODD:
            return Signed(self._writer.add(op, *positions), here[0].sign)
        return Signed(self._writer.add(op, *(self._position(arg) for arg in args)))

    def _write_twin(self, place: int, twin: Signed, *, is_new: bool) -> None:
        """Write a twin by the same operation on the partners of what it reads."""
        position, sign = self._written[place]
        instruction = self._writer.instructions[position]
        values = self._values[place].args
        if len(instruction.args) != len(values):
            return  # it is written when its turn comes
        theirs = []
        for read, arg in zip(instruction.args, values, strict=True):
            partner = self._partners[arg.value]
            here = self._written[arg.value]
            assert partner is not None  # noqa: S101  (a value with a partner reads only such)
            there = self._written[partner.value]
            flips = here.sign * partner.sign * there.sign * (1 if read == here.value else -1)
            theirs.append(there.value if flips > 0 else self._negative(there.value))
        before = len(self._writer.instructions)
        other = self._writer.add(instruction.op, *theirs)
        self._written[twin.value] = Signed(other, sign * twin.sign)
        if is_new and other == before:
            self._writer.twins.append((position, other))

    def _position(self, wanted: Signed) -> int:
        """Where a value stands with this sign."""
        here = self._written[wanted.value].times(wanted.sign)
        return here.value if here.sign > 0 else self._negative(here.value)

    def _negative(self, position: int) -> int:
        """The negative of what stands at a position; of a difference the other way round, so that its zero is +0."""
        op, args, number = self._writer.instructions[position]
        if op == "sub":
            return self._writer.add("sub", args[1], args[0])
        if op == "neg":
            return args[0]
        if op == "constant":
            return self._writer.add(op, number=number ^ _SIGN_BIT)
        return self._writer.add("neg", position)
