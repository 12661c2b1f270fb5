"""Imports point one way: model ← derive ← constrain; native and integrate stand beside; the rest joins them."""

from pathlib import Path

import pytest

from architecture.source_tree import Import, imports, label, package_of, source_files, unit_of

CORE = {"errors", "model", "derive", "constrain", "native", "integrate"}
ON_TOP = {"files", "view", "sweep"}
PACKAGES = CORE | {"control", "cooperate", "robots", "cli"} | ON_TOP

# The public functions that find a machine by name; they alone may open the catalogue, and only when called.
CATALOGUE_DOORS = {"load", "catalog", "scenario", "__getattr__"}

# A Run's own doors to its file formats.
FILE_DOORS = {"save", "data"}


def allowed(unit: str, units: set[str]) -> set[str]:
    """What a unit may import; a single module at the top (plant, simulate, run, loop) joins the core."""
    joined = CORE | (units - PACKAGES - {""})
    used = joined | {"control", "cooperate"} | ON_TOP
    table = {
        "errors": set(),
        "model": {"errors"},
        "derive": {"errors", "model"},
        "constrain": {"errors", "model", "derive"},
        "native": {"errors"},
        "integrate": {"errors"},
        "control": joined,
        "cooperate": joined | {"control"},
        "robots": used | {""},
        "cli": used | {"", "robots"},
        **dict.fromkeys(ON_TOP | {""}, used),
    }
    return table.get(unit, joined)


def violations(text: str, path_label: str, package: str, unit: str, units: set[str]) -> list[str]:
    """Imports in a module's text that point the wrong way, each as `file:line imports what`."""
    return [
        f"{path_label}:{found.line} imports {found.target}"
        for found in imports(text, package)
        if not _is_fine(found, unit, units)
    ]


def _is_fine(found: Import, unit: str, units: set[str]) -> bool:
    root, _, rest = found.target.partition(".")
    if root != "kalaba":
        return True
    first = rest.partition(".")[0]
    target = first if first in PACKAGES | units else ""
    if target == unit:
        return True
    if target == "robots" and found.function in CATALOGUE_DOORS:
        return True
    if target == "files" and unit == "run" and found.function in FILE_DOORS:
        return True
    return target in allowed(unit, units)


FILES = source_files()
UNITS = {unit_of(path) for path in FILES}


@pytest.mark.parametrize("path", FILES, ids=label)
def test_imports_point_one_way(path: Path):
    text = path.read_text(encoding="utf-8")
    assert violations(text, label(path), package_of(path), unit_of(path), UNITS) == []


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("model", "from kalaba.derive import lagrange"),
        ("model", "from kalaba import derive"),
        ("model", "from .. import derive"),
        ("model", "from ..derive.kane import Kane"),
        ("model", "import kalaba"),
        ("model", "from kalaba import System"),
        ("derive", "import kalaba.constrain.solve as s"),
        ("constrain", "from kalaba.plant.plant import Plant"),
        ("native", "from kalaba.steppers import RungeKutta4"),
        ("native", "from kalaba.model import System"),
        ("integrate", "def f():\n    from kalaba.native import emit"),
        ("integrate", "if TYPE_CHECKING:\n    from kalaba.model import System"),
        ("plant", "from kalaba.control import servo"),
        ("control", "from kalaba.cooperate import hold"),
        ("cooperate", "from kalaba.files import read"),
        ("files", "from kalaba.robots import puma560"),
        ("files", "def read():\n    from kalaba.robots import puma560"),
        ("view", "from kalaba.cli import main"),
        ("errors", "from kalaba.model import System"),
    ],
)
def test_a_wrong_import_is_found(unit: str, text: str):
    package = "kalaba" if unit in {"plant", "errors"} else f"kalaba.{unit}"
    assert len(violations(text, "here", package, unit, {"plant", "run", *PACKAGES})) == 1


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("model", "from kalaba.errors import ModelError"),
        ("model", "from .pose import Pose"),
        ("derive", "from ..model import System"),
        ("constrain", "from kalaba import derive"),
        ("plant", "from kalaba.native import kernel\nfrom kalaba.results.run import Run"),
        ("cooperate", "from kalaba.control.servo import servo"),
        ("sweep", "from kalaba.files import results"),
        ("robots", "import kalaba as kb"),
        ("cli", "from kalaba.robots import names"),
        ("files", "def load(name):\n    from kalaba.robots import entry"),
        ("model", "import numpy as np\nfrom scipy import linalg"),
    ],
)
def test_a_right_import_is_let_through(unit: str, text: str):
    package = "kalaba" if unit == "plant" else f"kalaba.{unit}"
    assert violations(text, "here", package, unit, {"plant", "run", *PACKAGES}) == []
