"""A file is one concept and a function fits a screen."""

import ast
from pathlib import Path

import pytest

from architecture.source_tree import label, source_files

FILE_LINES = 400
FUNCTION_LINES = 60
LONGER = {
    "plant/plant.py": "the face of a machine: one short method per question, read as a list",
    "tolerances.py": "a table: one entry per threshold, with its reason",
}


def long_functions(text: str) -> list[str]:
    """Functions above the ceiling, as `line name (length)`."""
    functions = (n for n in ast.walk(ast.parse(text)) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef))
    lengths = ((f, f.end_lineno - f.lineno + 1) for f in functions)
    return [f"{f.lineno} {f.name} ({length})" for f, length in lengths if length > FUNCTION_LINES]


@pytest.mark.parametrize("path", source_files(), ids=label)
def test_file_is_one_concept(path: Path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= FILE_LINES or label(path) in LONGER


@pytest.mark.parametrize("path", source_files(), ids=label)
def test_functions_fit_a_screen(path: Path):
    assert long_functions(path.read_text(encoding="utf-8")) == []


def test_a_long_function_is_found():
    body = "    pass\n"
    assert long_functions("def f():\n" + body * (FUNCTION_LINES - 1)) == []
    assert long_functions("class A:\n  def f(self):\n" + body * FUNCTION_LINES) == ["2 f (61)"]
