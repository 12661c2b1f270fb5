"""Doors: what a package shows, and what it says of names that it does not have."""

import subprocess
import sys
from types import ModuleType

import pytest

import kalaba as kb
from kalaba import door

ROOMS = [getattr(kb, name) for name in kb.__all__ if isinstance(getattr(kb, name), ModuleType)]


def test_a_stub_is_read_as_a_table(tmp_path):
    (tmp_path / "__init__.pyi").write_text(
        "# first\nfrom math import pi as pi\nfrom os import path as _path\nplaces = _path\nx: int\n", encoding="utf-8"
    )
    table = door.names(str(tmp_path / "__init__.py"))
    assert table == {"pi": ("math", "pi"), "places": ("os", "path")}


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_every_name_that_a_room_shows_is_there(room):
    assert [name for name in room.__all__ if not hasattr(room, name)] == []


def test_a_name_that_nobody_has_is_refused():
    with pytest.raises(AttributeError, match=r"module 'kalaba' has no attribute 'wobble'$"):
        kb.wobble  # noqa: B018


def test_a_name_of_a_room_is_found_from_the_door():
    with pytest.raises(
        AttributeError, match=r"'NotInEquilibriumWarning'; it is kalaba.analyse.NotInEquilibriumWarning"
    ):
        kb.NotInEquilibriumWarning  # noqa: B018


def test_a_public_function_stays_when_the_room_of_its_name_is_imported():
    code = "import kalaba as kb, kalaba.derive.kane; assert callable(kb.derive); assert kb.derive.__name__ == 'derive'"
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("room", ROOMS, ids=lambda room: room.__name__)
def test_a_name_stays_what_it_is_when_a_module_of_its_name_is_imported(room):
    first = [getattr(room, name) for name in room.__all__]
    assert [name for name, value in zip(room.__all__, first, strict=True) if getattr(room, name) is not value] == []


def test_the_door_loads_nothing_heavy():
    code = "import sys, kalaba; assert not {'numpy', 'casadi', 'numba', 'matplotlib'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
