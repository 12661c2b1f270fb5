"""Maps of singularity: what `singularity` gives at each pose, nothing where there is none, and a picture."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError, ViewError


def platform(x: float, y: float) -> kb.Pose:
    return kb.Pose((x, y, HEIGHT))


STEWART = kb.build(kb.load("stewart"), backend=kb.Interpreted())
HEIGHT = float(STEWART.pose("platform", STEWART.start.q).position[2])
ACROSS, UP = (0.0, 0.1), (-0.05, 0.0)


@pytest.fixture(scope="module")
def found() -> kb.kinematics.SingularityMap:
    return kb.kinematics.singularity_map(STEWART, "platform", platform, ACROSS, UP)


def test_each_entry_is_the_measure_at_its_pose(found):
    for i, y in enumerate(UP):
        for j, x in enumerate(ACROSS):
            q = kb.kinematics.motors_at(STEWART, "platform", platform(x, y)).q
            one = kb.kinematics.singularity(STEWART, "platform", q)
            assert found.parallel[i, j] == pytest.approx(one.parallel[0], abs=1e-9)
            assert found.serial[i, j] == pytest.approx(one.serial[0], abs=1e-9)


def test_a_pose_that_the_machine_cannot_have_is_not_a_number():
    delta = kb.build(kb.load("delta"), backend=kb.Interpreted())
    height = float(delta.pose("platform", delta.start.q).position[2])
    found = kb.kinematics.singularity_map(delta, "platform", lambda x, y: kb.Pose((x, y, height)), (0.0, 5.0), (0.0,))
    assert np.isfinite(found.parallel[0, 0])
    assert np.isnan(found.parallel[0, 1])


def test_what_is_not_numbers_is_refused():
    with pytest.raises(ModelError, match="expected a row of numbers"):
        kb.kinematics.singularity_map(STEWART, "platform", platform, [], UP)


def test_maps_are_drawn_side_by_side_with_one_scale(found):
    figure = kb.plot.singularity_maps({"one": found, "other": found}, "x (m)", "y (m)")
    titles = [axes.get_title(loc="left") for axes in figure.axes if axes.get_title(loc="left")]
    assert titles == [f"{name}: smallest {np.nanmin(found.parallel):.2g}" for name in ("one", "other")]
    assert figure.axes[0].get_xlabel() == "x (m)"
    with pytest.raises(ViewError, match="expected maps and parallel or serial"):
        kb.plot.singularity_maps({}, "x (m)", "y (m)")
