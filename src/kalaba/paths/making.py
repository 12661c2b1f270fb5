"""The paths one asks for."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import wraps
from typing import ParamSpec

import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import check_arguments, check_whole
from kalaba.errors import ControlError
from kalaba.paths.chain import Chain, Circular, Quintic, arc, straight
from kalaba.paths.checks import distinct_points, finite, point, positive
from kalaba.paths.path import Path, Recipe
from kalaba.paths.polynomials import polynomials
from kalaba.paths.timing import Constant, MeanSpeed, Timing, timing_of
from kalaba.paths.written import written
from kalaba.space.arrays import Array
from kalaba.space.pose import Axis, AxisLike, Z, as_axis

MOST_TURNS = 1_000_000
Arguments = ParamSpec("Arguments")


def _remembered(make: Callable[Arguments, Path]) -> Callable[Arguments, Path]:
    """The same function; the paths that it makes know how they were asked for."""

    @wraps(make)
    def made(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Path:
        path = make(*args, **kwargs)
        given = inspect.signature(make).bind(*args, **kwargs).arguments
        return replace(
            path, recipe=Recipe(make.__name__, tuple((name, _plain(value)) for name, value in given.items()))
        )

    return made


def _plain(value: object) -> object:
    """An argument as a frozen value: arrays and lists as tuples, numbers of NumPy as Python's."""
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    return tuple(map(_plain, value)) if isinstance(value, list | tuple) else value


@_remembered
def circle(  # noqa: PLR0913, PLR0917  (each says one thing about the circle)
    diameter: float,
    speed: float,
    accel: float | None = None,
    centre: ArrayLike | None = None,
    normal: AxisLike = Z,
    phase: float = 0.0,
    turns: int = 1,
) -> Path:
    """A circle, counter-clockwise about `normal`, in whole turns.

    It begins at centre + radius · e, with e the world's x as far as the plane allows (y if the normal is x), turned by
    `phase` about the normal. Without `centre` the centre is where the frame is at the start: a relative path, which
    begins a radius away from the frame. `speed` is the mean; the speed is a trapezoid with ramps at `accel`, by default
    over a quarter of the duration each.

    Arguments:
        diameter: diameter of the circle, m
        speed: mean speed along the circle, m/s
        accel: acceleration of the ramps, m/s²; None: each ramp takes a quarter of the duration
        centre: its centre in the world, m; None: where the frame is at the start
        normal: axis that it turns about, kb.Z or three numbers
        phase: angle of its beginning about the normal, rad
        turns: whole turns
    """
    check_arguments(circle, locals(), ControlError)
    radius = positive(diameter, "circle.diameter") / 2
    check_whole(turns, "circle.turns", 1, MOST_TURNS, ControlError)
    timing = MeanSpeed(positive(speed, "circle.speed"), accel)
    outward, tangent = _plane(as_axis(normal), finite(phase, "circle.phase"))
    start = radius * outward + (0.0 if centre is None else np.array(point(centre, "circle.centre")))
    curve = Chain(tuple(start.tolist()), (arc(radius, 2 * math.pi * turns, tangent, 0.0 - outward),))
    return Path(curve, timing.fit(curve.length), is_relative=centre is None)


@_remembered
def line(
    start: ArrayLike,
    end: ArrayLike,
    speed: float | None = None,
    duration: float | None = None,
    timing: Timing | None = None,
) -> Path:
    """The straight line between two points.

    Arguments:
        start: where it begins in the world, m
        end: where it ends, m
        speed: mean speed, m/s; give this, `duration` or `timing`
        duration: of the whole path, s
        timing: how one goes along it, such as `kb.path.MinimumJerk(2.0)`
    """
    check_arguments(line, locals(), ControlError)
    points = distinct_points((start, end), "line")
    curve = Chain(tuple(points[0].tolist()), (straight(*points),))
    return Path(curve, timing_of(curve.length, speed, duration, timing))


@_remembered
def polyline(
    points: Sequence[ArrayLike] | Array,
    speed: float | None = None,
    duration: float | None = None,
    timing: Timing | None = None,
    blend: float | Circular | Quintic | None = None,
) -> Path:
    """Straight legs between points, rounded at the corners, which are passed without stopping.

    `blend` says where a corner begins: `Circular(distance)`, `Quintic(distance)`, or a distance, which is circular. By
    default it is circular at a quarter of the shortest leg.

    Arguments:
        points: corners in the world, m
        speed: mean speed, m/s; give this, `duration` or `timing`
        duration: of the whole path, s
        timing: how one goes along it
        blend: how corners are rounded, or the distance from the corner at which that begins, m
    """
    check_arguments(polyline, locals(), ControlError)
    corners = distinct_points(points, "polyline")
    if blend is None:
        blend = float(np.linalg.norm(np.diff(corners, axis=0), axis=1).min()) / 4
    rounded = blend if isinstance(blend, Circular | Quintic) else Circular(blend)
    curve = rounded.curve(corners)
    return Path(curve, timing_of(curve.length, speed, duration, timing))


@_remembered
def spline(
    points: Sequence[ArrayLike] | Array,
    speed: float | None = None,
    duration: float | None = None,
    timing: Timing | None = None,
    *,
    degree: int = 3,
    closed: bool = False,
) -> Path:
    """A smooth curve through points: C² of degree 3, C⁴ of degree 5, by the length of the chords, then by arc length.

    Its ends are natural (derivatives 2, of degree 5 those of order 3 and 4, are zero). A closed one goes on from the
    last point to the first, as smoothly as anywhere.

    Arguments:
        points: points in the world, m
        speed: mean speed, m/s; give this, `duration` or `timing`
        duration: of the whole path, s
        timing: how one goes along it
        degree: 3 or 5
        closed: whether it goes on to where it began
    """
    check_arguments(spline, locals(), ControlError)
    from scipy.interpolate import make_interp_spline

    if degree not in {3, 5}:
        raise ControlError(f"spline.degree: expected 3 or 5, got {degree!r}.")
    x = distinct_points(points, "spline", 3 if closed else (degree + 1) // 2)
    if closed:
        x = distinct_points([*x, x[0]], "spline, closed")
    u = np.append(0.0, np.cumsum(np.linalg.norm(np.diff(x, axis=0), axis=1)))
    natural = [(order, np.zeros(3)) for order in range((degree + 1) // 2, degree)]
    ends = "periodic" if closed else (natural, natural)
    fitted = make_interp_spline(u, x, k=degree, bc_type=ends)
    taylor = np.array([fitted(u[:-1], nu=order) / math.factorial(order) for order in range(degree + 1)])
    parts = [(taylor[:, k], float(width)) for k, width in enumerate(np.diff(u))]
    curve = polynomials(parts, "spline")
    return Path(curve, timing_of(curve.length, speed, duration, timing))


@_remembered
def expression(x: str | float, y: str | float, z: str | float, duration: float) -> Path:
    """Three expressions of t, from 0 to `duration`: its timing is its own.

    Before and after it rests at its ends, whatever its speed there.

    Arguments:
        x: text of t, or a number, m
        y: the same
        z: the same
        duration: how long the path takes, s
    """
    check_arguments(expression, locals(), ControlError)
    duration = positive(duration, "expression.duration")
    texts = tuple(entry if isinstance(entry, str) else repr(finite(entry, "expression")) for entry in (x, y, z))
    return Path(written((texts[0], texts[1], texts[2]), duration), Constant(1.0).fit(duration))


def _plane(normal: Axis, phase: float) -> tuple[Array, Array]:
    """Two unit vectors across the normal: x turned by the phase, and a quarter turn further."""
    n = np.array(normal.components)
    along = np.array([1.0, 0.0, 0.0]) if abs(n[0]) < 1 - tolerances.PATH_ROUNDING else np.array([0.0, 1.0, 0.0])
    first = along - n * float(n @ along)
    first = first / np.linalg.norm(first)
    second = np.cross(n, first)
    return first * math.cos(phase) + second * math.sin(phase), second * math.cos(phase) - first * math.sin(phase)
