"""Any size: the same machine at a micrometre and at ten kilometres gives the same results, free of units."""

import numpy as np
import pytest

import any_size
import kalaba as kb
from any_size import STUDIES, differences, five_bar, hung, slider_crank, wrist_arm
from kalaba.robots.catalogue import catalog
from sizes import factor, scaled

pytestmark = pytest.mark.filterwarnings("ignore::kalaba.analyse.at_rest.NotInEquilibriumWarning")

METRE = (1.0, 1.0, 1.0)
DECIMAL = ((1e-6, 1e-18, 1e-3), (1e-3, 1e-6, 1.0), (1e2, 1e6, 10.0), (1e4, 1e12, 1.0))  # not to the last bit
ROUNDING = 1e-6  # of efforts and frequencies: what some hundred steps make of other last digits


@pytest.mark.parametrize("name", ["slider_crank", "balls", "five_bar", "gantry", "massless"])
def test_every_call_gives_the_same_at_a_micrometre_and_at_ten_kilometres(name: str):
    assert differences(STUDIES[name](), ("micrometre", "ten kilometres, same times")) == []


@pytest.mark.long
@pytest.mark.parametrize("name", STUDIES)
def test_every_call_gives_the_same_at_all_sizes(name: str):
    assert differences(STUDIES[name]()) == []


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name, _ in catalog()])
def test_every_call_on_a_machine_of_the_catalogue_gives_the_same_at_all_sizes(name: str):
    assert differences(kb.load(name)) == []


@pytest.mark.parametrize("size", DECIMAL)
@pytest.mark.parametrize("name", ["slider_crank", "balls", "legs", "bricard"])
def test_rank_and_condition_do_not_depend_on_the_unit_of_length(name: str, size: tuple[float, float, float]):
    here, there = (kb.check(scaled(STUDIES[name](), *s)) for s in (METRE, size))
    assert (there.rank, there.freedoms, there.freedoms_nearby) == (here.rank, here.freedoms, here.freedoms_nearby)
    assert there.non_unique_reactions == here.non_unique_reactions
    assert there.smallest_singular_value == pytest.approx(here.smallest_singular_value, rel=ROUNDING)


@pytest.mark.parametrize("length", [1e-6, 1e-2, 30.0, 100.0, 1e3, 1e4])
def test_a_load_on_a_rope_comes_to_rest_below_its_peg(length: float):
    plant = kb.build(scaled(hung(), length, 1.0), backend=kb.Interpreted())
    state = kb.equilibrium(plant)
    expected = (0, 0, 2 - 1 - np.sqrt(0.3**2 + 0.1**2 + 0.2**2))  # the hook below the peg, the centre below the hook
    assert plant.pose("p", state.q).position / length == pytest.approx(expected, abs=1e-9)
    assert kb.frequencies(plant, state).hertz[-1] == pytest.approx(2.349717348, rel=ROUNDING)


@pytest.mark.parametrize("length", [1e-6, 300.0, 1e4, 1e5])
def test_a_loop_with_a_travel_closes(length: float):
    plant = kb.build(scaled(slider_crank(), length, 1.0), backend=kb.Interpreted())
    angle = np.arcsin(0.1 * np.sin(0.5) / 0.3)
    travel = plant.start.q[plant.coordinates.index("piston.travel")]
    assert travel / length == pytest.approx(0.1 * np.cos(0.5) + 0.3 * np.cos(angle), rel=1e-13)


@pytest.mark.parametrize("size", DECIMAL)
def test_assembly_modes_and_singular_values_are_the_same(size: tuple[float, float, float]):
    here, there = (kb.build(scaled(five_bar(), *s)) for s in (METRE, size))
    held = {"c1.angle": 2.0, "c2.angle": 1.0}
    modes = [kb.assembly_modes(plant, held, tries=40) for plant in (here, there)]
    assert len(modes[1]) == len(modes[0]) == 2
    for one, other in zip(*modes, strict=True):
        assert other.q == pytest.approx(one.q, abs=1e-9)
    one, other = (kb.singularity(plant, "r1.tip", plant.start.q, position_only=True) for plant in (here, there))
    assert (other.serial[0], other.parallel[0]) == pytest.approx((one.serial[0], one.parallel[0]), rel=ROUNDING)


@pytest.mark.parametrize("size", DECIMAL)
def test_an_arm_reaches_its_pose_in_as_many_branches(size: tuple[float, float, float]):
    q, nearby = np.array([0.3, -0.4, 0.8, 0.5, 0.6, -0.3]), 0.2
    here, there = (kb.build(scaled(wrist_arm(), *s), backend=kb.Interpreted()) for s in (METRE, size))
    found = [kb.inverse_kinematics(p, "l5.tip", p.pose("l5.tip", q), guess=q + nearby) for p in (here, there)]
    assert found[1].q == pytest.approx(q, abs=1e-9)
    assert found[1].measure == pytest.approx(found[0].measure, rel=ROUNDING)
    assert len(kb.branches(there, "l5.tip", there.pose("l5.tip", q))) == 8


@pytest.mark.parametrize("size", DECIMAL)
def test_motors_lead_a_point_around_a_circle(size: tuple[float, float, float]):
    efforts = []
    for length, mass, time in (METRE, size):
        plant = kb.build(scaled(five_bar(), length, mass, time))
        circle = kb.path.circle(diameter=0.06 * length, speed=0.1 * length / time, normal=kb.Y)
        law = kb.servo(plant, kb.follow("r1.tip", circle, orientation="free"), frequency=20 / time, rate=1000 / time)
        run = kb.simulate(plant, 0.5 * time, control=law, save_every=0.05 * time)
        efforts.append(run.actuation / factor("N*m", (length, mass, time)))
    assert np.abs(efforts[1] - efforts[0]).max() < ROUNDING * np.abs(efforts[0]).max()


@pytest.mark.parametrize("size", any_size.SIZES.values())
def test_a_planned_motion_is_the_same(size: tuple[float, float, float]):
    plans = []
    for length, mass, time in (METRE, size):
        plant = kb.build(scaled(five_bar(), length, mass, time))
        plan = kb.plan_motion(plant, end={"c1.angle": 1.7, "c2.angle": 1.3}, duration=0.5 * time, knots=11)
        plans.append((plan.q, plan.actuation / factor("N*m", (length, mass, time))))
    for here, there in zip(*plans, strict=True):
        assert there == pytest.approx(here, rel=ROUNDING, abs=ROUNDING * np.abs(here).max())


def held_load(length: float, mass: float, time: float) -> kb.System:
    """Two arms that hold a load, put together at a size."""
    arm = kb.System(
        "arm",
        (
            kb.Body("upper", kb.Rod(0.5, mass=2.0), joint=kb.Revolute(kb.Z)),
            kb.Body("lower", kb.Rod(0.4, mass=1.5), parent="upper.tip", joint=kb.Revolute(kb.Z)),
            kb.Body("hand", kb.Rod(0.1, mass=0.5), parent="lower.tip", joint=kb.Revolute(kb.Z)),
            kb.Frame("palm", parent="hand", at=(0.1, 0, 0)),
            *(kb.Actuator(f"motor_{name}", f"{name}.angle") for name in ("upper", "lower", "hand")),
        ),
        start=kb.Start(hold={"upper.angle": 0.4, "lower.angle": 0.9, "hand.angle": -0.3}),
    )
    arm = scaled(arm, length, mass, time)
    load = kb.Body("load", kb.Box((0.2 * length, 0.1 * length, 0.1 * length), mass=3.0 * mass))
    arms = (arm.place("left"), arm.place("right", at=kb.Pose((1.4 * length, 0, 0), rpy=(0, 0, np.pi))))
    seats = (kb.Pose((-0.1 * length, 0, 0)), kb.Pose((0.1 * length, 0, 0), rpy=(0, 0, np.pi)))
    grasps = [kb.Grasp(arm.name, "load", seat) for arm, seat in zip(arms, seats, strict=True)]
    at = kb.Start(hold={"load": kb.Pose((0.7 * length, 0.2 * length, 0))})
    return kb.hold(load, arms, tuple(grasps), start=at)


@pytest.mark.parametrize("size", DECIMAL)
def test_arms_find_their_grasps(size: tuple[float, float, float]):
    here, there = (kb.build(held_load(*s), backend=kb.Interpreted()) for s in (METRE, size))
    units = any_size.of_units(there.machine.coordinates, size)
    assert there.start.q / units == pytest.approx(here.start.q, abs=1e-9)
    assert kb.check(there).smallest_singular_value == pytest.approx(kb.check(here).smallest_singular_value, rel=1e-9)


@pytest.mark.parametrize("size", [(1e-6, 1e-18, 1.0), (1e4, 1e12, 1.0)])  # Carry's frequency is in rad/s
def test_arms_carry_their_load_alike(size: tuple[float, float, float]):
    runs = []
    for length, mass, time in (METRE, size):
        plant = kb.build(scaled(kb.load("two-arm-carry"), length, mass, time))
        here = plant.pose("load", plant.start.q).position
        line = kb.path.line(tuple(here), tuple(np.add(here, (0, 0, 0.1 * length))), speed=0.1 * length)
        runs.append(kb.simulate(plant, 0.05, control=kb.Carry(line)))
    here, there = runs
    assert there.effort.steps == pytest.approx(here.effort.steps, abs=2)
    assert there.actuation / factor("N*m", size) == pytest.approx(here.actuation, rel=1e-6, abs=1e-6)
