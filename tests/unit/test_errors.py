import inspect
import pickle

import pytest

from kalaba import errors
from kalaba.errors import ExpressionError, IntegrationError, KalabaError, ModelError, near


def test_every_error_is_a_kalaba_error():
    classes = [c for _, c in inspect.getmembers(errors, inspect.isclass) if issubclass(c, Exception)]
    assert len(classes) > 1
    assert all(issubclass(c, KalabaError) for c in classes)


def test_an_expression_error_says_what_where_and_what_to_try():
    text = "0.2*(crnk.angle)"
    remedy = near("crnk.angle", ["crank.angle", "rocker.travel"])
    error = ExpressionError("unknown word 'crnk.angle'", text, text.index("crnk"), remedy)
    assert str(error) == "unknown word 'crnk.angle' at 5 in \"0.2*(crnk.angle)\"; did you mean crank.angle?"
    assert (error.text, error.position) == (text, 5)
    assert isinstance(error, ModelError)


def test_an_expression_error_without_a_remedy_ends_after_the_text():
    assert str(ExpressionError("missing ')'", "(a", 2)) == "missing ')' at 2 in \"(a\""


@pytest.mark.parametrize(
    "error",
    [ExpressionError("unknown word 'a'", "a + 1", 0, "did you mean b?"), IntegrationError("stopped", run=[1.0])],
)
def test_an_error_survives_the_way_back_from_a_worker(error: KalabaError):
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert (str(copy), vars(copy)) == (str(error), vars(error))


def test_an_integration_error_without_a_run_holds_none():
    assert IntegrationError("stopped").run is None


def test_near_offers_close_names_first_and_then_the_same_ending():
    assert near("crnk.angle", ["rocker.angle", "crank.angle", "load"]) == "did you mean crank.angle, rocker.angle?"


def test_near_finds_a_name_by_its_last_word():
    assert near("angle", ["crank.angle", "left.x"]) == "did you mean crank.angle?"


def test_near_offers_no_more_than_the_limit():
    known = [f"leg{i}.travel" for i in range(9)]
    assert near("leg.travel", known, limit=2).count(",") == 1


def test_near_lists_what_exists_when_nothing_is_near():
    assert near("zzz", ["b", "a"]) == "known names: a, b"
    assert near("zzz", [f"n{i:02}" for i in range(15)]).endswith("n11 and 3 more")


def test_near_says_when_nothing_exists():
    assert near("zzz", []) == "there are none"
