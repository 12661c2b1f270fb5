"""The source of kalaba as text and syntax trees."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2] / "src" / "kalaba"


@dataclass(frozen=True, slots=True)
class Import:
    """One imported module or name, as a dotted path; those under `if TYPE_CHECKING` are for type checkers alone."""

    target: str
    line: int
    is_for_types: bool


def source_files(*packages: str) -> list[Path]:
    """Python files of the named packages, or of all of kalaba."""
    roots = [ROOT / package for package in packages] or [ROOT]
    return sorted(path for root in roots for path in root.rglob("*.py"))


def label(path: Path) -> str:
    return str(path.relative_to(ROOT))


def room_of(path: Path) -> str:
    """The room a file belongs to: `model`, `errors`; "" for kalaba's own __init__."""
    first = path.relative_to(ROOT).parts[0]
    return "" if first == "__init__.py" else first.removesuffix(".py")


def imports(text: str, package: str) -> Iterator[Import]:
    """Every import in the text of a module that lives in `package`, relative ones made absolute."""
    yield from _imports_below(ast.parse(text), package, is_for_types=False)


def _imports_below(node: ast.AST, package: str, *, is_for_types: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(alias.name, child.lineno, is_for_types) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            base = _absolute(child, package)
            yield from (Import(f"{base}.{alias.name}", child.lineno, is_for_types) for alias in child.names)
        else:
            checking = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            yield from _imports_below(child, package, is_for_types=is_for_types or checking)


def _absolute(node: ast.ImportFrom, package: str) -> str:
    if node.level == 0:
        return node.module or ""
    parts = package.split(".")
    base = parts[: len(parts) - node.level + 1]
    return ".".join([*base, node.module] if node.module else base)


def package_of(path: Path) -> str:
    """The dotted name of the package a file lives in."""
    return ".".join(("kalaba", *path.relative_to(ROOT).parent.parts))
