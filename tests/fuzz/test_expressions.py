"""Any text in any place where expressions are read is a value, or one line of a KalabaError, in time."""
# ruff: noqa: E501, T201  (tables read along their rows; counts are printed)

import math
import random
from collections.abc import Callable

import pytest

import kalaba as kb
from fuzz.outcomes import Tally
from fuzz.valid_calls import THINGS as T

WORDS = (
    "t",
    "pi",
    "crank.angle",
    "rocker.angle",
    "crank.tip.x",
    "rate(crank.angle)",
    "height",
    "theta",
    "reach",
    "nothing",
    "crank",
)
SIGNS = (
    "+",
    "-",
    "*",
    "/",
    "^",
    "(",
    ")",
    ",",
    " ",
    ".",
    "e",
    ">",
    "<",
    "<=",
    "==",
    "**",
    "//",
    "=",
    "[",
    "]",
    "$",
    "\n",
    "\0",
    "é",
    "'",
    '"',
    "&",
    "|",
)
CALLED = (
    "sin",
    "cos",
    "tan",
    "sqrt",
    "exp",
    "log",
    "abs",
    "min",
    "max",
    "atan2",
    "distance",
    "rate",
    "sign",
    "floor",
    "if",
    "lambda",
    "__import__",
    "asin",
    "tanh",
)
NUMBERS = (
    "0",
    "1",
    "2",
    "0.5",
    "1e-3",
    "1e300",
    "1e999",
    "1e-400",
    "1.2.3",
    "0x1",
    ".5",
    "5.",
    "1e",
    "inf",
    "nan",
    "1_000",
    "9" * 400,
)
VALID = (
    "sin(2*pi*t)", "crank.angle - 2*rocker.angle", "0.3 + 0.1*cos(t)^2", "-crank.angle/3 + 1e-3", "max(0, min(1, t))", "atan2(sin(t), cos(t))",
    "sqrt(abs(crank.angle))", "distance(crank.tip, rocker) - 0.2", "2^-3", "rate(crank.angle)*2", "(((1)))", "1 - -1", "exp(-t)", "t > 1", "crank.angle < -2.5",
)  # fmt: skip
HINGE = kb.Body("a", kb.Rod(0.3, 1.0), joint=kb.Revolute())


def hinge(**given: object) -> object:
    return kb.System(
        "s",
        (
            kb.Parameter("reach", 0.3),
            kb.Body("a", kb.Rod(**{"length": 0.3, "mass": 1.0, **given}), joint=kb.Revolute()),
        ),
    )


PLACES: dict[str, Callable[[str], object]] = {
    "output": lambda text: kb.build(T.system.add(kb.Output("o", text)), backend=kb.Interpreted()).output("o", T.q, T.v),
    "constraint": lambda text: T.system.add(kb.Constraint("c", text)),
    "row": lambda text: T.system.add(kb.Constraint("c", {"r": text})),
    "name of a row": lambda text: T.system.add(kb.Constraint("c", {text: "crank.angle"})),
    "work": lambda text: T.system.add(kb.Constraint("c", "crank.angle", work={"crank.angle": text})),
    "force": lambda text: T.system.add(kb.Force("f", "crank", (text, 0, 0))),
    "joint": lambda text: kb.System("s", (kb.Body("a", kb.Rod(0.3, 1.0), joint=kb.Revolute(q=text)),), coordinates=("theta",)),
    "number": lambda text: hinge(length=text),
    "mass": lambda text: hinge(mass=text),
    "place": lambda text: T.system.add(kb.Frame("f", "crank", (text, 0, 0))),
    "spring": lambda text: T.system.add(kb.Spring("s", text, 1.0)),
    "stiffness": lambda text: T.system.add(kb.Spring("s", "crank.angle", text)),
    "rotor": lambda text: T.system.add(kb.Rotor("r", text, 1.0)),
    "motor": lambda text: T.system.add(kb.Actuator("m", text)),
    "control": lambda text: kb.simulate(T.plain, 0.02, control={"motor": text}, stepper=kb.RungeKutta4(0.01), check=False),
    "stop": lambda text: kb.simulate(T.plain, 0.02, stop=text, stepper=kb.RungeKutta4(0.01), check=False),
    "path": lambda text: kb.path.expression(text, 0, 0, 1.0).at([0.0, 0.5]),
    "goal": lambda text: kb.IdealServo((kb.follow("crank.angle", text),)).law(T.plant, T.state),
    "target": lambda text: kb.IdealServo((kb.follow(text, "1 + t"),)).law(T.plant, T.state),
    "parameter": lambda text: T.system.with_parameters({text: 1.0}),
    "start": lambda text: kb.System("s", (HINGE,), start=kb.Start(hold={text: 1.0})),
    "output of a linear model": lambda text: kb.linearise(T.plain, outputs=(text,)),
    "carried joint": lambda text: kb.Carry(joints={"load.x": text}).law(T.cell, T.cell.start),
    "squeeze": lambda text: kb.Carry(squeeze=text).law(T.cell, T.cell.start),
    "frame": lambda text: T.plain.pose(text, T.q),
}  # fmt: skip


def written(rng: random.Random) -> str:
    """A text of the grammar's pieces, or one that was right before some letters changed."""
    kind = rng.random()
    if kind < 0.4:
        text = list(rng.choice(VALID))
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(text) + 1)
            text[at : at + rng.randint(0, 2)] = rng.choice(
                (rng.choice(SIGNS), rng.choice(NUMBERS), rng.choice(WORDS), "")
            )
        return "".join(text)
    if kind < 0.8:
        pieces = (WORDS, SIGNS, NUMBERS, CALLED)
        return "".join(rng.choice(rng.choice(pieces)) for _ in range(rng.randint(0, 12)))
    if kind < 0.9:
        count = rng.choice((50, 500, 20_000))
        return rng.choice(("(", "-", "sin(", "1+", "((t))*", "2^", "a.", "max(t,")) * count + rng.choice(("", "1", ")"))
    return "".join(chr(rng.choice((rng.randrange(128), rng.randrange(0x3000)))) for _ in range(rng.randint(0, 30)))


def fuzzed(count: int, seed: int) -> Tally:
    tally, rng, names = Tally(), random.Random(seed), sorted(PLACES)
    for _ in range(count):
        place, text = rng.choice(names), written(rng)
        tally.judge(lambda place=place, text=text: PLACES[place](text), f"{place}: {text[:100]!r}")
    return tally


def formula(rng: random.Random, depth: int) -> str:
    """A formula that Python reads too, once ^ is **; its values are small."""
    if depth == 0 or rng.random() < 0.2:
        return rng.choice(("t", "pi", "0.5", "2", "1e-1", "3.25", "(-1.5)"))
    a, b = formula(rng, depth - 1), formula(rng, depth - 1)
    return rng.choice(
        (f"({a} + {b})", f"({a} - {b})", f"{a}*{b}", f"-{a}", f"sin({a})", f"cos({a} - {b})", f"{a}/(2 + cos({b}))", f"tanh({a})^2", f"max({a}, {b})", f"abs({a})")
    )  # fmt: skip


def wrong_values(count: int, seed: int) -> list[str]:
    """Formulas whose value is not Python's."""
    rng, wrong = random.Random(seed), []
    words = {name: getattr(math, name) for name in ("sin", "cos", "tanh", "pi")} | {"max": max, "abs": abs}
    for _ in range(count):
        text, t = formula(rng, 4), rng.uniform(0.0, 1.0)
        expected = eval(text.replace("^", "**"), {"__builtins__": {}}, {**words, "t": t})
        found = kb.path.expression(text, 0, 0, 1.0).at(t).position[0]
        if not math.isclose(found, expected, rel_tol=1e-12, abs_tol=1e-12):  # rounding of some dozen operations
            wrong.append(f"{text} at {t}: {found}, expected {expected}")
    return wrong


def test_any_text_is_an_expression_or_refused_in_one_line(seed):
    tally = fuzzed(250, seed)
    assert tally.wrong == []
    assert tally.counts["refused"] > 100


def test_formulas_have_the_values_that_python_gives_them(seed):
    assert wrong_values(30, seed) == []


@pytest.mark.long
def test_three_thousand_expressions(seed, capsys):
    tally, wrong = fuzzed(3000, seed), wrong_values(300, seed)
    with capsys.disabled():
        print(f"\n{tally.report('expressions', seed)}; {len(wrong)} wrong of 300 values")
    assert tally.wrong == []
    assert wrong == []
