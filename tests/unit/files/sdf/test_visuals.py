"""What the links of an SDF file look like."""

import math

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.files.sdf.machine import read
from kalaba.files.sdf.writing import write

RIGHT = math.pi / 2
SHAPES = """
<visual name='body'><pose>0.1 0 0 0 0 0</pose><geometry><box><size>0.4 0.05 0.02</size></box></geometry>
  <material><diffuse>0.2 0.4 1.5 1</diffuse></material></visual>
<visual name='axle'><pose relative_to='mark'>0 0 0.1 0 0 0</pose><geometry><cylinder><radius>0.02</radius>
  <length>0.1</length></cylinder></geometry><material><script><name>Gazebo/Grey</name></script></material></visual>
<visual name='ghost'><transparency>1</transparency><geometry><sphere><radius>9</radius></sphere></geometry></visual>
<visual name='floor'><geometry><plane><normal>0 0 1</normal></plane></geometry></visual>
<visual name='egg'><geometry><ellipsoid><radii>1 1 2</radii></ellipsoid></geometry></visual>
<visual name='rod'><geometry><capsule><radius>0.1</radius><length>0.6</length></capsule></geometry></visual>
<visual name='case'><geometry><mesh><uri>model://robot/case.stl</uri><scale>2 2 2</scale></mesh></geometry></visual>
<visual name='lost'><geometry><mesh><uri>model://robot/lost.stl</uri></mesh></geometry></visual>
"""


@pytest.fixture
def described(tmp_path):
    def opened(shapes=SHAPES, **options):
        folder = tmp_path / "robot"
        folder.mkdir(exist_ok=True)
        (folder / "case.stl").touch()
        (folder / "model.sdf").write_text(
            f"<sdf version='1.9'><model name='robot'><pose>5 0 0 0 0 0</pose>"
            f"<link name='arm'><pose>0 0 1 0 0 {RIGHT}</pose>{shapes}</link>"
            f"<frame name='mark' attached_to='arm'><pose relative_to='arm'>0 0 0 {RIGHT} 0 0</pose></frame>"
            "<joint name='j' type='revolute'><parent>world</parent><child>arm</child>"
            "<axis><xyz>0 0 1</xyz></axis></joint>"
            "</model></sdf>"
        )
        return read(folder / "model.sdf", (tmp_path,), **options)

    return opened


def visuals(system):
    return [part for part in system.parts if isinstance(part, kb.Visual)]


def test_shapes_stand_on_their_link_where_the_file_draws_them(described):
    read_from = described()
    drawn = visuals(read_from.system)
    assert [v.name for v in drawn] == [f"arm.visual{n}" for n in range(1, 7)]
    assert {v.parent for v in drawn} == {"arm"}
    box, axle, rod, _, tip, case = drawn
    assert box.shape == kb.BoxShape((0.4, 0.05, 0.02))
    assert (box.at.position, box.colour) == ((0.1, 0.0, 0.0), (0.2, 0.4, 1.0))
    assert axle.shape == kb.CylinderShape(0.02, 0.1)
    assert axle.colour is None
    np.testing.assert_allclose(axle.at.position, (0, -0.1, 0), atol=1e-15)  # along z of `mark`, which lies on its side
    assert rod.shape == kb.CylinderShape(0.1, 0.6)
    assert (tip.shape, tip.at.position) == (kb.SphereShape(0.1), (0.0, 0.0, 0.3))
    assert case.shape.file.endswith("case.stl")
    assert case.shape.scale == (2.0, 2.0, 2.0)
    assert [note for note in read_from.notes if "left out" in note or "leave out" in note] == [
        "materials in scripts, left out: Gazebo/Grey",
        "shapes that pictures leave out: <ellipsoid>",
        "mesh files that are not in the folders that were given (roots=, --root), left out: model://robot/lost.stl",
    ]


def test_meshes_are_left_out_on_request(described):
    assert not [v for v in visuals(described(meshes=False).system) if isinstance(v.shape, kb.MeshShape)]


def test_shapes_come_back_from_a_file_that_was_written(described, tmp_path):
    system = described().system
    write(system, tmp_path / "again.sdf")
    again = read(tmp_path / "again.sdf", (tmp_path,)).system
    for one, other in zip(visuals(system), visuals(again), strict=True):
        assert (one.shape, one.colour) == (other.shape, other.colour)
        np.testing.assert_allclose(one.at.position, other.at.position, atol=1e-12)  # digits of a product of rotations


@pytest.mark.parametrize(
    ("shape", "problem"),
    [
        ("<box><size>1 -1 1</size></box>", "size: expected lengths of zero or more"),
        ("<sphere/>", "expected a <radius>"),
        ("<mesh/>", "expected a <uri>"),
        ("<box><size>1 1 1</size></box></geometry><material><diffuse>1</diffuse></material><geometry>", "four numbers"),
    ],
)
def test_a_wrong_shape_is_said_with_its_place(described, shape, problem):
    with pytest.raises(FileError, match=rf"^model\.sdf:1: .*{problem}"):
        described(f"<visual name='v'><geometry>{shape}</geometry></visual>")
