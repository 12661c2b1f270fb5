import pickle

import pytest

from kalaba import joints as kinds
from kalaba.errors import ModelError
from kalaba.space.pose import Axis, X, Y, Z

SKEW = Axis(1, 2, 3)
FREEDOMS = {
    kinds.Weld: 0,
    kinds.Revolute: 1,
    kinds.Prismatic: 1,
    kinds.Screw: 1,
    kinds.Cylindrical: 2,
    kinds.Universal: 2,
    kinds.Spherical: 3,
    kinds.Planar: 3,
    kinds.Free: 6,
}


@pytest.mark.parametrize("kind", FREEDOMS)
def test_rows_and_freedoms_add_up_to_six(kind):
    joint = kind()
    moving = len(joint.displacements) or (3 if kind is kinds.Spherical else 6 if kind is kinds.Free else 0)
    assert moving == FREEDOMS[kind]
    assert len(joint.rows) == 6 - FREEDOMS[kind]


@pytest.mark.parametrize("kind", [*FREEDOMS, kinds.PointOnLine])
@pytest.mark.parametrize("axis", [X, -Y, Z, SKEW])
def test_names_of_rows_are_unique_for_every_axis(kind, axis):
    takes_axis = hasattr(kind(), "axis") or hasattr(kind(), "normal")
    joint = kind(axis) if takes_axis else kind()
    assert len(set(joint.rows)) == len(joint.rows)


def test_rows_are_named_as_the_contract_says():
    assert kinds.Weld().rows == ("x", "y", "z", "rx", "ry", "rz")
    assert kinds.Revolute(-Y).rows == ("x", "y", "z", "rx", "rz")
    assert kinds.Prismatic(Z).rows == ("x", "y", "rx", "ry", "rz")
    assert kinds.Planar(Z).rows == ("z", "rx", "ry")
    assert kinds.Spherical().rows == ("x", "y", "z")


def test_displacements_are_named_as_the_contract_says():
    names = {kind: [name for name, _ in kind().displacements] for kind in FREEDOMS}
    assert names[kinds.Revolute] == names[kinds.Screw] == ["angle"]
    assert names[kinds.Prismatic] == ["travel"]
    assert names[kinds.Universal] == ["angle1", "angle2"]
    assert names[kinds.Planar] == ["x", "y", "angle"]


def test_axes_are_given_as_axes_or_as_numbers():
    assert kinds.Revolute((0, 0, 2)) == kinds.Revolute(Z)


def test_joints_are_values():
    joint = kinds.Universal(X, Y, q=["a", "b"])
    assert joint.q == ("a", "b")
    assert pickle.loads(pickle.dumps(joint)) == joint
    assert hash(joint) == hash(kinds.Universal(X, Y, q=("a", "b")))


@pytest.mark.parametrize(
    ("kind", "q"), [(kinds.Universal, "ab"), (kinds.Planar, "xyz"), (kinds.Planar, ("x", "y")), (kinds.Cylindrical, 3)]
)
def test_q_needs_an_entry_a_displacement(kind, q):
    """A text of as many letters as there are displacements is still one entry."""
    with pytest.raises(ModelError, match=rf"{kind.__name__}: expected q= with . entries"):
        kind(q=q)


def test_axes_of_a_cross_must_be_at_right_angles():
    with pytest.raises(ModelError, match=r"Universal: expected two axes at right angles"):
        kinds.Universal(X, Axis(1, 1, 0))
    kinds.Universal(Axis(1, 1, 0), Axis(1, -1, 0))


@pytest.mark.parametrize("limits", [5, (1,), (1, 0), (0, 0), ("a", "b"), (float("nan"), 1)])
def test_limits_are_a_lower_and_an_upper_number(limits):
    with pytest.raises(ModelError, match=r"Prismatic\.limits: expected"):
        kinds.Prismatic(limits=limits)


def test_a_thread_must_advance():
    with pytest.raises(ModelError, match=r"Screw\.pitch: .*Use Revolute"):
        kinds.Screw(pitch=0.0)


@pytest.mark.parametrize("length", [0, -1.0])
def test_a_distance_is_above_zero(length):
    with pytest.raises(ModelError, match=r"Distance\.length: expected more than zero.*Use Spherical"):
        kinds.Distance(length)
