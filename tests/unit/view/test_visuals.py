"""Shapes that a model gives for its pictures."""

import warnings

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError
from kalaba.model.formats import LeftOutWarning
from kalaba.model.serial import from_json, to_json
from kalaba.view.scene import scene_of

TETRAHEDRON = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n"


def machine(*visuals: kb.Visual) -> kb.System:
    return kb.System("one", (kb.Body("arm", kb.Rod(1.0, 1.0), joint=kb.Revolute(kb.Y)), *visuals))


def test_a_body_is_drawn_by_the_shapes_that_it_is_given():
    box = kb.Visual("arm.visual", "arm", kb.BoxShape((2.0, 0.4, 0.2)), at=(1, 0, 0), colour=(1, 0, 0))
    ball = kb.Visual("ball", "world", kb.SphereShape(0.5), at=kb.Pose((0, 0, 3)))
    post = kb.Visual("post", "arm.tip", kb.CylinderShape(0.1, 0.6), at=kb.Pose(rpy=(np.pi / 2, 0, 0)))
    scene = scene_of(kb.build(machine(box, ball, post)))
    shapes = {shape.name: shape for shape in scene.shapes}
    assert "arm" not in shapes
    assert shapes["arm.visual"].tint == (1, 0, 0)
    assert shapes["arm.visual"].vertices.min(axis=0) == pytest.approx([0, -0.2, -0.1])
    assert shapes["ball"].vertices.max(axis=0)[2] == pytest.approx(3.5, abs=0.02)  # its poles are small flats
    assert np.ptp(shapes["post"].vertices[:, 1]) == pytest.approx(0.6)


def test_shapes_change_no_equation_and_are_kept_by_name():
    box = kb.Visual("arm.visual", "arm", kb.BoxShape((2.0, 0.4, 0.2)))
    dressed, bare = kb.build(machine(box)), kb.build(machine())
    assert dressed.mass_matrix([0.3]) == bare.mass_matrix([0.3])
    assert from_json(to_json(dressed.system)) == dressed.system


def test_a_mesh_file_is_drawn_in_its_scale(tmp_path):
    pytest.importorskip("trimesh")
    (tmp_path / "part.obj").write_text(TETRAHEDRON)
    visual = kb.Visual("v", "arm", kb.MeshShape(str(tmp_path / "part.obj"), scale=(0.1, 0.2, 0.3)))
    shape = next(s for s in scene_of(kb.build(machine(visual))).shapes if s.name == "v")
    assert shape.vertices.max(axis=0) == pytest.approx([0.1, 0.2, 0.3])


@pytest.mark.parametrize("content", [None, "<no mesh>"])
def test_a_mesh_that_cannot_be_read_is_warned_of_and_the_body_drawn_plainly(tmp_path, content):
    pytest.importorskip("trimesh")
    path = tmp_path / "part.ply"
    if content is not None:
        path.write_text(content)
    plant = kb.build(machine(kb.Visual("v", "arm", kb.MeshShape(str(path)))))
    with pytest.warns(LeftOutWarning, match=r"part\.ply"):
        scene = scene_of(plant)
    assert "arm" in {shape.name for shape in scene.shapes}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene_of(plant)  # said once


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: kb.BoxShape((1, -1, 1)), "lengths of zero or more"),
        (lambda: kb.SphereShape("wide"), "lengths of zero or more"),
        (lambda: kb.MeshShape(""), "path of a file"),
        (lambda: kb.MeshShape("a.stl", scale=(1, "x", 1)), "three numbers"),
        (lambda: kb.Visual("v", "arm", "box"), "expected a shape"),
        (lambda: kb.Visual("v", "arm", kb.SphereShape(1), at=("x", 0, 0)), "plain numbers"),
        (lambda: kb.Visual("v", "arm", kb.SphereShape(1), colour=(2, 0, 0)), "from 0 to 1"),
        (lambda: machine(kb.Visual("v", "leg", kb.SphereShape(1))), "no frame 'leg'"),
    ],
)
def test_shapes_that_cannot_be_are_refused(make, problem):
    with pytest.raises(ModelError, match=problem):
        make()
