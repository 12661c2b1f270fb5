"""Kinematics of machines with loops against closed forms: circles, spheres, distances, screws of legs."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial.transform import Rotation

import kalaba as kb
from kalaba.errors import AssemblyError, KinematicsError, ModelError
from kalaba.model.parts import Start
from kalaba.plant.choice import free_directions
from kalaba.plant.start import find_configuration

FIVE_BAR = kb.build(kb.load("five-bar"))
BASES, CRANK, ROD = np.array([[-0.1, 0.0], [0.1, 0.0]]), 0.20, 0.30
LENGTHS = (0.70, 0.75, 0.66, 0.72, 0.69, 0.74)


@pytest.fixture(scope="module")
def stewart() -> kb.Plant:
    return kb.build(kb.load("stewart"))


@pytest.fixture(scope="module")
def delta() -> kb.Plant:
    return kb.build(kb.load("delta", rods="single"))


def configuration(plant: kb.Plant, hold: dict[str, float], guess: dict[str, float]) -> np.ndarray:
    found, _ = find_configuration(plant, Start(hold=hold, guess=guess))
    assert found.is_closed
    return found.q


def circles(centres: np.ndarray, radius: float) -> np.ndarray:
    """Both points at a distance from two centres."""
    middle, way = centres.mean(axis=0), centres[1] - centres[0]
    width = np.linalg.norm(way)
    across = np.array([-way[1], way[0]]) / width * np.sqrt(radius**2 - width**2 / 4)
    return np.array([middle + across, middle - across])


def spheres(centres: np.ndarray, radius: float) -> np.ndarray:
    """Both points at a distance from three centres: the axis of their circle, and how far along it."""
    u, w = centres[1] - centres[0], centres[2] - centres[0]
    normal = np.cross(u, w)
    foot = (np.cross(normal, u) * (w @ w) + np.cross(w, normal) * (u @ u)) / (2 * normal @ normal)
    along = normal / np.linalg.norm(normal) * np.sqrt(radius**2 - foot @ foot)
    return centres[0] + foot + np.array([along, -along])


def sort(points: np.ndarray) -> np.ndarray:
    return np.array(sorted(np.round(points, 12).tolist()))


def elbows(angles: tuple[float, float]) -> np.ndarray:
    return BASES + CRANK * np.array([[np.cos(a), np.sin(a)] for a in angles])


def test_two_cranks_leave_two_places_for_the_joined_tips():
    angles = (2.0, 1.3)
    held = dict(zip(("left.crank.angle", "right.crank.angle"), angles, strict=True))
    modes = kb.assembly_modes(FIVE_BAR, held, tries=40)
    found = np.array([FIVE_BAR.pose("left.rod.tip", mode.q).position[[0, 2]] for mode in modes])
    assert_allclose(sort(found), sort(circles(elbows(angles), ROD)), rtol=0, atol=1e-11)
    assert sum(mode.hits for mode in modes) > 20
    assert FIVE_BAR.pose("left.rod.tip", modes[0].q).position[2] > 0.2  # the nearest to the start comes first
    assert np.array_equal(modes[1].q, kb.assembly_modes(FIVE_BAR, held, tries=40)[1].q)


def test_one_place_of_the_tips_has_four_working_modes():
    at = kb.Constraint("at", {"x": "left.rod.tip.x - 0.03", "z": "left.rod.tip.z - 0.35"})
    system = kb.load("five-bar").add(at)
    modes = kb.assembly_modes(system, tries=60)
    plant = kb.build(system)
    names = [plant.coordinates.index(f"{side}.crank.angle") for side in ("left", "right")]
    found = {tuple(np.round(np.cos(mode.q[names]), 9)) for mode in modes}
    expected = set()
    for left in (-1, 1):
        for right in (-1, 1):
            way = np.array([0.03, 0.35]) - BASES
            reach = np.linalg.norm(way, axis=1)
            bend = np.arccos((CRANK**2 + reach**2 - ROD**2) / (2 * CRANK * reach))
            expected.add(tuple(np.round(np.cos(np.arctan2(way[:, 1], way[:, 0]) + (left, right) * bend), 9)))
    assert len(modes) == 4
    assert found == expected


ARMS = (0.2, 0.5, 0.7)


def level_places() -> np.ndarray:
    """Where the platform can be with the arms at ARMS: rods seen as spheres, moved inwards by the platform's radius."""
    turns = 2 * np.pi / 3 * np.arange(3)
    reach = 0.20 + 0.30 * np.cos(ARMS) - 0.06
    centres = np.column_stack([reach * np.cos(turns), reach * np.sin(turns), -0.30 * np.sin(ARMS)])
    return sort(spheres(centres, 0.80))


def test_three_arms_leave_two_places_for_a_platform_that_keeps_level(delta):
    modes = kb.assembly_modes(delta, {f"leg{i}.arm.angle": a for i, a in enumerate(ARMS, 1)}, tries=30)
    found = np.array([delta.pose("platform", mode.q).position for mode in modes])
    assert_allclose(sort(found), level_places(), rtol=0, atol=1e-11)


@pytest.mark.long
def test_two_rods_a_side_can_also_be_put_together_crossed():
    plant = kb.build(kb.load("delta"))
    held = {f"leg{i}.arm.angle": a for i, a in enumerate(ARMS, 1)}
    poses = [plant.pose("platform", mode.q) for mode in kb.assembly_modes(plant, held, tries=200, frame="platform")]
    level = [pose.position for pose in poses if np.abs(pose.rotation - np.eye(3)).max() < 1e-9]
    assert_allclose(sort(np.array(level)), level_places(), rtol=0, atol=1e-11)
    assert len(poses) > 2


def ring(radius: float, spread: float) -> np.ndarray:
    angles = np.radians([middle + side for middle in (0, 120, 240) for side in (-spread, spread)])
    return np.column_stack([radius * np.cos(angles), radius * np.sin(angles), np.zeros(6)])


BASE, BALLS = ring(0.50, 50), ring(0.30, 10)


def platforms(lengths: tuple[float, ...], starts: int) -> np.ndarray:
    """Poses with six given leg lengths by another way: Newton's method on position and attitude, from many starts."""
    rng = np.random.default_rng(8)
    p, R = rng.uniform(-1, 1, size=(starts, 3)), Rotation.random(starts, rng=rng).as_matrix()
    for _ in range(100):
        arms = np.einsum("sij,kj->ski", R, BALLS)
        legs = p[:, None] + arms - BASE
        gap = ((legs**2).sum(axis=2) - np.square(lengths)) / 2
        J = np.concatenate([legs, np.cross(arms, legs)], axis=2)
        step = -np.linalg.solve(J + 1e-12 * np.eye(6), gap[:, :, None])[:, :, 0]
        step *= np.minimum(1.0, 0.3 / np.abs(step).max(axis=1, initial=1e-300))[:, None]
        p = p + step[:, :3]
        R = Rotation.from_rotvec(step[:, 3:]).as_matrix() @ R
    good = np.abs(gap).max(axis=1) < 1e-12
    return np.unique(np.round(np.hstack([p, R.reshape(-1, 9)])[good], 6) + 0.0, axis=0)


@pytest.mark.parametrize("lengths", [LENGTHS, (0.62, 0.70, 0.75, 0.66, 0.80, 0.68)])
def test_six_legs_leave_as_many_places_for_a_platform_as_another_search_finds(stewart, lengths):
    modes = kb.assembly_modes(stewart, {f"leg{i}.rod.travel": x for i, x in enumerate(lengths, 1)}, tries=150)
    poses = [stewart.pose("platform", mode.q) for mode in modes]
    found = np.array([np.concatenate([pose.position, pose.rotation.ravel()]) for pose in poses])
    expected = platforms(lengths, 1500)
    assert 2 < len(expected) <= 40  # the greatest number there can be
    assert_allclose(sort(found.round(5) + 0.0), sort(expected.round(5) + 0.0), rtol=0, atol=2e-5)
    for p, R in poses:
        assert_allclose(np.linalg.norm(p + BALLS @ R.T - BASE, axis=1), lengths, rtol=0, atol=1e-12)
    mirror = np.array([1, 1, -1])  # plane rings: what closes above the base closes below it
    for p, R in poses:
        there = np.concatenate([p * mirror, (R * np.outer(mirror, mirror)).ravel()])
        assert np.abs(found - there).max(axis=1).min() < 1e-9


def test_a_hold_that_leaves_freedoms_is_refused_with_their_number():
    with pytest.raises(ModelError, match=r"five-bar: 1 freedom left with left\.crank\.angle held.*Hold 1 more"):
        kb.assembly_modes(FIVE_BAR, {"left.crank.angle": 2.0}, tries=5)


def test_what_cannot_be_assembled_is_refused_with_the_gap():
    with pytest.raises(
        AssemblyError, match=r"no way to assemble it with .* held in 8 tries; smallest gap 0\.125 m at pin"
    ):
        kb.assembly_modes(kb.load("four-bar", {"pin.at.x": 0.9}), {"crank.angle": 1.0}, tries=8)


@pytest.mark.parametrize("tries", [0, 2.5])
def test_tries_are_a_number(tries):
    with pytest.raises(ModelError, match="tries: expected"):
        kb.assembly_modes(FIVE_BAR, {"left.crank.angle": 2.0}, tries=tries)


@pytest.mark.parametrize(
    "call",
    [
        lambda frame: kb.assembly_modes(FIVE_BAR, frame=frame),
        lambda frame: kb.kinematics.motors_at(FIVE_BAR, frame, kb.Pose()),
        lambda frame: kb.singularity(FIVE_BAR, frame, FIVE_BAR.start),
    ],
)
def test_an_unknown_frame_is_answered_with_near_ones(call):
    with pytest.raises(ModelError, match=r"no frame 'left\.rod\.tipp'; did you mean left\.rod\.tip"):
        call("left.rod.tipp")


def test_motors_of_a_pose_are_the_distances_of_the_joints(stewart):
    turned = Rotation.from_euler("ZYX", (0.2, -0.15, 0.1))
    p = np.array([0.05, -0.04, 0.65])
    pose = kb.Pose(tuple(p), rpy=(0.1, -0.15, 0.2))
    found = kb.kinematics.motors_at(stewart, "platform", pose)
    expected = np.linalg.norm(p + turned.apply(BALLS) - BASE, axis=1)
    assert list(found.displacements) == [f"leg{i}.motor" for i in range(1, 7)]
    assert_allclose(list(found.displacements.values()), expected, rtol=0, atol=1e-12)
    assert_allclose(stewart.pose("platform", found.q).rotation, turned.as_matrix(), rtol=0, atol=1e-12)


def test_a_guess_chooses_the_working_mode(delta):
    home = kb.kinematics.motors_at(delta, "platform", kb.Pose((0.02, 0.01, -0.75)))
    arms = [delta.coordinates.index(f"leg{i}.arm.angle") for i in (1, 2, 3)]
    bent = configuration(delta, {"z": -0.75, "x": 0.0, "y": 0.0}, {"leg1.arm.angle": 3.0, "leg1.rod.angle1": 3.5})
    other = kb.kinematics.motors_at(delta, "platform", kb.Pose((0.02, 0.01, -0.75)), guess=bent)
    assert abs(other.q[arms[0]] - home.q[arms[0]]) > 1.0  # arm 1 points inwards
    assert_allclose(other.q[arms[1:]], home.q[arms[1:]], rtol=0, atol=1e-9)


def test_a_pose_that_the_rods_forbid_is_refused():
    with pytest.raises(
        KinematicsError, match="delta: platform cannot be put there with all loops closed; smallest gap"
    ):
        kb.kinematics.motors_at(kb.load("delta"), "platform", kb.Pose((0, 0, -1.5)))


def test_motors_that_push_in_space_have_no_displacement():
    parts = (kb.Body("craft", kb.Box((1, 1, 1), mass=1.0)), kb.Thruster("jet", "craft", kb.X))
    with pytest.raises(ModelError, match="jet: expected a motor on a displacement, got a thruster"):
        kb.kinematics.motors_at(kb.System("craft", parts), "craft", kb.Pose())


def moved(plant: kb.Plant, seed: int) -> np.ndarray:
    """A closed configuration near the start."""
    rng = np.random.default_rng(seed)
    N = free_directions(plant, plant.start.q)
    _, problem = find_configuration(plant, Start(), tries=1)
    q = problem.retract(plant.start.q, N @ rng.normal(size=N.shape[1]) * 0.05)
    return configuration(plant, {}, dict(zip(plant.coordinates, q, strict=True)))


def test_rates_of_the_legs_are_their_screws(stewart):
    q = moved(stewart, 1)
    p, R = stewart.pose("platform", q)
    arms = BALLS @ R.T
    legs = p + arms - BASE
    legs /= np.linalg.norm(legs, axis=1)[:, None]
    expected = np.hstack([legs, np.cross(arms, legs)])
    assert_allclose(kb.kinematics.motor_jacobian(stewart, "platform", q), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize(
    ("name", "options", "frame"),
    [("five-bar", {"motors": 3}, "left.rod.tip"), ("delta", {}, "platform"), ("pus-upu", {}, "platform")],
)
def test_rates_belong_to_the_twist_with_more_motors_or_fewer_freedoms_too(name, options, frame):
    plant = kb.build(kb.load(name, **options))
    q = moved(plant, 2)
    N = free_directions(plant, q)
    v = N @ np.random.default_rng(3).normal(size=N.shape[1])
    assert np.abs(plant.velocity_residual(q, v)).max() < 1e-12
    K = kb.kinematics.motor_jacobian(plant, frame, q)
    assert K.shape == (len(plant.actuators), 6)
    h = 1e-6
    _, problem = find_configuration(plant, Start(), tries=1)
    ends = [
        kb.kinematics.motors_at(plant, frame, _pose(plant, frame, problem.retract(q, s * h * v)), q) for s in (-1, 1)
    ]
    before, after = (np.array(list(end.displacements.values())) for end in ends)
    assert_allclose(K @ plant.velocity(frame, q, v), (after - before) / (2 * h), rtol=0, atol=1e-7)


def _pose(plant: kb.Plant, frame: str, q: np.ndarray) -> kb.Pose:
    """A frame's pose after the loops are closed again."""
    closed = configuration(plant, {}, dict(zip(plant.coordinates, q, strict=True)))
    p, R = plant.pose(frame, closed)
    return kb.Pose(tuple(p), quaternion=tuple(Rotation.from_matrix(R).as_quat(scalar_first=True)))


def test_a_motor_that_moves_while_the_frame_rests_is_named():
    with pytest.raises(KinematicsError, match=r"right\.motor can move while left\.crank rests"):
        kb.kinematics.motor_jacobian(FIVE_BAR, "left.crank", FIVE_BAR.start.q)


def five_bar_measures(q: np.ndarray) -> tuple[float, float]:
    """Of n_i·ẋ = n_i·t_i u̇_i, n_i along rod i and t_i how its elbow moves: an orthonormal basis of all (ẋ, u̇).

    ẋ is counted in the machine's own length.
    """
    names = [FIVE_BAR.coordinates.index(f"{side}.crank.angle") for side in ("left", "right")]
    x = FIVE_BAR.pose("left.rod.tip", q).position[[0, 2]]
    n = (x - elbows(q[names])) / ROD
    t = CRANK / FIVE_BAR.scales.length * np.array([[-np.sin(a), np.cos(a)] for a in q[names]])
    pairs = np.linalg.svd(np.hstack([n, -np.diag((n * t).sum(axis=1))]))[2][2:].T
    return tuple(np.linalg.svd(part, compute_uv=False).min() for part in (pairs[:2], pairs[2:]))


def test_measures_of_the_joined_tips_are_those_of_the_plane():
    run = kb.simulate(FIVE_BAR, 0.2)
    found = kb.singularity(FIVE_BAR, "left.rod.tip", run, position_only=True)
    expected = np.array([five_bar_measures(q) for q in run.q])
    assert np.ptp(expected, axis=0).min() > 0.02  # it does move
    assert_allclose(found.serial, expected[:, 0], rtol=0, atol=1e-12)
    assert_allclose(found.parallel, expected[:, 1], rtol=0, atol=1e-12)
    assert set(found.freedoms) == {2}
    assert found.worst == np.argmin(expected.min(axis=1))


def test_a_stretched_arm_is_a_singularity_of_its_motor():
    q = configuration(FIVE_BAR, {"left.crank.angle": 1.2, "left.rod.angle": 0.0}, {"right.crank.angle": 0.9})
    found = kb.singularity(FIVE_BAR, "left.rod.tip", q, position_only=True)
    assert found.serial[0] < 1e-9
    assert found.parallel[0] > 0.1


def test_rods_in_line_leave_the_tips_loose_with_both_motors_locked():
    lean = np.arccos((CRANK**2 + 0.2**2 - CRANK**2) / (2 * CRANK * 0.2))  # both elbows at the same place: rods together
    held = {"left.crank.angle": lean, "right.crank.angle": np.pi - lean, "left.rod.angle": 0.5}
    q = configuration(FIVE_BAR, held, {"right.rod.angle": 0.5 + 2 * lean - np.pi})
    found = kb.singularity(FIVE_BAR, "left.rod.tip", [kb.State(q, q)], position_only=True)
    assert found.parallel[0] < 1e-9
    three = kb.build(kb.load("five-bar", motors=3))
    assert kb.singularity(three, "left.rod.tip", q, position_only=True).parallel[0] > 0.1  # the third motor holds them


def test_a_platform_turned_by_a_quarter_is_loose_with_all_legs_locked(stewart):
    """Fichter (1986): Int. J. Robotics Research 5(2), 157-182."""
    angles = (0.0, 0.5, 1.0, np.pi / 2)
    path = [kb.kinematics.motors_at(stewart, "platform", kb.Pose((0, 0, 0.6), rpy=(0, 0, a))).q for a in angles]
    found = kb.singularity(stewart, "platform", [kb.State(q, np.zeros(24)) for q in path])
    assert_allclose(kb.singularity(stewart, "platform", np.array(path)).parallel, found.parallel, rtol=0, atol=0)
    assert found.parallel[0] > 0.05
    assert found.parallel[3] < 1e-9
    assert found.serial.min() > 0.1


def test_with_fewer_motors_than_freedoms_the_frame_is_always_loose():
    found = kb.singularity(kb.load("five-bar").remove("pin"), "left.rod.tip", np.array([2.2, -1.4, 1.0, 1.4]))
    assert found.parallel[0] == 0.0
    assert found.freedoms[0] == 4


def test_no_configuration_is_refused():
    with pytest.raises(ModelError, match="expected one configuration or more, got none"):
        kb.singularity(FIVE_BAR, "left.rod.tip", [])
