"""Single kinds of paths and timings: what each promises, and what it refuses."""

from itertools import pairwise

import casadi as ca
import numpy as np
import pytest
from scipy.integrate import quad
from scipy.interpolate import CubicSpline
from scipy.optimize import brentq

import kalaba as kb
from finite_differences import slope
from kalaba.errors import ControlError, ModelError
from kalaba.model.text.expressions import parse
from kalaba.space import rotations

PATH = kb.path
CORNER = ((0, 0, 0), (1, 0, 0), (1, 1, 0))


@pytest.mark.parametrize("accel", [None, 0.2, 4 * 0.2**2 / (0.3 * np.pi)])
def test_the_speed_of_a_circle_is_the_mean(accel):
    circle = PATH.circle(diameter=0.3, speed=0.2, accel=accel)
    assert circle.length == pytest.approx(0.3 * np.pi, rel=1e-15)
    assert circle.duration == pytest.approx(circle.length / 0.2, rel=1e-14)
    t = np.linspace(0, circle.duration, 200001)
    mean = np.trapezoid(np.linalg.norm(circle.at(t).velocity, axis=1), t) / circle.duration
    assert mean == pytest.approx(0.2, rel=1e-9)
    if accel:
        assert np.linalg.norm(circle.at(0).acceleration) == pytest.approx(accel)


@pytest.mark.parametrize("normal", [kb.X, kb.Y, kb.Z, -kb.Z, kb.Axis(1, 2, 3)])
def test_a_circle_goes_counter_clockwise_about_its_normal(normal):
    centre, n = np.array([0.5, -1, 2]), np.array(normal.components)
    circle = PATH.circle(1.0, 0.7, centre=centre, normal=normal, phase=0.4, turns=3)
    t = np.linspace(0.01, circle.duration - 0.01, 300)
    arm, velocity = circle.at(t).position - centre, circle.at(t).velocity
    np.testing.assert_allclose(np.linalg.norm(arm, axis=1), 0.5, rtol=1e-14)
    np.testing.assert_allclose(arm @ n, 0, atol=1e-15)
    speed = np.linalg.norm(velocity, axis=1, keepdims=True)
    np.testing.assert_allclose(np.cross(arm, velocity), 0.5 * speed * n, atol=1e-14)
    np.testing.assert_allclose(circle.at(0).position, circle.at(circle.duration).position, atol=1e-14)
    assert circle.length == pytest.approx(3 * np.pi)


def test_a_circle_begins_along_x_turned_by_its_phase():
    np.testing.assert_array_equal(PATH.circle(2.0, 1.0).at(0, (5, 6, 7)).position, (6, 6, 7))
    np.testing.assert_allclose(PATH.circle(2.0, 1.0, phase=np.pi / 2).at(0).position, (0, 1, 0), atol=1e-16)
    np.testing.assert_array_equal(PATH.circle(2.0, 1.0, normal=kb.Y).at(0).position, (1, 0, 0))
    np.testing.assert_array_equal(PATH.circle(2.0, 1.0, normal=kb.X).at(0).position, (0, 1, 0))


def test_a_trapezoid_has_its_speed_and_acceleration():
    path = PATH.line((0, 0, 0), (2, 0, 0), timing=PATH.Trapezoid(0.5, 1.0))
    assert path.duration == 2 / 0.5 + 0.5 / 1.0
    moving = path.at([0.25, 2.0, path.duration - 0.25])
    np.testing.assert_allclose(moving.acceleration[:, 0], (1, 0, -1))
    np.testing.assert_allclose(moving.velocity[:, 0], (0.25, 0.5, 0.25))
    np.testing.assert_allclose(moving.position[:, 0], (0.03125, 0.875, 2 - 0.03125))


def test_too_short_a_way_is_a_triangle():
    path = PATH.line((0, 0, 0), (0, 0, 0.09), timing=PATH.Trapezoid(5.0, 1.0))
    assert path.duration == pytest.approx(2 * 0.3)
    assert path.at(0.3 - 1e-12).velocity[2] == pytest.approx(0.3)
    assert path.at(0.3).position[2] == pytest.approx(0.045)


def test_minimum_jerk_has_the_known_peak_and_ends():
    path = PATH.line((0, 0, 0), (4, 0, 0), timing=PATH.MinimumJerk(2.0))
    assert path.at(1.0).velocity[0] == pytest.approx(15 / 8 * 4 / 2)
    ends = path.at([0.0, 2.0 - 1e-9])
    np.testing.assert_allclose(ends.velocity, 0, atol=1e-15)
    np.testing.assert_allclose(ends.acceleration, 0, atol=1e-6)


def test_a_circular_blend_touches_its_legs():
    path = PATH.polyline(CORNER, speed=0.5, blend=0.2)
    assert path.length == pytest.approx(2 * 0.8 + 0.2 * np.pi / 2)
    shape = path.curve.at(np.array([0.8 + 0.1 * np.pi / 2, path.length]))
    np.testing.assert_allclose(
        shape.position, ((0.8 + 0.2 * np.sin(np.pi / 4), 0.2 - 0.2 * np.cos(np.pi / 4), 0), (1, 1, 0))
    )
    assert np.linalg.norm(shape.curvature[0]) == pytest.approx(5.0)


def test_a_quintic_blend_is_symmetric_and_within_its_corner():
    path = PATH.polyline(CORNER, speed=0.5, blend=PATH.Quintic(0.2))
    s = np.linspace(0, path.length, 501)
    x = path.curve.at(s).position
    np.testing.assert_allclose(x[:, 0], 1 - x[::-1, 1], atol=1e-14)
    assert x[:, 0].max() <= 1 + 1e-15
    assert 2 * 0.8 + 0.2 * np.sqrt(2) < path.length < 2.0


@pytest.mark.parametrize("angle", [1e-13, 1e-10, 1e-6, 1e-3])
@pytest.mark.parametrize("blend", [PATH.Circular(0.3), PATH.Quintic(0.3)])
def test_a_gentle_corner_is_passed_without_loss(angle, blend):
    path = PATH.polyline([(0, 0, 0), (1, 0, 0), (1 + np.cos(angle), np.sin(angle), 0)], speed=1.0, blend=blend)
    ends = path.curve.at(np.array([0.0, path.length]))
    np.testing.assert_allclose(ends.position[1], (1 + np.cos(angle), np.sin(angle), 0), rtol=0, atol=1e-15)
    np.testing.assert_allclose(ends.tangent[1], (np.cos(angle), np.sin(angle), 0), rtol=0, atol=2e-13)
    shape = path.curve.at(np.linspace(0, path.length, 999))
    np.testing.assert_allclose(np.linalg.norm(shape.tangent, axis=1), 1, rtol=0, atol=1e-13)


def test_points_on_a_line_make_no_corner():
    path = PATH.polyline([(0, 0, 0), (1, 0, 0), (3, 0, 0)], speed=1.0)
    assert path.length == 3
    assert len(path.curve.pieces) == 1


def test_legs_of_two_blends_may_have_nothing_between_them():
    square = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
    path = PATH.polyline(square, speed=1.0, blend=0.5)
    assert path.length == pytest.approx(1 + np.pi / 2)
    assert PATH.polyline(square, speed=1.0, blend=PATH.Quintic(0.5)).length < 3


@pytest.mark.parametrize("degree", [3, 5])
@pytest.mark.parametrize("closed", [False, True])
def test_a_spline_goes_through_its_points(degree, closed):
    points = np.random.default_rng(8).uniform(-1, 1, (7, 3))
    path = PATH.spline(points, speed=1.0, degree=degree, closed=closed)
    pieces = path.curve.pieces
    starts = [next(piece.start for piece in pieces if piece.polynomial == k) for k in range(len(path.curve.curves))]
    found = path.curve.at(np.array([*starts, path.length])).position
    np.testing.assert_allclose(found, [*points, points[0]] if closed else points, rtol=0, atol=1e-14)


def test_a_cubic_spline_by_another_route():
    points = np.random.default_rng(9).uniform(-1, 1, (5, 3))
    chords = np.append(0, np.cumsum(np.linalg.norm(np.diff(points, axis=0), axis=1)))
    curve = CubicSpline(chords, points, bc_type="natural")
    knots = chords[1:-1]

    def length(u):
        inside = [0.0, *knots[knots < u], u]
        return sum(
            quad(lambda w: np.linalg.norm(curve(w, 1)), a, b, epsabs=1e-13, limit=200)[0] for a, b in pairwise(inside)
        )

    path = PATH.spline(points, speed=1.0)
    assert path.length == pytest.approx(length(chords[-1]), rel=1e-12)
    for s in np.array([0.1, 0.33, 0.71, 0.95]) * path.length:
        u = brentq(lambda u, s=s: length(u) - s, 0, chords[-1], xtol=1e-13)
        np.testing.assert_allclose(path.curve.at(np.array([s])).position[0], curve(u), rtol=0, atol=1e-11)


def test_a_spline_through_two_points_is_a_line():
    path = PATH.spline([(0, 0, 0), (1, 2, 2)], speed=1.0)
    assert path.length == pytest.approx(3.0, rel=1e-15)
    np.testing.assert_allclose(path.curve.at(np.array([1.5])).position, [(0.5, 1, 1)])


def test_the_length_of_an_expression_is_that_of_its_way():
    assert PATH.expression("0.5*cos(t)", "0.5*sin(t)", "1", 2 * np.pi).length == pytest.approx(np.pi, rel=1e-12)
    assert PATH.expression("t*(1 - t)", 0, 0, 1.0).length == pytest.approx(0.5, rel=1e-9)  # there and back


def test_speed_and_duration_say_the_same():
    assert PATH.line((0, 0, 0), (0, 3, 4), speed=2.0) == PATH.line((0, 0, 0), (0, 3, 4), duration=2.5)


def test_a_turn_goes_in_step_with_the_way():
    path = PATH.line((0, 0, 0), (0, 0, 2), timing=PATH.MinimumJerk(3.0))
    turn = PATH.turn(kb.Axis(1, 2, -2), 2.0)
    t = np.linspace(-0.5, 3.5, 81)
    share = path.at(t).position[:, 2] / 2
    np.testing.assert_allclose(np.linalg.norm(turn.at(t, path).rotation, axis=1), 2 * share, atol=1e-14)
    time = ca.SX.sym("t")
    vector = turn.expressions(time, path)
    rate = ca.jacobian(vector, time)
    function = ca.Function("turn", [time], [vector, rate, ca.jacobian(rate, time)])
    for found, expected in zip(function(t.reshape(1, -1)), turn.at(t, path), strict=True):
        np.testing.assert_allclose(found.full().T, expected, rtol=0, atol=1e-13)


def test_the_rate_of_a_turn_is_the_angular_velocity():
    path, turn = PATH.circle(0.3, 0.2), PATH.turn((1, -1, 3), -2.5)

    def attitude(t):
        return rotations.rotation_of(rotations.turn(turn.at(t, path).rotation))

    for t in (0.4, 2.0, 4.3):
        spin = slope(lambda h, t=t: attitude(t + h), 1e-3) @ attitude(t).T
        np.testing.assert_allclose((spin[2, 1], spin[0, 2], spin[1, 0]), turn.at(t, path).velocity, atol=1e-10)
        rate = slope(lambda h, t=t: turn.at(t + h, path).velocity, 1e-3)
        np.testing.assert_allclose(rate, turn.at(t, path).acceleration, atol=1e-10)


def test_to_keep_is_not_to_turn():
    for part in PATH.keep().at(np.linspace(0, 9, 20), PATH.circle(0.2, 0.1)):
        assert not part.any()


REFUSED = {
    "circle.diameter: expected a number above zero, got 0": lambda: PATH.circle(0, 0.1),
    "circle.diameter: expected a number, got nan": lambda: PATH.circle(np.nan, 0.1),
    "circle.speed: expected a number above zero, got -0.1": lambda: PATH.circle(0.2, -0.1),
    "accel: expected a number above zero, got 0": lambda: PATH.circle(0.2, 0.1, accel=0),
    "accel: expected at least 0.06366": lambda: PATH.circle(0.2, 0.1, accel=0.05),
    "circle.turns: expected a whole number": lambda: PATH.circle(0.2, 0.1, turns=1.5),
    "circle.centre: expected three finite numbers": lambda: PATH.circle(0.2, 0.1, centre=(0, np.inf, 0)),
    "circle.phase: expected a number, got nan": lambda: PATH.circle(0.2, 0.1, phase=np.nan),
    "axis: expected a direction": lambda: PATH.circle(0.2, 0.1, normal=(0, 0, 0)),
    "line: points 0 and 1 coincide": lambda: PATH.line((1, 2, 3), (1, 2, 3), speed=1),
    r"line\[1\]: expected three finite numbers": lambda: PATH.line((1, 2, 3), (1, 2), speed=1),
    r"line.start: expected real numbers": lambda: PATH.line("abc", (1, 2, 3), speed=1),
    "got none": lambda: PATH.line((0, 0, 0), (1, 0, 0)),
    "got speed and duration": lambda: PATH.line((0, 0, 0), (1, 0, 0), speed=1, duration=1),
    "duration: expected a number above zero": lambda: PATH.line((0, 0, 0), (1, 0, 0), duration=-1),
    "line.speed: expected a number or None, got 'fast'": lambda: PATH.line((0, 0, 0), (1, 0, 0), speed="fast"),
    "Trapezoid.accel: expected a number above zero": lambda: PATH.Trapezoid(1, -1),
    "MinimumJerk.duration: expected a number above zero": lambda: PATH.MinimumJerk(0),
    "Constant.speed: expected a finite number": lambda: PATH.Constant(np.inf),
    "polyline: expected at least 2 points, got 1": lambda: PATH.polyline([(0, 0, 0)], speed=1),
    "polyline: expected a sequence of points": lambda: PATH.polyline(3.0, speed=1),
    "polyline: points 1 and 2 coincide": lambda: PATH.polyline([(0, 0, 0), (1, 0, 0), (1, 0, 0)], speed=1),
    "polyline.blend: expected at most half of the leg": lambda: PATH.polyline(CORNER, speed=1, blend=0.6),
    "blend: expected a number above zero": lambda: PATH.polyline(CORNER, speed=1, blend=0),
    "at point 1 turn back": lambda: PATH.polyline([(0, 0, 0), (1, 0, 0), (0, 0, 0)], speed=1),
    "spline: expected at least 2 points": lambda: PATH.spline([], speed=1),
    "spline: expected at least 3 points": lambda: PATH.spline([(0, 0, 0), (1, 0, 0)], speed=1, degree=5),
    "spline.degree: expected 3 or 5": lambda: PATH.spline(CORNER, speed=1, degree=4),
    "spline, closed: points 2 and 3 coincide": lambda: PATH.spline(
        [(0, 0, 0), (1, 0, 0), (0, 0, 0)], speed=1, closed=True
    ),
    "spline: the curve comes to a cusp": lambda: PATH.spline([(0, 0, 0), (1, 0, 0), (0.0, 0, 0)], speed=1),
    "expression.x: expected numbers and t alone": lambda: PATH.expression("crank.angle", 0, 0, 1),
    "expression.y: no finite place at t = 0": lambda: PATH.expression(0, "log(t)", 0, 1),
    "expression.z: no finite speed at t = 0": lambda: PATH.expression(0, 0, "sqrt(t)", 1),
    "expression.y: expected a text or a number": lambda: PATH.expression(0, np.nan, 0, 1),
    "expression.duration: expected a number above zero": lambda: PATH.expression(0, 0, 0, 0),
    "turn.angle: expected a number, got nan": lambda: PATH.turn(kb.Z, np.nan),
    "path.at: expected times in seconds, got NaN": lambda: PATH.circle(0.2, 0.1).at([0, np.nan]),
    "path.at, origin: expected three": lambda: PATH.circle(0.2, 0.1).at(0, (0, 0)),
    "path.expressions, origin: expected three": lambda: PATH.circle(0.2, 0.1).expressions(ca.SX.sym("t"), (0, 0)),
    "Path.text.origin: expected a sequence": lambda: PATH.circle(0.2, 0.1).text("home"),
    "path.text: a curve of 2 polynomials has no text": lambda: PATH.spline(CORNER, speed=1).text(),
}


@pytest.mark.parametrize(("message", "ask"), REFUSED.items(), ids=REFUSED)
def test_what_cannot_be_is_refused_in_one_line(message, ask):
    with pytest.raises((ControlError, ModelError), match=message) as refused:
        ask()
    assert "\n" not in str(refused.value)


def test_origins_may_be_expressions():
    t, home = ca.SX.sym("t"), ca.SX.sym("home", 3)
    place = ca.Function("place", [t, home], [PATH.circle(0.2, 0.1).expressions(t, home)])
    np.testing.assert_allclose(place(0.7, [1, 2, 3]).full().T[0], PATH.circle(0.2, 0.1).at(0.7, (1, 2, 3)).position)


def test_the_text_of_an_expression_rests_at_its_ends():
    x, _, z = PATH.expression("t^2 + sin(t)", 0, "0.3", 2.0).text()
    assert x == "min(t, 2)^2 + sin(min(t, 2))"
    assert parse(z).constant == 0.3
