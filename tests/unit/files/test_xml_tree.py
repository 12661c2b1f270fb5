"""XML is read without entities, and errors name the line."""

import pytest

from kalaba.errors import FileError
from kalaba.files.names import Names, identifier
from kalaba.files.source import Notes
from kalaba.files.xml_tree import DEEPEST, parse_text


def test_elements_know_their_line_and_text():
    root = parse_text('<a>\n <b name="x" v="1 2 3"/>\n <c> text </c></a>', "f.xml")
    assert root.require("b").where == "f.xml:2: <b x>"
    assert root.require("b").numbers("v", 3) == (1.0, 2.0, 3.0)
    assert root.require("c").text == "text"
    assert [child.tag for child in root] == ["b", "c"]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "f.xml"),
        ("<a>", "f.xml:1: expected XML"),
        ("<a>\n<b></a>", "f.xml:2: expected XML"),
        ('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', "document type"),
        ('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', "document type"),
        ("<a>&x;</a>", "expected XML"),
        ("<a>" * (DEEPEST + 1), "deep"),
    ],
)
def test_what_is_refused_names_its_line(text, problem):
    with pytest.raises(FileError, match=problem):
        parse_text(text, "f.xml")


@pytest.mark.parametrize("value", ["", "x", "nan", "inf", "1 2", "1_0"])
def test_a_number_is_one_finite_number(value):
    with pytest.raises(FileError, match=r"f.xml:1: <a>"):
        parse_text(f'<a v="{value}"/>', "f.xml").number("v")


@pytest.mark.parametrize(
    ("original", "here"), [("base-link", "base_link"), ("1st", "_1st"), ("world", "world_"), ("sin", "sin_"), ("", "_")]
)
def test_names_become_identifiers(original, here):
    assert identifier(original) == here


def test_two_names_stay_two():
    notes = Notes()
    names = Names(notes, "link")
    assert [names["a-b"], names["a_b"], names["a b"], names["a-b"]] == ["a_b", "a_b_2", "a_b_3", "a_b"]
    assert len(notes.lines) == 1
