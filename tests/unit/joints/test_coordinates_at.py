"""The way back from where a joint has brought its child to the joint's displacements."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.space.rotations import rotation_of, turn, turn_about

TILTED = kb.Axis(0.3, -0.5, 0.8)


@pytest.mark.parametrize(
    ("joint", "values"),
    [
        (kb.Revolute(TILTED), (2.9,)),
        (kb.Prismatic(TILTED), (-0.7,)),
        (kb.Screw(TILTED, pitch=-0.02), (-51.3,)),
        (kb.Cylindrical(TILTED), (0.4, -3.0)),
        (kb.Universal(kb.Axis(3, 4, 0), kb.Axis(4, -3, 0)), (2.5, -1.9)),
        (kb.Planar(-kb.Y), (0.3, -0.8, 1.2)),
        (kb.Planar(TILTED), (0.3, -0.8, -1.2)),
        (kb.Spherical(), (0.5, -0.5, 0.1, 0.7)),
        (kb.Free(), (0.1, 0.2, -0.3, 0.5, -0.5, 0.1, 0.7)),
        (kb.Weld(), ()),
    ],
    ids=lambda value: type(value).__name__ if not isinstance(value, tuple) else "",
)
def test_displacements_are_those_that_brought_the_child_there(joint, values):
    plant = kb.build(kb.System("one", (kb.Body("b", kb.Solid(1.0), joint=joint),)), backend=kb.Interpreted())
    q = np.array(values)
    if joint.has_quaternion:
        q[-4:] /= np.linalg.norm(q[-4:])
    assert np.abs(np.array(joint.coordinates_at(*plant.pose("b", q))) - q).max(initial=0.0) < 1e-12


def test_the_angle_about_an_axis_is_that_of_the_nearest_turn():
    u, angle = np.array(TILTED.components), 0.8
    R = rotation_of(turn(angle * u)) @ rotation_of(turn(np.array([0.02, 0.05, -0.01])))
    found = turn_about(TILTED, R)
    traces = [np.trace(rotation_of(turn((found + e) * u)).T @ R) for e in (-1e-3, 0.0, 1e-3)]
    assert traces[1] > max(traces[0], traces[2])
