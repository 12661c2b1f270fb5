"""The page of promises names tests that exist, for every promise."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "promises.md").read_text(encoding="utf-8")
PROMISES = re.findall(r"^## (\d)\. .*?(?=^## )", PAGE, re.MULTILINE | re.DOTALL)
SECTIONS = re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]


def test_there_are_eight():
    assert [int(number) for number in PROMISES] == list(range(1, 9))


@pytest.mark.parametrize("section", SECTIONS[:8], ids=lambda section: section[:1])
def test_each_names_tests_that_exist(section):
    named = re.findall(r"`([\w/]+/test_\w+\.py)`", section)
    assert named
    assert [name for name in named if not (ROOT / "tests" / name).is_file()] == []
