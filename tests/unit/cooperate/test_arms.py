"""Sorting trees into objects and arms, and the choice of the rates that lead."""

from itertools import combinations
from types import SimpleNamespace

import numpy as np
import pytest

import kalaba as kb
from kalaba.constrain.rows import Sizes
from kalaba.cooperate import arms


@pytest.mark.parametrize("seed", range(60))
def test_of_seven_rates_the_best_one_leads(seed):
    A = np.random.default_rng(seed).normal(size=(6, 7)) * np.random.default_rng(seed + 1).uniform(0.1, 2, size=7)
    scales = SimpleNamespace(sizes=Sizes(*(np.ones(count) for count in A.shape)))
    plant = SimpleNamespace(start=(0, 0), constraint=lambda q, v: (A, None), scales=scales)
    sizes = {kept: np.linalg.svd(A[:, kept], compute_uv=False)[-1] for kept in combinations(range(7), 6)}
    best = max(sizes, key=sizes.get)
    assert arms._best(plant, tuple(range(6)), tuple(range(7))) == tuple(set(range(7)) - set(best))


def test_bodies_that_share_a_coordinate_are_one_tree():
    bodies = [
        kb.Body(n, kb.Solid(1.0), joint=kb.Prismatic(kb.X, q=q)) for n, q in (("a", "x"), ("b", "-x"), ("c", "y"))
    ]
    machine = kb.System("fingers", tuple(bodies), coordinates=("x", "y")).machine
    assert [tree.bodies for tree in arms._trees(machine)] == [(0, 1), (2,)]


def test_a_motor_drives_what_its_words_speak_of():
    slide = kb.Prismatic(kb.X)
    system = kb.System(
        "carts",
        (
            kb.Body("a", kb.Solid(1.0), joint=slide),
            kb.Body("b", kb.Solid(1.0), joint=slide),
            kb.Actuator("cable", "distance(a, b)"),
            kb.Actuator("push", "a.travel"),
            kb.Thruster("jet", "b"),
            kb.Actuator("rope", "b.x - 2"),
        ),
    )
    assert arms.driven_velocities(system.machine) == [{0, 1}, {0}, {1}, {1}]
