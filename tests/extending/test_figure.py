"""A figure from outside the package is one file: a phase portrait, drawn as it is, by name and in the terminal."""

from pathlib import Path

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.errors import ViewError
from kalaba.view.figures import kinds

FILE = '''
import kalaba as kb

def portrait(request):
    """The rate of each coordinate over the coordinate."""
    run = request.run
    lines = [kb.plot.Curve(name, run[name], run[f"rate({name})"]) for name in run.plant.coordinates]
    return kb.plot.sheet("phase portrait", [kb.plot.Panel("phase", "rate", tuple(lines), x_label="coordinate")])

FIGURE = kb.plot.FigureKind("phase", "rates of the coordinates over the coordinates", portrait)
'''


@pytest.fixture
def run() -> kb.Run:
    """A pendulum, let go on its side."""
    pole = kb.Body("pole", kb.Rod(length=0.5, mass=0.2), joint=kb.Revolute(kb.Y))
    plant = kb.build(kb.System("pendulum", (pole,)), backend=kb.Interpreted())
    return kb.simulate(plant, 0.2, stepper=kb.RungeKutta4(1e-2))


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """Where the file is; nothing that is registered in a test stays."""
    monkeypatch.chdir(tmp_path)
    others = {name: kind for name, kind in kinds._KNOWN.items() if name != "phase"}  # the documentation has one, too
    monkeypatch.setattr(kinds, "_KNOWN", others)
    (tmp_path / "phase.py").write_text(FILE, encoding="utf-8")
    return tmp_path / "phase.py"


def shows_the_phases(figure, run: kb.Run) -> bool:
    (axes,) = figure.axes
    (line,) = axes.lines
    return np.array_equal(line.get_xdata(), run.q[:, 0]) and np.array_equal(line.get_ydata(), run.v[:, 0])


def test_it_is_drawn_as_it_is(place, run):
    assert shows_the_phases(kb.plot.draw(run, kinds.read_figure(place)), run)


def test_it_is_drawn_by_name_once_it_is_registered(place, run):
    with pytest.raises(ViewError, match="no figure 'phase'"):
        kb.plot.draw(run, "phase")
    own = kb.plot.register(kinds.read_figure(place))
    assert kb.plot.known()[-1] is own
    assert shows_the_phases(kb.plot.draw(run, "phase"), run)


def test_a_name_that_is_taken_is_refused(place):
    own = kb.plot.register(kinds.read_figure(place))
    assert kb.plot.register(own) is own
    with pytest.raises(ViewError, match="there is a figure 'phase' already"):
        kb.plot.register(kinds.read_figure(place))


def test_the_command_line_draws_the_file(place, run, capsys):
    run.save("run.nc")
    assert invoke(["plot", "run.nc", "--figure", "phase.py"]) == 0
    assert capsys.readouterr().out == "picture: run-phase.png\n"
    assert place.with_name("run-phase.png").stat().st_size > 5_000


def test_the_command_line_lists_it_once_it_is_registered(place, run, capsys):
    run.save("run.nc")
    assert invoke(["plot", "run.nc", "--figure", "fase"]) == 2
    assert "'phase'" not in capsys.readouterr().err
    kb.plot.register(kinds.read_figure(place))
    assert invoke(["plot", "run.nc", "--figure", "fase"]) == 2
    assert "'phase'" in capsys.readouterr().err
    assert invoke(["plot", "run.nc", "--figure", "phase"]) == 0


@pytest.mark.parametrize(
    ("text", "words"), [("", "expected FIGURE = kb.plot.FigureKind"), (None, "no such file"), ("x = ", "SyntaxError")]
)
def test_a_file_without_a_figure_is_one_line(place, run, capsys, text, words):
    run.save("run.nc")
    place.unlink() if text is None else place.write_text(text, encoding="utf-8")
    assert invoke(["plot", "run.nc", "--figure", "phase.py"]) == 2
    captured = capsys.readouterr().err
    assert words in captured
    assert captured.count("\n") == 1


def test_a_figure_says_what_it_takes(place, run):
    own = kinds.read_figure(place)
    with pytest.raises(ViewError, match="expected one run, got 2"):
        kb.plot.draw({"a": run, "b": run}, own)
    with pytest.raises(ViewError, match=r"figure phase takes no frames\. Leave it out, or draw paths"):
        kb.plot.draw(run, own, frames=["pole.tip"])
