"""Laws in words: whether they read the state, and what motors give of what is asked."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.plant.laws import MotorTexts, limited

CART = kb.System(
    "cart",
    (
        kb.Parameter("push", 2.0, "N"),
        kb.Body("cart", kb.Solid(1.0), joint=kb.Prismatic(kb.X)),
        kb.Actuator("motor", "cart.travel"),
    ),
)


@pytest.mark.parametrize(
    ("text", "reads"),
    [
        ("3", False),
        ("push*sin(t)", False),
        ("cart.travel", True),
        ("rate(cart.travel) + t", True),
        ("distance(cart, world)", True),
    ],
)
def test_a_law_that_reads_the_state_is_a_feedback(text, reads):
    plant = kb.build(CART)
    assert MotorTexts({"motor": text}).law(plant, plant.start).is_feedback == reads


def test_what_is_within_bounds_is_given_and_nothing_is_missing():
    low, high = np.array([-1.0, -2.0, -3.0]), np.array([1.0, 2.0, 3.0])
    given = limited([0.5, 2.5, -5.0], low, high)
    assert given.efforts.tolist() == [0.5, 2.0, -3.0]
    assert given.missing.tolist() == [0.0, 0.5, 2.0]
    again = limited(given, low, 0.5 * high)
    assert again.efforts.tolist() == [0.5, 1.0, -3.0]
    assert again.missing.tolist() == [0.0, 1.5, 2.0]


def test_beyond_a_bound_by_rounding_is_within_it():
    given = limited([1.0 + 1e-12, 1.0 + 1e-6], -np.ones(2), np.ones(2))
    assert given.efforts.tolist() == [1.0, 1.0]
    assert given.missing == pytest.approx([0.0, 1e-6], rel=1e-6, abs=0)
