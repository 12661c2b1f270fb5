"""The parallel robots of the catalogue: freedoms, three derivations, scenarios that run, forces of another engine."""

from typing import Any

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space

import kalaba as kb
from kalaba.derive.equations import derive
from kalaba.model.parts import Start
from kalaba.plant.choice import free_directions
from kalaba.plant.start import closing, find_configuration
from states import relative_gap

ROUNDING = 1e-12  # as over random machines
SAME_FORCE = 1e-8  # relative, between engines
LEGS = {"pus-upu": ({}, 27, 22, 5), "delta": ({}, 21, 18, 3), "stewart": ({}, 24, 18, 6)}
SIZES = [
    *((name, *numbers) for name, numbers in LEGS.items()),
    ("pus-upu", {"actuators": "1-5"}, 27, 22, 5),
    ("delta", {"rods": "single"}, 12, 9, 3),
]
PLANTS: dict[str, kb.Plant] = {}


def plant_of(name: str) -> kb.Plant:
    if name not in PLANTS:
        PLANTS[name] = kb.build(kb.load(name))
    return PLANTS[name]


def random_state(plant: kb.Plant, rng: np.random.Generator) -> kb.State:
    """A state near the start that keeps every row."""
    N = free_directions(plant, plant.start.q)
    _, problem = find_configuration(plant, Start(), tries=1)
    q = problem.retract(plant.start.q, N @ rng.normal(size=N.shape[1]) * 0.08)
    found, _ = find_configuration(plant, Start(guess=dict(zip(plant.coordinates, q, strict=True))))
    assert found.is_closed
    N = free_directions(plant, found.q)
    return kb.State(found.q, N @ rng.normal(size=N.shape[1]))


@pytest.mark.parametrize(("name", "options", "velocities", "rows", "freedoms"), SIZES)
def test_rows_rank_and_freedoms(name, options, velocities, rows, freedoms):
    found = kb.check(kb.load(name, **options))
    assert (found.velocities, len(found.rows), found.rank) == (velocities, rows, rows)
    assert found.freedoms == found.freedoms_nearby == freedoms
    assert found.smallest_singular_value > 0.1


@pytest.mark.parametrize("name", LEGS)
def test_three_derivations_agree_on_states_that_keep_the_rows(name):
    plant, rng = plant_of(name), np.random.default_rng(1)
    ways = [derive(plant.system, method) for method in (kb.NewtonEuler(), kb.Lagrange(), kb.Kane())]
    parameters = [p.value for p in plant.machine.free_parameters]
    for _ in range(2):
        state = random_state(plant, rng)
        first, *others = ([np.array(value) for value in _equations(way, state, parameters)] for way in ways)
        for other in others:
            assert max(relative_gap(*pair) for pair in zip(other, first, strict=True)) < ROUNDING


def _equations(equations: kb.Equations, state: kb.State, parameters: list[float]) -> list[Any]:
    import casadi as ca

    s = equations.symbols
    function = ca.Function("equations", [s.q, s.v, s.p], [equations.mass_matrix, equations.bias])
    return function.call([ca.DM(state.q), ca.DM(state.v), ca.DM(parameters)])


@pytest.mark.parametrize(("name", "options"), [(name, options) for name, options, *_ in SIZES])
def test_scenarios_run_with_closed_loops_and_a_balanced_energy(name, options):
    case = kb.scenario(name, **options)
    run = kb.simulate(case.system, 1.5, control=case.control)
    assert np.abs(run.residual).max() < 1e-13
    assert np.abs(run.energy_balance).max() < 1e-5
    limits = [motor.limit for motor in case.system.machine.actuators]
    assert (np.abs(run.actuation).max(axis=0) < limits).all()
    way = np.array([run[f"platform.{axis}"] for axis in "xyz"])
    assert np.ptp(way, axis=1).max() > 0.02


@pytest.mark.parametrize("actuators", ["1-6", "1-5"])
def test_the_sliders_lead_the_platform_round_the_circle(actuators):
    case = kb.scenario("pus-upu", actuators=actuators)
    run = kb.simulate(case.system, case.duration, control=case.control)
    late = run.time > 1.5
    radius = np.hypot(run["platform.x"], run["platform.y"])[late]
    assert_allclose(radius, 0.1, rtol=0, atol=8e-3)  # springs give way
    assert_allclose(run["platform.z"], case.system.machine.start.hold[0][1].position[2], rtol=0, atol=3e-3)


def test_a_rod_in_the_place_of_two_gives_the_same_motion():
    runs = []
    for rods in ("pairs", "single"):
        case = kb.scenario("delta", rods=rods)
        runs.append(kb.simulate(case.system, 1.0, control=case.control, stepper=kb.RungeKutta4(1e-3)))
    for name in ("platform.x", "platform.y", "platform.z", "leg2.arm.angle"):
        assert_allclose(runs[0][name], runs[1][name], rtol=0, atol=1e-9)
    assert_allclose(runs[0].actuation, runs[1].actuation, rtol=0, atol=1e-7)
    turn = np.abs(runs[0].q[:, [runs[0].plant.coordinates.index(f"platform.q{c}") for c in "xyz"]])
    assert turn.max() < 1e-12  # pairs of rods keep it level


def test_a_third_motor_leaves_the_freedoms_as_they_are():
    two, three = (kb.build(kb.load("five-bar", motors=count)) for count in (2, 3))
    assert three.actuators == (*two.actuators, "elbow")
    q, v = three.start
    pushed = three.motion(q, v, actuation=[0.0, 0.0, 1.0]).acceleration
    assert np.abs(pushed - two.motion(q, v).acceleration).max() > 1.0


class Peer:
    """A robot in Pinocchio, its numbers those of kalaba's machine; the platform is free and stands last."""

    def __init__(self, plant: kb.Plant) -> None:
        self.pin = pytest.importorskip("pinocchio")
        self.plant = plant
        self.number = {p.name: p.value for p in plant.machine.parameters}
        self.model = self.pin.Model()
        self.model.gravity.linear = np.array([0.0, 0.0, -9.81])
        self.balls: list[tuple[int, Any, Any]] = []  # joint of the rod, its end, the seat on the platform
        {"delta": self._delta_legs, "stewart": self._stewart_legs}[plant.system.name]()
        platform = self._joint(0, self.pin.JointModelFreeFlyer(), (0, 0, 0), "platform", self._plate())
        self.constraints, self.memory = self.pin.StdVec_RigidConstraintModel(), self.pin.StdVec_RigidConstraintData()
        for joint, end, seat in self.balls:
            kind, axes = self.pin.ContactType.CONTACT_3D, self.pin.ReferenceFrame.LOCAL
            tip, place = (self.pin.SE3(np.eye(3), np.array(point, dtype=float)) for point in (end, seat))
            ball = self.pin.RigidConstraintModel(kind, self.model, joint, tip, platform, place, axes)
            self.constraints.append(ball)
            self.memory.append(ball.createData())
        self.data = self.model.createData()
        self.pin.initConstraintDynamics(self.model, self.data, self.constraints, self.memory)

    def _joint(self, parent: int, kind: Any, place: Any, name: str, inertia: Any = None, turn: float = 0.0) -> int:
        c, s = np.cos(turn), np.sin(turn)
        at = self.pin.SE3(np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]]), np.array(place, dtype=float))
        joint = self.model.addJoint(parent, kind, at, name)
        if inertia is not None:
            self.model.appendBodyToJoint(joint, inertia, self.pin.SE3.Identity())
        return joint

    def _rod(self, path: str, axis: tuple[int, int, int]) -> Any:
        length, mass, a = self.number[f"{path}.length"], self.number[f"{path}.mass"], np.array(axis, dtype=float)
        return self.pin.Inertia(mass, a * length / 2, mass * length**2 / 12 * (np.eye(3) - np.outer(a, a)))

    def _plate(self) -> Any:
        radius, length, mass = (self.number[f"platform.{word}"] for word in ("radius", "length", "mass"))
        across, along = mass * (3 * radius**2 + length**2) / 12, mass * radius**2 / 2
        return self.pin.Inertia(mass, np.zeros(3), np.diag([across, across, along]))

    def _stewart_legs(self) -> None:
        for i in range(6):
            side = 1 if i % 2 else -1
            out, on = (np.radians(120 * (i // 2) + side * spread) for spread in (50, 10))
            foot = self.number["base_radius"] * np.array([np.cos(out), np.sin(out), 0])
            cross = self._joint(0, self.pin.JointModelRX(), foot, f"cross{i}")
            tube = self._joint(
                cross, self.pin.JointModelRY(), (0, 0, 0), f"tube{i}", self._rod(f"leg{i + 1}.tube", (0, 0, 1))
            )
            rod = self._joint(
                tube, self.pin.JointModelPZ(), (0, 0, 0), f"rod{i}", self._rod(f"leg{i + 1}.rod", (0, 0, -1))
            )
            self.balls.append((rod, (0, 0, 0), self.number["platform_radius"] * np.array([np.cos(on), np.sin(on), 0])))

    def _delta_legs(self) -> None:
        for i, turn in enumerate(2 * np.pi / 3 * np.arange(3)):
            out, across = np.array([np.cos(turn), np.sin(turn), 0]), np.array([-np.sin(turn), np.cos(turn), 0])
            path, width = f"leg{i + 1}", self.number[f"leg{i + 1}.half_width"]
            foot = self.number["base_radius"] * out
            arm = self._joint(0, self.pin.JointModelRY(), foot, f"arm{i}", self._rod(f"{path}.arm", (1, 0, 0)), turn)
            for name, side in (("left", width), ("right", -width)):
                elbow = (self.number[f"{path}.arm.length"], side, 0)
                cross = self._joint(arm, self.pin.JointModelRY(), elbow, f"{path}{name}cross")
                inertia = self._rod(f"{path}.{name}", (0, 0, -1))
                rod = self._joint(cross, self.pin.JointModelRX(), (0, 0, 0), f"{path}{name}", inertia)
                end = (0, 0, -self.number[f"{path}.{name}.length"])
                self.balls.append((rod, end, self.number["platform_radius"] * out + side * across))

    def acceleration(self, state: kb.State, force: np.ndarray) -> np.ndarray:
        """v̇ in kalaba's coordinates; Pinocchio's platform moves in its own axes: v̇ = R (v̇_own + ω × v_own)."""
        q, v = state
        w, x, y, z = q[-4:]
        R = self.pin.Quaternion(w, x, y, z).matrix()
        own_v, own_force = v.copy(), force.copy()
        own_v[-6:-3], own_force[-6:-3] = R.T @ v[-6:-3], R.T @ force[-6:-3]
        own_q, settings = np.concatenate([q[:-4], [x, y, z, w]]), self.pin.ProximalSettings(1e-14, 0.0, 1)
        found = self.pin.constraintDynamics(
            self.model, self.data, own_q, own_v, own_force, self.constraints, self.memory, settings
        ).copy()
        found[-6:-3] = R @ (found[-6:-3] + np.cross(v[-3:], own_v[-6:-3]))
        return found

    def forces(self, state: kb.State, wanted: np.ndarray) -> np.ndarray:
        """Motor forces that give the platform a rate of its twist."""
        B = self.plant.actuation_map(state.q)
        return needed(
            [self.acceleration(state, b) for b in (np.zeros(len(B)), *B.T)],
            self.plant.jacobian("platform", state.q),
            wanted,
        )


def needed(accelerations: list[np.ndarray], jacobian: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """u of J (v̇₀ + Y u) = wanted, from v̇ without forces and with a unit force at one motor after the other."""
    free, *pushed = accelerations
    Y = np.column_stack([push - free for push in pushed])
    return np.linalg.lstsq(jacobian @ Y, wanted - jacobian @ free, rcond=1e-9)[0]


def states_nearby(plant: kb.Plant, count: int, rng: np.random.Generator) -> list[kb.State]:
    """States that keep every row, a decimetre and a fifth of a radian around the start, by Newton steps."""
    moves, rest, states = closing(plant), np.zeros(len(plant.velocities)), []
    free = free_directions(plant, plant.start.q)
    for _ in range(count):
        q = moves.retract(plant.start.q, free @ rng.normal(size=free.shape[1]) * 0.08)
        while np.abs(gap := plant.residual(q)).max() > 1e-13:  # four steps at most
            q = moves.retract(q, -np.linalg.lstsq(plant.constraint(q, rest)[0], gap, rcond=None)[0])
        N = null_space(plant.constraint(q, rest)[0])
        states.append(kb.State(q, N @ rng.normal(size=N.shape[1])))
    return states


@pytest.mark.parametrize("name", ["delta", "stewart"])
def test_forces_for_a_motion_are_those_of_pinocchio(name):
    """At 100 poses; the worst found is 7e-15 of the largest force with delta, 2e-13 with stewart."""
    plant, rng = plant_of(name), np.random.default_rng(7)
    peer, k = Peer(plant), len(plant.actuators)
    for state in states_nearby(plant, 100, rng):
        J = plant.jacobian("platform", state.q)
        A, b = plant.constraint(*state)
        wanted = J @ (np.linalg.lstsq(A, b, rcond=None)[0] + null_space(A) @ rng.normal(size=k) * 3.0)
        found = [plant.motion(*state, actuation=u).acceleration for u in (np.zeros(k), *np.eye(k))]
        expected = peer.forces(state, wanted)
        forces = needed(found, J, wanted)
        assert np.abs(forces - expected).max() < SAME_FORCE * np.abs(expected).max()
        given = plant.motion(*state, actuation=forces).acceleration
        assert_allclose(given, peer.acceleration(state, plant.actuation_map(state.q) @ forces), rtol=0, atol=1e-8)
        assert_allclose(J @ given, wanted, rtol=0, atol=1e-9)  # the platform's Jacobian has no drift
