"""Slips made at random: one wrong token at a time in the rooms where a run is computed.

`python tests/mutations/draw.py SEED COUNT` lists them. A draw depends on the seed and on the sources alone. Text for
people (docstrings, messages of errors), annotations and imports are left alone; at most one slip is drawn per function.
A slip that changes no behaviour, such as another starting value of a search that converges anyway, is to be judged by
reading; the rest are for the tests.
"""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "src" / "kalaba"
ROOMS = ("constrain", "run", "compiled", "steppers", "plant", "control")

COMPARED = {ast.Lt: "<=", ast.LtE: "<", ast.Gt: ">=", ast.GtE: ">", ast.Eq: "!=", ast.NotEq: "=="}
OTHER = {ast.Add: "-", ast.Sub: "+", ast.Mult: "/", ast.Div: "*"}
SYMBOLS = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/"}
EXCHANGED = {"min": "max", "max": "min", "any": "all", "all": "any", "minimum": "maximum", "maximum": "minimum",
             "sin": "cos", "cos": "sin", "append": "extend", "vertcat": "horzcat"}  # fmt: skip
# Exchanging one of these with its neighbour, or dividing within an index, fails wherever it is first called: too easy.
OTHER_TYPES = {"plant", "memory", "self", "equations", "problem", "state", "task", "run", "motions", "path", "servo"}
OF_TYPES = {"isinstance", "map", "getattr", "setattr", "positive", "replace", "checked", "zip"}
FOR_PEOPLE = (ast.Raise, ast.JoinedStr, ast.AnnAssign, ast.Import, ast.ImportFrom, ast.Assert)


@dataclass(frozen=True)
class Random:
    """One replaced piece of a file: characters from `start` to `stop` become `after`."""

    file: str
    line: int
    function: str
    kind: str
    start: int
    stop: int
    before: str
    after: str

    def __str__(self) -> str:
        return (
            f"{self.file}:{self.line} [{self.kind}] {' '.join(self.before.split())}  →  {' '.join(self.after.split())}"
        )


def drawn(seed: int, count: int) -> list[Random]:
    """Draw slips, at most one per function."""
    sites = [site for room in ROOMS for path in sorted((PACKAGE / room).rglob("*.py")) for site in slips_of(path)]
    random.Random(seed).shuffle(sites)
    chosen: dict[tuple[str, str], Random] = {}
    for site in sites:
        chosen.setdefault((site.file, site.function), site)
    return list(chosen.values())[:count]


def slips_of(path: Path) -> Iterator[Random]:
    """List every slip that can be made in the functions of a file."""
    text = path.read_text(encoding="utf-8")
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line.encode()))
    raw = text.encode()

    def place(node: ast.AST) -> tuple[int, int]:
        return starts[node.lineno - 1] + node.col_offset, starts[node.end_lineno - 1] + node.end_col_offset

    def source(node: ast.AST) -> str:
        first, last = place(node)
        return raw[first:last].decode()

    for function in functions(ast.parse(text)):
        indices = within_indices(function)
        for node in live(function):
            for kind, after in changes(node, source):
                if node in indices and isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
                    continue
                start, stop = place(node)
                yield Random(str(path.relative_to(PACKAGE)), node.lineno, f"{function.name}:{function.lineno}",
                             kind, start, stop, source(node), after)  # fmt: skip


def functions(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    return (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))


def live(function: ast.FunctionDef) -> Iterator[ast.AST]:
    """Give the nodes of a function's body, inner functions and text for people left out."""
    waiting: list[ast.AST] = list(function.body)
    while waiting:
        node = waiting.pop()
        is_text = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
        if is_text or isinstance(node, (*FOR_PEOPLE, ast.FunctionDef)):
            continue
        yield node
        waiting += list(ast.iter_child_nodes(node))


def within_indices(function: ast.FunctionDef) -> set[ast.AST]:
    """Give the nodes that count places of an array."""
    slices = [node.slice for node in ast.walk(function) if isinstance(node, ast.Subscript)]
    return {inner for index in slices for inner in ast.walk(index)}


def are_alike(called: str, first: ast.AST, second: ast.AST) -> bool:
    """Tell if two arguments may be exchanged without another type in either place, as far as can be seen."""
    names = {node.id for node in (first, second) if isinstance(node, ast.Name)}
    texts = any(isinstance(node, ast.Constant | ast.JoinedStr | ast.Starred | ast.Lambda) for node in (first, second))
    return not (texts or names & OTHER_TYPES or called.rpartition(".")[2] in OF_TYPES)


def changes(  # noqa: C901, PLR0912  (one case per kind of slip)
    node: ast.AST, source: Callable[[ast.AST], str]
) -> Iterator[tuple[str, str]]:
    """Give the wrong texts that may stand in a node's place."""
    match node:
        case ast.Compare(ops=[op], left=left, comparators=[right]) if type(op) in COMPARED:
            yield "comparison", f"{source(left)} {COMPARED[type(op)]} {source(right)}"
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OTHER:
            # parentheses keep what belonged together: the operands' own are not part of their places
            yield "operator", f"({source(left)}) {OTHER[type(op)]} ({source(right)})"
            yield "dropped", source(left)
            if isinstance(op, ast.Sub | ast.Div):
                yield "swapped", f"({source(right)}) {SYMBOLS[type(op)]} ({source(left)})"
        case ast.UnaryOp(op=ast.USub() | ast.Not(), operand=operand):
            yield "sign", f"({source(operand)})"
        case ast.BoolOp(op=op, values=values):
            word = " or " if isinstance(op, ast.And) else " and "
            yield "and/or", word.join(f"({source(value)})" for value in values)
            yield "clause", f"({source(values[0])})"
            yield "clause", f"({source(values[-1])})"
        case ast.Constant(value=float(value)) if value != 0.0:
            yield "constant", repr(value * 0.5)
        case ast.Subscript(value=value, slice=ast.Constant(value=int(index))) if index is not True:
            yield "index", f"{source(value)}[{index + 1 if index >= 0 else index - 1}]"
        case ast.Call(func=called, args=[first, second, *others], keywords=words) if are_alike(
            source(called), first, second
        ):
            rest = [source(argument) for argument in (second, first, *others, *words)]
            yield "arguments", f"{source(called)}({', '.join(rest)})"
        case ast.Name(id=name) | ast.Attribute(attr=name) if name in EXCHANGED:
            yield "function", source(node)[: -len(name)] + EXCHANGED[name]
        case ast.IfExp(test=test, body=body, orelse=other):
            yield "branches", f"{source(other)} if {source(test)} else {source(body)}"
        case ast.Call(func=ast.Name(id="range"), args=[bound]):
            yield "index", f"range({source(bound)} - 1)"
        case ast.AugAssign(target=target, op=op, value=value):
            if type(op) in OTHER:
                yield "operator", f"{source(target)} {OTHER[type(op)]}= {source(value)}"
            yield "statement", "pass"
        case ast.Expr(value=ast.Call()):
            yield "statement", "pass"
        case ast.Assign(targets=[ast.Subscript() | ast.Attribute()]):
            yield "statement", "pass"
        case ast.Dict(keys=[ast.Constant(value=str(first)), ast.Constant(value=str(second)), *_]):
            yield (
                "key",
                source(node)
                .replace(repr(first).replace("'", '"'), "\0")
                .replace(repr(second).replace("'", '"'), repr(first))
                .replace("\0", repr(second)),
            )
        case ast.Break():
            yield "statement", "pass"
        case ast.Continue():
            yield "statement", "break"


if __name__ == "__main__":
    for number, slip in enumerate(drawn(int(sys.argv[1]), int(sys.argv[2])), start=1):
        print(f"{number:3d}  {slip}")  # noqa: T201
