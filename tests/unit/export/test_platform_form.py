"""A parallel robot in the speeds of its platform, exported: each file gives the model's numbers."""

import runpy

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.export.platform_form import export_platform
from kalaba.printing.sheet import Sheet
from printed_latex import numbers
from unit.export.c_programs import needs_compiler, trial

AGREE = 1e-12  # of the largest entry


@pytest.fixture(scope="module")
def five_bar() -> kb.control.PlatformSpace:
    return kb.control.platform_space(kb.build(kb.load("five-bar"), backend=kb.Interpreted()), "left.rod.tip")


def expected(space: kb.control.PlatformSpace) -> tuple[kb.State, dict[str, np.ndarray]]:
    state = kb.State(space.plant.start.q, np.array([0.3, -0.2, 0.1, 0.5]))
    model = space.model(state)
    return state, {"G": model.force_map, "H": model.inertia, "h": model.bias[:, None]}


def relative(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(found - wanted).max() / np.abs(wanted).max())


def test_the_document_is_read_back_as_the_models_numbers(five_bar, tmp_path):
    (place,) = export_platform(five_bar, tmp_path / "eq.tex")
    state, wanted = expected(five_bar)
    sheet = Sheet(five_bar.equations)
    given = [*state.q, *state.v, 0.0, 0.0, 0.0, *(x.value for x in sheet.letters if x.value is not None)]
    letters = {x.latex: number for x, number in zip(sheet.letters, given, strict=True)}
    read = numbers(place.read_text(encoding="utf-8"), letters)
    for letter, matrix in wanted.items():
        label = "{}_{{{}}}" if matrix.shape[1] == 1 else "{}_{{{},{}}}"
        found = [[read[label.format(letter, i + 1, j + 1)] for j in range(matrix.shape[1])] for i in range(2)]
        assert relative(np.array(found), matrix) < AGREE


def test_the_module_for_sympy_gives_the_models_numbers(five_bar, tmp_path):
    pytest.importorskip("sympy")
    (place,) = export_platform(five_bar, tmp_path / "eq.py")
    module = runpy.run_path(str(place))
    state, wanted = expected(five_bar)
    for letter, matrix in wanted.items():
        assert relative(np.array(module["numbers"](module[letter], *state), dtype=float), matrix) < AGREE


@needs_compiler
@pytest.mark.parametrize(("name", "frame"), [("five-bar", "left.rod.tip"), ("planar-parallel", "leg1.link_b.tip")])
def test_the_c_code_passes_its_own_test(name, frame, tmp_path):
    space = kb.control.platform_space(kb.build(kb.load(name), backend=kb.Interpreted()), frame)
    source, header, program = export_platform(space, tmp_path / "platform.c")
    assert header.exists()
    assert program.exists()
    done = trial(source)
    assert done.returncode == 0, done.stdout


def test_the_command_writes_it_and_refuses_what_does_not_belong_to_it(tmp_path, capsys):
    place = tmp_path / "eq.tex"
    assert invoke(["export", "five-bar", "-o", str(place), "--platform", "left.rod.tip"]) == 0
    assert "left.rod.tip.vx" in place.read_text(encoding="utf-8")
    capsys.readouterr()
    assert invoke(["export", "five-bar", "-o", str(place), "--platform", "left.rod.tip", "--method", "kane"]) != 0
    assert "Leave it out" in " ".join(capsys.readouterr().err.split())
