"""Items of the paper, one test per key. Its formulas are written out here as it prints them, by hand."""

# ruff: noqa: N803  (matrices are called by their letters)

from dataclasses import replace
from functools import cache
from math import cos, pi, sin
from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import sqrtm

import kalaba as kb
from kalaba.constrain.kernels.standard import STANDARD
from kalaba.printing.reading import operation_count
from kalaba.robots.catalogue import ENTRIES
from kalaba.robots.dual_mobile_arm import ALIKE, GOALS, HALF
from kalaba.robots.papers.dong2022 import PAPER
from kalaba.space.instructions import ARITY, instructions
from kalaba.view.figures.sources import _panel

DATA = Path(__file__).parents[1] / "reference" / "data" / "dual-mobile-arm"
NAME, G = "dual-mobile-arm", 9.8
L, MASS, INERTIA = (0.7, 0.8, 0.4), (3.0, 4.0, 1.0), (0.49, 0.855, 0.08)  # table 1
M_V, M_R, I_R, L_R = 50.0, 2.0, 0.0625, 0.5
START = np.array([0, 0, 0, pi / 2, -pi / 3, 0, 1.6, 0, -pi, pi / 2, -pi / 3, 0])
ROUNDING = 1e-12  # of sums of some ten products of numbers up to 1e3, relative to the largest


@cache
def reference(name: str) -> dict[str, np.ndarray]:
    """Independent solutions, made by other code."""
    with np.load(DATA / f"{name}.npz") as file:
        return dict(file)


@cache
def plant(**options: object) -> kb.Plant:
    return kb.build(kb.load(NAME, **options), backend=kb.Interpreted())


def free() -> kb.Plant:
    """The structure alone."""
    return plant(path=False)


@cache
def run() -> kb.Run:
    """The paper's path by its rows."""
    return kb.simulate(kb.load(NAME), 4.0, stepper=kb.RungeKutta4(1e-2), check=False)


def states() -> list[tuple[np.ndarray, np.ndarray, float]]:
    found = reference("states")
    return [(found["q"][k], found["qd"][k], float(found["t"][k])) for k in (0, 4, 9)]


def close(ours: np.ndarray, other: np.ndarray, within: float = ROUNDING) -> None:
    assert_allclose(ours, other, rtol=0, atol=within * max(1.0, float(np.abs(other).max())))


# --- the paper's formulas for one half, q = (x, y, δ, θ1, θ2, θ3)


def sums(q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """ŝ and ĉ."""
    return np.array(L) * np.sin(q[3:6]), np.array(L) * np.cos(q[3:6])


def jacobians(q: np.ndarray, *, printed: bool = False) -> dict[str, np.ndarray]:
    """J_v of the links, column by column; the columns of a link's own angle as printed or as they are."""
    s, c = sums(q)
    d, out = q[2], {}
    for i in range(3):
        J = np.zeros((3, 6))
        J[0, 0] = J[1, 1] = 1
        reach = c[: i + 1].sum() - c[i] / 2
        J[:, 2] = (-reach * sin(d), reach * cos(d), 0)
        for k in range(i):
            J[:, 3 + k] = (-s[k] * cos(d), -s[k] * sin(d), c[k])
        half = (cos(d / 2), sin(d / 2)) if printed else (cos(d) / 2, sin(d) / 2)
        J[:, 3 + i] = (-s[i] * half[0], -s[i] * half[1], c[i] / 2)
        out[f"link{i + 1}"] = J
    return out


def mass_matrix(q: np.ndarray, *, printed: bool = False) -> np.ndarray:
    """The appendix."""
    (s1, s2, s3), (c1, c2, c3) = sums(q)
    (m1, m2, m3), (l1, l2, l3), (I1, I2, I3) = MASS, L, INERTIA
    d, t1, t2, t3 = q[2:]
    M = np.zeros((6, 6))
    first = (m1 / 2 + m2 + m3, m2 / 2 + m3, m3 / 2)
    M[0, 0] = M[1, 1] = M_V + M_R + m1 + m2 + m3
    M[2, 2] = m1 * (c1 if printed else c1**2) / 4 + m2 * (c1 + c2 / 2) ** 2 + m3 * (c1 + c2 + c3 / 2) ** 2
    M[2, 2] += I1 + I2 + I3 + I_R
    M[3, 3], M[4, 4] = (m1 / 4 + m2 + m3) * l1**2 + I1, (m2 / 4 + m3) * l2**2 + I2
    M[5, 5] = m3 * l3**2 / 4 + I3
    arm = first[0] * c1 + first[1] * c2 + first[2] * c3
    M[0, 2], M[1, 2] = -arm * sin(d), arm * cos(d)
    for k, (f, s) in enumerate(zip(first, (s1, s2, s3), strict=True)):
        M[0, 3 + k], M[1, 3 + k] = -f * s * cos(d), -f * s * sin(d)
    M[3, 4] = ((m2 + m3) / 2 if printed else m2 / 2 + m3) * l1 * l2 * cos(t1 - t2)
    M[3, 5], M[4, 5] = m3 * l1 * l3 / 2 * cos(t1 - t3), m3 * l2 * l3 / 2 * cos(t2 - t3)
    return np.triu(M) + np.triu(M, 1).T


def weight(q: np.ndarray) -> np.ndarray:
    (c1, c2, c3), (m1, m2, m3) = sums(q)[1], MASS
    return np.array([0, 0, 0, (m1 / 2 + m2 + m3) * G * c1, (m2 / 2 + m3) * G * c2, m3 * G * c3 / 2])


def coriolis(q: np.ndarray, v: np.ndarray, *, printed: bool = False) -> np.ndarray:
    """The appendix."""
    (s1, s2, s3), (c1, c2, c3) = sums(q)
    (m1, m2, m3), (l1, l2, l3) = MASS, L
    d, t1, t2, t3 = q[2:]
    w, w1, w2, w3 = v[2:]
    a, b = m1 / 2 + m2 + m3, m2 / 2 + m3
    r2, r3 = c1 + c2 / 2, c1 + c2 + c3 / 2
    C = np.zeros((6, 6))
    moving, arm = a * s1 * w1 + b * s2 * w2 + m3 * s3 * w3 / 2, a * c1 + b * c2 + m3 * c3 / 2
    C[0, 2], C[1, 2] = moving * sin(d) - arm * cos(d) * w, -moving * cos(d) - arm * sin(d) * w
    for k, (f, s, c, rate) in enumerate(zip((a, b, m3 / 2), (s1, s2, s3), (c1, c2, c3), (w1, w2, w3), strict=True)):
        C[0, 3 + k] = f * (s * sin(d) * w - c * cos(d) * rate)
        C[1, 3 + k] = -f * (s * cos(d) * w + c * sin(d) * rate)
    C[2, 2] = -m1 / 4 * c1 * s1 * w1 - m2 / 2 * r2 * (2 * s1 * w1 + s2 * w2)
    C[2, 2] -= m3 / 2 * r3 * (2 * s1 * w1 + 2 * s2 * w2 + s3 * w3)
    entry = (m1 * c1 / (2 if printed else 4) + m2 * r2 + m3 * r3) * s1 * w
    C[2, 3:] = -entry, -(m2 / 2 * r2 + m3 * r3) * s2 * w, -m3 / 2 * r3 * s3 * w
    C[3:, 2] = -C[2, 3:]
    C[3, 4], C[4, 3] = b * l1 * l2 * sin(t1 - t2) * w2, b * l1 * l2 * sin(t2 - t1) * w1
    C[3, 5], C[5, 3] = m3 / 2 * l1 * l3 * sin(t1 - t3) * w3, m3 / 2 * l1 * l3 * sin(t3 - t1) * w1
    C[4, 5], C[5, 4] = m3 / 2 * l2 * l3 * sin(t2 - t3) * w3, m3 / 2 * l2 * l3 * sin(t3 - t2) * w2
    return C


def rows(q: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(15) and (16)."""
    A, b = np.zeros((6, 12)), np.zeros(6)
    for k, sign in ((0, 1), (6, -1)):
        (s, c), d, w, rates = sums(q[k : k + 6]), q[k + 2], v[k + 2], v[k + 3 : k + 6]
        kappa, zeta, psi = c.sum(), s @ rates * w, c @ rates**2
        A[0, k], A[0, k + 2], A[0, k + 3 : k + 6] = sign, -sign * kappa * sin(d), -sign * s * cos(d)
        A[1, k + 1], A[1, k + 2], A[1, k + 3 : k + 6] = sign, sign * kappa * cos(d), -sign * s * sin(d)
        A[2, k + 3 : k + 6] = sign * c
        b[0] += sign * ((psi + kappa * w**2) * cos(d) - 2 * zeta * sin(d))
        b[1] += sign * ((psi + kappa * w**2) * sin(d) + 2 * zeta * cos(d))
        b[2] += sign * (s @ rates**2)
    A[3, 2], A[3, 8], A[4, 5], A[5, 11] = 1, -1, 1, 1
    return A, b


def path_rows(q: np.ndarray, v: np.ndarray, t: float, *, column: int = 6) -> tuple[np.ndarray, np.ndarray]:
    """(21) and (22), the fifth row in a column."""
    (s, c), d, w, rates = sums(q[:6]), q[2], v[2], v[3:6]
    A, b = np.zeros((6, 12)), np.zeros(6)
    A[:3] = rows(q, v)[0][:3]
    A[:3, 6:] = 0
    A[3, 0] = A[4, column] = A[5, 2] = 1
    push, zeta = (c @ rates**2 + c.sum() * w**2), s @ rates * w
    b[0] = push * cos(d) - 2 * zeta * sin(d)
    b[1] = push * sin(d) + 2 * zeta * cos(d) + pi**2 / 2 * cos(pi * t)
    b[2] = s @ rates**2 + pi**2 / 2 * cos(pi * t)
    return A, b


def udwadia_kalaba(M: np.ndarray, Q: np.ndarray, A: np.ndarray, b: np.ndarray) -> np.ndarray:
    """(4), literally."""
    root = np.real(sqrtm(M))
    return root @ np.linalg.pinv(A @ np.linalg.inv(root)) @ (b - A @ np.linalg.solve(M, Q))


def both(half: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Block by block."""
    zero = np.zeros((6, 6))
    return np.block([[half, zero], [zero, other]])


def panel(title: str, number: int = 0):
    """A panel of the paper's figures, none of its lines empty."""

    class Runs:
        def of(self, options):
            assert options == {"path": True, "closure": "parts", "control": "rows"}
            return run()

    found = [p for p in ENTRIES[NAME].figures.panels if p.title.startswith(title)][number]
    shown, _ = _panel(found, Runs())
    assert all(np.isfinite(curve.y).any() for curve in shown.curves)
    assert "[" in shown.label
    return shown


def cut_machine(**options: object) -> kb.System:
    """The load as one rigid body, cut as the paper does not want it: at the joint of the right arm on its turret."""
    return replace(kb.load(NAME, path=False, closure="weld", **options), cuts=(("cut", "right.link1"),))


def model_operations(system: kb.System, method: object) -> int:
    """Of M and bias together."""
    equations = kb.derive(system, method)
    s = equations.symbols
    both_of = ca.vertcat(ca.vec(equations.mass_matrix), equations.bias)
    return operation_count(both_of, ca.vertcat(s.q, s.v, s.t, s.u, s.p))


def motion_operations(system: kb.System, method: object) -> int:
    motion = STANDARD["motion"].whole(kb.derive(system, method))
    return sum(instruction.word in ARITY for instruction in instructions(motion))


# --- the items


def test_system():
    mobility = kb.check(free())
    assert (mobility.coordinates, len(mobility.rows), mobility.rank, mobility.freedoms) == (12, 6, 6, 6)
    assert kb.check(plant()).freedoms == 0
    assert len(free().actuators) == 12
    for name in PAPER.machines:
        assert name in ENTRIES


def test_claim_tedious():
    """The machine as one tree, 8 + 3, by Lagrange against one half."""
    one_half = replace(HALF, gravity=(0.0, 0.0, -G))
    assert model_operations(one_half, kb.Lagrange()) == pytest.approx(2012, rel=0.02)
    assert model_operations(cut_machine(), kb.Lagrange()) == pytest.approx(5441, rel=0.02)


def test_claim_multipliers():
    """Eighteen equations with multipliers, twelve without: one acceleration."""
    q, v = (entry[-1] for entry in (reference("free_run")["q"], reference("free_run")["qd"]))
    M, Q, (A, b) = free().mass_matrix(q), -free().bias(q, v), rows(q, v)
    saddle = np.block([[M, -A.T], [A, np.zeros((6, 6))]])
    assert saddle.shape == (18, 18)
    close(free().motion(q, v).acceleration, np.linalg.solve(saddle, np.concatenate([Q, b]))[:12], 1e-9)


def test_method():
    """Steps I to III give an independent solution's accelerations."""
    found = reference("states")
    for k in np.flatnonzero(found["on_manifold"])[:3]:
        q, v, tau = found["q"][k], found["qd"][k], found["tau"][k]
        close(free().motion(q, v, force=tau).acceleration, found["qdd_12"][k], 1e-9)


def test_eq_1():
    found = reference("states")
    for k in range(3):
        close(free().mass_matrix(found["q"][k]), found["M"][k])


def test_eq_2():
    found = reference("states")
    for k in range(3):
        A, b = plant().constraint(found["q"][k], found["qd"][k], found["t"][k])
        close(A, found["A"][k])
        close(b, found["b"][k])


def test_eq_3_4():
    found = reference("paper_run")
    q, v, t = found["q"][37], found["qd"][37], found["t"][37]
    A, b = plant().constraint(q, v, t)
    M, Q = plant().mass_matrix(q), -plant().bias(q, v)
    motion = plant().motion(q, v, t=t)
    close(motion.constraint_force, udwadia_kalaba(M, Q, A, b), 1e-9)
    close(M @ motion.acceleration, Q + motion.constraint_force, 1e-9)


def test_assumption_1():
    for q, _, _ in states():
        assert np.linalg.eigvalsh(free().mass_matrix(q)).min() > 0
    masses = {p.name: p.value for p in free().machine.parameters if p.name.endswith(".mass")}
    assert len(masses) == len(free().machine.bodies)
    assert min(masses.values()) > 0


def test_assumption_2():
    for q, v, t in states():
        assert np.linalg.matrix_rank(plant().constraint(q, v, t)[0]) >= 1
        assert np.linalg.matrix_rank(free().constraint(q, v, t)[0]) == 6


def test_assumption_3():
    assert np.abs(plant().residual(START)).max() < 1e-15
    assert_allclose(plant().start.q, START, rtol=0, atol=1e-15)


def test_figure_1():
    """The mobile arm alone: six coordinates, six motors."""
    alone = kb.build(replace(HALF, gravity=(0.0, 0.0, -G)), backend=kb.Interpreted())
    assert alone.coordinates == ("x", "y", "delta", "theta1", "theta2", "theta3")
    assert len(alone.actuators) == 6
    tip = alone.pose("link3.tip", START[:6]).position
    assert_allclose(tip, (L[1] / 2 + L[2], 0, L_R + L[0] - L[1] * sin(pi / 3)), rtol=0, atol=1e-15)


def test_figure_2():
    """Both halves meet in the middle of the load, the right one turned by half a turn; Δz is a number."""
    ends = [free().pose(f"{side}.link3.tip", START).position for side in ("left", "right")]
    assert_allclose(ends[0], ends[1], rtol=0, atol=1e-15)
    assert_allclose(ends[0][0], 0.8, rtol=0, atol=1e-15)
    assert "delta_z" in {p.name for p in free().machine.parameters}


def test_claim_platform_turn():
    """A platform that turns under a turret that stays has no inertia: its moment is zero in table 1."""
    platform, turret, *others = HALF.parts
    turning = replace(
        HALF,
        coordinates=("psi", *HALF.coordinates),
        parts=(
            replace(platform, joint=kb.Planar(kb.Z, q=("x", "y", "psi"))),
            replace(turret, joint=kb.Revolute(kb.Z, q="delta - psi")),
            *others,
        ),
    )
    M = kb.build(turning, backend=kb.Interpreted()).mass_matrix(np.concatenate([[0.4], START[:6]]))
    assert np.abs(M[0]).max() < 1e-15


def test_claim_one_half():
    """The two halves are one System placed twice: the right one's M is the left one's formula."""
    q = states()[0][0]
    close(free().mass_matrix(q), both(mass_matrix(q[:6]), mass_matrix(q[6:])))
    machine = free().machine
    assert sum(b.name.startswith("left.") for b in machine.bodies) == 5
    assert sum(b.name.startswith("right.") for b in machine.bodies) == 5


def test_claim_cut_cost():
    """By Lagrange the cut in the middle is cheaper, by Newton-Euler the other one is."""
    middle = kb.load(NAME, path=False, closure="weld")
    counts = [motion_operations(system, kb.NewtonEuler()) for system in (middle, cut_machine())]
    assert counts == [pytest.approx(2817, rel=0.02), pytest.approx(2275, rel=0.02)]
    assert counts[1] < counts[0]
    described = kb.load(NAME, path=False)
    by_rows_12 = [replace(described, cuts=cuts) for cuts in ((), (("cut", "left.link3"),))]
    counts = [motion_operations(system, kb.NewtonEuler()) for system in by_rows_12]
    assert counts == [pytest.approx(2143, rel=0.02), pytest.approx(5244, rel=0.02)]


@pytest.mark.long
def test_the_cut_in_the_middle_is_cheaper_by_lagrange():
    middle = kb.load(NAME, path=False, closure="weld")
    counts = [motion_operations(system, kb.Lagrange()) for system in (middle, cut_machine())]
    assert counts == [pytest.approx(5581, rel=0.02), pytest.approx(6704, rel=0.02)]


def test_claim_cut_rows():
    """Cut at the end joint of an arm nothing is lost: the hinge's five rows have rank 4, seven freedoms either way."""
    other, middle = kb.check(cut_machine()), kb.check(kb.load(NAME, path=False, closure="weld"))
    assert (len(other.rows), other.rank, other.freedoms) == (5, 4, 7)
    assert (len(middle.rows), middle.rank, middle.freedoms) == (6, 5, 7)
    assert "right.link1.angle" in kb.build(cut_machine(), backend=kb.Interpreted()).machine.displacements


def test_eq_5():
    """M = Σ m JᵀJ + JᵀIJ, of the links, the turret and the platform."""
    q = states()[1][0]
    M = np.zeros((6, 6))
    for i, J in enumerate(jacobians(q[:6]).values()):
        turning = np.zeros((2, 6))
        turning[0, 2] = turning[1, 3 + i] = 1
        M += MASS[i] * J.T @ J + INERTIA[i] * turning.T @ turning
    M[0, 0], M[1, 1], M[2, 2] = M[0, 0] + M_V + M_R, M[1, 1] + M_V + M_R, M[2, 2] + I_R
    close(free().mass_matrix(q)[:6, :6], M)


def test_eq_6_7():
    """Velocities of the centres of mass: the printed columns of a link's own angle give others as soon as δ ≠ 0."""
    q, v, _ = states()[1]
    printed = jacobians(q[:6], printed=True)
    for name, J in jacobians(q[:6]).items():
        at = free().jacobian(f"left.{name}", q)
        tip = free().jacobian(f"left.{name}.tip", q)
        centre = (at[:3] + tip[:3]) / 2
        close(centre[:, :6], J)
        assert np.abs(centre[:, :6] - printed[name]).max() > 0.01
        close(at[3:] @ v, free().velocity(f"left.{name}", q, v)[3:])


def test_eq_8():
    q, v = states()[2][0], np.zeros(12)
    ours = free().bias(q, v)
    printed = np.concatenate(
        [
            -sum(m * np.array([0, 0, G]) @ J for m, J in zip(MASS, jacobians(half).values(), strict=True))
            for half in (q[:6], q[6:])
        ]
    )
    close(ours, -printed)  # g = [0 0 9.8] as printed turns the sign


def test_eq_9():
    """Christoffel's C: Ṁ − 2C is skew."""
    q, v, _ = states()[0]
    h, C = 1e-6, coriolis(q[:6], v[:6])
    M_dot = (mass_matrix(q[:6] + h * v[:6]) - mass_matrix(q[:6] - h * v[:6])) / (2 * h)
    skew = M_dot - 2 * C
    assert np.abs(skew + skew.T).max() < 1e-7  # differences: h² and rounding over h
    close(reference("states")["C"][0][:6, :6], C)


def test_eq_10_11():
    q, v, _ = states()[1]
    C = both(coriolis(q[:6], v[:6]), coriolis(q[6:], v[6:]))
    close(free().bias(q, v), C @ v + np.concatenate([weight(q[:6]), weight(q[6:])]))


def test_eq_12():
    """Of its six rows one is a wish: a rigid load has rank 5. Δz of the third row lifts the right platform."""
    found = free().residual(START + 0.1 * np.arange(12))
    q = START + 0.1 * np.arange(12)
    sides = []
    for k in (0, 6):
        s, c = sums(q[k : k + 6])
        sides.append((q[k] + c.sum() * cos(q[k + 2]), q[k + 1] + c.sum() * sin(q[k + 2]), L_R + s.sum()))
    gap = np.array(sides[0]) - np.array(sides[1])
    assert_allclose(found, [*gap, q[2] - q[8] - pi, q[5], q[11]], rtol=0, atol=1e-14)
    lifted = kb.build(kb.load(NAME, {"delta_z": 0.1}, path=False), backend=kb.Interpreted())
    assert_allclose(lifted.residual(q)[:3], gap - [0, 0, 0.1], rtol=0, atol=1e-14)
    assert lifted.pose("right.platform", lifted.start.q).position[2] == pytest.approx(0.1, abs=1e-15)
    rigid = kb.check(kb.load(NAME, path=False, closure="weld"))
    assert (len(rigid.rows), rigid.rank, rigid.freedoms) == (6, 5, 7)
    assert kb.check(free()).freedoms == 6


def test_eq_13():
    """The second derivative has δ̇² where δ̈² is printed; differences along a motion tell."""
    q, v, _ = states()[0]
    A, b = rows(q, v)
    h, a = 1e-4, np.linspace(-1, 1, 12)
    ahead, here, behind = (free().residual(q + k * h * v + (k * h) ** 2 / 2 * a) for k in (1, 0, -1))
    second = (ahead - 2 * here + behind) / h**2
    assert np.abs(second - (A @ a - b)).max() < 1e-5
    reach = sums(q[:6])[1].sum()
    printed = abs(reach * cos(q[2]) * (v[2] ** 2 - a[2] ** 2))  # δ̈² in the place of δ̇², first row, left half
    assert printed > 1e-3


def test_eq_14_16():
    for q, v, _ in states():
        A, b = free().constraint(q, v)
        close(A, rows(q, v)[0])
        close(b, rows(q, v)[1])


def test_eq_17_18():
    found = reference("free_run")
    k = 120
    q, v, t = found["q"][k], found["qd"][k], found["t"][k]
    tau = [10 * cos(pi * t), -60, 2 * cos(2 * t), 0, 11.76, 0, -4 * cos(pi * t), 50, 1, 0.5, 11.76, 0]
    motion = free().motion(q, v, force=tau)
    close(motion.acceleration, found["qdd"][k], 1e-9)
    close(motion.constraint_force, found["Qc"][k], 1e-9)
    close(motion.constraint_force, udwadia_kalaba(free().mass_matrix(q), tau - free().bias(q, v), *rows(q, v)), 1e-9)


def test_claim_no_auxiliary():
    """Twelve unknowns; the rows may even depend on each other: with one of them twice the force is the same."""
    q, v = plant().start
    M, Q, (A, b) = free().mass_matrix(q), -free().bias(q, v), rows(q, v)
    twice = udwadia_kalaba(M, Q, np.vstack([A, A[:1]]), np.concatenate([b, b[:1]]))
    close(free().motion(q, v).constraint_force, twice, 1e-9)


def test_eq_19():
    """Rows 1 and 5 equal 0.8 and 1.6, not 0: the printed ones are open at the printed start."""
    residual = plant().residual(START)
    assert np.abs(residual).max() < 1e-15
    s, c = sums(START[:6])
    assert START[0] + c.sum() * cos(START[2]) == pytest.approx(0.8, abs=1e-15)  # printed: 0
    assert START[6] == 1.6  # printed: 0
    assert L_R + s.sum() == pytest.approx(0.507179676972449, abs=1e-15)  # z_i


def test_eq_20():
    q, v, t = states()[1]
    h, a = 1e-4, np.linspace(1, -1, 12)
    ahead, here, behind = (plant().residual(q + k * h * v + (k * h) ** 2 / 2 * a, t + k * h) for k in (1, 0, -1))
    A, b = path_rows(q, v, t)
    assert np.abs((ahead - 2 * here + behind)[6:] / h**2 - (A @ a - b)).max() < 1e-5
    assert abs(sums(q[:6])[1].sum() * (v[2] ** 2 - q[2] ** 2)) > 1e-3  # δ² in the place of δ̇²


def test_eq_21():
    for q, v, t in states():
        close(plant().constraint(q, v, t)[0][6:], path_rows(q, v, t)[0])
    q, v = plant().start
    printed = np.vstack([rows(q, v)[0], path_rows(q, v, 0.0, column=7)[0]])
    right = np.vstack([rows(q, v)[0], path_rows(q, v, 0.0)[0]])
    assert np.linalg.matrix_rank(printed) == 11
    assert np.linalg.matrix_rank(right) == 12
    b = np.concatenate([rows(q, v)[1], path_rows(q, v, 0.0)[1]])
    assert np.abs(printed @ np.linalg.lstsq(printed, b, rcond=None)[0] - b).max() > 0.1  # and contradictory


def test_eq_22():
    for q, v, t in states():
        close(plant().constraint(q, v, t)[1][6:], path_rows(q, v, t)[1])


def test_stacked():
    """One under the other: side by side, [A A_t]ᵀ has 24 rows of 6 columns and no q̈ to multiply."""
    q, v = plant().start
    A, A_t = rows(q, v)[0], path_rows(q, v, 0.0)[0]
    assert np.hstack([A, A_t]).T.shape == (24, 6)
    close(plant().constraint(q, v, 0.0)[0], np.vstack([A, A_t]))


def test_table_1():
    numbers = {p.name: p.value for p in free().machine.parameters}
    for side in ("left", "right"):
        assert numbers[f"{side}.platform.mass"] == M_V
        assert (numbers[f"{side}.turret.mass"], numbers[f"{side}.turret.inertia.zz"]) == (M_R, I_R)
        for link, (m, inertia, length) in enumerate(zip(MASS, INERTIA, L, strict=True), 1):
            path = f"{side}.link{link}"
            assert [numbers[f"{path}.{n}"] for n in ("mass", "inertia.zz", "tip.x")] == [m, inertia, length]
    ends = [m * length**2 / 3 for m, length in zip(MASS, L, strict=True)]
    assert_allclose(INERTIA[:2], ends[:2], rtol=0.003)  # moments of rods about their end, used as central ones


def test_start():
    q, v = plant().start
    acceleration = dict(zip(plant().velocities, plant().motion(q, v).acceleration, strict=True))
    assert np.abs(v).max() == 0
    assert acceleration["left.y"] == pytest.approx(4.9348, abs=1e-4)
    assert acceleration["left.theta1"] == pytest.approx(12.2105, abs=1e-4)
    assert acceleration["left.theta2"] == pytest.approx(12.3370, abs=1e-4)


def test_claim_any_tau():
    """Twelve rows of rank 12: any τ leaves the motion as it is."""
    found = reference("paper_run")
    q, v, t = found["q"][150], found["qd"][150], found["t"][150]
    tau = 100 * np.random.default_rng(0).normal(size=12)
    pushed, left = (plant().motion(q, v, t=t, force=f).acceleration for f in (tau, None))
    close(pushed, left, 1e-9)


def test_figure_3():
    shown = panel("figure 3: both ends")
    assert len(shown.curves) == 9
    for axis, desired in (("x", 0.8), ("y", 0.0), ("z", 0.507179676972449)):
        ours = next(c for c in shown.curves if c.name == f"right {axis}")
        goal = desired + (0 if axis == "x" else 0.5 - 0.5 * np.cos(pi * ours.x))
        assert_allclose(ours.y, goal, rtol=0, atol=1e-13)


def test_claim_gap():
    shown = panel("figure 3: gap")
    assert max(np.nanmax(curve.y) for curve in shown.curves) < 1e-13
    assert "published 1e-13 m" in shown.remarks[0]


def test_figure_4():
    shown = panel("figure 4: angles")
    ends = {curve.name: curve.y for curve in shown.curves}
    assert_allclose(ends["right.delta"], -pi, rtol=0, atol=1e-13)
    for name in ("left.theta3", "right.theta3", "left.delta"):
        assert_allclose(ends[name], 0, rtol=0, atol=1e-13)


def test_claim_angles():
    shown = panel("figure 4: errors")
    assert len(shown.curves) == 3
    assert "published 1e-13 rad" in shown.remarks[0]
    for row in ("load.left", "load.right", "load.yaw"):
        assert np.abs(run()[row]).max() < 1e-15


def test_figure_5():
    shown = panel("figure 5")
    ends = {curve.name: curve for curve in shown.curves}
    assert_allclose(ends["left.x"].y, 0, rtol=0, atol=1e-13)
    assert_allclose(ends["right.x"].y, 1.6, rtol=0, atol=1e-13)
    assert_allclose(ends["left.y"].y, 0.5 - 0.5 * np.cos(pi * ends["left.y"].x), rtol=0, atol=1e-12)


@pytest.mark.parametrize("side", ["left", "right"])
def test_figure_6(side):
    shown = panel(f"figure 6{'a' if side == 'left' else 'b'}")
    ends = {curve.name: curve for curve in shown.curves}
    assert np.interp(1.0, ends[f"{side}.theta1"].x, ends[f"{side}.theta1"].y) == pytest.approx(2.022303220, abs=1e-9)
    assert np.interp(1.0, ends[f"{side}.theta2"].x, ends[f"{side}.theta2"].y) == pytest.approx(0.491169883, abs=1e-9)
    assert_allclose(ends[f"{side}.theta1"].y[0], ends[f"{side}.theta1"].y[-1], rtol=0, atol=1e-9)  # periodic


def test_claim_verified():
    """No freedom is left: with every mass ten times as large the motion is the same; M, C and G are not tested."""
    found = reference("paper_run")
    q, v, t = found["q"][150], found["qd"][150], found["t"][150]
    heavy = {p.name: 10 * p.value for p in plant().machine.parameters if p.name.endswith(".mass")}
    other = kb.build(kb.load(NAME, heavy), backend=kb.Interpreted())
    ours, theirs = plant().motion(q, v, t=t), other.motion(q, v, t=t)
    close(ours.acceleration, theirs.acceleration, 1e-9)
    assert np.abs(theirs.constraint_force).max() > 5 * np.abs(ours.constraint_force).max()


def test_conclusion_1():
    """One half modelled, the rows added: the driven run of an independent solution."""
    found = reference("free_run")
    half = ("10*cos(pi*t)", "-60", "2*cos(2*t)", "0", "11.76", "0"), ("-4*cos(pi*t)", "50", "1", "0.5", "11.76", "0")
    control = dict(zip(free().actuators, (*half[0], *half[1]), strict=True))
    driven = kb.simulate(kb.load(NAME, path=False), 2.0, control=control, stepper=kb.DormandPrince(1e-11, 1e-12))
    assert_allclose(driven.q, found["q"], rtol=0, atol=1e-9)
    assert_allclose(driven.acceleration, found["qdd"], rtol=0, atol=1e-7)  # rounding over the stepper's tolerance


def test_conclusion_2():
    """In space: the turrets turn, the load's ends move along all three axes, and the rows stay those of (15)."""
    q, v, _ = states()[2]
    assert abs(q[2]) > 0.01
    assert np.linalg.matrix_rank(free().constraint(q, v)[0][:3]) == 3
    close(free().constraint(q, v)[0], rows(q, v)[0])


def test_conclusion_3():
    found = reference("paper_run")
    assert_allclose(run().q, found["q"], rtol=0, atol=1e-9)
    peaks = motor_peaks()
    assert max(value for name, value in peaks.items() if ".drive_" in name) == pytest.approx(296.09, abs=0.01)
    assert max(value for name, value in peaks.items() if ".drive_" not in name) == pytest.approx(31.42, abs=0.01)


def test_conclusion_errors():
    """A centre of mass 10 % off the middle of link 2 changes the torque about θ2 by 6.2 %, the motion not at all."""
    found = reference("paper_run")
    moved = {f"{side}.link2.com.x": 0.44 for side in ("left", "right")}
    other = kb.build(kb.load(NAME, moved), backend=kb.Interpreted())
    q, v = found["q"][0], found["qd"][0]
    ours, theirs = plant().motion(q, v), other.motion(q, v)
    close(ours.acceleration, theirs.acceleration, 1e-9)
    change = theirs.constraint_force[4] / ours.constraint_force[4] - 1
    assert change == pytest.approx(0.0619, abs=1e-4)


def test_appendix_m():
    for q, _, _ in states():
        right = both(mass_matrix(q[:6]), mass_matrix(q[6:]))
        printed = both(mass_matrix(q[:6], printed=True), mass_matrix(q[6:], printed=True))
        close(free().mass_matrix(q), right)
        wrong = {tuple(entry) for entry in np.argwhere(np.abs(printed - right)[:6, :6] > 1e-9)}
        assert wrong == {(2, 2), (3, 4), (4, 3)}


def test_appendix_g():
    q = states()[0][0]
    close(free().bias(q, np.zeros(12)), np.concatenate([weight(q[:6]), weight(q[6:])]))


def test_appendix_c():
    q, v, _ = states()[0]
    right, printed = coriolis(q[:6], v[:6]), coriolis(q[:6], v[:6], printed=True)
    close(reference("states")["C"][0][:6, :6], right)
    assert {tuple(entry) for entry in np.argwhere(np.abs(printed - right) > 1e-9)} == {(2, 3), (3, 2)}
    assert v[:6] @ (printed - right) @ v[:6] == pytest.approx(0, abs=1e-12)  # does no work: energy cannot tell


@cache
def motor_peaks() -> dict[str, float]:
    """The largest effort of each of twelve motors that lead the load in place of the path's rows."""
    led = kb.build(kb.load(NAME, control="servo"), backend=kb.Interpreted())
    times = np.linspace(0, 2, 21)
    return kb.inverse_dynamics(led, GOALS, ALIKE, times=times).peaks


def test_motors_lead_the_load_along_the_path():
    """Beyond the paper: which of the motors work hardest."""
    assert motor_peaks()["left.drive_y"] == pytest.approx(296.09, abs=0.01)
    assert motor_peaks()["left.motor2"] == pytest.approx(31.42, abs=0.01)
