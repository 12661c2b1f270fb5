"""Warnings on the command line: one line each, without Python's source; and rows that never open are still rows."""

import subprocess
import sys
import warnings

import pytest

from kalaba.cli.application import invoke
from kalaba.cli.terminal import plain_warnings

COMMAND = [sys.executable, "-c", "from kalaba.cli import main; main()"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """What a command writes goes to a directory of its own."""
    monkeypatch.chdir(tmp_path)


def diverging(command: str, *arguments: str) -> list[str]:
    """What a beam that bends too far has said of it on stderr, in a process with Python's own filters."""
    asked = [*COMMAND, command, "spinning-beam", *arguments, "--duration", "8.5"]
    ran = subprocess.run(asked, capture_output=True, text=True, check=True)
    return ran.stderr.splitlines()


def test_a_warning_of_a_run_is_one_line():
    (line,) = diverging("run", "--set", "foreshortening=false", "--quiet")
    assert line.startswith("warning: spinning-beam: beam bends by ")


def test_compare_warns_of_the_variant_concerned():
    (line,) = diverging("compare", "--vary", "foreshortening=true,false", "-o", "c.csv", "--quiet")
    assert line.startswith("warning: spinning-beam: beam bends by ")


def test_words_on_several_lines_become_one(capsys):
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        with plain_warnings():
            warnings.warn("first\n  second", UserWarning, stacklevel=1)
    assert capsys.readouterr().err == "warning: first second\n"


def test_what_a_file_holds_beside_has_a_line_per_thing(capsys, tmp_path):
    link = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    joint = '<parent link="a"/><child link="b"/><limit lower="-1" upper="1" effort="0" velocity="1"/>'
    tmp_path.joinpath("arm.urdf").write_text(
        f'<robot name="arm"><link name="a">{link}</link><link name="b">{link}</link>'
        f'<joint name="j" type="revolute">{joint}</joint><gazebo/></robot>'
    )
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        assert invoke(["check", "arm.urdf"]) == 0
    assert capsys.readouterr().err.splitlines() == [
        "warning: arm.urdf:",
        "- elements that describe no mechanics, left out: <gazebo>",
        "- velocity limits, left out",
        "- joint limits bound the start and inverse kinematics, but stop no joint",
        "- effort limits of zero: no motor: j",
    ]


def test_python_shows_warnings_as_before_afterwards():
    before = warnings.showwarning
    assert invoke(["list"]) == 0
    assert warnings.showwarning is before


@pytest.mark.parametrize("stepper", ["dp5", "rk4", "radau", "newmark"])
def test_a_prescribed_row_that_never_opens_is_named(capsys, stepper):
    assert invoke(["run", "spinning-beam", "--duration", "0.02", "--stepper", stepper]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert "rows: 1, rank: 1, freedoms: 4" in printed[1]
    assert printed[3].startswith("worst residual: ")
    assert " in hub at " in printed[3]
