"""URDF in: every type of joint, what real files contain, loops in the three ways that files add them."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.files.urdf.machine import read
from kalaba.model.appearance import BoxShape, MeshShape
from kalaba.model.formats import format_of

INERTIAL = (
    '<inertial><origin xyz="0.1 0.02 0"/><mass value="1"/>'
    '<inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
ARM = """
<robot name="arm">
  <material name="steel"><color rgba="0.5 0.5 0.6 1"/></material>
  <link name="world"/>
  <link name="base">
    <inertial><mass value="2"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
  </link>
  <link name="upper arm">
    <inertial>
      <origin xyz="0.2 0 0.1" rpy="0.3 -0.2 0.5"/><mass value="1.5"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.025" ixy="0.001" ixz="-0.002" iyz="0.003"/>
    </inertial>
    <visual><origin xyz="0.2 0 0"/><geometry><box size="0.4 0.05 0.05"/></geometry><material name="steel"/></visual>
    <visual><geometry><mesh filename="package://arm/upper.stl"/></geometry></visual>
    <collision><geometry><box size="0.4 0.05 0.05"/></geometry></collision>
  </link>
  <link name="slide"><inertial><mass value="0.5"/>
    <inertia ixx="0.001" iyy="0.001" izz="0.001" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="wrist"><inertial><mass value="0.2"/>
    <inertia ixx="5" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="tool"/>
  <joint name="foot" type="fixed"><parent link="world"/><child link="base"/><origin xyz="0 0 0.3"/></joint>
  <joint name="shoulder" type="revolute">
    <parent link="base"/><child link="upper arm"/><origin xyz="0 0 0.1" rpy="0 0.4 0"/><axis xyz="0 3 4"/>
    <limit lower="-1" upper="2" effort="30" velocity="2"/><dynamics damping="0.7" friction="0.1"/>
  </joint>
  <joint name="rail" type="prismatic">
    <parent link="upper arm"/><child link="slide"/><origin xyz="0.4 0 0"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.2" effort="100" velocity="1"/>
  </joint>
  <joint name="twist" type="continuous">
    <parent link="slide"/><child link="wrist"/><origin xyz="0.1 0 0" rpy="0 1.5707963267948966 0"/><axis xyz="0 0 1"/>
  </joint>
  <joint name="flange" type="fixed"><parent link="wrist"/><child link="tool"/><origin xyz="0 0 0.05"/></joint>
  <transmission name="gears">
    <joint name="twist"/><actuator name="m"><mechanicalReduction>50</mechanicalReduction>
    <rotorInertia>1e-5</rotorInertia></actuator>
  </transmission>
</robot>
"""


@pytest.fixture
def file(tmp_path: Path):
    def write(text: str, name: str = "arm.urdf") -> Path:
        path = tmp_path / name
        path.write_text(text)
        return path

    return write


def robot(links: str, joints: str) -> str:
    """A file of links of 1 kg, `name:parent:type`, and more."""
    parts = [f'<link name="{name}">{INERTIAL}</link>' for name in links.split()]
    for joint in joints.split():
        name, parent, child, kind, *inside = joint.split(":")
        parts.append(
            f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/>'
            f'<origin xyz="0.3 0 0"/><axis xyz="0 0 1"/>{" ".join(inside).replace("~", " ")}</joint>'
        )
    return f'<robot name="r">{"".join(parts)}</robot>'


def test_a_file_is_the_machine_that_a_person_would_write(file):
    described = read(file(ARM))
    system, machine = described.system, described.system.machine
    assert [b.name for b in machine.bodies] == ["base", "upper_arm", "slide", "wrist"]
    assert [c.name for c in machine.coordinates] == ["upper_arm.angle", "slide.travel", "wrist.angle"]
    assert machine.frames["tool"].parent == "wrist"
    assert {a.name: a.limit for a in machine.actuators} == {
        "shoulder.motor": 30.0,
        "rail.motor": 100.0,
        "twist.motor": np.inf,
    }
    parts = {part.name: part for part in system.parts}
    assert (parts["shoulder.damper"].damping, parts["shoulder.damper"].friction) == (0.7, 0.1)
    assert parts["twist.rotor"].inertia == pytest.approx(50**2 * 1e-5)
    assert parts["upper_arm"].joint.limits == (-1.0, 2.0)
    assert parts["upper_arm"].joint.axis.components == pytest.approx((0, 0.6, 0.8))
    assert parts["upper_arm.visual1"].shape == BoxShape((0.4, 0.05, 0.05))
    assert parts["upper_arm.visual1"].colour == (0.5, 0.5, 0.6)
    noted = "; ".join(described.notes)
    for words in ("upper arm → upper_arm", "wrist (1, 1, 5)", "package://arm/upper.stl", "collision", "velocity"):
        assert words in noted


def test_what_was_read_is_kept_whole_by_kalabas_own_file(file, tmp_path):
    system = read(file(ARM)).system
    path = system.save(tmp_path / "arm.yaml")
    assert format_of(path).read(path, ()).system == system


def test_a_mesh_within_the_roots_is_taken_along_and_none_from_outside(file, tmp_path):
    (tmp_path / "packages" / "arm").mkdir(parents=True)
    mesh = tmp_path / "packages" / "arm" / "upper.stl"
    mesh.write_text("solid")
    inner = tmp_path / "inner"
    inner.mkdir()
    path = file(ARM, "inner/arm.urdf")
    shapes = [v.shape for v in read(path, (tmp_path / "packages",)).system.machine.visuals]
    assert MeshShape(str(mesh)) in shapes
    assert not any(isinstance(v.shape, MeshShape) for v in read(path).system.machine.visuals)
    without = read(path, (tmp_path / "packages",), meshes=False).system.machine
    assert not any(isinstance(v.shape, MeshShape) for v in without.visuals)


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_mass_matrix_and_bias_are_pinocchios(file, base):
    pytest.importorskip("pinocchio")
    from benchmarks.robot_files import compared

    row = compared(file(ARM), base, ())
    assert not row.problem
    assert max(row.mass, row.bias) < 1e-13  # rounding: some hundred operations on numbers of order one


@pytest.mark.parametrize("base", ["fixed", "free"])
def test_chains_of_mimics_are_pinocchios_model_restricted_to_them(file, base):
    pytest.importorskip("pinocchio")
    from benchmarks.robot_files import compared

    hand = robot(
        "palm a b c d",
        "j1:palm:a:revolute:<limit~lower='-1'~upper='1'~effort='2'~velocity='1'/> "
        "j2:a:b:continuous:<mimic~joint='j1'~multiplier='2'~offset='0.1'/> "
        "j3:b:c:prismatic:<mimic~joint='j2'~multiplier='-0.5'/><limit~lower='0'~upper='1'~effort='3'~velocity='1'/> "
        "j4:c:d:continuous",
    )
    described = read(file(hand), base=base)
    assert dict(described.system.machine.displacements)["c.travel"].expression.text == "-a.angle - 0.05"
    assert "mimic another, left out: j3" in "; ".join(described.notes)
    row = compared(file(hand), base, ())
    assert not row.problem
    assert max(row.mass, row.bias) < 1e-13  # as above


def test_products_in_chains_of_mimics_are_written_as_decimals(file):
    """In binary 0.8 · 0.8 is 0.6400000000000001, and 0.05 + 0.8 · 0.05 is 0.09000000000000001."""
    follows = "multiplier='0.8'~offset='0.05'/>"
    described = read(
        file(
            robot(
                "palm a b c",
                "j1:palm:a:continuous "
                f"j2:a:b:continuous:<mimic~joint='j1'~{follows} j3:b:c:continuous:<mimic~joint='j2'~{follows}",
            )
        )
    )
    assert described.system.machine.displacements["c.angle"].expression.text == "0.64*a.angle + 0.09"


def test_floating_and_planar_joints_have_their_freedoms(file):
    system = read(file(robot("a b c", "j1:a:b:floating j2:b:c:planar"))).system
    assert len(system.machine.velocities) == 9
    assert kb.build(system, backend=kb.Interpreted()).mass_matrix(kb.build(system).start.q).shape == (9, 9)


def test_a_root_called_world_is_the_world_unless_it_floats(file):
    text = robot("world a", "j1:world:a:continuous")
    assert [b.name for b in read(file(text)).system.machine.bodies] == ["a"]
    assert [b.name for b in read(file(text), base="free").system.machine.bodies] == ["world_", "a"]


LINKS = ("crank", "coupler", "rocker")
LOOPS = {
    "URDF+": "<loop name='pin' type='revolute'><predecessor link='ground'><origin xyz='0.5 0 0'/></predecessor>"
    "<successor link='rocker'><origin xyz='0.4 0 0'/></successor><axis xyz='0 0 1'/></loop>",
    "urdfdom": "<constraint name='pin' type='revolute'><parent link='ground'/><parent_origin xyz='0.5 0 0'/>"
    "<parent_axis xyz='0 0 1'/><child link='rocker'/><child_origin xyz='0.4 0 0' rpy='1.5707963267948966 0 0'/>"
    "<child_axis xyz='0 1 0'/></constraint>",
    "urdfdom, as it is written": "<constraint name='pin' type='revolute_joint'><parent_origin xyz='0.5 0 0'/>"
    "<child_origin xyz='0.4 0 0'/><parent_axis xyz='0 0 1'/><parent link='ground'/><child link='rocker'/></constraint>",
    "urdfdom, a link that is cut": "<constraint name='pin' type='link'><parent link='stub'/><child link='rocker'/>"
    "<child_origin xyz='0.4 0 0' rpy='0 0 1.5707963267948966'/></constraint>"
    f"<link name='stub'>{INERTIAL}</link><joint name='to_stub' type='continuous'><parent link='ground'/>"
    "<child link='stub'/><origin xyz='0.5 0 0'/><axis xyz='0 0 1'/></joint>",
}


def four_bar(loop: str) -> str:
    """A parallelogram that its file draws closed at zero: crank and rocker of 0.4 m along y, coupler of 0.5 m."""
    links = "".join(f'<link name="{n}">{INERTIAL}</link>' for n in LINKS)
    right = 1.5707963267948966
    places = (
        ("ground", "crank", "0 0 0", right),
        ("crank", "coupler", "0.4 0 0", -right),
        ("coupler", "rocker", "0.5 0 0", -right),
    )
    joints = "".join(
        f'<joint name="to_{c}" type="revolute"><parent link="{p}"/><child link="{c}"/>'
        f'<origin xyz="{xyz}" rpy="0 0 {yaw}"/>'
        '<axis xyz="0 0 1"/><limit lower="-1" upper="2" effort="1" velocity="1"/></joint>'
        for p, c, xyz, yaw in places
    )
    return f'<robot name="four-bar"><link name="ground"/>{links}{joints}{loop}</robot>'


@pytest.mark.parametrize("loop", LOOPS.values(), ids=LOOPS.keys())
def test_a_loop_in_the_file_closes_near_where_it_is_drawn(file, loop):
    system = read(file(four_bar(loop))).system
    plant = kb.build(system)
    assert kb.check(system).freedoms == 1
    assert np.abs(plant.start.q).max() < 1e-9  # assembled to its tolerance: the loop is closed at zero exactly
    run = kb.simulate(system, 0.5, control={"to_crank.motor": "0.3"})
    assert np.abs(run.residual).max() < 1e-12


def test_a_coupling_keeps_the_ratio_of_turns(file):
    text = robot("a b c", "j1:a:b:continuous j2:a:c:continuous").replace(
        "</robot>",
        "<coupling name='gear'><predecessor link='b'/><successor link='c'/><ratio value='-3'/></coupling></robot>",
    )
    system = replace(read(file(text)).system, start=kb.Start(speed={"b.angle": 1.0}))
    run = kb.simulate(system, 0.2)
    assert run["c.angle + 3*b.angle"] == pytest.approx(0.0, abs=1e-12)


WRONG = {
    "expected one of revolute": robot("a b", "j:a:b:hinge"),
    "no link 'c'": robot("a b", "j:a:c:fixed"),
    "has a parent already": robot("a b c", "j:a:c:fixed k:b:c:fixed"),
    "one link that has no parent, got 2": robot("a b", ""),
    "got a ring of links": robot("a b", "j:a:b:fixed k:b:a:fixed"),
    "each other's parents": robot("a b c", "j:b:c:fixed k:c:b:fixed"),
    "a second link": robot("a a", ""),
    "a second joint": robot("a b c", "j:a:b:fixed j:a:c:fixed"),
    "mimic each other in a ring": robot(
        "a b c", "j:a:b:continuous:<mimic~joint='k'/> k:a:c:continuous:<mimic~joint='j'/>"
    ),
    "one displacement to mimic": robot("a b c", "j:a:b:fixed k:a:c:continuous:<mimic~joint='j'/>"),
    "axis: expected a direction": robot("a b", "j:a:b:continuous").replace("0 0 1", "0 0 0"),
    "xyz: expected 3 finite numbers": robot("a b", "j:a:b:continuous").replace("0.3 0 0", "0.3 nan 0"),
    "mass of zero or more": robot("a b", "j:a:b:continuous").replace('value="1"', 'value="-1"'),
    "expected a <robot>": "<mujoco/>",
    "at least one <link>": "<robot name='r'/>",
    "effort: expected zero or more": robot("a b", "j:a:b:continuous:<limit~effort='-1'~velocity='1'/>"),
    "friction: expected zero or more": robot("a b", "j:a:b:continuous:<dynamics~friction='-1'/>"),
    "no link 'x'": robot("a b", "j:a:b:continuous").replace(
        "</robot>", "<loop name='l' type='fixed'><predecessor link='x'/><successor link='b'/></loop></robot>"
    ),
}


@pytest.mark.parametrize("problem", WRONG)
def test_what_cannot_be_read_is_said_with_its_place(file, problem):
    with pytest.raises(FileError, match=problem) as caught:
        read(file(WRONG[problem]))
    assert str(caught.value).startswith("arm.urdf:1: <")


def test_damping_below_zero_is_taken_and_said(file):
    described = read(file(robot("a b", "j:a:b:continuous:<dynamics~damping='-0.25'/>")))
    assert [part.damping for part in described.system.parts if isinstance(part, kb.Spring)] == [-0.25]
    assert any("damping below zero" in note and "j (-0.25)" in note for note in described.notes)


def test_a_base_that_is_neither_fixed_nor_free_is_refused(file):
    with pytest.raises(FileError, match="fixed or free"):
        read(file(ARM), base="wheels")


def test_a_xacro_without_its_extra_says_which(file, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xacrodoc", None)
    with pytest.raises(FileError, match=r"kalaba\[xacro\]"):
        read(file("<robot/>", "arm.xacro"))


ENDS = (
    '<link name="rocker end"/><joint name="end" type="fixed"><parent link="rocker"/><child link="rocker end"/>'
    '<origin xyz="0.4 0 0" rpy="0 0 1.5707963267948966"/></joint>'
    '<link name="post"/><joint name="stand" type="fixed"><parent link="ground"/><child link="post"/>'
    '<origin xyz="0.5 0 0"/></joint>'
)
BESIDE = {
    "kalaba": "kalaba: 1\nconnections:\n  pin: {child: rocker_end, parent: post, joint: {revolute: z}}\n",
    "Extended URDF": "closed_loop: [[post, end]]\ntype: [3D]\nname_mot: [to_crank]\n",
}


@pytest.mark.parametrize("text", BESIDE.values(), ids=BESIDE.keys())
def test_a_file_beside_it_closes_loops(file, text):
    described = read(file(four_bar(ENDS)), loops=file(text, "arm.loops.yaml"))
    assert kb.check(described.system).freedoms == 1
    assert np.abs(kb.build(described.system).start.q).max() < 1e-9  # drawn closed
    motors = kb.build(described.system).actuators
    assert motors == (("to_crank.motor",) if "name_mot" in text else tuple(f"to_{link}.motor" for link in LINKS))


def test_extended_urdf_names_motors_and_changes_the_kinds_of_joints(file):
    text = robot("base a rod c tip", "m1:base:a:continuous j2:a:rod:continuous j3:rod:c:continuous j4:c:tip:continuous")
    loops = (
        "closed_loop: [[base, tip]]\ntype: [6d]\nname_mot: m\n"
        "joint_name: [j2, j3, j4]\njoint_type: [UJOINT_ZX, SPHERICAL, FIXED]\nmodel: a\n"
    )
    described = read(file(text), loops=file(loops, "x.yaml"))
    system = described.system
    joints = {part.name: part.joint for part in system.parts if isinstance(part, kb.Body) and not part.joint.is_rigid}
    assert joints == {"a": kb.Revolute(kb.Z), "rod": kb.Universal(kb.Z, kb.X), "c": kb.Spherical()}
    assert [connection.joint for connection in system.machine.connections] == [kb.Weld()]
    assert [motor.name for motor in system.machine.actuators] == ["m1.motor"]
    assert "entries of the file of loops, left out: model" in described.notes


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "closed_loop: [[post, end], [post, ends]]\n",
            r"loops\.yaml:1: closed_loop\[1\]: no link or joint 'ends'; did you mean end",
        ),
        ("closed_loop: [[post]]\n", "two names of frames"),
        ("closed_loop: [[post, end]]\ntype: [5d]\n", "6d or 3d"),
        ("closed_loop: [[post, end]]\ntype: [3d, 3d]\n", "a type for each of 1 pair, got 2"),
        ("closed_loop: [[post, end]]\njoint_name: [end]\n", "a joint_type for each, got 0"),
        ("closed_loop: []\njoint_name: [end]\njoint_type: [CARDAN]\n", "UJOINT_YZ, UJOINT_ZX, got 'CARDAN'"),
        ("closed_loop: []\njoint_name: [ends]\njoint_type: [FIXED]\n", "no joint 'ends'; did you mean end"),
        ("closed_loop: []\nname_mot: [to_cranck]\n", "no joint 'to_cranck'; did you mean to_crank"),
        ("closed_loop: 3\n", "closed_loop: expected a list"),
        ("connections: {}\n", "kalaba: 1"),
        ("kalaba: 1\nconnections:\n  pin: {child: nobody, parent: post}\n", "nobody"),
    ],
)
def test_a_wrong_file_of_loops_is_said_with_its_place(file, text, problem):
    with pytest.raises(FileError, match=problem):
        read(file(four_bar(ENDS)), loops=file(text, "arm.loops.yaml"))


def arm() -> str:
    """Six hinges with axes in turn about z, y, y, x, y, x, links of 0.3 m along z, and a hand without mass."""
    axes = ("0 0 1", "0 1 0", "0 1 0", "1 0 0", "0 1 0", "1 0 0")
    links = "".join(f'<link name="l{i}">{INERTIAL}</link>' for i in range(7))
    joints = "".join(
        f'<joint name="j{i}" type="revolute"><parent link="l{i - 1}"/><child link="l{i}"/><origin xyz="0 0 0.3"/>'
        f'<axis xyz="{axis}"/><limit lower="-2" upper="2" effort="80" velocity="3"/></joint>'
        for i, axis in enumerate(axes, start=1)
    )
    hand = '<joint name="grip" type="fixed"><parent link="l6"/><child link="hand"/><origin xyz="0 0 0.1"/></joint>'
    return f'<robot name="arm"><link name="hand"/>{links}{joints}{hand}</robot>'


def test_two_arms_from_a_file_carry_a_bar(file):
    loaded = read(file(arm())).system
    bend = kb.Start(guess={"l2.angle": 0.6, "l3.angle": 1.2, "l5.angle": -0.9})
    cell = kb.System(
        "cell",
        parts=(
            loaded.place("left", at=(0, 0.4, 0), start=bend),
            loaded.place("right", at=(0, -0.4, 0), start=bend),
            kb.Body("bar", kb.Cylinder(radius=0.015, length=0.8, mass=2.0, axis=kb.Y)),
            kb.Connection("grip_left", "left.hand", parent="bar", at=(0, 0.4, 0)),
            kb.Connection("grip_right", "right.hand", parent="bar", at=(0, -0.4, 0)),
        ),
        start=kb.Start(guess={"bar": kb.Pose((0.8, 0, 1.2))}),
    )
    assert kb.check(cell).freedoms == 6 + 6 + 6 - 12
    run = kb.simulate(cell, 0.05, control={"left.j2.motor": "20", "right.j2.motor": "20"})
    assert np.abs(run.residual).max() < 1e-12  # projected at every step


def test_slips_that_change_no_motion_are_noted_and_read_over(file):
    text = "\n\n<?xml version='1.0'?>\n" + ARM.replace('upper.stl"', 'upper.stl" scale="1 1 1 1"').replace(
        "<mechanicalReduction>50<", "<mechanicalReduction>reduction<"
    )
    described = read(file(text))
    assert "transmissions that are none" in "; ".join(described.notes)
    assert "not three numbers" in "; ".join(described.notes)
    with pytest.raises(FileError, match=r"arm\.urdf:13: "):
        read(file(text.replace('mass value="1.5"', 'mass value="heavy"')))


def test_a_ball_joint_as_bullet_writes_it_has_three_freedoms(file):
    assert len(read(file(robot("a b", "j:a:b:spherical"))).system.machine.velocities) == 3


def test_a_tree_moves_without_libraries_that_are_slow_to_import(file):
    """From the file to the first acceleration: neither SciPy nor what draws, reads YAML or runs in time."""
    code = (
        "import sys, warnings; warnings.simplefilter('ignore'); import kalaba as kb; "
        f"plant = kb.build(kb.load({str(file(ARM))!r}), backend=kb.Interpreted()); plant.motion(*plant.start); "
        "print([name for name in ('scipy', 'numba', 'matplotlib', 'yaml', 'rich', 'typer') if name in sys.modules])"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"


def test_a_question_ends_with_its_mark(file):
    with pytest.raises(FileError, match=r"no link 'bb'; did you mean b\?$"):
        read(file(robot("a b", "j:a:bb:fixed")))
