"""pus-upu against states and a run that other code made from physics (see data/pus-upu/README.md).

Inverse dynamics two ways: by velocities that keep the legs closed, G F = rhs on the platform's six speeds; and by the
motion itself, v̇ = v̇₀ + Y u with every row kept, of which the platform's acceleration is asked.
"""

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

import kalaba as kb
from kalaba.errors import ControlError

DATA = Path(__file__).parent / "data" / "pus-upu"
LIMITS = np.full(6, np.inf)
EXACT = 1e-8  # relative; the reference itself is good to some 1e-12
STATES = dict(np.load(DATA / "states.npz"))
CIRCLE = dict(np.load(DATA / "circle_run.npz"))
COUNT = len(STATES["p"])
PLANT = kb.build(kb.load("pus-upu"))


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(found - expected).max() / np.abs(expected).max())


def pose(k: int) -> kb.Pose:
    """The pose of a state; its turn is below half a turn."""
    p, R = STATES["p"][k], STATES["R"][k]
    w = np.sqrt(1 + np.trace(R)) / 2
    x, y, z = (np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4 * w)).tolist()
    return kb.Pose(tuple(p), quaternion=(float(w), x, y, z))


def moving(q: np.ndarray, twist: np.ndarray) -> np.ndarray:
    """The velocity that keeps all rows and gives the platform a twist."""
    A, _ = PLANT.constraint(q, np.zeros(27))
    rows = np.vstack([A, PLANT.jacobian("platform", q)])
    v = np.linalg.lstsq(rows, np.concatenate([np.zeros(len(A)), twist]), rcond=None)[0]
    assert np.abs(rows @ v - np.concatenate([np.zeros(len(A)), twist])).max() < 1e-12
    return v


@pytest.fixture(scope="module")
def states() -> list[kb.State]:
    found = []
    for k in range(COUNT):
        q = kb.kinematics.motors_at(PLANT, "platform", pose(k)).q
        found.append(kb.State(q, moving(q, np.concatenate([STATES["v"][k], STATES["w"][k]]))))
    return found


class OpenMiddle:
    """The robot with the yaw row of the middle leg taken out: six freedoms, told by the platform's twist V: v = T V."""

    def __init__(self, state: kb.State, twist_rate: np.ndarray) -> None:
        q, v = state
        A, b = PLANT.constraint(q, v)
        kept = np.array([row != "fork.cross" for row in PLANT.constraints])
        J = PLANT.jacobian("platform", q)
        square = np.vstack([A[kept], J])  # J̇ v = 0: the platform's angular velocity turns only with itself
        self.T = np.linalg.solve(square, np.vstack([np.zeros((kept.sum(), 6)), np.eye(6)]))
        self.acceleration = np.linalg.solve(square, np.concatenate([b[kept], twist_rate]))
        self.gap = float(A[~kept][0] @ self.acceleration - b[~kept][0])
        self.G = self.T.T @ np.column_stack([PLANT.actuation_map(q), A[~kept].T])
        self.rhs = self.T.T @ (PLANT.mass_matrix(q) @ self.acceleration + PLANT.bias(q, v))


@pytest.fixture(scope="module")
def opened(states) -> list[OpenMiddle]:
    return [OpenMiddle(state, np.concatenate([STATES["a"][k], STATES["e"][k]])) for k, state in enumerate(states)]


def without_reaction(found: OpenMiddle) -> tuple[np.ndarray, np.ndarray]:
    """Five equations in the six motor forces: those on which the middle leg's load does no work."""
    across = np.linalg.svd(found.G[:, 6:], full_matrices=True)[0][:, 1:]
    return across.T @ found.G[:, :6], across.T @ found.rhs


def test_the_numbers_are_those_of_the_reference():
    given = json.loads((DATA / "geometry.json").read_text(encoding="utf-8"))
    numbers = {p.name: p.value for p in PLANT.machine.parameters}
    expected = {
        "base_radius": given["RA"],
        "platform_radius": given["rb"],
        "platform.mass": given["m_d"],
        "leg1.slider.mass": given["m_A"],
        "leg6.rod.mass": given["m_l"],
        "leg6.rod.length": given["l"],
        "middle.upper.mass": given["m_mu"],
        "middle.lower.mass": given["m_md"],
        "middle.upper.length": given["Lmu"],
        "middle.lower.length": given["Lmd"],
    }
    assert {name: numbers[name] for name in expected} == expected
    q = PLANT.start.q
    for i in range(6):
        assert_allclose(PLANT.pose(f"leg{i + 1}.slider", q).position[:2], given["a"][i], atol=1e-15)
        assert_allclose(
            PLANT.pose(f"leg{i + 1}.rod.tip", q).position - (0, 0, given["z_home"]), given["b"][i], atol=1e-14
        )


def test_loops_close_with_the_sliders_where_the_reference_has_them(states):
    for k, (q, _) in enumerate(states):
        assert np.abs(PLANT.residual(q)).max() < 1e-13
        at = kb.kinematics.motors_at(PLANT, "platform", pose(k)).displacements
        assert_allclose(list(at.values()), STATES["zA"][k], rtol=0, atol=1e-10)
        assert_allclose(q[PLANT.coordinates.index("middle.lower.travel")], STATES["l_mid"][k], rtol=0, atol=1e-10)
        tips = [PLANT.pose(f"leg{i}.rod.tip", q).position for i in range(1, 7)]
        assert_allclose(tips, STATES["B"][k], rtol=0, atol=1e-10)


def test_sliders_move_as_the_reference_has_them(states, opened):
    columns = [PLANT.velocities.index(f"leg{i}.slider.travel") for i in range(1, 7)]
    for k, (q, v) in enumerate(states):
        assert relative(v[columns], STATES["zAdot"][k]) < EXACT
        assert relative(opened[k].acceleration[columns], STATES["zAddot"][k]) < EXACT
        assert abs(opened[k].gap) < 1e-9  # the accelerations keep the yaw row too
        twist = np.concatenate([STATES["v"][k], STATES["w"][k]])
        assert relative(kb.kinematics.motor_jacobian(PLANT, "platform", q) @ twist, STATES["zAdot"][k]) < EXACT


def test_force_map_and_required_force_are_those_of_the_reference(opened):
    for k, found in enumerate(opened):
        assert relative(found.G[:, :6], STATES["G"][k][:, :6]) < EXACT
        assert relative(found.G[:, 6], STATES["G"][k][:, 6]) < EXACT
        assert relative(found.rhs, STATES["rhs"][k]) < EXACT


def test_forces_of_five_motors_and_of_six_are_those_of_the_reference_and_of_other_engines(opened):
    for k, found in enumerate(opened):
        W, F = without_reaction(found)
        five = kb.LeastSquares().allocate(W[:, :5], F, LIMITS[:5])
        least = kb.LeastSquares().allocate(W, F, LIMITS)
        assert relative(five, STATES["nr"][k][:5]) < EXACT
        assert STATES["nr"][k][5] == 0.0
        assert relative(least, STATES["ls"][k][:6]) < EXACT
        assert relative(kb.MinMax().allocate(W, F, LIMITS), STATES["minmax"][k][:6]) < EXACT
        for engine in ("pin", "mj"):
            assert relative(five, STATES[f"{engine}_nr"][k][:5]) < EXACT
            assert relative(least, STATES[f"{engine}_ls"][k]) < EXACT


def test_the_middle_leg_carries_what_the_reference_says(opened):
    for k, found in enumerate(opened):
        W, F = without_reaction(found)
        least = kb.LeastSquares().allocate(W, F, LIMITS)
        load = found.G[:, 6] @ (found.rhs - found.G[:, :6] @ least) / (found.G[:, 6] @ found.G[:, 6])
        assert load == pytest.approx(STATES["ls"][k][6], rel=EXACT, abs=1e-8)
        seven = kb.LeastSquares().allocate(found.G, found.rhs, np.full(7, np.inf))
        assert relative(seven, STATES["ls7"][k]) < EXACT


def test_forces_within_450_newton_are_those_of_the_reference(opened):
    bounded = kb.Bounded(lower=(-450.0,) * 6, upper=(450.0,) * 6)
    for k, found in enumerate(opened):
        assert relative(bounded.allocate(*without_reaction(found), LIMITS), STATES["bounded450"][k][:6]) < EXACT


def test_at_home_the_motors_share_the_weight_evenly():
    found = OpenMiddle(PLANT.start, np.zeros(6))
    W, F = without_reaction(found)
    assert_allclose(kb.LeastSquares().allocate(W, F, LIMITS), -183.12, rtol=0, atol=5e-9)
    null = np.array([-1, 1, -1, 1, -1, 1])
    assert np.abs(W @ null).max() < 1e-12


def asked(state: kb.State, twist_rate: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """W and F of W u = F, from M v̇ − Aᵀλ = B u − bias and A v̇ = b: v̇ = v̇₀ + Y u, and J v̇ is the rate of the twist.

    Of the six equations the five are kept along which the platform can move.
    """
    q, v = state
    M, bias, B, J = PLANT.mass_matrix(q), PLANT.bias(q, v), PLANT.actuation_map(q), PLANT.jacobian("platform", q)
    A, b = PLANT.constraint(q, v)
    system = np.block([[M, -A.T], [A, np.zeros((len(A), len(A)))]])
    sides = np.column_stack([np.concatenate([-bias, b]), np.vstack([B, np.zeros((len(A), 6))])])
    solved = np.linalg.solve(system, sides)[: len(v)]
    free = np.linalg.svd(A)[2][len(A) :]
    along = np.linalg.svd(J @ free.T, full_matrices=False)[0]
    missing = twist_rate - J @ solved[:, 0]
    assert np.abs(missing - along @ (along.T @ missing)).max() < 1e-10  # the motion keeps the rows
    return along.T @ J @ solved[:, 1:], along.T @ missing


@pytest.fixture(scope="module")
def circle() -> list[tuple[np.ndarray, np.ndarray]]:
    """W and F along the circle, level all the way."""
    found, q = [], None
    for p, v, a in zip(CIRCLE["p"], CIRCLE["v"], CIRCLE["a"], strict=True):
        q = kb.kinematics.motors_at(PLANT, "platform", kb.Pose(tuple(p)), guess=q).q
        still = np.zeros(3)
        found.append(asked(kb.State(q, moving(q, np.concatenate([v, still]))), np.concatenate([a, still])))
    return found


@pytest.mark.parametrize(
    ("name", "motors", "allocation", "peak"),
    [
        ("nr", 5, kb.LeastSquares(), 670.9),
        ("ls", 6, kb.LeastSquares(), 343.2),
        ("minmax", 6, kb.MinMax(), 330.8),
    ],
)
def test_forces_round_the_circle_are_those_of_the_reference(circle, name, motors, allocation, peak):
    forces = np.array([allocation.allocate(W[:, :motors], F, LIMITS[:motors]) for W, F in circle])
    assert np.abs(forces).max() == pytest.approx(peak, abs=0.1)
    assert relative(forces, CIRCLE[name][:, :motors]) < EXACT


@pytest.mark.parametrize(("bound", "impossible"), [(332.0, 0), (330.0, 19)])
def test_a_bound_just_above_the_least_largest_force_is_met_and_one_below_is_not(circle, bound, impossible):
    bounded, count = kb.Bounded(lower=(-bound,) * 6, upper=(bound,) * 6), 0
    for W, F in circle:
        try:
            forces = bounded.allocate(W, F, LIMITS)
        except ControlError:
            count += 1
        else:
            assert np.abs(forces).max() <= bound * (1 + 1e-9)
            assert_allclose(W @ forces, F, rtol=0, atol=1e-9)
    assert count == impossible


def test_the_circle_is_the_trapezoid_of_the_paper():
    path = kb.path.circle(diameter=0.2, speed=0.125, accel=0.25, centre=(0.0, 0.0, CIRCLE["p"][0, 2]))
    assert path.duration == pytest.approx(float(CIRCLE["T"]), rel=1e-12)
    found = path.at(CIRCLE["t"])
    assert_allclose(found.position, CIRCLE["p"], rtol=0, atol=1e-12)
    assert_allclose(found.velocity, CIRCLE["v"], rtol=0, atol=1e-12)
