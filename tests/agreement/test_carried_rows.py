"""Rows of connections in two ways, differentiating poses and by the motion of their frames: the same A, b and rates."""

import numpy as np
import pytest
from hypothesis import given, settings

import kalaba as kb
from kalaba.derive.carried_rows import carried_rows
from kalaba.derive.equations import derive
from kalaba.derive.kinematics import Kinematics
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.derive.pfaffian import constraint_rows
from kalaba.robots.catalogue import ENTRIES
from machines import closed_flexible_systems, closed_systems
from states import State, numeric, random_state, relative_gap

SAME = 1e-12  # of the largest entry; seen: 5e-15


def gap_between_ways(system: kb.System, state: State) -> float:
    """Largest relative difference of A, b and the rates."""
    kinematics = Kinematics(system.machine)
    rows = constraint_rows(kinematics)
    carried = carried_rows(kinematics, NewtonEuler().recursion(kinematics), rows)
    ways = [(way.matrix, way.rhs, way.rate) for way in (carried, rows)]
    values = numeric(kinematics.symbols, *ways[0], *ways[1])(state)
    return max(relative_gap(found, expected) for found, expected in zip(values[:3], values[3:], strict=True))


@pytest.mark.parametrize("name", ENTRIES)
def test_both_ways_agree_on_the_catalogue(name):
    system = kb.load(name)
    assert gap_between_ways(system, random_state(system.machine, np.random.default_rng(1))) < SAME


@given(closed_systems(max_bodies=7, max_loops=4))
@settings(max_examples=40)
def test_both_ways_agree_on_random_loops_on_and_off_their_rows(case):
    system, closed = case
    for state in (closed, random_state(system.machine, np.random.default_rng(2))):
        assert gap_between_ways(system, state) < SAME


@given(closed_flexible_systems())
@settings(max_examples=20)
def test_both_ways_agree_where_bodies_ride_on_beams(case):
    assert gap_between_ways(*case) < SAME


def test_the_shorter_way_is_taken():
    """Two arms in space: by their frames; absolute angles in a plane: by their poses."""
    for name, is_carried in (("two-arm-carry", True), ("dual-mobile-arm", False)):
        kinematics = Kinematics(kb.load(name).machine)
        poses = constraint_rows(kinematics)
        equations = derive(kb.load(name))
        shorter = equations.operations("constraint_rhs")
        longer = derive(kb.load(name), kb.Lagrange()).operations("constraint_rhs")
        assert poses.matrix.sparsity() == equations.constraint_matrix.sparsity()
        assert (shorter < longer) == is_carried
