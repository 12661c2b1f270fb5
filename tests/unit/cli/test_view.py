"""`kalaba view` on saved runs."""

import pytest

import kalaba as kb
from kalaba.cli.application import invoke


def test_view_draws_beside_the_run(tmp_path, capsys):
    path = tmp_path / "run.nc"
    kb.simulate(kb.load("four-bar"), 0.05).save(path)
    assert invoke(["view", str(path)]) == 0
    assert (tmp_path / "run.png").stat().st_size > 10_000
    assert "run.png" in capsys.readouterr().out


@pytest.mark.parametrize("name", ["missing.nc", "run.txt"])
def test_view_says_in_one_line_what_it_cannot_open(tmp_path, capsys, name):
    assert invoke(["view", str(tmp_path / name)]) == 2
    said = capsys.readouterr().err
    assert name in said
    assert said.count("\n") == 1
