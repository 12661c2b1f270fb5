import pickle

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ModelError
from kalaba.model.acting import Sampled


@pytest.mark.parametrize("name", ["", "1a", "a.b", "a b", "world", "t", "pi", "sin", "rate", "ä", 3, None])
def test_a_name_that_the_grammar_could_not_read_is_refused(name):
    for make in (
        lambda: kb.Body(name, kb.Rod(0.3, mass=1.0)),
        lambda: kb.Frame(name, "world"),
        lambda: kb.Actuator(f"{name}." if name == "a.b" else name, "a.angle"),  # elbow.motor is a name
        lambda: kb.System("s", (kb.Parameter(name, 1.0),)),
        lambda: kb.System("s", (), coordinates=(name,)),
    ):
        with pytest.raises(ModelError, match=r"expected a name of letters"):
            make()


def test_a_bare_tuple_is_a_translation():
    assert kb.Body("a", kb.Rod(0.3, mass=1.0), at=(1, 2, 3)).at == kb.Pose((1, 2, 3))


@pytest.mark.parametrize(
    "make",
    [
        lambda at: kb.Body("a", kb.Rod(0.3, mass=1.0), at=at),
        lambda at: kb.Frame("a", "world", at),
        lambda at: kb.System("s", ()).place("a", at=at),
    ],
)
def test_as_found_is_for_connections_alone(make):
    with pytest.raises(ModelError, match=r"a\.at: expected a Pose, got AsFound\(\).*Connection"):
        make(kb.AsFound())
    assert isinstance(kb.Connection("c", "a", at=kb.AsFound()).at, kb.AsFound)


def test_a_part_in_place_of_its_name_is_refused_with_the_name():
    crank = kb.Body("crank", kb.Rod(0.3, mass=1.0))
    for make in (
        lambda: kb.Connection("pin", crank),
        lambda: kb.Connection("pin", "a", parent=crank),
        lambda: kb.Body("b", kb.Rod(0.3, mass=1.0), parent=crank),
        lambda: kb.Frame("f", crank),
        lambda: kb.Force("f", crank),
    ):
        with pytest.raises(ModelError, match=r"expected the name of a frame, got Body .* Write 'crank'"):
            make()


@pytest.mark.parametrize("solid", [None, kb.Rod, "rod", 3])
def test_a_body_is_made_of_a_solid(solid):
    with pytest.raises(ModelError, match=r"a: expected a solid such as kb\.Rod"):
        kb.Body("a", solid)


@pytest.mark.parametrize("mass", [None, [1.0], float("nan"), float("inf"), 1j])
def test_a_mass_is_a_number_or_an_expression(mass):
    with pytest.raises(ModelError, match=r"a\.mass: expected a finite number"):
        kb.Body("a", kb.Rod(0.3, mass=mass))


def test_joints_that_only_close_are_refused_in_a_tree():
    for joint in (kb.PointOnLine(kb.X), kb.Distance(0.3)):
        with pytest.raises(ModelError, match=r"a: .* closes loops only. Use it in a Connection"):
            kb.Body("a", kb.Rod(0.3, mass=1.0), joint=joint)


def test_a_connection_that_closes_nothing_or_moves_is_refused():
    with pytest.raises(ModelError, match=r"c\.joint: Free closes nothing. Leave the Connection out"):
        kb.Connection("c", "a", joint=kb.Free())
    with pytest.raises(ModelError, match=r"c\.joint: q= 'theta' moves a Body"):
        kb.Connection("c", "a", joint=kb.Revolute(kb.Z, q="theta"))
    with pytest.raises(ModelError, match=r"c\.joint: expected a joint such as"):
        kb.Connection("c", "a", joint=kb.Revolute)


@pytest.mark.parametrize("limit", [0, -1.0, "2", None, float("nan")])
def test_a_limit_is_a_number_above_zero(limit):
    with pytest.raises(ModelError, match=r"m\.limit: expected a number above zero"):
        kb.Actuator("m", "a.angle", limit=limit)


def test_constraints_take_a_text_a_dict_or_rows():
    assert kb.Constraint("c", "a").zero == (("", "a"),)
    assert kb.Constraint("c", {"x": "a", "y": "b"}).zero == (("x", "a"), ("y", "b"))
    for zero in (5, {}, None):
        with pytest.raises(ModelError, match=r"c: expected"):
            kb.Constraint("c", zero)
    with pytest.raises(ModelError, match=r"c\.work: expected \{coordinate: expression\}"):
        kb.Constraint("c", "a", work=5)


@pytest.mark.parametrize(
    "zero", [("a", "b"), ("ab", "cd"), ("a",), (("a", "b", "c"),), [("a", "b")], {3: "a"}, (("x", "a"), ("x", "b"))]
)
def test_rows_that_are_no_pairs_are_refused_by_name(zero):
    with pytest.raises(ModelError, match=r"c: expected an expression, or \{row: expression\} for several rows"):
        kb.Constraint("c", zero)


def test_a_force_has_three_components():
    with pytest.raises(ModelError, match=r"wind\.force: expected 3 numbers"):
        kb.Force("wind", "a", force=(1, 2))
    with pytest.raises(ModelError, match=r"wind\.torque: expected three components from the callable, got 1"):
        kb.Force("wind", "a", torque=lambda m: m["t"])


@pytest.mark.parametrize(("function", "rate"), [(3, 100), (abs, 0), (abs, -1), (abs, "10"), (abs, float("inf"))])
def test_sampling_needs_a_function_and_a_rate(function, rate):
    with pytest.raises(ModelError, match=r"Sampled: expected a callable and a rate above 0 Hz"):
        Sampled(function, rate)


@pytest.mark.parametrize("value", ["2", None, float("nan")])
def test_a_parameter_is_a_finite_number(value):
    with pytest.raises(ModelError, match=r"p: expected a finite number"):
        kb.Parameter("p", value)


def test_starts_are_values_whatever_they_are_made_of():
    start = kb.Start(hold={"bar": [0.1, 0.2, 0.3]}, speed={"bar": np.zeros(6)})
    assert start == kb.Start(hold=(("bar", (0.1, 0.2, 0.3)),), speed={"bar": (0.0,) * 6})
    assert hash(start) == hash(pickle.loads(pickle.dumps(start)))
    with pytest.raises(ModelError, match=r"start\.guess: expected \{name: value\}, got 5"):
        kb.Start(guess=5)


def test_of_two_starts_the_first_says_all_of_a_name():
    """A guess of the outer start replaces what the inner one holds."""
    outer = kb.Start(guess={"a": 1.0}, speed={"c": 1.0})
    inner = kb.Start(hold={"a": 2.0, "b": 3.0}, speed={"c": 2.0, "d": 2.0})
    joined = outer.over(inner)
    assert dict(joined.hold) == {"b": 3.0}
    assert dict(joined.guess) == {"a": 1.0}
    assert dict(joined.speed) == {"c": 1.0, "d": 2.0}
