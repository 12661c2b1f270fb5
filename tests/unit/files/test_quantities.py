"""Numbers with units become SI, exactly where the unit is decimal; other dimensions are told apart."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalaba.files.quantities import is_expected, si_text, split, unit


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.7 m", 0.7),
        ("35 mm", 0.035),
        ("1.1 g", 0.0011),
        ("30 deg", math.pi / 6),
        ("180°", math.pi),
        ("60 rpm", 2 * math.pi),
        ("2 N*m", 2.0),
        ("2 N·m", 2.0),
        ("2Nm", 2.0),
        ("70 GPa", 70e9),
        ("2 kg*mm^2", 2e-6),
        ("3 m/s²", 3.0),
        ("5 %", 0.05),
        ("-1e-3 kN/mm", -1000.0),
        ("2 1/s", 2.0),
        ("1 in", 0.0254),
    ],
)
def test_numbers_become_si(text, value):
    digits, word = split(text)
    assert unit(word).value(digits) == pytest.approx(value, rel=1e-15)  # rounding of one product
    if "°" not in text and "deg" not in text and "rpm" not in text:
        assert unit(word).value(digits) == value


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9, places=7))
def test_a_decimal_prefix_moves_the_point_and_nothing_else(number):
    assert unit("m").value(str(number)) == float(number)
    assert unit("mm").value(str(number)) == float(number.scaleb(-3))


@pytest.mark.parametrize("text", ["2*a", "a", "10 - x", "11", "1e3", "0.15", "pi/2", "sin(3)", "2 - 1", "", "- 3 m"])
def test_expressions_are_no_numbers_with_units(text):
    assert split(text) is None


@pytest.mark.parametrize("text", ["pi", "furlong", "m*", "*m", "m//s", "m^", "m m", "M", "m^99"])
def test_texts_that_are_no_units(text):
    assert unit(text) is None


@pytest.mark.parametrize(
    ("written", "expected", "fits"),
    [
        ("mm", ("m",), True),
        ("kg", ("m",), False),
        ("deg", ("m",), False),
        ("m", ("rad",), False),
        ("1", ("rad",), False),
        ("deg", ("m", "rad"), True),
        ("N*m", ("N*m/rad",), True),
        ("N*m/deg", ("N*m/rad",), True),
        ("N/m", ("N*m/rad",), False),
        ("1/s", ("rad/s",), True),
        ("Hz", ("rad/s",), False),
        ("kHz", ("Hz",), True),
        ("J", ("N*m",), True),
        ("deg", ("1",), False),
        ("%", ("1",), True),
        ("kg*m/s^2", ("N",), True),
    ],
)
def test_other_dimensions_are_refused(written, expected, fits):
    assert is_expected(unit(written), expected) is fits


def test_the_si_unit_of_a_unit():
    assert [si_text(text) for text in ("mm", "deg", "m", "N·m", "kN", "mm/s", "g*mm^2")] == [
        *("m", "rad", "m", "N·m", "N", "m/s", "kg*m^2"),
    ]
