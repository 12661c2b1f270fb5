import numpy as np
import pytest

import kalaba as kb

HINGE = kb.Revolute(-kb.Y)


def check(system: kb.System) -> kb.analyse.Mobility:
    return kb.check(kb.build(system, backend=kb.Interpreted()))


def parallelogram(angle: float) -> kb.System:
    """Opposite links of equal length: flat at angle 0, where it may also cross itself."""
    parts = (
        kb.Body("left", kb.Rod(0.3, mass=0.5), joint=HINGE),
        kb.Body("top", kb.Rod(0.6, mass=0.5), parent="left.tip", joint=HINGE),
        kb.Body("right", kb.Rod(0.3, mass=0.5), at=(0.6, 0, 0), joint=HINGE),
        kb.Connection("pin", "top.tip", parent="right.tip", joint=kb.Spherical()),
    )
    start = kb.Start(hold={"left.angle": angle}, guess={"top.angle": -angle, "right.angle": angle})
    return kb.System("parallelogram", parts, start=start)


def test_a_four_bar_in_space_has_five_rows_of_rank_two():
    found = check(kb.load("four-bar"))
    assert (found.velocities, len(found.rows), found.rank, found.freedoms, found.freedoms_nearby) == (3, 5, 2, 1, 1)
    assert set(found.dependent_rows) == {"pin.y", "pin.rx", "pin.rz"}
    assert not found.on_manifold_only  # they vanish everywhere
    assert found.unique_reactions == ("pin.x", "pin.z")
    assert "5 rows of rank 2, 1 freedom" in str(found)


def test_rows_said_twice_are_named_with_what_they_repeat():
    system = kb.load("four-bar").add(kb.Constraint("again", {"x": "2*(rocker.tip.x - 0.45)"}))
    found = check(system)
    assert found.rank == 2
    said = dict(found.dependencies)
    row = "again.x" if "again.x" in said else "pin.x"
    other, factor = said[row][0]
    assert len(said[row]) == 1
    assert {row, other} == {"again.x", "pin.x"}
    assert factor == pytest.approx(2.0 if row == "again.x" else 0.5)
    assert not {"pin.x", "again.x"} & set(found.unique_reactions)


def test_a_row_that_follows_from_two_others_says_how():
    parts = (kb.Body("a", kb.Box((1, 1, 1), mass=1.0), joint=kb.Planar(kb.Z)),)
    rows = kb.Constraint("c", {"x": "a.x", "y": "a.y", "sum": "a.x + 3*a.y"})
    found = check(kb.System("s", (*parts, rows)))
    ((name, terms),) = found.dependencies
    values = {"x": np.array([1, 0]), "y": np.array([0, 1]), "sum": np.array([1, 3])}
    total = sum(c * values[other.split(".")[1]] for other, c in terms)
    assert total == pytest.approx(values[name.split(".")[1]])


def test_loops_that_move_against_the_count_depend_on_the_manifold_only():
    found = check(kb.load("bennett"))
    assert (found.rank, found.freedoms, found.freedoms_nearby) == (2, 1, 1)
    assert len(found.on_manifold_only) >= 1
    assert set(found.on_manifold_only) <= set(found.dependent_rows)


def test_a_flat_parallelogram_has_a_freedom_more_than_nearby():
    found = check(parallelogram(0.0))
    assert (found.freedoms, found.freedoms_nearby) == (2, 1)
    away = check(parallelogram(0.7))
    assert (away.freedoms, away.freedoms_nearby) == (1, 1)
    assert "2 freedoms (1 nearby)" in str(found)


def test_conditioning_falls_as_rows_become_alike():
    body = kb.Body("p", kb.Box((1, 1, 1), mass=1.0), joint=kb.Planar(kb.Z))
    values = []
    for angle in (0.7, 0.1, 0.01):
        rows = kb.Constraint("c", {"one": "p.x", "two": f"p.x + {angle}*p.y"})
        found = check(kb.System("s", (body, rows)))
        values.append(found.smallest_singular_value)
        assert found.weakest_row in {"c.one", "c.two"}
    cosine = 1 / np.hypot(1, 0.01)
    assert values[2] == pytest.approx(np.sqrt(1 - cosine))  # of two unit rows: √(1 − cos)
    assert values[0] > values[1] > values[2]


def test_a_tree_has_its_joints_as_freedoms():
    found = check(kb.load("puma560"))
    assert (found.freedoms, found.rank, found.rows) == (found.velocities, 0, ())
    assert found.smallest_singular_value == 1.0


def test_a_massless_link_is_told():
    system = kb.load("four-bar").with_parameters({"coupler.mass": 0.0})
    assert not check(kb.load("four-bar")).is_mass_singular
    assert check(system).rank == 2


def test_rows_of_velocity_level_take_a_freedom_of_motion():
    skate = kb.Body("s", kb.Box((1, 1, 1), mass=1.0), joint=kb.Planar(kb.Z))
    blade = kb.Constraint("blade", "cos(s.angle)*rate(s.y) - sin(s.angle)*rate(s.x)")
    assert check(kb.System("skate", (skate, blade))).freedoms == 2


def test_rows_that_hold_everything_leave_nothing():
    parts = (kb.Body("a", kb.Box((1, 1, 1), mass=1.0)), kb.Connection("c", "a", joint=kb.Weld()))
    found = check(kb.System("s", parts))
    assert (found.freedoms, found.freedoms_nearby, found.dependent_rows) == (0, 0, ())


def test_units_of_rows_do_not_change_the_rank():
    system = kb.load("four-bar")
    small = kb.Constraint("tiny", {"x": "1e-4*(rocker.tip.x - 0.45)", "big": "1e4*(rocker.tip.z)"})
    found = check(kb.System("s", (*system.parts[:3], small), start=system.start))
    assert found.rank == 2
