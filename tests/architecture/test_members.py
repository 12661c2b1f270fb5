"""Variants say what they are by members: nobody probes an object for an attribute that it may not have."""

import ast
from pathlib import Path

import pytest

from architecture.source_tree import label, room_of, source_files

PROBES = {  # places where the object comes from elsewhere and says nothing better, and why
    "cli/application.py": "typer's exceptions: the class of those with a context is not public",
    "door.py": "`from home import inner` in words: an attribute of a module, else a module below it",
    "model/serial.py": "a callable may have a name or none",
    "native/elementary.py": "a symbol in a C library",
}

BASES = {
    "Allocation",
    "AnySolid",
    "Controller",
    "Correction",
    "Joint",
    "Section",
    "Shapes",
    "Solver",
    "Stabilisation",
    "Stepper",
}
BY_MEMBERS = {"Interpreted", "Kane", "Lagrange", "Native", "NewtonEuler", "Servo"}  # variants that inherit from nothing


def classes() -> dict[str, tuple[str, set[str]]]:
    """Every class of the package by name: its room, and the names of its bases."""
    return {
        node.name: (room_of(path), {base.id for base in node.bases if isinstance(base, ast.Name)})
        for path in source_files()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }


def variants() -> dict[str, str]:
    """Classes below a base that people extend, with the room that each is in; the bases may be asked for."""
    known, below = classes(), set(BASES)
    while more := {name for name, (_, bases) in known.items() if bases & below} - below:
        below |= more
    return {name: known[name][0] for name in below - BASES | BY_MEMBERS}


def asked_for(text: str) -> set[str]:
    """Names of the classes that `isinstance(...)` asks for."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    tests = [node for node in calls if isinstance(node.func, ast.Name) and node.func.id in {"isinstance", "issubclass"}]
    return {word.id for node in tests for word in ast.walk(node.args[1]) if isinstance(word, ast.Name)}


VARIANTS = variants()


def probes(text: str) -> list[int]:
    """Lines with `hasattr(...)`, or with `getattr(...)` that has a default."""
    calls = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call)]
    named = [(node.func.id, node) for node in calls if isinstance(node.func, ast.Name)]
    return [node.lineno for name, node in named if name == "hasattr" or (name == "getattr" and len(node.args) == 3)]


@pytest.mark.parametrize("path", source_files(), ids=label)
def test_no_object_is_probed_for_its_members(path: Path):
    assert bool(probes(path.read_text(encoding="utf-8"))) == (label(path) in PROBES)


def test_a_probe_is_found():
    assert probes('a = hasattr(x, "q")\nb = getattr(x, "q")\nc = getattr(x, "q", None)\n') == [1, 3]


@pytest.mark.parametrize("path", source_files(), ids=label)
def test_no_variant_is_asked_for_its_class_outside_its_room(path: Path):
    elsewhere = {name for name, room in VARIANTS.items() if room != room_of(path)}
    assert asked_for(path.read_text(encoding="utf-8")) & elsewhere == set()


def test_variants_and_questions_for_their_class_are_found():
    assert {"RungeKutta4", "MaskedLDL", "LeastSquares", "Carry", "Projection", "Revolute", "Rod"} <= set(VARIANTS)
    assert asked_for("a = isinstance(x, Servo | Carry)\nb = isinstance(x, (Native, str))") == {
        "Servo",
        "Carry",
        "Native",
        "str",
    }
