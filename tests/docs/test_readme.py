"""The README's example runs as it stands and prints what it says."""

import re

from docs.markdown import ROOT, blocks, run

TINY = re.compile(r"\d(\.\d+)?e-1\d.*")  # rounding differs between processors, and so does the row where it is largest


def test_the_example_prints_what_is_shown(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    found = blocks(ROOT / "README.md")
    languages = [block.language for block in found]
    assert languages == ["python", "text"]
    run(found[0], tmp_path)
    printed, shown = (TINY.sub("tiny", text.strip()) for text in (capsys.readouterr().out, found[1].text))
    assert printed == shown


def test_it_is_one_screen():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100
