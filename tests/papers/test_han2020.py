"""Items of the paper, one test per key."""

import kalaba as kb
from kalaba.robots.papers.han2020 import PAPER


def test_system():
    for name in PAPER.machines:
        assert kb.check(kb.load(name)).freedoms >= 0
