"""Names become full paths; every expression may speak of every number, whatever the order of the parts."""

import sys

import pytest

import kalaba as kb
from kalaba.errors import ExpressionError, ModelError
from kalaba.model.flatten import flatten

HINGE = kb.Revolute(kb.Z)


def rod(name: str, **options) -> kb.Body:
    return kb.Body(name, kb.Rod(options.pop("length", 0.5), mass=1.0), joint=options.pop("joint", HINGE), **options)


def free(system: kb.System) -> set[str]:
    return {p.name for p in system.machine.free_parameters}


def test_numbers_that_are_zero_are_constants_and_others_symbols():
    system = kb.System("s", (rod("a", at=(0.0, 0.3, 0.0)),))
    assert free(system) == {"a.length", "a.mass", "a.at.y", "gravity.z"}


def test_a_number_given_as_an_expression_is_no_parameter_of_its_own():
    system = kb.System("s", (kb.Parameter("l", 0.5, "m"), rod("a", length="2*l")))
    assert "a.length" not in {p.name for p in system.machine.parameters}
    assert free(system.with_parameters({"a.length": 1.5})) >= {"a.length", "l"}  # until a value replaces it


def test_expressions_know_the_numbers_of_parts_that_come_later():
    system = kb.System(
        "s",
        (
            kb.Output("gap", "b.tip.x - pin.at.x + spring.rest"),
            kb.Actuator("motor", "a.angle*b.length"),
            rod("a", joint=kb.Revolute(kb.Z, q="theta*b.length")),
            kb.Spring("spring", "a.angle", rest=0.1),
            rod("b", parent="a.tip"),
            kb.Connection("pin", "b.tip", at=(0.7, 0, 0), joint=HINGE),
        ),
        coordinates=("theta",),
    )
    assert system.machine.outputs[0].value.names == {"b.tip.x", "pin.at.x", "spring.rest"}


def test_names_inside_a_placed_system_get_its_prefix():
    inner = kb.System(
        "inner",
        (rod("a"), kb.Output("o", "a.angle + distance(world, a.tip)"), kb.Constraint("c", {"row": "a.angle - t"})),
    )
    machine = kb.System("s", (kb.System("mid", (inner.place("x"),)).place("y"),)).machine
    assert machine.outputs[0].name == "y.x.o"
    assert str(machine.outputs[0].value) == "y.x.a.angle + distance(y.x, y.x.a.tip)"
    assert machine.rows == ("y.x.c.row",)
    assert machine.frames["y.x.a"].body == 0
    assert machine.frames["y.x"].body == -1


def test_rows_stand_in_declared_order():
    system = kb.System(
        "s",
        (
            rod("a"),
            kb.Constraint("first", "a.angle"),
            kb.Connection("pin", "a.tip", at=(0.5, 0, 0), joint=kb.Spherical()),
            kb.Constraint("last", {"u": "a.angle", "v": "rate(a.angle)"}),
        ),
    )
    assert system.machine.rows == ("first", "pin.x", "pin.y", "pin.z", "last.u", "last.v")
    assert system.machine.is_velocity_level == (False,) * 5 + (True,)


def test_a_velocity_named_as_such_makes_a_row_of_velocity_level():
    system = kb.System("s", (kb.Body("b", kb.Box((1, 1, 1), mass=1.0)), kb.Constraint("c", "b.wz - 1")))
    assert system.machine.is_velocity_level == (True,)


def test_parents_come_before_children_whatever_the_order():
    system = kb.System("s", (rod("c", parent="b.tip"), rod("b", parent="a.tip"), rod("a")))
    assert [b.name for b in system.machine.bodies] == ["a", "b", "c"]


def test_a_ring_of_parents_is_named():
    with pytest.raises(ModelError, match=r"a, b: these bodies are each other's parents.*Connection"):
        kb.System("s", (rod("a", parent="b.tip"), rod("b", parent="a.tip")))
    with pytest.raises(ModelError, match=r"f: this frame stands on itself"):
        kb.System("s", (kb.Frame("f", "g"), kb.Frame("g", "f")))


@pytest.mark.parametrize("displacement", ["rate(a.angle)", "b.wx"])
@pytest.mark.parametrize("part", [kb.Actuator, kb.Spring])
def test_forces_act_along_positions_not_along_rates(part, displacement):
    with pytest.raises(ModelError, match=r"m\.displacement: expected an expression of positions, got one of rates"):
        kb.System("s", (rod("a"), kb.Body("b", kb.Box((1, 1, 1), mass=1.0)), part("m", displacement)))


def test_a_coordinate_of_its_own_may_move_another_joint():
    machine = kb.System("s", (rod("a"), rod("b", joint=kb.Revolute(kb.Z, q="-a.angle")))).machine
    assert [c.name for c in machine.coordinates] == ["a.angle"]


def test_a_constant_locks_a_displacement():
    machine = kb.System("s", (rod("a", joint=kb.Revolute(kb.Z, q=0.3)),)).machine
    assert not machine.coordinates


def test_an_ambiguous_world_coordinate_is_refused():
    inner = kb.System(
        "inner", (rod("a", joint=kb.Revolute(kb.Z, q="x")), kb.Output("o", "world.x")), coordinates=("x",)
    )
    with pytest.raises(ExpressionError, match=r"o: 'world.x'.*put a Frame on world"):
        kb.System("s", (inner.place("left"),))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"a.mass": -1}, r"a\.mass: expected a mass of zero or more"),
        ({"rod.length": 0}, r"rod\.length: expected more than zero"),
        ({"nut.pitch": 0}, r"nut\.pitch: expected metres per turn other than zero"),
        ({"a.at.qw": 3.0}, r"a\.at: expected a quaternion of length one"),
        ({"a.inertia.xx": 50.0}, r"a\.inertia: expected principal moments"),
    ],
)
def test_values_that_replace_others_are_judged_too(parameters, message):
    system = kb.System(
        "s",
        (
            kb.Body("a", kb.Solid(1.0, inertia=(1, 1, 1)), at=kb.Pose(quaternion=(1, 1, 0, 0))),
            kb.Body("nut", kb.Solid(1.0), joint=kb.Screw(kb.Z, pitch=0.01)),
            kb.Connection("rod", "a", joint=kb.Distance(0.3)),
        ),
    )
    with pytest.raises(ModelError, match=message):
        system.with_parameters(parameters)


def tree(count: int) -> kb.System:
    """Bodies on one another, each with a motor, a spring, a number that is an expression, and a joint that follows."""
    parts = [kb.Parameter("m", 1.0, "kg")]
    for i in range(count):
        joint = kb.Revolute(kb.Z, q=f"2*b{i - 1}.angle" if i % 3 == 2 else None)
        parts += [
            kb.Body(f"b{i}", kb.Solid("m"), f"b{(i - 1) // 2}" if i else "world", (0.1, 0, 0), joint),
            kb.Actuator(f"motor{i}", f"b{i}.angle"),
            kb.Spring(f"spring{i}", f"b{i}.angle - b0.angle", damping=0.1),
        ]
    return kb.System("tree", parts, start=kb.Start(guess={"b0.angle": 0.1}))


def copied_entries(system: kb.System) -> int:
    """How many entries of sets and dicts of names are copied while a System is laid out, by the sizes of the copies."""
    total = 0

    def watch(_, event, argument):
        nonlocal total
        if event == "return" and isinstance(argument, dict | set | frozenset | list | tuple):
            total += len(argument)

    before = sys.getprofile()
    sys.setprofile(watch)
    try:
        flatten(system)
    finally:
        sys.setprofile(before)
    return total


def test_work_grows_with_the_number_of_bodies_and_no_faster():
    """Twice the bodies, twice the calls and twice the names that functions hand over; quadratic would be four times."""
    few, many = (copied_entries(tree(count)) for count in (60, 120))
    assert many < 2.3 * few
