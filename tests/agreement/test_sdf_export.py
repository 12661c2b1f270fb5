"""Machines written as SDF have the same mechanics when they are read back."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.files.sdf.machine import read
from kalaba.files.sdf.writing import write
from kalaba.model.formats import LeftOutWarning

# Some hundred roundings of numbers up to 1e3.
ROUNDING = 1e-10


def built(system):
    return kb.build(system, backend=kb.Interpreted())


class Pair:
    """A machine and the one that is read back: q = q_start + T q' and v = T v' for joints with scalar coordinates."""

    def __init__(self, system, path):
        self.notes = write(system, path)
        described = read(path)
        self.system, self.again, self.read_notes = system, described.system, described.notes
        self.here, self.there = built(system), built(self.again)
        renamed = {body.name: body.name.replace(".", "_") for body in system.machine.bodies}
        J = [self.here.jacobian(one, self.here.start.q) for one in renamed]
        K = [self.there.jacobian(other, self.there.start.q) for other in renamed.values()]
        self.bodies = renamed
        self.T = np.linalg.pinv(np.vstack(J)) @ np.vstack(K)

    def states(self, count=3):
        """States of both, off the start, that keep the loops."""
        rng = np.random.default_rng(2)
        for _ in range(count):
            size = len(self.there.velocities)
            state = self.there.project((rng.uniform(-0.2, 0.2, size), rng.normal(size=size)))
            yield (self.here.start.q + self.T @ state.q, self.T @ state.v), (state.q, state.v)

    def counts(self):
        return [
            (len(plant.velocities), len(plant.constraints), kb.check(system).freedoms)
            for plant, system in ((self.here, self.system), (self.there, self.again))
        ]


ASKEW = {
    "wheel.angle": 0.3,
    "rail.travel": 0.2,
    "cross.angle1": 0.5,
    "cross.angle2": -0.4,
    "rod.angle": 0.7,
    "bolt.angle": 1.1,
    "puck.angle": 0.9,
}


def machine_of_all_kinds():
    """Every joint that SDF has or that is made of several, with springs, limits, motors and a gear; started askew."""
    solid = kb.Solid(1.5, com=(0.1, 0.02, -0.03), inertia=(0.02, 0.03, 0.025, 0.001, -0.002, 0.003))
    return kb.System(
        "all-kinds",
        parts=(
            kb.Body(
                "wheel", solid, at=kb.Pose((0, 0, 1), rpy=(0.3, 0.2, 0.1)), joint=kb.Revolute(kb.Y, limits=(-1, 2))
            ),
            kb.Body("rail", solid, "wheel", (0.3, 0, 0), kb.Prismatic((0.6, 0, 0.8))),
            kb.Body("cross", solid, "rail", kb.Pose((0, 0.2, 0), rpy=(0, 0, 0.4)), kb.Universal(kb.X, kb.Z)),
            kb.Body("rod", solid, "cross", (0, 0, 0.2), kb.Cylindrical(kb.X)),
            kb.Body("bolt", solid, "rod", (0.1, 0, 0.2), kb.Screw(kb.Z, 0.05)),
            kb.Body("lid", solid, "bolt", (0, 0, 0.1), kb.Weld()),
            kb.Body("puck", solid, at=(2, 0, 0), joint=kb.Planar()),
            kb.Frame("mark", "lid", kb.Pose((0, 0.1, 0), rpy=(0.1, 0, 0))),
            kb.Frame("post", at=(0, 0, 2)),
            kb.Actuator("hip.motor", "wheel.angle", 7.0),
            kb.Actuator("push.motor", "rail.travel"),
            kb.Spring("soft", "rail.travel", stiffness=30.0, rest=0.3, damping=0.4, friction=0.2),
            kb.Spring("twist", "2*cross.angle2 + 0.1", stiffness=3.0, rest=0.5),
            kb.Constraint("gear", "puck.angle - 3*wheel.angle"),
        ),
        gravity=(0.5, 0, -3.7),
        start=kb.Start(guess=ASKEW),
    )


MACHINES = ("four-bar", "five-bar", "sarrus", "bennett", "puma560")


@pytest.mark.parametrize("name", [*MACHINES, "all-kinds"])
def test_a_machine_read_back_has_the_same_equations(name, tmp_path):
    system = machine_of_all_kinds() if name == "all-kinds" else kb.load(name)
    pair = Pair(system, tmp_path / "x.sdf")
    here, there, T = pair.here, pair.there, pair.T
    assert len(set(pair.counts())) == 1
    for (q, v), (p, w) in pair.states():
        assert np.abs(here.residual(q)).max(initial=0.0) < ROUNDING
        assert there.mass_matrix(p) == pytest.approx(T.T @ here.mass_matrix(q) @ T, abs=ROUNDING)
        assert there.bias(p, w) == pytest.approx(T.T @ here.bias(q, v), abs=ROUNDING)
        assert columns(there.actuation_map(p)) == columns(T.T @ here.actuation_map(q))
        force = np.linspace(1.0, 2.0, len(v))
        a, b = here.motion(q, v, force).acceleration, there.motion(p, w, T.T @ force).acceleration
        assert T @ b == pytest.approx(a, rel=ROUNDING, abs=ROUNDING)


def columns(matrix):
    """Columns in an order of their own: motors may be in another one."""
    return sorted(tuple((np.round(column, 9) + 0.0).tolist()) for column in matrix.T)


@pytest.mark.parametrize("name", ["delta", "stewart", "two-arm-screw"])
def test_bodies_move_alike_where_the_tree_is_another(name, tmp_path):
    """A load that floats here hangs on an arm there: as many freedoms, and a step from the same speeds goes alike."""
    pair = Pair(kb.load(name), tmp_path / "x.sdf")
    here, there = pair.here, pair.there
    (n, rows, freedoms), (m, fewer, again) = pair.counts()
    assert freedoms == again
    assert n - rows == m - fewer
    assert m < n
    w = there.project((there.start.q, np.random.default_rng(3).normal(size=m) / 3)).v
    one = here.step(kb.State(here.start.q, pair.T @ w))
    other = there.step(kb.State(there.start.q, w))
    for body, again in pair.bodies.items():
        place, place_again = here.pose(body, one.q), there.pose(again, other.q)
        assert place_again.position == pytest.approx(place.position, abs=ROUNDING)
        assert place_again.rotation == pytest.approx(place.rotation, abs=ROUNDING)
        # steps of 1 ms leave 1e-11 m/s of truncation, which depends on the coordinates
        assert there.velocity(again, other.q, other.v) == pytest.approx(here.velocity(body, one.q, one.v), abs=1e-9)


def test_limits_motors_springs_and_gravity_are_those_of_the_machine(tmp_path):
    pair = Pair(machine_of_all_kinds(), tmp_path / "x.sdf")
    machine = pair.again.machine
    assert {a.name: a.limit for a in machine.actuators} == {"hip.motor": 7.0, "push.motor": np.inf}
    assert machine.bodies[0].joint.limits == pytest.approx((-1.3, 1.7), abs=1e-15)  # from the start at 0.3
    assert pair.again.gravity == pair.system.gravity
    for frame in ("mark", "post"):
        poses = [plant.pose(frame, plant.start.q) for plant in (pair.here, pair.there)]
        assert poses[0].position == pytest.approx(poses[1].position, abs=1e-14)
        assert poses[0].rotation == pytest.approx(poses[1].rotation, abs=1e-14)
    assert not pair.notes


def test_what_sdf_cannot_hold_is_listed_once_by_name(tmp_path):
    solid = kb.Solid(1.0, inertia=(1, 1, 1))
    system = kb.System(
        "more",
        parts=(
            kb.Body("one", solid, joint=kb.Revolute(kb.Y)),
            kb.Body("two", solid, "one", (1, 0, 0), kb.Revolute(kb.Y)),
            kb.Rotor("spin", "one.angle", 0.1),
            kb.Actuator("both", "one.angle + two.angle"),
            kb.Spring("belt", "one.angle - 2*two.angle", stiffness=3.0),
            kb.Connection("rod", "two", "world", (0.5, 0, 0), kb.Distance(0.5)),
        ),
    )
    with pytest.warns(LeftOutWarning) as told:
        system.save(tmp_path / "more.sdf")
    (line,) = [str(warning.message) for warning in told]
    assert told[0].filename == __file__  # the line that saves it
    for name in ("spin", "both", "belt", "rod (Distance)"):
        assert line.count(name) == 1


def test_flexible_bodies_and_mimics_of_nothing_are_refused(tmp_path):
    with pytest.raises(FileError, match="coupler: SDF holds rigid bodies"):
        write(kb.load("flexible-four-bar"), tmp_path / "x.sdf")
    write(machine_of_all_kinds(), tmp_path / "x.sdf")
    text = (tmp_path / "x.sdf").read_text()
    (tmp_path / "y.sdf").write_text(text.replace('<mimic joint="hip"', '<mimic joint="hop"'))
    with pytest.raises(FileError, match=r"y\.sdf:\d+.*expected an axis of two joints"):
        read(tmp_path / "y.sdf")
