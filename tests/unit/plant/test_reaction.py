"""Reactions against Newton and Euler of a body cut free by hand."""

from math import cos, sin

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError

EXACT = 1e-9
BACKENDS = pytest.mark.parametrize("backend", [kb.Interpreted(), kb.Native()], ids=["interpreted", "native"])


def free_pendulum(joint: kb.Revolute, at=(0.0, 0.0, 0.0)) -> kb.System:
    """A rod in space, held by its end: a pendulum in maximal coordinates."""
    solid = kb.Solid(2.0, com=(0.3, 0, 0), inertia=(0.01, 0.06, 0.06))
    return kb.System("pendulum", (kb.Body("rod", solid), kb.Connection("pin", "rod", at=at, joint=joint)))


def swinging(plant: kb.Plant, angle: float, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """Turned about −y by an angle: a positive one lifts."""
    q = np.array([0, 0, 0, cos(angle / 2), 0, -sin(angle / 2), 0])
    return q, np.array([0, 0, 0, 0, -rate, 0])


@BACKENDS
def test_the_pin_of_a_pendulum_carries_weight_and_centripetal_force(backend):
    plant = kb.build(free_pendulum(kb.Revolute(-kb.Y)), backend=backend)
    m, c, g, angle, w = 2.0, 0.3, 9.81, 0.4, 3.0
    about_pin = 0.06 + m * c**2
    found = plant.reaction("pin", *swinging(plant, angle, w))
    alpha = -m * g * c * cos(angle) / about_pin  # θ̈
    along, across = np.array([cos(angle), 0, sin(angle)]), np.array([-sin(angle), 0, cos(angle)])
    expected = m * (c * alpha * across - c * w**2 * along) + m * g * np.array([0, 0, 1])
    assert found.force == pytest.approx(expected, abs=EXACT)
    assert found.torque == pytest.approx([0, 0, 0], abs=EXACT)
    assert found.is_unique.all()


def test_a_hanging_pendulum_at_rest_pulls_by_its_weight():
    plant = kb.build(free_pendulum(kb.Revolute(-kb.Y)), backend=kb.Interpreted())
    found = plant.reaction("pin", *swinging(plant, -np.pi / 2, 0.0))
    assert found.force == pytest.approx([0, 0, 2.0 * 9.81], abs=EXACT)


def test_a_weld_carries_the_moment_of_a_cantilever():
    system = free_pendulum(kb.Revolute(-kb.Y)).remove("pin").add(kb.Connection("pin", "rod", joint=kb.Weld()))
    plant = kb.build(system, backend=kb.Interpreted())
    found = plant.reaction("pin", *plant.start, wrenches={"rod": [1.0, 2.0, 3.0, 0.1, 0.2, 0.3]})
    assert found.force == pytest.approx([-1.0, -2.0, 2.0 * 9.81 - 3.0], abs=EXACT)
    assert found.torque == pytest.approx([-0.1, -2.0 * 9.81 * 0.3 - 0.2, -0.3], abs=EXACT)


@pytest.mark.parametrize(
    "joint",
    [
        kb.Revolute(kb.Axis(1, 2, 3)),
        kb.Universal(kb.X, kb.Y),
        kb.Cylindrical(-kb.Y),
        kb.Planar(kb.Axis(0, 1, 1)),
        kb.Spherical(),
        kb.Prismatic(kb.Z),
        kb.Weld(),
        kb.Screw(kb.X, 0.1),
    ],
    ids=lambda j: type(j).__name__,
)
def test_the_wrench_is_what_moves_the_body_beside_its_weight(joint):
    """Newton and Euler of the one body, on a turned seat, moving: force and moment at its origin."""
    at = kb.Pose((0.2, -0.1, 0.3), rpy=(0.4, -0.7, 1.1))
    solid = kb.Solid(2.0, com=(0.3, 0.1, -0.2), inertia=(0.1, 0.12, 0.15, 0.01, 0.0, 0.02))
    system = kb.System(
        "one",
        (
            kb.Body("b", solid, at=kb.Pose(rpy=(0.1, 0.2, 0.3))),
            kb.Connection("pin", "b", at=at, joint=joint),
            kb.Frame("c", "b", (0.3, 0.1, -0.2)),
        ),
        start=kb.Start(guess={"b": kb.Pose((0.3, 0, 0.2), rpy=(0.5, -0.4, 1.0))}),
    )
    plant = kb.build(system, backend=kb.Interpreted())
    q, _ = plant.start
    A, _ = plant.constraint(q, np.zeros(6))
    tangent = np.linalg.svd(A)[2][len(A) :]
    v = tangent.T @ np.linspace(1, 2, len(tangent))
    acceleration, _ = plant.motion(q, v)
    found = plant.reaction("pin", q, v)
    h = 1e-6
    rate = [plant.momentum(*_moved(plant, q, v, acceleration, s * h)) for s in (1, -1)]
    change = (rate[0] - rate[1]) / (2 * h)  # d/dt of linear and angular momentum about the world's origin
    c, origin = plant.pose("c", q).position, plant.pose("b", q).position
    weight = np.array([0, 0, -2.0 * 9.81])
    assert found.force == pytest.approx(change[:3] - weight, abs=1e-6)
    moment = change[3:] - np.cross(c, weight) - np.cross(origin, found.force)
    assert found.torque == pytest.approx(moment, abs=1e-6)
    assert found.is_unique.all()


def _moved(plant, q, v, acceleration, h):
    from states import moved

    return moved(plant.machine, q, v * h + acceleration * h * h / 2), v + acceleration * h


@pytest.mark.parametrize(
    "joint", [kb.Revolute(-kb.Y), kb.Universal(kb.X, kb.Z), kb.Spherical()], ids=lambda j: type(j).__name__
)
def test_the_wrench_does_no_power_on_what_the_joint_allows(joint):
    plant = kb.build(free_pendulum(joint), backend=kb.Interpreted())
    q, _ = plant.start
    A, _ = plant.constraint(q, np.zeros(6))
    for v in np.linalg.svd(A)[2][len(A) :]:
        found = plant.reaction("pin", q, v)
        twist = plant.velocity("rod", q, v)
        assert found.force @ twist[:3] + found.torque @ twist[3:] == pytest.approx(0.0, abs=EXACT)


def test_wrenches_of_all_connections_are_the_constraint_force():
    """Σ Jᵀ w over children less over parents, at the child's origin, is Qc."""
    system = kb.load("five-bar")
    plant = kb.build(system, backend=kb.Interpreted())
    q, v = plant.start
    force = plant.motion(q, v).constraint_force
    connection = next(c for c in plant.machine.closures)
    found = plant.reaction(connection.name, q, v)
    total = plant.jacobian(connection.child, q).T @ np.concatenate([found.force, found.torque])
    if connection.parent != "world":
        arm = plant.pose(connection.child, q).position - plant.pose(connection.parent, q).position
        back = np.concatenate([-found.force, -found.torque - np.cross(arm, found.force)])
        total += plant.jacobian(connection.parent, q).T @ back
    assert total == pytest.approx(force, abs=EXACT)


def test_what_dependent_rows_leave_open_is_flagged():
    """A plane loop of hinges in space: nothing tells how it carries load across its plane."""
    plant = kb.build(kb.load("four-bar"), backend=kb.Interpreted())
    found = plant.reaction("pin", *plant.start)
    assert list(found.is_unique) == [True, False, True, False, True, False]
    assert found.force[1] == pytest.approx(0.0, abs=EXACT)  # the least of them


@BACKENDS
def test_the_unique_ones_are_those_of_newton_and_euler_by_hand(backend):
    """The rocker of the four-bar cut free at both ends: moments about the coupler's pin give the pin on the ground."""
    system = kb.load("four-bar")
    plant = kb.build(
        kb.System(
            "four-bar",
            system.parts,
            start=kb.Start(hold=system.start.hold, guess=system.start.guess, speed={"crank.angle": 4.0}),
        ),
        backend=backend,
    )
    q, v = plant.start
    acceleration, _ = plant.motion(q, v, actuation=[0.7])
    found = plant.reaction("pin", q, v, actuation=[0.7])
    coupler_force = _cut_coupler_and_rocker(plant, q, v, acceleration, found)
    crank = 0.3 * 0.15**2 / 3 * acceleration[0]
    tip = plant.pose("crank.tip", q).position
    centre = tip / 2
    # Euler of the crank about its pivot (the y axis points into the page: a positive angle turns about −y)
    moment = -np.cross(centre, [0, 0, -0.3 * 9.81])[1] - np.cross(tip, -coupler_force)[1] + 0.7
    assert crank == pytest.approx(moment, abs=1e-7)


def _cut_coupler_and_rocker(plant, q, v, acceleration, found) -> np.ndarray:
    """Force of the crank on coupler and rocker together, from their linear momentum and the pin's force."""
    h = 1e-6
    total = np.zeros(3)
    for name, length, mass in (("coupler", 0.4, 0.8), ("rocker", 0.3, 0.6)):

        def velocity(s: float, name=name, length=length) -> np.ndarray:
            at, speed = q + s * v + s * s * acceleration / 2, v + s * acceleration
            twist = plant.velocity(name, at, speed)
            middle = plant.pose(f"{name}.tip", at).position - plant.pose(name, at).position
            return twist[:3] + np.cross(twist[3:], middle / 2)

        total += mass * (velocity(h) - velocity(-h)) / (2 * h)
    return total - np.array([0, 0, -1.4 * 9.81]) - found.force * [1, 0, 1]


def test_reactions_with_a_massless_link_are_found_too():
    """A rod without mass between pin and load carries the load's weight along itself."""
    parts = (
        kb.Body("rod", kb.Rod(0.5, mass=0.0), joint=kb.Revolute(-kb.Y)),
        kb.Body("load", kb.Box((0.1, 0.1, 0.1), mass=2.0), joint=kb.Prismatic(kb.Z)),
        kb.Connection("pin", "load", parent="rod.tip", at=(0, 0, 0), joint=kb.Spherical()),
    )
    plant = kb.build(
        kb.System("s", parts, start=kb.Start(guess={"rod.angle": -1.6, "load.travel": -0.5})), backend=kb.Interpreted()
    )
    found = plant.reaction("pin", *plant.start)
    assert found.force[2] == pytest.approx(2.0 * 9.81, abs=1e-7)


def test_an_unknown_connection_lists_the_known():
    plant = kb.build(kb.load("four-bar"), backend=kb.Interpreted())
    with pytest.raises(ModelError, match=r"four-bar: no connection 'pni'; did you mean pin\?"):
        plant.reaction("pni", *plant.start)
