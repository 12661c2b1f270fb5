"""What is wrong with a machine, its drives or what a law believes: each alone and all at once, against corrections.

Each law was made for the same five-bar with a payload and dry friction in its elbows. What it leaves of the path, mm:

    wrong            plain    robust   adaptive
    masses -20 %      5.5      0.27      0.45
    payload          11.7      0.61      0.94
    joint friction    4.4      0.22      0.43
    drive friction    4.4      0.23      0.38
    motor lag 5 ms    0.32     0.024     0.23
    noise             0.033    0.006     0.013
    200 Hz            0.16     0.008     0.055
    all of it        30        1.9       0.93
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

import kalaba as kb

CIRCLE = kb.path.circle(diameter=0.06, speed=0.15, accel=1.0, normal=kb.Y)
GOAL = kb.follow("left.rod.tip", CIRCLE, orientation="free")
ROBUST, ADAPTIVE = kb.Robust(40.0, 0.1), kb.Adaptive(4e3)


def five_bar() -> kb.System:
    """With a load of 0.2 kg at the tips and dry friction in the passive elbows."""
    base = kb.load("five-bar", motors=3)
    elbows = [kb.Spring(f"{arm}_rub", f"{arm}.rod.angle", friction="dry", creep=0.05) for arm in ("left", "right")]
    payload = kb.Body("payload", kb.Solid(0.2), parent="left.rod.tip", joint=kb.Weld())
    dry = kb.Parameter("dry", 0.1, "N*m", "dry friction of an elbow")
    return replace(base, parts=(*base.parts, payload, dry, *elbows))


PLANT = kb.build(five_bar())
LINKS = {p.name: p.value for p in PLANT.machine.parameters if p.name.endswith((".crank.mass", ".rod.mass"))}
LIGHT, EMPTY, SMOOTH = {name: 0.8 * mass for name, mass in LINKS.items()}, {"payload.mass": 0.0}, {"dry": 0.0}
RUBBING = kb.Friction(0.1, creep=0.1)
WRONG = {  # what the law believes, and what it acts through
    "masses": (LIGHT, None),
    "payload": (EMPTY, None),
    "joint friction": (SMOOTH, None),
    "drive friction": ({}, kb.Drive(friction=RUBBING)),
    "lag": ({}, kb.Drive(lag=5e-3)),
    "noise": ({}, kb.Drive(position_noise=1e-5, speed_noise=1e-3)),
    "rate": ({}, kb.Drive(rate=200.0)),
    "all": (
        LIGHT | EMPTY | SMOOTH,
        kb.Drive(1000.0, 1e-3, 1e-5, 1e-3, friction=replace(RUBBING, coulomb=0.02), backlash=kb.Backlash(1e-4, 1e-3)),
    ),
}


@cache
def furthest(wrong: str, correction: kb.Robust | kb.Adaptive | None = None) -> float:
    """How far the tips are from their circle, at most in the first second."""
    model, drive = WRONG[wrong]
    law = kb.servo(PLANT, GOAL, model=model, correction=correction)
    if drive is not None:
        law = drive.around(replace(law, rate=drive.rate))
    run = kb.simulate(PLANT, 1.0, control=law)
    found = np.column_stack([run[f"left.rod.tip.{axis}"] for axis in "xyz"])
    wanted = CIRCLE.at(run.time).position
    return float(np.linalg.norm((found - found[0]) - (wanted - wanted[0]), axis=1).max())


@pytest.mark.parametrize("wrong", ["masses", "payload", "joint friction", "drive friction", "all"])
@pytest.mark.parametrize("correction", [ROBUST, ADAPTIVE], ids=["robust", "adaptive"])
def test_corrections_leave_a_tenth_of_what_a_wrong_model_costs(wrong, correction):
    assert furthest(wrong) > 3e-3
    assert furthest(wrong, correction) < furthest(wrong) / 10


@pytest.mark.parametrize("wrong", ["lag", "noise", "rate"])
@pytest.mark.parametrize("correction", [ROBUST, ADAPTIVE], ids=["robust", "adaptive"])
def test_corrections_bear_drives_that_are_not_ideal(wrong, correction):
    """They act on readings and through motors as these are, and must do no harm there."""
    assert 1e-5 < furthest(wrong) < 1e-3
    assert furthest(wrong, correction) < furthest(wrong)


def test_a_law_for_a_machine_without_payload_is_one_that_believes_none():
    """The same efforts as the law of a machine that never had it."""
    bare = replace(five_bar(), parts=tuple(part for part in five_bar().parts if part.name != "payload"))
    efforts = []
    for plant, model in ((PLANT, EMPTY), (kb.build(bare), {})):
        law = kb.servo(plant, GOAL, model=model).bind(plant)
        S, r = law.numbers(law.course.at(0.6, law.course.start.q), 0.6)
        efforts.append(np.linalg.lstsq(S, r, rcond=None)[0])
    np.testing.assert_allclose(*efforts, rtol=1e-9)
    assert np.abs(efforts[0]).max() > 0.1
