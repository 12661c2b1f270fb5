"""Loops of the catalogue close, with the ranks that theory gives."""

import numpy as np
import pytest

from kalaba.robots.catalogue import load
from reference.numeric import Numeric

CLOSED = 1e-14  # m and rad: a few roundings of lengths below 2 m


@pytest.mark.parametrize(
    ("name", "options", "rows", "rank", "freedoms"),
    [
        ("dual-mobile-arm", {"path": False}, 6, 6, 6),
        ("dual-mobile-arm", {}, 12, 12, 0),
        ("dual-mobile-arm", {"path": False, "closure": "weld"}, 6, 5, 7),
        ("dual-mobile-arm", {"closure": "weld"}, 12, 11, 1),
        ("planar-parallel", {}, 10, 10, 2),
        ("planar-parallel", {"tracking": True}, 12, 12, 0),
        ("four-bar", {}, 5, 2, 1),
        ("five-bar", {}, 5, 2, 2),
        ("five-bar", {"motors": 3}, 5, 2, 2),
        ("bennett", {}, 5, 2, 1),
        ("sarrus", {}, 5, 4, 1),
        ("floating-flexible-arm", {"modes": 2, "base": "attitude"}, 1, 1, 9),
        ("floating-flexible-arm", {"modes": 1, "com": "eq7"}, 2, 2, 6),
        ("floating-flexible-arm", {"modes": 1, "carrier": "fixed"}, 3, 3, 5),
        ("flexible-four-bar", {}, 5, 2, 3),
        ("spinning-beam", {}, 1, 1, 4),
    ],
)
def test_rows_rank_and_freedoms(name, options, rows, rank, freedoms):
    machine = Numeric(load(name, **options))
    q = machine.assembled()
    assert np.abs(machine("residual", q)).max() < CLOSED
    assert len(machine.machine.rows) == rows
    assert machine.rank(q) == rank
    assert len(q) - rank == freedoms


@pytest.mark.parametrize(
    ("name", "driven", "end"),
    [("four-bar", "crank.angle", 7.3), ("bennett", "bar1.angle", 6.0), ("sarrus", "leg1.lower.angle", 0.2)],
)
def test_one_freedom_moves_the_whole_loop(name, driven, end):
    """The rank is the same all along the motion: the freedom is no accident of one configuration."""
    machine = Numeric(load(name))
    q = machine.assembled()
    index = machine.coordinates.index(driven)
    free = np.arange(len(q)) != index
    for value in np.linspace(q[index], end, 60):
        q[index] = value
        for _ in range(8):
            A = machine("constraint_matrix", q)
            q[free] -= np.linalg.lstsq(A[:, free], machine("residual", q), rcond=1e-9)[0]
        assert np.abs(machine("residual", q)).max() < 1e-13
        assert machine.rank(q) == len(q) - 1


def test_the_loops_that_cheat_the_count_are_rigid_when_spoilt():
    """Off the manifold the rows of the spatial four-hinge loop are independent: rank 3 of 3 coordinates."""
    machine = Numeric(load("bennett"))
    assert machine.rank(machine.assembled() + np.array([0.0, 0.1, 0.0])) == 3


@pytest.mark.parametrize("numbers", [{"a": 0.2, "b": 0.35}, {"alpha": 0.3}, {"a": 0.25, "b": 0.25, "alpha": 1.0}])
def test_the_spatial_loop_keeps_its_freedom_with_other_lengths_and_twists(numbers):
    machine = Numeric(load("bennett", numbers))
    q = machine.assembled()
    assert np.abs(machine("residual", q)).max() < CLOSED
    assert machine.rank(q) == 2


def test_the_guided_platform_keeps_level_and_goes_straight_with_another_radius():
    machine = Numeric(load("sarrus", {"radius": 0.15}))
    q = machine.assembled()
    names = machine.coordinates
    tilt = sum(q[names.index(n)] for n in ("leg1.lower.angle", "leg1.upper.angle", "platform.angle"))
    assert abs(tilt) < CLOSED
    assert machine.rank(q) == 4


def test_a_rigid_load_may_tilt():
    """The weld leaves θ3 = −θ6 free; the paper's rows hold both at zero (its equation 12)."""
    machine = Numeric(load("dual-mobile-arm", closure="weld", path=False))
    q = machine.assembled()
    tilt = np.zeros(len(q))
    tilt[machine.coordinates.index("left.theta3")] = 1.0
    tilt[machine.coordinates.index("right.theta3")] = -1.0
    turns = machine("constraint_matrix", q)[3:]
    assert np.abs(turns @ tilt).max() < 1e-15


def test_numbers_of_the_serial_arm_that_are_zero_stay_out_of_its_equations():
    free = {p.name for p in load("puma560").machine.free_parameters}
    assert not free & {"link3.com.x", "link4.com.y", "link1.mass", "link2.inertia.xy", "link2.at.roll"}
