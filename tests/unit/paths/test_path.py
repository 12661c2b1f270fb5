"""Every path: it goes along its curve at the speed of its timing, and numbers, expressions and texts are one motion."""

import pickle

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from finite_differences import slope
from kalaba.model.text.expressions import Values, evaluate, parse
from kalaba.native import kernel

PATH = kb.path
POINTS = np.random.default_rng(3).uniform(-1, 1, (6, 3))
ORIGIN = (0.3, -0.2, 0.5)
BY_ARC_LENGTH = {
    "circle": PATH.circle(diameter=0.2, speed=0.1),
    "tilted": PATH.circle(0.4, 0.2, accel=0.7, centre=(1, 2, 3), normal=(1, -2, 0.5), phase=0.3, turns=2),
    "line": PATH.line((0.1, 0.2, 0.3), (1, -2, 3), speed=0.5),
    "smooth line": PATH.line((0, 0, 0), (0.4, 0, 0.3), timing=PATH.MinimumJerk(2.0)).relative(),
    "constant": PATH.line((0, 0, 0), (0, 1, 0), timing=PATH.Constant(0.4)),
    "polyline": PATH.polyline(POINTS, speed=0.3),
    "quintic": PATH.polyline(POINTS, duration=9.0, blend=PATH.Quintic(0.2)),
    "spline": PATH.spline(POINTS, timing=PATH.Trapezoid(0.5, 1.0)),
    "spline5": PATH.spline(POINTS, duration=20.0, degree=5),
    "closed": PATH.spline(POINTS, speed=0.5, closed=True),
    "closed5": PATH.spline(POINTS, timing=PATH.MinimumJerk(12.0), degree=5, closed=True),
}
ALL = BY_ARC_LENGTH | {"expression": PATH.expression("sin(2*t)", "t^2 - t", 0.3, 2.0)}
WITH_TEXT = ("circle", "tilted", "line", "smooth line", "constant", "polyline", "expression")

by_arc_length = pytest.mark.parametrize("path", BY_ARC_LENGTH.values(), ids=BY_ARC_LENGTH)
every_path = pytest.mark.parametrize("path", ALL.values(), ids=ALL)


def times(path, count=1500):
    """Before, along and after, and every break of the timing exactly."""
    return np.sort([*np.linspace(-0.3, path.duration + 0.3, count), *path.profile.table.starts[1:]])


def by_differentiation(path) -> ca.Function:
    t = ca.SX.sym("t")
    x = path.expressions(t, ORIGIN)
    v = ca.jacobian(x, t)
    return ca.Function("path", [t], [ca.densify(part) for part in (x, v, ca.jacobian(v, t))])


def curve_breaks(path) -> np.ndarray:
    if not hasattr(path.curve, "pieces"):
        return np.array([])
    return np.cumsum([piece.length for piece in path.curve.pieces])[:-1]


def away_from_breaks(path, t, margin):
    """Times within the path at which nothing changes its formula nearby."""
    low, high = path.profile.at(t - margin).distance, path.profile.at(t + margin).distance
    crossed = (low[:, None] <= curve_breaks(path)) & (curve_breaks(path) <= high[:, None])
    near = np.abs(t[:, None] - np.array(path.profile.table.starts[1:])) <= margin
    return t[~crossed.any(axis=1) & ~near.any(axis=1)]


@by_arc_length
def test_the_speed_is_that_of_the_timing(path):
    t = times(path)
    speed = np.linalg.norm(path.at(t).velocity, axis=1)
    np.testing.assert_allclose(speed, path.profile.at(t).speed, rtol=0, atol=1e-12)


@by_arc_length
def test_the_tangent_has_length_one_and_no_part_along_the_curvature(path):
    shape = path.curve.at(np.linspace(0, path.length, 2000))
    np.testing.assert_allclose(np.linalg.norm(shape.tangent, axis=1), 1, rtol=0, atol=1e-12)
    size = np.abs(shape.curvature).max(initial=1.0)
    np.testing.assert_allclose(np.sum(shape.tangent * shape.curvature, axis=1), 0, atol=1e-12 * size)


@by_arc_length
def test_the_expression_has_a_tangent_of_length_one(path):
    s = ca.SX.sym("s")
    tangent = ca.Function("tangent", [s], [ca.densify(ca.jacobian(path.curve.expression(s), s))])
    found = tangent(np.linspace(0, path.length, 2000).reshape(1, -1)).full()
    np.testing.assert_allclose(np.linalg.norm(found, axis=0), 1, rtol=0, atol=2e-13)


@every_path
def test_expressions_and_their_derivatives_are_the_numbers(path):
    t = times(path)
    moving = path.at(t, ORIGIN)
    for found, expected, atol in zip(
        by_differentiation(path)(t.reshape(1, -1)), moving, (1e-14, 1e-12, 2e-11), strict=True
    ):  # the second derivative of a fit loses some four digits of the curvature
        np.testing.assert_allclose(found.full().T, expected, rtol=0, atol=atol * (1 + np.abs(expected).max()))


@every_path
def test_velocity_and_acceleration_are_derivatives(path):
    step = 1e-4
    t = away_from_breaks(path, np.linspace(4 * step, path.duration - 4 * step, 400), 4 * step)
    assert len(t) > 100
    moving = path.at(t)
    velocity = slope(lambda h: path.at(t + h).position, step)
    np.testing.assert_allclose(velocity, moving.velocity, rtol=0, atol=1e-10)
    acceleration = slope(lambda h: path.at(t + h).velocity, step)
    np.testing.assert_allclose(acceleration, moving.acceleration, rtol=0, atol=1e-8 * np.abs(acceleration).max())


@by_arc_length
def test_place_and_direction_go_on_at_every_joint_of_the_curve(path):
    for s in curve_breaks(path):
        before, after = path.curve.at(np.array([np.nextafter(s, 0)])), path.curve.at(np.array([np.nextafter(s, 99)]))
        np.testing.assert_allclose(before.position, after.position, rtol=0, atol=1e-14)
        np.testing.assert_allclose(before.tangent, after.tangent, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", ["quintic", "spline", "spline5", "closed", "closed5"])
def test_curvature_goes_on_at_every_joint_of_a_smooth_curve(name):
    path = BY_ARC_LENGTH[name]
    size = np.abs(path.curve.at(np.linspace(0, path.length, 500)).curvature).max()
    for s in curve_breaks(path):
        before, after = path.curve.at(np.array([np.nextafter(s, 0)])), path.curve.at(np.array([np.nextafter(s, 99)]))
        np.testing.assert_allclose(before.curvature, after.curvature, rtol=0, atol=1e-9 * size)


@every_path
def test_it_rests_at_its_ends(path):
    for outside, end in (((-5.0, -1e-9), 0.0), ((path.duration, path.duration + 7, np.inf), path.duration - 1e-12)):
        moving = path.at(outside, ORIGIN)
        expected = np.broadcast_to(path.at(end, ORIGIN).position, moving.position.shape)
        np.testing.assert_allclose(moving.position, expected, rtol=0, atol=1e-10)
        assert not moving.velocity.any()
        assert not moving.acceleration.any()


@by_arc_length
def test_the_way_is_as_long_as_it_says(path):
    x = path.at(np.linspace(0, path.duration, 20001)).position
    chords = np.linalg.norm(np.diff(x, axis=0), axis=1).sum()
    assert chords * (1 - 1e-12) < path.length < chords + 1e-4 * path.length


@every_path
def test_shapes_follow_the_times(path):
    assert [part.shape for part in path.at(0.1)] == [(3,)] * 3
    assert [part.shape for part in path.at(np.zeros((2, 5)))] == [(2, 5, 3)] * 3


@every_path
def test_a_path_is_a_value(path):
    assert pickle.loads(pickle.dumps(path)) == path
    assert hash(path) == hash(pickle.loads(pickle.dumps(path)))


@every_path
def test_only_a_relative_path_moves_with_its_origin(path):
    moved = path.at(0.2, ORIGIN).position - path.at(0.2).position
    np.testing.assert_allclose(moved, ORIGIN if path.is_relative else (0, 0, 0), rtol=0, atol=1e-15)
    whole = path.relative().at(0.2, ORIGIN).position - path.at(0.2).position
    np.testing.assert_allclose(whole, ORIGIN, rtol=0, atol=1e-15)


@pytest.mark.parametrize("name", WITH_TEXT)
def test_the_text_is_the_path(name):
    path, t = ALL[name], np.maximum(times(ALL[name]), 0)
    texts = path.text(ORIGIN)
    found = [evaluate(parse(text), Values({}, time=t)) * np.ones_like(t) for text in texts]
    np.testing.assert_allclose(np.transpose(found), path.at(t, ORIGIN).position, rtol=0, atol=2e-14)


def test_a_text_may_begin_at_names():
    x, y, z = BY_ARC_LENGTH["circle"].text(("home.x", 0, "a + b"))
    assert parse(x).names == {"home.x"}
    assert parse(y).names == set()
    assert z == "(a + b)"


@pytest.mark.parametrize("name", ["spline", "closed5", "quintic", "polyline", "circle"])
def test_the_native_kernel_is_the_path(name):
    path = ALL[name]
    function = by_differentiation(path)
    made = kernel("path", f"tests, {path!r}", lambda: function, lanes=4)
    t = times(path, 800)
    t = t[: len(t) // 4 * 4]
    store = made.store(())
    found = np.concatenate([made(four[np.newaxis], store) for four in t.reshape(-1, 4)], axis=1)
    moving = path.at(t, ORIGIN)
    np.testing.assert_allclose(found[:3].T, moving.position, rtol=0, atol=1e-14 * (1 + np.abs(moving.position).max()))
    np.testing.assert_allclose(found[3:6].T, moving.velocity, rtol=0, atol=1e-12)
    size = np.abs(moving.acceleration).max()
    np.testing.assert_allclose(found[6:].T, moving.acceleration, rtol=0, atol=2e-11 * (1 + size))


@pytest.mark.parametrize("name", ["circle", "spline"])
def test_a_constraint_follows_a_path(name):
    path = ALL[name]
    if name == "circle":
        rows = {axis: f"puck.{axis} - ({text})" for axis, text in zip("xyz", path.text(ORIGIN), strict=True)}
    else:

        def rows(m):
            goal = path.expressions(m["t"], ORIGIN)
            return {axis: m[f"puck.{axis}"] - goal[i] for i, axis in enumerate("xyz")}

    puck = kb.Body("puck", kb.Solid(1.0, inertia=(1, 1, 1)))
    start = kb.Start(guess={"puck": kb.Pose(tuple(path.at(0.0, ORIGIN).position))})
    system = kb.System("led", (puck, kb.Constraint("path", rows)), start=start)
    run = kb.simulate(system, 0.4, stepper=kb.RungeKutta4(0.01))
    found = np.transpose([run[f"puck.{axis}"] for axis in "xyz"])
    np.testing.assert_allclose(found, path.at(run.time, ORIGIN).position, rtol=0, atol=1e-9)
