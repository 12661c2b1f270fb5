"""Equal for machines that run the same code, different for all others."""

import pytest

import kalaba as kb
from kalaba.model.fingerprint import fingerprint


def machine(**options) -> kb.System:
    parts = (
        kb.Parameter("l", options.get("l", 0.3), "m"),
        kb.Body(
            "a",
            kb.Rod("l", mass=options.get("mass", 1.0)),
            at=options.get("at", (0.1, 0, 0)),
            joint=options.get("joint", kb.Revolute(kb.Z)),
        ),
        kb.Body("b", kb.Rod(0.4, mass=1.0), parent="a.tip", joint=kb.Revolute(kb.Z)),
        kb.Connection(
            "pin", "b.tip", at=options.get("seat", (0.5, 0, 0)), joint=options.get("closing", kb.Revolute(kb.Z))
        ),
        kb.Constraint("c", options.get("zero", "a.angle - sin(t)"), work=options.get("work", {})),
        kb.Actuator("motor", options.get("displacement", "a.angle"), limit=options.get("limit", 3.0)),
        kb.Spring("s", "b.angle", stiffness=options.get("stiffness", 3.0)),
        kb.Force("f", "b.tip", force=(0, options.get("push", "1"), 0)),
        kb.Output("o", options.get("output", "b.tip.x")),
    )
    return kb.System(
        options.get("name", "m"),
        parts,
        gravity=options.get("gravity", (0, 0, -9.81)),
        start=options.get("start", kb.Start()),
    )


def print_of(**options) -> str:
    return fingerprint(machine(**options).machine)


@pytest.mark.parametrize(
    "options",
    [
        {"l": 0.5},
        {"mass": 2.0},
        {"at": (0.7, 0, 0)},
        {"seat": (0.6, 0, 0)},
        {"stiffness": 5.0},
        {"gravity": (0, 0, -1.6)},
        {"limit": 1.0},
        {"name": "other"},
        {"start": kb.Start(guess={"a.angle": 1.0}, speed={"b.angle": 1.0})},
        {"push": 1},
    ],
)
def test_other_numbers_starts_limits_and_names_are_the_same_code(options):
    assert print_of(**options) == print_of()


@pytest.mark.parametrize(
    "options",
    [
        {"l": 0.0},
        {"at": (0.0, 0, 0)},
        {"at": (0.1, 0.1, 0)},
        {"at": kb.Pose((0.1, 0, 0), rpy=(0, 0, 0.2))},
        {"joint": kb.Revolute(-kb.Z)},
        {"joint": kb.Revolute(kb.Y)},
        {"joint": kb.Universal(kb.Z, kb.X, q=("a_x", 0))},
        {"closing": kb.Spherical()},
        {"zero": "a.angle - cos(t)"},
        {"zero": {"row": "a.angle - sin(t)"}},
        {"zero": lambda m: m["a.angle"] - m["t"]},
        {"work": {"a.angle": "-2"}},
        {"displacement": "a.angle + b.angle"},
        {"gravity": (0, -9.81, 0)},
        {"stiffness": 0.0},
        {"push": "2"},
        {"output": "b.tip.y"},
    ],
)
def test_another_structure_is_other_code(options):
    if "joint" in options and isinstance(options["joint"], kb.Universal):
        options = {
            "joint": kb.Universal(kb.Z, kb.X, q=("b.angle", 0)),
            "displacement": "b.angle",
            "zero": "b.angle - sin(t)",
        }
    assert print_of(**options) != print_of()


def test_two_callables_that_do_the_same_are_the_same_code():
    assert print_of(zero=lambda m: m["a.angle"] - m["t"]) == print_of(zero=lambda m: m["a.angle"] - m["t"])
    assert print_of(zero=lambda m: m["a.angle"] - m["t"]) != print_of(zero=lambda m: m["a.angle"] + m["t"])


def test_the_fingerprint_is_the_same_in_another_process():
    """It is a key on disk: nothing of it may depend on hash seeds or addresses."""
    import subprocess
    import sys
    from pathlib import Path

    code = "import test_fingerprint as t; print(t.print_of(zero=lambda m: m['a.angle'] - m['t']))"
    path = str(Path(__file__).parent)
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env={"PYTHONPATH": path, "PYTHONHASHSEED": "7"},
    )
    assert found.stdout.strip() == print_of(zero=lambda m: m["a.angle"] - m["t"])
