"""The README's example runs as it stands and prints what it says."""

from docs.markdown import ROOT, blocks, run_page


def test_the_example_prints_what_is_shown(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert [block.language for block in blocks(ROOT / "README.md")] == ["python", "text"]
    run_page(ROOT / "README.md", tmp_path)


def test_it_is_one_screen():
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100
