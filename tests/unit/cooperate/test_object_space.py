"""Object space of small machines: grasps that leave freedom, arms with spare joints, drives in objects, and errors."""

from dataclasses import replace
from functools import cache
from itertools import combinations
from math import cos, pi, sin

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ControlError, ModelError

BALL = kb.Spherical()
HEIGHT = 0.45  # m, of the load


def arm(joints: int = 3, first: kb.Revolute | kb.Prismatic = kb.Revolute(kb.Z)) -> kb.System:
    """Turn, lift, lift; a fourth joint twists the last link but one."""
    drive = "link0.travel" if isinstance(first, kb.Prismatic) else "link0.angle"
    lift = kb.Revolute(-kb.Y)
    solid = kb.Solid(1.0, com=(0.2, 0.01, 0), inertia=(0.01, 0.02, 0.02), tip=(0.4, 0, 0))
    parts = [
        kb.Body("link0", kb.Solid(1.0, inertia=(0.01, 0.01, 0.02), tip=(0, 0, 0.3)), joint=first),
        kb.Body("link1", solid, parent="link0.tip", joint=lift),
        kb.Body("link2", solid, parent="link1.tip", joint=lift),
        kb.Actuator("motor0", drive, limit=60.0),
        kb.Actuator("motor1", "link1.angle", limit=60.0),
        kb.Actuator("motor2", "link2.angle", limit=40.0),
    ]
    if joints == 4:
        parts.append(kb.Body("link3", kb.Rod(0.15, mass=0.3), parent="link2.tip", joint=kb.Revolute(kb.Z)))
        parts.append(kb.Actuator("motor3", "link3.angle", limit=10.0))
    parts.append(kb.Frame("tool", parent="link3.tip" if joints == 4 else "link2.tip"))
    pose = {"link1.angle": 0.9, "link2.angle": -1.3}
    return kb.System("arm", tuple(parts), start=kb.Start(guess=pose))


def carry(count: int = 3, joints: int = 3, joint: kb.Weld | kb.Spherical = BALL, *more: object) -> kb.System:
    """Arms on a circle that hold a disc at its rim, its frame beside its centre of mass."""
    disc = kb.Body("load", kb.Solid(3.0, com=(0.02, -0.03, 0.01), inertia=(0.03, 0.04, 0.06)))
    parts: list[object] = []
    for i in range(count):
        angle = 2 * pi * i / count + 0.1 * i * i
        seat = kb.Pose((0.75 * cos(angle), 0.75 * sin(angle), 0), rpy=(0, 0, angle + pi))
        parts.append(arm(joints).place(f"arm{i}", at=seat))
    parts.append(disc)
    for i in range(count):
        angle = 2 * pi * i / count + 0.1 * i * i
        point = (0.15 * cos(angle), 0.15 * sin(angle), 0)
        parts.append(kb.Connection(f"grip{i}", f"arm{i}.tool", parent="load", at=point, joint=joint))
    start = kb.Start(guess={"load": kb.Pose((0, 0, HEIGHT), rpy=(0.1, -0.05, 0.2))})
    return kb.System("carry", (*parts, *more), start=start)


def interpreted(system: kb.System, **options: object) -> kb.cooperate.ObjectSpace:
    """The same model without a compiler, whose time a small machine is not worth; tests/reference holds the other."""
    return kb.object_space(kb.build(system, backend=kb.Interpreted()), **options)


@cache
def space(count: int = 3, joints: int = 3) -> kb.cooperate.ObjectSpace:
    return interpreted(carry(count, joints))


def moving(seen: kb.cooperate.ObjectSpace, seed: int = 0) -> kb.State:
    still = seen.plant.start
    rates = np.random.default_rng(seed).normal(size=len(seen.coordinates))
    return kb.State(still.q, seen.velocity_map(still) @ rates)


def check_motion(seen: kb.cooperate.ObjectSpace, state: kb.State) -> None:
    """The same motion as the plant's."""
    torques = np.random.default_rng(5).normal(size=len(seen.plant.actuators))
    found = seen.velocity_map(state) @ seen.acceleration(state, torques) + seen.convective(state)
    expected = seen.plant.motion(*state, actuation=torques).acceleration
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()


def test_arms_of_three_joints_hold_by_balls():
    seen = space()
    assert seen.coordinates == tuple(f"load.centre.{word}" for word in ("vx", "vy", "vz", "wx", "wy", "wz"))
    assert (seen.arms, seen.grasps) == (("arm0", "arm1", "arm2"), ("grip0", "grip1", "grip2"))
    check_motion(seen, moving(seen))


def test_the_speeds_are_those_of_the_centre_of_mass():
    system = carry().add(kb.Frame("middle", parent="load", at=(0.02, -0.03, 0.01)))
    seen = interpreted(system)
    state = moving(seen)
    assert np.abs(seen.speeds(state) - seen.plant.velocity("middle", *state)).max() < 1e-13


def test_convective_acceleration_is_that_of_the_velocity_map():
    seen, h = space(), 1e-6
    state, plant = moving(space()), space().plant
    rates = seen.speeds(state)
    ends = [plant.step(state, dt=dt) for dt in (h, 2 * h)]
    slope = sum(c * seen.velocity_map(s) for c, s in zip((-1.5, 2, -0.5), (state, *ends), strict=True)) / h
    assert np.abs(slope @ rates - seen.convective(state)).max() < 1e-6 * np.abs(seen.convective(state)).max()


def test_spare_joints_lead_where_the_rest_is_best_conditioned():
    seen = space(joints=4)
    matrix, _ = seen.plant.constraint(*seen.plant.start)
    for found in seen.split.arms:
        columns = sorted((*found.follow, *found.lead))
        sizes = {
            kept: np.linalg.svd(matrix[np.ix_(found.rows, kept)], compute_uv=False)[-1]
            for kept in combinations(columns, 3)
        }
        assert sizes[found.follow] == max(sizes.values())
    assert len(seen.coordinates) == 9 == kb.check(seen.plant.system).freedoms
    check_motion(seen, moving(seen))


def test_spare_joints_are_chosen_by_name():
    extra = {"arm0": ("link1.angle",), "arm1": ("arm1.link3.angle",)}
    seen = interpreted(carry(joints=4), extra=extra)
    assert seen.coordinates[6:8] == ("arm0.link1.angle", "arm1.link3.angle")
    check_motion(seen, moving(seen))
    state = moving(seen)
    assert seen.speeds(state)[6] == pytest.approx(state.v[seen.plant.velocities.index("arm0.link1.angle")])


@pytest.mark.parametrize(
    ("extra", "said"),
    [
        ({"arm7": ("link1.angle",)}, "no arm 'arm7'; did you mean arm"),
        ({"arm0": ("link9.angle",)}, "arm0 has no velocity 'arm0.link9.angle'"),
        ({"arm0": ("link1.angle", "link2.angle")}, "expected 1 rate for arm0 in extra=, got 2"),
        ({"arm0": ()}, "expected 1 rate for arm0 in extra=, got 0"),
    ],
)
def test_a_wrong_choice_of_joints_is_an_error(extra, said):
    with pytest.raises(ModelError, match=said):
        interpreted(carry(joints=4), extra=extra)


def test_an_arm_that_holds_nothing_lends_all_its_joints():
    seen = interpreted(carry(3, 3, BALL, arm().place("idle", at=(3, 0, 0))))
    assert seen.coordinates[6:] == tuple(f"idle.link{i}.angle" for i in range(3))
    check_motion(seen, moving(seen))


def test_an_arm_may_have_a_loop_of_its_own():
    stay = kb.Connection("stay", "arm0.link1.tip", parent="arm0.link0", at=(0, 0.1, 0.1), joint=kb.Distance(0.45))
    seen = interpreted(carry(3, 4, BALL, stay))
    assert len(seen.coordinates) == 8
    assert seen.grasps == ("grip0", "grip1", "grip2")
    check_motion(seen, moving(seen))


def test_grasps_from_the_side_of_the_object_are_the_same():
    system, seen = carry(), space()
    turned = system.remove("grip0").add(
        kb.Frame("rim", parent="load", at=(0.15, 0, 0)),
        kb.Connection("grip0", "rim", parent="arm0.link2", at=(0.4, 0, 0), joint=BALL),
    )
    other, state = interpreted(turned), moving(seen)
    torques = np.linspace(-5, 5, 9)
    assert np.abs(other.inertia(state) - seen.inertia(state)).max() < 1e-12
    for name, wrench in seen.grasp_wrenches(state, torques).items():
        assert np.abs(other.grasp_wrenches(state, torques)[name] - wrench).max() < 1e-10
    assert np.abs(other.squeeze(state, "grip0", "grip1", 9) - seen.squeeze(state, "grip0", "grip1", 9)).max() < 1e-12


def test_grasps_carry_the_load_at_rest():
    seen = space()
    state = seen.plant.start
    wrenches = seen.grasp_wrenches(state, seen.torques(state, np.zeros(6)))
    assert sum(w[:3] for w in wrenches.values()) == pytest.approx([0, 0, 3.0 * 9.81], abs=1e-10)


def test_a_squeeze_presses_and_moves_nothing():
    seen = space()
    state = moving(seen)
    squeeze = seen.squeeze(state, "grip0", "grip2", 50.0)
    change = [seen.grasp_wrenches(state, s * squeeze) for s in (0, 1)]
    points = [seen.plant.pose(f"arm{i}.tool", state.q).position for i in (0, 2)]
    inward = (points[1] - points[0]) / np.linalg.norm(points[1] - points[0])
    for name, force in {"grip0": 50 * inward, "grip1": 0 * inward, "grip2": -50 * inward}.items():
        assert np.abs(change[1][name] - change[0][name] - np.append(force, np.zeros(3))).max() < 1e-9
    assert np.abs(seen.force_map(state) @ squeeze).max() < 1e-10


def test_what_no_motor_reaches_is_said():
    seen = space(count=2)  # nothing turns the load about the line through two balls
    state = seen.plant.start
    line = np.diff([seen.plant.pose(f"arm{i}.tool", state.q).position for i in (0, 1)], axis=0)[0]
    with pytest.raises(ControlError, match=r"out of reach, missing .* at load\.centre\.w.; no torque"):
        seen.torques(state, np.append(np.zeros(3), line))
    assert seen.internal(state).basis.shape == (6, 1)


def geared(drive: bool) -> kb.System:  # noqa: FBT001
    """The disc carries a wheel on a hinge with spring and damper, and perhaps a motor."""
    wheel = kb.Body("wheel", kb.Cylinder(0.05, 0.02, mass=0.5), parent="load", at=(0, 0, 0.1), joint=kb.Revolute(kb.Z))
    spring = kb.Spring("spring", "wheel.angle", stiffness=3.0, damping=0.2, rest=0.4)
    return carry(3, 3, BALL, wheel, spring, *([kb.Actuator("drive", "wheel.angle")] if drive else []))


def test_drive_and_friction_in_a_joint_of_the_object_enter_its_own_row():
    driven = interpreted(geared(drive=True))
    bare = interpreted(geared(drive=False).remove("spring"))
    state = moving(driven)
    assert driven.coordinates[-1] == "wheel.angle"
    assert driven.force_map(state)[:, -1] == pytest.approx(np.append(np.zeros(6), 1.0), abs=1e-14)
    angle, rate = state.q[-1], state.v[-1]
    row = np.append(np.zeros(6), 3.0 * (angle - 0.4) + 0.2 * rate)
    assert np.abs(driven.bias(state) - bare.bias(state) - row).max() < 1e-12
    check_motion(driven, state)


def test_arms_share_and_a_drive_is_given():
    seen = interpreted(geared(drive=True))
    state, wanted = moving(seen), np.array([0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
    need = (seen.inertia(state) @ wanted + seen.bias(state))[-1]
    with pytest.raises(ControlError, match=r"at wheel\.angle"):
        seen.torques(state, wanted)
    given = seen.torques(state, wanted, given={"drive": need})
    shared = seen.torques(state, wanted, motors=seen.plant.actuators)
    assert given[-1] == need
    for torques in (given, shared):
        assert seen.acceleration(state, torques) == pytest.approx(wanted, abs=1e-11)
    assert not seen.internal(state).basis[-1].any()


def test_an_object_may_stand_on_the_world():
    door = kb.Body("door", kb.Box((0.6, 0.03, 0.8), mass=5.0), at=(0, 0.5, 0.4), joint=kb.Revolute(kb.Z))
    grip = kb.Connection("grip", "arm.tool", parent="door", at=(0.1, -0.02, 0.05), joint=BALL)
    seat = kb.Pose((0.4, 0.1, 0), rpy=(0, 0, 2.4))
    system = kb.System("opener", (arm().place("arm", at=seat), door, grip))
    seen = interpreted(system)
    assert seen.coordinates == ("door.angle",)
    check_motion(seen, moving(seen))


def test_a_singular_arm_is_named_with_its_smallest_singular_value():
    seen = space()
    stretched = seen.plant.start.q.copy()
    stretched[seen.plant.coordinates.index("arm1.link2.angle")] = 0.0
    with pytest.raises(ControlError, match=r"arm arm1 is singular here, smallest singular value \S+ of"):
        seen.inertia(kb.State(stretched, seen.plant.start.v))
    with pytest.raises(ControlError, match="arm arm1 is singular here"):
        seen.torques(kb.State(stretched, seen.plant.start.v), np.zeros(6))


def other_loops() -> dict[str, tuple[kb.System, str]]:
    bolt = kb.Connection("bolt", "load", parent="world", at=(0, 0, HEIGHT), joint=BALL)
    rod = kb.Connection("rod", "arm0.link1", parent="arm1.link1", joint=kb.Distance(1.0))
    return {
        "constraint": (carry(3, 3, BALL, kb.Constraint("rail", "load.x")), "rail is no Connection"),
        "world": (carry(3, 3, BALL, bolt), "bolt does not join one arm and an object"),
        "arms": (carry(3, 3, BALL, rod), "rod does not join one arm and an object"),
        "alone": (kb.System("alone", (kb.Body("load", kb.Solid(1.0, inertia=(1, 1, 1))),)), "expected a Free body"),
        "few": (carry(3, 3, kb.Weld()), "arm0 has 3 joint rates, fewer than the 6 rows"),
    }


@pytest.mark.parametrize("name", other_loops())
def test_what_has_no_object_space_is_refused_with_the_way_out(name):
    system, said = other_loops()[name]
    with pytest.raises(ModelError, match=f"{said}.*The plant of kb.build still works"):
        interpreted(system)


def test_names_and_counts_are_checked():
    seen = space()
    state = seen.plant.start
    with pytest.raises(ModelError, match="expected a System or a Plant"):
        kb.object_space("carry")
    with pytest.raises(ModelError, match="acceleration: expected 6 numbers"):
        seen.torques(state, np.zeros(5))
    with pytest.raises(ModelError, match="torques: expected 9 numbers"):
        seen.acceleration(state, np.zeros(5))
    with pytest.raises(ControlError, match="no actuator 'motor9'"):
        seen.torques(state, np.zeros(6), motors=("motor9",))
    with pytest.raises(ControlError, match="out of reach"):
        seen.torques(state, np.zeros(6), motors=("arm0.motor1",))
    with pytest.raises(ModelError, match="no grasp 'grip9'"):
        seen.squeeze(state, "grip9", "grip1", 1.0)
    with pytest.raises(ControlError, match="expected two grasps of one body"):
        seen.squeeze(state, "grip1", "grip1", 1.0)


def replace_motors(plant: kb.Plant, **change: object) -> kb.Plant:
    """The machine with every arm's motors changed, or without its first motors (limit=None)."""
    parts = []
    for part in plant.system.parts:
        found = part
        if hasattr(part, "system"):
            kept = part.system.parts
            if change["limit"] is None:
                kept = tuple(p for p in kept if p.name != "motor0")
            else:
                kept = tuple(replace(p, **change) if isinstance(p, kb.Actuator) else p for p in kept)
            found = replace(part, system=replace(part.system, parts=kept))
        parts.append(found)
    return kb.build(replace(plant.system, parts=tuple(parts)), backend=kb.Interpreted())


def test_a_squeeze_needs_its_motors_and_a_grasp_that_does_not_slip():
    seen = kb.object_space(replace_motors(space().plant, limit=None))
    with pytest.raises(ControlError, match="the motors of the arms at grip0 and grip1 cannot give this push"):
        seen.squeeze(seen.plant.start, "grip0", "grip1", 1.0)
    line = interpreted(carry(2, 3, kb.PointOnLine(kb.X)))
    with pytest.raises(ControlError, match="grip0 or grip1 slips along the line"):
        line.squeeze(line.plant.start, "grip0", "grip1", 1.0)


def test_a_squeeze_needs_two_points():
    twin = kb.Connection("twin", "other.tool", parent="load", at=(0.15, 0, 0), joint=BALL)
    seat = kb.Pose((0.75 * cos(0.5), 0.75 * sin(0.5), 0), rpy=(0, 0, 0.5 + pi))
    seen = interpreted(carry(3, 3, BALL, arm().place("other", at=seat), twin))
    with pytest.raises(ControlError, match="grip0 and twin hold at one point"):
        seen.squeeze(seen.plant.start, "grip0", "twin", 1.0)


def test_without_motors_nothing_is_shared():
    parts = tuple(
        replace(p, system=p.system.remove("motor0", "motor1", "motor2")) if hasattr(p, "system") else p
        for p in carry().parts
    )
    seen = interpreted(replace(carry(), parts=parts))
    assert len(seen.coordinates) == 6
    with pytest.raises(ControlError, match="no motor drives an arm"):
        seen.torques(seen.plant.start, np.zeros(6))


def test_forces_and_thrusters_on_the_object_act_on_its_rows():
    force = kb.Force("wind", "load", force=("2*t", 0, 0))
    middle = kb.Frame("middle", parent="load", at=(0.02, -0.03, 0.01))
    jet = kb.Thruster("jet", "middle", axis=kb.Z)
    seen = interpreted(carry(3, 3, BALL, force, middle, jet))
    state = moving(seen)
    change = seen.bias(state, t=3.0) - seen.bias(state)
    up = seen.plant.pose("load", state.q).rotation[:, 2]
    assert change[:3] == pytest.approx([-6.0, 0, 0], abs=1e-11)
    assert seen.force_map(state)[:, -1] == pytest.approx(np.append(up, np.zeros(3)), abs=1e-13)
    assert (seen.units[-1], seen.arm_motors) == ("N", tuple(range(9)))
    assert seen.torques(state, np.zeros(6), t=3.0)[-1] == 0.0


def test_trees_under_one_name_go_by_their_first_bodies():
    flat = [
        part
        for i in range(2)
        for part in (
            kb.Body(f"a{i}", kb.Rod(0.3, mass=1.0), at=(0.6 * i, 0, 0), joint=kb.Revolute(-kb.Y)),
            kb.Body(f"b{i}", kb.Rod(0.3, mass=1.0), parent=f"a{i}.tip", joint=kb.Revolute(-kb.Y)),
            kb.Actuator(f"m{i}", f"a{i}.angle"),
        )
    ]
    grips = [kb.Connection(f"g{i}", f"pair.b{i}.tip", parent="load", joint=kb.PointOnLine(kb.Y)) for i in range(2)]
    load = kb.Body("load", kb.Solid(1.0, inertia=(0.1, 0.1, 0.1)))
    guess = kb.Start(guess={"pair.a0.angle": 1.2, "pair.b0.angle": -0.7, "pair.a1.angle": 1.9, "pair.b1.angle": 0.7})
    both = kb.System("both", (kb.System("pair", tuple(flat)).place("pair"), load, *grips), start=guess)
    assert interpreted(both).arms == ("pair.a0", "pair.a1")


def test_motors_of_different_units_need_weights():
    lifted = arm(first=kb.Prismatic(kb.Y))
    system = carry()
    swapped = replace(system, parts=(replace(system.parts[0], system=lifted), *system.parts[1:]))
    seen = interpreted(replace(swapped, start=system.start))
    state, wanted = seen.plant.start, np.zeros(6)
    assert seen.units[:2] == ("N", "N*m")
    for share in (kb.LeastSquares(), kb.Bounded()):
        with pytest.raises(ControlError, match=r"different units cannot be summed: .* Give weights="):
            seen.torques(state, wanted, share)
    unlimited = kb.object_space(replace_motors(seen.plant, limit=np.inf))
    with pytest.raises(ControlError, match="Give every motor a limit"):
        unlimited.torques(state, wanted, kb.MinMax())
    weighted = seen.torques(state, wanted, kb.LeastSquares((0.01, *[1.0] * 8)))
    ratios = seen.torques(state, wanted, kb.MinMax())
    assert seen.acceleration(state, weighted) == pytest.approx(wanted, abs=1e-11)
    assert seen.acceleration(state, ratios) == pytest.approx(wanted, abs=1e-11)


def test_a_motor_on_an_arc_has_no_unit_that_its_displacement_does_not_say():
    first, *others = carry().parts
    geared = tuple(
        replace(part, displacement="r*link0.angle") if part.name == "motor0" else part for part in first.system.parts
    )
    spool = kb.Parameter("r", 0.1, unit="m", description="radius of the spool")
    arm0 = replace(first.system, parts=(spool, *geared))
    seen = interpreted(replace(carry(), parts=(replace(first, system=arm0), *others)))
    assert seen.units[:2] == ("", "N*m")
    with pytest.raises(ControlError, match=r"arm0\.motor0 in a unit that is not known"):
        seen.torques(seen.plant.start, np.zeros(6), kb.LeastSquares())
