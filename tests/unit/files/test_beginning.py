"""The files to start from load, check and run, and say the same."""

import pytest

import kalaba as kb
from kalaba.cli import application
from kalaba.errors import FileError
from kalaba.files.beginning import begin


@pytest.mark.parametrize("name", ["my first machine.yaml", "my.yml", "my.py"])
def test_a_file_to_start_from_loads_checks_and_runs(name, tmp_path):
    path = begin(tmp_path / name)
    scenario = kb.scenario(str(path))
    assert kb.check(scenario.system).freedoms == 1
    assert scenario.system.name == path.stem.replace(" ", "-")
    run = kb.simulate(scenario.system, 0.5, control=scenario.control)
    assert run["rate(crank.angle)"][-1] > 5.0  # the motor speeds it up towards 10 rad/s
    assert run.residual.max() < 1e-12


def test_yaml_and_python_describe_one_machine(tmp_path):
    written, coded = (kb.load(str(begin(tmp_path / name))) for name in ("my.yaml", "my.py"))
    assert written.parts == coded.parts
    assert kb.build(written).start.q == pytest.approx(kb.build(coded).start.q, abs=1e-9)  # other guesses, one start


def test_a_file_that_exists_and_other_endings_are_refused(tmp_path):
    begin(tmp_path / "my.yaml")
    with pytest.raises(FileError, match=r"my\.yaml: there is such a file already"):
        begin(tmp_path / "my.yaml")
    with pytest.raises(FileError, match=r"my\.txt: expected a name that ends in \.yaml, \.yml, \.py"):
        begin(tmp_path / "my.txt")
    with pytest.raises(FileError, match="cannot be written, no such file or directory"):
        begin(tmp_path / "nowhere" / "my.yaml")


def test_the_command_writes_it_and_says_what_to_do_next(tmp_path, capsys):
    assert application.invoke(["new", str(tmp_path / "my.yaml")]) == 0
    assert "a four-bar to start from. Edit it, then: kalaba check" in capsys.readouterr().out
    assert application.invoke(["new", str(tmp_path / "my.yaml")]) == 2
