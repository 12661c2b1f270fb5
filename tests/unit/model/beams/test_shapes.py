"""Shapes: fixed at the root, one at the tip, with slopes and curvatures that are their derivatives."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import FileError, ModelError
from kalaba.model.beams.shapes import table

POINTS = np.linspace(0.0, 1.0, 41)
TABLE = kb.Tabulated(POINTS, [POINTS**2, (3 * POINTS**2 - POINTS**3) / 2])
SETS = (kb.ClampedFree(6), kb.ClampedClamped(5), kb.Pinned(4), kb.Polynomial(7), kb.StaticTip(2), TABLE)
INSIDE = np.linspace(0.05, 0.95, 13)


@pytest.mark.parametrize("shapes", SETS, ids=lambda s: type(s).__name__)
def test_value_and_slope_vanish_at_the_root(shapes):
    value, slope, _ = shapes.evaluate(np.zeros(1))
    assert np.abs(value).max() < 1e-12
    assert np.abs(slope).max() < 1e-11


@pytest.mark.parametrize("shapes", SETS, ids=lambda s: type(s).__name__)
def test_slope_and_curvature_are_derivatives(shapes):
    h = 1e-5
    ahead, behind, here = (shapes.evaluate(INSIDE + step) for step in (h, -h, 0.0))
    for k in (0, 1):
        difference = (ahead[k] - behind[k]) / (2 * h)
        assert np.abs(difference - here[k + 1]).max() < 1e-6 * max(1.0, np.abs(here[2]).max())


@pytest.mark.parametrize("shapes", [kb.ClampedFree(20), kb.Pinned(20), kb.StaticTip(2), kb.Polynomial(2)], ids=repr)
def test_shapes_that_move_the_tip_are_one_there(shapes):
    assert table(shapes).tip == pytest.approx(1.0, abs=1e-12)


def test_clamped_clamped_shapes_leave_the_tip_alone():
    found = table(kb.ClampedClamped(8))
    assert np.abs(found.tip).max() < 1e-11
    assert np.abs(found.tip_slope).max() < 1e-9
    assert np.abs(found.value).max(axis=1) == pytest.approx(1.0, abs=0.06)


def test_later_polynomials_leave_the_tip_alone():
    found = table(kb.Polynomial(10))
    assert np.abs(found.tip[2:]).max() < 1e-10
    assert np.abs(found.tip_slope[2:]).max() < 1e-10


@pytest.mark.parametrize("shapes", [kb.ClampedFree(20), kb.ClampedClamped(20)], ids=repr)
def test_modes_of_a_beam_are_orthogonal(shapes):
    found = table(shapes)
    gram = (found.value * found.weights) @ found.value.T
    bend = (found.curvature * found.weights) @ found.curvature.T
    for matrix in (gram, bend):
        scale = np.sqrt(np.outer(np.diag(matrix), np.diag(matrix)))
        assert np.abs(matrix / scale - np.eye(20)).max() < 1e-9


def test_a_clamped_free_mode_has_its_textbook_frequency_and_norm():
    """∫ φ² = 1/4 for modes scaled to one at the tip; ∫ φ″² / ∫ φ² = β⁴."""
    found = table(kb.ClampedFree(3))
    gram, bend = ((part**2) @ found.weights for part in (found.value, found.curvature))
    assert gram == pytest.approx(0.25, rel=1e-12)
    assert (bend / gram) ** 0.25 == pytest.approx([1.8751040687119611, 4.694091132974175, 7.854757438237613], rel=1e-12)


@pytest.mark.parametrize("kind", [kb.ClampedFree, kb.ClampedClamped, kb.Pinned, kb.Polynomial])
def test_twenty_shapes_can_be_told_apart_and_no_more(kind):
    table(kind(20))
    for count in (0, 21, -1, 2.0):
        with pytest.raises(ModelError, match="shapes: expected a whole number from 1 to 20"):
            kind(count)


def test_two_static_shapes_at_most():
    with pytest.raises(
        ModelError, match=r"StaticTip \(1: force, 2: force and moment\): expected a whole number from 1 to 2, got 3"
    ):
        kb.StaticTip(3)


def test_a_table_gives_back_the_function_between_its_points():
    value, slope, curvature = TABLE.evaluate(INSIDE)
    expected = kb.StaticTip(2).evaluate(INSIDE)
    for found, wanted in zip((value, slope, curvature), expected, strict=True):
        assert np.abs(found - wanted[::-1]).max() < 1e-11


def test_a_table_is_read_from_a_file(tmp_path):
    path = tmp_path / "modes.txt"
    np.savetxt(path, np.column_stack([POINTS, *np.array(TABLE.values)]), fmt="%.17g", header="x moment force")
    assert kb.Tabulated.read(path) == TABLE


def test_a_table_of_clamped_modes_gives_the_same_machine():
    fine = np.linspace(0, 1, 201)
    modes = kb.ClampedFree(2)
    copied = kb.Tabulated(fine, modes.evaluate(fine)[0])
    found, expected = table(copied), table(modes)
    assert np.abs(found.value - expected.value).max() < 1e-9
    assert found.tip_slope == pytest.approx(expected.tip_slope, rel=1e-6)


@pytest.mark.parametrize(
    ("points", "values", "message"),
    [
        (POINTS, [POINTS], "value and slope vanish at the root x = 0. Subtract both"),
        (POINTS, [1 + POINTS**2], "value and slope vanish at the root"),
        (POINTS, [POINTS[1:] ** 2], r"Tabulated\.values: expected 41 numbers a shape, got \[40\]"),
        (POINTS[:4], [POINTS[:4] ** 2], r"Tabulated\.points: expected 6 or more rising points from 0 to 1, got 4"),
        (2 * POINTS, [POINTS**2], r"Tabulated\.points: expected 6 or more"),
        (POINTS[::-1], [POINTS**2], r"Tabulated\.points: expected 6 or more"),
        (POINTS, [], "shapes: expected a whole number from 1 to 20, got 0"),
    ],
)
def test_a_table_that_is_no_shape_is_refused_on_one_line(points, values, message):
    with pytest.raises(ModelError, match=message) as caught:
        kb.Tabulated(points, values)
    assert "\n" not in str(caught.value)


def test_a_file_that_is_no_table_is_refused(tmp_path):
    path = tmp_path / "modes.txt"
    path.write_text("x y\n0 zero\n")
    for wrong in (path, tmp_path / "missing.txt"):
        with pytest.raises(FileError, match="expected lines of numbers x φ1"):
            kb.Tabulated.read(wrong)


def test_shapes_that_are_alike_are_refused_with_their_condition():
    alike = kb.Tabulated(POINTS, [POINTS**2, POINTS**2 * (1 + 1e-9 * POINTS)])
    with pytest.raises(ModelError, match=r"2 of them cannot be told apart \(condition \d"):
        table(alike)
