import pickle
from math import pi

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError

HINGE = kb.Revolute(-kb.Y)


def arm(length: float = 0.5) -> kb.System:
    return kb.System(
        "arm",
        (
            kb.Parameter("reach", 0.2, "m"),
            kb.Body("link", kb.Rod(length, mass=1.0), joint=HINGE),
            kb.Frame("flange", "link.tip", at=("reach", 0, 0)),
        ),
        start=kb.Start(guess={"link.angle": 0.1}),
    )


def value(system: kb.System, path: str) -> float:
    return next(p.value for p in system.machine.parameters if p.name == path)


def position(system: kb.System, frame: str, q=None) -> np.ndarray:
    plant = kb.build(system, backend=kb.Interpreted())
    return plant.pose(frame, plant.start.q if q is None else q).position


def test_parts_are_added_and_removed_without_a_change_of_the_first():
    one = arm()
    more = one.add(kb.Actuator("motor", "link.angle"), kb.Output("height", "flange.z"))
    assert len(one.parts) == 3
    assert [p.name for p in more.parts][3:] == ["motor", "height"]
    assert more.remove("motor", "height") == one


def test_systems_are_values():
    assert arm() == arm()
    assert hash(arm()) == hash(arm())
    assert arm() != arm(0.6)
    copy = pickle.loads(pickle.dumps(arm()))
    assert copy == arm()
    assert copy.machine == arm().machine
    assert len({arm(), arm(), arm().with_parameters({"reach": 0.3})}) == 2


def test_a_parameter_moves_what_is_written_in_it():
    assert position(arm(), "flange", [0.0]) == pytest.approx([0.7, 0, 0])
    assert position(arm().with_parameters({"reach": 0.5}), "flange", [0.0]) == pytest.approx([1.0, 0, 0])
    assert position(arm().with_parameters({"link.length": 1.0}), "flange", [0.0]) == pytest.approx([1.2, 0, 0])


def test_later_values_replace_earlier_ones_and_others_stay():
    changed = arm().with_parameters({"reach": 0.5, "link.mass": 2.0}).with_parameters({"reach": 0.7})
    assert (value(changed, "reach"), value(changed, "link.mass")) == (0.7, 2.0)


def test_of_three_levels_the_outermost_value_counts():
    inner = arm().with_parameters({"reach": 0.3, "link.mass": 2.0, "link.length": 2.0})
    middle = kb.System("middle", (inner.place("arm", parameters={"reach": 0.4, "link.mass": 3.0}),))
    middle = middle.with_parameters({"arm.reach": 0.5})
    outer = kb.System("outer", (middle.place("m", parameters={"arm.reach": 0.6}), middle.place("n")))
    assert value(outer, "m.arm.link.length") == 2.0  # the template's own
    assert value(outer, "m.arm.link.mass") == 3.0  # the placement replaces the template's
    assert value(outer, "m.arm.reach") == 0.6  # the outer placement replaces all
    assert value(outer, "n.arm.reach") == 0.5
    assert value(outer.with_parameters({"m.arm.reach": 0.7}), "m.arm.reach") == 0.7


def test_of_three_levels_the_outermost_start_counts():
    inner = arm()
    placed = inner.place("arm", start=kb.Start(guess={"link.angle": 0.2}))
    middle = kb.System("middle", (placed,), start=kb.Start(hold={"arm.link.angle": 0.3}))
    outer = kb.System("outer", (middle.place("m"), middle.place("n", start=kb.Start(hold={"arm.link.angle": 0.4}))))
    assert dict(outer.machine.start.hold) == {"m.arm.link.angle": 0.3, "n.arm.link.angle": 0.4}
    assert not outer.machine.start.guess
    last = kb.System("last", outer.parts, start=kb.Start(guess={"m.arm.link.angle": 0.5})).machine.start
    assert (dict(last.hold), dict(last.guess)) == ({"n.arm.link.angle": 0.4}, {"m.arm.link.angle": 0.5})


def test_gravity_is_that_of_the_outermost_system():
    moon = arm().with_parameters({"gravity.z": -1.6})
    both = kb.System("both", (moon.place("arm"),))
    assert (value(moon, "gravity.z"), value(both, "gravity.z")) == (-1.6, -9.81)
    assert value(both.with_parameters({"gravity.z": -3.7}), "gravity.z") == -3.7


def test_world_inside_a_system_is_what_it_stands_on():
    """Placed at a turned seat on a moving body: the frame `base` on world goes along, the words world.x mean it."""
    inner = arm().add(
        kb.Frame("base", "world", at=(0, 0, 0.1)),
        kb.Output("out", "distance(world, flange)"),
        kb.Output("x", "world.x"),
    )
    outer = kb.System(
        "outer",
        (
            kb.Body("cart", kb.Box((1, 1, 1), mass=1.0), joint=kb.Prismatic(kb.X)),
            inner.place("arm", parent="cart", at=kb.Pose((0, 0, 1), rpy=(0, 0, pi / 2))),
        ),
    )
    plant = kb.build(outer, backend=kb.Interpreted())
    q = np.array([2.0, 0.0])
    assert plant.pose("arm", q).position == pytest.approx([2, 0, 1])
    assert plant.pose("arm.base", q).position == pytest.approx([2, 0, 1.1])
    assert plant.pose("arm.flange", q).position == pytest.approx([2, 0.7, 1])
    assert plant.output("arm.out", q, np.zeros(2)) == pytest.approx(0.7)
    assert plant.output("arm.x", q, np.zeros(2)) == pytest.approx(2.0)


def test_a_body_on_a_placed_frame_extends_that_tree():
    tool = kb.Body("tool", kb.Rod(0.3, mass=0.2), parent="arm.flange", joint=HINGE)
    for parts in ((arm().place("arm"), tool), (tool, arm().place("arm"))):  # the order does not matter
        system = kb.System("s", parts)
        assert not system.machine.rows
        q = dict(zip((c.name for c in system.machine.coordinates), (0.0, 0.0), strict=True)) | {"tool.angle": pi / 2}
        assert position(system, "tool.tip", list(q.values())) == pytest.approx([0.7, 0, 0.3])


def test_coordinates_stand_in_declared_order_declared_ones_first():
    system = kb.System(
        "s",
        (
            kb.Body("b", kb.Rod(1.0, mass=1.0), parent="a", joint=HINGE),
            kb.Body("a", kb.Box((1, 1, 1), mass=1.0)),
            kb.Body("c", kb.Rod(1.0, mass=1.0), joint=kb.Universal(q=("y", "2*x"))),
        ),
        coordinates=("y", "x"),
    )
    names = [c.name for c in system.machine.coordinates]
    assert names == ["y", "x", "b.angle", "a.x", "a.y", "a.z", "a.qw", "a.qx", "a.qy", "a.qz"]
    assert [c.name for c in system.machine.velocities][3:] == ["a.vx", "a.vy", "a.vz", "a.wx", "a.wy", "a.wz"]
    assert [b.name for b in system.machine.bodies] == ["a", "b", "c"]


def test_coordinates_have_the_units_of_what_they_move():
    system = kb.System(
        "s",
        (
            kb.Body("a", kb.Box((1, 1, 1), mass=1.0), joint=kb.Planar(kb.Z, q=("x", 0, "2*theta"))),
            kb.Body("b", kb.Box((1, 1, 1), mass=1.0)),
            kb.Body("c", kb.Rod(1.0, mass=1.0), joint=kb.Prismatic(kb.Z)),
        ),
        coordinates=("theta", "x", "idle"),
    )
    units = {c.name: c.unit for c in system.machine.coordinates}
    assert [units[n] for n in ("theta", "x", "idle", "b.x", "b.qw", "c.travel")] == ["rad", "m", "1", "m", "1", "m"]
    speeds = {c.name: c.unit for c in system.machine.velocities}
    assert [speeds[n] for n in ("theta", "x", "b.vx", "b.wx", "c.travel")] == ["rad/s", "m/s", "m/s", "rad/s", "m/s"]


@pytest.mark.parametrize("given", ["crank", kb.Body("a", kb.Rod(1.0, mass=1.0)), None, 3])
def test_parts_and_coordinates_are_tuples(given):
    with pytest.raises(ModelError, match=r"s\.parts: expected a tuple, got .* ends with a comma"):
        kb.System("s", given)
    with pytest.raises(ModelError, match=r"s\.coordinates: expected a tuple"):
        kb.System("s", (), coordinates=given)


def test_a_start_is_a_start():
    with pytest.raises(ModelError, match=r"s\.start: expected kb\.Start"):
        kb.System("s", (), start={"a": 1})


@pytest.mark.parametrize("number", [np.float32(0.5), np.int64(1), 2])
def test_values_may_be_numpy_numbers(number):
    assert value(arm().with_parameters({"reach": number}), "reach") == float(number)


def test_a_system_of_nothing_is_a_system():
    plant = kb.build(kb.System("nothing", ()), backend=kb.Interpreted())
    assert plant.motion(*plant.start).acceleration.shape == (0,)
