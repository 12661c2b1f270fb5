"""A scene shows every body of every machine, where forward kinematics has it."""

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.view.scene import scene_of

NAMES = [name for name, _ in kb.catalog()]
ROUNDING = 1e-12  # m, and of unit vectors: the same expressions, compiled twice


def nearby(plant, seed):
    """A configuration off the start: nothing need be closed to be drawn."""
    q = plant.start.q + 0.1 * np.random.default_rng(seed).standard_normal(len(plant.coordinates))
    for first, _ in plant.machine.quaternions:
        q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
    return q


def interpreted_poses(plant, frames, q):
    """Position and rotation of frames in CasADi's interpreter: no compiled code, no batch."""
    kinematics = plant.equations.kinematics
    found = [kinematics.frame(frame) for frame in frames]
    symbols = kinematics.symbols
    outputs = [entry for pose in found for entry in (pose.position, pose.rotation)]
    values = ca.Function("poses", [symbols.q, symbols.p], outputs)(q, plant.parameters)
    pairs = [np.array(value) for value in values]
    return {frame: (pairs[2 * i].ravel(), pairs[2 * i + 1]) for i, frame in enumerate(frames)}


@pytest.mark.parametrize("name", NAMES)
def test_every_body_is_drawn_where_forward_kinematics_has_it(name):
    plant = kb.build(kb.load(name))
    scene = scene_of(plant)
    drawn = tuple(dict.fromkeys(shape.body for shape in scene.shapes))
    assert {body.name for body in plant.machine.bodies} <= set(drawn)
    assert len({shape.name for shape in scene.shapes}) == len(scene.shapes)
    for shape in scene.shapes:
        assert len(shape.vertices) >= 4
        assert len(shape.faces) >= 4
        assert np.isfinite(shape.vertices).all()
        assert shape.faces.min() >= 0
        assert shape.faces.max() < len(shape.vertices)
        assert np.ptp(shape.vertices, axis=0).max() < 2 * scene.size
    q = nearby(plant, 1)
    placed = scene.placed(q)
    poses = interpreted_poses(plant, drawn, q)
    for shape, position, rotation in zip(scene.shapes, *placed, strict=True):
        expected = poses[shape.body]
        assert np.abs(position - expected[0]).max() < ROUNDING
        assert np.abs(rotation - expected[1]).max() < ROUNDING


@pytest.mark.parametrize("name", ["four-bar", "stewart", "two-arm-carry", "flexible-arm-3d"])
def test_a_body_is_drawn_at_the_pose_of_the_plant(name):
    plant = kb.build(kb.load(name))
    scene, q = scene_of(plant), nearby(plant, 3)
    body = plant.machine.bodies[-1].name
    index = next(i for i, shape in enumerate(scene.shapes) if shape.name == body)
    pose, placed = plant.pose(body, q), scene.placed(q)
    assert np.abs(placed.positions[index] - pose.position).max() < ROUNDING
    assert np.abs(placed.rotations[index] - pose.rotation).max() < ROUNDING


@pytest.mark.parametrize("name", ["spinning-beam", "flexible-arm-3d", "floating-flexible-arm"])
def test_a_bent_beam_ends_where_its_tip_is(name):
    plant = kb.build(kb.load(name))
    scene, q = scene_of(plant), nearby(plant, 2)
    corners = scene.corners(q)
    beams = [i for i, shape in enumerate(scene.shapes) if f"{shape.name}.tip" in plant.machine.frames and shape.bends]
    assert beams
    for index in beams:
        sides = len(scene.shapes[index].source.outline)
        tip = plant.pose(f"{scene.shapes[index].name}.tip", q)
        end = corners[index][-sides:]  # the far cap comes last
        assert np.abs(end.mean(axis=0) - tip.position).max() < 1e-9 * scene.size  # a numerical integral foreshortens
        assert np.abs((end - tip.position) @ tip.rotation[:, 0]).max() < ROUNDING * scene.size  # across the tip's axis


@pytest.mark.parametrize("name", ["four-bar", "stewart", "two-arm-carry", "flexible-four-bar"])
def test_faces_look_outward(name):
    # Six times the volume of a closed mesh is the sum of det(a, b, c) over faces, counter-clockwise from outside.
    scene = scene_of(kb.build(kb.load(name)))
    for shape in scene.shapes:
        a, b, c = (shape.vertices[shape.faces[:, k]] for k in range(3))
        assert np.einsum("fi,fi->", a, np.cross(b, c)) > 0


def test_a_box_is_drawn_with_its_size_and_a_rod_with_its_length():
    parts = (
        kb.Body("crate", kb.Box((0.2, 0.3, 0.4), mass=1.0), joint=kb.Prismatic(kb.X)),
        kb.Body("rod", kb.Rod(0.7, mass=1.0, axis=kb.Y), parent="crate", joint=kb.Revolute(kb.Z)),
        kb.Body("wheel", kb.Cylinder(0.1, 0.05, mass=1.0), parent="rod.tip", joint=kb.Revolute(kb.Z)),
    )
    scene = scene_of(kb.build(kb.System("toys", parts)))
    spans = {shape.name: np.ptp(shape.vertices, axis=0) for shape in scene.shapes}
    assert spans["crate"] == pytest.approx((0.2, 0.3, 0.4))
    assert spans["rod"][1] == pytest.approx(0.7)
    assert spans["wheel"] == pytest.approx((0.2, 0.2, 0.05), rel=0.02)  # of 20 sides


def test_a_mass_away_from_its_joint_is_drawn_there_with_a_bar_to_it():
    solid = kb.Solid(1.0, com=(1.0, 0, 0), inertia=(0.01,) * 3)
    parts = (
        kb.Body("arm", kb.Rod(3.0, mass=1.0), joint=kb.Revolute(kb.Z)),
        kb.Body("load", solid, parent="arm.tip", joint=kb.Revolute(kb.Z)),
    )
    scene = scene_of(kb.build(kb.System("crane", parts)))
    corners = next(shape.vertices for shape in scene.shapes if shape.name == "load")
    assert corners[:8].mean(axis=0) == pytest.approx((1.0, 0, 0), abs=1e-12)  # of the block
    assert corners[:, 0].min() == pytest.approx(0.0, abs=1e-12)


def test_a_free_solid_is_the_cuboid_of_its_mass_and_inertia():
    a, b, c, mass = 0.3, 0.2, 0.1, 6.0
    inertia = tuple(mass * s / 12 for s in (b * b + c * c, a * a + c * c, a * a + b * b))
    scene = scene_of(kb.build(kb.System("block", (kb.Body("block", kb.Solid(mass, inertia=inertia)),))))
    assert sorted(np.ptp(scene.shapes[0].vertices, axis=0)) == pytest.approx([c, b, a])


def test_a_strut_reaches_from_a_slider_to_its_seat():
    slider = kb.Body("slider", kb.Box((0.1, 0.1, 0.1), mass=1.0), at=(0, 0.5, 0), joint=kb.Prismatic(kb.X))
    plant = kb.build(kb.System("rail", (slider,)))
    scene = scene_of(plant)
    index = next(i for i, shape in enumerate(scene.shapes) if shape.name == "slider.strut")
    corners = scene.corners([0.8])[index]
    assert np.abs(corners[:, 0].min()) < 1e-12
    assert corners[:, 0].max() == pytest.approx(0.8)


def test_many_configurations_are_placed_at_once():
    plant = kb.build(kb.load("stewart"))
    scene = scene_of(plant)
    rows = np.array([nearby(plant, seed) for seed in range(3)])
    together = scene.placed(rows)
    for row, positions, rotations in zip(rows, *together, strict=True):
        assert np.array_equal(scene.placed(row).positions, positions)
        assert np.array_equal(scene.placed(row).rotations, rotations)


def test_the_box_around_a_scene_holds_every_corner():
    plant = kb.build(kb.load("delta"))
    scene = scene_of(plant)
    low, high = scene.bounds(plant.start.q)
    corners = np.concatenate(scene.corners(plant.start.q))
    assert np.array_equal(low, corners.min(axis=0))
    assert np.array_equal(high, corners.max(axis=0))
    assert low == pytest.approx(scene.low)
