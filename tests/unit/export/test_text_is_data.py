"""Names, units and descriptions are data in every export: nothing that a person writes there becomes code."""

import subprocess
import sys

import pytest

import kalaba as kb
from kalaba.errors import ModelError
from kalaba.export.sympy_module import export_sympy
from kalaba.export.tex import export_tex

HINGE = kb.Revolute(-kb.Y)
BREAKS = [f"a{code}b" for code in "\n\r\x0b\x0c\x1c\x85\u2028\u2029\x00\x1b\u202e"]
PRINTABLE = r'*/ int pwned; /* ??/ \input{/etc/hostname} $%&_#{}~^ """; import os # x ]]> µ² */ /*' + " \\"


def machine(name: str = "one", parameter: str = "reach", description: str = "", unit: str = "m") -> kb.System:
    parts = (
        kb.Parameter(parameter, 0.3, unit=unit, description=description),
        kb.Body("a", kb.Rod(parameter, mass=1.0), joint=HINGE),
        kb.Output("height", "a.tip.z", unit=unit),
    )
    return kb.System(name, parts)


@pytest.mark.parametrize("text", BREAKS)
@pytest.mark.parametrize("where", ["name", "description", "unit"])
def test_more_than_one_printable_line_is_refused(where, text):
    with pytest.raises(ModelError, match="expected one line of text") as caught:
        machine(**{where: text})
    assert str(caught.value).isprintable()


def values(path) -> str:
    done = subprocess.run([sys.executable, str(path)], check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_a_printable_line_changes_no_code(tmp_path):
    plain, odd = machine(), machine(name=PRINTABLE, description=PRINTABLE, unit=PRINTABLE)
    for system, folder in ((plain, tmp_path / "plain"), (odd, tmp_path / "odd")):
        folder.mkdir()
        export_sympy(system, folder / "machine.py")
        kb.export_c(system, folder / "machine.c")
        export_tex(system, folder / "machine.tex")
        command = ["gcc", "-std=c99", "-Wall", "-Werror", "-Wno-trigraphs", "-c", "machine.c", "-o", "machine.o"]
        subprocess.run(command, cwd=folder, check=True)
    assert values(tmp_path / "odd" / "machine.py") == values(tmp_path / "plain" / "machine.py")
    symbols = [
        subprocess.run(["nm", "machine.o"], cwd=tmp_path / kind, check=True, capture_output=True, text=True).stdout
        for kind in ("odd", "plain")
    ]
    assert "pwned" not in symbols[0]
    assert len(symbols[0].splitlines()) == len(symbols[1].splitlines())
    assert r"\input{/" not in (tmp_path / "odd" / "machine.tex").read_text(encoding="utf-8")


NAMES = ["len", "list", "print", "float", "reversed", "range", "sp", "np", "lambda_", "E", "I"]


def test_parameters_may_be_called_like_something_of_python(tmp_path):
    named = (kb.Parameter(name, 0.3, unit="m") for name in NAMES)
    rod = kb.Body("a", kb.Rod("+".join(NAMES), mass=1.0), joint=HINGE)
    export_sympy(kb.System("one", (*named, rod)), tmp_path / "odd.py")
    values(tmp_path / "odd.py")
    namespace: dict = {}
    exec((tmp_path / "odd.py").read_text(encoding="utf-8"), namespace)  # what was just exported
    assert namespace["numbers"](namespace["M"], [0.0], [0.0])[0][0] == pytest.approx((0.3 * len(NAMES)) ** 2 / 3)
