"""xacro files, where the extra is installed; what they may read."""

import pytest

from kalaba.errors import FileError
from kalaba.files.urdf.machine import read

HEAD = '<robot name="x" xmlns:xacro="http://www.ros.org/wiki/xacro">'
MACRO = f"""{HEAD}<xacro:macro name="arm" params="n len">
<link name="${{n}}"><inertial><mass value="${{2*len}}"/>
<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial></link>
<joint name="${{n}}_joint" type="continuous"><parent link="base"/><child link="${{n}}"/></joint>
</xacro:macro></robot>"""


@pytest.fixture
def robot(tmp_path):
    pytest.importorskip("xacrodoc")
    (tmp_path / "arms" / "macros").mkdir(parents=True)
    (tmp_path / "arms" / "macros" / "arm.xacro").write_text(MACRO)
    (tmp_path / "outside.xacro").write_text(MACRO)

    def write(include: str, body: str = '<xacro:arm n="a" len="0.3"/>'):
        path = tmp_path / "arms" / "robot.xacro"
        path.write_text(f'{HEAD}<xacro:include filename="{include}"/><link name="base"/>{body}</robot>')
        return path

    return write


@pytest.mark.parametrize("include", ["macros/arm.xacro", "$(find arms)/macros/arm.xacro"])
def test_macros_are_expanded(robot, include):
    (body,) = read(robot(include)).system.machine.bodies
    assert body.name == "a"
    values = {p.name: p.value for p in read(robot(include)).system.machine.parameters}
    assert values["a.mass"] == pytest.approx(0.6)


@pytest.mark.parametrize(
    ("include", "problem"),
    [
        ("../outside.xacro", "leads out of"),
        ("macros/none.xacro", "no file"),
        ("${where}/arm.xacro", "plain names"),
        ("$(find nobody)/arm.xacro", "no folder of package 'nobody'"),
        ("$(env HOME)/arm.xacro", "reads from outside"),
        ("robot.xacro", "includes itself"),
    ],
)
def test_files_outside_the_given_folders_are_not_read(robot, include, problem):
    with pytest.raises(FileError, match=problem):
        read(robot(include))


def test_a_macro_that_cannot_be_expanded_is_one_line(robot):
    with pytest.raises(FileError, match="xacro cannot expand it") as caught:
        read(robot("macros/arm.xacro", '<xacro:arm n="a" len="${nobody}"/>'))
    assert str(caught.value).endswith("name 'nobody' is not defined.")
