"""The printed equations of the papers' systems, read back from their LaTeX and put into numbers."""

import shutil
import subprocess

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.derive.equations import derive
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.export.tex import Words, document
from kalaba.printing.page import LETTERS
from kalaba.printing.sheet import Sheet
from kalaba.robots.catalogue import ENTRIES, find
from printed_latex import equations, numbers

SYSTEMS = ("dual-mobile-arm", "planar-parallel", "pus-upu")
LONG = ("floating-flexible-arm", "two-arm-carry", "two-arm-scissors", "three-arm-screw")
OTHERS = tuple(sorted(set(ENTRIES) - {*SYSTEMS, *LONG}))
AGREE = 1e-12  # of the largest entry; the print holds every digit, sums are in another order


def printed(name):
    entry, system = find(name), kb.load(name)
    words = Words(name, entry.summary, entry.source, entry.errata, entry.notation)
    return system, document(system, words, NewtonEuler())


def state(system, seed):
    rng = np.random.default_rng(seed)
    symbols = derive(system).symbols
    q, v, u = (rng.uniform(-1.2, 1.2, x.shape[0]) for x in (symbols.q, symbols.v, symbols.u))
    for row, _ in system.machine.quaternions:
        q[row : row + 4] /= np.linalg.norm(q[row : row + 4])
    return q, v, 0.3, u


def letters(name, system, now):
    q, v, t, u = now
    sheet = Sheet(derive(system), find(name).notation)
    given = [*q, *v, t, *u, *(x.value for x in sheet.letters if x.value is not None)]
    values = {x.latex: number for x, number in zip(sheet.letters, given, strict=True)}
    by_name = sheet.values(given)
    return values | {latex: by_name[latex] for latex, _, _ in sheet.abbreviations}


def field(found, letter, shape):
    matrix = np.zeros(shape)
    for i in range(shape[0]):
        for j in range(shape[1]):
            label = f"{letter}_{{{i + 1}}}" if shape[1] == 1 else f"{letter}_{{{i + 1},{j + 1}}}"
            matrix[i, j] = found.get(letter if shape == (1, 1) else label, 0.0)
    return matrix


def check(name):
    system, text = printed(name)
    equations_now, plant = derive(system), kb.build(system)
    parameters = [p.value for p in system.machine.free_parameters]
    for seed in (1, 2):
        q, v, t, u = now = state(system, seed)
        found = numbers(text, letters(name, system, now))
        M, A, b = plant.mass_matrix(q), *plant.constraint(q, v, t)
        wanted = {"M": M, "A": A, "b": b[:, None]}
        for one in ("bias", "coriolis", "gravity", "elastic", "actuation_map"):
            if f"${LETTERS[one]}$}}" in text:
                wanted[LETTERS[one]] = np.array(ca.DM(equations_now.function(one)(q, v, t, u, parameters)))
        for letter, matrix in wanted.items():
            got = field(found, letter, matrix.shape)
            assert np.abs(got - matrix).max(initial=0.0) <= AGREE * max(1.0, np.abs(matrix).max(initial=0.0)), letter
        h = wanted["h"] if "h" in wanted else wanted["C"] @ v[:, None] + wanted.get("G", 0) + wanted.get("k", 0)
        bias = np.array(ca.DM(equations_now.function("bias")(q, v, t, u, parameters)))
        assert np.abs(h - bias).max() <= 1e-11 * max(1.0, np.abs(bias).max())  # a product C v more


@pytest.mark.parametrize("name", SYSTEMS)
def test_numbers_put_into_the_print_agree_with_the_plant(name):
    check(name)


@pytest.mark.long
@pytest.mark.parametrize("name", LONG + OTHERS)
def test_numbers_put_into_long_prints_agree_with_the_plant(name):
    check(name)


APPENDIX = {  # the paper's appendix, its misprints corrected, in its own words: M45, M33, C34 among them
    "M_{1,1}": "mv1 + mr1 + m1 + m2 + m3",
    "M_{1,3}": "-((m1/2 + m2 + m3)*c1 + (m2/2 + m3)*c2 + m3*c3/2)*sin(d)",
    "M_{2,3}": "((m1/2 + m2 + m3)*c1 + (m2/2 + m3)*c2 + m3*c3/2)*cos(d)",
    "M_{1,4}": "-(m1/2 + m2 + m3)*s1*cos(d)",
    "M_{2,5}": "-(m2/2 + m3)*s2*sin(d)",
    "M_{1,6}": "-m3*s3/2*cos(d)",
    "M_{3,3}": "m1*c1**2/4 + m2*(c1 + c2/2)**2 + m3*(c1 + c2 + c3/2)**2 + I1 + I2 + I3 + Ir1",
    "M_{4,4}": "(m1/4 + m2 + m3)*l1**2 + I1",
    "M_{5,5}": "(m2/4 + m3)*l2**2 + I2",
    "M_{6,6}": "m3*l3**2/4 + I3",
    "M_{4,5}": "(m2/2 + m3)*l1*l2*cos(th1 - th2)",
    "M_{4,6}": "m3*l1*l3/2*cos(th1 - th3)",
    "M_{5,6}": "m3*l2*l3/2*cos(th2 - th3)",
    "G_{4}": "(m1/2 + m2 + m3)*g*c1",
    "G_{5}": "(m2/2 + m3)*g*c2",
    "G_{6}": "m3*g*c3/2",
    "C_{1,4}": "(m1/2 + m2 + m3)*(s1*sin(d)*dd - c1*cos(d)*w1)",
    "C_{2,5}": "-(m2/2 + m3)*(s2*cos(d)*dd + c2*sin(d)*w2)",
    "C_{3,3}": "-m1/4*c1*s1*w1 - m2/2*(c1 + c2/2)*(2*s1*w1 + s2*w2)"
    " - m3/2*(c1 + c2 + c3/2)*(2*s1*w1 + 2*s2*w2 + s3*w3)",
    "C_{3,4}": "-(m1*c1/4 + m2*(c1 + c2/2) + m3*(c1 + c2 + c3/2))*s1*dd",
    "C_{4,3}": "(m1*c1/4 + m2*(c1 + c2/2) + m3*(c1 + c2 + c3/2))*s1*dd",
    "C_{3,6}": "-m3/2*(c1 + c2 + c3/2)*s3*dd",
    "C_{4,5}": "(m2/2 + m3)*l1*l2*sin(th1 - th2)*w2",
    "C_{5,4}": "(m2/2 + m3)*l1*l2*sin(th2 - th1)*w1",
    "C_{6,5}": "m3/2*l2*l3*sin(th3 - th2)*w2",
}


def paper_words(values):
    """The letters of the paper by names that Python can read."""
    words = {f"{k}{i}": values[f"{k}_{{{i}}}"] for k in "mlI" for i in (1, 2, 3)}
    words |= {f"th{i}": values[rf"\theta_{{{i}}}"] for i in (1, 2, 3)}
    words |= {f"w{i}": values[rf"\dot{{\theta}}_{{{i}}}"] for i in (1, 2, 3)}
    words |= {"d": values[r"\delta_{1}"], "dd": values[r"\dot{\delta}_{1}"], "g": values["g"]}
    words |= {"mv1": values["m_{v1}"], "mr1": values["m_{r1}"], "Ir1": values["I_{r1}"]}
    words |= {f"s{i}": words[f"l{i}"] * np.sin(words[f"th{i}"]) for i in (1, 2, 3)}
    words |= {f"c{i}": words[f"l{i}"] * np.cos(words[f"th{i}"]) for i in (1, 2, 3)}
    return words | {"sin": np.sin, "cos": np.cos}


def test_the_dual_mobile_arm_is_printed_as_in_the_papers_appendix_corrected():
    system, text = printed("dual-mobile-arm")
    values = letters("dual-mobile-arm", system, state(system, 5))
    found, words = numbers(text, values), paper_words(values)
    for label, formula in APPENDIX.items():
        assert found[label] == pytest.approx(eval(formula, dict(words)), rel=1e-12, abs=1e-14), label


def test_the_dual_mobile_arm_is_printed_in_the_papers_words():
    lines = dict(equations(printed("dual-mobile-arm")[1]))
    assert (
        lines["M_{4,5}"].split(" = ")[-1].strip()
        == r"l_{1}\,l_{2}\,(\tfrac{1}{2}\,m_{2} + m_{3})\,\cos(\theta_{1} - \theta_{2})"
    )
    assert r"m_{2}\,(\hat{c}_{1} + \tfrac{1}{2}\,\hat{c}_{2})^{2}" in lines["M_{3,3}"]
    assert r"\tfrac{1}{4}\,m_{1}\,\hat{c}_{1}^{2}" in lines["M_{3,3}"]
    assert lines["G_{4}"].strip() == r"g\,(\tfrac{1}{2}\,m_{1} + m_{2} + m_{3})\,\hat{c}_{1}"
    assert not any("s_{" in text.replace(r"\hat{s}_{", "") for text in lines.values())  # no common parts are needed


def test_a_number_that_breaks_a_relation_gets_a_letter_of_its_own():
    entry = find("dual-mobile-arm")
    system = kb.load("dual-mobile-arm", {"left.link1.com.x": 0.3})
    lines = dict(equations(document(system, Words("x", notation=entry.notation), NewtonEuler())))
    assert r"c_{x,\mathrm{left.link1}}" in lines["M_{4,4}"]
    assert r"c_{x" not in lines["M_{10,10}"]  # the right half still obeys it


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed; the print is parsed above")
@pytest.mark.long
@pytest.mark.parametrize("name", SYSTEMS + LONG)
def test_the_document_compiles_and_nothing_runs_off_the_page(name, tmp_path):
    (tmp_path / "eq.tex").write_text(printed(name)[1], encoding="utf-8")
    made = subprocess.run(
        ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "eq.tex"],
        cwd=tmp_path, capture_output=True, text=True, check=False, encoding="latin-1",
    )  # fmt: skip
    assert made.returncode == 0, made.stdout[-2000:]
    assert (tmp_path / "eq.pdf").stat().st_size > 10_000
    over = [
        float(line.split("(")[1].split("pt")[0]) for line in made.stdout.splitlines() if line.startswith("Overfull")
    ]
    assert max(over, default=0.0) < 30.0  # points; the margin is 51
