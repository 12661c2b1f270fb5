"""Variants say what they are by members: nobody probes an object for an attribute that it may not have."""

import ast
from pathlib import Path

import pytest

from architecture.source_tree import label, source_files

PROBES = {  # places where the object comes from elsewhere and says nothing better, and why
    "cli/application.py": "typer's exceptions: the class of those with a context is not public",
    "door.py": "`from home import inner` in words: an attribute of a module, else a module below it",
    "model/serial.py": "a callable may have a name or none",
    "native/elementary.py": "a symbol in a C library",
}


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
