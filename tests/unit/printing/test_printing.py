"""Short forms: what is written is what the expression is, in the words a person would choose."""

import casadi as ca
import pytest

import kalaba as kb
from kalaba.printing.factoring import ShortWriter, square_root
from kalaba.printing.latex_text import LatexWriter, lines, width
from kalaba.printing.notation import Notation, letters, symbol
from kalaba.printing.plain import plain
from kalaba.printing.polynomial import Kind, Ring
from kalaba.printing.reading import operation_count, read
from kalaba.printing.sheet import Sheet
from kalaba.printing.tree import evaluate, number, size
from kalaba.printing.trigonometry import gathered

NAMES = ("m", "n", "l", "k", "a", "b", "w")
KINDS = (Kind.MASS, Kind.MASS, Kind.PARAMETER, Kind.PARAMETER, Kind.COORDINATE, Kind.COORDINATE, Kind.VELOCITY)
m, n, ell, k, a, b, w = (ca.SX.sym(name) for name in NAMES)
VECTOR = ca.vertcat(m, n, ell, k, a, b, w)
VALUES = dict(zip(NAMES, (1.3, 0.7, 0.4, 0.9, 0.5, -1.1, 2.2), strict=True))


def short(expression):
    ring = Ring(NAMES, KINDS)
    function = ca.Function("f", [VECTOR], [expression])
    node = ShortWriter(ring).shortest(gathered(ring, read(function, ring)[0]))
    assert evaluate(node, VALUES) == pytest.approx(float(function(list(VALUES.values()))), rel=1e-13, abs=1e-15)
    return node


def text(expression):
    return LatexWriter({name: name for name in NAMES}).text(short(expression)).replace(r"\,", " ")


@pytest.mark.parametrize(
    ("expression", "printed"),
    [
        (ca.cos(a) * ca.cos(b) + ca.sin(a) * ca.sin(b), r"\cos(a - b)"),
        (ca.sin(a) * ca.cos(b) + ca.cos(a) * ca.sin(b), r"\sin(a + b)"),
        (ca.cos(a) * ca.sin(b) - ca.sin(a) * ca.cos(b), r"-\sin(a - b)"),
        (m * ca.cos(a) ** 2 + m * ca.sin(a) ** 2, "m"),
        (ca.cos(a + (b - a)), r"\cos b"),
        (m / 2 * ell + n * ell, r"l (\tfrac{1}{2} m + n)"),
        (m * ell * ell + 2 * m * ell * k + m * k * k, "m (l + k)^{2}"),
        (ca.SX(0) - (0 - m), "m"),
        (1 * m + 0 * n, "m"),
        (-m * ell - n * ell, "-l (m + n)"),
        (m / ell, r"\frac{m}{l}"),
        (ca.sin(2 * ca.pi * w * a), r"\sin(2 \pi a w)"),
        (ca.sqrt(m + n), r"\sqrt{m + n}"),
    ],
)
def test_expressions_are_written_as_a_person_would(expression, printed):
    assert text(expression) == printed


def test_factors_that_all_groups_share_are_found():
    product = (m / 2 + n) * (ell * ca.sin(a) * w - k * ca.cos(a))
    node = short(product)
    assert size(node) <= 9
    assert text(product).startswith(r"(\tfrac{1}{2} m + n)")


def test_a_third_is_a_fraction_and_pi_keeps_its_name():
    writer = LatexWriter({})
    assert writer.text(number(1 / 3)) == r"\tfrac{1}{3}"
    assert writer.text(number(3.141592653589793 / 2)) == r"\tfrac{1}{2}\,\pi"


def test_no_square_root_is_seen_where_there_is_none():
    ring = Ring(NAMES, KINDS)
    function = ca.Function("f", [VECTOR], [ell * ell + 3 * ell * k + k * k])
    assert square_root(read(function, ring)[0]) is None


def test_polynomials_that_nobody_reads_are_given_up():
    many = (m + n + ell + k + a + b + w) ** 6
    assert read(ca.Function("f", [VECTOR], [many]), Ring(NAMES, KINDS)) == [None]


def test_long_sums_are_cut_before_signs_and_lose_nothing():
    long = sum((m**i * ell ** (9 - i) * ca.sin(i * a) for i in range(9)), ca.SX(0))
    writer = LatexWriter({name: name for name in NAMES})
    node = short(long)
    rows = lines("M_{1}", writer.pieces(node, 0), wide=40)
    assert len(rows) > 2
    assert all(width(row) < 60 for row in rows)
    assert all(row.startswith(r"&\quad {} ") for row in rows[1:])
    joined = "".join(row.removeprefix(r"&\quad {}") for row in rows)
    assert joined == f"M_{{1}} &= {writer.text(node)}"


def test_operations_are_counted_once_for_what_is_shared():
    shared = ca.sin(a) * m
    assert operation_count(shared + shared * shared, VECTOR) == 4  # sin, times, square, plus
    assert operation_count(ca.SX(3, 3), VECTOR) == 0


@pytest.mark.parametrize(
    ("name", "latex"),
    [
        ("left.theta1", r"\theta_{1,\mathrm{left}}"),
        ("rate(theta1)", r"\dot{\theta}_{1}"),
        ("arm.link2.mass", r"m_{\mathrm{arm.link2}}"),
        ("crank.inertia.zz", r"I_{zz,\mathrm{crank}}"),
        ("base_x", r"\mathrm{base\_x}"),
        ("x", "x"),
    ],
)
def test_paths_become_letters(name, latex):
    assert symbol(name) == latex


def test_no_two_symbols_share_a_letter():
    machine = kb.load("four-bar").machine
    found = letters(machine, Notation({"crank.mass": "m", "coupler.mass": "m"}))
    assert len({x.latex for x in found}) == len(found)


def test_a_notation_passes_over_paths_that_the_machine_does_not_have():
    machine = kb.load("four-bar")
    notation = Notation(
        {"nothing.mass": "M"}, {"nothing.mass": "crank.mass", "crank.mass": "nothing.mass"}, {"x": "no"}
    )
    sheet = Sheet(kb.derive(machine), notation)
    assert sheet.relations == {}
    assert sheet.abbreviations == ()


def test_one_field_in_print_stands_in_one_environment():
    equations = kb.derive(kb.load("four-bar"))
    printed = equations.latex("mass_matrix")
    assert printed.startswith("\\begin{align*}\nM_{1,1} &= ")
    assert printed.count("align*") == 2
    assert "M_{1,2} &= M_{2,1} = " in printed
    assert equations.latex("gravity", Notation({"crank.mass": "m_{1}"})).count("m_{1}") == 1


def test_steps_can_be_read_in_a_terminal():
    steps = kb.derive(kb.load("four-bar"), kb.Lagrange()).steps
    assert plain(steps["kinetic energy of crank"]) == [((0, 0), "1/6*crank.mass*crank.length^2*rate(crank.angle)^2")]


@pytest.mark.parametrize(
    ("method", "named"),
    [
        (kb.Lagrange(), ("kinetic energy", "potential energy", "momenta", "inertia", "slope of the kinetic energy")),
        (kb.Kane(), ("partial velocities of crank", "inertia force of rocker", "active force on coupler")),
        (kb.NewtonEuler(), ("outward, velocity of crank", "inward, moment and force on rocker", "joint torques")),
    ],
)
def test_every_method_names_what_it_went_through(method, named):
    steps = kb.derive(kb.load("four-bar"), method).steps
    assert [name for name in named if name not in steps] == []


def test_kinetic_energies_of_the_bodies_make_the_whole():
    equations = kb.derive(kb.load("four-bar"), kb.Lagrange())
    q, v = [0.3, 0.5, -0.2], [1.0, -2.0, 0.7]
    steps = equations.steps
    own = ca.vertcat(*(value for name, value in steps.items() if name.startswith("kinetic energy of ")))
    s = equations.symbols
    parameters = [p.value for p in equations.machine.free_parameters]
    function = ca.Function("T", [s.q, steps["rates of the coordinates"], s.p], [ca.sum1(own)])
    whole = equations.function("kinetic_energy")(q, v, 0.0, [0.0], parameters)
    assert float(function(q, v, parameters)) == pytest.approx(float(whole), rel=1e-12)
