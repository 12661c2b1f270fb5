"""Machines solved limb by limb move as the same machines solved whole, also where limbs are singular or too short."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.plant import variants
from limbs import arm, star

LOAD_AXES = ("load.x", "load.y", "load.z")


def whole(system, monkeypatch):
    """The plant of a system, not divided."""
    with monkeypatch.context() as patch:
        patch.setattr(variants, "MANY_BODIES", 10**6)
        plant = kb.build(system)
        assert plant.solved_by_limbs is None
    return plant


def divided(system, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(variants, "MANY_BODIES", 2)
        plant = kb.build(system)
        assert plant.solved_by_limbs is not None
    return plant


def stretched(n, joints):
    """Arms of hinges in a plane, all straight: each has lost the direction along itself."""
    parts = [kb.Body("load", kb.Cylinder(radius=0.3, length=0.1, mass=3.0), joint=kb.Planar(kb.Z))]
    seats = ("world", *(f"link{i}.tip" for i in range(joints)))
    links = [
        kb.Body(f"link{i}", kb.Rod(0.4, mass=1.0 - 0.2 * i), parent=seats[i], joint=kb.Revolute(kb.Z))
        for i in range(joints)
    ]
    limb = kb.System("limb", parts=tuple(links))
    for k in range(n):
        angle = 2 * np.pi * k / n + 0.3
        reach = 0.3 + 0.4 * joints
        at = kb.Pose((reach * np.cos(angle), reach * np.sin(angle), 0), rpy=(0, 0, angle + np.pi))
        parts.append(limb.place(f"arm{k}", at=at))
        place = (0.3 * np.cos(angle), 0.3 * np.sin(angle), 0)
        tip = f"arm{k}.link{joints - 1}.tip"
        parts.append(kb.Connection(f"pin{k}", tip, "load", at=place, joint=kb.Revolute(kb.Z)))
    return kb.System("stretched", parts=tuple(parts), gravity=(0, 0, 0))


@pytest.mark.parametrize(
    "system",
    [
        pytest.param(star(arm(6), kb.Weld(), 3), marks=pytest.mark.long),
        star(arm(5), kb.Weld(), 2),
        star(arm(4), kb.Spherical(), 3),
    ],
    ids=["welded", "one joint short", "redundant"],
)
def test_a_run_is_the_same_solved_whole_and_by_limbs(system, monkeypatch):
    one, other = whole(system, monkeypatch), divided(system, monkeypatch)
    start = one.start
    runs = [kb.simulate(plant, 0.2, start=start, stepper=kb.RungeKutta4(5e-4)) for plant in (one, other)]
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-9
    assert runs[1].worst.value < 1e-12
    drift = np.abs(runs[1].energy - runs[1].energy[0]).max()
    assert drift < 1e-6 * runs[1].observed["kinetic"].max()


def test_the_motion_at_random_states_is_that_of_the_published_equation(monkeypatch):
    system = star(arm(5), kb.Weld(), 3)  # an arm of five joints takes one freedom of the load
    plant, oracle = divided(system, monkeypatch), kb.build(system, backend=kb.Interpreted())
    rng = np.random.default_rng(6)
    q, _ = plant.start
    A = plant.constraint(q, np.zeros(len(plant.velocities)))[0]
    _, sizes, directions = np.linalg.svd(A)
    free = directions[int((sizes > 1e-9).sum()) :]
    for _ in range(5):
        v = rng.normal(size=len(free)) @ free
        force = rng.normal(size=len(plant.velocities))
        found, expected = (p.motion(q, v, force).acceleration for p in (plant, oracle))
        assert np.abs(found - expected).max() < 1e-9 * max(1.0, np.abs(expected).max())
    assert (plant.choice.mask > 1).sum() >= 3  # each arm hands up a row


@pytest.mark.parametrize(("n", "joints"), [(3, 2), (8, 2), (5, 3)])
def test_straight_arms_hand_up_what_they_cannot_hold(n, joints, monkeypatch):
    """With straight two-hinge arms the load can only turn: translation is held along every arm."""
    system = stretched(n, joints)
    plant, oracle = divided(system, monkeypatch), kb.build(system, backend=kb.Interpreted())
    q = plant.start.q
    v = np.zeros(len(plant.velocities))
    rng = np.random.default_rng(7)
    for _ in range(3):
        force = rng.normal(size=len(v))
        found, expected = plant.motion(q, v, force), oracle.motion(q, v, force)
        assert np.abs(found.acceleration - expected.acceleration).max() < 1e-9
        assert np.abs(found.constraint_force - expected.constraint_force).max() < 1e-8
    assert kb.check(plant).freedoms == kb.check(oracle).freedoms


def cranks():
    """A slider that three cranks of one kind push; the shortest turns round and passes its dead points."""
    rod = kb.System(
        "limb",
        parts=(
            kb.Body("crank", kb.Rod(0.2, mass=0.5), joint=kb.Revolute(kb.Z)),
            kb.Body("rod", kb.Rod(0.6, mass=0.4), parent="crank.tip", joint=kb.Revolute(kb.Z)),
        ),
    )
    longer = rod.with_parameters({"crank.length": 0.5, "rod.length": 0.8})
    parts = [kb.Body("load", kb.Box((0.1, 0.1, 0.1), mass=2.0), joint=kb.Prismatic(kb.X))]
    for name, limb, at in (("a", rod, (-0.6, 0, 0)), ("b", longer, (-0.5, -0.3, 0)), ("c", longer, (0.6, 0.2, 0))):
        parts += [
            limb.place(name, at=at),
            kb.Connection(f"pin_{name}", f"{name}.rod.tip", "load", joint=kb.Revolute(kb.Z)),
        ]
    start = kb.Start(
        hold={"a.crank.angle": 1.0},
        guess={
            "a.rod.angle": -1.3,
            "b.crank.angle": 1.5,
            "b.rod.angle": -2.0,
            "c.crank.angle": 1.6,
            "c.rod.angle": 2.0,
        },
        speed={"a.crank.angle": 6.0},
    )
    return kb.System("cranks", parts=tuple(parts), gravity=(0, 0, 0), start=start)


def test_a_limb_passes_its_dead_points_in_a_run(monkeypatch):
    """At a dead point the crank and its rod lie in one line: alone they cannot push the load."""
    one, other = whole(cranks(), monkeypatch), divided(cranks(), monkeypatch)
    runs = [kb.simulate(plant, 2.0, start=one.start, stepper=kb.RungeKutta4(2e-4)) for plant in (one, other)]
    for run in runs:
        assert run["a.crank.angle"][-1] > 2 * np.pi + 1.0
        assert np.abs(run.energy - run.energy[0]).max() < 1e-8 * run.energy[0]
        assert run.worst.value < 1e-12
    assert np.abs(runs[0].q - runs[1].q).max() < 1e-7


def test_lanes_and_batches_work_limb_by_limb(monkeypatch):
    plant = divided(star(arm(6), kb.Weld(), 3), monkeypatch)
    q, v = plant.start
    many = plant.motion(np.tile(q, (9, 1)), np.tile(v, (9, 1)))
    assert np.abs(many.acceleration - plant.motion(q, v).acceleration).max() < 1e-12


def test_a_changed_number_of_one_limb_needs_no_new_code(monkeypatch):
    system = star(arm(6), kb.Weld(), 3)
    plant = divided(system, monkeypatch)
    with monkeypatch.context() as patch:
        patch.setattr(variants, "MANY_BODIES", 2)
        heavier = plant.with_parameters({"arm1.link0.mass": 4.0})
        assert heavier.key == plant.key
        q, v = plant.start
        fresh = kb.build(plant.system.with_parameters({"arm1.link0.mass": 4.0}), backend=kb.Interpreted())
        found, expected = heavier.motion(q, v).acceleration, fresh.motion(q, v).acceleration
    assert np.abs(found - expected).max() < 1e-9 * np.abs(expected).max()
    assert np.abs(found - plant.motion(q, v).acceleration).max() > 1e-3


def test_structural_steppers_and_baumgarte_take_limbs_too(monkeypatch):
    plant = divided(star(arm(6), kb.Weld(), 2), monkeypatch)
    runs = [
        kb.simulate(plant, 0.05, stepper=kb.GeneralisedAlpha(5e-4)),
        kb.simulate(plant, 0.05, stabilisation=kb.Baumgarte(50.0)),
        kb.simulate(plant, 0.05, stepper=kb.DormandPrince(1e-10)),
    ]
    for run in runs[:2]:
        assert np.abs(run.q[-1] - runs[2].q[-1]).max() < 1e-5
