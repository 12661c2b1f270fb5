"""Every item of a paper has its test, and what shows it is a command that runs."""

import ast
import re
import shlex
from pathlib import Path

import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.errors import ModelError
from kalaba.robots.catalogue import ENTRIES, find
from kalaba.robots.papers.paper import Paper
from kalaba.robots.papers.shelf import PAPERS, find_papers, papers_about

HERE = Path(__file__).parent
COMMANDS = sorted({i.command for p in PAPERS for i in p.items if i.command.startswith("kalaba ")})
EXPRESSIONS = sorted({i.command for p in PAPERS for i in p.items} - set(COMMANDS))


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_each_item_has_a_test_by_its_key_and_each_test_checks_something(paper: Paper):
    tree = ast.parse((HERE / f"test_{paper.key}.py").read_text(encoding="utf-8"))
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    tests = {f"test_{item.key.replace('-', '_')}" for item in paper.items}
    assert tests - set(functions) == set()
    assert [name for name in sorted(tests) if not checks(functions[name], functions)] == []


def checks(function: ast.FunctionDef, functions: dict[str, ast.FunctionDef]) -> bool:
    """Whether a test asserts, or calls a function of its file that does; it must not be skipped."""
    if any("skip" in ast.unparse(mark) or "xfail" in ast.unparse(mark) for mark in function.decorator_list):
        return False
    nodes = list(ast.walk(function))
    called = {node.func.id for node in nodes if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)}
    asserts = any(isinstance(node, ast.Assert) for node in nodes) or any(name.startswith("assert_") for name in called)
    return asserts or any(checks(functions[name], functions) for name in called & set(functions) - {function.name})


def test_no_item_is_in_between():
    """A verdict is one of four, all rows of the printed table have one, and what is not met says why."""
    words = {"works", "works, corrected", "refuted", "not reproducible"}
    for paper in PAPERS:
        assert {item.verdict.value for item in paper.items} <= words
        assert sum(paper.counts().values()) == len(paper.items)
        assert not [item.key for item in paper.items if re.search(r"\bpartly\b", item.gives_and_why)]


@pytest.mark.parametrize("paper", PAPERS, ids=lambda paper: paper.key)
def test_machines_are_those_of_the_catalogue(paper: Paper):
    assert set(paper.machines) <= set(ENTRIES)
    assert all(paper.citation.text in ENTRIES[name].source for name in paper.machines)


@pytest.mark.parametrize(
    ("words", "machine"),
    [
        ("10.21656/1000-0887.420223", "dual-mobile-arm"),
        ("https://doi.org/10.21656/1000-0887.420223", "dual-mobile-arm"),
        ("Zhao Xiaomin", "dual-mobile-arm"),
        ("6PUS-UPU", "pus-upu"),
        ("6pus–upu", "pus-upu"),
        ("Liao", "floating-flexible-arm"),
        ("10.21656/1000-0887.400363", "planar-parallel"),
    ],
)
def test_a_reader_finds_the_machine_of_a_paper(words, machine):
    assert find(words).name == machine


@pytest.mark.parametrize("words", ["motor", "platform", "10.", "2014", "e", "", "Liao motor"])
def test_a_word_of_a_title_or_a_part_of_a_name_is_no_machine(words):
    with pytest.raises(ModelError, match="no machine"):
        find(words)


def test_an_author_of_two_papers_has_two_machines():
    assert len(papers_about("Dong")) == 2
    with pytest.raises(ModelError, match=r"papers about it have the machines dual-mobile-arm, planar-parallel\."):
        find("Dong")


def test_a_paper_that_is_not_there_is_said_with_names_that_are_near():
    with pytest.raises(ModelError, match=r"no paper about 'Liau'; did you mean .*Liao"):
        find_papers("Liau")


def test_bibtex_has_both_titles(capsys):
    assert invoke(["papers", "Liao", "--bibtex"]) == 0
    printed = capsys.readouterr().out
    assert "自由漂浮柔性机械臂系统的动力学建模与仿真" in printed
    assert "volume = {32}" in printed
    assert "number = {5}" in printed


def test_the_readme_names_the_papers_and_their_machines():
    text = (HERE.parents[1] / "README.md").read_text(encoding="utf-8")
    for paper in PAPERS:
        family = paper.citation.authors[0].partition(",")[0]
        assert f"{family} et al." in text
        assert f"`{paper.machines[0]}`" in text


def test_a_run_names_the_paper_of_its_machine(capsys, tmp_path):
    assert invoke(["run", "Peng", "--duration", "0.01", "-o", str(tmp_path / "run.nc")]) == 0
    assert "(2020); all of it: kalaba papers han2020" in " ".join(capsys.readouterr().out.split())
    assert invoke(["list"]) == 0
    assert "[han2020]" in capsys.readouterr().out


def test_the_list_and_one_paper_are_printed(capsys):
    assert invoke(["papers"]) == 0
    listed = capsys.readouterr().out
    assert all(paper.key in listed for paper in PAPERS)
    assert invoke(["papers", "Peng"]) == 0
    printed = capsys.readouterr().out
    (paper,) = papers_about("Peng")
    for item in paper.items:  # each command whole, on a line of its own
        prompt = "$" if item.command.startswith("kalaba ") else ">>>"
        assert f"\n{item.where} ({item.kind.value}): {item.verdict.value}\n" in printed
        assert f"\n    {prompt} {item.command}\n" in printed


@pytest.mark.long
@pytest.mark.parametrize("command", COMMANDS)
def test_what_shows_an_item_runs(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for one in command.split(" ; "):
        assert invoke(shlex.split(one)[1:]) == 0


@pytest.mark.long
@pytest.mark.parametrize("text", EXPRESSIONS)
def test_what_shows_an_item_in_python_gives_a_value(text):
    assert eval(text, {"kb": kb}) is not None  # our own items
