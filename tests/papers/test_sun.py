"""Items of the paper, one test per key.

Numbers beside kalaba's come from other code for the same arms and objects (data/cooperation), or from the paper's
formulas worked out here.
"""

from functools import cache
from math import pi

import numpy as np
import pytest

import kalaba as kb
from cooperation import cooperation
from kalaba.plant.start import closing
from kalaba.robots.catalogue import ENTRIES
from kalaba.robots.papers.sun import PAPER

EXACT = 1e-9  # of the largest entry; a thread's inertia by its travel has a condition of 1e5
DIFFERENCED = 1e-6  # of the largest entry, for rates by central differences
STEP = 1e-5  # s, of these differences
K = 2  # the state of the reference that is tried
FREEDOMS = {  # of the objects: a body that floats has six, the joint between two its own, a third arm's nut two more
    "two-arm-carry": 6,
    "two-arm-scissors": 7,
    "two-arm-peg": 8,
    "two-arm-keyed-peg": 7,
    "two-arm-screw": 7,
    "three-arm-screw": 9,
    "n-arm-carry": 6,
}
EARTH = 9.81  # m/s²


def gap(value: np.ndarray, expected: np.ndarray) -> float:
    return float(np.abs(np.asarray(value) - expected).max() / np.abs(expected).max())


def item(key: str) -> str:
    return next(one.gives for one in PAPER.items if one.key == key)


@cache
def space(name: str) -> kb.cooperate.ObjectSpace:
    return kb.object_space(kb.build(cooperation(name).system, backend=kb.Interpreted()))


@cache
def pieces(name: str, later: float = 0.0) -> dict[str, np.ndarray]:
    """All pieces at the state, or a moment later along its velocity."""
    plant, state = space(name).plant, cooperation(name).state(K)
    q = closing(plant).retract(state.q, later * state.v) if later else state.q
    return kb.cooperate.pieces_at(space(name), kb.State(q, state.v))


def rate_of(name: str, piece: str) -> np.ndarray:
    return (pieces(name, STEP)[piece] - pieces(name, -STEP)[piece]) / (2 * STEP)


def found(name: str, key: str) -> np.ndarray:
    """The reference at the state, a thread's rate by its angle."""
    return cooperation(name).reference[key][K]


def speeds(name: str) -> np.ndarray:
    return found(name, "sdot") / cooperation(name).travel


def acceleration(name: str) -> np.ndarray:
    return found(name, "sddot") / cooperation(name).travel


def at_centres(name: str) -> list[np.ndarray]:
    """J_iC⁻ᵀ F_i: each arm's wrench moved from its tool to the centre of mass of its body."""
    seen, state = space(name), cooperation(name).state(K)
    moved = []
    for hold, wrench in zip(seen.split.holds, found(name, "F_grasp"), strict=True):
        centre = centre_of(name, hold.body)
        arm = seen.plant.pose(hold.child, state.q).position - centre
        moved.append(np.concatenate([wrench[:3], wrench[3:] + np.cross(arm, wrench[:3])]))
    return moved


def centre_of(name: str, body: int) -> np.ndarray:
    plant, state = space(name).plant, cooperation(name).state(K)
    word = plant.machine.bodies[body].name
    frame = word if word == "body1" else f"{word}_centre"
    return plant.pose(frame, state.q).position


def axis_and_arm(name: str, body: str = "body2") -> tuple[np.ndarray, np.ndarray]:
    """Unit vector b of a joint's axis, and r from the joint to the centre of mass of the body on it."""
    plant, q = space(name).plant, cooperation(name).state(K).q
    on_axis = plant.pose(body, q)
    return on_axis.rotation[:, 2], plant.pose(f"{body}_centre", q).position - on_axis.position


def bodies_of(name: str) -> range:
    return range(1, len(kb.cooperate.object_form(space(name)).bodies) + 1)


def arms_of(name: str) -> range:
    return range(1, len(space(name).arms) + 1)


def held_by(name: str, arm: int) -> int:
    """The number of the body that an arm holds."""
    form, hold = kb.cooperate.object_form(space(name)), space(name).split.holds[arm - 1]
    return form.bodies.index(hold.body) + 1


def object_inertia(name: str) -> np.ndarray:
    P = pieces(name)
    return sum(P[f"J_C{i}"].T @ P[f"H_0{i}"] @ P[f"J_C{i}"] for i in bodies_of(name))


def object_bias(name: str) -> np.ndarray:
    P, s_dot = pieces(name), speeds(name)
    return sum(
        P[f"J_C{i}"].T @ (P[f"tau_b0{i}"].ravel() + P[f"H_0{i}"] @ (rate_of(name, f"J_C{i}") @ s_dot))
        for i in bodies_of(name)
    )


def check_whole(name: str) -> None:
    """H and W of (5.18), (5.20), and τ_b of (5.19) by differences, against the other code's."""
    P, C, qd = pieces(name), cooperation(name).travel, found(name, "qd")
    H, tau_b = object_inertia(name), object_bias(name)
    W = []
    for i in arms_of(name):
        J_C, J, Hs = P[f"J_C{held_by(name, i)}"], P[f"J_{i}"], P[f"Hs_{i}"]
        H = H + J_C.T @ Hs @ J_C
        turning = rate_of(name, f"J_C{held_by(name, i)}") @ speeds(name) - rate_of(name, f"J_{i}") @ qd[i - 1]
        tau_b = tau_b + J_C.T @ (np.linalg.solve(J.T, P[f"tau_b{i}"].ravel()) + Hs @ turning)
        W.append(np.linalg.solve(J, J_C).T)
    assert gap(H / np.outer(C, C), found(name, "H")) < EXACT
    assert gap(np.hstack(W) / C[:, None], found(name, "W")) < EXACT
    assert gap(tau_b / C, found(name, "tau_b")) < DIFFERENCED


# --- sections 1 and 2


def test_system():
    assert {name: kb.check(space_of(name).plant).freedoms for name in PAPER.machines} == FREEDOMS


def test_claim_literature():
    """Nothing to compute: a statement on what others had published."""
    assert next(one for one in PAPER.items if one.key == "claim-literature").why


def test_numbers():
    assert "chosen" in ENTRIES["two-arm-carry"].source


@pytest.mark.parametrize("name", ["rigid"])
def test_eq_1_1(name):
    """H q̈ + τ_b = τ − Jᵀ F of each arm, with F at its tool: J_i1ᵀ J_i0ᵀ F = J_iᵀ J_iC⁻ᵀ F."""
    P, wrenches = pieces(name), at_centres(name)
    for i in arms_of(name):
        left = P[f"H_{i}"] @ found(name, "qdd")[i - 1] + P[f"tau_b{i}"].ravel()
        assert gap(left, found(name, "tau")[i - 1] - P[f"J_{i}"].T @ wrenches[i - 1]) < EXACT


def test_eq_2_1():
    """The same two equations as (5.1), (5.2), here with the reference's own H_i and τ_bi."""
    P = pieces("rigid")
    for i in arms_of("rigid"):
        assert gap(P[f"H_{i}"], found("rigid", "H_arm")[i - 1]) < EXACT
        assert gap(P[f"tau_b{i}"].ravel(), found("rigid", "tau_b_arm")[i - 1]) < EXACT


def test_eq_2_3():
    P = pieces("rigid")
    left = P["H_01"] @ acceleration("rigid") + P["tau_b01"].ravel()
    assert gap(left, sum(at_centres("rigid"))) < EXACT


def test_eq_2_4():
    seen, state = space("rigid"), cooperation("rigid").state(K)
    q = seen.reach(seen.plant.pose("body1", state.q), near=state.q)
    assert np.abs(seen.plant.residual(q)).max() < 1e-12
    assert gap(seen.rates(state, speeds("rigid")), state.v) < EXACT


def test_eq_2_6():
    """With the inertia of the body's own axes instead of R I Rᵀ the equation (2.3) is missed."""
    P, s_ddot, w = pieces("rigid"), acceleration("rigid"), speeds("rigid")[3:6]
    R = space("rigid").plant.pose("body1", cooperation("rigid").state(K).q).rotation
    own = R.T @ P["H_01"][3:, 3:] @ R
    assert gap(P["H_01"][:3, :3], P["H_01"][0, 0] * np.eye(3)) == 0.0
    assert gap(P["tau_b01"].ravel()[:3], P["H_01"][0, 0] * np.array([0, 0, EARTH])) < EXACT
    printed = own @ s_ddot[3:] + np.cross(w, own @ w)
    assert gap(printed, sum(at_centres("rigid"))[3:]) > 0.1


def test_claim_determined():
    seen = space("rigid")
    counts = {name: len(ways) for name, ways in seen.branches(near=cooperation("rigid").state(K).q).items()}
    assert max(counts.values()) > 1
    assert f"up to {max(counts.values())} ways" in item("claim-determined")


def test_eq_2_8():
    """ṡ = J_i q̇_i; s̈ = J_i q̈_i + J̇_i q̇_i, with the part of J̇_i by which the shift from tool to C turns."""
    for i in arms_of("rigid"):
        qd, qdd = found("rigid", "qd")[i - 1], found("rigid", "qdd")[i - 1]
        assert gap(pieces("rigid")[f"J_{i}"] @ qd, speeds("rigid")) < EXACT
        turned = pieces("rigid")[f"J_{i}"] @ qdd + rate_of("rigid", f"J_{i}") @ qd
        assert gap(turned, acceleration("rigid")) < DIFFERENCED


def test_eq_2_10():
    check_whole("rigid")


# --- section 3: tasks and their figures


def check_task(name: str, number: int, coordinates: tuple[str, ...]) -> None:
    figures = ENTRIES[name].figures
    assert figures is not None
    assert f"figure {number}" in figures.title
    assert space_of(name).coordinates[6:] == coordinates


@cache
def space_of(name: str, **options: str) -> kb.cooperate.ObjectSpace:
    return kb.object_space(kb.build(kb.load(name, **options), backend=kb.Interpreted()))


def test_eq_3_1():
    for name in ("two-arm-carry", "three-arm-screw"):
        twist = space_of(name).coordinates[:6]
        assert [word.rpartition(".")[2] for word in twist] == ["vx", "vy", "vz", "wx", "wy", "wz"]


def test_figure_1():
    check_task("two-arm-carry", 1, ())


def test_figure_2():
    check_task("two-arm-keyed-peg", 2, ("peg.travel",))


def test_figure_3():
    check_task("two-arm-scissors", 3, ("blade2.angle",))


def test_figure_4():
    check_task("two-arm-screw", 4, ("bolt.angle",))


def test_figure_5():
    check_task("two-arm-peg", 5, ("peg.travel", "peg.angle"))


def test_figure_6():
    check_task("three-arm-screw", 6, ("bolt.angle", "sleeve.travel", "sleeve.angle"))


def test_eq_3_2():
    check_whole("keyed")


def test_eq_3_3():
    check_whole("scissors")


def test_eq_3_4():
    """By travel as printed or by angle: the same equations, H_d = (2π/h)² H_θ, but conditions of 1.2e5 and 970."""
    angle, travel = space_of("two-arm-screw"), space_of("two-arm-screw", coordinate="travel")
    assert travel.coordinates[6:] == ("bolt.travel",)
    H, H_d = (seen.inertia(seen.plant.start) for seen in (angle, travel))
    scale = np.diag([*np.ones(6), 2 * pi / 0.02])
    assert gap(scale @ H @ scale, H_d) < EXACT
    assert np.linalg.cond(H) == pytest.approx(970, rel=0.01)
    assert np.linalg.cond(H_d) == pytest.approx(1.2e5, rel=0.05)
    check_whole("screw")


def test_eq_3_5():
    check_whole("peg")


def test_eq_3_6():
    check_whole("three")


# --- section 4


def test_eq_4_1():
    """s from the arms' angles alone: travel and angle of every kind of joint."""
    for name in ("keyed", "scissors", "screw", "peg", "three"):
        state = cooperation(name).state(K)
        read = space(name).read(state.q)
        wanted = found(name, "p") / cooperation(name).travel[6:]
        assert np.abs(np.array(list(read.joints.values())) - wanted).max() < 1e-9
        assert gap(read.pose.position, found(name, "A_C1")[:3, 3]) < 1e-9


def test_inverse_kinematics():
    """A_Ci^B = A_C1^B A_fi^C1 A_Ci^fi; without A_fi^C1, as printed, a joint beside C_1 is misplaced."""
    seen, state = space("scissors"), cooperation("scissors").state(K)
    joints = dict(zip(seen.coordinates[6:], found("scissors", "p"), strict=True))
    q = seen.reach(seen.plant.pose("body1", state.q), joints, near=state.q)
    assert np.abs(q - state.q).max() < 1e-9
    numbers = cooperation("scissors").numbers["joints"]
    assert any(np.abs(np.array(joint["A_f_C1"]) - np.eye(4)).max() > 0.01 for joint in numbers.values())


def test_eq_4_9():
    for name in ("scissors", "three"):
        for i in arms_of(name):
            assert gap(pieces(name)[f"J_{i}"], found(name, "J")[i - 1]) < EXACT


def test_eq_4_10():
    """ṡ_Ci = J_f,Ci J_C1,f ṡ_C1 + [b; 0] ḋ, and ḋ by the transpose, whose one column has length one."""
    b, _ = axis_and_arm("keyed")
    P, s_dot = pieces("keyed"), speeds("keyed")
    column = np.concatenate([b, np.zeros(3)])
    assert gap(P["J_C2"][:, 6], column) < EXACT
    shift = centre_of("keyed", 13) - centre_of("keyed", 12)
    moved = np.concatenate([s_dot[:3] + np.cross(s_dot[3:6], shift), s_dot[3:6]])
    assert column @ (P["J_C2"] @ s_dot - moved) == pytest.approx(s_dot[6], rel=1e-9)


def test_eq_4_16():
    """[−r×b; b] as printed, r from the joint to C_i."""
    b, r = axis_and_arm("scissors")
    assert gap(pieces("scissors")["J_C2"][:, 6], np.concatenate([-np.cross(r, b), b])) < EXACT


def test_eq_4_18():
    """On the axis [b; k b] with k = 2π/h, by angle [b/k; b]; off it the printed column is wrong, with k b×r right."""
    for name, is_off in (("screw", False), ("screw_off", True)):
        (b, r), (thread,) = axis_and_arm(name), cooperation(name).numbers["joints"].values()
        k = 2 * pi / thread["pitch_h"]
        column = pieces(name)["J_C2"][:, 6] * k
        assert gap(np.concatenate([b + k * np.cross(b, r), k * b]), column) < EXACT
        assert (gap(np.concatenate([b, k * b]), column) > 0.01) == is_off


def test_eq_4_20():
    for name, is_off in (("peg", False), ("peg_off", True)):
        b, r = axis_and_arm(name)
        columns, zero = pieces(name)["J_C2"][:, 6:8], np.zeros(3)
        mended = np.column_stack([np.concatenate([b, zero]), np.concatenate([np.cross(b, r), b])])
        assert gap(mended, columns) < EXACT
        assert (gap(np.column_stack([np.r_[b, zero], np.r_[zero, b]]), columns) > 0.01) == is_off


def test_eq_4_22():
    """The printed relative twist ṡ_C2 − ṡ_C1 misses ω×d b, and with it the rate of the thread."""
    b, _ = axis_and_arm("three")
    P, s_dot = pieces("three"), speeds("three")
    column = P["J_C2"][:, 6]
    relative = P["J_C2"] @ s_dot - np.concatenate([s_dot[:6]])
    d = (centre_of("three", 19) - centre_of("three", 18)) @ b
    mended = relative - np.concatenate([np.cross(s_dot[3:6], d * b), np.zeros(3)])
    assert column @ mended / (column @ column) == pytest.approx(s_dot[6], rel=1e-9)
    assert np.abs(mended - relative).max() > 0.01 * np.abs(relative).max()


def test_eq_4_28():
    """J of (4.30) is 9×18 and gives ṡ; it takes the nut's twist from arm 1 alone."""
    J = pieces("three")["J"]
    assert J.shape == (9, 18)
    assert gap(J @ found("three", "qd").ravel(), speeds("three")) < EXACT
    assert np.abs(J[:6, 6:]).max() == 0.0
    assert np.abs(J[6, 12:]).max() == 0.0
    assert np.abs(J[7:, 6:12]).max() == 0.0


def test_eq_4_31():
    qd, qdd = (found("three", key).ravel() for key in ("qd", "qdd"))
    assert gap(pieces("three")["J"] @ qdd + rate_of("three", "J") @ qd, acceleration("three")) < DIFFERENCED


def test_eq_4_32():
    for name in ("scissors", "three", "screw_off", "peg_off"):
        for i in bodies_of(name):
            expected = found(name, "JC")[i - 1] * cooperation(name).travel
            assert gap(pieces(name)[f"J_C{i}"], expected) < EXACT
    assert (pieces("three")["J_C1"] == np.eye(6, 9)).all()


def test_eq_4_36():
    """q̇_i = J_i⁻¹ J_Ci ṡ, and q̈_i with J̇_Ci and J̇_i."""
    P, s_dot, s_ddot = pieces("three"), speeds("three"), acceleration("three")
    for i in arms_of("three"):
        qd, qdd = found("three", "qd")[i - 1], found("three", "qdd")[i - 1]
        assert gap(np.linalg.solve(P[f"J_{i}"], P[f"J_C{i}"] @ s_dot), qd) < EXACT
        turning = rate_of("three", f"J_C{i}") @ s_dot - rate_of("three", f"J_{i}") @ qd
        assert gap(np.linalg.solve(P[f"J_{i}"], P[f"J_C{i}"] @ s_ddot + turning), qdd) < DIFFERENCED


# --- section 5


def joint_wrench(name: str, body: int) -> np.ndarray:
    """F_12 at the centre of body 2: what its own equation leaves over."""
    P = pieces(name)
    moved = P[f"J_C{body}"] @ acceleration(name) + rate_of(name, f"J_C{body}") @ speeds(name)
    return P[f"H_0{body}"] @ moved + P[f"tau_b0{body}"].ravel() - at_centres(name)[body - 1]


def test_eq_5_1():
    P, wrenches = pieces("scissors"), at_centres("scissors")
    for i in arms_of("scissors"):
        left = P[f"H_{i}"] @ found("scissors", "qdd")[i - 1] + P[f"tau_b{i}"].ravel()
        assert gap(left, found("scissors", "tau")[i - 1] - P[f"J_{i}"].T @ wrenches[i - 1]) < EXACT


def test_eq_5_3():
    """Body 1 gets −F_12 of body 2, moved to C_1."""
    P, F = pieces("scissors"), joint_wrench("scissors", 2)
    left = P["H_01"] @ acceleration("scissors")[:6] + P["tau_b01"].ravel() - at_centres("scissors")[0]
    arm = centre_of("scissors", 13) - centre_of("scissors", 12)
    back = np.concatenate([F[:3], F[3:] + np.cross(arm, F[:3])])
    assert gap(left, -back) < DIFFERENCED


def test_eq_5_6():
    """The hinge's wrench does no work along θ: J_C2ᵀ F_12 has no last entry. A drive in it is that entry."""
    F = joint_wrench("scissors", 2)
    assert abs((pieces("scissors")["J_C2"].T @ F)[6]) < DIFFERENCED * np.abs(F).max()
    drive = kb.Actuator("drive", "blade2.angle", limit=10.0)
    driven = kb.object_space(kb.build(kb.load("two-arm-scissors").add(drive), backend=kb.Interpreted()))
    column = driven.force_map(driven.plant.start)[:, driven.plant.actuators.index("drive")]
    assert column == pytest.approx([0, 0, 0, 0, 0, 0, 1], abs=1e-12)


def test_eq_5_9():
    left = object_inertia("scissors") @ acceleration("scissors") + object_bias("scissors")
    P = pieces("scissors")
    right = sum(P[f"J_C{i}"].T @ wrench for i, wrench in enumerate(at_centres("scissors"), 1))
    assert gap(left, right) < DIFFERENCED


def test_eq_5_12():
    """With J_1 in place of the printed J_11, which is the Jacobian of the tool in the arm's own frame."""
    P = pieces("scissors")
    J, J_C = P["J_1"], P["J_C1"]
    qd, qdd = found("scissors", "qd")[0], found("scissors", "qdd")[0]
    assert gap(J_C @ acceleration("scissors") - rate_of("scissors", "J_1") @ qd, J @ qdd) < DIFFERENCED
    seen = space("scissors")
    tool = seen.plant.jacobian(seen.split.holds[0].arm_frame, cooperation("scissors").state(K).q)
    columns = sorted(seen.split.arms[0].follow)
    assert gap(tool[:, columns], J) > 0.01


def test_eq_5_14():
    check_whole("scissors")


def test_eq_5_18():
    """Bodies and arms each summed once: as printed the load of two arms would count twice."""
    P = pieces("rigid")
    right = P["H_01"] + P["Hs_1"] + P["Hs_2"]
    assert gap(right, found("rigid", "H")) < EXACT
    assert gap(right + P["H_01"], found("rigid", "H")) > 0.05
    check_whole("three")


# --- section 6


def test_claim_any_number():
    """The same words for one to eight arms, and for a ring of arms that hold by balls."""
    for arms in (1, 2, 3, 8):
        seen = kb.object_space(kb.build(kb.load("n-arm-carry", arms=arms), backend=kb.Interpreted()))
        assert len(seen.coordinates) == 6
        assert len(seen.arms) == arms


def test_claim_internal():
    """Thirty newtons that are asked for are thirty all along the way; tests/unit/cooperate has more machines."""
    control = kb.scenario("two-arm-carry", squeeze=30).control
    plant = kb.build(kb.load("two-arm-carry"), backend=kb.Interpreted())
    run = kb.simulate(plant, 0.1, control=control, stepper=kb.RungeKutta4(2e-3), save_every=0.02)
    pressing = kb.cooperate.grasp_forces(run).squeeze["load"]
    assert pressing == pytest.approx(30.0, rel=1e-9)


def test_claim_control():
    """One law for every task: the controls of all machines are of one class."""
    assert {type(kb.scenario(name).control) for name in PAPER.machines} == {kb.Carry}


def test_claim_simulation():
    for name in ("rigid", "scissors", "three"):
        seen, state, torques = space(name), cooperation(name).state(K), found(name, "tau").ravel()
        s_ddot = seen.acceleration(state, torques)
        whole = seen.plant.motion(*state, actuation=torques).acceleration
        assert gap(seen.accelerations(state, s_ddot), whole) < 1e-10


def test_conclusion():
    assert {name: len(space_of(name).coordinates) for name in PAPER.machines} == FREEDOMS
