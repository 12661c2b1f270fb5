"""Grasp and release in the middle of a run: plastic impacts, names that carry over, energy lost."""

import pickle

import numpy as np
import pytest

import kalaba as kb
from kalaba.cli.summary import summarise
from kalaba.errors import AssemblyError, ConstraintError, ModelError

ROUNDING = 1e-13  # relative
SLIDE = kb.Prismatic(kb.X)
HUNTER = kb.Body("hunter", kb.Solid(3.0), joint=SLIDE)
PREY = kb.Body("prey", kb.Solid(1.0), at=(0.5, 0, 0), joint=SLIDE)
APART = kb.System("carts", (HUNTER, PREY))
COUPLING = kb.Connection("coupling", "prey", parent="hunter", at=kb.AsFound())
FAST = kb.State(np.array([0.1, 0.2]), np.array([2.0, -1.0]))
ARM = kb.System(
    "catch",
    (
        kb.Body("upper", kb.Rod(0.5, mass=2.0), joint=kb.Revolute(kb.Z)),
        kb.Body("lower", kb.Rod(0.4, mass=1.5), parent="upper.tip", joint=kb.Revolute(kb.Y)),
        kb.Body("load", kb.Box((0.2, 0.1, 0.3), mass=3.0)),
    ),
    start=kb.Start(hold={"lower.angle": 0.7, "load": kb.Pose((1.0, 0.2, -0.1), rpy=(0.3, 0.2, 0.1))}),
)
GRIP = kb.Connection("grip", "lower.tip", parent="load", at=kb.AsFound(), joint=kb.Spherical())


def moving(system: kb.System, seed: int) -> kb.State:
    start = kb.build(system, backend=kb.Interpreted()).start
    return kb.State(start.q, np.random.default_rng(seed).normal(size=len(start.v)))


def test_two_carts_that_couple_go_on_with_their_common_momentum():
    run = kb.simulate(APART.add(COUPLING), 0.1, start=FAST)
    assert run.v[0] == pytest.approx([1.25, 1.25], rel=ROUNDING)  # (3·2 − 1·1) / 4
    assert run.start_energy_loss == pytest.approx(0.5 * (3 * 1 / 4) * 3.0**2, rel=ROUNDING)  # ½ μ (v₁ − v₂)²
    assert run.q[0].tolist() == FAST.q.tolist()
    shown = f"impact: {run.start_energy_loss:.3g} J of kinetic energy lost at the start"  # 3.375 is rounded either way
    assert shown in summarise(run).lines()


def test_letting_go_keeps_velocities_to_the_last_bit():
    coupled = kb.simulate(APART.add(COUPLING), 0.1, start=FAST)
    free = kb.simulate(coupled.plant.system.remove("coupling"), 0.1, start=coupled.end)
    assert free.v[0].tolist() == coupled.end.v.tolist()
    assert free.start_energy_loss == 0.0
    assert not [line for line in summarise(free).lines() if line.startswith("impact")]


@pytest.mark.parametrize("seed", range(5))
def test_a_caught_object_loses_what_the_rows_take(seed):
    """½ vᵀAᵀ(A M⁻¹Aᵀ)⁺A v, by a pseudo-inverse of its own."""
    before = moving(ARM, seed)
    run = kb.simulate(ARM.add(GRIP), 0.01, start=before)
    M, (A, _) = run.plant.mass_matrix(before.q), run.plant.constraint(before.q, before.v)
    lost = A @ before.v
    expected = lost @ np.linalg.pinv(A @ np.linalg.solve(M, A.T)) @ lost / 2
    assert run.start_energy_loss == pytest.approx(expected, rel=1e-10)
    kinetic = [v @ M @ v / 2 for v in (before.v, run.v[0])]
    assert run.start_energy_loss == pytest.approx(kinetic[0] - kinetic[1], rel=1e-10)
    assert run.start_energy_loss > 0
    assert np.abs(A @ run.v[0]).max() < 1e-12


def test_dependent_rows_change_neither_speed_nor_loss():
    """A second grip at the same place says nothing new."""
    again = kb.Connection("again", "lower.tip", parent="load", at=kb.AsFound(), joint=kb.Spherical())
    start = moving(ARM, 3)
    once, twice = (kb.simulate(ARM.add(*grips), 0.01, start=start) for grips in ((GRIP,), (GRIP, again)))
    assert twice.v[0] == pytest.approx(once.v[0], abs=1e-12)
    assert twice.start_energy_loss == pytest.approx(once.start_energy_loss, rel=1e-10)


def test_a_row_that_moves_by_itself_may_give_energy():
    """A belt at 2 m/s takes a resting cart along: ½ m v² is gained."""
    belt = APART.add(kb.Constraint("belt", "hunter.travel - 2*t"))
    run = kb.simulate(belt, 0.1, start=kb.State(np.zeros(2), np.zeros(2)))
    assert run.v[0] == pytest.approx([2.0, 0.0], abs=ROUNDING)
    assert run.start_energy_loss == pytest.approx(-0.5 * 3.0 * 2.0**2, rel=ROUNDING)


def test_a_run_without_a_given_start_loses_nothing():
    assert kb.simulate(APART, 0.1).start_energy_loss == 0.0


def test_going_on_with_the_same_machine_loses_nothing():
    coupled = kb.simulate(ARM.add(GRIP), 0.05, start=moving(ARM, 1))
    assert kb.simulate(coupled.plant, 0.05, start=coupled.end).start_energy_loss == 0.0


def test_a_gap_is_closed_by_the_least_change_in_the_mass_metric():
    joined = APART.add(kb.Connection("coupling", "prey", parent="hunter", at=(0.5, 0, 0), joint=kb.Weld()))
    run = kb.simulate(joined, 0.1, start=FAST)
    assert run.q[0] == pytest.approx([0.125, 0.125], abs=1e-14)  # the centre of mass stays


def test_a_gap_that_cannot_be_closed_is_refused():
    stuck = APART.add(kb.Connection("coupling", "prey", parent="hunter", at=(0.5, 0.1, 0)))
    words = r"carts: the start cannot be projected onto the constraints; coupling\.y is open by 0\.1 m there\. Give"
    with pytest.raises(ConstraintError, match=words):
        kb.simulate(stuck, 0.1, start=FAST)


@pytest.mark.parametrize("off", [2.0, 3.0])
def test_a_start_off_the_loop_names_the_row_and_its_gap(off):
    plant = kb.build(kb.load("four-bar"))
    q, v = plant.start
    away = kb.State(q + np.array([0, off, 0]), v)
    gaps = dict(zip(plant.constraints, np.abs(plant.residual(away.q)), strict=True))
    row = max(gaps, key=gaps.get)
    with pytest.raises(
        AssemblyError, match=rf"four-bar: .*; {row} is open by {gaps[row]:.3g} m there\. Give a start"
    ) as e:
        kb.simulate(plant, 0.1, start=away)
    assert "\n" not in str(e.value)


def test_coordinates_are_found_by_name():
    end = kb.simulate(APART, 0.1, start=FAST).end
    swapped = kb.simulate(kb.System("swapped", (PREY, HUNTER)), 0.1, start=end)
    assert swapped.q[0].tolist() == end.q[::-1].tolist()
    assert swapped.v[0].tolist() == end.v[::-1].tolist()
    alone = kb.simulate(kb.System("alone", (PREY,)), 0.1, start=end)
    assert alone.v[0].tolist() == [end.v[1]]
    again = kb.simulate(kb.System("swapped", (PREY, HUNTER)), 0.1, start=pickle.loads(pickle.dumps(end)))
    assert again.q[0].tolist() == swapped.q[0].tolist()


def test_a_state_without_names_is_taken_as_it_stands():
    end = kb.simulate(APART, 0.1, start=FAST).end
    swapped = kb.simulate(kb.System("swapped", (PREY, HUNTER)), 0.1, start=kb.State(*end))
    assert swapped.q[0].tolist() == end.q.tolist()


def test_what_a_state_knows_nothing_of_is_named():
    end = kb.simulate(APART, 0.1, start=FAST).end
    more = APART.add(kb.Body("ball", kb.Box((0.1, 0.1, 0.1), mass=1.0)))
    with pytest.raises(ModelError) as caught:
        kb.simulate(more, 0.1, start=end)
    assert str(caught.value) == (
        "carts.start: the state given knows nothing of ball.x, ball.y, ball.z and 4 more. "
        "Give a State (q, v) with all 9 numbers."
    )


def test_the_loss_is_kept_in_the_file(tmp_path):
    run = kb.simulate(APART.add(COUPLING), 0.1, start=FAST)
    assert kb.open_run(run.save(tmp_path / "run.nc")).start_energy_loss == run.start_energy_loss
