"""Where an assembly begins."""

import math

import pytest

import kalaba as kb
from kalaba.plant.guess import resting

CASES = [  # limits, mid-limit, as drawn
    ((-1.0, 3.0), 1.0, 0.0),
    ((0.2, 1.0), 0.6, 0.6),
    ((0.1, math.inf), 0.1, 0.1),
    ((-math.inf, -0.3), -0.3, -0.3),
    ((-2.0, math.inf), 0.0, 0.0),
    ((-math.inf, math.inf), 0.0, 0.0),
]


def slide(limits: tuple[float, float]) -> kb.System:
    return kb.System("slide", [kb.Body("cart", kb.Solid(1.0), joint=kb.Prismatic(kb.X, limits=limits))])


@pytest.mark.parametrize(("limits", "middle", "drawn"), CASES)
def test_a_joint_rests_within_its_limits_whichever_of_them_is_infinite(limits, middle, drawn):
    machine = slide(limits).machine
    assert resting(machine).tolist() == [middle]
    assert resting(machine, drawn=True).tolist() == [drawn]
    assert kb.build(slide(limits), backend=kb.Interpreted()).start.q.tolist() == [middle]
