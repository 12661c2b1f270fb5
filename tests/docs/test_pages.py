"""Every block of Python in the documentation runs, links lead somewhere, and names of the table exist."""

import re
from pathlib import Path

import pytest

import kalaba as kb
from docs.markdown import ROOT, blocks, run_page

PAGES = [*sorted((ROOT / "docs").glob("*.md")), *(ROOT / f"{name}.md" for name in ("CHANGELOG", "CONTRIBUTING"))]
RUN = [page for page in PAGES if any(block.language in {"python", "console", "yaml"} for block in blocks(page))]
LANGUAGES = {
    *("python", "text", "console", "yaml"),  # run or loaded, or compared with what was run
    *("sh", "bibtex", "c", "html"),  # for the reader alone: other programs, other languages
}
LINK = re.compile(r"\]\(([^)#]+)")


@pytest.mark.parametrize("page", RUN, ids=lambda page: page.stem)
def test_every_block_runs_and_prints_what_is_shown(page: Path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run_page(page, tmp_path)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_blocks_say_their_language(page: Path):
    """A block of Python that does not say so would not be run."""
    assert [block.label for block in blocks(page) if block.language not in LANGUAGES] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_links_to_files_lead_somewhere(page: Path):
    links = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if "://" not in link]
    assert [link for link in links if not (page.parent / link).exists()] == []


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.name)
def test_every_name_of_the_package_exists(page: Path):
    text = page.read_text(encoding="utf-8").partition("\n## [0.1.0]")[0]  # what changed before may name what is gone
    named = set(re.findall(r"\bkb\.([A-Za-z]\w*)", text))
    assert named - set(kb.__all__) == set()


def rows_in_the_table() -> dict[str, tuple[str, ...]]:
    """Closing joints of docs/notation.md with the rows it says they have."""
    section = (ROOT / "docs" / "notation.md").read_text(encoding="utf-8").partition("## Names of rows")[2]
    table = re.findall(r"^\| `(\w+)` \| ([^|]+) \| (\d) \|$", section, re.MULTILINE)
    return {kind: tuple(re.sub(r"\([^)]*\)", "", said).split()) for kind, said, _ in table}


@pytest.mark.parametrize("kind", ["Revolute", "Prismatic", "Screw", "Cylindrical", "Planar", "PointOnLine"])
def test_rows_are_named_as_the_table_says(kind):
    assert getattr(kb, kind)(kb.Z).rows == rows_in_the_table()[kind]


def test_rows_of_joints_without_one_axis_are_named_as_the_table_says():
    said = rows_in_the_table()
    for joint in (kb.Weld(), kb.Universal(), kb.Spherical(), kb.Distance(1.0)):
        assert joint.rows == said[type(joint).__name__]
