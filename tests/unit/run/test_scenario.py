"""A scenario is a machine and what is run on it."""

import math

import pytest

from kalaba.errors import ModelError
from kalaba.model.system import System
from kalaba.run.scenario import Scenario

EMPTY = System("empty", parts=())


@pytest.mark.parametrize("duration", [0.0, -1.0, math.nan, math.inf])
def test_a_duration_must_be_above_zero(duration):
    with pytest.raises(
        ModelError, match=r"^(empty: expected a duration above zero|Scenario.duration: expected a number)"
    ):
        Scenario(EMPTY, duration)


def test_nobody_drives_it_unless_said():
    scenario = Scenario(EMPTY, 1.0)
    assert (scenario.stepper, scenario.control, scenario.description) == (None, None, "")


@pytest.mark.parametrize("save_every", [0.0, -0.1, math.nan, math.inf])
def test_a_time_between_samples_that_is_none_is_refused(save_every):
    with pytest.raises(
        ModelError, match=r"(empty: expected save_every above zero|Scenario.save_every: expected a number), got"
    ):
        Scenario(EMPTY, 1.0, save_every=save_every)
