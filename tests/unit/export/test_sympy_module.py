"""The SymPy module runs by itself and gives the plant's numbers."""

import ast
import runpy
import subprocess
import sys

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.export.sympy_module import export_sympy
from kalaba.export.tex import Words
from kalaba.robots.catalogue import find

pytest.importorskip("sympy")
FIELDS = {"h": "bias", "C": "coriolis", "G": "gravity", "B": "actuation_map"}
AGREE = 1e-12  # of the largest entry: SymPy prints 15 digits of a number, sums are in another order


def written(name, path):
    entry = find(name)
    return export_sympy(kb.load(name), path, Words(name, entry.summary, entry.source, entry.errata, entry.notation))


@pytest.mark.parametrize("name", ["planar-parallel", "dual-mobile-arm", "pus-upu", "four-bar", "flexible-four-bar"])
def test_the_module_agrees_with_the_plant(name, tmp_path):
    module = runpy.run_path(str(written(name, tmp_path / "eq.py")))
    system = kb.load(name)
    plant, equations = kb.build(system), kb.derive(system)
    rng = np.random.default_rng(3)
    q, v, u = (rng.uniform(-1, 1, x.shape[0]) for x in (equations.symbols.q, equations.symbols.v, equations.symbols.u))
    for row, _ in system.machine.quaternions:
        q[row : row + 4] /= np.linalg.norm(q[row : row + 4])
    A, b = plant.constraint(q, v, 0.4)
    wanted = {"M": plant.mass_matrix(q), "A": A, "b": b[:, None]}
    parameters = [p.value for p in system.machine.free_parameters]
    for letter in FIELDS.keys() & module.keys():
        wanted[letter] = np.array(ca.DM(equations.function(FIELDS[letter])(q, v, 0.4, u, parameters)))
    for letter, matrix in wanted.items():
        got = np.array(module["numbers"](module[letter], q, v, 0.4, u), dtype=float)
        assert np.abs(got - matrix).max() <= AGREE * max(1.0, np.abs(matrix).max()), letter


def test_the_module_imports_sympy_alone_and_runs_as_a_script(tmp_path):
    path = written("four-bar", tmp_path / "eq.py")
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    imported = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    assert imported == ["sympy"]
    made = subprocess.run([sys.executable, "-I", str(path)], capture_output=True, text=True, check=True)
    assert made.stdout.startswith("M at the start:")


def test_the_start_of_the_module_is_the_guess_of_the_machine(tmp_path):
    machine = kb.load("four-bar").machine
    guesses = dict(machine.start.guess)
    assert guesses
    start = [float(guesses.get(coordinate.name, 0.0)) for coordinate in machine.coordinates]
    assert f"numbers(M, {start!r}, " in written("four-bar", tmp_path / "eq.py").read_text(encoding="utf-8")


def test_other_values_can_be_put_in_and_parts_written_out(tmp_path):
    module = runpy.run_path(str(written("bennett", tmp_path / "eq.py")))
    M, symbols = module["M"], set(module["q"]) | set(module["p"])
    assert module["PARTS"]
    assert module["whole"](M).free_symbols <= symbols
    heavy = module["numbers"](M, [0.1, 0.2, 0.3], [0, 0, 0], values={module["bar3_mass"]: 5.0})
    plant = kb.build(kb.load("bennett", {"bar3.mass": 5.0}))
    assert np.allclose(heavy, plant.mass_matrix([0.1, 0.2, 0.3]), rtol=1e-12)
