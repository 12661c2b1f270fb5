"""YAML 1.2 and nothing more: scalars of its core schema, no tags, no doubled keys, bounded; JSON is the same."""

import json
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kalaba.errors import FileError
from kalaba.files.yaml.layout import laid_out
from kalaba.files.yaml.tree import parse_text


def data(text):
    return parse_text(text, "x.yaml").data


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("on", "on"),
        ("no", "no"),
        ("y", "y"),
        ("1:30", "1:30"),
        ("1e-3", 1e-3),
        ("-.5", -0.5),
        ("+12", 12),
        ("010", 10),
        ("0x1F", 31),
        ("0o17", 15),
        ("1_000", "1_000"),
        ("2026-11-18", "2026-11-18"),
        (".inf", math.inf),
        ("-.INF", -math.inf),
        ("~", None),
        ("null", None),
        ("True", True),
        ("yes", "yes"),
        ('"1"', "1"),
        ("'true'", "true"),
        ("0.7 m", "0.7 m"),
        ("-y", "-y"),
    ],
)
def test_scalars_are_those_of_yaml_1_2(text, value):
    assert data(f"a: {text}") == {"a": value}
    assert type(data(f"[{text}]")[0]) is type(value)


def test_every_entry_knows_its_line():
    document = parse_text("a: 1\nb:\n  - c\n  - {d: 2,\n     e: 3}\n", "x.yaml")
    assert document.where(("b", 1, "e")) == "x.yaml:5: b[1].e"
    assert document.where(("b", 1, "unknown")) == "x.yaml:4: b[1].unknown"
    assert document.where(()) == "x.yaml:1"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: 1\nb: 2\na: 3\n", r"x\.yaml:3: a: expected each key once, got it again after line 1"),
        ("p:\n  q: {r: 1, r: 2}", r"x\.yaml:2: p\.q: r: expected each key once"),
        ("a: !!python/object:os.system {}", r"x\.yaml:1: expected no tag"),
        ("a: !!str 1", "expected no tag"),
        ("1: a", "expected a text as key, got 1. Write it in quotes"),
        ("? [a]\n: b", "expected a text as key, got a map or a list"),
        ("<<: {a: 1}", "expected no merge key"),
        ("a: &x [*x]", r"does not contain itself, got \*x"),
        ("a: *x", r"expected &x before \*x"),
        ("a: 1\n---\nb: 2", r"x\.yaml:2: expected one document"),
        ("%YAML 1.1\n---\na: on", "expected YAML 1.2"),
        ("a: [1, 2", r"x\.yaml:1: expected YAML, got this: .*Mend that line"),
        ("a: b: c", r"x\.yaml:1: expected YAML"),
        ("a: \x01", "expected YAML, got this: unacceptable character"),
        ('a: "\\UFFFFFFFF"', "expected YAML"),
        ("[" * 100, "expected entries at most 60 deep"),
        ("a: " + "x" * 4_000_001, "expected a text of at most 4 million characters, got 4.0 million"),
    ],
)
def test_what_is_no_plain_data_is_refused_with_its_line(text, message):
    with pytest.raises(FileError, match=message) as caught:
        data(text)
    assert "\n" not in str(caught.value)


def test_aliases_stand_for_their_values_and_cannot_grow_without_end():
    assert data("a: &x {b: [1, 2]}\nc: *x\n&k d: &v 3\ne: *v") == {
        "a": {"b": [1, 2]},
        "c": {"b": [1, 2]},
        "d": 3,
        "e": 3,
    }
    laughs = "a0: &a0 [ha, ha]\n" + "".join(f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 9)}]\n" for i in range(1, 10))
    with pytest.raises(FileError, match=r"x\.yaml:\d+: .*expected at most 250000 entries, aliases written out"):
        data(laughs)


def test_json_with_tabs_and_escapes_is_read():
    written = {"a": [1, 2.5, None, True], "b": {"c": "grün \U0001f600 \n\t\"'\\ /"}}
    for ascii_only in (True, False):
        assert data(json.dumps(written, indent="\t", ensure_ascii=ascii_only)) == written


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False) | st.text(max_size=30),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8).filter("<<".__ne__), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(st.dictionaries(st.text(min_size=1, max_size=8).filter("<<".__ne__), plain, min_size=1, max_size=4))
def test_whatever_is_written_is_read_back(written):
    assert data(laid_out(written)) == written


@given(st.text(min_size=80, max_size=400), st.lists(st.text(max_size=40), min_size=3, max_size=30))
def test_long_texts_and_long_lists_are_read_back(text, texts):
    words = " ".join(["word"] * 30) + text
    written = {
        "a": text,
        "b": {"c": words, "d": texts},
        "e": [{"f": words}, {"g": {"h": words, "i": texts}}],
        "j": texts,
    }
    assert data(laid_out(written)) == written
