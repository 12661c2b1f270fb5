"""The mechanics and the machinery know no robot: whatever works for one works for all."""

import re
from pathlib import Path

import pytest

from architecture.floors import ROOMS
from architecture.source_tree import ROOT, label, source_files

# Named here as well as read from the catalogue, so that the rule holds before an entry exists. Words that are also
# mathematics (delta) are left out.
NAMES = {
    *("dual-mobile-arm", "planar-parallel", "floating-flexible-arm", "pus-upu", "two-arm-carry", "two-arm-scissors"),
    *("two-arm-peg", "two-arm-keyed-peg", "two-arm-screw", "three-arm-screw", "n-arm-carry", "flexible-arm-3d"),
    *("flexible-four-bar", "spinning-beam", "differential-drive", "two-drive-carry", "bennett", "sarrus"),
    *("stewart", "puma560", "puma", "panda"),
}
CATALOGUE = {path.stem.replace("_", "-") for path in (ROOT / "robots").glob("[a-z]*.py") if "_" in path.stem}
PATTERN = re.compile(
    r"(?<![a-z])(" + "|".join(re.escape(n).replace(r"\-", "[-_ ]?") for n in sorted(NAMES | CATALOGUE)) + r")(?![a-z])",
    re.IGNORECASE,
)


def names_in(text: str) -> list[str]:
    return [found.group() for found in PATTERN.finditer(text)]


@pytest.mark.parametrize("path", source_files(*ROOMS[: ROOMS.index("robots")]), ids=label)
def test_no_robot_is_named_below_the_catalogue(path: Path):
    assert names_in(path.read_text(encoding="utf-8")) == []


@pytest.mark.parametrize("text", ["if name == 'pus-upu':", "def dual_mobile_arm():", "DualMobileArm", "a Bennett loop"])
def test_a_robot_name_is_found(text: str):
    assert len(names_in(text)) == 1


@pytest.mark.parametrize("text", ["delta = 0.1", "expandable", "a planar joint, parallel to x"])
def test_ordinary_words_are_let_through(text: str):
    assert names_in(text) == []
