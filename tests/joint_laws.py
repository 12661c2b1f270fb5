"""What must hold for every kind of joint, whoever wrote it: laws, each of which joins two of its facets.

A joint is asked as kalaba asks it, through CasADi, and its answers are compared by numbers: the twist with differences
of the pose, rows with the motion that they must let pass, coordinates with the pose that they lead to.
"""

import math
from dataclasses import MISSING, fields

import casadi as ca
import numpy as np
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

from kalaba.joints import Backwards, Joint
from kalaba.joints.formulas import Gap, InWorld
from kalaba.joints.marker import Shape
from kalaba.space import configuration
from kalaba.space.pose import Axis, X, Y, Z

ROUNDING = 1e-12  # a few dozen operations on numbers of size one
STEP = 1e-5  # of central differences
DIFFERENCES = 1e-8  # their error: STEP² times third derivatives, and rounding / STEP
FINITE = 1e-3  # what is not zero at random is far from it


def example(kind: type[Joint], rng: np.random.Generator) -> Joint:
    """A joint of a kind with any axes, at right angles to each other, and any numbers."""
    axes: list[Axis] = []
    values: dict[str, object] = {}
    for entry in fields(kind):
        if "is_axis" in entry.metadata:
            coordinate = (X, Y, Z, -X, -Y, -Z)[rng.integers(6)]
            first = coordinate if rng.random() < 0.5 else Axis(*rng.normal(size=3))
            axes.append(axes[0].across()[0] if axes else first)
            values[entry.name] = axes[-1]
        elif "parts" in entry.metadata or entry.default is MISSING:
            values[entry.name] = float(rng.uniform(0.1, 1.0))
    return kind(**values)


def random_q(joint: Joint, rng: np.random.Generator) -> np.ndarray:
    """Coordinates within the range that `coordinates_at` promises."""
    q = rng.uniform(-1.5, 1.5, size=joint.q_count)
    if joint.has_quaternion:
        q[-4:] /= np.linalg.norm(q[-4:]) * (1 if q[-4] >= 0 else -1)
    return q


class _Alone:
    """The configuration manifold of one joint."""

    def __init__(self, joint: Joint) -> None:
        scalars = joint.v_count - (3 if joint.has_quaternion else 0)
        self.scalar_pairs = tuple((i, i) for i in range(scalars))
        self.quaternions = ((scalars, scalars),) if joint.has_quaternion else ()


def moved(joint: Joint, q: np.ndarray, step: np.ndarray) -> np.ndarray:
    return configuration.retract(_Alone(joint), q, step)


class Numbers:
    """The formulas of a joint as functions of numbers."""

    def __init__(self, joint: Joint, writer: type[Joint] | None = None) -> None:
        """`writer` is the class whose `motion` and `velocity` are asked: the joint's own, or those of the base."""
        writer = type(joint) if writer is None else writer
        q, u = ca.SX.sym("q", joint.q_count), ca.SX.sym("u", joint.v_count)
        seat, child = ca.SX.sym("seat", 3, 3), ca.SX.sym("child", 3, 3)
        if joint.in_tree:
            m = writer.motion(joint, q, u)
            self._motion = ca.Function("motion", [q, u], [m.rotation, m.position, m.motion, m.drift])
            self._pose = ca.Function("pose", [q], list(joint.pose(q)))
            velocity = writer.velocity(joint, InWorld(seat, child, q, u))
            self._velocity = ca.Function("velocity", [seat, child, q, u], [ca.vertcat(*velocity)])
        move, world = ca.SX.sym("move", 6), ca.SX.sym("world", 3)
        rows = ca.vertcat(ca.SX(0, 1), *joint.row_values(Gap(seat, child, world)))
        turned = ca.mtimes(child, ca.SX.eye(3) + ca.skew(move[0:3]))  # a small twist (turn; travel) in child axes
        shifted = ca.vertcat(ca.SX(0, 1), *joint.row_values(Gap(seat, turned, world + ca.mtimes(child, move[3:6]))))
        slope = ca.substitute(ca.jacobian(shifted, move), move, ca.SX.zeros(6))
        cosine = joint.alignment(Gap(seat, child, world))
        self._rows = ca.Function("rows", [seat, child, world], [rows, slope, cosine])

    def pose(self, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        R, p = self._pose(q)
        return R.full(), p.full()[:, 0]

    def motion(self, q: np.ndarray, u: np.ndarray) -> tuple[np.ndarray, ...]:
        R, p, S, drift = (entry.full() for entry in self._motion(q, u))
        return R, p[:, 0], S, drift[:, 0]

    def velocity(self, seat: np.ndarray, q: np.ndarray, u: np.ndarray) -> np.ndarray:
        return self._velocity(seat, seat @ self.pose(q)[0], q, u).full()[:, 0]

    def rows(self, seat: np.ndarray, turned: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        value, slope, cosine = self._rows(seat, seat @ turned, seat @ p)
        return value.full()[:, 0], slope.full(), float(cosine)


def vee(matrix: np.ndarray) -> np.ndarray:
    (_, a, b), (c, _, d), (e, f, _) = matrix
    return np.array([f - d, b - e, c - a]) / 2


def random_rotation(rng: np.random.Generator) -> np.ndarray:
    return Rotation.from_quat(rng.normal(size=4)).as_matrix()


# --- the laws


def names_and_counts_agree(joint: Joint) -> None:
    for labels in (joint.displacements, joint.coordinates, joint.velocities, joint.row_labels):
        names = [name for name, _ in labels]
        assert len(set(names)) == len(names)
    assert {unit for _, unit in (*joint.displacements, *joint.row_labels)} <= {"m", "rad"}
    assert joint.rows == tuple(name for name, _ in joint.row_labels)
    assert len(joint.row_units) == len(joint.rows)
    assert (joint.q_count, joint.v_count) == (len(joint.coordinates), len(joint.velocities))
    assert joint.q_count == joint.v_count + joint.has_quaternion
    assert len(joint.expressions) == len(joint.displacements)
    assert joint.limits is None
    assert joint.words.startswith(joint.kind)
    if joint.in_tree:
        assert joint.v_count + len(joint.rows) == 6
        assert joint.is_free == (joint.v_count == 6)
        assert joint.is_rigid == (joint.v_count == 0)
    else:
        assert joint.rows  # what moves nothing closes something


def twist_is_the_rate_of_the_pose(joint: Joint, rng: np.random.Generator) -> None:
    """(ω; v) = S u with [ω×] = Rᵀ Ṙ and v = Rᵀ ṗ; and its own rate at constant u is the drift."""
    numbers, q, u = Numbers(joint), random_q(joint, rng), rng.normal(size=joint.v_count)
    R, p, S, drift = numbers.motion(q, u)
    assert_allclose(numbers.pose(q)[0], R, rtol=0, atol=0)
    assert_allclose(numbers.pose(q)[1], p, rtol=0, atol=0)
    assert_allclose(R.T @ R, np.eye(3), rtol=0, atol=ROUNDING)
    (R1, p1, S1, _), (R0, p0, S0, _) = (numbers.motion(moved(joint, q, s * STEP * u), u) for s in (1, -1))
    rate = np.concatenate([vee(R.T @ (R1 - R0)), R.T @ (p1 - p0)]) / (2 * STEP)
    assert_allclose(S @ u, rate, rtol=0, atol=DIFFERENCES)
    assert_allclose(drift, (S1 - S0) @ u / (2 * STEP), rtol=0, atol=DIFFERENCES)


def formulas_of_its_own_are_those_of_differentiation(joint: Joint, rng: np.random.Generator) -> None:
    own, derived = Numbers(joint), Numbers(joint, Joint)
    q, u, seat = random_q(joint, rng), rng.normal(size=joint.v_count), random_rotation(rng)
    for mine, other in zip(own.motion(q, u), derived.motion(q, u), strict=True):
        assert_allclose(mine, other, rtol=0, atol=ROUNDING)
    assert_allclose(own.velocity(seat, q, u), derived.velocity(seat, q, u), rtol=0, atol=ROUNDING)


def kanes_velocity_accelerates_as_the_motion_does(joint: Joint, rng: np.random.Generator) -> None:
    """In the world, on a seat at rest: α = C (Ṡu)_ω and a = C ((Ṡu)_v + ω × v) at constant u, C the child's axes."""
    numbers, q, u = Numbers(joint), random_q(joint, rng), rng.normal(size=joint.v_count)
    seat = random_rotation(rng)
    R, _, S, drift = numbers.motion(q, u)
    child, omega, v = seat @ R, (S @ u)[:3], (S @ u)[3:]
    assert_allclose(numbers.velocity(seat, q, u), np.concatenate([child @ omega, child @ v]), rtol=0, atol=ROUNDING)
    ahead, behind = (numbers.velocity(seat, moved(joint, q, s * STEP * u), u) for s in (1, -1))
    expected = np.concatenate([child @ drift[:3], child @ (drift[3:] + np.cross(omega, v))])
    assert_allclose((ahead - behind) / (2 * STEP), expected, rtol=0, atol=DIFFERENCES)


def rows_let_pass_exactly_its_motion(joint: Joint, rng: np.random.Generator) -> None:
    """They vanish wherever the motion leads, and of small moves there stop all but S: rank 6 − n, and rows · S = 0."""
    numbers, seat = Numbers(joint), random_rotation(rng)
    for _ in range(3):
        q = random_q(joint, rng)
        R, p, S, _ = numbers.motion(q, np.zeros(joint.v_count))
        value, slope, cosine = numbers.rows(seat, R, p)
        assert len(value) == len(joint.rows)
        assert_allclose(value, 0, rtol=0, atol=ROUNDING)
        assert_allclose(slope @ S, 0, rtol=0, atol=ROUNDING)
        assert np.linalg.matrix_rank(slope, tol=FINITE) == 6 - joint.v_count
        assert_allclose(cosine, 1.0, rtol=0, atol=ROUNDING)


def units_of_rows_are_those_of_their_size(joint: Joint, rng: np.random.Generator) -> None:
    """In a machine of twice the size a row in metres doubles, and one in radians stays."""
    numbers, seat, R = Numbers(joint), random_rotation(rng), random_rotation(rng)
    p = rng.normal(size=3)
    lengths = {
        entry.name: 2 * getattr(joint, entry.name) for entry in fields(joint) if entry.metadata.get("unit") == "m"
    }
    values = {entry.name: getattr(joint, entry.name) for entry in fields(joint)} | lengths
    larger = Numbers(type(joint)(**values))
    value, twice = numbers.rows(seat, R, p)[0], larger.rows(seat, R, 2 * p)[0]
    factors = [2.0 if unit == "m" else 1.0 for unit in joint.row_units]
    assert_allclose(twice, factors * value, rtol=0, atol=ROUNDING)


def a_child_on_its_seat_is_closed_as_it_says(joint: Joint) -> None:
    value = Numbers(joint).rows(np.eye(3), np.eye(3), np.zeros(3))[0]
    assert bool(np.abs(value).max(initial=0.0) < ROUNDING) == joint.closes_on_seat


def coordinates_lead_back_to_the_pose(joint: Joint, rng: np.random.Generator) -> None:
    q = random_q(joint, rng)
    R, p = Numbers(joint).pose(q)
    assert_allclose(joint.coordinates_at(p, R), q, rtol=0, atol=ROUNDING)


def displacements_are_read_off_the_cut(joint: Joint, rng: np.random.Generator) -> None:
    """What it reads off a cut that it closes is what moved the child there."""
    if joint.has_quaternion:
        return
    q, seat = random_q(joint, rng), random_rotation(rng)
    R, p = Numbers(joint).pose(q)
    gap = Gap(*(ca.SX(ca.DM(entry)) for entry in (seat, seat @ R, seat @ p)))
    read = [float(ca.DM(value)) for value in joint.displacements_in(gap)]
    assert_allclose(read, q, rtol=0, atol=10 * ROUNDING)  # a screw's travel is divided by its pitch


def turned_round_it_is_its_inverse(joint: Joint, rng: np.random.Generator) -> None:
    """Seat on child by the joint turned round, then child on seat by the joint: nothing has moved."""
    q = random_q(joint, rng)
    R, p = Numbers(joint).pose(q)
    for back in filter(None, (joint.turned_over, Backwards(joint))):
        assert back.displacements == joint.displacements
        R_back, p_back = Numbers(back).pose(q)
        assert_allclose(R @ R_back, np.eye(3), rtol=0, atol=ROUNDING)
        assert_allclose(p + R @ p_back, 0, rtol=0, atol=ROUNDING)


def angles_come_round_as_it_says(joint: Joint, rng: np.random.Generator) -> None:
    numbers, q = Numbers(joint), random_q(joint, rng)
    for index in [i for i, (_, unit) in enumerate(joint.displacements) if unit == "rad"]:
        turned = q.copy()
        turned[index] += 2 * math.pi
        pairs = zip(numbers.pose(q), numbers.pose(turned), strict=True)
        away = max(float(np.abs(a - b).max()) for a, b in pairs)
        assert (away < ROUNDING) == joint.comes_round


def axes_are_those_of_its_motion(joint: Joint, rng: np.random.Generator) -> None:
    numbers, q = Numbers(joint), random_q(joint, rng)
    R, p, S, _ = numbers.motion(q, np.zeros(joint.v_count))
    if joint.hinge_axis is not None:
        turn = Rotation.from_rotvec(q[0] * np.array(joint.hinge_axis.components)).as_matrix()
        assert_allclose(R, turn, rtol=0, atol=ROUNDING)
        assert_allclose(p, 0, rtol=0, atol=0)
    if joint.screw_axis is not None:
        a = np.array(joint.screw_axis.components)
        for part in (*S[:3].T, *S[3:].T, p):
            assert_allclose(np.cross(a, part), 0, rtol=0, atol=ROUNDING)
        assert_allclose(R @ a, a, rtol=0, atol=ROUNDING)
    for index, axis in enumerate(joint.travel_axes):
        assert_allclose(R @ S[3:, index], axis.components, rtol=0, atol=ROUNDING)
        assert_allclose(S[:3, index], 0, rtol=0, atol=0)
    assert len(joint.travel_axes) <= joint.v_count


def marker_shows_its_motion(joint: Joint, rng: np.random.Generator) -> None:
    """An axle or pin stands along what it turns about, a sleeve along what it travels, a foot under what is held."""
    marker = joint.marker
    assert marker.has_foot != joint.is_base
    if not joint.in_tree:
        return
    S = Numbers(joint).motion(0 * random_q(joint, rng) + _resting(joint), np.zeros(joint.v_count))[2]
    for glyph in marker.glyphs:
        a = np.array(glyph.axis.components)
        turns = S[:3].T @ a if glyph.shape in {Shape.AXLE, Shape.PIN} else S[3:].T @ a
        assert glyph.shape is Shape.BALL or np.abs(turns).max() > FINITE
    if marker.has_strut:
        assert np.abs(S[3:]).max() > FINITE
    for axis in (marker.slides_along, marker.glides_across):
        assert axis is None or np.abs(S[3:]).max() > FINITE


def _resting(joint: Joint) -> np.ndarray:
    q = np.zeros(joint.q_count)
    if joint.has_quaternion:
        q[-4] = 1.0
    return q


OF_ALL = (a_child_on_its_seat_is_closed_as_it_says, names_and_counts_agree)
OF_ALL_AT_RANDOM = (marker_shows_its_motion, units_of_rows_are_those_of_their_size)
OF_TREES = (
    twist_is_the_rate_of_the_pose,
    formulas_of_its_own_are_those_of_differentiation,
    kanes_velocity_accelerates_as_the_motion_does,
    rows_let_pass_exactly_its_motion,
    coordinates_lead_back_to_the_pose,
    displacements_are_read_off_the_cut,
    turned_round_it_is_its_inverse,
    angles_come_round_as_it_says,
    axes_are_those_of_its_motion,
)


def check(kind: type[Joint], seed: int) -> None:
    """All laws for one joint of a kind."""
    rng = np.random.default_rng(seed)
    joint = example(kind, rng)
    for law in OF_ALL:
        law(joint)
    for law in (*OF_ALL_AT_RANDOM, *(OF_TREES if joint.in_tree else ())):
        law(joint, rng)
