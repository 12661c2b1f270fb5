"""The engine's stamp: whatever is compiled into the engine is among the sources that it is known by."""

import ast
from importlib.util import find_spec
from pathlib import Path

import pytest

from kalaba.compiled import engine
from kalaba.native import batch

FOLDER = Path(engine.__file__).parent
PACKAGES = {"kalaba", "kalaba.constrain", "kalaba.native", "kalaba.steppers"}  # whose modules are taken from them
TYPES_ALONE = {"kalaba.space.arrays"}  # of annotations, which no machine code is made from


def has_machine_code(path: Path) -> bool:
    return "@compiled" in (text := path.read_text(encoding="utf-8")) or "= compiled(" in text


def modules_read(path: Path) -> set[str]:
    """Modules of kalaba that a file takes names from, those for type checkers alone left out."""
    modules = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("kalaba"):
            modules |= {f"{node.module}.{n.name}" if node.module in PACKAGES else str(node.module) for n in node.names}
    return modules - TYPES_ALONE


@pytest.mark.parametrize("path", [p for p in sorted(FOLDER.glob("*.py")) if has_machine_code(p)], ids=lambda p: p.stem)
def test_the_stamp_knows_every_file_that_machine_code_reads(path: Path):
    origins = {name: Path(str(find_spec(name).origin)) for name in modules_read(path)}
    assert {name for name, at in origins.items() if at not in engine.SOURCES and at.parent != FOLDER} == set()


@pytest.mark.parametrize("entry", [engine.advance, engine.advance_structure, engine.advance_implicit, batch._drive])
def test_the_key_of_the_cache_is_the_same_in_every_process(entry):
    """The name of kept code has what a closure holds; a compiled function has another number in each process."""
    held = [type(cell.cell_contents) for cell in entry.py_func.__closure__]
    assert held == [int]
