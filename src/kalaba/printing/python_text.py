"""Trees as Python that SymPy reads."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Iterable, Mapping
from fractions import Fraction

from kalaba.printing.tree import PI, SIMPLE, Call, Node, Product, Sum, Symbol

PLAIN = {"sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sqrt", "exp", "log", "sinh", "cosh", "tanh", "sign"}
RENAMED = {"abs": "sp.Abs", "min": "sp.Min", "max": "sp.Max", "floor": "sp.floor", "ceil": "sp.ceiling"}
WRITTEN = {
    "pow": "({0})**({1})",
    "hypot": "sp.sqrt(({0})**2 + ({1})**2)",
    "fmod": "(({0}) - ({1})*sp.sign(({0})/({1}))*sp.floor(sp.Abs(({0})/({1}))))",
    "less": "sp.Piecewise((1, ({0}) < ({1})), (0, True))",
    "at_most": "sp.Piecewise((1, ({0}) <= ({1})), (0, True))",
    "equal": "sp.Piecewise((1, sp.Eq({0}, {1})), (0, True))",
    "differs": "sp.Piecewise((1, sp.Ne({0}, {1})), (0, True))",
}


def identifiers(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """A Python name for every name, no two alike, none of Python's own: left.theta1 → left_theta1, rate(x) → x_dot."""
    used, chosen = set(taken), {}
    for name in names:
        path, end = (name[5:-1], "_dot") if name.startswith("rate(") else (name, "")
        word = re.sub(r"\W+", "_", path).strip("_") + end
        word = f"x_{word}" if not word[:1].isalpha() else word
        while word in used or keyword.iskeyword(word) or word in vars(builtins):
            word += "_"
        used.add(word)
        chosen[name] = word
    return chosen


class PythonWriter:
    """Writes trees with given Python names."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = {**names, PI: "sp.pi"}

    def text(self, node: Node) -> str:
        """A tree as an expression."""
        if isinstance(node, Symbol):
            return self.names[node.name]
        if isinstance(node, Call):
            return self._call(node)
        if isinstance(node, Product):
            return self._product(node)
        first, *rest = node.terms
        text = self.text(first)
        for term in rest:
            is_negative = isinstance(term, Product) and term.number < 0
            text += f" - {self._product(term, sign=-1)}" if is_negative else f" + {self.text(term)}"  # type: ignore[arg-type]
        return text

    def _call(self, node: Call) -> str:
        arguments = [self.text(argument) for argument in node.arguments]
        if node.name in WRITTEN:
            return WRITTEN[node.name].format(*arguments)
        name = f"sp.{node.name}" if node.name in PLAIN else RENAMED[node.name]
        return f"{name}({', '.join(arguments)})"

    def _product(self, node: Product, sign: int = 1) -> str:
        value = node.number * sign
        factors = [self._factor(base, exponent) for base, exponent in node.powers]
        if value == -1 and factors:
            return "-" + "*".join(factors)
        return "*".join(([] if value == 1 and factors else [_number(value)]) + factors)

    def _factor(self, base: Node, exponent: int) -> str:
        text = f"({self.text(base)})" if isinstance(base, Sum | Product) else self.text(base)
        return text if exponent == 1 else f"{text}**{exponent}" if exponent > 0 else f"{text}**({exponent})"


def _number(value: Fraction) -> str:
    if value.denominator == 1:
        return str(value.numerator)
    if value.denominator <= SIMPLE:
        return f"sp.Rational({value.numerator}, {value.denominator})"
    return repr(float(value))
