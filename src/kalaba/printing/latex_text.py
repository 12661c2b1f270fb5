r"""Trees as LaTeX, cut into lines that fit a page.

Brackets are of fixed size, so that a line may end inside them. A long line ends before a + or −, as far outside of
brackets as it can, and goes on with \\ and an indent.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from kalaba.printing.tree import PI, SIMPLE, Call, Node, Product, Sum, Symbol

WIDE = 90.0  # digits of ordinary size on a line
FRACTION = 30.0  # the widest that stands above or below a line
COMMAND = re.compile(r"\\([A-Za-z]+)|\\(.)|([_^])(?=\{)|([{}])|(.)", re.DOTALL)
NAMES = {
    **{name: rf"\{name}" for name in ("sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh", "min", "max")},
    **{f"a{name}": rf"\arc{name}" for name in ("sin", "cos", "tan")},
}
BRACKETS = (
    ("(", ")"),
    (r"\bigl[", r"\bigr]"),
    (r"\bigl\{", r"\bigr\}"),
    (r"\Bigl(", r"\Bigr)"),
    (r"\Bigl[", r"\Bigr]"),
)
CONDITIONS = {"less": "<", "at_most": r"\le", "equal": "=", "differs": r"\ne"}  # 1 where it holds, else 0
JUMP = 3  # how much deeper than the terms around it a product is, for those who look where to end a line


@dataclass(frozen=True, slots=True)
class Piece:
    """Text that stays on one line; before it a line may end, more willingly the less deep it is."""

    text: str
    depth: int = -1  # −1: no line ends here
    opening: str = ""  # what a new line begins with


def number_text(value: Fraction) -> str:
    """A number that is not negative."""
    if value.denominator == 1 and value < 10**7:
        return str(value.numerator)
    if value.denominator <= SIMPLE and value.numerator <= 10 * SIMPLE:
        return rf"\tfrac{{{value.numerator}}}{{{value.denominator}}}"
    mantissa, _, exponent = repr(float(value)).partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def width(text: str) -> float:
    """About how many letters wide a piece of LaTeX is."""
    total, small, levels = 0.0, 0, [False]
    script = False
    for match in COMMAND.finditer(text):
        command, escaped, mark, brace, plain = match.groups()
        scale = 0.7 if small else 1.0
        if mark:
            script = True
        elif brace == "{":
            levels.append(script)
            small, script = small + script, False
        elif brace == "}":
            small -= levels.pop() if len(levels) > 1 else 0
        elif command:
            total += scale * _command_width(command)
        elif escaped:
            total += 0.35 if escaped == "," else scale
        elif plain and not plain.isspace():
            total += scale * _sign_width(plain)
    return total


def _sign_width(sign: str) -> float:
    """Of a letter in italics, a digit or a sign with the space around it, in digits."""
    if sign in "+-=":
        return 2.7 if sign == "=" else 2.4
    return 0.6 if sign in ".,()|[]" else 1.7 if sign in "mwM" else 1.5 if sign.isupper() else 1.05


def _command_width(command: str) -> float:
    if command in {
        "mathrm",
        "mathbf",
        "dot",
        "hat",
        "bigl",
        "bigr",
        "Bigl",
        "Bigr",
        "tfrac",
        "frac",
        "operatorname",
        "left",
        "right",
    }:
        return 0.0
    return float(len(command)) if command in {"sin", "cos", "tan", "exp", "log", "sinh", "cosh", "tanh"} else 1.2


class LatexWriter:
    """Writes trees in given letters."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = {**names, PI: r"\pi"}

    def text(self, node: Node) -> str:
        """A tree on one line."""
        return "".join(piece.text for piece in self.pieces(node, 0))

    def pieces(self, node: Node, depth: int) -> list[Piece]:
        """A tree as pieces between which a line may end."""
        if isinstance(node, Symbol):
            return [Piece(self.names[node.name])]
        if isinstance(node, Call):
            return [Piece(self._call(node, 1))]
        if isinstance(node, Product):
            return self._signed(node, depth, is_first=True)
        row: list[Piece] = []
        for term in _positive_first(node.terms):
            row += self._signed(term, depth, is_first=not row)
        return row

    def _signed(self, node: Node, depth: int, *, is_first: bool) -> list[Piece]:
        """A term with its sign; a line may end before it unless it is the first."""
        is_negative = isinstance(node, Product) and node.number < 0
        body = self._product(node, depth) if isinstance(node, Product) else self.pieces(node, depth)
        if is_first:
            sign = "-" if is_negative else ""
            return [Piece(sign + body[0].text), *body[1:]] if sign else body
        return [Piece(f" {'-' if is_negative else '+'} {body[0].text}", depth), *body[1:]]

    def _product(self, node: Product, depth: int) -> list[Piece]:
        """The size of a product: a number, then factors; what is divided by stands below."""
        above = [(base, e) for base, e in node.powers if e > 0]
        below = [(base, -e) for base, e in node.powers if e < 0]
        if below and not any(width(self._factor_text(b, e)) > FRACTION for b, e in below):
            return self._fraction(abs(node.number), above, below, depth)
        factors = [self._factor(base, e, depth) for base, e in node.powers]
        size = abs(node.number)
        if size != 1 or not factors:
            factors.insert(0, [Piece(number_text(size))])
        return _juxtaposed(factors, depth)

    def _fraction(
        self, size: Fraction, above: list[tuple[Node, int]], below: list[tuple[Node, int]], depth: int
    ) -> list[Piece]:
        bottom = self._flat(below)
        tops = [self._factor(base, e, depth) for base, e in above]
        top = r"\,".join("".join(piece.text for piece in factor) for factor in tops)
        if width(top) <= FRACTION:
            lead = [[Piece(number_text(size))]] if size != 1 else []
            return _juxtaposed([*lead, [Piece(rf"\frac{{{self._bare(above) or '1'}}}{{{bottom}}}")]], depth)
        lead = [[Piece(rf"\frac{{{number_text(size)}}}{{{bottom}}}")]]
        return _juxtaposed([*lead, *tops], depth)

    def _bare(self, factors: list[tuple[Node, int]]) -> str:
        """Factors in a row; a single sum needs no brackets there."""
        if len(factors) == 1 and factors[0][1] == 1 and isinstance(factors[0][0], Sum):
            return self.text(factors[0][0])
        return self._flat(factors)

    def _flat(self, factors: list[tuple[Node, int]]) -> str:
        if len(factors) == 1 and factors[0][1] == 1 and isinstance(factors[0][0], Sum):
            return self.text(factors[0][0])
        return r"\,".join(self._factor_text(base, e) for base, e in factors)

    def _factor_text(self, base: Node, exponent: int) -> str:
        return "".join(piece.text for piece in self._factor(base, exponent, 0))

    def _factor(self, base: Node, exponent: int, depth: int) -> list[Piece]:
        """One factor with its power."""
        raised = "" if exponent == 1 else f"^{{{exponent}}}"
        if isinstance(base, Symbol):
            name = self.names[base.name]
            return [Piece((f"{{{name}}}" if raised and "^" in name else name) + raised)]
        if isinstance(base, Call):
            return [Piece(self._call(base, exponent))]
        inside = self.pieces(base, depth + 1)
        opened, closed = BRACKETS[min(_nesting(base), len(BRACKETS) - 1)]
        inside[0] = Piece(opened + inside[0].text, inside[0].depth)
        inside[-1] = Piece(inside[-1].text + closed + raised, inside[-1].depth)
        return inside

    def _call(self, node: Call, exponent: int) -> str:
        raised = "" if exponent == 1 else f"^{{{exponent}}}"
        arguments = [self.text(argument) for argument in node.arguments]
        if node.name == "sqrt":
            root = rf"\sqrt{{{arguments[0]}}}"
            return f"{{{root}}}{raised}" if raised else root
        if node.name == "abs":
            return f"|{arguments[0]}|{raised}"
        if node.name == "pow":
            argument = node.arguments[0]
            base = arguments[0] if isinstance(argument, Symbol) and "^" not in arguments[0] else f"({arguments[0]})"
            whole = f"{base}^{{{arguments[1]}}}"
            return f"({whole}){raised}" if raised else whole
        if node.name in CONDITIONS:
            return rf"\mathbf{{1}}({arguments[0]} {CONDITIONS[node.name]} {arguments[1]}){raised}"
        name = NAMES.get(node.name, rf"\operatorname{{{node.name}}}".replace("_", r"\_"))
        is_bare = node.name in {"sin", "cos", "tan"} and isinstance(node.arguments[0], Symbol)
        if is_bare:
            return f"{name}{raised} {arguments[0]}"
        return f"{name}{raised}({', '.join(arguments)})"


def _nesting(node: Node) -> int:
    """How many pairs of brackets stand inside each other in a tree."""
    if isinstance(node, Call):
        return 0 if isinstance(node.arguments[0], Symbol) else 1 + max(map(_nesting, node.arguments))
    if isinstance(node, Sum):
        return max(map(_nesting, node.terms))
    if isinstance(node, Product):
        return max((_nesting(base) + isinstance(base, Sum | Product) for base, _ in node.powers), default=0)
    return 0


def _juxtaposed(factors: list[list[Piece]], depth: int) -> list[Piece]:
    """Factors in a row; a line may end between two of them as a last resort."""
    row = list(factors[0])
    for factor in factors[1:]:
        first = factor[0]
        row.append(Piece(rf"\,{first.text}", depth + JUMP, r"\cdot"))
        row += factor[1:]
    return row


def _positive_first(terms: tuple[Node, ...]) -> tuple[Node, ...]:
    """The terms in order, but one without a minus leads if there is one."""
    leading = next((k for k, term in enumerate(terms) if not (isinstance(term, Product) and term.number < 0)), 0)
    return (terms[leading], *terms[:leading], *terms[leading + 1 :])


def lines(label: str, pieces: list[Piece], wide: float = WIDE) -> list[str]:
    """The lines of `label &= …` in an align environment."""
    room, rows, row = wide - width(label) - 2, list[list[Piece]](), list[Piece]()
    for piece in pieces:
        row.append(piece)
        while len(row) > 1 and sum(width(p.text) for p in row) > room:
            cut = _best_cut(row, room)
            if cut is None:
                break
            rows.append(row[:cut])
            row = row[cut:]
            room = wide - width(label) - 6
    rows.append(row)
    texts = [f"{label} &= {''.join(p.text for p in rows[0])}"]
    texts += [rf"&\quad {{}}{r[0].opening}{''.join(p.text for p in r)}" for r in rows[1:]]
    return texts


def _best_cut(row: list[Piece], room: float) -> int | None:
    """Where to end a line that is too long: as little inside brackets as possible, and not too early."""
    total, cuts = 0.0, list[tuple[int, float, int]]()
    for k, piece in enumerate(row):
        if k and piece.depth >= 0 and (total <= room or not cuts):
            cuts.append((piece.depth + (2 * JUMP if total < room / 3 else 0), -total, k))
        total += width(piece.text)
    return min(cuts)[2] if cuts else None
