"""Functions of Python as functions of LLVM's language: what loops in machine code are written in.

The functions know numbers, arrays and records by their addresses, and each other; they do not allocate. Arguments and
results are annotated. A variable takes the kind of what it is given: a whole number and a floating-point number make it
floating-point. Statements are assignments, `if`, `while`, `for` over `range` or a tuple, `break`, `continue`, `return`.
"""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType

from kalaba.errors import NativeError
from kalaba.native.kinds import INT, Kind, Known, Nothing, Record, Value, constant, kind_of
from kalaba.native.machine_code import MARKED
from kalaba.native.translated_expressions import DECLARATIONS, Expressions, unknown

Signature = tuple[str, tuple[Kind | None, ...], Kind]


def module_text(entry: FunctionType, name: str) -> str:
    """A function and all that it calls as a module, in which it has the name given."""
    module = _Module()
    called, kinds, _ = module.add(entry, ())
    given = ", ".join(f"{kind.llvm} %a{index}" for index, kind in enumerate(kinds) if kind is not None)
    head = f'define void @{name}({given}) nounwind {{\ncall void @"{called}"({given})\nret void\n}}'
    return "\n".join([DECLARATIONS, *module.texts, head])


class _Module:
    """Functions by their names, each written once, and once more for other functions handed to it."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._signatures: dict[tuple[FunctionType, tuple[Known, ...]], Signature] = {}

    def add(self, function: FunctionType, known: tuple[Known, ...]) -> Signature:
        if function not in MARKED:
            raise NativeError(f"machine code cannot call {function!r}; mark it with @compiled")
        key = function, known
        if key not in self._signatures:
            annotations = inspect.get_annotations(function, eval_str=True)
            *parameters, result = (kind_of(annotations[name]) for name in (*_parameters(function), "return"))
            if result is None:
                raise NativeError(f"{function.__qualname__} cannot give a function")
            name = f"{function.__module__}.{function.__qualname__}.{len(self._signatures)}"
            self._signatures[key] = name, tuple(parameters), result
            self.texts.append(_function_text(function, self, self._signatures[key], known))
        return self._signatures[key]


def _parameters(function: FunctionType) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _function_text(function: FunctionType, module: _Module, signature: Signature, known: tuple[Known, ...]) -> str:
    """Write a function, again until every variable has the kind that holds all it is given."""
    tree, first = _source(function)
    kinds: dict[str, Kind] = {}
    while True:
        code = _Statements(function, module, kinds, signature[2])
        code.take_arguments(_parameters(function), signature[1], known)
        try:
            code.add(tree.body)
        except NativeError as error:
            raise NativeError(f"{function.__qualname__}, line {first + code.line - 1}: {error}") from error
        if not code.is_stale:
            break
    return code.text(signature)


def _source(function: FunctionType) -> tuple[ast.FunctionDef, int]:
    """The statements of a function, from its file, and its first line there."""
    code, (file, _), (lines, first) = function.__code__, inspect.findsource(function), inspect.getsourcelines(function)
    (tree,) = ast.parse(textwrap.dedent("".join(lines))).body
    now = _codes("".join(file)).get((code.co_name, code.co_firstlineno))
    is_same = now is not None and (now.co_code, now.co_names, now.co_consts) == (
        code.co_code,
        code.co_names,
        code.co_consts,
    )
    if not isinstance(tree, ast.FunctionDef) or not is_same:
        raise NativeError(f"{code.co_filename} has changed since it was imported; start Python anew")
    return tree, first


@functools.cache
def _codes(text: str) -> dict[tuple[str, int], CodeType]:
    """The functions of a file as Python would compile them now, by their names and first lines."""
    whole = compile(text, "", "exec", dont_inherit=True)
    parts = [part for part in whole.co_consts if isinstance(part, CodeType)]
    return {(part.co_name, part.co_firstlineno): part for part in parts}


class _Statements(Expressions):
    """The lines of a function, statement by statement."""

    def __init__(self, function: FunctionType, module: _Module, kinds: dict[str, Kind], result: Kind) -> None:
        super().__init__(function, module, kinds)
        self.line = 0  # of the statement under way
        self._result = result
        self._loops: list[tuple[str, str]] = []  # where `continue` and `break` go

    def take_arguments(self, names: Sequence[str], kinds: Sequence[Kind | None], known: Sequence[Known]) -> None:
        """Give the arguments their names."""
        functions = iter(known)
        for index, (name, kind) in enumerate(zip(names, kinds, strict=True)):
            self.keep(name, Value(next(functions), "") if kind is None else Value(kind, f"%a{index}"))

    def text(self, signature: Signature) -> str:
        """The whole function; each variable has a place of its own, which LLVM turns into registers."""
        name, kinds, result = signature
        arguments = ", ".join(
            f"{kind.llvm} {'noalias ' if isinstance(kind, Record) else ''}%a{index}"
            for index, kind in enumerate(kinds)
            if kind is not None
        )
        places = [f"%v.{variable} = alloca {kind.llvm}" for variable, kind in self.kinds.items()]
        end = "ret void" if isinstance(result, Nothing) else "unreachable"
        head = f'define internal {result.llvm} @"{name}"({arguments}) nounwind {{'
        return "\n".join([head, *places, *self.lines, end, "}"])

    def add(self, statements: Sequence[ast.stmt]) -> None:
        """Add the lines of statements."""
        for node in statements:
            self.line = node.lineno
            self._statement(node)

    def _statement(self, node: ast.stmt) -> None:
        write = _WRITTEN.get(type(node))
        if write is None:
            raise unknown(node)
        write(self, node)

    def _expression(self, node: ast.Expr) -> None:
        if not (isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)):  # documentation
            self.value(node.value)

    def _assignment(self, node: ast.Assign) -> None:
        given = self.value(node.value)
        for target in node.targets:
            self._assign(target, given)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is None:
            raise unknown(node)
        self._assign(node.target, self.value(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        self._assign(node.target, self.operation(node.op, self.value(node.target), self.value(node.value)))

    def _assign(self, target: ast.expr, given: Value) -> None:
        if isinstance(target, ast.Name):
            self.keep(target.id, given)
        elif isinstance(target, ast.Tuple):
            for part, value in zip(target.elts, self.parts(given), strict=True):
                self._assign(part, value)
        elif isinstance(target, ast.Attribute | ast.Subscript):
            kind, place = self.place(target)
            self.lines.append(f"store {kind.llvm} {self.converted(given, kind)}, ptr {place}, align 8")
        else:
            raise unknown(target)

    def _if(self, node: ast.If) -> None:
        then, otherwise, done = self.label("then"), self.label("else"), self.label("endif")
        self.branch(node.test, then, otherwise)
        for label, statements in ((then, node.body), (otherwise, node.orelse)):
            self.begin(label)
            self.add(statements)
            self.jump(done)
        self.begin(done)

    def _while(self, node: ast.While) -> None:
        head, inside, done = self.label("while"), self.label("do"), self.label("done")
        self.jump(head)
        self.begin(head)
        self.branch(node.test, inside, done)
        self.begin(inside)
        self._repeated(node, head, done)
        self.begin(done)

    def _repeated(self, loop: ast.While | ast.For, following: str, done: str) -> None:
        """The body of a loop, and what comes after it: the next round."""
        if loop.orelse:
            raise unknown(loop)
        self._loops.append((following, done))
        self.add(loop.body)
        self._loops.pop()
        self.jump(following)

    def _for(self, node: ast.For) -> None:
        match node.iter:
            case ast.Tuple(elts=parts):
                self._for_each(node, parts)
            case ast.Call(func=ast.Name(id="range"), args=bounds):
                self._for_range(node, bounds)
            case _:
                raise unknown(node.iter)

    def _for_each(self, node: ast.For, parts: Sequence[ast.expr]) -> None:
        """A loop over what is written out: its body is written as often."""
        done = self.label("done")
        for part in parts:
            following = self.label("next")
            self._assign(node.target, self.value(part))
            self._repeated(node, following, done)
            self.begin(following)
        self.jump(done)
        self.begin(done)

    def _for_range(self, node: ast.For, bounds: Sequence[ast.expr]) -> None:
        given = [self.value(bound) for bound in bounds]
        first, last = given[:2] if len(given) > 1 else (constant(0), given[0])
        step = given[2] if len(given) > 2 else constant(1)
        head, inside, following, done = (self.label(what) for what in ("for", "do", "next", "done"))
        counter = self.label("k.")
        self.keep(counter, first)
        self.jump(head)
        self.begin(head)
        at = self.named(counter).text
        order = "sgt" if step.text.startswith("-") else "slt"
        more = self.new(f"icmp {order} i64 {at}, {last.text}")
        self.lines.append(f"br i1 {more}, label %{inside}, label %{done}")
        self.begin(inside)
        self._assign(node.target, Value(INT, at))
        self._repeated(node, following, done)
        self.begin(following)
        self.keep(counter, Value(INT, self.new(f"add nsw i64 {self.named(counter).text}, {step.text}")))
        self.jump(head)
        self.begin(done)

    def _return(self, node: ast.Return) -> None:
        if node.value is None:
            self.lines.append("ret void")
        else:
            self.lines.append(f"ret {self._result.llvm} {self.converted(self.value(node.value), self._result)}")
        self.begin(self.label("never"))

    def _leave(self, node: ast.Continue | ast.Break) -> None:
        self.jump(self._loops[-1][isinstance(node, ast.Break)])
        self.begin(self.label("never"))


_WRITTEN: dict[type[ast.stmt], Callable[..., None]] = {
    ast.Expr: _Statements._expression,  # noqa: SLF001
    ast.Assign: _Statements._assignment,  # noqa: SLF001
    ast.AnnAssign: _Statements._annotated,  # noqa: SLF001
    ast.AugAssign: _Statements._augmented,  # noqa: SLF001
    ast.If: _Statements._if,  # noqa: SLF001
    ast.While: _Statements._while,  # noqa: SLF001
    ast.For: _Statements._for,  # noqa: SLF001
    ast.Return: _Statements._return,  # noqa: SLF001
    ast.Continue: _Statements._leave,  # noqa: SLF001
    ast.Break: _Statements._leave,  # noqa: SLF001
}
