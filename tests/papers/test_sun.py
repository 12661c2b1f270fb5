"""Items of the paper, one test per key."""

import kalaba as kb
from kalaba.robots.papers.sun import PAPER

FREEDOMS = {  # of the objects: a body that floats has six, the joint between two its own, a third arm's nut two more
    "two-arm-carry": 6,
    "two-arm-scissors": 7,
    "two-arm-peg": 8,
    "two-arm-keyed-peg": 7,
    "two-arm-screw": 7,
    "three-arm-screw": 9,
    "n-arm-carry": 6,
}


def test_system():
    assert {name: kb.check(kb.load(name)).freedoms for name in PAPER.machines} == FREEDOMS
