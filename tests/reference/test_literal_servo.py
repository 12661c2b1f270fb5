"""The planar robot's paper takes the force of its servo rows for a control. These runs show what that does."""

# ruff: noqa: N803  (matrices are called by their letters)

import numpy as np
import pytest

import kalaba as kb

MOTORS = [0, 4, 8]  # qa1, qa2, qa3
STEP, DURATION = 0.01, 10.0


@pytest.fixture(scope="module")
def plant():
    return kb.build(kb.load("planar-parallel", tracking=True))


def force(A, b, M, Q):
    """The constraint force of some rows alone, by Udwadia and Kalaba."""
    spread = np.linalg.solve(M, A.T)
    return A.T @ np.linalg.lstsq(A @ spread, b - spread.T @ Q, rcond=1e-12)[0]


def on_every_coordinate(M, Q, A, b):
    """The paper's (22) to (25): the servo force beside that of the structure, each as if the other were not there."""
    return Q + force(A[:10], b[:10], M, Q) + force(A[10:], b[10:], M, Q)


def on_the_motors(servo_force):
    """Its section 4.2: the entries of a servo force which belong to motors, on the closed machine."""

    def law(M, Q, A, b):
        u = np.zeros(len(Q))
        u[MOTORS] = servo_force(M, Q, A, b)[MOTORS]
        return Q + u + force(A[:10], b[:10], M, Q + u)

    return law


def of_the_servo_rows(M, Q, A, b):
    """As printed: the servo rows as if the structure were not there."""
    return force(A[10:], b[10:], M, Q)


def of_all_rows(M, Q, A, b):
    """As corrected: the force of all rows together, less that of the structure; it does move the point as wanted."""
    return force(A, b, M, Q) - force(A[:10], b[:10], M, Q)


def gaps(plant, law):
    """The residual of every row over ten seconds, integrated without any projection."""

    def rate(y, t):
        q, v = np.split(y, 2)
        M, Q, A, b = plant.problem(plant.inputs(q, v, t))
        return np.concatenate([v, np.linalg.solve(M, law(M, Q, A, b))])

    y, found, h = np.concatenate(plant.start), [], STEP
    for k in range(int(DURATION / h)):
        t = k * h
        k1 = rate(y, t)
        k2 = rate(y + h / 2 * k1, t + h / 2)
        k3 = rate(y + h / 2 * k2, t + h / 2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3, t + h))
        found.append(plant.residual(y[: len(y) // 2], t + h))
    return dict(zip(plant.constraints, np.transpose(found), strict=True))


def test_the_force_of_the_servo_rows_alone_tears_the_legs_apart(plant):
    found = {row: np.abs(gap).max() for row, gap in gaps(plant, on_every_coordinate).items()}
    assert found["join2.x"] == pytest.approx(0.020, abs=5e-4)
    assert found["join3.x"] == pytest.approx(0.020, abs=5e-4)
    assert found["leg1.base.x"] == pytest.approx(0.005, abs=5e-4)


@pytest.mark.parametrize(("servo_force", "miss"), [(of_all_rows, 0.013), (of_the_servo_rows, 0.0157)])
def test_the_motor_entries_of_a_servo_force_miss_the_goal(plant, servo_force, miss):
    """Of a motion of 10 mm to either side. 13 mm is the published correction's force, 15.7 mm the printed one's."""
    found = gaps(plant, on_the_motors(servo_force))
    assert max(np.abs(gap).max() for row, gap in found.items() if not row.startswith("servo")) < 1e-11  # rounding
    assert np.hypot(found["servo.x"], found["servo.y"]).max() == pytest.approx(miss, abs=1e-4)  # its last digit


@pytest.mark.parametrize("servo_force", [of_all_rows, of_the_servo_rows])
def test_nearly_all_of_a_servo_force_sits_where_there_is_no_motor(plant, servo_force):
    u = servo_force(*plant.problem(plant.inputs(*plant.start, 0.0)))
    assert np.linalg.norm(np.delete(u, MOTORS)) == pytest.approx(0.99 * np.linalg.norm(u), rel=0.005)  # its last digit
