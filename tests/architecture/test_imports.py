"""Imports point one way: a room knows only the rooms before it in the floor plan, lazy imports counted."""

import re
from pathlib import Path

import pytest

from architecture.floors import FLOORS, PACKAGE, ROOMS
from architecture.source_tree import ROOT, imports, label, package_of, room_of, source_files

FILES = source_files()
CONTRIBUTING = ROOT.parents[1] / "CONTRIBUTING.md"


def violations(text: str, path_label: str, package: str, room: str) -> list[str]:
    """Imports in a module's text that point the wrong way, each as `file:line imports what`."""
    return [
        f"{path_label}:{found.line} imports {found.target}"
        for found in imports(text, package)
        if not found.is_for_types and not _is_allowed(found.target, room)
    ]


def _is_allowed(target: str, room: str) -> bool:
    root, _, rest = target.partition(".")
    if root != PACKAGE:
        return True
    first = rest.partition(".")[0]
    if first not in ROOMS:  # a public name, or the face itself
        return room in {"", "cli"}
    return room in {"", first} or (room in ROOMS and ROOMS.index(first) < ROOMS.index(room))


def test_every_folder_and_root_module_has_its_place():
    names = {path.name for path in ROOT.iterdir() if path.name[0] not in "_."} - {"py.typed"}
    assert {name.removesuffix(".py") for name in names} == set(ROOMS)


@pytest.mark.parametrize("path", FILES, ids=label)
def test_imports_point_one_way(path: Path):
    text = path.read_text(encoding="utf-8")
    assert violations(text, label(path), package_of(path), room_of(path)) == []


def test_contributing_draws_the_same_plan():
    drawn = re.findall(r"^\| `([a-z_]+)(?:/|\.py)` \| \S", CONTRIBUTING.read_text(encoding="utf-8"), re.MULTILINE)
    assert drawn == list(ROOMS)


@pytest.mark.parametrize("floor", FLOORS)
def test_contributing_names_every_floor(floor: str):
    assert f"**{floor}**" in CONTRIBUTING.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("room", "text"),
    [
        ("model", "from kalaba.derive import lagrange"),
        ("model", "from kalaba import derive"),
        ("model", "from .. import derive"),
        ("model", "from ..derive.kane import Kane"),
        ("model", "import kalaba"),
        ("model", "from kalaba import System"),
        ("joints", "from kalaba.model.system import System"),
        ("derive", "import kalaba.constrain.solve as s"),
        ("constrain", "from kalaba.plant import Plant"),
        ("native", "from kalaba.steppers import RungeKutta4"),
        ("steppers", "def f():\n    from kalaba.compiled import advance"),
        ("plant", "def save():\n    from kalaba.results import saving"),
        ("results", "class Run:\n    def save(self):\n        from kalaba.view import plot"),
        ("control", "from kalaba.cooperate import hold"),
        ("export", "def load():\n    from kalaba.view import film"),
        ("view", "from kalaba.cli import main"),
        ("errors", "from kalaba.model import System"),
        ("robots", "import kalaba as kb"),
    ],
)
def test_a_wrong_import_is_found(room: str, text: str):
    package = "kalaba" if room == "errors" else f"kalaba.{room}"
    assert len(violations(text, "here", package, room)) == 1


@pytest.mark.parametrize(
    ("room", "text"),
    [
        ("model", "from kalaba.errors import ModelError"),
        ("model", "from .pose import Pose"),
        ("joints", "if TYPE_CHECKING:\n    from kalaba.model.system import System"),
        ("derive", "from ..model import System"),
        ("constrain", "from kalaba import derive"),
        ("plant", "from kalaba.native import kernel\nfrom kalaba.compiled import Integration"),
        ("cooperate", "from kalaba.control.servo import servo"),
        ("cli", "from kalaba import __version__"),
        ("cli", "from kalaba.robots import names"),
        ("view", "def find(name):\n    from kalaba.robots import entry"),
        ("model", "import numpy as np\nfrom scipy import linalg"),
    ],
)
def test_a_right_import_is_let_through(room: str, text: str):
    assert violations(text, "here", f"kalaba.{room}", room) == []
