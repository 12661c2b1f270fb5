import math

import numpy as np
import pytest

from kalaba.errors import ModelError
from kalaba.joints import Screw
from kalaba.model.acting import Spring
from kalaba.model.parts import Body, Connection
from kalaba.model.solids import Rod, Solid
from kalaba.space.number import as_numbers, check_number, is_number, is_structure, quantities, with_values
from kalaba.space.pose import Pose


def test_every_number_of_a_part_has_a_path_a_unit_and_a_description():
    parts = (
        Body("a", Rod(0.3, 1.0), at=Pose((1, 2, 3), rpy=(0.1, 0.2, 0.3)), joint=Screw(pitch=0.02)),
        Connection("c", "a", at=Pose(quaternion=(1, 0, 0, 0))),
        Spring("s", "a.angle", stiffness=3.0),
    )
    for part in parts:
        found = list(quantities(part))
        assert found
        assert len({q.path for q in found}) == len(found)
        assert all(q.unit and q.description for q in found)


def test_paths_of_a_body_are_those_of_the_contract():
    body = Body("a", Rod(0.3, 1.0), at=Pose((1, 2, 3), rpy=(0.1, 0.2, 0.3)), joint=Screw(pitch=0.02))
    paths = [q.path for q in quantities(body)]
    assert paths == ["length", "mass", "at.x", "at.y", "at.z", "at.roll", "at.pitch", "at.yaw", "pitch"]


def test_a_tip_that_is_not_there_has_no_numbers():
    assert "tip.x" not in [q.path for q in quantities(Solid(1.0))]
    assert "tip.x" in [q.path for q in quantities(Solid(1.0, tip=(1, 0, 0)))]


def test_values_are_put_back_where_they_came_from():
    body = Body("a", Solid(2.0, com=(1, 2, 3), inertia=(4, 5, 6)), at=Pose((7, 8, 9)), joint=Screw(pitch=0.02))
    values = {q.path: q.value for q in quantities(body)}
    assert with_values(body, values.__getitem__) == body
    doubled = with_values(body, lambda path: 2 * values[path])
    assert (doubled.solid.mass, doubled.at.position, doubled.joint.pitch) == (4.0, (14.0, 16.0, 18.0), 0.04)


def test_exact_zeros_and_quarter_turns_are_structure():
    quantity = {q.path: q for q in quantities(Pose((1, 2, 3), rpy=(0.1, 0.2, 0.3)))}
    assert is_structure(quantity["x"], 0.0)
    assert not is_structure(quantity["x"], 1e-300)
    assert not is_structure(quantity["x"], math.pi / 2)
    assert all(is_structure(quantity["roll"], k * math.pi / 2) for k in range(-5, 6))
    assert not is_structure(quantity["roll"], 1e-9)


@pytest.mark.parametrize("value", [1, 1.0, np.float64(1), np.float32(1), np.int64(1)])
def test_numbers_of_python_and_numpy_are_numbers(value):
    assert is_number(value)


@pytest.mark.parametrize("value", [True, "1", None, math.nan, math.inf, [1.0], 1j])
def test_all_else_is_none(value):
    assert not is_number(value)


def test_a_number_may_be_given_as_an_expression():
    check_number("a.length", "2*b")
    assert as_numbers((1, "a", np.float64(2)), 3, "at") == (1.0, "a", 2.0)


@pytest.mark.parametrize("given", ["xyz", (1, 2), (1, 2, None), 5, ((1, 2), 3, 4)])
def test_what_is_not_so_many_numbers_is_refused(given):
    with pytest.raises(ModelError, match=r"at: expected 3 numbers, got .* Give a tuple"):
        as_numbers(given, 3, "at")
