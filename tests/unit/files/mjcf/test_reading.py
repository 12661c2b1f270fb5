"""MJCF files become Systems: names, parts, what is left out, and errors that name the place."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import FileError, KalabaError
from kalaba.files.mjcf import read
from kalaba.model.acting import Force, Rotor, Spring
from kalaba.model.appearance import CylinderShape, MeshShape, SphereShape, Visual
from kalaba.space.rotations import from_pose, rotation_of

ARM = """<mujoco model="two links">
  <compiler angle="radian"/>
  <option gravity="0 0 -9.8"/>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="upper-arm" pos="0 0 1">
      <joint name="shoulder" axis="0 1 0" ref="0.5" range="-1 2" damping="0.3" armature="0.1" stiffness="2"
             springref="1"/>
      <inertial pos="0.2 0 0" mass="2" diaginertia="0.01 0.02 0.02"/>
      <site name="elbow" pos="0.4 0 0"/>
      <body name="fore" pos="0.4 0 0">
        <joint name="elbow" axis="0 1 0"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="1"/>
      </body>
    </body>
  </worldbody>
  <actuator><motor name="elbow" joint="elbow" gear="50" ctrlrange="-1 1"/></actuator>
</mujoco>"""


def file(folder, text, name="model.xml"):
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def parts(system, kind):
    return {part.name: part for part in system.parts if isinstance(part, kind)}


def in_world(content, rest=""):
    return f"<mujoco><worldbody>{content}</worldbody>{rest}</mujoco>"


def test_joints_are_coordinates_and_what_acts_along_them_parts(tmp_path):
    system = read(file(tmp_path, ARM)).system
    assert system.name == "two_links"
    assert system.coordinates == ("shoulder", "elbow")
    assert system.gravity == (0.0, 0.0, -9.8)
    assert parts(system, kb.Body)["upper_arm"].joint == kb.Revolute(kb.Y, "shoulder - 0.5", (-1.5, 1.5))
    assert parts(system, Spring)["shoulder.damper"] == Spring("shoulder.damper", "shoulder", 2.0, 0.3, 1.0)
    assert parts(system, Rotor)["shoulder.rotor"].inertia == 0.1
    assert parts(system, kb.Actuator)["elbow.motor"] == kb.Actuator("elbow.motor", "50*elbow", 1.0)
    assert parts(system, kb.Frame)["elbow_site"].parent == "upper_arm"


def test_a_machine_starts_where_its_file_draws_it(tmp_path):
    plant = kb.build(read(file(tmp_path, ARM)).system, backend=kb.Interpreted())
    assert plant.start.q == pytest.approx([0.5, 0.0], abs=1e-15)  # no rows: as given
    assert plant.pose("fore", plant.start.q)[0] == pytest.approx([0.4, 0.0, 1.0], abs=1e-15)


def test_a_keyframe_named_start_is_where_it_starts(tmp_path):
    bodies = '<body name="a"><freejoint/><geom size="1"/></body><body name="b"><joint name="j"/><geom size="1"/></body>'
    bodies += '<body name="c"><joint type="ball"/><geom size="1"/></body>'
    qpos = (1, 2, 3, 0, 1, 0, 0, 0.7, 0, 0, 0.6, 0.8)
    key = f'<keyframe><key name="start" qpos="{" ".join(map(str, qpos))}"/></keyframe>'
    plant = kb.build(read(file(tmp_path, in_world(bodies, key))).system, backend=kb.Interpreted())
    assert plant.start.q == pytest.approx([0.7, *qpos[:7], *qpos[8:]], abs=1e-15)


def test_what_is_left_out_is_listed_once_by_name(tmp_path):
    rest = '<sensor><gyro name="imu" site="s"/></sensor><keyframe><key name="home"/></keyframe>'
    rest += "<contact><exclude/></contact>"
    text = in_world(
        '<light/><body name="a"><joint range="-1 1"/><geom size="1"/><site name="s"/><camera/></body>', rest
    )
    notes = read(file(tmp_path, text)).notes
    assert "sensors are left out: imu" in notes
    assert any(note.startswith("keyframes are left out") and note.endswith(": home") for note in notes)
    assert "shapes do not collide: a" in notes
    assert any(note.startswith("joint limits") for note in notes)
    assert any(note.startswith("pairs of contact") for note in notes)
    assert "left out, as they move nothing: light, camera" in notes


def test_bodies_without_joints_are_welded_and_those_without_mass_are_frames(tmp_path):
    text = in_world(
        '<body name="a"><joint/><geom size="1"/><body name="b"><geom size="1"/><body name="c"/></body></body>'
    )
    system = read(file(tmp_path, text)).system
    assert parts(system, kb.Body)["b"].joint == kb.Weld()
    assert parts(system, kb.Frame)["c"].parent == "b"


def test_a_file_without_bodies_is_a_machine_without_freedoms(tmp_path):
    system = read(file(tmp_path, "<mujoco/>")).system
    assert kb.build(system, backend=kb.Interpreted()).coordinates == ()


def test_included_files_stand_in_their_place_and_lead_nowhere_else(tmp_path):
    file(tmp_path, "<any><body name='a'><joint/><geom size='1'/></body></any>", "robot/parts/body.xml")
    path = file(tmp_path, in_world("<include file='parts/body.xml'/>"), "robot/model.xml")
    assert "a" in parts(read(path).system, kb.Body)
    file(tmp_path, "<any/>", "secret.xml")
    path = file(tmp_path, in_world("<include file='../secret.xml'/>"), "robot/model.xml")
    with pytest.raises(FileError, match="leads out"):
        read(path)
    assert read(path, (tmp_path,)).system.parts == ()


def test_each_file_is_included_once(tmp_path):
    file(tmp_path, "<any/>", "b.xml")
    path = file(tmp_path, in_world("<include file='b.xml'/><include file='b.xml'/>"))
    with pytest.raises(FileError, match="again"):
        read(path)


def test_a_mesh_outside_the_folders_is_not_read(tmp_path):
    file(tmp_path, "v 0 0 0", "secret.obj")
    asset = '<asset><mesh name="m" file="../secret.obj"/></asset>'
    text = in_world('<body><joint/><geom type="mesh" mesh="m"/></body>', asset)
    with pytest.raises(FileError, match="leads out"):
        read(file(tmp_path, text, "robot/model.xml"))


CUBE = "".join(f"v {x} {y} {z}\n" for x in (0, 2) for y in (0, 3) for z in (0, 4)) + (
    "f 1 2 4 3\nf 5/1 7/1 8/1 6/1\nf 1 5 6 2\nf 3 4 8 7\nf 1 3 7 5\nf 2 6 8 4\n"
)


@pytest.mark.parametrize("rule", ["legacy", "exact", "convex"])
def test_a_mesh_of_a_cuboid_weighs_what_the_cuboid_weighs(tmp_path, rule):
    file(tmp_path, CUBE, "meshes/cube.obj")
    text = (
        f'<mujoco><compiler meshdir="meshes"/><asset><mesh file="cube.obj" inertia="{rule}"/></asset><worldbody>'
        '<body name="a"><joint/><geom type="mesh" mesh="cube" density="10"/></body></worldbody></mujoco>'
    )
    solid = parts(read(file(tmp_path, text)).system, kb.Body)["a"].solid
    cuboid = kb.Box((2, 3, 4), mass=240).mass_properties(float)
    assert solid.mass == pytest.approx(240, rel=1e-14)
    assert solid.com == pytest.approx((1, 1.5, 2), rel=1e-14)
    assert solid.inertia == pytest.approx(cuboid.inertia, rel=1e-13, abs=1e-10)  # of 1e3 kg·m²


SIZES = {"sphere": "0.3", "capsule": "0.2 0.4", "cylinder": "0.2 0.4", "ellipsoid": "0.2 0.3 0.4", "box": "0.2 0.3 0.4"}


@pytest.mark.parametrize("is_shell", [False, True])
@pytest.mark.parametrize("kind", SIZES)
def test_moments_of_shapes_are_integrals_over_points_in_them(kind, is_shell):
    """By random points: within the shape, or, for a shell, the difference of two shapes with a thin layer between."""
    from kalaba.files.mjcf.shapes import SHELLS, SOLIDS

    sizes = np.array([float(word) for word in SIZES[kind].split()])
    solid = SOLIDS[kind](*sizes)
    if is_shell:
        if kind not in SHELLS:
            pytest.skip("no closed formula")
        layer = 1e-6  # m: the layer's moments are the shell's to its square, by central differences
        outer, inner = SOLIDS[kind](*(sizes + layer)), SOLIDS[kind](*(sizes - layer))
        if kind == "capsule":  # grows by its radius alone
            outer, inner = SOLIDS[kind](sizes[0] + layer, sizes[1]), SOLIDS[kind](sizes[0] - layer, sizes[1])
        content = (outer.content - inner.content) / (2 * layer)
        moments = np.array(outer.moments) * outer.content - np.array(inner.moments) * inner.content
        shell = SHELLS[kind](*sizes)
        assert shell.content == pytest.approx(content, rel=1e-8)  # layer² and rounding over the layer
        assert shell.moments == pytest.approx(moments / (outer.content - inner.content), rel=1e-8)
        return
    points = np.random.default_rng(5).uniform(-0.65, 0.65, (400_000, 3))
    height = np.abs(points[:, 2]) - (sizes[1] if len(sizes) == 2 else 0)
    across = np.hypot(points[:, 0], points[:, 1])
    inside = {
        "sphere": lambda: np.linalg.norm(points, axis=1) < sizes[0],
        "capsule": lambda: np.hypot(across, np.maximum(height, 0)) < sizes[0],
        "cylinder": lambda: (across < sizes[0]) & (height < 0),
        "ellipsoid": lambda: np.linalg.norm(points / sizes, axis=1) < 1,
        "box": lambda: (np.abs(points) < sizes).all(axis=1),
    }[kind]()
    squares = (points[inside] ** 2).mean(0)
    assert solid.content == pytest.approx(1.3**3 * inside.mean(), rel=0.03)  # 10,000 points: 1 %
    assert solid.moments == pytest.approx(squares.sum() - squares, rel=0.03)


MISTAKES = {
    "angle": ('<mujoco><compiler angle="grad"/></mujoco>', "angle: expected one of"),
    "global": ('<mujoco><compiler coordinate="global"/></mujoco>', "coordinate"),
    "class": (in_world('<body><joint class="x"/></body>'), "no class of defaults 'x'"),
    "joint kind": (in_world('<body><joint type="cog"/></body>'), "type: expected one of"),
    "axis": (in_world('<body><joint axis="0 0 0"/></body>'), "axis: expected a direction"),
    "numbers": (in_world('<body pos="1 2"/>'), "pos: expected 3 finite numbers"),
    "size": (in_world('<body><geom type="box" size="1 1"/></body>'), "size: expected 3"),
    "free within": (in_world("<body><joint/><body><freejoint/></body></body>"), "free joint alone"),
    "of the world": (in_world("<joint/>"), "expected joints in bodies"),
    "twice": (in_world('<body name="a"/><body name="a"/>'), "a second body 'a'"),
    "body": (in_world("", '<equality><weld body1="b"/></equality>'), "body1: no body 'b'"),
    "joint": (in_world("", '<actuator><motor joint="b"/></actuator>'), "joint: no joint 'b'"),
    "tendon": (in_world("", '<actuator><motor tendon="b"/></actuator>'), "tendon: no tendon 'b'"),
    "mesh": (in_world('<body><joint/><geom type="mesh" mesh="m"/></body>'), "no mesh 'm'"),
    "mass": (in_world('<body><joint/><geom size="1" mass="-1"/></body>'), "mass: expected zero or more"),
    "friction": (in_world('<body><joint frictionloss="-1"/><geom size="1"/></body>'), "frictionloss: expected"),
    "armature": (in_world('<body><joint armature="-1"/><geom size="1"/></body>'), "armature: expected"),
    "many": (in_world('<replicate count="1e9"><body/></replicate>'), "count: expected"),
    "nested copies": (
        in_world('<replicate count="999"><replicate count="999"><geom size="1"/></replicate></replicate>'),
        "count: expected",
    ),
    "bodies": (in_world('<replicate count="6000"><body/></replicate>'), "at most 5000 bodies"),
    "a part": ("<mujocoinclude/>", "outermost element is <mujoco>"),
}


@pytest.mark.parametrize("case", MISTAKES)
def test_a_mistake_is_answered_with_its_place(tmp_path, case):
    text, message = MISTAKES[case]
    with pytest.raises(FileError, match=r"model\.xml:1: <") as caught:
        read(file(tmp_path, text))
    assert message in str(caught.value)


def test_a_part_of_the_model_that_cannot_be_is_answered_with_the_file(tmp_path):
    text = in_world(
        '<body><joint name="j"/><geom size="1"/></body>', '<equality><joint joint1="j" polycoef="1e999"/></equality>'
    )
    with pytest.raises(KalabaError, match=r"model\.xml"):
        read(file(tmp_path, text))


def test_gravity_compensation_is_a_force_against_the_weight(tmp_path):
    text = in_world(
        '<body name="a" gravcomp="0.5"><freejoint/><inertial pos="1 0 0" mass="2" diaginertia="1 1 1"/></body>'
    )
    force = parts(read(file(tmp_path, text)).system, Force)["a_gravcomp"]
    assert force.force == pytest.approx((0, 0, 9.81))


def test_flags_take_springs_gravity_and_equalities_off(tmp_path):
    flags = '<option><flag spring="disable" gravity="disable" equality="disable"/></option>'
    text = in_world(
        '<body><joint name="j" stiffness="3" damping="1"/><geom size="1"/></body>',
        flags + '<equality><joint joint1="j"/></equality>',
    )
    described = read(file(tmp_path, text))
    assert described.system.gravity == (0.0, 0.0, 0.0)
    assert parts(described.system, Spring)["j.damper"] == Spring("j.damper", "j", 0.0, 1.0)
    assert not described.system.machine.rows
    assert "equalities are left out, as the file disables them" in described.notes


def test_geoms_are_drawn_where_they_are(tmp_path):
    file(tmp_path, CUBE, "meshes/cube.obj")
    assets = '<compiler meshdir="meshes"/><asset><mesh file="cube.obj" scale="2 2 2" refpos="1 0 0" refquat="1 0 0 1"/>'
    assets += '<mesh name="gone" file="gone.stl"/><material name="red" rgba="1 0 0 1"/></asset>'
    geoms = '<geom type="capsule" size="0.1 0.2" pos="1 0 0" material="red"/><geom type="mesh" mesh="cube" mass="1"/>'
    geoms += '<geom type="ellipsoid" size="1 1 2" name="egg"/><geom size="1" group="3"/><geom size="1" rgba="1 1 1 0"/>'
    geoms += '<geom type="mesh" mesh="gone" mass="0"/>'
    described = read(file(tmp_path, in_world(f'<body name="a"><joint/>{geoms}</body>', assets)))
    drawn = [part for part in described.system.parts if isinstance(part, Visual)]
    assert [type(visual.shape) for visual in drawn] == [CylinderShape, SphereShape, SphereShape, MeshShape]
    assert drawn[0].colour == (1.0, 0.0, 0.0)
    assert drawn[1].at == kb.Pose((1.0, 0.0, -0.2))
    corner = np.array([2.0, 3.0, 4.0])  # of the mesh: moved by −refpos, turned back, then scaled
    pose = drawn[3].at
    turned = rotation_of(from_pose(pose, float)[1])
    expected = 2 * np.array([corner[1], -(corner[0] - 1), corner[2]])
    assert np.array(pose.position) + turned @ (2 * corner) == pytest.approx(expected, abs=1e-12)
    assert any(note.startswith("mesh files that are not") and note.endswith("gone.stl") for note in described.notes)
    assert "shapes that pictures leave out: egg" in described.notes
