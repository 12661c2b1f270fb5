"""Loops that a tree may have."""

import numpy as np

import kalaba as kb
from kalaba.files.suggested import loops_yaml

HINGE = kb.Revolute(kb.Y)


def four_bar(tilt: float = 0.0) -> kb.System:
    """A parallelogram drawn closed; its end has other axes than the post."""
    right = np.pi / 2
    return kb.System(
        "four-bar",
        parts=(
            kb.Body("crank", kb.Rod(0.4, 1.0), at=kb.Pose(rpy=(0, -right, 0)), joint=HINGE),
            kb.Body("coupler", kb.Rod(0.5, 1.0), parent="crank.tip", at=kb.Pose(rpy=(0, right, 0)), joint=HINGE),
            kb.Body(
                "rocker",
                kb.Rod(0.4, 1.0),
                parent="coupler.tip",
                at=kb.Pose(rpy=(tilt, right, 0)),
                joint=HINGE,
            ),
            kb.Frame("post", "world", kb.Pose((0.5, 0, 0), rpy=(0.3, 0.2, 0.1))),
        ),
    )


def test_the_loop_of_a_tree_that_is_drawn_closed_is_found_with_its_hinge():
    (loop,) = kb.suggest_loops(four_bar())
    assert {loop.connection.child, loop.connection.parent} == {"rocker.tip", "post"}
    assert loop.freedoms == 1
    assert isinstance(loop.connection.joint, kb.Revolute)
    plant = kb.build(loop.system)
    assert np.abs(plant.start.q).max() < 1e-9  # it is closed where it is drawn: the axis is right on both sides
    text = loops_yaml(four_bar(), (loop,))
    assert "1 freedom with it alone" in text
    assert "revolute" in text


def test_a_loop_that_is_not_planar_is_closed_by_a_ball_joint():
    spatial = four_bar(tilt=0.4)
    tip = kb.build(spatial, backend=kb.Interpreted()).pose("rocker.tip", [0, 0, 0]).position
    (loop,) = kb.suggest_loops(spatial.remove("post").add(kb.Frame("post", "world", tuple(tip))))
    assert isinstance(loop.connection.joint, kb.Spherical)


def test_joints_that_never_come_apart_and_closed_loops_are_no_suggestions():
    assert kb.suggest_loops(kb.load("puma560")) == ()
    (loop,) = kb.suggest_loops(four_bar())
    assert kb.suggest_loops(loop.system) == ()
    assert "no frames of two bodies coincide" in loops_yaml(kb.load("puma560"), ())


def test_a_loop_beside_a_slide_without_an_upper_limit_is_found():
    cart = kb.Body("cart", kb.Solid(1.0), joint=kb.Prismatic(kb.X, limits=(0.1, np.inf)))
    (loop,) = kb.suggest_loops(four_bar().add(cart))
    assert loop.freedoms == 2
    assert dict(loop.system.start.guess)["cart.travel"] == 0.1
