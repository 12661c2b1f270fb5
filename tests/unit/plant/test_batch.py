"""Batches: one rule of shapes, for states, for all that acts on them, and for parameters."""

import numpy as np
import pytest

import kalaba as kb

COUNT = 11  # more than one block of lanes, the last of them not full
BACKENDS = {"native": kb.Native(), "threads": kb.Native(threads=2), "interpreted": kb.Interpreted()}


@pytest.fixture(scope="module", params=BACKENDS, name="plant")
def made(request):
    return kb.build(kb.load("four-bar"), backend=BACKENDS[request.param])


def states(plant):
    rng = np.random.default_rng(3)
    q = plant.start.q + rng.normal(scale=0.02, size=(COUNT, 3))
    return q, rng.normal(size=(COUNT, 3))


def same(batch, singles):
    """Equal to the bit, field by field."""
    for field, entries in zip(batch, zip(*singles, strict=True), strict=True):
        np.testing.assert_array_equal(field, np.array(entries))


@pytest.mark.parametrize("ask", ["reaction", "derivatives", "constraint", "energy", "motion"])
def test_what_has_several_parts_is_stacked_in_each(plant, ask):
    q, v = states(plant)
    first = ("pin",) if ask == "reaction" else ()
    question = getattr(plant, ask)
    same(question(*first, q, v), [question(*first, *state) for state in zip(q, v, strict=True)])


def test_any_argument_makes_a_batch_and_the_others_hold_for_all(plant):
    q, v = plant.start
    times, speeds, efforts = np.linspace(0, 1, 4), np.linspace(v, v + 1, 4), np.linspace(-1, 1, 4)[:, None]
    assert plant.residual(q, times).shape == (4, 5)
    assert plant.mass_matrix(q[np.newaxis]).shape == (1, 3, 3)
    assert plant.velocity("rocker", q, speeds).shape == (4, 6)
    push = np.linspace(np.zeros(6), np.ones(6), 4)
    for acting in (
        {"actuation": efforts},
        {"force": speeds},
        {"t": times},
        {"t": times.tolist()},
        {"wrenches": {"rocker": push}},
    ):
        motion = plant.motion(q, v, **acting)
        (name, values), *_ = acting.items()
        rows = [{"rocker": row} for row in push] if name == "wrenches" else values
        same(motion, [plant.motion(q, v, **{name: row}) for row in rows])


def test_the_force_required_for_a_motion_is_what_acts_in_it(plant):
    q, v = states(plant)
    q, v = plant.project(kb.State(q, v))
    motion = plant.motion(q, v, actuation=[0.3])
    acting = plant.actuation_map(q) @ [0.3] + motion.constraint_force
    required = plant.required_force(q, v, motion.acceleration)
    np.testing.assert_allclose(required, acting, atol=1e-11 * np.abs(acting).max())  # the rounding of a solve
    with pytest.raises(kb.KalabaError, match=r"expected shape \(3,\), or a batch \(count, 3\), got \(2,\)"):
        plant.required_force(q, v, [1.0, 2.0])


def test_a_batch_of_none_has_no_results():
    plant = kb.build(kb.load("four-bar"))
    nowhere = np.zeros((0, 3))
    assert plant.jacobian("rocker", nowhere).shape == (0, 6, 3)
    assert plant.motion(nowhere, nowhere).acceleration.shape == (0, 3)
    with pytest.raises(kb.KalabaError, match="expected at least one state"):
        plant.reaction("pin", nowhere, nowhere)


def test_parameters_per_state_give_what_machines_with_these_numbers_give(plant):
    q, v = plant.start.q, plant.start.v + 0.1
    lengths = {"coupler.length": np.linspace(0.40, 0.41, COUNT), "coupler.mass": np.linspace(0.5, 1.2, COUNT)}
    alone = [plant.with_parameters({name: float(values[k]) for name, values in lengths.items()}) for k in range(COUNT)]
    same(plant.motion(q, v, parameters=lengths), [one.motion(q, v) for one in alone])
    same(plant.energy(q, v, parameters=lengths), [one.energy(q, v) for one in alone])
    same(plant.pose("coupler.tip", q, parameters=lengths), [one.pose("coupler.tip", q) for one in alone])
    same(plant.reaction("pin", q, v, parameters=lengths), [one.reaction("pin", q, v) for one in alone])
    same([plant.mass_matrix(q, parameters=lengths)], [[one.mass_matrix(q)] for one in alone])


def test_parameters_of_one_state_leave_no_leading_axis(plant):
    q, v = plant.start
    heavy = plant.with_parameters({"coupler.mass": 2.0})
    given = {"parameters": {"coupler.mass": 2.0}}
    np.testing.assert_array_equal(plant.mass_matrix(q, **given), heavy.mass_matrix(q))
    np.testing.assert_array_equal(plant.motion(q, v, **given), heavy.motion(q, v))
    assert plant.energy(q, v, **given) == heavy.energy(q, v)
    assert isinstance(plant.energy(q, v, **given).total, float)


def test_far_from_the_plants_own_numbers_each_state_is_looked_at_alone():
    plant = kb.build(kb.load("four-bar"))
    q, v = plant.start
    masses = np.array([0.8, 8e4, 0.8])  # whose rows have far smaller pivots than those at the start
    motion = plant.motion(q, v, parameters={"coupler.mass": masses})
    same(motion, [plant.with_parameters({"coupler.mass": float(mass)}).motion(q, v) for mass in masses])


def test_limbs_that_are_alike_have_parameters_of_their_own():
    plant = kb.build(kb.load("n-arm-carry", arms=3))
    assert plant.limb_machine is not None
    name = next(p.name for p in plant.machine.free_parameters if p.name.endswith(".mass"))
    q, v = plant.start
    masses = np.linspace(1.0, 1.4, COUNT)
    motion = plant.motion(q, v, parameters={name: masses})
    same(motion, [plant.with_parameters({name: float(mass)}).motion(q, v) for mass in masses])


WRONG = {
    "unknown": (lambda p, q, v: p.motion(q, v, parameters={"coupler.mas": 1}), r"no parameter 'coupler\.mas'; did you"),
    "structure": (lambda p, q, v: p.bias(q, v, parameters={"crank.at.x": [1, 2]}), r"at\.x shapes the equations"),
    "negative": (lambda p, q, v: p.bias(q, v, parameters={"coupler.mass": [-1, 2]}), "expected a mass of zero or more"),
    "no map": (lambda p, q, v: p.bias(q, v, parameters=3), r"expected \{name: one number, or one per state\}, got 3"),
    "no number": (lambda p, q, _: p.mass_matrix(q, parameters={"coupler.mass": "x"}), "expected 1 number, got 'x'"),
    "NaN": (lambda p, q, _: p.mass_matrix(q, parameters={"coupler.mass": np.nan}), "coupler.mass: expected finite"),
    "lengths": (lambda p, q, v: p.bias([q] * 3, v, parameters={"crank.mass": [1, 2]}), r"of shape \(3,\), got \(2,\)"),
    "times": (lambda p, q, _: p.residual([q, q], np.zeros(3)), r"t: expected a batch of shape \(2,\), got \(3,\)"),
    "table of times": (lambda p, q, _: p.residual(q, np.zeros((2, 2))), "t: expected a number, or one per state"),
    "three axes": (lambda p, q, _: p.mass_matrix([[q, q]]), r"expected a batch of shape \(1, 3\), got \(1, 2, 3\)"),
    "width": (lambda p, q, _: p.bias([q, q], [0, 0]), r"v: expected a batch of shape \(2, 3\), got \(2,\)\. For all"),
    "freedoms": (lambda p, q, v: p.energy([q, q], [v, v, v]), r"v: expected a batch of shape \(2, 3\), got \(3, 3\)"),
}  # fmt: skip


@pytest.mark.parametrize("mistake", WRONG)
def test_a_wrong_shape_says_what_was_expected(plant, mistake):
    call, words = WRONG[mistake]
    with pytest.raises(kb.KalabaError, match=words) as refused:
        call(plant, *plant.start)
    assert "\n" not in str(refused.value)


def test_states_with_other_freedoms_cannot_be_stacked():
    flat = kb.Body("arm", kb.Rod(1.0, mass=1.0), joint=kb.Revolute(kb.Y))
    folded = kb.System("folded", parts=(flat, kb.Constraint("still", "arm.angle^2")))
    plant = kb.build(folded)
    with pytest.raises(kb.KalabaError, match="same number of freedoms in a batch"):
        plant.derivatives([[0.0], [1.0]], [0.0])
