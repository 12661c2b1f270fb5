"""Expressions of translated Python: each gives the operand that holds its value and the lines that compute it.

Numbers mean what they mean in Python, but for what machine code does otherwise: whole numbers have 64 bits, and a
division by zero is infinite or not a number. Powers with a whole exponent are products. Nothing is contracted or
reordered: results are the same to the last bit, however the code is optimised.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from functools import reduce
from types import FunctionType, ModuleType
from typing import Any, Protocol

import numpy as np

from kalaba.errors import NativeError
from kalaba.native.elementary import symbol
from kalaba.native.kinds import (
    BOOL,
    FLOAT,
    INT,
    WORD,
    Bundle,
    Kind,
    Known,
    Nothing,
    Pointer,
    Record,
    Scalar,
    Value,
    constant,
    joined,
)
from kalaba.native.machine_code import call, call_loop, floats, integers

DECLARATIONS = f"""\
declare double @llvm.fabs.f64(double)
declare double @llvm.sqrt.f64(double)
declare i64 @llvm.abs.i64(i64, i1)
declare double @{symbol("pow")}(double, double) nounwind willreturn memory(none)"""

_ARITHMETIC = {
    ast.Add: ("add nsw", "fadd"),
    ast.Sub: ("sub nsw", "fsub"),
    ast.Mult: ("mul nsw", "fmul"),
    ast.Div: ("", "fdiv"),  # of whole numbers too it gives a fraction
}
_LOGIC = {ast.BitOr: "or", ast.BitAnd: "and", ast.BitXor: "xor"}
_ORDERED = {ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge"}
_SAME = {ast.Eq: ("icmp eq", "fcmp oeq"), ast.NotEq: ("icmp ne", "fcmp une")}


class Functions(Protocol):
    """The module that functions are written to."""

    def add(self, function: FunctionType, known: tuple[Known, ...]) -> tuple[str, tuple[Kind | None, ...], Kind]:
        """Write a function; give its name, the kinds of its arguments and that of its result."""
        ...


class Expressions:
    """The lines of one function so far, its variables, and how expressions are added."""

    def __init__(self, function: FunctionType, module: Functions, kinds: dict[str, Kind]) -> None:
        self.lines: list[str] = []
        self.kinds = kinds  # of variables that stand in memory of their own
        self.known: dict[str, Value] = {}  # variables that never change: records and what is known while writing
        self.is_stale = False  # a variable was given a kind too small for what it held later: write it all again
        self._globals, self._module = function.__globals__, module
        self._count = self._labels = 0

    def new(self, line: str) -> str:
        """Add a line that computes something; give its name."""
        self._count += 1
        name = f"%r{self._count}"
        self.lines.append(f"{name} = {line}")
        return name

    def label(self, what: str) -> str:
        """A name for a block."""
        self._labels += 1
        return f"{what}{self._labels}"

    def begin(self, label: str) -> None:
        """Begin a block."""
        self.lines.append(f"{label}:")

    def jump(self, label: str) -> None:
        """End a block."""
        self.lines.append(f"br label %{label}")

    def branch(self, test: ast.expr, then: str, otherwise: str) -> None:
        """End a block by a choice."""
        self.lines.append(f"br i1 {self.truth(self.value(test))}, label %{then}, label %{otherwise}")

    # Variables.

    def keep(self, name: str, value: Value) -> None:
        """Give a variable a value."""
        if isinstance(value.kind, Record | Known):
            self.known[name] = value
            return
        before = self.kinds.setdefault(name, value.kind)
        kind = joined(before, value.kind)
        self.is_stale |= kind != before
        self.kinds[name] = kind
        self.lines.append(f"store {kind.llvm} {self.converted(value, kind)}, ptr %v.{name}")

    def named(self, name: str) -> Value:
        """The value of a variable, of the function or its module."""
        if name in self.known:
            return self.known[name]
        if name in self.kinds:
            kind = self.kinds[name]
            return Value(kind, self.new(f"load {kind.llvm}, ptr %v.{name}"))
        value = self._globals[name] if name in self._globals else getattr(builtins, name)
        return _outside(value)

    def converted(self, value: Value, kind: Kind) -> str:
        """An operand as one of another kind that can hold it."""
        if value.kind == kind:
            return value.text
        if not (isinstance(value.kind, Scalar) and isinstance(kind, Scalar)) or kind.rank < value.kind.rank:
            raise NativeError(f"{value.kind} cannot be taken as {kind}")
        if kind is FLOAT:
            return self.new(f"{'uitofp' if value.kind is BOOL else 'sitofp'} {value.kind.llvm} {value.text} to double")
        return self.new(f"zext i1 {value.text} to i64")

    def truth(self, value: Value) -> str:
        """An operand as a truth value."""
        if value.kind is BOOL:
            return value.text
        if value.kind is INT:
            return self.new(f"icmp ne i64 {value.text}, 0")
        raise NativeError(f"{value.kind} is neither true nor false")

    # Expressions.

    def value(self, node: ast.expr) -> Value:
        """Add the lines of an expression."""
        write = _WRITTEN.get(type(node))
        if write is None:
            raise unknown(node)
        return write(self, node)

    def _constant(self, node: ast.Constant) -> Value:
        if not isinstance(node.value, bool | int | float):
            raise unknown(node)
        return constant(node.value)

    def _tuple(self, node: ast.Tuple) -> Value:
        parts = [self.value(part) for part in node.elts]
        kind, text = Bundle(tuple(part.kind for part in parts)), "undef"
        for index, part in enumerate(parts):
            text = self.new(f"insertvalue {kind.llvm} {text}, {part.kind.llvm} {part.text}, {index}")
        return Value(kind, text)

    def place(self, node: ast.Attribute | ast.Subscript) -> tuple[Scalar, str]:
        """The kind of a field or an entry, and where it stands."""
        of = self.value(node.value)
        if isinstance(node, ast.Attribute) and isinstance(of.kind, Record):
            offset, kind = of.kind.place(node.attr)
            return kind, self.new(f"getelementptr inbounds i8, ptr {of.text}, i64 {offset}")
        if isinstance(node, ast.Subscript) and isinstance(of.kind, Pointer):
            index = self.converted(self.value(node.slice), INT)
            return of.kind.to, self.new(f"getelementptr inbounds {of.kind.to.llvm}, ptr {of.text}, i64 {index}")
        raise unknown(node)

    def _element(self, node: ast.Attribute | ast.Subscript) -> Value:
        if isinstance(node, ast.Attribute):
            of = self.value(node.value)
            if isinstance(of.kind, Known) and isinstance(of.kind.value, ModuleType):
                return _outside(getattr(of.kind.value, node.attr))
        kind, place = self.place(node)
        return Value(kind, self.new(f"load {kind.llvm}, ptr {place}, align {WORD}"))

    def parts(self, value: Value) -> list[Value]:
        """The parts of a tuple."""
        if not isinstance(value.kind, Bundle):
            raise NativeError(f"{value.kind} has no parts")
        return [
            Value(kind, self.new(f"extractvalue {value.kind.llvm} {value.text}, {index}"))
            for index, kind in enumerate(value.kind.parts)
        ]

    def operation(self, op: ast.operator, left: Value, right: Value) -> Value:
        """Add the lines of an operation of two numbers."""
        if isinstance(op, ast.Pow):
            return self._power(left, right)
        if type(op) in _LOGIC and left.kind is right.kind is BOOL:
            return Value(BOOL, self.new(f"{_LOGIC[type(op)]} i1 {left.text}, {right.text}"))
        kind = FLOAT if isinstance(op, ast.Div) else joined(joined(left.kind, right.kind), INT)
        x, y = self.converted(left, kind), self.converted(right, kind)
        if type(op) in _ARITHMETIC:
            return Value(kind, self.new(f"{_ARITHMETIC[type(op)][kind is FLOAT]} {kind.llvm} {x}, {y}"))
        if isinstance(op, ast.FloorDiv | ast.Mod) and kind is INT:
            return self._floored(op, x, y)
        raise NativeError(f"machine code knows no {type(op).__name__} of {left.kind} and {right.kind}")

    def _floored(self, op: ast.operator, x: str, y: str) -> Value:
        """X // y or x % y, rounded downwards as in Python."""
        rest = self.new(f"srem i64 {x}, {y}")
        signs = self.new(f"xor i64 {rest}, {y}")
        differ, left = self.new(f"icmp slt i64 {signs}, 0"), self.new(f"icmp ne i64 {rest}, 0")
        below = self.new(f"and i1 {differ}, {left}")
        if isinstance(op, ast.Mod):
            return Value(INT, self.new(f"add i64 {rest}, {self.new(f'select i1 {below}, i64 {y}, i64 0')}"))
        whole = self.new(f"sdiv i64 {x}, {y}")
        return Value(INT, self.new(f"sub i64 {whole}, {self.converted(Value(BOOL, below), INT)}"))

    def _power(self, base: Value, exponent: Value) -> Value:
        if exponent.kind is INT and exponent.text.isdecimal() and int(exponent.text) > 0:
            result, factor, left = None, base, int(exponent.text)
            while left:
                if left & 1:
                    result = factor if result is None else self.operation(ast.Mult(), result, factor)
                left >>= 1
                if left:
                    factor = self.operation(ast.Mult(), factor, factor)
            return result or base
        x, y = self.converted(base, FLOAT), self.converted(exponent, FLOAT)
        return Value(FLOAT, self.new(f"call double @{symbol('pow')}(double {x}, double {y})"))

    def _unary(self, node: ast.UnaryOp) -> Value:
        op, operand = node.op, self.value(node.operand)
        if isinstance(op, ast.Not):
            return Value(BOOL, self.new(f"xor i1 {self.truth(operand)}, true"))
        if isinstance(op, ast.USub):
            if operand.kind is FLOAT:
                return Value(FLOAT, self.new(f"fneg double {operand.text}"))
            if operand.text.isdecimal():
                return constant(-int(operand.text))
            return self.operation(ast.Sub(), constant(0), operand)
        raise unknown(node)

    def _compared(self, node: ast.Compare) -> Value:
        """A comparison, or several in a row; all of them are computed, since none has effects."""
        values = [self.value(side) for side in (node.left, *node.comparators)]
        found = [self._relation(op, *pair) for op, *pair in zip(node.ops, values[:-1], values[1:], strict=True)]
        return Value(BOOL, reduce(lambda x, y: self.new(f"and i1 {x}, {y}"), found))

    def _relation(self, op: ast.cmpop, left: Value, right: Value) -> str:
        kind = joined(left.kind, right.kind)
        x, y = self.converted(left, kind), self.converted(right, kind)
        if type(op) in _SAME:
            how = _SAME[type(op)][kind is FLOAT]
        elif type(op) in _ORDERED and kind is not BOOL:
            how = f"fcmp o{_ORDERED[type(op)]}" if kind is FLOAT else f"icmp s{_ORDERED[type(op)]}"
        else:
            raise NativeError(f"machine code knows no {type(op).__name__} of {left.kind} and {right.kind}")
        return self.new(f"{how} {kind.llvm} {x}, {y}")

    def _either(self, node: ast.BoolOp) -> Value:
        """`and` and `or`: what follows is computed only where it decides."""
        result, done = self.label("both."), self.label("decided")
        for index, part in enumerate(node.values):
            self.keep(result, Value(BOOL, self.truth(self.value(part))))
            if index < len(node.values) - 1:
                following, so_far = self.label("next"), self.truth(self.named(result))
                labels = (following, done) if isinstance(node.op, ast.And) else (done, following)
                self.lines.append(f"br i1 {so_far}, label %{labels[0]}, label %{labels[1]}")
                self.begin(following)
        self.jump(done)
        self.begin(done)
        return self.named(result)

    def _chosen(self, node: ast.IfExp) -> Value:
        result, then, otherwise, done = (self.label(what) for what in ("one.", "then", "else", "chosen"))
        self.branch(node.test, then, otherwise)
        for label, side in ((then, node.body), (otherwise, node.orelse)):
            self.begin(label)
            self.keep(result, self.value(side))
            self.jump(done)
        self.begin(done)
        return self.named(result)

    def _called(self, node: ast.Call) -> Value:
        function = self.value(node.func)
        if not isinstance(function.kind, Known) or node.keywords:
            raise unknown(node)
        called, arguments = function.kind.value, [self.value(argument) for argument in node.args]
        if called in _OWN:
            return _OWN[called](self, *arguments)
        name, kinds, result = self._module.add(called, tuple(a.kind for a in arguments if isinstance(a.kind, Known)))
        pairs = [(kind, value) for kind, value in zip(kinds, arguments, strict=True) if kind is not None]
        operands = ", ".join(f"{kind.llvm} {self.converted(value, kind)}" for kind, value in pairs)
        line = f'call {result.llvm} @"{name}"({operands})'
        if isinstance(result, Nothing):
            self.lines.append(line)
            return Value(result, "")
        return Value(result, self.new(line))

    # What is written in place.

    def _extreme(self, order: type[ast.cmpop], *values: Value) -> Value:
        """The largest or smallest: a later one where it is beyond those before, as Python has it for NaN."""

        def further(one: Value, other: Value) -> Value:
            kind = joined(one.kind, other.kind)
            x, y = Value(kind, self.converted(one, kind)), Value(kind, self.converted(other, kind))
            beyond = self._relation(order(), y, x)
            return Value(kind, self.new(f"select i1 {beyond}, {kind.llvm} {y.text}, {kind.llvm} {x.text}"))

        return reduce(further, values)

    def _size(self, value: Value) -> Value:
        if value.kind is FLOAT:
            return Value(FLOAT, self.new(f"call double @llvm.fabs.f64(double {value.text})"))
        return Value(INT, self.new(f"call i64 @llvm.abs.i64(i64 {self.converted(value, INT)}, i1 true)"))

    def _root(self, value: Value) -> Value:
        return Value(FLOAT, self.new(f"call double @llvm.sqrt.f64(double {self.converted(value, FLOAT)})"))

    def _float(self, value: Value) -> Value:
        return Value(FLOAT, self.converted(value, FLOAT))

    def _int(self, value: Value) -> Value:
        return Value(INT, self.new(f"fptosi double {value.text} to i64") if value.kind is FLOAT else value.text)

    def _array(self, of: Scalar, address: Value) -> Value:
        return Value(Pointer(of), self.new(f"inttoptr i64 {address.text} to ptr"))

    def _kernel(self, *addresses: Value) -> Value:
        code, *data = (self.new(f"inttoptr i64 {address.text} to ptr") for address in addresses)
        self.lines.append(f"call void {code}({', '.join(f'ptr {where}' for where in data)})")
        return Value(Nothing(), "")

    def _loop(self, loop: Value, record: Value, until: Value, limit: Value) -> Value:
        if not isinstance(record.kind, Record):
            raise NativeError(f"a loop works on a record, not on {record.kind}")
        code = self.new(f"inttoptr i64 {loop.text} to ptr")
        rest = f"double {self.converted(until, FLOAT)}, i64 {self.converted(limit, INT)}"
        self.lines.append(f"call void {code}(ptr {record.text}, {rest})")
        return Value(Nothing(), "")


def _outside(value: Any) -> Value:  # noqa: ANN401  (anything that a module has)
    """A number, a function or a module that code reads from its module."""
    is_number = isinstance(value, bool | int | float)
    return constant(value) if is_number else Value(Known(value), "")


def unknown(node: ast.AST) -> NativeError:
    """The error that something of Python cannot be translated."""
    return NativeError(f"machine code cannot be made from: {ast.unparse(node)}")


_OWN: dict[Any, Callable[..., Value]] = {
    max: lambda code, *values: code._extreme(ast.Gt, *values),  # noqa: SLF001
    min: lambda code, *values: code._extreme(ast.Lt, *values),  # noqa: SLF001
    abs: Expressions._size,  # noqa: SLF001
    np.sqrt: Expressions._root,  # noqa: SLF001
    float: Expressions._float,  # noqa: SLF001
    int: Expressions._int,  # noqa: SLF001
    floats: lambda code, address: code._array(FLOAT, address),  # noqa: SLF001
    integers: lambda code, address: code._array(INT, address),  # noqa: SLF001
    call: Expressions._kernel,  # noqa: SLF001
    call_loop: Expressions._loop,  # noqa: SLF001
}

_WRITTEN: dict[type[ast.expr], Callable[..., Value]] = {
    ast.Constant: Expressions._constant,  # noqa: SLF001
    ast.Name: lambda code, node: code.named(node.id),
    ast.Tuple: Expressions._tuple,  # noqa: SLF001
    ast.Attribute: Expressions._element,  # noqa: SLF001
    ast.Subscript: Expressions._element,  # noqa: SLF001
    ast.BinOp: lambda code, node: code.operation(node.op, code.value(node.left), code.value(node.right)),
    ast.UnaryOp: Expressions._unary,  # noqa: SLF001
    ast.Compare: Expressions._compared,  # noqa: SLF001
    ast.BoolOp: Expressions._either,  # noqa: SLF001
    ast.IfExp: Expressions._chosen,  # noqa: SLF001
    ast.Call: Expressions._called,  # noqa: SLF001
}
