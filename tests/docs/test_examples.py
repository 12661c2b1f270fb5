"""The examples run and end with their checks."""

import os
import runpy
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))
LONGEST = 100  # lines


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs_to_its_last_check(path, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(path), run_name="__main__")
    assert capsys.readouterr().out
    assert os.listdir(tmp_path) == []  # noqa: PTH208  (leaves nothing behind)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_is_short_and_ends_with_a_check(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    assert len(lines) < LONGEST
    assert lines[-1].startswith("assert")


def test_examples_are_numbered_from_one():
    assert [int(path.stem[:2]) for path in EXAMPLES] == list(range(1, len(EXAMPLES) + 1))
