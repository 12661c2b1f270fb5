"""The planar robot's paper takes the force of its servo rows alone for a control. These runs show what that does."""

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


def on_the_motors(M, Q, A, b):
    """Its section 4.2: the entries of that force which belong to motors."""
    u = np.zeros(len(Q))
    u[MOTORS] = force(A[10:], b[10:], M, Q)[MOTORS]
    return Q + u + force(A[:10], b[:10], M, Q + u)


def worst_gaps(plant, law):
    """Largest residual of every row in ten seconds, integrated without any projection."""

    def rate(y, t):
        q, v = np.split(y, 2)
        M, Q, A, b = plant.problem(plant.inputs(q, v, t))
        return np.concatenate([v, np.linalg.solve(M, law(M, Q, A, b))])

    y, worst, h = np.concatenate(plant.start), np.zeros(len(plant.constraints)), STEP
    for k in range(int(DURATION / h)):
        t = k * h
        k1 = rate(y, t)
        k2 = rate(y + h / 2 * k1, t + h / 2)
        k3 = rate(y + h / 2 * k2, t + h / 2)
        y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + rate(y + h * k3, t + h))
        worst = np.maximum(worst, np.abs(plant.residual(y[: len(y) // 2], t + h)))
    return dict(zip(plant.constraints, worst, strict=True))


def test_the_force_of_the_servo_rows_alone_tears_the_legs_apart(plant):
    gaps = worst_gaps(plant, on_every_coordinate)
    assert gaps["join2.x"] == pytest.approx(0.020, abs=5e-4)
    assert gaps["join3.x"] == pytest.approx(0.020, abs=5e-4)
    assert gaps["leg1.base.x"] == pytest.approx(0.005, abs=5e-4)


def test_its_motor_entries_alone_miss_the_goal(plant):
    gaps = worst_gaps(plant, on_the_motors)
    assert max(gap for row, gap in gaps.items() if not row.startswith("servo")) < 1e-4
    assert 0.010 < np.hypot(gaps["servo.x"], gaps["servo.y"]) < 0.020  # of a motion of 0.01 m to either side
