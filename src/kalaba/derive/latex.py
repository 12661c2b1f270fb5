r"""Equations in print: a CasADi expression as LaTeX, common parts named and listed.

Every value that is used more than once and is not a symbol gets a name s_k; the entries are then written in these
names, so that the output stays readable and, put into numbers line by line, gives what the expression gives.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import casadi as ca

GREEK = (
    *("alpha", "beta", "gamma", "delta", "epsilon", "zeta", "eta", "theta", "kappa", "lambda", "mu", "nu", "xi", "rho"),
    *("sigma", "tau", "phi", "chi", "psi", "omega"),
)
WORD = re.compile(r"([A-Za-z]+)_?(\d*)$")
SUM, PRODUCT, POWER, ATOM = range(4)  # how tightly a piece of text binds

_CALLS = {ca.OP_SIN: r"\sin", ca.OP_COS: r"\cos", ca.OP_TAN: r"\tan", ca.OP_EXP: r"\exp", ca.OP_LOG: r"\log"}
_CALLS |= {ca.OP_ASIN: r"\arcsin", ca.OP_ACOS: r"\arccos", ca.OP_ATAN: r"\arctan", ca.OP_SINH: r"\sinh"}
_CALLS |= {ca.OP_COSH: r"\cosh", ca.OP_TANH: r"\tanh", ca.OP_SIGN: r"\operatorname{sign}"}
_PAIRS = {ca.OP_FMIN: r"\min", ca.OP_FMAX: r"\max", ca.OP_ATAN2: r"\operatorname{atan2}"}


def symbol(name: str) -> str:
    r"""A dotted name as a LaTeX symbol: left.theta1 → \theta_{1}^{\mathrm{left}}, rate(x) → \dot{x}."""
    if name.startswith("rate(") and name.endswith(")"):
        return rf"\dot{{{symbol(name[5:-1])}}}"
    path, _, last = name.rpartition(".")
    found = WORD.match(last)
    word, index = found.groups() if found else (last, "")
    text = rf"\{word}" if word in GREEK else (word if len(word) == 1 else rf"\mathrm{{{word}}}".replace("_", r"\_"))
    text += f"_{{{index}}}" if index else ""
    return text + (rf"^{{\mathrm{{{path}}}}}".replace("_", r"\_") if path else "")


@dataclass(frozen=True)
class _Text:
    text: str
    binding: int

    def at(self, least: int) -> str:
        """The text, in parentheses if it binds more loosely than asked."""
        return self.text if self.binding >= least else rf"\left({self.text}\right)"


def latex(name: str, expression: ca.SX, symbols: ca.SX) -> str:
    """One `align*` environment: the named common parts, then every entry of the expression that is not zero."""
    function = ca.Function("printed", [symbols], [ca.densify(ca.cse(expression))])
    names = [symbol(symbols[i].name()) for i in range(symbols.shape[0])]
    lines, entries = _Printer(function, names).run()
    rows, columns = expression.shape
    for index, entry in enumerate(entries):
        if entry.text != "0":
            place = f"{index % rows + 1}" if columns == 1 else f"{index % rows + 1},{index // rows + 1}"
            lines.append(rf"{symbol(name)}_{{{place}}} &= {entry.text}")
    body = " \\\\\n".join(lines)
    return f"\\begin{{align*}}\n{body}\n\\end{{align*}}"


class _Printer:
    """Walks the instruction list of a function of one vector."""

    def __init__(self, function: ca.Function, names: list[str]) -> None:
        self.function, self.names = function, names
        self.slots: dict[int, _Text] = {}
        self.lines: list[str] = []
        self.entries = [_Text("0", ATOM)] * function.numel_out(0)
        self.uses = self._count()

    def _count(self) -> list[int]:
        """How often the value of each instruction is used."""
        made_by: dict[int, int] = {}
        uses: Counter[int] = Counter()
        for k in range(self.function.n_instructions()):
            if self.function.instruction_id(k) not in {ca.OP_INPUT, ca.OP_CONST}:
                uses.update(made_by[slot] for slot in self.function.instruction_input(k))
            if self.function.instruction_id(k) != ca.OP_OUTPUT:
                made_by[self.function.instruction_output(k)[0]] = k
        return [uses[k] for k in range(self.function.n_instructions())]

    def run(self) -> tuple[list[str], list[_Text]]:
        for k in range(self.function.n_instructions()):
            op, inputs = self.function.instruction_id(k), self.function.instruction_input(k)
            outputs = self.function.instruction_output(k)
            if op == ca.OP_OUTPUT:
                self.entries[outputs[1]] = self.slots[inputs[0]]
                continue
            text = self._value(k, op, inputs)
            if self.uses[k] > 1 and text.binding < ATOM:
                label = f"s_{{{len(self.lines) + 1}}}"
                self.lines.append(f"{label} &= {text.text}")
                text = _Text(label, ATOM)
            self.slots[outputs[0]] = text
        return self.lines, self.entries

    def _value(self, k: int, op: int, inputs: list[int]) -> _Text:
        if op == ca.OP_INPUT:
            return _Text(self.names[inputs[1]], ATOM)
        if op == ca.OP_CONST:
            value = self.function.instruction_constant(k)
            return _Text(_number(value), ATOM if value >= 0 else SUM)
        return _operation(op, *(self.slots[slot] for slot in inputs))


def _number(value: float) -> str:
    if value == int(value) and abs(value) < 1e6:
        return str(int(value))
    mantissa, _, exponent = repr(value).partition("e")
    return rf"{mantissa}\cdot 10^{{{int(exponent)}}}" if exponent else mantissa


def _operation(op: int, a: _Text, b: _Text | None = None) -> _Text:
    """The text of one operation."""
    if b is None or op in {ca.OP_SQ, ca.OP_TWICE}:
        return _unary(op, a)
    plain = {
        ca.OP_ADD: (rf"{a.at(SUM)} + {b.at(PRODUCT)}", SUM),
        ca.OP_SUB: (rf"{a.at(SUM)} - {b.at(PRODUCT)}", SUM),
        ca.OP_MUL: (rf"{a.at(PRODUCT)}\,{b.at(PRODUCT)}", PRODUCT),
        ca.OP_DIV: (rf"\frac{{{a.text}}}{{{b.text}}}", PRODUCT),
        ca.OP_POW: (rf"{{{a.at(ATOM)}}}^{{{b.text}}}", POWER),
        ca.OP_CONSTPOW: (rf"{{{a.at(ATOM)}}}^{{{b.text}}}", POWER),
    }
    if op in plain:
        return _Text(*plain[op])
    call = _PAIRS.get(op, rf"\operatorname{{op}}_{{{op}}}")
    return _Text(rf"{call}\left({a.text}, {b.text}\right)", POWER)


def _unary(op: int, a: _Text) -> _Text:
    plain = {
        ca.OP_NEG: (f"-{a.at(PRODUCT)}", SUM),
        ca.OP_SQ: (f"{{{a.at(ATOM)}}}^{{2}}", POWER),
        ca.OP_TWICE: (rf"2\,{a.at(PRODUCT)}", PRODUCT),
        ca.OP_INV: (rf"\frac{{1}}{{{a.text}}}", PRODUCT),
        ca.OP_SQRT: (rf"\sqrt{{{a.text}}}", POWER),
        ca.OP_FABS: (rf"\left|{a.text}\right|", POWER),
        ca.OP_ASSIGN: (a.text, a.binding),
    }
    if op in plain:
        return _Text(*plain[op])
    return _Text(rf"{_CALLS.get(op, rf'f_{{{op}}}')}\left({a.text}\right)", POWER)
