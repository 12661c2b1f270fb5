"""`import kalaba` shows what `kalaba.__all__` lists, no more and no less."""

import types

import pytest

import kalaba

LISTED = getattr(kalaba, "__all__", None)

pytestmark = pytest.mark.skipif(LISTED is None, reason="kalaba lists no public names yet")


def test_every_listed_name_exists():
    assert [name for name in LISTED if not hasattr(kalaba, name)] == []


def test_every_public_name_is_listed():
    hidden = (types.ModuleType, type(__import__("__future__").annotations))
    shown = {name for name, value in vars(kalaba).items() if name[0] != "_" and not isinstance(value, hidden)}
    assert shown - set(LISTED) == set()


def test_names_are_listed_once():
    assert len(LISTED) == len(set(LISTED))


def test_every_listed_name_is_documented():
    values = {name: getattr(kalaba, name) for name in LISTED}
    callables = {name: value for name, value in values.items() if callable(value)}
    assert [name for name, value in callables.items() if not (value.__doc__ or "").strip()] == []
