"""The packed input: every slot has one meaning, and a state that is packed is found again."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.constrain.layout import INPUTS, Layout


@pytest.mark.parametrize("pushed", [False, True])
@pytest.mark.parametrize("n_work", [0, 1])
def test_every_slot_has_one_meaning(pushed, n_work):
    layout = Layout(7, 6, 8 if pushed else 2, 3, pushed=pushed, n_work=n_work)
    taken = [*range(n_work)]
    for name in INPUTS[1:-1]:
        place = getattr(layout, name)
        taken += range(place.start, place.stop) if isinstance(place, slice) else [place]
    assert taken == list(range(layout.size))
    assert layout.v.stop == layout.n_y


def test_states_packed_together_are_packed_as_one_by_one():
    layout = Layout(2, 2, 1, 3)
    q, v, t = np.arange(6.0).reshape(3, 2), np.ones((3, 2)), np.array([0.0, 0.1, 0.2])
    together = layout.pack_each(q, v, t)
    np.testing.assert_array_equal(together, [layout.pack(*state) for state in zip(q, v, t, strict=True)])
    assert (together[:, layout.mask] == 1.0).all()


@pytest.mark.parametrize("name", ["four-bar", "bennett"])
def test_rows_chosen_at_the_start_are_those_chosen_there(name: str):
    plant = kb.build(kb.load(name), backend=kb.Interpreted())
    start, here = (plant.pack(*plant.start, rows=rows) for rows in ("start", "here"))
    np.testing.assert_array_equal(start[plant.layout.mask] > 0, here[plant.layout.mask] > 0)
    assert 0 < here[plant.layout.mask].sum() < len(plant.constraints)
    np.testing.assert_array_equal(plant.pack(*plant.start)[plant.layout.mask], 1.0)
