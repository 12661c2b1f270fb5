"""Arms hold objects: grasps become connections, arms find their angles, and bad grasps are refused on one line."""

from dataclasses import replace
from math import pi

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import AssemblyError, ConstraintError, KalabaError, ModelError
from kalaba.joints import Joint
from kalaba.plant.as_found import settle_as_found

CLOSED = 1e-13
ARM = kb.System(
    "arm",
    (
        kb.Body("upper", kb.Rod(0.5, mass=2.0), joint=kb.Revolute(kb.Z)),
        kb.Body("lower", kb.Rod(0.4, mass=1.5), parent="upper.tip", joint=kb.Revolute(kb.Z)),
        kb.Body("hand", kb.Rod(0.1, mass=0.5), parent="lower.tip", joint=kb.Revolute(kb.Z)),
        kb.Frame("palm", parent="hand", at=(0.1, 0, 0)),
    ),
    start=kb.Start(hold={"upper.angle": 0.4, "lower.angle": 0.9, "hand.angle": -0.3}),
)
LOAD = kb.Body("load", kb.Box((0.2, 0.1, 0.1), mass=3.0))
LEFT, RIGHT = ARM.place("left"), ARM.place("right", at=kb.Pose((1.4, 0, 0), rpy=(0, 0, pi)))
AT_LEFT, AT_RIGHT = kb.Pose((-0.1, 0, 0)), kb.Pose((0.1, 0, 0), rpy=(0, 0, pi))
HELD = kb.Start(hold={"load": kb.Pose((0.7, 0.2, 0))})
GIVEN = (kb.Grasp("left", "load", AT_LEFT), kb.Grasp("right", "load", AT_RIGHT))


def plant(system: kb.System) -> kb.Plant:
    return kb.build(system, backend=kb.Interpreted())


def refusal(kind: type[KalabaError], **given) -> str:
    """The one line by which a hold is refused."""
    with pytest.raises(kind) as caught:
        kb.hold(**{"objects": LOAD, "arms": (LEFT, RIGHT), "start": HELD} | given)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_hold_is_a_plain_system_of_arms_objects_and_grips():
    system = kb.hold(LOAD, (LEFT, RIGHT), GIVEN, "pair", start=HELD)
    assert system.name == "pair"
    assert [part.name for part in system.parts] == ["left", "right", "load", "grip_left", "grip_right"]
    by_hand = kb.System(
        "pair",
        (
            LEFT,
            RIGHT,
            LOAD,
            kb.Connection("grip_left", "left.palm", parent="load", at=AT_LEFT),
            kb.Connection("grip_right", "right.palm", parent="load", at=AT_RIGHT),
        ),
        start=system.start,
    )
    assert system == by_hand


def test_arms_find_their_angles_from_their_own_start_while_the_object_stays():
    found = plant(kb.hold(LOAD, (LEFT, RIGHT), GIVEN, start=HELD))
    q = found.start.q
    assert np.abs(found.residual(q)).max() < CLOSED
    assert found.pose("load", q).position == pytest.approx([0.7, 0.2, 0], abs=CLOSED)
    assert found.pose("left.palm", q).position == pytest.approx([0.6, 0.2, 0], abs=CLOSED)
    angles = dict(zip(found.coordinates, q, strict=True))
    assert angles["left.lower.angle"] > 0.1  # the elbow stays on the side where the arm's own start has it
    assert angles["right.lower.angle"] > 0.1


def test_what_the_start_holds_of_an_arm_stays_held():
    """An arm with a freedom to spare: three hinges that hold a point in the plane."""
    start = kb.Start(hold={"load": kb.Pose((0.7, 0.2, 0)), "left.hand.angle": 0.25})
    grasp = kb.Grasp("left", "load", AT_LEFT, joint=kb.Spherical())
    found = plant(kb.hold(LOAD, (LEFT,), (grasp,), start=start))
    assert found.start.q[found.coordinates.index("left.hand.angle")] == 0.25
    assert found.pose("left.palm", found.start.q).position == pytest.approx([0.6, 0.2, 0], abs=CLOSED)


def test_an_object_that_is_not_held_comes_to_the_arm():
    found = plant(kb.hold(LOAD, (LEFT,), (kb.Grasp("left", "load", AT_LEFT),)))
    q = found.start.q
    assert q[:3].tolist() == [0.4, 0.9, -0.3]
    assert np.abs(found.residual(q)).max() < CLOSED


def test_one_body_is_held_by_all_arms_and_several_by_one_each():
    lid = kb.Body("lid", kb.Box((0.1, 0.1, 0.02), mass=0.5), parent="load", at=(0, 0.1, 0), joint=kb.Revolute(kb.Z))
    pair = kb.hold(LOAD, (LEFT, RIGHT), start=HELD)
    assert [(c.child, c.parent) for c in pair.machine.closures] == [("left.palm", "load"), ("right.palm", "load")]
    each = kb.hold((LOAD, lid), (LEFT, RIGHT), start=HELD)
    assert [(c.child, c.parent) for c in each.machine.closures] == [("left.palm", "load"), ("right.palm", "lid")]
    assert len(kb.hold((LOAD, lid), (LEFT,), start=HELD).machine.closures) == 1


def test_as_found_leaves_everything_where_the_start_has_it():
    found = plant(kb.hold(LOAD, (LEFT, RIGHT), start=HELD))
    q = found.start.q
    assert q[:6].tolist() == [0.4, 0.9, -0.3, 0.4, 0.9, -0.3]
    assert found.pose("load", q).position == pytest.approx([0.7, 0.2, 0], abs=CLOSED)
    assert np.abs(found.residual(q)).max() < CLOSED


@pytest.mark.parametrize(
    "joint",
    [
        kb.Weld(),
        kb.Revolute(kb.X),
        kb.Prismatic(kb.Y),
        kb.Screw(kb.Z, pitch=0.01),
        kb.Cylindrical((1, 2, 3)),
        kb.Universal(kb.Y, kb.Z),
        kb.Spherical(),
        kb.Planar(kb.X),
        kb.PointOnLine(kb.Y),
    ],
    ids=lambda joint: type(joint).__name__,
)
def test_every_joint_can_hold_as_found(joint: Joint):
    turned = kb.Start(hold={"load": kb.Pose((0.7, 0.2, 0.3), rpy=(0.3, -0.5, 2.5))})
    found = plant(kb.hold(LOAD, (LEFT,), (kb.Grasp("left", "load", joint=joint),), start=turned, check=False))
    q = found.start.q
    assert q[:3].tolist() == [0.4, 0.9, -0.3]
    assert np.abs(found.residual(q)).max() < CLOSED


def test_a_distance_cannot_be_found():
    grasp = kb.Grasp("left", "load", joint=kb.Distance(0.1))
    with pytest.raises(ModelError, match=r"^grip_left\.at: AsFound\(\) leaves no distance .* Give a pose\.$"):
        plant(kb.hold(LOAD, (LEFT,), (grasp,), check=False))


def test_a_given_start_tells_where_the_grasp_is_found():
    system = kb.hold(LOAD, (LEFT, RIGHT), start=HELD)
    q = plant(system).start.q + 0.1
    q[-4:] /= np.linalg.norm(q[-4:])
    found = plant(settle_as_found(system, q))
    assert np.abs(found.residual(q)).max() < CLOSED
    assert np.abs(plant(system).residual(q)).max() > 0.01


def test_a_tool_is_the_only_leaf_frame_or_the_last_body_or_what_is_said():
    bare = replace(ARM, parts=ARM.parts[:3])
    two = ARM.add(kb.Frame("camera", parent="hand"))
    for arm, tool, child in ((ARM, None, "palm"), (bare, None, "hand"), (two, None, "hand"), (two, "camera", "camera")):
        system = kb.hold(LOAD, (arm.place("left"),), (kb.Grasp("left", "load", tool=tool),))
        assert system.machine.closures[0].child == f"left.{child}"


def test_names_of_grips_are_unique():
    objects = kb.System("o", (LOAD, kb.Frame("grip_left", parent="load")))
    two = (kb.Grasp("left", "load"), kb.Grasp("left", "load", tool="lower.tip"))
    system = kb.hold(objects, (LEFT,), two)
    assert [part.name for part in system.parts][-2:] == ["grip_left_2", "grip_left_3"]


def test_an_arm_that_cannot_reach_is_named_with_the_pose_and_the_gap():
    far = kb.Start(hold={"load": kb.Pose((1.3, 0.2, 0))})
    line = refusal(AssemblyError, arms=(LEFT,), grasps=GIVEN[:1], start=far)
    gap = np.hypot(1.2, 0.2) - 1.0  # the arm is 1 m long
    assert line.startswith("load.left: cannot reach its grasp of load at (1.2, 0.2, 0), rpy (0, 0, 0); gap ")
    found = float(line.partition("gap ")[2].split()[0])
    assert 0.3 * gap < found < 3 * gap  # gap of the worst row of the best try, which shares it with the turn


def test_the_second_of_two_equal_arms_is_named_too():
    far = ARM.place("right", at=(9, 0, 0))
    assert refusal(AssemblyError, arms=(LEFT, far), grasps=GIVEN).startswith("load.right: cannot reach")


@pytest.mark.parametrize("elbow", [0.0, pi])
def test_a_singular_grasp_is_named_with_its_smallest_singular_value(elbow):
    arm = replace(ARM, start=kb.Start(hold={"lower.angle": elbow}))
    line = refusal(ConstraintError, arms=(arm.place("left"),))
    assert line.startswith("load.left: the grasp of load is singular, smallest singular value ")
    assert kb.hold(LOAD, (arm.place("left"),), check=False)


def test_a_grasp_at_full_stretch_is_singular():
    """The tool is asked for at the end of the arm's reach."""
    stretched = kb.Start(hold={"load": kb.Pose((1.1, 0, 0))})
    assert "singular" in refusal(ConstraintError, arms=(LEFT,), grasps=GIVEN[:1], start=stretched)


def test_near_a_singular_grasp_an_arm_may_hold():
    arm = replace(ARM, start=kb.Start(hold={"lower.angle": 1e-3}))
    assert kb.hold(LOAD, (arm.place("left"),), start=HELD)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"grasps": (kb.Grasp("lefty", "load"),)}, "hold.grasps: no arm 'lefty'; did you mean left?"),
        ({"grasps": (kb.Grasp("left", "lod"),)}, "hold.grasps: left cannot hold 'lod'; did you mean load?"),
        ({"grasps": (kb.Grasp("left", "world"),)}, "hold.grasps: left cannot hold 'world'; known names: load"),
        (
            {"grasps": (kb.Grasp("left", "load", tool="plam"),)},
            "Grasp of left: no frame 'plam' in the arm; did you mean palm?",
        ),
        (
            {"grasps": (*GIVEN, kb.Grasp("left", "load"))},
            "hold.grasps: left.palm holds both load and load. Give each arm one grasp, or another tool=.",
        ),
        (
            {"grasps": ("left",)},
            (
                "hold.grasps: expected a sequence, each a Grasp or None, got ('left',). "
                "It is: which arm holds which body, and where."
            ),
        ),
        ({"arms": ()}, "hold: expected arms such as arm.place('left', at=(0, 0.4, 0)), got ()."),
        ({"objects": ()}, "hold: expected a System, a Body or some Bodies as objects, got ()."),
        (
            {"objects": kb.Body("a", kb.Solid(1.0), parent="a")},
            "hold: a sits on itself. A joint lies between two bodies: give another parent=.",
        ),
        (
            {"objects": kb.Body("a", kb.Solid(1.0), joint=kb.Revolute(kb.Z))},
            "hold: expected a first body that is Free, got a with Revolute. Arms carry what nothing else holds.",
        ),
        (
            {"objects": (LOAD, kb.Body("b", kb.Solid(1.0), parent="load")), "arms": [ARM.place(n) for n in "xyz"]},
            "hold: expected at most 2 arms for 2 bodies, got 3. Give grasps=.",
        ),
    ],
)
def test_a_bad_hold_is_answered_on_one_line(given, message):
    assert refusal(ModelError, **given) == message


def test_bad_grasps_are_refused_when_made():
    with pytest.raises(ModelError, match=r"Screw\.pitch: expected metres per turn other than zero"):
        kb.Grasp("left", "load", joint=kb.Screw(kb.Z, pitch=0))
    with pytest.raises(ModelError, match="Free closes nothing"):
        kb.Grasp("left", "load", joint=kb.Free())
    with pytest.raises(ModelError, match=r"^Grasp of left: expected the name of a body, got"):
        kb.Grasp("left", LOAD)


@pytest.mark.parametrize("down", [(pi, 0, 0), (pi, 0, 0.3), (0, pi, 0)])
def test_arms_whose_tools_must_turn_half_round_find_their_grasps(down):
    arm = kb.load("puma560")
    bar = kb.Body("bar", kb.Cylinder(radius=0.02, length=0.8, mass=2.0, axis=kb.Y))
    sides = {"left": 1, "right": -1}
    system = kb.hold(
        bar,
        arms=[arm.place(name, at=(0, 0.5 * side, 0)) for name, side in sides.items()],
        grasps=[kb.Grasp(name, "bar", at=kb.Pose((0, 0.3 * side, 0), rpy=down)) for name, side in sides.items()],
        name="cell",
        start=kb.Start(hold={"bar": kb.Pose((0.5, 0, 0.3))}),
    )
    cell = plant(system)
    assert np.abs(cell.residual(cell.start.q)).max() < 1e-13
    for name, side in sides.items():
        tool = cell.pose(f"{name}.tool", cell.start.q)
        assert tool.position == pytest.approx([0.5, 0.3 * side, 0.3], abs=1e-12)
        assert tool.rotation[2, 2] == pytest.approx(-1.0)  # not the false root half a turn off
