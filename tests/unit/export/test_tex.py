"""The LaTeX document: every catalogue entry gives one, its words are escaped, bad places are refused."""

import re

import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.export.tex import Words, export_tex
from kalaba.export.tex_text import tex_text, tex_unit


def balanced(text):
    depth = 0
    for sign in re.sub(r"\\[{}\\]", "", text):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        assert depth >= 0
    return depth == 0


@pytest.mark.parametrize("name", ["four-bar", "differential-drive", "five-bar", "two-drive-carry"])
def test_machines_without_a_notation_print_too(name, tmp_path):
    text = export_tex(kb.load(name), tmp_path / "eq.tex").read_text(encoding="utf-8")
    assert text.startswith(r"\documentclass")
    assert text.rstrip().endswith(r"\end{document}")
    assert balanced(text)
    assert text.isascii()
    opened = re.findall(r"\\begin\{(\w+\*?)\}", text)
    assert sorted(opened) == sorted(re.findall(r"\\end\{(\w+\*?)\}", text))
    assert "newton-euler" in text


def test_a_machine_with_quaternions_prints_h_and_says_why(tmp_path):
    text = export_tex(kb.load("two-drive-carry"), tmp_path / "eq.tex").read_text(encoding="utf-8")
    assert r"elastic and damping forces $h$}" in text
    assert "no matrix $C$" in text
    assert r"matrix $C$}" not in text


def test_springs_and_forces_have_sections_of_their_own(tmp_path):
    spring = kb.Spring("spring", "cart.travel", stiffness=20.0, damping=0.3)
    cart = kb.Body("cart", kb.Solid(2.0), joint=kb.Prismatic(kb.X))
    text = export_tex(kb.System("cart", (cart, spring)), tmp_path / "eq.tex").read_text(encoding="utf-8")
    assert r"\section*{Springs, dampers and bending $k$}" in text
    assert r"k &= k_{\mathrm{spring}}" in text


@pytest.mark.parametrize(
    ("words", "tex"),
    [
        ("50 % of a_b & c#", r"50 \% of a\_b \& c\#"),
        ("θ and Ω", r"$\theta$ and $\Omega$"),
        ("q̈ = 0", r"$\ddot{q}$ = 0"),
        ("ĉ1²/4", r"$\hat{c}$1$^2$/4"),
        ("δ̇", r"$\dot{\delta}$"),
        ("多机 (a paper)", " (a paper)"),
        ("½cos δ − 1", r"$\frac12$cos $\delta$ $-$ 1"),
    ],
)
def test_words_become_tex(words, tex):
    assert tex_text(words) == tex


def test_units_stand_upright():
    assert tex_unit("kg*m^2") == r"$\mathrm{kg\,m^{2}}$"
    assert tex_unit("1") == "1"


def test_a_place_that_cannot_be_written_is_refused_before_the_work(tmp_path):
    with pytest.raises(FileError, match="no directory"):
        export_tex(kb.load("four-bar"), tmp_path / "nowhere" / "eq.tex")
    with pytest.raises(FileError, match=r"ends in \.tex"):
        export_tex(kb.load("four-bar"), tmp_path / "eq.pdf", Words("x"))
