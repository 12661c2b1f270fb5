"""Starts: assembled by the least change, held exactly, moving as asked."""

from math import cos, pi, sin

import numpy as np
import pytest
from scipy.optimize import minimize

import kalaba as kb
from kalaba.errors import AssemblyError, ModelError
from kalaba.plant.start import find_configuration
from kalaba.space.rotations import rotation_of, rotation_vector, turn

CLOSED = 1e-12
BOX = kb.Box((0.1, 0.2, 0.3), mass=1.0)
HINGE = kb.Revolute(-kb.Y)


def plant(system: kb.System) -> kb.Plant:
    return kb.build(system, backend=kb.Interpreted())


def started(parts, coordinates=(), **start) -> kb.Plant:
    return plant(kb.System("s", parts, coordinates=coordinates, start=kb.Start(**start)))


def four_bar(**start) -> kb.Plant:
    system = kb.load("four-bar")
    return plant(kb.System("four-bar", system.parts, start=kb.Start(**start)))


NEAR = {"crank.angle": 0.8, "coupler.angle": -0.4, "rocker.angle": -1.8}


@pytest.mark.parametrize("held", [(), ("crank.angle",)])
def test_assembly_is_the_least_change_in_the_mass_metric(held):
    guess = {k: v for k, v in NEAR.items() if k not in held}
    found = four_bar(hold={k: NEAR[k] for k in held}, guess=guess)
    q0 = np.array(list(NEAR.values()))
    M = found.mass_matrix(q0)
    free = [name not in held for name in found.coordinates]

    def full(x: np.ndarray) -> np.ndarray:
        q = q0.copy()
        q[free] = x
        return q

    closed = {"type": "eq", "fun": lambda x: found.residual(full(x))[[0, 2]]}  # the two rows of the plane
    best = minimize(
        lambda x: (full(x) - q0) @ M @ (full(x) - q0), q0[free], constraints=closed, tol=1e-14, options={"maxiter": 300}
    )
    assert best.success
    assert found.start.q == pytest.approx(full(best.x), abs=2e-6)  # SLSQP differentiates by differences


def test_what_is_held_stays_to_the_last_bit():
    assert four_bar(hold={"crank.angle": 0.1 + 0.2}, guess={"rocker.angle": -2.0}).start.q[0] == 0.1 + 0.2


def test_a_position_of_a_free_body_is_held_to_the_last_bit():
    parts = (
        kb.Body("b", BOX, at=kb.Pose((0, 0, 1), rpy=(0.1, 0.2, 0.3))),
        kb.Connection("c", "b", joint=kb.Revolute(kb.Z)),
    )
    with pytest.raises(
        AssemblyError, match=r"s\.c: the loop cannot close with b\.x = 0\.1, b\.y = 0\.1, b\.z = 0\.1 held"
    ):
        _ = started(parts, hold={"b.x": 0.1, "b.y": 0.1, "b.z": 0.1}).start
    parts = (parts[0], kb.Connection("c", "b", joint=kb.Planar(kb.Z)))
    q = started(parts, hold={"b.x": 0.1, "b.y": 1 / 3}).start.q
    assert (q[0], q[1]) == (0.1, 1 / 3)


def test_a_held_displacement_of_an_expression_is_met():
    body = kb.Body("a", kb.Rod(0.5, mass=1.0), joint=kb.Revolute(kb.Z, q="x - 2*y"))
    more = kb.Body("b", kb.Rod(0.5, mass=1.0), parent="a.tip", joint=kb.Revolute(kb.Z, q="y"))
    found = started((body, more), ("x", "y"), hold={"a.angle": 0.7}, guess={"y": 0.1})
    x, y = found.start.q
    assert x - 2 * y == pytest.approx(0.7, abs=CLOSED)


@pytest.mark.parametrize("key", ["hold", "guess"])
def test_a_free_body_on_a_turned_seat_stands_where_its_pose_says(key):
    pose = kb.Pose((0.3, -0.2, 0.7), rpy=(2.0, -0.4, 2.9))
    parts = (
        kb.Body("base", BOX, at=kb.Pose((1, 2, 3), rpy=(0.5, 0.6, 0.7))),
        kb.Body("b", BOX, parent="base", at=kb.Pose((0.4, 0, 0), rpy=(-0.5, 1.1, 0.2))),
    )
    base = kb.Pose((0.1, 0.2, 0.3), rpy=(0.3, 0.2, 0.1))
    for entries in ({"b": pose, "base": base}, {"base": base, "b": pose}):  # a child may be named before its parent
        found = started(parts, **{key: entries})
        for name, wanted in entries.items():
            at = found.pose(name, found.start.q)
            assert at.position == pytest.approx(wanted.position, abs=CLOSED)
            R = plant(kb.System("p", (kb.Frame("f", "world", wanted),))).pose("f", []).rotation
            assert at.rotation == pytest.approx(R, abs=CLOSED)


def test_a_ball_is_turned_any_way_by_the_pose_of_its_body():
    """Half a turn away from where it rests: the way there has no false end."""
    ball = kb.Body("ball", BOX, at=kb.Pose((0, 0, 1), rpy=(0.1, 0.2, 0.3)), joint=kb.Spherical())
    for angles in ((3.0, 0.2, 0.1), (0.0, 1.5, 3.0), (-2.5, 0.3, -2.8)):
        found = started((ball,), hold={"ball": kb.Pose((0, 0, 1), rpy=angles)})
        wanted = plant(kb.System("p", (kb.Frame("f", "world", kb.Pose(rpy=angles)),))).pose("f", []).rotation
        assert found.pose("ball", found.start.q).rotation == pytest.approx(wanted, abs=CLOSED)


def test_a_frame_of_an_arm_is_held():
    """Six joints and six numbers."""
    axes = (kb.Z, kb.Y, kb.Y, kb.X, kb.Y, kb.X)
    parts, parent = [], "world"
    for i, axis in enumerate(axes):
        parts.append(kb.Body(f"j{i}", kb.Rod(0.3, mass=1.0), parent=parent, joint=kb.Revolute(axis)))
        parent = f"j{i}.tip"
    free = plant(kb.System("arm", parts))
    goal = free.pose("j5.tip", np.array([0.3, -0.5, 0.9, 0.2, 0.7, -0.4]))
    e = turn(rotation_vector(goal.rotation))
    found = started(
        tuple(parts), hold={"j5.tip": kb.Pose(tuple(goal.position), quaternion=tuple(e))}, guess={"j2.angle": 0.5}
    )
    at = found.pose("j5.tip", found.start.q)
    assert at.position == pytest.approx(goal.position, abs=CLOSED)
    assert at.rotation == pytest.approx(goal.rotation, abs=CLOSED)


def test_a_guess_of_a_displacement_chooses_the_branch():
    """The four-bar closes in two ways; a guess of where the coupler's tip is says which."""
    up = four_bar(hold={"crank.angle": 1.0}, guess={"rocker.angle": -2.0, "coupler.angle": -0.5}).start.q
    down = four_bar(hold={"crank.angle": 1.0}, guess={"coupler.angle": -1.9, "rocker.angle": 2.0}).start.q
    assert np.abs(up - down).max() > 0.5
    for q in (up, down):
        tip = four_bar().pose("coupler.tip", q)
        e = turn(rotation_vector(tip.rotation))
        pose = kb.Pose(tuple(tip.position), quaternion=tuple(e))
        again = four_bar(hold={"crank.angle": 1.0}, guess={"coupler.tip": pose, "rocker.angle": np.sign(q[2])})
        assert again.start.q == pytest.approx(q, abs=1e-9)


@pytest.mark.parametrize("joint", [kb.Weld(), kb.Revolute(kb.Z), kb.Prismatic(kb.X), kb.Screw(kb.Z, 0.1)])
@pytest.mark.parametrize("angle", [pi, pi - 1e-3])
def test_false_roots_of_the_rows_are_avoided(joint, angle):
    """Flipped by half a turn the rows vanish too; the start is not there."""
    e = (cos(angle / 2), sin(angle / 2), 0, 0)
    parts = (kb.Body("b", BOX), kb.Connection("c", "b", joint=joint))
    found = started(parts, guess={"b": kb.Pose((0.1, 0.1, 0.1), quaternion=e)})
    q = found.start.q
    assert np.abs(found.residual(q)).max() < CLOSED
    assert found.pose("b", q).rotation[2, 2] == pytest.approx(1.0)  # a flipped hinge has its axis at −1


@pytest.mark.parametrize("pitch", [0.1, -0.003])
@pytest.mark.parametrize("angle", [0.3, 0.9, 1.5, 2.5, -2.0, 3.1, 9.0])
def test_a_thread_closes_at_its_nearest_root(angle, pitch):
    """A nut that is held at an angle goes no further than half a pitch; so does one that is held by its travel."""
    parts = (
        kb.Body("nut", BOX, joint=kb.Cylindrical(kb.Z)),
        kb.Connection("thread", "nut", joint=kb.Screw(kb.Z, pitch=pitch)),
    )
    found = started(parts, hold={"nut.angle": angle}, guess={"nut.travel": angle / (2 * pi) * pitch + 0.4 * pitch})
    travel = found.start.q[0]
    assert travel == pytest.approx(angle / (2 * pi) * pitch, abs=1e-12)
    found = started(parts, hold={"nut.travel": travel}, guess={"nut.angle": angle + 2.8})
    assert found.start.q[1] == pytest.approx(angle, abs=1e-9)
    found = started(parts, hold={"nut.angle": angle})  # the travel is guessed at zero
    assert abs(found.start.q[0]) <= abs(pitch) / 2 + 1e-12
    turns = angle / (2 * pi) - found.start.q[0] / pitch
    assert turns == pytest.approx(round(turns), abs=1e-9)


def test_a_free_nut_starts_on_the_thread_where_it_is_put():
    parts = (kb.Body("nut", BOX), kb.Connection("thread", "nut", joint=kb.Screw(kb.Z, pitch=0.02)))
    for angle in (-2.5, -1.0, 0.4, 1.7, 3.0):
        pose = kb.Pose((0.001, 0.002, 0.5 + 0.02 * angle / (2 * pi)), rpy=(0.01, 0, angle))
        found = started(parts, guess={"nut": pose})
        assert found.start.q[2] == pytest.approx(pose.position[2], abs=0.003)


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "bennett", "sarrus", "planar-parallel"])
def test_angles_start_within_half_a_turn_of_what_was_guessed(name):
    """Whole turns that no row counts are taken back, from wherever the search came."""
    found, rng = plant(kb.load(name)), np.random.default_rng(0)
    angles = [i for i, c in enumerate(found.machine.coordinates) if c.unit == "rad"]
    for _ in range(20):
        guess = {found.coordinates[i]: float(rng.uniform(-3, 3)) for i in angles}
        closed, _ = find_configuration(found, kb.Start(guess=guess))
        assert closed.is_closed
        assert np.abs(closed.q[angles] - list(guess.values())).max() <= pi + 1e-6


def test_turns_that_a_row_counts_stay():
    parts = (
        kb.Body("a", kb.Rod(0.5, mass=1.0), joint=HINGE),
        kb.Body("b", kb.Rod(0.5, mass=1.0), joint=HINGE),
        kb.Constraint("gear", "b.angle - 10*a.angle"),
    )
    assert started(parts, hold={"a.angle": 2.0}).start.q == pytest.approx([2.0, 20.0])


def test_a_false_root_that_is_the_only_one_is_reported():
    """A hinge that cannot turn its axis: upside down is all it can be."""
    parts = (
        kb.Body("a", BOX, at=kb.Pose(rpy=(pi, 0, 0)), joint=kb.Prismatic(kb.X)),
        kb.Connection("c", "a", joint=kb.Revolute(kb.Z)),
    )
    with pytest.raises(AssemblyError, match=r"s\.c: the loop cannot close; only a flipped position closes it"):
        _ = started(parts).start


def test_a_joint_with_limits_starts_in_the_middle_or_at_the_only_one():
    parts = (
        kb.Body("a", BOX, joint=kb.Prismatic(kb.X, limits=(0.2, 0.6))),
        kb.Body("b", BOX, joint=kb.Revolute(kb.X, limits=(0.2, float("inf")))),
        kb.Body("c", BOX, joint=kb.Revolute(kb.X, limits=(0.0, 1.0))),
    )
    assert started(parts, guess={"c.angle": 0.1}).start.q == pytest.approx([0.4, 0.2, 0.1])


def test_a_grasp_is_closed_where_the_guess_puts_it():
    """The child stays where it is, at any pose on its parent."""
    parts = (
        kb.Body("arm", kb.Rod(0.5, mass=1.0), joint=HINGE),
        kb.Body("load", BOX),
        kb.Connection("grip", "load", parent="arm.tip", at=kb.AsFound()),
    )
    pose = kb.Pose((0.4, 0.1, 0.3), rpy=(0.5, -0.4, 2.0))
    found = started(parts, guess={"arm.angle": 0.6, "load": pose})
    q = found.start.q
    assert found.pose("load", q).position == pytest.approx(pose.position, abs=CLOSED)
    assert q[0] == pytest.approx(0.6, abs=CLOSED)
    assert np.abs(found.residual(q)).max() < CLOSED
    moved = found.pose("load", q).position - found.pose("arm.tip", q).position
    assert np.linalg.norm(moved) > 0.05


def test_a_grasp_inside_a_placed_system_is_refused_by_name():
    inner = kb.System("inner", (kb.Body("a", BOX), kb.Connection("grip", "a", at=kb.AsFound())))
    with pytest.raises(ModelError, match=r"p\.grip\.at: AsFound\(\) works in the outermost System"):
        plant(kb.System("s", (inner.place("p"),)))


def test_the_speed_of_a_coordinate_is_met_and_the_loop_follows():
    found = four_bar(hold={"crank.angle": 1.0}, guess={"rocker.angle": -2.0}, speed={"crank.angle": 3.0})
    q, v = found.start
    assert v[0] == pytest.approx(3.0, abs=CLOSED)
    assert np.abs(found.velocity_residual(q, v)).max() < CLOSED


def test_the_speed_of_a_displacement_given_by_an_expression_is_met():
    body = kb.Body("a", kb.Rod(0.5, mass=1.0), joint=kb.Revolute(kb.Z, q="x^2 - 2*y"))
    more = kb.Body("b", kb.Rod(0.5, mass=1.0), parent="a.tip", joint=kb.Revolute(kb.Z, q="y"))
    found = started((body, more), ("x", "y"), hold={"x": 0.5, "y": 0.2}, speed={"a.angle": 1.5})
    v = found.start.v
    assert 2 * 0.5 * v[0] - 2 * v[1] == pytest.approx(1.5, abs=CLOSED)


def test_the_speed_of_a_frame_is_six_numbers_in_world_axes():
    speed = (0.1, 0.2, 0.3, 1.0, -2.0, 0.5)
    parts = (kb.Body("b", BOX, at=kb.Pose(rpy=(0.3, 0.4, 0.5))), kb.Frame("corner", "b", (0.1, 0.2, 0.3)))
    found = started(parts, guess={"b": kb.Pose((1, 0, 0), rpy=(1.0, 0.2, 0.3))}, speed={"corner": speed})
    q, v = found.start
    assert found.velocity("corner", q, v) == pytest.approx(speed, abs=CLOSED)


def test_speeds_not_asked_for_are_those_of_least_energy():
    found = four_bar(hold={"crank.angle": 1.0}, guess={"rocker.angle": -2.0}, speed={})
    assert np.abs(found.start.v).max() < CLOSED
    parts = (
        kb.Body("a", kb.Box((1, 1, 1), mass=3.0), joint=kb.Prismatic(kb.X)),
        kb.Body("b", kb.Box((1, 1, 1), mass=1.0), joint=kb.Prismatic(kb.X, q="a.travel + s")),
    )
    found = started(parts, ("s",), speed={"b.travel": 1.0})
    momentum = found.momentum(*found.start)[0]
    a, b = found.velocity("a", *found.start)[0], found.velocity("b", *found.start)[0]
    assert b == pytest.approx(1.0)
    assert a == pytest.approx(0.0, abs=CLOSED)  # the other body need not move
    assert momentum == pytest.approx(1.0)


def test_a_speed_that_the_rows_forbid_is_refused_by_name():
    found = four_bar(
        hold={"crank.angle": 1.0}, guess={"rocker.angle": -2.0}, speed={"crank.angle": 3.0, "rocker.angle": 3.0}
    )
    with pytest.raises(
        AssemblyError, match=r"four-bar\.start\.speed: no velocity obeys all rows.*misses by .*Ask for fewer"
    ):
        _ = found.start


@pytest.mark.parametrize(
    ("key", "value"),
    [("a.angle", (1, 2)), ("a.tip", (1, 2, 3)), ("a.tip", 1.0), ("a.angle", float("nan")), ("a.angle", "fast")],
)
def test_speeds_of_the_wrong_shape_are_refused_by_name(key, value):
    with pytest.raises(ModelError, match=rf"start\.speed\.{key}: expected"):
        _ = started((kb.Body("a", kb.Rod(0.5, mass=1.0), joint=HINGE),), speed={key: value}).start


def test_a_driven_machine_starts_with_the_speed_of_its_drive():
    found = started(
        (kb.Body("a", kb.Rod(0.5, mass=1.0), joint=HINGE), kb.Constraint("drive", "a.angle - 0.3 - 2*sin(3*t)"))
    )
    q, v = found.start
    assert q[0] == pytest.approx(0.3, abs=CLOSED)
    assert v[0] == pytest.approx(6.0, abs=CLOSED)


def test_rows_of_velocity_level_hold_at_the_start():
    """A skate: no speed across the blade, whatever the speed asked for."""
    skate = kb.Body("skate", BOX, joint=kb.Planar(kb.Z))
    blade = kb.Constraint("blade", "cos(skate.angle)*rate(skate.y) - sin(skate.angle)*rate(skate.x)")
    found = started((skate, blade), hold={"skate.angle": 0.4}, speed={"skate.x": 2.0})
    q, v = found.start
    assert v == pytest.approx([2.0, 2.0 * np.tan(0.4), 0.0], abs=CLOSED)
    assert found.residual(q) == pytest.approx([0.0])


@pytest.mark.parametrize("speed", [{}, {"p.x": 0.6}])
def test_rows_that_are_not_linear_in_the_speeds_hold_at_the_start(speed):
    """At rest such a row has no slope; the start is found all the same."""
    point = kb.Body("p", BOX, joint=kb.Planar(kb.Z))
    found = started((point, kb.Constraint("pace", "rate(p.x)^2 + rate(p.y)^2 - 1")), speed=speed)
    vx, vy, _ = found.start.v
    assert np.hypot(vx, vy) == pytest.approx(1.0, abs=1e-9)
    if speed:
        assert (vx, abs(vy)) == (pytest.approx(0.6), pytest.approx(0.8))


def test_a_loop_that_cannot_close_says_which_by_how_much_and_what_to_do():
    far = plant(kb.load("four-bar").with_parameters({"pin.at.x": 1.0}))
    crank_tip = 0.15 * np.array([cos(1.0), sin(1.0)])
    gap = np.hypot(*(np.array([1.0, 0.0]) - crank_tip)) - 0.7
    with pytest.raises(AssemblyError) as error:
        _ = far.start
    text = str(error.value)
    assert text.startswith("four-bar.pin: the loop cannot close with crank.angle = 1 held; gap 0.")
    assert text.endswith(" m. Free it with guess=, or check at=(1, 0, 0).")
    said = float(text.split("gap ")[1].split(" m", maxsplit=1)[0])
    assert gap / np.sqrt(2) <= said <= 1.02 * gap  # the largest of its components


def test_a_frame_that_cannot_be_held_is_named():
    found = started((kb.Body("a", kb.Rod(0.5, mass=1.0), joint=HINGE),), hold={"a.tip": (2.0, 0.0, 0.0)})
    with pytest.raises(AssemblyError, match=r"s\.a\.tip: the loop cannot close with a\.tip held; gap 1\.5 m"):
        _ = found.start


@pytest.mark.parametrize("value", ["near", None, float("nan"), kb.Pose()])
def test_a_held_number_is_a_finite_number(value):
    with pytest.raises(ModelError, match=r"start\.a\.angle: expected a finite number"):
        _ = started((kb.Body("a", kb.Rod(0.5, mass=1.0), joint=HINGE),), hold={"a.angle": value}).start


@pytest.mark.parametrize(
    "value", ["near", None, 3.0, (1, 2), kb.Pose((float("nan"), 0, 0)), kb.Pose(("nowhere", 0, 0))]
)
def test_a_held_frame_takes_a_pose(value):
    with pytest.raises(ModelError, match=r"start\.b: expected a Pose of finite numbers"):
        _ = started((kb.Body("b", BOX),), hold={"b": value}).start


def test_a_pose_may_speak_of_parameters():
    found = started((kb.Parameter("h", 0.7, "m"), kb.Body("b", BOX)), hold={"b": kb.Pose((0, 0, "2*h"))})
    assert found.start.q[2] == pytest.approx(1.4)


def test_a_far_guess_closes_dependent_loops_exactly():
    """Rows that depend on each other on the manifold only: Bennett's loop, from guesses that are off it."""
    bennett = kb.load("bennett")
    for shift in (0.05, -0.1, 0.3):
        guess = {key: value + shift for key, value in bennett.start.guess}
        found = plant(kb.System("bennett", bennett.parts, start=kb.Start(hold=bennett.start.hold, guess=guess)))
        assert np.abs(found.residual(found.start.q)).max() < CLOSED


def test_rotations_of_the_start_are_unit():
    found = started(
        (kb.Body("b", BOX), kb.Connection("c", "b", joint=kb.Universal(kb.X, kb.Y))),
        guess={"b": kb.Pose(rpy=(0.3, 0.4, 0.5))},
    )
    assert np.linalg.norm(found.start.q[3:7]) == pytest.approx(1.0, abs=1e-15)
    R = rotation_of(found.start.q[3:7])
    assert R[0, 1] == pytest.approx(0.0, abs=CLOSED)


def test_joints_turn_before_links_bend():
    hinge = kb.Revolute(-kb.Y)
    boom = kb.Beam(0.4, kb.Rectangle(0.01, 0.01), 2700, 7e10, shapes=kb.Polynomial(2), bending=kb.Z)
    loop = kb.System(
        "loop",
        parts=(
            kb.Body("crank", kb.Rod(0.15, mass=0.3), joint=hinge),
            kb.Body("coupler", boom, parent="crank.tip", joint=hinge),
            kb.Body("rocker", kb.Rod(0.3, mass=0.6), parent="coupler.tip", joint=hinge),
            kb.Connection("pin", "rocker.tip", at=(0.45, 0, 0), joint=hinge),
        ),
        start=kb.Start(hold={"crank.angle": 1.0}, guess={"coupler.angle": -0.3, "rocker.angle": -1.5}),
    )
    plant = kb.build(loop, backend=kb.Interpreted())
    modes = [plant.coordinates.index(name) for name in ("coupler.mode1", "coupler.mode2")]
    assert np.abs(plant.start.q[modes]).max() < 1e-9
