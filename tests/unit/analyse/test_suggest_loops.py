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


def gripper() -> kb.System:
    """Two fingers, each on a parallelogram that is cut where its rod ends; their tips touch where it is drawn."""
    parts = []
    for side, sign in (("left", -1.0), ("right", 1.0)):
        bar = kb.Solid(0.05, com=(0, 0, 0.03), inertia=(2e-5, 2e-5, 1e-6))
        parts += [
            kb.Body(f"{side}_crank", bar, at=(sign * 0.03, 0, 0), joint=HINGE),
            kb.Body(f"{side}_finger", bar, f"{side}_crank", (sign * 0.02, 0, 0.06), HINGE),
            kb.Body(f"{side}_rod", bar, f"{side}_finger", (sign * 0.03, 0, 0.01), HINGE),
            kb.Frame(f"{side}_rod_end", f"{side}_rod", (sign * -0.02, 0, -0.06)),
            kb.Frame(f"{side}_post", "world", (sign * 0.06, 0, 0.01)),
            kb.Frame(f"{side}_tip", f"{side}_finger", (sign * -0.05, 0, 0.05)),
        ]
    return kb.System("gripper", parts)


def test_the_four_bars_of_a_gripper_come_before_its_tips_that_touch():
    loops = kb.suggest_loops(gripper())
    ends = [{loop.connection.child, loop.connection.parent} for loop in loops]
    assert ends[0] | ends[1] == {"left_rod_end", "left_post", "right_rod_end", "right_post"}
    assert [loop.fits for loop in loops[:2]] == [True, True]
    assert [loop.freedoms_together for loop in loops[:2]] == [4, 2]
    assert [loop.joints for loop in loops[:2]] == [3, 3]
    (tips,) = loops[2:]
    assert {tips.connection.child, tips.connection.parent} == {"left_tip", "right_tip"}
    assert (tips.freedoms, tips.freedoms_together, tips.fits) == (4, 0, False)
    assert [loop.connection.name for loop in loops] == ["loop1", "loop2", "loop3"]
    assert all(loop.system.parts[-1] == loop.connection for loop in loops)
    text = loops_yaml(gripper(), loops)
    read_back = [line for line in text.splitlines() if not line.startswith("#")]
    assert not any("tip" in line for line in read_back)
    assert any("tip" in line and "revolute" in line for line in text.splitlines() if line.startswith("#"))


def test_frames_that_are_nearly_in_one_place_come_after_those_that_are():
    """A rod ends on its post to seven digits; a mark on the crank is 4 µm beside one on an arm."""
    bar = kb.Rod(0.4, 1.0)
    tree = kb.System(
        "slider",
        parts=(
            kb.Body("crank", bar, joint=HINGE),
            kb.Body("rod", bar, "crank.tip", kb.Pose(rpy=(0, 2.0, 0)), HINGE),
            kb.Body("arm", bar, at=(0, 0, -0.3), joint=HINGE),
            kb.Frame("mark", "crank", (0.1, 0, 0)),
            kb.Frame("chance", "arm", (0.1 + 4e-6, 0, 0.3)),
        ),
    )
    end = kb.build(tree, backend=kb.Interpreted()).pose("rod.tip", [0, 0, 0]).position
    loops = kb.suggest_loops(tree.add(kb.Frame("post", "world", tuple(np.round(end, 7)))))
    ends = [{loop.connection.child, loop.connection.parent} for loop in loops]
    assert ends[0] == {"rod.tip", "post"}
    assert {"mark", "chance"} in ends[1:]
    assert loops[ends.index({"mark", "chance"})].gap > 3e-6


def test_names_that_are_taken_are_left_and_the_best_has_the_first():
    loops = kb.suggest_loops(gripper().add(kb.Frame("loop1", "world", (1, 0, 0))))
    assert [loop.connection.name for loop in loops] == ["loop2", "loop3", "loop4"]
    assert kb.check(loops[0].system).freedoms == loops[0].freedoms
