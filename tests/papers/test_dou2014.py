"""Items of the paper, one test per key.

The paper's formulas are those of `kane_by_hand`, kalaba's numbers come from its own machine.
"""

from dataclasses import replace
from functools import cache
from itertools import product

import casadi as ca
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import brentq, minimize

import kalaba as kb
from kalaba.robots import pus_upu
from kalaba.robots.papers.dou2014 import PAPER
from kalaba.space.rotations import zyx_rate_map
from kalaba.view.scene import scene_of
from kalaba.view.still import camera_for, image
from kane_by_hand import (
    CIRCLE,
    FITTED,
    LEGS,
    PLANT,
    STATES,
    ByHand,
    Geometry,
    Leg,
    Middle,
    Platform,
    across,
    centre,
    pair,
)

EXACT = 1e-10  # relative; both sides round
DIFFERENCED = 1e-6  # relative, of accelerations by central differences
TRIED = range(3)  # states of the reference that each equation is tried at
OTHER = Geometry(0.35, 0.21, 0.75, 29.86, 45.99, -0.08)
FREE = np.full(7, np.inf)  # limits of motors that have none


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(np.asarray(found) - expected).max() / np.abs(expected).max())


def gives(key: str) -> str:
    return next(item.gives for item in PAPER.items if item.key == key)


@cache
def motors(actuators: str, allocation: kb.control.Allocation) -> np.ndarray:
    """Forces of the motors at 51 times of the paper's circle, as kalaba's inverse dynamics gives them."""
    goals, times = (kb.follow("platform", pus_upu.CIRCLE),), np.linspace(0.0, pus_upu.CIRCLE.duration, 51)
    plant = kb.build(kb.load("pus-upu", actuators=actuators))
    return kb.inverse_dynamics(plant, goals, allocation, times=times).actuation


@cache
def circle() -> tuple[ByHand, ...]:
    """The paper's formulas round its circle, level."""
    still = np.zeros(3)
    return tuple(
        ByHand(Platform(p, np.eye(3), v, still, a, still))
        for p, v, a in zip(CIRCLE["p"][::4], CIRCLE["v"][::4], CIRCLE["a"][::4], strict=True)
    )


def peak(forces: np.ndarray) -> float:
    return float(np.abs(forces).max())


def shared(force_map: np.ndarray, force: np.ndarray, count: int) -> np.ndarray:
    """Least squares of the forces of the first motors; the load of the middle leg stays out of the norm."""
    rest = np.linalg.svd(force_map[:, 6:], full_matrices=True)[0][:, 1:]
    return kb.LeastSquares().allocate(rest.T @ force_map[:, :count], rest.T @ force, FREE[:count])


# --- introduction and section 1.1, 1.2


def test_system():
    for name in PAPER.machines:
        assert kb.check(kb.load(name)).freedoms == 5
    assert len(PLANT.actuators) == 6


def test_claim_singular():
    """Within a workspace five motors lose the platform on a surface that divides it, six nowhere; beyond, six do too.

    The five coordinates of the middle leg are the freedoms: its lean, its length, the turn of the platform on it.
    """
    lean, turn = np.radians(15), np.radians(40)
    box = [(-lean, lean), (-lean, lean), (0.45, 0.75), (-turn, turn), (-turn, turn)]
    home, corner = (
        np.array([0.0, 0.0, pus_upu.HEIGHT + pus_upu.HUB, 0.0, 0.0]),
        np.array([-lean, lean, 0.45, turn, -turn]),
    )
    assert determinant_of_five(home) * determinant_of_five(corner) < 0  # zero on every way between the two
    rng = np.random.default_rng(1)
    starts = [*product(*box), *(rng.uniform(*np.transpose(box)) for _ in range(20))]
    held = [minimize(held_by_six, start, bounds=box, method="L-BFGS-B").fun for start in starts]
    assert min(held) == pytest.approx(0.0589, abs=5e-4)  # at a corner of the workspace
    # in the middle, level but for a pitch: exact places, and kalaba's own measure there
    pitches = [brentq(lambda pitch: determinant_of_five(pitched(pitch)), *ends) for ends in ((-1.0, -0.9), (0.8, 1.0))]
    assert np.degrees(pitches).round(1).tolist() == [-56.6, 52.0]
    assert held_by_six(pitched(pitches[0])) < 1e-9
    assert held_by_six(pitched(pitches[1])) > 0.1
    for actuators, least in (("1-5", (0.0, 0.0)), ("1-6", (0.0, 0.0467))):
        measured = kb.kinematics.singularity_map(
            kb.load("pus-upu", actuators=actuators),
            "platform",
            lambda _, pitch: kb.Pose((0, 0, pus_upu.HEIGHT), rpy=(0, pitch, 0)),
            [0.0],
            [pitches[0], -0.5, 0.0, 0.5, pitches[1]],
        )
        assert_allclose(measured.parallel[[0, -1], 0], least, rtol=0, atol=1e-4)


def pitched(pitch: float) -> np.ndarray:
    """The middle leg while the platform stands over the middle at its height, turned about y."""
    hub = np.array([0, 0, pus_upu.HEIGHT]) + turned(0, pitch, 0) @ [0, 0, pus_upu.HUB]
    lean = np.arctan2(hub[0], hub[2])
    return np.array([0.0, lean, np.linalg.norm(hub), pitch - lean, 0.0])


def lines_of_force(middle: np.ndarray) -> np.ndarray:
    """Unit wrenches of six rods and of the fork on the platform, (6, 7), lengths in radii of the platform."""
    about_x, about_y, length, second_y, second_x = middle
    low = turned(0, 0, about_x) @ turned(0, about_y, 0)
    R = low @ turned(0, second_y, 0) @ turned(0, 0, second_x)
    at = Platform(length * low[:, 2] - R @ [0, 0, pus_upu.HUB], R, *np.zeros((4, 3)))
    columns = [*(Leg(at, i, FITTED).J_A for i in LEGS), Middle(at, FITTED).column]
    wrenches = np.column_stack(columns) / np.repeat([1.0, pus_upu.PLATFORM_RADIUS], 3)[:, None]
    return np.asarray(wrenches / np.linalg.norm(wrenches, axis=0))


def held_by_six(middle: np.ndarray) -> float:
    """The smallest singular value: 0 where a motion of the platform moves no motor and keeps the fork."""
    return float(np.linalg.svd(lines_of_force(middle), compute_uv=False)[-1])


def determinant_of_five(middle: np.ndarray) -> float:
    return float(np.linalg.det(np.delete(lines_of_force(middle), 5, axis=1)))


def test_claim_methods():
    q, v = PLANT.start.q, np.linspace(-1.0, 1.0, 27)
    values = []
    for method in (kb.Kane(), kb.NewtonEuler(), kb.Lagrange()):
        equations = kb.derive(kb.load("pus-upu"), method)
        s = equations.symbols
        function = ca.Function("f", [s.q, s.v, s.p], [equations.mass_matrix, equations.bias])
        values.append([np.array(part) for part in function(q, v, PLANT.parameters)])
    for M, bias in values[1:]:
        assert relative(M, values[0][0]) < EXACT
        assert relative(bias, values[0][1]) < EXACT


def test_claim_speed():
    """The claim is that Kane's products are quicker than Lagrange's derivatives: operations for M and bias."""
    counts = {}
    for name, method in (("kane", kb.Kane()), ("lagrange", kb.Lagrange()), ("newton-euler", kb.NewtonEuler())):
        equations = kb.derive(kb.load("pus-upu"), method)
        counts[name] = equations.operations("mass_matrix") + equations.operations("bias")
    assert counts["kane"] < counts["lagrange"]
    assert counts["newton-euler"] < counts["kane"]
    for name, count in counts.items():
        assert f"{count:,}" in gives("claim-speed"), name


def test_freedoms():
    leg = kb.System("leg", parts=(*pus_upu._leg(is_driven=False).parts,))
    assert kb.check(leg).freedoms + 3 == 6  # a ball adds three
    assert kb.check(pus_upu.MIDDLE).freedoms + 2 == 5  # the lower fork adds two
    mobility = kb.check(PLANT)
    assert (mobility.freedoms, mobility.freedoms_nearby) == (5, 5)


def test_figure_1():
    legs = {body.name.split(".")[0] for body in PLANT.machine.bodies}
    assert legs == {*(f"leg{i}" for i in LEGS), "middle", "platform"}


def test_figure_2():
    """Axis x₀ halves the angle A₄ O A₅, z₀ points at the platform, where x₁ halves b₄ O b₅."""
    q = PLANT.start.q
    for joint in ("slider", "rod.tip"):
        fourth, fifth = (PLANT.pose(f"leg{i}.{joint}", q).position for i in (4, 5))
        half = (fourth + fifth) / 2
        assert half[0] > 0.1
        assert abs(half[1]) < 1e-12
    assert PLANT.pose("platform", q).position[2] > 0.6
    assert PLANT.system.gravity[2] > 0  # down is +z


# --- section 1.3: velocities


def test_eq_1_2():
    hand, tree = pair(0)
    assert_allclose(tree.velocity("platform"), np.concatenate([hand.at.v, hand.at.w]), rtol=0, atol=1e-12)


def turned(alpha: float, beta: float, gamma: float) -> np.ndarray:
    c, s = np.cos([alpha, beta, gamma]), np.sin([alpha, beta, gamma])
    Rz = np.array([[c[0], -s[0], 0], [s[0], c[0], 0], [0, 0, 1]])
    Ry = np.array([[c[1], 0, s[1]], [0, 1, 0], [-s[1], 0, c[1]]])
    Rx = np.array([[1, 0, 0], [0, c[2], -s[2]], [0, s[2], c[2]]])
    return np.array(Rz @ Ry @ Rx)


def test_eq_3():
    angles, rates, h = np.array([0.3, -0.4, 0.7]), np.array([0.5, 0.2, -0.9]), 1e-6
    spin = (turned(*(angles + h * rates)) - turned(*(angles - h * rates))) @ turned(*angles).T / (2 * h)
    w = np.array([spin[2, 1], spin[0, 2], spin[1, 0]])
    (sa, sb, _), (ca_, cb, _) = np.sin(angles), np.cos(angles)
    mended = np.array([[0, -sa, ca_ * cb], [0, ca_, sa * cb], [1, 0, -sb]])
    printed = np.array([[1, 0, sb], [0, ca_, -sa], [0, sa, ca_ * cb]])
    assert_allclose(mended @ rates, w, rtol=0, atol=1e-9)
    state = pair(0)[1]
    found = kb.control.platform_space(PLANT).angles(state.q)
    assert_allclose(turned(*found.angles), PLANT.pose("platform", state.q).rotation, rtol=0, atol=1e-12)
    assert_allclose(zyx_rate_map(angles), mended, rtol=0, atol=1e-15)
    named = [PLANT.output(name, state.q, state.v) for name in ("alpha", "beta", "gamma")]
    assert_allclose(named, found.angles, rtol=0, atol=1e-12)
    assert_allclose(STATES["euler_zyx"][0], found.angles, rtol=0, atol=1e-9)
    assert np.abs(printed @ rates - w).max() > 0.5


@pytest.mark.parametrize("k", TRIED)
def test_eq_4_5(k):
    hand, tree = pair(k)
    for i, leg in zip(LEGS, hand.legs, strict=True):
        slider, ball = (PLANT.pose(f"leg{i}.{name}", tree.q).position for name in ("slider", "rod.tip"))
        assert_allclose(ball - slider, leg.L, rtol=0, atol=1e-11)
        assert np.linalg.norm(leg.L) == pytest.approx(pus_upu.ROD_LENGTH, rel=1e-14)


@pytest.mark.parametrize("k", TRIED)
def test_eq_6_8(k):
    hand, tree = pair(k)
    for i, leg in zip(LEGS, hand.legs, strict=True):
        assert_allclose(tree.velocity(f"leg{i}.slider"), [*leg.v_A, 0, 0, 0], rtol=0, atol=1e-12)
        assert relative(tree.partial(f"leg{i}.slider")[2], leg.J_A) < EXACT


@pytest.mark.parametrize("k", TRIED)
def test_eq_9_12(k):
    hand, tree = pair(k)
    for i, leg in zip(LEGS, hand.legs, strict=True):
        top, ball = tree.velocity(f"leg{i}.rod"), tree.velocity(f"leg{i}.rod.tip")
        assert relative(ball[:3], leg.v_b) < EXACT
        assert relative(across(leg.n, top[3:]), leg.w) < EXACT
        assert relative(centre((top, ball)), leg.v) < EXACT


@pytest.mark.parametrize("k", TRIED)
def test_eq_13_18(k):
    hand, tree = pair(k)
    middle = hand.middle
    assert relative(tree.velocity("hub")[:3], middle.v_pu) < EXACT
    upper, tip = tree.velocity("middle.upper"), tree.velocity("middle.upper.tip")
    lower, root = tree.velocity("middle.lower"), tree.velocity("middle.lower.tip")
    assert relative(across(middle.s, upper[3:]), middle.w) < EXACT
    assert relative(centre((upper, tip)), middle.v_mu) < EXACT
    assert relative(centre((lower, root)), middle.v_md) < EXACT
    assert tree.v[PLANT.velocities.index("middle.lower.travel")] == pytest.approx(middle.rate, rel=1e-9)


# --- section 1.4: accelerations


@pytest.mark.parametrize("k", TRIED)
def test_eq_19_22(k):
    hand, tree = pair(k)
    for i, leg in zip(LEGS, hand.legs, strict=True):
        slider, top, ball = (tree.acceleration(f"leg{i}.{name}") for name in ("slider", "rod", "rod.tip"))
        assert relative(ball[:3], leg.a_b) < DIFFERENCED
        assert abs(slider[2] - leg.a_A[2]) < DIFFERENCED
        assert relative(centre((top, ball)), leg.a) < DIFFERENCED
        turning = np.cross(leg.n, ball[:3] - top[:3]) / leg.l
        assert relative(turning, leg.e) < DIFFERENCED


@pytest.mark.parametrize("k", TRIED)
def test_eq_23_27(k):
    hand, tree = pair(k)
    middle = hand.middle
    assert relative(tree.acceleration("hub")[:3], middle.a_pu) < DIFFERENCED
    halves = [("middle.upper", middle.a_mu), ("middle.lower", middle.a_md)]
    for name, expected in halves:
        ends = tree.acceleration(name), tree.acceleration(f"{name}.tip")
        assert relative(centre(ends), expected) < DIFFERENCED


# --- section 2: partial velocities and Kane's equations


@pytest.mark.parametrize("k", TRIED)
def test_eq_28_30(k):
    hand, tree = pair(k)
    assert_allclose(tree.partial("platform"), np.eye(6), rtol=0, atol=1e-12)
    for i, leg in zip(LEGS, hand.legs, strict=True):
        assert relative(tree.partial(f"leg{i}.slider")[:3], leg.v_A_star) < EXACT


@pytest.mark.parametrize("k", TRIED)
def test_eq_31_32(k):
    hand, tree = pair(k)
    stars = kb.control.platform_space(PLANT).partial_velocities(tree.q)
    for i, leg in zip(LEGS, hand.legs, strict=True):
        top, ball = tree.partial(f"leg{i}.rod"), tree.partial(f"leg{i}.rod.tip")
        assert relative(stars[f"leg{i}.rod"][:3], leg.v_star) < EXACT
        assert relative(across(leg.n, top[3:]), leg.w_star) < EXACT
        assert relative(centre((top, ball)), leg.v_star) < EXACT


@pytest.mark.parametrize("k", TRIED)
def test_eq_33_36(k):
    hand, tree = pair(k)
    middle = hand.middle
    for name, expected in (("middle.upper", middle.v_mu_star), ("middle.lower", middle.v_md_star)):
        assert relative(centre((tree.partial(name), tree.partial(f"{name}.tip"))), expected) < EXACT
    assert relative(across(middle.s, tree.partial("middle.upper")[3:]), middle.w_star) < EXACT
    travel = tree.T[PLANT.velocities.index("middle.lower.travel")]
    assert relative(travel, middle.along) < EXACT


@pytest.mark.parametrize("k", TRIED)
def test_eq_37(k):
    """Active and inertia forces add up to zero along every speed, with forces that the reference found."""
    hand, _ = pair(k)
    forces = STATES["ls"][k]
    total = hand.G @ forces + sum(body.weight() + body.inertia_force() for body in hand.bodies)
    assert np.abs(total).max() < 1e-8 * np.abs(hand.rhs).max()


def test_eq_38_41():
    """With the weight of the rods along v_A*, as printed, the peaks are others."""
    right = [(shared(one.G, one.rhs, 5), shared(one.G, one.rhs, 6)) for one in circle()]
    printed = [tuple(shared(one.G, one.rhs_with_printed_weights(), n) for n in (5, 6)) for one in circle()]
    peaks = [max(peak(forces[n]) for forces in found) for found in (right, printed) for n in (0, 1)]
    assert_allclose(peaks, [670.9, 343.2, 567.6, 293.9], rtol=0, atol=0.3)


@pytest.mark.parametrize("k", TRIED)
def test_eq_39(k):
    """Inertia forces are those of the tree: Tᵀ M v̇ and what depends on speeds."""
    hand, tree = pair(k)
    q, v = tree.q, tree.v
    still = PLANT.bias(q, np.zeros(27))
    expected = tree.T.T @ (PLANT.mass_matrix(q) @ tree.v_dot + PLANT.bias(q, v) - still)
    assert relative(-sum(body.inertia_force() for body in hand.bodies), expected) < EXACT


def test_eq_40():
    """M_mid along ω_mid*, as printed, does no work where the middle leg is upright; along ω_d* it does."""
    hand = ByHand(Platform(np.array([0.0, 0.03, 0.66]), np.eye(3), *np.zeros((4, 3))))
    u2 = np.cross(hand.middle.s, [1.0, 0, 0])
    couple = np.cross([1.0, 0, 0], u2 / np.linalg.norm(u2))
    assert np.abs(couple @ hand.middle.w_star).max() < 1e-12
    assert np.abs(hand.middle.column[5]) > 0.9


@pytest.mark.parametrize("k", TRIED)
def test_eq_42_43(k):
    hand, tree = pair(k)
    assert hand.G.shape == (6, 7)
    space, state = kb.control.platform_space(PLANT), kb.State(tree.q, tree.v)
    assert space.loads == ("fork.cross",)
    assert relative(space.model(state).force_map, hand.G) < 1e-11
    assert relative(space.required(state, np.concatenate([hand.at.a, hand.at.e])), hand.rhs) < 1e-11
    assert relative(hand.G, tree.G) < EXACT
    assert relative(hand.rhs, tree.rhs) < EXACT
    assert relative(hand.G, STATES["G"][k]) < 1e-9
    assert np.linalg.matrix_rank(hand.G) == 6


# --- section 3: allocation


def test_eq_44_48():
    """The weighted least squares by multipliers are those of `kb.LeastSquares(weights)`."""
    hand, _ = pair(0)
    weights = (1.0, 2.0, 3.0, 1.0, 0.5, 1.0, 4.0)
    W = np.diag(weights)
    conditions = np.block([[2 * W, -hand.G.T], [hand.G, np.zeros((6, 6))]])  # (45), (46)
    tau = np.linalg.solve(conditions, np.concatenate([np.zeros(7), hand.rhs]))[:7]
    G_W = np.linalg.inv(W).T @ hand.G.T
    assert relative(G_W @ np.linalg.solve(hand.G @ G_W, hand.rhs), tau) < 1e-9  # (47), (48)
    assert relative(kb.LeastSquares(weights).allocate(hand.G, hand.rhs, FREE), tau) < 1e-9


def test_eq_49():
    """W = 1 adds N² and (N m)²: the same formula with the load in N mm gives other forces."""
    hand, _ = pair(0)
    G, rhs = hand.G, hand.rhs
    metres = G.T @ np.linalg.solve(G @ G.T, rhs)
    in_mm = G * [1, 1, 1, 1, 1, 1, 1e-3]  # the load in N mm
    millimetres = in_mm.T @ np.linalg.solve(in_mm @ in_mm.T, rhs)
    assert np.abs(metres - millimetres)[:6].max() > 1.0  # N
    assert_allclose(shared(G, rhs, 6), shared(in_mm, rhs, 6), rtol=0, atol=1e-9)
    space, tree = kb.control.platform_space(PLANT), pair(0)[1]
    state, rate = kb.State(tree.q, tree.v), np.concatenate([hand.at.a, hand.at.e])
    assert relative(space.share(state, rate, with_loads=True), metres) < 1e-9
    assert relative(space.share(state, rate)[:6], shared(G, rhs, 6)) < 1e-9
    seven = [G.T @ np.linalg.solve(G @ G.T, one.rhs) for one in circle() for G in (one.G,)]
    assert peak(np.array(seven)[:, :6]) == pytest.approx(peak(CIRCLE["ls7"][:, :6]), abs=0.3)


def test_table_numbers():
    numbers = {p.name: p.value for p in PLANT.machine.parameters}
    names = ("platform", "leg1.slider", "leg6.rod", "middle.upper", "middle.lower")
    assert [numbers[f"{name}.mass"] for name in names] == [32.65, 6.4, 5.8, 4.18, 6.15]
    path = pus_upu.CIRCLE
    assert np.pi * 0.2 / path.duration == pytest.approx(0.125, rel=1e-12)
    assert np.linalg.norm(path.at(0.05).acceleration * [1, 1, 0]) == pytest.approx(0.25, rel=0.05)


def test_geometry():
    """Nothing printed decides the lengths: other ones meet both published peaks within 3 % as well."""
    assert "fitted" in pus_upu.ENTRY.source
    for sizes in (FITTED, OTHER):
        found = []
        still, home = np.zeros(3), -Leg(Platform(np.zeros(3), np.eye(3), *np.zeros((4, 3))), 1, sizes).z
        for p, v, a in zip(CIRCLE["p"][::8], CIRCLE["v"][::8], CIRCLE["a"][::8], strict=True):
            at = Platform(np.array([p[0], p[1], home]), np.eye(3), v, still, a, still)
            hand = ByHand(at, sizes)
            found.append([peak(shared(hand.G, hand.rhs, n)) for n in (5, 6)])
        assert np.abs(np.max(found, axis=0) / [660, 350] - 1).max() < 0.03


def test_figure_3():
    forces = motors("1-5", kb.LeastSquares())
    assert peak(forces) == pytest.approx(670.9, abs=0.5)
    assert abs(peak(forces) / 660 - 1) < 0.02
    panel = pus_upu.FIGURES.panels[0]
    assert (panel.unit, len(panel.lines), panel.claims[0].value) == ("N", 5, 660.0)


def test_figure_4():
    forces = motors("1-6", kb.LeastSquares())
    assert peak(forces) == pytest.approx(343.2, abs=0.5)
    assert abs(peak(forces) / 350 - 1) < 0.02
    panel = pus_upu.FIGURES.panels[1]
    assert (panel.unit, len(panel.lines), panel.claims[0].value) == ("N", 6, 350.0)


def test_claim_balanced():
    """The largest force of a motor over that of the least loaded, and the spread at every time."""
    five, six = motors("1-5", kb.LeastSquares()), motors("1-6", kb.LeastSquares())
    ratios = [np.abs(one).max(axis=0).max() / np.abs(one).max(axis=0).min() for one in (five, six)]
    assert_allclose(ratios, [2.44, 1.02], rtol=0, atol=0.02)


def test_claim_min_max():
    least, flattest = motors("1-6", kb.LeastSquares()), motors("1-6", kb.MinMax())
    assert peak(least) == pytest.approx(343.2, abs=0.5)
    assert peak(flattest) == pytest.approx(330.8, abs=0.5)
    behind = np.abs(least).max(axis=1) - np.abs(flattest).max(axis=1)
    assert behind.min() > -1e-6
    assert behind.max() > 10.0  # N
    worse = np.abs(STATES["ls"][:, :6]).max(axis=1) > np.abs(STATES["nr"][:, :6]).max(axis=1)
    assert worse.any()  # least squares of six may peak above five motors


# --- section 4: the experiment, simulated


@cache
def experiment(actuators: str) -> kb.Run:
    """The experiment's control round the whole circle, without friction, play and noise."""
    chosen = kb.scenario("pus-upu", actuators=actuators, control="hybrid")
    return kb.simulate(chosen.system, chosen.duration, control=chosen.control, save_every=0.002)


@cache
def fitted(actuators: str, **played: float) -> np.ndarray:
    """Efforts of the experiment with friction, play and noise, at every sample of the drives."""
    chosen = kb.scenario("pus-upu", actuators=actuators, control="hybrid", **played)
    return kb.simulate(chosen.system, chosen.duration, control=chosen.control, save_every=0.001).actuation


def off_the_circle(run: kb.Run) -> float:
    wanted = pus_upu.CIRCLE.at(run.time).position
    return float(np.linalg.norm(np.column_stack([run[axis] for axis in "xyz"]) - wanted, axis=1).max())


def test_figure_5():
    """Each body is seen, since without it the picture is another; the platform hangs below its sliders."""
    q, size = PLANT.start.q, (480, 360)
    scene = scene_of(PLANT, q)
    camera = camera_for(scene, q[None], size)
    whole = image(scene, q, camera, size)
    bodies = [body.name for body in PLANT.machine.bodies]
    assert f"each of {len(bodies)} bodies" in gives("figure-5")
    for body in bodies:
        others = replace(scene, shapes=tuple(shape for shape in scene.shapes if shape.body != body))
        changed = (image(others, q, camera, size) != whole).any(axis=2)
        assert changed.sum() > 50, body  # pixels
    places = camera.project(np.array([PLANT.pose(name, q).position for name in ("platform", "leg1.slider")]))
    assert places[0, 1] > places[1, 1]  # pixels count downwards


@pytest.mark.long
def test_figure_6():
    run, planned = experiment("1-6"), motors("1-6", kb.LeastSquares())[:, 5]
    times = np.linspace(0.0, pus_upu.CIRCLE.duration, 51)
    apart = np.interp(times, run.time, run.actuation[:, 5]) - planned
    assert np.abs(apart[1:-1]).max() < 5.0  # N


@pytest.mark.long
def test_figure_7():
    assert peak(experiment("1-5").actuation) == pytest.approx(666.8, abs=0.5)
    assert peak(fitted("1-5", **pus_upu.PLAY)) == pytest.approx(697.7, abs=1.0)
    panel = pus_upu.FIGURES.panels[2]
    assert (panel.unit, len(panel.lines), panel.claims[0].value) == ("N", 5, 700.0)


@pytest.mark.long
def test_figure_8():
    assert peak(experiment("1-6").actuation) == pytest.approx(356.6, abs=0.5)
    assert peak(fitted("1-6", **pus_upu.PLAY)) == pytest.approx(383.7, abs=1.0)
    panel = pus_upu.FIGURES.panels[3]
    assert (panel.unit, len(panel.lines), panel.claims[0].value) == ("N", 6, 380.0)


@pytest.mark.long
def test_claim_errors():
    """Both measured peaks are met within 1.5 %; friction alone, which meets the second, leaves the first as it was."""
    both = [peak(fitted(actuators, **pus_upu.PLAY)) for actuators in ("1-5", "1-6")]
    assert np.abs(np.array(both) / [700, 380] - 1).max() < 0.015
    rubbed = [peak(fitted(actuators, friction=20.0)) for actuators in ("1-5", "1-6")]
    assert rubbed[0] < 670
    assert rubbed[1] > 390


@pytest.mark.long
def test_claim_halved():
    five, six = peak(experiment("1-5").actuation), peak(experiment("1-6").actuation)
    assert 1 - six / five == pytest.approx(0.47, abs=0.01)


def test_conclusion_1():
    hand, tree = pair(1)
    found = shared(tree.G, tree.rhs, 6)
    assert relative(found, STATES["ls"][1][:6]) < 1e-9
    assert relative(shared(hand.G, hand.rhs, 6), found) < 1e-9


@pytest.mark.long
def test_conclusion_2():
    assert off_the_circle(experiment("1-5")) == pytest.approx(2.67e-3, abs=1e-4)
    assert off_the_circle(experiment("1-6")) == pytest.approx(0.96e-3, abs=1e-4)
