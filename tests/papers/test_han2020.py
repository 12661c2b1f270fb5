"""Items of the paper, one test per key. Its formulas are written out here as it prints them, by hand."""

# ruff: noqa: N803  (matrices are called by their letters)

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.robots.catalogue import ENTRIES
from kalaba.view.figures.sources import _panel

DATA = Path(__file__).parents[1] / "reference" / "data" / "planar-parallel"
NAME, L = "planar-parallel", 0.244
LEGS = (  # table 2: r_a, m_a, I_a, r_b, m_b, I_b
    (0.1150, 1.2525, 0.0124, 0.1621, 1.0771, 0.0098),
    (0.0657, 1.3663, 0.0122, 0.1096, 0.4132, 0.0036),
    (0.0657, 1.3663, 0.0122, 0.1096, 0.4132, 0.0036),
)
PRINTED_START = (1.3015, -2.1752, 0, 0.25, 2.9105, -1.4593, 0.43, 0, 2.981, 1.8776, 0.4269, 0.5005)
MOTORS = [0, 4, 8]
RK4, SHARP = kb.RungeKutta4(1e-2), kb.DormandPrince(1e-10)


@cache
def reference(name: str) -> dict[str, np.ndarray]:
    """Independent solutions, made by other code."""
    with np.load(DATA / f"{name}.npz") as file:
        return dict(file)


@cache
def closed():
    return kb.build(kb.load(NAME))


@cache
def tracked():
    return kb.build(kb.load(NAME, tracking=True))


@cache
def run_of(**options) -> kb.Run:
    """The scenario of the catalogue with options."""
    chosen = kb.scenario(NAME, **options)
    return kb.simulate(chosen.system, chosen.duration, control=chosen.control, stepper=SHARP)


@cache
def swung() -> kb.Run:
    return run_of()


@cache
def states() -> list[tuple[np.ndarray, np.ndarray, float]]:
    """A few states of the free run: closed, in motion."""
    return [(swung().q[k], swung().v[k], float(swung().time[k])) for k in (0, 130, 371)]


def anywhere(seed: int) -> tuple[np.ndarray, np.ndarray]:
    """A state of the free legs, base points in motion too."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-1.0, 1.0, 12), rng.uniform(-1.0, 1.0, 12)


def problem(plant, q, v, t):
    """M, Q, A and b at a state, with motors idle."""
    return plant.problem(plant.inputs(q, v, t))


def root(M, power):
    values, vectors = np.linalg.eigh(M)
    return vectors @ np.diag(values**power) @ vectors.T


def force(M, Q, A, b, power=-0.5):
    """(6): M^½ B⁺ (b − A M⁻¹ Q), B = A M^power."""
    B = A @ root(M, power)
    return root(M, 0.5) @ np.linalg.pinv(B) @ (b - A @ np.linalg.solve(M, Q))


def leg_matrices(leg, qa, qb, va, vb):
    """(14), entry by entry."""
    ra, ma, Ia, rb, mb, Ib = LEGS[leg]
    s, c, sa, ca, sb, cb = np.sin(qa + qb), np.cos(qa + qb), np.sin(qa), np.cos(qa), np.sin(qb), np.cos(qb)
    first = ma * ra + mb * L
    M = np.zeros((4, 4))
    M[0, 0] = Ia + Ib + ma * ra**2 + mb * (L**2 + rb**2 + 2 * L * rb * cb)
    M[0, 1] = M[1, 0] = Ib + mb * (rb**2 + L * rb * cb)
    M[0, 2] = M[2, 0] = -(first * sa + mb * rb * s)
    M[0, 3] = M[3, 0] = first * ca + mb * rb * c
    M[1, 1] = Ib + mb * rb**2
    M[1, 2] = M[2, 1] = -mb * rb * s
    M[1, 3] = M[3, 1] = mb * rb * c
    M[2, 2] = M[3, 3] = ma + mb
    C = np.zeros((4, 4))
    C[0, 0], C[0, 1] = -mb * L * rb * vb * sb, -mb * L * rb * (va + vb) * sb
    C[1, 0] = mb * L * rb * va * sb
    C[2, 0], C[2, 1] = -va * (first * ca + mb * rb * c), -mb * rb * (2 * va + vb) * c
    C[3, 0], C[3, 1] = -va * (first * sa + mb * rb * s), -mb * rb * (2 * va + vb) * s
    return M, C


def all_matrices(q, v):
    """(15): block by block."""
    M, C = np.zeros((12, 12)), np.zeros((12, 12))
    for leg in range(3):
        part = slice(4 * leg, 4 * leg + 4)
        M[part, part], C[part, part] = leg_matrices(leg, *q[part][:2], *v[part][:2])
    return M, C


def end_rows(leg, q, v):
    """Rows and right-hand side of an end point's coordinates in one leg's (q_a, q_b), as in A3 and b3 of (27)."""
    (qa, qb), (va, vb) = q[4 * leg : 4 * leg + 2], v[4 * leg : 4 * leg + 2]
    s, c = np.sin(qa + qb), np.cos(qa + qb)
    A = np.array([[-L * np.sin(qa) - L * s, -L * s], [L * np.cos(qa) + L * c, L * c]])
    b = np.array([L * va**2 * np.cos(qa) + L * (va + vb) ** 2 * c, L * va**2 * np.sin(qa) + L * (va + vb) ** 2 * s])
    return A, b


def joined_rows(q, v, base):
    """(19); `base` is 1 with the entries at the base points, 0 without them as printed."""
    A, b = np.zeros((4, 12)), np.zeros(4)
    for k, other in enumerate((1, 2)):
        for leg, sign in ((0, 1), (other, -1)):
            rows, rhs = end_rows(leg, q, v)
            A[2 * k : 2 * k + 2, 4 * leg : 4 * leg + 4] = sign * np.hstack([rows, base * np.eye(2)])
            b[2 * k : 2 * k + 2] += sign * rhs
    return A, b


def base_rows():
    """(17): A1."""
    return np.eye(12)[[2, 3, 6, 7, 10, 11]]


def ends(q):
    """End points of the three legs."""
    qa, qb, x, y = np.reshape(q, (3, 4)).T
    return np.stack([x + L * np.cos(qa) + L * np.cos(qa + qb), y + L * np.sin(qa) + L * np.sin(qa + qb)], axis=1)


def miss(run):
    """How far leg 1's end is from the path."""
    return np.hypot(run["end_x"] - 0.21157192052098645 - 0.01 * np.cos(run.time), run["end_y"] - 0.2981304133600941)


def drawn(title):
    """A panel of the papers' figures, with runs of this module for it."""

    class Runs:
        def of(self, options):
            return run_of(**options)

    panel = next(panel for panel in ENTRIES[NAME].figures.panels if panel.title.startswith(title))
    shown, _ = _panel(panel, Runs())
    assert all(np.isfinite(curve.y).any() for curve in shown.curves)
    assert "[" in shown.label
    return shown


def test_system():
    mobility = kb.check(closed())
    assert (mobility.coordinates, len(mobility.rows), mobility.rank, mobility.freedoms) == (12, 10, 10, 2)
    assert closed().actuators == ("leg1.motor", "leg2.motor", "leg3.motor")


def test_eq_1():
    for seed in range(3):
        M = closed().mass_matrix(anywhere(seed)[0])
        assert M.shape == (12, 12)
        assert np.abs(M - M.T).max() < 1e-15
        assert np.linalg.eigvalsh(M).min() > 0


def test_eq_2_3():
    """A q̈ = b along the run, q̈ by differences of v at half a step to either side."""
    plant, control = closed(), {"leg1.motor": "0.1*cos(pi*t)"}
    run = kb.simulate(plant, 0.2, control=control, stepper=kb.RungeKutta4(1e-4), save_every=1e-4)
    for k in (700, 1500):
        A, b = plant.constraint(run.q[k], run.v[k], run.time[k])
        by_differences = (run.v[k + 1] - run.v[k - 1]) / 2e-4
        assert np.abs(A @ by_differences - b).max() < 1e-7  # of the differences: third derivative times h²/6
        assert np.abs(A @ run.v[k]).max() < 1e-12


def test_eq_4_6():
    for q, v, t in states()[1:]:
        M, Q, A, b = problem(closed(), q, v, t)
        right, printed = (A @ np.linalg.solve(M, Q + force(M, Q, A, b, power)) - b for power in (-0.5, 0.5))
        assert np.abs(right).max() < 1e-13
        assert np.abs(printed).max() > np.abs(b).max()


def test_figure_1(tmp_path):
    from PIL import Image

    place = tmp_path / "robot.png"
    kb.still(closed(), place, size=(240, 180))
    with Image.open(place) as picture:
        assert len(np.unique(np.asarray(picture.convert("RGB")).reshape(-1, 3), axis=0)) > 20


def test_figure_2():
    bodies = [body.name for body in closed().machine.bodies]
    assert [name for name in bodies if name.startswith("leg1.")] == ["leg1.link_a", "leg1.link_b"]
    assert closed().coordinates[:4] == ("leg1.qa", "leg1.qb", "leg1.xa", "leg1.ya")


def test_eq_7_8():
    by_lagrange = kb.build(kb.load(NAME), method=kb.Lagrange(), backend=kb.Interpreted())
    q, v = anywhere(4)
    assert np.abs(by_lagrange.mass_matrix(q) - closed().mass_matrix(q)).max() < 1e-14
    assert np.abs(by_lagrange.bias(q, v) - closed().bias(q, v)).max() < 1e-13
    assert by_lagrange.energy(q, v).potential == 0.0


def test_table_1():
    """With q_b from link a the printed start nearly closes; from the horizontal it does not."""
    relative, absolute = np.array(PRINTED_START), np.array(PRINTED_START)
    absolute[[1, 5, 9]] -= absolute[[0, 4, 8]]  # the same printed numbers taken as angles to the horizontal
    gaps = [np.abs(ends(q)[1:] - ends(q)[0]).max() for q in (relative, absolute)]
    assert gaps[0] < 1e-4
    assert gaps[1] == pytest.approx(0.49, abs=0.005)


def test_eq_9():
    q, v = anywhere(5)
    for leg in range(3):
        (qa, qb, _, _), (va, vb, vx, vy), (ra, _, _, rb, _, _) = q[4 * leg :][:4], v[4 * leg :][:4], LEGS[leg]
        first = (vx - ra * va * np.sin(qa), vy + ra * va * np.cos(qa))
        second = (
            vx - L * va * np.sin(qa) - rb * (va + vb) * np.sin(qa + qb),
            vy + L * va * np.cos(qa) + rb * (va + vb) * np.cos(qa + qb),
        )
        for link, com, printed in (("a", ra, first), ("b", rb, second)):
            frame = f"leg{leg + 1}.link_{link}"
            twist, axis = closed().velocity(frame, q, v), closed().pose(frame, q).rotation[:, 0]
            ours = np.asarray(twist)[:3] + np.cross(np.asarray(twist)[3:], com * axis)
            assert np.abs(ours[:2] - printed).max() < 1e-14


def test_eq_10():
    q, v = anywhere(6)
    M, _ = all_matrices(q, v)
    kinetic = 0.0
    for leg, (ra, ma, Ia, rb, mb, Ib) in enumerate(LEGS):
        (qa, qb, _, _), (va, vb, vx, vy) = q[4 * leg :][:4], v[4 * leg :][:4]
        V_a = (vx - ra * va * np.sin(qa)) ** 2 + (vy + ra * va * np.cos(qa)) ** 2
        V_b = (vx - L * va * np.sin(qa) - rb * (va + vb) * np.sin(qa + qb)) ** 2 + (
            vy + L * va * np.cos(qa) + rb * (va + vb) * np.cos(qa + qb)
        ) ** 2
        kinetic += 0.5 * (Ia * va**2 + ma * V_a + Ib * (va + vb) ** 2 + mb * V_b)
    assert closed().energy(q, v).kinetic == pytest.approx(kinetic, rel=1e-14)
    assert 0.5 * v @ M @ v == pytest.approx(kinetic, rel=1e-14)


def test_eq_11_12():
    """The printed sums, with an acceleration put in."""
    q, v = anywhere(7)
    a = np.linspace(-1.0, 1.0, 12)
    M, C = all_matrices(q, v)
    assert np.abs(M @ a + C @ v - closed().mass_matrix(q) @ a - closed().bias(q, v)).max() < 1e-14


def test_eq_13_14():
    q, v = anywhere(8)
    M, C = all_matrices(q, v)
    assert np.abs(M - closed().mass_matrix(q)).max() < 1e-15
    assert np.abs(C @ v - closed().bias(q, v)).max() < 1e-15
    h = 1e-6
    rate = (all_matrices(q + h * v, v)[0] - all_matrices(q - h * v, v)[0]) / (2 * h)
    skew = rate - 2 * C
    assert np.abs(skew + skew.T).max() > 0.1


def test_eq_15():
    M = closed().mass_matrix(anywhere(9)[0])
    blocks = np.kron(np.eye(3), np.ones((4, 4)))
    assert not M[blocks == 0].any()


def test_eq_16_17():
    for q, v, t in states():
        A, b = closed().constraint(q, v, t)
        assert np.array_equal(A[:6], base_rows())
        assert not b[:6].any()


def test_eq_18():
    q, _ = anywhere(10)
    x = ends(q)
    gaps = np.concatenate([x[0] - x[1], x[0] - x[2]])
    assert np.abs(closed().residual(q, 0.0)[6:] - gaps).max() < 1e-15


def test_eq_19():
    for q, v, t in states():
        M, Q, A, b = problem(closed(), q, v, t)
        right, printed = joined_rows(q, v, 1), joined_rows(q, v, 0)
        assert np.abs(A[6:] - right[0]).max() < 1e-15
        assert np.abs(b[6:] - right[1]).max() < 1e-13
        moved = [
            np.linalg.solve(M, Q + force(M, Q, np.vstack([base_rows(), rows]), np.concatenate([np.zeros(6), rhs])))
            for rows, rhs in (right, printed)
        ]
        assert np.abs(right[0] - printed[0]).max() == 1.0
        assert np.abs(moved[0] - moved[1]).max() < 1e-11  # the same motion while the bases rest


def test_eq_20():
    A1, A2 = base_rows(), joined_rows(*anywhere(11), 1)[0]
    with pytest.raises(ValueError, match="dimension"):
        np.hstack([A1, A2])
    data = reference("states")
    for q, v, tau, wanted, wanted_force in zip(
        *(data[key] for key in ("q", "qd", "tau", "qdd_struct", "Qc1")), strict=True
    ):
        motion = closed().motion(q, v, actuation=tau[MOTORS])
        assert np.abs(motion.acceleration - wanted).max() < 1e-9 * max(1.0, np.abs(wanted).max())
        assert np.abs(motion.constraint_force - wanted_force).max() < 1e-9 * max(1.0, np.abs(wanted_force).max())


def test_method_steps():
    data = reference("free_run")
    assert np.abs(swung().q - data["q"]).max() < 1e-9


def test_eq_21_22():
    for q, v, t in states():
        M, Q, A, b = problem(closed(), q, v, t)
        assert np.abs(np.linalg.solve(M, Q + force(M, Q, A, b)) - closed().motion(q, v, t=t).acceleration).max() < 1e-11


def test_eq_23_24():
    q, _, t = states()[1]
    x = ends(q)[0]
    wanted = (x[0] - 0.21157192052098645 - 0.01 * np.cos(t), x[1] - 0.2981304133600941)
    assert np.abs(tracked().residual(q, t)[10:] - wanted).max() < 1e-15


def test_eq_25():
    run = run_of(control="printed")
    assert miss(run).max() < 1e-9  # leg 1: of the stepper
    assert run["gap2"].max() == pytest.approx(0.020, abs=5e-5)
    assert run["gap3"].max() == pytest.approx(0.020, abs=5e-5)
    assert run["base1_moved"].max() == pytest.approx(0.0054, abs=5e-5)
    M, Q, A, b = problem(tracked(), run.q[200], run.v[200], run.time[200])
    first = force(M, Q, A[:10], b[:10])
    printed = first + force(M, Q + first, A[10:], b[10:])
    assert np.abs(run.push[200] - printed).max() < 1e-11
    assert max(np.nanmax(curve.y) for curve in drawn("(22)-(25): gaps").curves) == pytest.approx(20.0, abs=0.05)
    assert drawn("(22)-(25): end points").curves[0].name == "all legs, right law"
    assert len(drawn("(22)-(25): distance").curves) == 5


def test_table_2():
    numbers = {parameter.name: parameter.value for parameter in closed().machine.parameters}
    for i, (ra, ma, Ia, rb, mb, Ib) in enumerate(LEGS, 1):
        for link, wanted in (("a", (L, ra, ma, Ia)), ("b", (L, rb, mb, Ib))):
            path = f"leg{i}.link_{link}"
            assert tuple(numbers[f"{path}.{n}"] for n in ("tip.x", "com.x", "mass", "inertia.zz")) == wanted


def test_start():
    q = np.array(PRINTED_START)
    gap = np.linalg.norm(ends(q)[1:] - ends(q)[0], axis=1).max()
    assert gap == pytest.approx(3.8e-5, abs=3e-6)
    assert np.abs(closed().residual(closed().start.q, 0.0)).max() < 1e-15
    assert np.abs(swung().acceleration[0]).max() == pytest.approx(1.08, abs=0.005)  # rad/s²


def test_figure_3():
    x = np.array([ends(q) for q in swung().q])
    assert np.abs(x - x[:, :1]).max() < 2e-15
    assert np.abs(x[100, 0] - (0.1889233711, 0.3174096065)).max() < 1e-9  # an independent solution at 1 s
    assert len(drawn("figure 3").curves) == 3


def test_figure_4():
    bases = swung().q[:, [2, 3, 6, 7, 10, 11]]
    assert np.ptp(bases, axis=0).max() < 1e-15
    assert len(drawn("figure 4").curves) == 6


def test_eq_26_27():
    for q, v, t in states():
        A, b = tracked().constraint(q, v, t)
        rows, rhs = end_rows(0, q, v)
        assert np.abs(A[10:, :4] - np.hstack([rows, np.eye(2)])).max() < 1e-15
        assert not A[10:, 4:].any()
        assert np.abs(b[10:] - rhs + [0.01 * np.cos(t), 0.0]).max() < 1e-14


def test_claim_torque():
    run = run_of(control="servo")
    data = reference("tracking_run")
    assert np.abs(run.actuation[0] - data["tau_min"][0]).max() < 1e-9
    assert 1e3 * run.actuation[0] == pytest.approx([4.4958, 2.2835, 0.3121], abs=1e-4)
    assert 1e3 * np.abs(run.actuation).max() == pytest.approx(4.684, abs=1e-3)
    M, Q, A, b = problem(tracked(), *tracked().start, 0.0)
    push = force(M, Q, A[10:], b[10:])
    assert np.linalg.norm(np.delete(push, MOTORS)) > 0.985 * np.linalg.norm(push)
    assert miss(run_of(control="printed-motors")).max() == pytest.approx(0.0157, abs=1e-4)
    panel = drawn("not in the paper: torques")
    assert panel.label == "torque [mN·m]"
    assert max(np.abs(curve.y).max() for curve in panel.curves) == pytest.approx(4.684, abs=1e-3)


def test_figure_5():
    for run in (run_of(tracking=True), run_of(control="servo")):
        wanted = np.stack(
            [0.21157192052098645 + 0.01 * np.cos(run.time), np.full(len(run.time), 0.2981304133600941)], 1
        )
        x = np.array([ends(q) for q in run.q])
        assert np.abs(x - wanted[:, None]).max() < 1e-9
    for axis in "xy":
        panel = drawn(f"figure 5: {axis}")
        assert [curve.name for curve in panel.curves] == ["desired path", "leg 1", "leg 2", "leg 3"]
        assert max(np.abs(curve.y - panel.curves[0].y).max() for curve in panel.curves) < 1e-13


def test_figure_6():
    x = np.array([ends(q) for q in run_of(tracking=True).q])
    assert np.ptp(x[..., 0]) == pytest.approx(0.020, abs=1e-6)
    assert np.ptp(x[..., 1]) < 1e-13
    assert np.abs(x - x[:, :1]).max() < 1e-14
    assert len(drawn("figure 6").curves) == 3


def test_claim_redundant():
    assert kb.check(closed()).rank == 10
    assert not kb.check(closed()).dependencies
    M, Q, A, b = problem(closed(), *states()[1])
    twice = force(M, Q, np.vstack([A, A[7:8]]), np.append(b, b[7]))
    assert np.abs(twice - force(M, Q, A, b)).max() < 1e-12


def test_claim_one_leg():
    mobility = kb.check(tracked())
    assert (mobility.rank, mobility.freedoms) == (12, 0)
    run = run_of(tracking=True)
    wanted = np.column_stack(
        [0.21157192052098645 + 0.01 * np.cos(run.time), np.full(len(run.time), 0.2981304133600941)]
    )
    for q, where in zip(run.q, wanted, strict=True):
        assert np.abs(ends(q) - where).max() < 1e-12  # all three ends are on the path


def test_claim_cascade():
    M, Q, A, b = problem(tracked(), *tracked().start, 0.0)
    A1, A3, b1, b3 = A[:10], A[10:], b[:10], b[10:]
    coupling = A1 @ np.linalg.solve(M, A3.T)
    assert np.abs(coupling).max() == pytest.approx(np.abs(A3 @ np.linalg.solve(M, A3.T)).max(), rel=1e-12)
    first = force(M, Q, A1, b1)
    root_inverse = root(M, -0.5)
    B1, B3 = A1 @ root_inverse, A3 @ root_inverse
    projected = B3 @ (np.eye(12) - np.linalg.pinv(B1) @ B1)
    second = root(M, 0.5) @ np.linalg.pinv(projected) @ (b3 - A3 @ np.linalg.solve(M, Q + first))
    whole = force(M, Q, A, b)
    assert np.abs(first + second - whole).max() < 1e-11 * np.abs(whole).max() + 1e-13


def test_claim_no_auxiliary():
    for k in (0, 130, 371):
        M, Q, A, b = closed().problem(closed().inputs(swung().q[k], swung().v[k], swung().time[k]))
        Q = Q + np.eye(12)[:, MOTORS] @ swung().actuation[k]
        assert np.abs(swung().constraint_force[k] - force(M, Q, A, b)).max() < 1e-11


def test_claim_nonholonomic():
    chosen = kb.scenario("differential-drive")
    run = kb.simulate(chosen.system, 0.5, control=chosen.control, stepper=RK4)
    assert any(run.plant.machine.is_velocity_level)
    assert np.abs(run.observed["speed_residual"]).max() < 1e-12


def test_claim_methods():
    q, v = anywhere(12)
    plants = [kb.build(kb.load(NAME), method=m(), backend=kb.Interpreted()) for m in (kb.Lagrange, kb.Kane)]
    for plant in plants:
        assert np.abs(plant.mass_matrix(q) - closed().mass_matrix(q)).max() < 1e-14
        assert np.abs(plant.bias(q, v) - closed().bias(q, v)).max() < 1e-13


def test_conclusion_model(tmp_path):
    control = {"leg1.motor": "0.1*cos(pi*t)"}
    run = kb.simulate(closed(), 5.0, control=control, stepper=kb.DormandPrince(1e-10))
    assert np.abs(run.q - reference("free_run")["q"]).max() < 1e-9
    assert invoke(["export", NAME, "-o", str(tmp_path / "equations.tex")]) == 0
    assert "q_{a1}" in (tmp_path / "equations.tex").read_text(encoding="utf-8")


def test_conclusion_tracking():
    assert miss(run_of(control="servo")).max() < 1e-9
    assert run_of(control="printed")["gap2"].max() > 0.0199
