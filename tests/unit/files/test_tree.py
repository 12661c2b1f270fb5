"""What readers of robots' files share."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import FileError, ModelError
from kalaba.files import tree
from kalaba.files.source import Notes
from kalaba.files.xml_tree import parse_text
from kalaba.space.rotations import rotation_of, turn


def test_an_inertia_in_turned_axes_keeps_its_moments_and_is_turned_with_them():
    R = rotation_of(turn(np.array([0.3, -0.2, 0.5])))
    solid = tree.solid_of(2.0, (0.1, 0, 0), R, (3.0, 2.0, 1.5, 0.1, 0.2, 0.3), Notes(), "arm")
    xx, yy, zz, xy, xz, yz = solid.inertia
    I = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])  # noqa: E741  (its symbol)
    I_file = np.array([[3.0, 0.1, 0.2], [0.1, 2.0, 0.3], [0.2, 0.3, 1.5]])
    assert np.allclose(R.T @ I @ R, I_file, atol=1e-14)  # rounding of six products


def test_an_impossible_inertia_is_kept_and_noted_but_refused_of_people():
    notes = Notes()
    numbers = (5.0, 1.0, 1.0, 0.0, 0.0, 0.0)
    solid = tree.solid_of(1.0, (0, 0, 0), np.eye(3), numbers, notes, "arm")
    assert solid.inertia == numbers
    assert "arm (1, 1, 5)" in notes.lines[0]
    plant = kb.build(kb.System("one", parts=(kb.Body("arm", solid, joint=kb.Revolute(kb.X)),)))
    assert plant.mass_matrix([0.3]) == pytest.approx(5.0)
    with pytest.raises(ModelError, match="triangle"):
        kb.Body("arm", kb.Solid(1.0, inertia=numbers))


def test_a_motor_may_be_named_after_its_joint():
    parts = tree.Drive("elbow", "arm.angle", effort=2.0, damping=0.1, rotor=0.5).parts()
    system = kb.System("one", parts=(kb.Body("arm", kb.Rod(1.0, 1.0), joint=kb.Revolute(kb.Y)), *parts))
    placed = kb.System("two", parts=(system.place("left"), system.place("right", at=(0, 1, 0))))
    assert kb.build(placed).actuators == ("left.elbow.motor", "right.elbow.motor")
    assert dict(placed.machine.displacements).keys() == {"left.arm.angle", "right.arm.angle"}
    run = kb.simulate(system, 0.1, control={"elbow.motor": "0.5 - rate(arm.angle)"})
    assert run.actuation[0] == pytest.approx(0.5)
    with pytest.raises(ModelError, match="letters, digits"):
        kb.Actuator("elbow..motor", "arm.angle")


def test_limits_that_bound_nothing_are_left_out():
    notes = Notes()
    assert tree.limits_of(-1.0, 2.0, notes, "a") == (-1.0, 2.0)
    assert tree.limits_of(0.0, 0.0, notes, "b") is None
    assert tree.limits_of(-np.inf, 1.0, notes, "c") is None
    assert notes.lines == (tree.NO_STOPS, "limits whose upper is not above their lower, left out: b")


def test_a_base_is_fixed_or_free():
    assert tree.base_joint("free", "a.urdf") == kb.Free()
    with pytest.raises(FileError, match="fixed or free"):
        tree.base_joint("loose", "a.urdf")


def test_damping_and_stiffness_below_zero_are_kept_and_noted_friction_and_inertia_refused():
    element, notes = parse_text("<joint/>", "f.xml"), Notes()
    assert tree.strength(element, "damping", -0.1, notes, "elbow") == -0.1
    assert tree.strength(element, "stiffness", -2.0, notes, "knee") == -2.0
    assert tree.strength(element, "friction", 0.0, notes, "knee") == 0.0
    assert len(notes.lines) == 2
    assert notes.lines[0].endswith("elbow (-0.1)")
    for what, value in (("friction", -1.0), ("armature", -1.0), ("damping", -np.inf), ("damping", np.nan)):
        with pytest.raises(FileError, match=f"f.xml:1: <joint>: {what}: expected zero or more"):
            tree.strength(element, what, value, notes, "elbow")
