"""Expressions: the grammar, the value, the arithmetic."""

import copy
import math
import pickle

import casadi
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalaba.errors import ExpressionError
from kalaba.model.text.expressions import NUMPY_FUNCTIONS, Values, evaluate, number, parse, parse_condition
from kalaba.model.text.grammar import ARGUMENT_COUNTS, FUNCTIONS, MAX_DEPTH, RESERVED, is_name
from kalaba.model.text.syntax import Binary, Call, Distance, Name, Number, Rate, Unary, unparse

x, y, z = Name("x"), Name("y"), Name("z")
VALUES = Values({"x": 3.0, "y": 2.0, "z": -5.0, "crank.angle": 0.5}, time=7.0, frames={"a": (1, 2, 3), "b": (1, 5, 7)})


def value(text):
    return evaluate(parse(text), VALUES)


WORDS = st.from_regex(r"[a-z_][a-z0-9_]{0,3}(\.[A-Z][a-z0-9]{0,3}){0,2}", fullmatch=True)
NAMES = st.builds(Name, st.one_of(st.sampled_from(("t", "pi")), WORDS.filter(is_name)))
FRAMES = st.builds(Name, WORDS.filter(is_name))
NUMBERS = st.builds(Number, st.floats(min_value=0.0, allow_infinity=False).map(abs))
LEAVES = st.one_of(NUMBERS, NAMES, st.builds(Distance, FRAMES, FRAMES))


def calls(children):
    def of(name):
        least, most = ARGUMENT_COUNTS[name]
        arguments = st.lists(children, min_size=least, max_size=int(min(most, 4)))
        return st.builds(Call, st.just(name), arguments.map(tuple))

    return st.sampled_from(sorted(FUNCTIONS)).flatmap(of)


def branches(children):
    return st.one_of(
        st.builds(Unary, children), st.builds(Binary, st.sampled_from("+-*/^"), children, children), calls(children)
    )


PLAIN = st.recursive(LEAVES, branches, max_leaves=12)
TREES = st.recursive(st.one_of(LEAVES, st.builds(Rate, PLAIN)), branches, max_leaves=12)


class TestGrammar:
    @given(TREES)
    def test_reading_what_was_written_gives_the_tree_back(self, tree):
        assert parse(unparse(tree)).tree == tree

    @given(TREES)
    def test_canonical_text_is_its_own_canonical_text(self, tree):
        assert parse(unparse(tree)).canonical == unparse(tree)

    @given(st.text(alphabet="xy1.e+-*/^(), <>sinrate", max_size=20))
    def test_any_text_is_read_or_refused_with_a_position(self, text):
        try:
            position = len(parse(text).text)
        except ExpressionError as error:
            position = error.position
        assert 0 <= position <= len(text)

    @pytest.mark.parametrize(
        ("text", "tree"),
        [
            ("-x^2", Unary(Binary("^", x, Number(2.0)))),
            ("2^-1", Binary("^", Number(2.0), Unary(Number(1.0)))),
            ("x^y^z", Binary("^", x, Binary("^", y, z))),
            ("x**y", Binary("^", x, y)),
            ("-x*y", Binary("*", Unary(x), y)),
            ("2^-x*y", Binary("*", Binary("^", Number(2.0), Unary(x)), y)),
            ("x - y - z", Binary("-", Binary("-", x, y), z)),
            ("x/y*z", Binary("*", Binary("/", x, y), z)),
            ("x + y*z", Binary("+", x, Binary("*", y, z))),
            ("(x + y)*z", Binary("*", Binary("+", x, y), z)),
            ("+x", x),
            ("x - -y", Binary("-", x, Unary(y))),
            ("x\n + \ty", Binary("+", x, y)),
            ("rate(left.link3.tip.x)", Rate(Name("left.link3.tip.x"))),
            ("distance(a.tip, b)", Distance(Name("a.tip"), Name("b"))),
            ("min(x, y, z)", Call("min", (x, y, z))),
        ],
    )
    def test_text_gives_tree(self, text, tree):
        assert parse(text).tree == tree

    @pytest.mark.parametrize(
        ("text", "number"), [("1", 1.0), (".5", 0.5), ("2e-3", 2e-3), ("1.", 1.0), ("1.5E+2", 150.0)]
    )
    def test_number_forms(self, text, number):
        assert parse(text).tree == Number(number)

    @pytest.mark.parametrize(
        ("text", "problem", "position"),
        [
            ("", "the text ends", 0),
            ("  ", "the text ends", 2),
            ("x +", "the text ends", 3),
            ("x * / y", "found '/'", 4),
            ("x*(y + 1", r"'\(' that is never closed", 2),
            ("sin(x", r"'\(' that is never closed", 3),
            ("x + y)", r"'\)' without its '\('", 5),
            ("()", r"found '\)'", 1),
            ("(x, y)", r"expected '\)' before ','", 2),
            ("x y", "expected an operator before 'y'", 2),
            ("2x", "expected an operator before 'x'", 1),
            ("rod.1", "expected an operator before '.1'", 3),
            ("x = 1", "unexpected character '='", 2),
            ("x[0]", r"unexpected character '\['", 1),
            ("rod .tip", r"unexpected character '\.'", 4),
            ("'x'", "unexpected character", 0),
            ("θ", "unexpected character", 0),
            ("1e999", "too large", 0),
            ("1 + sine(x)", "unknown function 'sine'", 4),
            ("__import__(x)", "unknown function '__import__'", 0),
            ("left.sin(x)", "unknown function 'left.sin'", 0),
            ("sin + 1", "function 'sin' without arguments", 0),
            ("sin()", r"sin\(\) takes 1 argument, not 0", 0),
            ("sin(x, y)", r"sin\(\) takes 1 argument, not 2", 0),
            ("atan2(x)", r"atan2\(\) takes 2 arguments, not 1", 0),
            ("max(x)", r"max\(\) takes 2 or more arguments, not 1", 0),
            ("min(x,)", r"found '\)'", 6),
            ("rate(x, y)", r"rate\(\) takes 1 argument, not 2", 0),
            ("1 + rate(2*rate(x))", r"rate\(\) inside rate\(\)", 11),
            ("distance(a)", "names of two frames", 0),
            ("distance(a, 2*b)", "names of two frames", 0),
            ("x > y", "unexpected comparison '>'", 2),
            ("(x > y)", r"expected '\)' before '>'", 3),
        ],
    )
    def test_bad_text_is_refused_at_its_position(self, text, problem, position):
        with pytest.raises(ExpressionError, match=problem) as caught:
            parse(text)
        assert (caught.value.position, caught.value.text) == (position, text)
        assert f'at {position} in "{text}"' in str(caught.value)

    def test_unknown_function_lists_near_ones(self):
        with pytest.raises(ExpressionError, match=r"did you mean sinh?"):
            parse("sinhh(x)")

    def test_rates_may_stand_side_by_side(self):
        assert parse("rate(x) + rate(y)").names == {"x", "y"}

    @pytest.mark.parametrize(("opening", "closing"), [("(", ")"), ("sin(", ")"), ("-", ""), ("2^", ""), ("1+(", ")")])
    def test_nesting_too_deep_is_an_error_of_its_own(self, opening, closing):
        with pytest.raises(ExpressionError, match="nested"):
            parse(opening * 5000 + "x" + closing * 5000)

    def test_deepest_allowed_nesting_works(self):
        depth = MAX_DEPTH - 1
        nested = parse("sin(" * depth + "x" + ")" * depth)
        assert math.isfinite(evaluate(nested, VALUES))
        assert pickle.loads(pickle.dumps(nested)) == nested

    def test_long_sum_is_no_nesting(self):
        long = parse(" + ".join(["x"] * 10_000))
        assert evaluate(long, VALUES) == 30_000.0
        assert long.canonical == long.text
        assert pickle.loads(pickle.dumps(long)) == long

    @pytest.mark.parametrize("name", ["x", "left.link3.tip.x", "_a1", "arm.t", "arm.sin"])
    def test_names(self, name):
        assert is_name(name)

    @pytest.mark.parametrize("name", ["", "1x", "a..b", "a.", ".a", "a.1", "a b", "a-b", "a\n", *sorted(RESERVED)])
    def test_no_names(self, name):
        assert not is_name(name)


class TestExpression:
    def test_equality_and_hash_ignore_spaces_and_needless_parentheses(self):
        one, other = parse("x+(y*2.0)"), parse("x + y*2")
        assert one == other
        assert hash(one) == hash(other)
        assert one != parse("(x + y)*2")
        assert (one.text, one.canonical, str(one)) == ("x+(y*2.0)", "x + y*2", "x+(y*2.0)")

    def test_names_frames_rate_and_time(self):
        expression = parse("x*sin(t) + rate(crank.angle) - pi + distance(left.tip, world)")
        assert expression.names == {"x", "crank.angle"}
        assert expression.frames == {"left.tip", "world"}
        assert expression.has_rate
        assert expression.uses_time
        plain = parse("x + time")
        assert not plain.has_rate
        assert not plain.uses_time

    def test_renaming_keeps_the_spelling_and_spares_t_and_pi(self):
        expression = parse("(x)+ rate( x )*t - pi +distance(tip,x.tip)")
        renamed = expression.renamed(lambda name: f"left.{name}")
        assert renamed.text == "(left.x)+ rate( left.x )*t - pi +distance(left.tip,left.x.tip)"
        assert renamed.position_of("left.tip") == renamed.text.index("left.tip")

    def test_names_can_be_swapped(self):
        assert parse("x - 2*y").renamed({"x": "y", "y": "x"}.__getitem__) == parse("y - 2*x")

    @pytest.mark.parametrize("new", ["2x", "t", "x + y", ""])
    def test_renaming_to_what_is_no_name_is_refused(self, new):
        with pytest.raises(ExpressionError, match="is no name at 4"):
            parse("2 + x").renamed(lambda _: new)

    @given(TREES)
    def test_renaming_there_and_back_changes_nothing(self, tree):
        expression = parse(unparse(tree))
        there = expression.renamed(lambda name: f"left.{name}")
        assert there.renamed(lambda name: name.removeprefix("left.")).text == expression.text

    @pytest.mark.parametrize(
        ("text", "number"), [("2", 2.0), ("-pi/2", -math.pi / 2), ("sqrt(4) + 2^3", 10.0), (-0.5, -0.5)]
    )
    def test_constant(self, text, number):
        assert parse(text).constant == number

    @pytest.mark.parametrize("text", ["x", "t", "rate(1)", "distance(a, b)", "2*x"])
    def test_no_constant(self, text):
        assert parse(text).constant is None

    @pytest.mark.parametrize(
        ("text", "position"),
        [("1 + 1/0", 5), ("0^-1", 1), ("10^400", 2), ("(-8)^(1/3)", 4), ("sqrt(-1)", 0), ("log(0)", 0)],
    )
    def test_constant_without_a_finite_value_is_an_error(self, text, position):
        with pytest.raises(ExpressionError) as caught:
            _ = parse(text).constant
        assert caught.value.position == position

    def test_position_of_a_name(self):
        expression = parse("xx + distance(tip, x) + x")
        assert [expression.position_of(name) for name in ("xx", "x", "tip")] == [0, 19, 14]
        with pytest.raises(ExpressionError, match=r"'y'.*known names: tip, x, xx"):
            expression.position_of("y")

    @given(st.floats(allow_nan=False, allow_infinity=False))
    def test_number_becomes_an_expression_of_exactly_that_value(self, number):
        constant = parse(number).constant
        assert constant == number
        assert math.copysign(1.0, constant) == math.copysign(1.0, number)

    def test_numbers_of_any_kind(self):
        assert parse(2) == parse(2.0) == parse(np.int64(2)) == parse(np.float64(2)) == parse("2")
        assert parse(-0.5) == parse("-0.5")

    @pytest.mark.parametrize("thing", [True, None, math.nan, math.inf, 1j, ("x",)])
    def test_other_things_are_refused(self, thing):
        with pytest.raises(ExpressionError, match="expected text or a finite number"):
            parse(thing)

    def test_equal_texts_are_read_once_and_an_expression_is_kept(self):
        assert parse("x + 1") is parse("x + 1")
        assert parse(parse("x + 1")) is parse("x + 1")

    def test_copies_are_equal(self):
        expression = parse("x*(y + z)")
        assert pickle.loads(pickle.dumps(expression)) == copy.deepcopy(expression) == expression
        assert repr(expression) == "Expression(text='x*(y + z)')"


class TestCondition:
    @pytest.mark.parametrize(
        ("text", "crossing"),
        [
            ("x > y - z", "x - (y - z)"),
            ("x >= 0", "x"),
            ("x < y", "y - x"),
            ("0<=x + y", "x + y"),
            ("rate(x) < -1", "-1 - rate(x)"),
        ],
    )
    def test_crossing(self, text, crossing):
        assert parse_condition(text).crossing.text == crossing

    def test_crossing_rises_through_zero_as_the_condition_becomes_true(self):
        for text, before, after in (("x > 2", 1.9, 2.1), ("x <= 2", 2.1, 1.9)):
            crossing = parse_condition(text).crossing
            assert evaluate(crossing, Values({"x": before})) < 0 < evaluate(crossing, Values({"x": after}))

    def test_renaming_and_writing(self):
        condition = parse_condition("x>=2*y").renamed(lambda name: f"a.{name}")
        assert str(condition) == "a.x >= 2*a.y"
        assert condition == parse_condition("a.x >= 2 * a.y")

    @pytest.mark.parametrize(
        ("text", "problem", "position"),
        [
            ("x", "expected a comparison", 1),
            ("x < y < z", "unexpected comparison", 6),
            ("x < ", "the text ends", 4),
            ("> x", "found '>'", 0),
            ("x < y $", r"unexpected character '\$'", 6),
        ],
    )
    def test_bad_condition_is_refused_at_its_position(self, text, problem, position):
        with pytest.raises(ExpressionError, match=problem) as caught:
            parse_condition(text)
        assert (caught.value.position, caught.value.text) == (position, text)


class TestEvaluation:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("x + y*z", -7.0),
            ("(x + y)/z", -1.0),
            ("-x^2", -9.0),
            ("2^3^2", 512.0),
            ("x - y - z", 6.0),
            ("t + pi", 7.0 + math.pi),
            ("crank.angle*2", 1.0),
            ("min(x, y, z)", -5.0),
            ("max(x, y, z)", 3.0),
            ("atan2(1, -1)", 0.75 * math.pi),
            ("abs(z)*sign(z)", -5.0),
            ("distance(a, b)", 5.0),
            ("log(exp(2))", 2.0),
        ],
    )
    def test_floats(self, text, expected):
        assert value(text) == pytest.approx(expected, rel=1e-15)

    def test_each_function_is_the_one_of_the_math_module(self):
        ours = {"abs": abs, "sign": lambda number: math.copysign(1.0, number)}
        for name in FUNCTIONS - {"atan2", "min", "max"}:
            oracle = ours.get(name) or getattr(math, name)
            assert number(parse(f"{name}(0.3)"), VALUES) == pytest.approx(oracle(0.3), rel=1e-14)
        assert NUMPY_FUNCTIONS.keys() == FUNCTIONS

    def test_arrays_go_through_elementwise(self):
        environment = Values({"x": np.array([1.0, 2.0, 3.0])}, time=np.array([0.0, 1.0, 2.0]))
        np.testing.assert_array_equal(evaluate(parse("max(x^2, 3) + t"), environment), [3.0, 5.0, 11.0])

    def test_casadi_symbols_give_the_same_as_floats(self):
        symbols = {name: casadi.SX.sym(name) for name in VALUES.values}
        text = "x^2*sin(y) - distance(a, b)/2^z + min(x, y, 1) + rate(x^2) + x^-1 + t"
        built = casadi.Function("f", list(symbols.values()), [evaluate(parse(text), _Symbols(symbols))])
        plain = "x^2*sin(y) - distance(a, b)/2^z + min(x, y, 1) + 2*x*10 + x^-1 + t"
        assert float(built(*VALUES.values.values())) == pytest.approx(value(plain), rel=1e-14)

    def test_whole_powers_of_symbols_are_products(self):
        symbol = casadi.SX.sym("x")
        assert str(evaluate(parse("x^2"), _Symbols({"x": symbol}))) == "sq(x)"

    def test_unknown_word_says_where_and_what_is_near(self):
        with pytest.raises(ExpressionError) as caught:
            value("0.2*(crnk.angle)")
        expected = "unknown word 'crnk.angle' at 5 in \"0.2*(crnk.angle)\"; did you mean crank.angle?"
        assert str(caught.value) == expected

    def test_unknown_frame_says_where(self):
        with pytest.raises(ExpressionError, match=r"unknown frame 'c' at 12") as caught:
            value("distance(a, c)")
        assert caught.value.position == 12

    def test_rate_is_refused_where_nothing_moves(self):
        with pytest.raises(ExpressionError, match=r"rate\(\) has no value here at 4"):
            value("2 + rate(x)")

    def test_error_of_the_environment_passes(self):
        class Strict(Values):
            def scalar(self, name):
                raise ExpressionError("forbidden", name, 0)

        with pytest.raises(ExpressionError, match="forbidden"):
            evaluate(parse("x"), Strict({}))

    def test_number_gives_a_float_of_the_table(self):
        result = number(parse("sqrt(x^2)"), VALUES)
        assert type(result) is float
        with pytest.raises(ExpressionError, match="finite"):
            number(parse("log(z)"), VALUES)


class _Symbols(Values):
    """CasADi symbols; x moves at speed 10, time is 7."""

    def __init__(self, symbols):
        super().__init__(symbols, 7.0, {"a": casadi.SX([1, 2, 3]), "b": casadi.SX([1, 5, 7])})

    def rate(self, value):
        return casadi.jtimes(value, self.values["x"], 10)

    def function(self, name):
        return getattr(casadi, {"min": "fmin", "max": "fmax"}.get(name, name))
