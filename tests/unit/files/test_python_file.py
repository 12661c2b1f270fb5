"""Python files: the machine in them is taken; what is wrong in them is one line with file and line."""

import sys

import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.files.python_file import read

ARM = """import kalaba as kb
arm = kb.System("arm", parts=(kb.Body("rod", kb.Rod(1.0, mass=1.0), joint=kb.Revolute(kb.Y)),))
"""


def written(tmp_path, text, name="my.py"):
    path = tmp_path / name
    path.write_text(text)
    return path


def test_the_only_machine_is_taken_and_parts_of_it_do_not_count(tmp_path):
    text = ARM + 'cell = kb.System("cell", parts=(arm.place("left"), arm.place("right")))\nsame = cell\n'
    assert read(written(tmp_path, text)).system.name == "cell"
    text += "demo = kb.Scenario(cell, 2.0)\n"
    described = read(written(tmp_path, text))
    assert described.scenario.duration == 2.0
    assert described.scenario.system is described.system
    assert read(written(tmp_path, text), name="arm").system.name == "arm"


def test_of_several_machines_one_must_be_named(tmp_path):
    path = written(tmp_path, ARM + 'other = kb.System("other", parts=())\n')
    with pytest.raises(FileError, match=rf"{path}: expected one machine, got arm, other\. Say which: {path}:arm$"):
        read(path)


def test_a_file_without_a_machine_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"expected a kb\.System or a kb\.Scenario in it, got none"):
        read(written(tmp_path, "import kalaba as kb\n"))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("a = 1\nb = (\n", r"my\.py:2: '\(' was never closed\. Mend that line\.$"),
        ("a = 1\n\nb = nothing\n", r"my\.py:3: NameError: name 'nothing' is not defined$"),
        ("def f():\n    return 1/0\n\nf()\n", r"my\.py:2: ZeroDivisionError: division by zero$"),
        ("import kalaba as kb\nkb.load('four-baz')\n", r"my\.py:2: no machine 'four-baz' in the catalogue; did you"),
        ("import sys\nsys.exit()\n", r"my\.py:2: SystemExit$"),
        ("raise ValueError('one\\n two')\n", r"my\.py:1: ValueError: one two$"),
        ("import helper_that_breaks\n", r"my\.py:1: ZeroDivisionError: division by zero$"),
    ],
)
def test_what_is_wrong_in_a_file_is_one_line_with_its_place(tmp_path, text, words):
    (tmp_path / "helper_that_breaks.py").write_text("x = 1\n1/0\n")
    with pytest.raises(FileError, match=words) as caught:
        read(written(tmp_path, text))
    assert "\n" not in str(caught.value)


def test_it_imports_from_its_folder_and_leaves_no_trace(tmp_path):
    (tmp_path / "links_of_mine.py").write_text(ARM)
    before, modules = list(sys.path), set(sys.modules)
    path = written(
        tmp_path,
        "from dataclasses import dataclass\nfrom links_of_mine import arm\n"
        "@dataclass\nclass Wish:\n    x: 'int' = 1\nrobot = arm.add()\n",
        "mine_and_nobody_else.py",
    )
    assert read(path, name="robot").system.name == "arm"
    assert sys.path == before
    assert "mine_and_nobody_else" not in sys.modules
    for module in set(sys.modules) - modules:
        sys.modules.pop(module)


def test_edits_within_the_same_second_are_seen(tmp_path):
    for length in (1.0, 2.0):
        path = written(tmp_path, ARM.replace("Rod(1.0", f"Rod({length}"))
        assert kb.load(path).machine.parameters[0].value == length
