"""Callables say the same as texts, and are values like them."""

import math
import pickle

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ExpressionError, ModelError
from kalaba.model.text.traced import trace

BODY = kb.Body("a", kb.Rod(0.5, mass=1.0), joint=kb.Universal(kb.X, kb.Y))
TEXT = {"u": "sin(a.angle1) + t*a.angle2", "v": "rate(a.angle2) - a.tip.z*rate(a.angle1)"}


def rows(m) -> dict:
    return {
        "u": np.sin(m["a.angle1"]) + m["t"] * m["a.angle2"],
        "v": m["rate(a.angle2)"] - m["a.tip.z"] * m["rate(a.angle1)"],
    }


def plant(zero) -> kb.Plant:
    return kb.build(kb.System("s", (BODY, kb.Constraint("c", zero))), backend=kb.Interpreted())


def test_a_callable_gives_the_rows_of_the_text():
    ours, theirs = plant(rows), plant(TEXT)
    q, v, t = np.array([0.3, -0.4]), np.array([0.5, 0.6]), 0.7
    assert ours.constraints == theirs.constraints == ("c.u", "c.v")
    for a, b in zip(ours.constraint(q, v, t), theirs.constraint(q, v, t), strict=True):
        assert a == pytest.approx(b, abs=1e-15)
    assert ours.velocity_residual(q, v, t) == pytest.approx(theirs.velocity_residual(q, v, t), abs=1e-15)


def test_levels_are_those_of_each_row_though_they_share_their_arguments():
    """One callable may hold a row of positions and one of rates; the first is still closed at position level."""
    assert plant(rows).machine.is_velocity_level == plant(TEXT).machine.is_velocity_level == (False, True)
    both = kb.System("s", (BODY, kb.Constraint("c", lambda m: [m["a.angle1"] - 0.2, m["rate(a.angle2)"]])))
    q, _ = kb.build(both, backend=kb.Interpreted()).start
    assert q[0] == pytest.approx(0.2, abs=1e-14)


def test_a_force_may_be_a_callable():
    text = kb.System("s", (BODY, kb.Force("f", "a.tip", force=("t", "2*a.angle1", "0"))))
    call = kb.System("s", (BODY, kb.Force("f", "a.tip", force=lambda m: (m["t"], 2 * m["a.angle1"], 0))))
    q, v = np.array([0.3, -0.4]), np.zeros(2)
    found = [
        kb.build(s, backend=kb.Interpreted(), solver=kb.KKT()).problem(
            kb.build(s, backend=kb.Interpreted()).inputs(q, v, 0.7)
        )
        for s in (text, call)
    ]
    assert found[0].force == pytest.approx(found[1].force, abs=1e-15)


def test_recorded_callables_are_values():
    one, other = (kb.System("s", (BODY, kb.Constraint("c", rows))) for _ in range(2))
    assert one == other
    assert hash(one) == hash(other)
    assert pickle.loads(pickle.dumps(one)) == one
    assert one != kb.System("s", (BODY, kb.Constraint("c", lambda m: {"u": m["t"], "v": m["a.angle1"]})))


def test_results_are_numbered_or_named_or_single():
    assert trace(lambda m: m["x"], "c").results == ("",)
    assert trace(lambda m: (m["x"], 2.0), "c").results == ("0", "1")
    assert trace(lambda m: {"first": m["x"]}, "c").results == ("first",)


def test_words_are_read_once():
    traced = trace(lambda m: m["x"] * m["x"] + m["y"], "c")
    assert traced.arguments == ("x", "y")
    assert float(ca.evalf(traced([ca.SX(3.0), ca.SX(4.0)])[0])) == 13.0


def test_each_result_knows_what_it_reads():
    traced = trace(lambda m: (m["x"], m["y"] * m["x"], 1.0), "c")
    assert [traced.reads(i) for i in range(3)] == [("x",), ("x", "y"), ()]


def test_an_unknown_word_of_a_callable_is_named_with_its_part():
    with pytest.raises(ExpressionError, match=r"c: unknown word 'a\.angel1'.*a\.angle1"):
        plant(lambda m: m["a.angel1"])


@pytest.mark.parametrize(
    "function",
    [
        lambda m: math.sin(m["x"]),
        lambda m: m["x"] + math.sin(m["x"]),
        lambda m: m["x"] if m["x"] > 0 else 0.0,
        lambda m: "text",
        lambda m: [],
        lambda m: None,
    ],
)
def test_what_cannot_be_recorded_is_said_so(function):
    with pytest.raises(ModelError, match=r"^c: "):
        trace(function, "c")
