"""Baumgarte's feedback: which numbers make errors decay."""

import pytest

import kalaba as kb
from kalaba.errors import ConstraintError


@pytest.mark.parametrize(("frequency", "damping"), [(0.0, 1.0), (-5.0, 1.0), (5.0, -0.1), (float("nan"), 1.0)])
def test_errors_that_would_not_decay_are_refused(frequency, damping):
    with pytest.raises(ConstraintError, match=r"Baumgarte.*: expected .* got"):
        kb.Baumgarte(frequency, damping)


def test_an_undamped_feedback_is_a_choice():
    assert (kb.Baumgarte(5.0, 0.0).frequency, kb.Baumgarte(5.0, 0.0).damping) == (5.0, 0.0)
