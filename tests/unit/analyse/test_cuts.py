"""What `kb.cuts` lists, in which order, and how it prints."""

import json

import pytest

import kalaba as kb
from kalaba.cli.application import invoke


def test_the_fewest_operations_come_first_and_every_joint_of_the_loop_is_there():
    cuts = kb.cuts(kb.load("four-bar"))
    assert [cut.operations for cut in cuts] == sorted(cut.operations for cut in cuts)
    assert {cut.joint for cut in cuts} == {"", "crank", "coupler", "rocker"}
    assert cuts[0] is cuts.possible[0]
    assert cuts.described.rank == kb.check(kb.load("four-bar")).rank
    checked = kb.check(kb.load("four-bar")).smallest_singular_value
    assert cuts.described.smallest_singular_value == pytest.approx(checked, rel=1e-12)
    assert all(0 < cut.smallest_singular_value <= 1 for cut in cuts)


def test_a_machine_without_loops_has_one_entry():
    cuts = kb.cuts(kb.load("puma560"))
    assert [cut.joint for cut in cuts] == [""]
    assert cuts.described.rows == 0


def test_it_prints_as_a_table_and_as_html():
    cuts = kb.cuts(kb.load("four-bar"))
    lines = str(cuts).splitlines()
    assert lines[0] == "four-bar: 1 freedom, however it is cut"
    assert len(lines) == 2 + len(cuts)
    assert "rocker, Revolute(-y)" in str(cuts)
    assert "<table" in cuts._repr_html_()


def test_the_command_lists_cuts(capsys):
    assert invoke(["check", "four-bar", "--cuts"]) == 0
    assert "smallest singular value" in capsys.readouterr().out
    assert invoke(["check", "four-bar", "--cuts", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)["cuts"]
    assert {entry["freedoms"] for entry in entries} == {1}
    assert invoke(["check", "four-bar", "--cuts", "--quiet"]) == 0
    assert not capsys.readouterr().out
