"""Carry limb by limb gives the torques of the law traced whole, and its code does not grow with the arms."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import kalaba as kb
from kalaba.constrain.kernels.laws import law_by_limbs
from kalaba.plant import variants
from kalaba.plant.laws import Controller, law_function
from limbs import arm, star

LINE = kb.path.expression("0.1*t^2", "0.05*sin(t)", "0.2*t", duration=1.0).relative()
TURN = kb.path.turn(kb.X, 0.4)
LID = (  # of the load, with a motor that does not share, held by an arm that is like no other
    kb.Body("lid", kb.Rod(0.3, mass=0.5), parent="load", at=(0, 0, 0.1), joint=kb.Revolute(kb.Y)),
    kb.Actuator("lid_motor", "lid.angle"),
    arm(7, length=0.4).place("odd", at=(0, 0, -1)),
    kb.Connection("odd_grip", "odd.link6.tip", "lid", at=kb.AsFound(), joint=kb.Weld()),
)
POSTS = tuple(kb.Body(f"post{k}", kb.Rod(0.5, mass=1.0), at=(k, 3, 0), joint=kb.Weld()) for k in range(2))
WIND = kb.Force("wind", "load", force=kb.Sampled(lambda t, q, v: (t, 0.0, 0.0), rate=100.0))
WEIGHTS = kb.LeastSquares(tuple(np.random.default_rng(3).uniform(0.5, 2.0, 21).tolist()))
CASES = {
    "four arms": (kb.load("n-arm-carry", arms=4), kb.Carry(LINE, TURN)),
    "eight arms": (kb.load("n-arm-carry", arms=8), kb.Carry(LINE, TURN)),
    "other rates lead in each arm": (
        star(arm(6), kb.Spherical(), 3),
        kb.Carry(LINE, TURN, {"arm1.link4.angle": "0.3*t"}),
    ),
    "a weight for each motor": (star(arm(7), kb.Weld(), 3), kb.Carry(LINE, share=WEIGHTS)),
    "an arm in the hub": (star(arm(6), kb.Weld(), 2, extra=LID), kb.Carry(LINE, TURN, {"lid.angle": "t"})),
    "sampled forces, limbs that cannot move": (star(arm(6), kb.Weld(), 2, extra=(WIND, *POSTS)), kb.Carry(LINE)),
}


@dataclass(frozen=True)
class Whole(Controller):
    """A control whose law has no limb form."""

    control: kb.Carry

    def law(self, plant, start):
        return replace(self.control.law(plant, start), limbs=None)


def divided(system, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(variants, "MANY_BODIES", 2)
        plant = kb.build(system)
        assert plant.limb_machine is not None
    return plant


def states(plant, count):
    """States near the start with any velocities, packed: the law does not need rows to be closed."""
    rng = np.random.default_rng(8)
    for _ in range(count):
        q = plant.start.q + 0.1 * rng.normal(size=len(plant.coordinates))
        for first, _ in plant.machine.quaternions:
            q[first : first + 4] /= np.linalg.norm(q[first : first + 4])
        packed = plant.layout.pack(q, rng.normal(size=len(plant.velocities)), rng.uniform(0, 1))
        packed[plant.layout.u] = rng.normal(size=plant.layout.u.stop - plant.layout.u.start)
        yield packed


@pytest.mark.filterwarnings("ignore::kalaba.control.servo.StartWarning")  # expressions may begin anywhere
@pytest.mark.parametrize("name", CASES)
def test_the_torques_are_those_of_the_law_traced_whole(name, monkeypatch):
    system, control = CASES[name]
    plant = divided(system, monkeypatch)
    laws = [one.law(plant, plant.start) for one in (control, Whole(control))]
    assert laws[0].limbs(plant.limb_machine.partition) is not None
    by_limbs, whole = (law_function(plant, law, limited=False) for law in laws)
    for packed in states(plant, 5):
        found, expected = by_limbs(packed), whole(packed)
        assert np.abs(found - expected).max() <= 1e-11 * np.abs(expected).max()  # rounding, of W with condition < 300


def test_each_motor_keeps_its_own_bounds(monkeypatch):
    system, control = CASES["a weight for each motor"]
    plant, rng = divided(system, monkeypatch), np.random.default_rng(9)
    low, high = -rng.uniform(10, 500, 21), rng.uniform(10, 500, 21)
    low[::7], high[::7] = -np.inf, np.inf  # the first motor of every arm
    low[3] = -np.inf
    law = replace(control.law(plant, plant.start), bounds=(low, high))
    free, bounded = law_function(plant, law, limited=False), law_function(plant, law)
    for packed in states(plant, 5):
        asked = free(packed)
        assert (asked < low).any()
        assert (asked > high).any()
        assert np.abs(bounded(packed) - np.clip(asked, low, high)).max() <= 1e-12 * np.abs(asked).max()


def test_a_run_is_the_same_with_the_law_by_limbs_and_whole():
    chosen = kb.scenario("n-arm-carry", arms=4)
    plant = kb.build(chosen.system)
    runs = [kb.simulate(plant, 0.4, control=control) for control in (chosen.control, Whole(chosen.control))]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-11
    assert np.abs(runs[0].actuation - runs[1].actuation).max() < 1e-9 * np.abs(runs[1].actuation).max()


def test_the_code_does_not_grow_with_the_number_of_arms():
    sizes = []
    for arms in (4, 9):
        plant = kb.build(kb.load("n-arm-carry", arms=arms))
        law = kb.Carry(LINE).law(plant, plant.start)
        form = law.limbs(plant.limb_machine.partition)
        program = law_by_limbs(plant.limb_machine, form, len(law.numbers))
        sizes.append([call.function.n_instructions() for call in program.calls])
    assert np.abs(np.subtract(*sizes)).max() <= 0.02 * max(sizes[0])  # a ring of nine has fewer exact zeros


def test_objects_that_are_limbs_leave_the_law_whole(monkeypatch):
    lid = kb.System(
        "lid",
        parts=tuple(
            kb.Body(f"b{i}", kb.Rod(0.3, mass=1.0), parent=f"b{i - 1}.tip" if i else "world", joint=kb.Revolute(axis))
            for i, axis in enumerate((kb.Z, kb.Y, kb.X))
        ),
    )
    parts = list(arm(4, length=0.3).parts)
    for k in range(2):
        grip = kb.Connection(f"grip{k}", "link3.tip", f"lid{k}.b2.tip", at=kb.AsFound(), joint=kb.PointOnLine(kb.Z))
        parts += [lid.place(f"lid{k}", at=(k, 0.5, 0.3)), grip]
    plant = divided(kb.System("lids", parts=tuple(parts)), monkeypatch)
    assert kb.Carry().law(plant, plant.start).limbs(plant.limb_machine.partition) is None
