"""Sections: areas and moments of the handbooks."""

from math import pi

import pytest

import kalaba as kb


def numbers(section) -> tuple[float, ...]:
    moments = (section.second_moment(1, float), section.second_moment(2, float))
    return section.area(float), *moments, section.torsion_constant(float)


def test_a_rectangle_is_stiffer_along_its_height():
    assert numbers(kb.Rectangle(0.3, 0.2))[:3] == pytest.approx((0.06, 0.2 * 0.3**3 / 12, 0.3 * 0.2**3 / 12))


@pytest.mark.parametrize(("ratio", "exact"), [(1.0, 0.1406), (2.0, 0.2287), (3.0, 0.2633)])
def test_the_torsion_constant_of_a_rectangle_is_near_the_series(ratio, exact):
    """Saint-Venant: J = k a b³ with the series' k; the formula is within 6 %."""
    assert kb.Rectangle(ratio, 1.0).torsion_constant(float) == pytest.approx(exact * ratio, rel=0.06)


def test_a_circle():
    assert numbers(kb.Circle(0.1)) == pytest.approx((pi * 0.01, pi * 1e-4 / 4, pi * 1e-4 / 4, pi * 1e-4 / 2))


def test_a_tube_is_a_circle_less_a_circle():
    outer, inner = numbers(kb.Circle(0.1)), numbers(kb.Circle(0.08))
    assert numbers(kb.Tube(0.1, 0.08)) == pytest.approx([a - b for a, b in zip(outer, inner, strict=True)])


def test_numbers_are_as_given():
    assert numbers(kb.SectionNumbers(1.0, 2.0, 3.0, 4.0)) == (1.0, 2.0, 3.0, 4.0)
