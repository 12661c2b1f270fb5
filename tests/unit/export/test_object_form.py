"""Arms and objects in the velocities of the objects, piece by piece and exported: model's numbers, plant's motion."""

import runpy
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.application import invoke
from kalaba.cooperate.object_form import ObjectForm, Piece
from kalaba.export.object_form import export_objects
from kalaba.printing.sheet import Sheet
from kalaba.robots import cooperation as common
from kalaba.robots import two_arm_screw
from printed_latex import numbers
from unit.cooperate.test_object_space import arm, carry
from unit.export.c_programs import needs_compiler, trial

AGREE = 1e-12  # of the largest entry
MOTION = 1e-10  # of the largest acceleration: the plant's by Udwadia and Kalaba, with all its rows
BY_BALLS = ("balls", "spare joints", "sliding base", "four arms")


def sliding() -> kb.System:
    """One arm whose first joint slides, with spare joints, on a load that hangs on a spring."""
    spring = kb.Spring("hanger", "distance(world, load)", stiffness=200.0, rest=0.3)
    return kb.System(
        "sliding",
        (
            arm(4, kb.Prismatic(kb.X)).place("arm0", at=kb.Pose((-0.6, 0, 0))),
            kb.Body("load", kb.Solid(3.0, com=(0.02, -0.03, 0.01), inertia=(0.03, 0.04, 0.06))),
            kb.Connection("grip0", "arm0.tool", parent="load", joint=kb.Spherical()),
            spring,
        ),
        start=kb.Start(guess={"load": kb.Pose((0, 0, 0.45))}),
    )


def tree() -> kb.System:
    """Two PUMA arms on the ends of three bodies: a hinge, then a slide, where the catalogue's bolt begins."""
    box = kb.Solid(2.0, com=(0.05, 0.02, 0.01), inertia=(0.02, 0.03, 0.04))
    bodies = [
        common.first("first"),
        kb.Body("middle", box, parent="first", at=two_arm_screw.THREAD, joint=kb.Revolute(kb.X)),
        kb.Body("last", box, parent="middle", joint=kb.Prismatic(kb.Z)),
    ]
    held = {"first": common.POINTING, "middle.angle": 0.0, "last.travel": 0.12}
    return common.cell("tree", bodies, held, [("first", common.END_GRASP), ("last", two_arm_screw.RIGHT_GRASP)])


MACHINES = {  # beside those of the paper
    "balls": carry,
    "spare joints": lambda: carry(3, 4),
    "sliding base": sliding,
    "four arms": lambda: carry(4),
    "welded tree": tree,
}


@cache
def space(name: str) -> kb.cooperate.ObjectSpace:
    return kb.object_space(kb.build(MACHINES[name](), backend=kb.Interpreted()))


@cache
def form(name: str) -> ObjectForm:
    return kb.cooperate.object_form(space(name))


def moving(seen: kb.cooperate.ObjectSpace) -> kb.State:
    still = seen.plant.start
    return kb.State(still.q, seen.velocity_map(still) @ np.random.default_rng(3).normal(size=len(seen.coordinates)))


def relative(found: np.ndarray, wanted: np.ndarray) -> float:
    return float(np.abs(np.asarray(found) - wanted).max() / np.abs(wanted).max())


def check_against_model(seen: kb.cooperate.ObjectSpace, read: dict[str, np.ndarray]) -> None:
    model = seen.model(moving(seen))
    for name, matrix in (("H", model.inertia), ("tau_b", model.bias[:, None]), ("W", model.force_map)):
        assert relative(read[name], matrix) < AGREE


@pytest.mark.parametrize("name", MACHINES)
def test_the_pieces_add_up_to_the_model(name):
    """Σ over bodies and Σ over arms, each summed once."""
    seen, state = space(name), moving(space(name))
    P, model = kb.cooperate.pieces_at(seen, state), seen.model(state)
    bodies, arms = range(1, len(form(name).bodies) + 1), range(1, len(seen.arms) + 1)
    H = sum(P[f"J_C{i}"].T @ P[f"H_0{i}"] @ P[f"J_C{i}"] for i in bodies)
    H = H + sum(P[f"T_{i}"].T @ P[f"H_{i}"] @ P[f"T_{i}"] for i in arms)
    assert relative(H, model.inertia) < AGREE
    check_against_model(seen, P)


@pytest.mark.parametrize("name", MACHINES)
def test_the_motion_is_that_of_the_whole_plant(name):
    seen, state = space(name), moving(space(name))
    P = kb.cooperate.pieces_at(seen, state)
    torques = np.random.default_rng(5).normal(size=len(seen.plant.actuators))
    s_ddot = np.linalg.solve(P["H"], P["W"] @ torques - P["tau_b"].ravel())
    whole = seen.plant.motion(*state, actuation=torques).acceleration
    assert relative(seen.accelerations(state, s_ddot), whole) < MOTION


@pytest.mark.parametrize("name", MACHINES)
def test_twists_of_bodies_and_arms_agree(name):
    """J_Ci ṡ is the twist of body i; J_i q̇_i too where a weld holds; q̇_i = T_i ṡ."""
    seen, state = space(name), moving(space(name))
    P, s_dot = kb.cooperate.pieces_at(seen, state), seen.speeds(state)
    for i, one in enumerate(seen.split.arms, 1):
        rates = state.v[sorted((*one.follow, *one.lead))]
        assert P[f"T_{i}"] @ s_dot == pytest.approx(rates, abs=1e-9 * np.abs(rates).max())
        hold = next(hold for hold in seen.split.holds if hold.arm == one.name)
        number = form(name).bodies.index(hold.body) + 1
        gap = P[f"J_{i}"] @ rates - P[f"J_C{number}"] @ s_dot
        assert (np.abs(gap).max() < 1e-9 * np.abs(s_dot).max()) == (name not in BY_BALLS)
        assert (f"Hs_{i}" in P) == (name == "welded tree")


def test_the_rates_of_arms_give_those_of_the_objects_where_welds_hold_them():
    """Hinge and slide both follow from the last body's twist: the body between them has no arm of its own."""
    seen, state = space("welded tree"), moving(space("welded tree"))
    columns = [j for one in seen.split.arms for j in sorted((*one.follow, *one.lead))]
    found = kb.cooperate.pieces_at(seen, state)["J"] @ state.v[columns]
    assert found == pytest.approx(seen.speeds(state), abs=1e-9)
    assert all("J" not in form(name).pieces for name in BY_BALLS)  # a ball does not say how a body turns


@pytest.mark.parametrize("name", ["balls", "spare joints", "sliding base", "four arms"])
def test_the_module_for_sympy_gives_the_models_numbers(name, tmp_path):
    pytest.importorskip("sympy")
    (place,) = export_objects(space(name), tmp_path / "eq.py")
    module, state = runpy.run_path(str(place)), moving(space(name))
    read = {key: np.array(module["numbers"](module[key], *state), dtype=float) for key in ("H", "tau_b", "W")}
    check_against_model(space(name), read)


@pytest.mark.parametrize("name", ["balls"])
def test_the_document_is_read_back_as_the_models_numbers(name, tmp_path):
    (place,) = export_objects(space(name), tmp_path / "eq.tex")
    state, sheet = moving(space(name)), Sheet(form(name))
    free = [x.value for x in sheet.letters if x.value is not None]
    inputs = len(sheet.letters) - len(state.q) - len(state.v) - 1 - len(free)
    given = [*state.q, *state.v, 0.0, *([0.0] * inputs), *free]
    letters = {x.latex: number for x, number in zip(sheet.letters, given, strict=True)}
    read = numbers(place.read_text(encoding="utf-8"), letters)
    pieces = {}
    for key, piece in form(name).pieces.items():
        rows, columns = piece.value.shape
        pieces[key] = np.array(
            [[read.get(label_of(piece, i, j), 0.0) for j in range(columns)] for i in range(rows)], dtype=float
        )
    check_against_model(space(name), pieces)
    for key, wanted in kb.cooperate.pieces_at(space(name), state).items():
        assert relative(pieces[key], wanted) < AGREE, key


def label_of(piece: Piece, i: int, j: int) -> str:
    place = f"{i + 1}" if piece.value.shape[1] == 1 else f"{i + 1},{j + 1}"
    return f"{piece.letter}_{{{place}}}"


@needs_compiler
@pytest.mark.parametrize("name", ["balls", "spare joints", "sliding base", "four arms"])
def test_the_c_code_passes_its_own_test(name, tmp_path):
    source, *_ = export_objects(space(name), tmp_path / "objects.c")
    done = trial(source)
    assert done.returncode == 0, done.stdout


def test_the_commands_write_it_and_refuse_what_does_not_belong_to_it(tmp_path, capsys):
    place = tmp_path / "eq.c"
    assert invoke(["export", "two-arm-scissors", "-o", str(place), "--objects"]) == 0
    assert "blade2.angle" in Path(tmp_path / "eq.h").read_text(encoding="utf-8")
    capsys.readouterr()
    assert invoke(["export", "two-arm-scissors", "-o", str(place), "--objects", "--method", "kane"]) != 0
    assert "Leave it out" in " ".join(capsys.readouterr().err.split())
    assert invoke(["derive", "two-arm-scissors", "--objects"]) == 0
    assert "J_C2" in capsys.readouterr().out
    assert invoke(["derive", "two-arm-scissors", "--objects", "--steps"]) != 0
