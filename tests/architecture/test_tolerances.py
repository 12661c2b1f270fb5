"""Thresholds stand in one file, each once, each with its reason, and each is used."""

import ast
import re
from pathlib import Path

import pytest

from architecture.source_tree import ROOT, label, source_files

FILE = ROOT / "tolerances.py"
TEXT = FILE.read_text(encoding="utf-8")
ASSIGNED = [node for node in ast.parse(TEXT).body if isinstance(node, ast.Assign)]
NAMES = [node.targets[0].id for node in ASSIGNED]
NO_THRESHOLDS = {  # small constants that decide nothing, and why
    "analyse/mobility.py": {
        "NEARBY": "size of the steps to nearby configurations",
        "OFF": "size of the steps off the manifold",
    },
    "control/goals.py": {"LEAST": "keeps 0/0 out of a root"},
    "export/c/cases.py": {"NEAR": "how far the states of cases are moved"},
    "export/c/servo.py": {"SAMPLE": "time between two states of the cases"},
    "plant/assembly.py": {"FILL": "inertia that fills a metric up"},
    "run/judge.py": {
        "ATOL": "tolerance of the run that another is compared with, as are the next two",
        "TIGHTER": "part of a tolerance",
        "SHARPEST": "smallest tolerance",
        "SHORTEST_CHECK": "wall time that a check has at least",
    },
    "steppers/step_length.py": {
        "SMALLEST_ERROR": "coefficient of the PI controller of DOPRI5",
        "FIRST_PROBE": "how far the motion is looked at to guess the first step",
    },
    "studies/variables.py": {"SEARCHED_TAIL": "share of an endless distribution that a search leaves out"},
    "view/studio/drag.py": {"MASSLESS": "inertia that fills a metric up"},
}
THRESHOLD = re.compile(r"^_?[A-Z][A-Z0-9_]* = [0-9.]+e-[0-9]+\b", re.MULTILINE)


def thresholds(text: str) -> list[str]:
    """Constants of a module that are small numbers, and so decide something."""
    return [line.partition(" ")[0] for line in THRESHOLD.findall(text)]


def test_each_name_is_given_once():
    assert sorted(NAMES) == sorted(set(NAMES))


@pytest.mark.parametrize("node", ASSIGNED, ids=NAMES)
def test_each_has_its_reason(node: ast.Assign):
    lines = TEXT.splitlines()
    assert "#" in "".join(lines[node.lineno - 1 : node.end_lineno]) or lines[node.lineno - 2].startswith("# ")


def test_each_is_used():
    others = "".join(path.read_text(encoding="utf-8") for path in source_files() if path != FILE)
    assert [name for name in NAMES if not re.search(rf"\b{name}\b", others)] == []


@pytest.mark.parametrize("path", [path for path in source_files() if path != FILE], ids=label)
def test_no_threshold_stands_elsewhere(path: Path):
    assert thresholds(path.read_text(encoding="utf-8")) == list(NO_THRESHOLDS.get(label(path), {}))


def test_exceptions_are_there():
    assert set(NO_THRESHOLDS) <= {label(path) for path in source_files()}


def test_a_threshold_is_found():
    text = "import x\nSMALL = 1e-9  # m\n_TINY = 2.5e-12\nCOUNT = 3\ndef f():\n    x = 1e-9\n"
    assert thresholds(text) == ["SMALL", "_TINY"]
