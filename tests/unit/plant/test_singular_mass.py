"""Links without mass inside loops move as the loops say; links that nothing holds are named."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ConstraintError

HINGE = kb.Revolute(-kb.Y)
SOLVERS = (kb.MaskedLDL(), kb.UdwadiaKalaba(), kb.KKT(), kb.NullSpace())


def slider_crank(rod: float = 0.0) -> kb.System:
    """A heavy crank drives a slider through a rod that may weigh nothing; gravity along the slider."""
    parts = (
        kb.Body("crank", kb.Rod(0.2, mass=1.5), joint=HINGE),
        kb.Body("slider", kb.Box((0.1, 0.1, 0.1), mass=2.0), joint=kb.Prismatic(kb.X)),
        kb.Body(
            "rod",
            kb.Solid(rod, com=(0.25, 0, 0), inertia=(0, rod * 0.5**2 / 12, rod * 0.5**2 / 12), tip=(0.5, 0, 0)),
            parent="slider",
            joint=HINGE,
        ),
        kb.Connection("pin", "rod.tip", parent="crank.tip", joint=kb.Revolute(-kb.Y)),
        kb.Actuator("motor", "crank.angle"),
    )
    start = kb.Start(
        hold={"crank.angle": 0.6}, guess={"slider.travel": 0.65, "rod.angle": 2.9}, speed={"crank.angle": 5.0}
    )
    return kb.System("slider-crank", parts, gravity=(-2.0, 0, -9.81), start=start)


def by_hand(q: np.ndarray, v: np.ndarray, torque: float) -> float:
    """θ̈ of the crank from one equation in one unknown: the rod only ties x to θ.

    x(θ) = a cos θ + √(l² − a² sin² θ); d/dt of the energy is the power: (I + m x'²) θ̈ + m x' x'' θ̇² = torque + weights.
    """
    a, rod, m, crank = 0.2, 0.5, 2.0, 1.5
    angle, rate = q[0], v[0]
    x = lambda s: a * np.cos(s) + np.sqrt(rod**2 - a**2 * np.sin(s) ** 2)  # noqa: E731
    h = 1e-4
    first = (x(angle + h) - x(angle - h)) / (2 * h)
    second = (x(angle + h) - 2 * x(angle) + x(angle - h)) / h**2
    inertia = crank * a**2 / 3
    weights = crank * (-2.0 * -np.sin(angle) - 9.81 * np.cos(angle)) * a / 2 + m * -2.0 * first
    return (torque + weights - m * first * second * rate**2) / (inertia + m * first**2)


@pytest.mark.parametrize("backend", [kb.Interpreted(), kb.Native()], ids=["interpreted", "native"])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda s: type(s).__name__)
def test_a_massless_rod_is_the_machine_of_one_coordinate(backend, solver):
    plant = kb.build(slider_crank(), backend=backend, solver=solver)
    assert plant.is_singular
    q, v = plant.start
    found = plant.motion(q, v, actuation=[0.8])
    assert found.acceleration[0] == pytest.approx(by_hand(q, v, 0.8), rel=1e-6)  # differences in by_hand
    A, b = plant.constraint(q, v)
    assert A @ found.acceleration == pytest.approx(b, abs=1e-8)
    residual = plant.mass_matrix(q) @ found.acceleration - plant.problem(plant.packed(q, v, actuation=[0.8])).force
    assert found.constraint_force == pytest.approx(residual, abs=1e-9)


def test_all_solvers_and_backends_agree_to_rounding():
    motions = []
    for backend in (kb.Interpreted(), kb.Native()):
        for solver in SOLVERS:
            plant = kb.build(slider_crank(), backend=backend, solver=solver)
            motions.append(plant.motion(*plant.start, actuation=[0.8]))
    for motion in motions[1:]:
        assert motion.acceleration == pytest.approx(motions[0].acceleration, rel=1e-9, abs=1e-9)
        assert motion.constraint_force == pytest.approx(motions[0].constraint_force, rel=1e-9, abs=1e-8)


def test_no_mass_is_the_limit_of_little_mass():
    """Linear extrapolation from two small masses is the massless motion."""
    plants = [kb.build(slider_crank(mass), backend=kb.Interpreted()) for mass in (0.0, 1e-4, 2e-4)]
    none, one, two = (p.motion(*p.start, actuation=[0.8]).acceleration for p in plants)
    assert [p.is_singular for p in plants] == [True, False, False]
    assert none == pytest.approx(2 * one - two, rel=1e-6)


def test_the_motion_does_not_depend_on_the_weight_of_the_rows():
    plant = kb.build(slider_crank())
    q, v = plant.start
    expected = kb.build(slider_crank(), backend=kb.Interpreted()).motion(q, v).acceleration
    packed = plant.inputs(q, v)
    packed[plant.layout.mask] = plant.choice.mask
    for factor in (1e-2, 1.0, 1e2):
        packed[plant.layout.w] = plant.row_weights * factor
        assert plant.evaluate("motion", packed)["acceleration"] == pytest.approx(expected, rel=1e-8)


def test_a_point_mass_on_a_ball_joint_spins_freely_about_its_rod_and_says_so():
    system = kb.System("s", (kb.Body("rod", kb.Rod(0.5, mass=1.0), joint=kb.Spherical()),))
    for backend in (kb.Interpreted(), kb.Native()):
        plant = kb.build(system, backend=backend)
        with pytest.raises(
            ConstraintError, match=r"s: the motion is not unique; nothing gives rod\.wx inertia.*Give the body mass"
        ):
            plant.motion(*plant.start)


def test_a_massless_body_that_nothing_holds_is_named():
    parts = (
        kb.Body("heavy", kb.Rod(0.5, mass=1.0), joint=HINGE),
        kb.Body("light", kb.Rod(0.5, mass=0.0), parent="heavy.tip", joint=HINGE),
    )
    for backend in (kb.Interpreted(), kb.Native()):
        plant = kb.build(kb.System("s", parts), backend=backend)
        with pytest.raises(ConstraintError, match=r"nothing gives light\.angle inertia or holds it"):
            plant.motion(*plant.start)
    with pytest.raises(ConstraintError, match=r"light\.angle"):
        kb.check(kb.build(kb.System("s", parts), backend=kb.Interpreted()))


def test_a_row_that_holds_a_massless_body_makes_the_motion_unique():
    parts = (
        kb.Body("heavy", kb.Rod(0.5, mass=1.0), joint=HINGE),
        kb.Body("light", kb.Rod(0.5, mass=0.0), parent="heavy.tip", joint=HINGE),
        kb.Constraint("gear", "light.angle - 2*heavy.angle"),
    )
    for backend in (kb.Interpreted(), kb.Native()):
        plant = kb.build(kb.System("s", parts, start=kb.Start(hold={"heavy.angle": 0.3})), backend=backend)
        heavy, light = plant.motion(*plant.start).acceleration
        assert heavy == pytest.approx(-9.81 * 0.25 * np.cos(0.3) / (0.25 / 3))
        assert light == pytest.approx(2 * heavy)


def test_steps_and_projection_work_without_mass():
    """Energy stays over a tenth of a second; the rows stay closed."""
    plant = kb.build(slider_crank(), backend=kb.Interpreted())
    state = plant.start
    before = plant.energy(*state).total
    for _ in range(50):
        state = plant.step(state, None, 2e-3)
    assert plant.energy(*state).total == pytest.approx(before, rel=1e-6)
    assert np.abs(plant.residual(state.q)).max() < 1e-12


def link(name: str, parent: str, axis: kb.Axis, solid: kb.Solid | None = None) -> kb.Body:
    return kb.Body(name, solid or kb.Solid(0.0), parent=parent, joint=kb.Revolute(axis))


ROD = kb.Body("rod", kb.Rod(0.5, mass=1.0))
TILTED = kb.Body("rod", kb.Rod(0.5, mass=1.0, axis=kb.Axis(1, 1, 0)))
BALL = kb.Body("ball", kb.Solid(1.0))
HEAVY = kb.Solid(1.0, inertia=(0.1, 0.2, 0.25))
SWUNG = (kb.Body("a", kb.Rod(1.0, mass=1.0), joint=HINGE), kb.Body("b", kb.Rod(1.0, mass=0.0), "a.tip", joint=HINGE))
OFF_AXIS = r"Give the body mass off that axis \(kb\.Cylinder instead of kb\.Rod"
UNHELD = {
    "free rod": ((ROD,), {}, rf"s: .*rod\.wx inertia or holds it \(rod, about its x axis\)\. {OFF_AXIS}"),
    "tilted": ((TILTED,), {}, rf"holds them \(rod, about its \[0\.7071 0\.7071 0\] axis\)\. {OFF_AXIS}"),
    "point": ((BALL,), {}, rf"ball\.wz inertia or holds them \(ball, about any axis\)\. {OFF_AXIS}"),
    "rod on a ball": ((ROD, kb.Connection("c", "rod", joint=kb.Spherical())), {}, rf"rod\.wx inertia .*{OFF_AXIS}"),
    "massless": (SWUNG, {}, r"nothing gives b\.angle inertia or holds it\. Give the body mass, or constrain it"),
    "wrist": (
        (link("a", "world", kb.Z), link("b", "a", kb.Y), link("c", "b", kb.Z, HEAVY)),
        {},
        r"at this position; nothing gives a\.angle, c\.angle inertia .* a singular position\. Start elsewhere",
    ),
    "toggle": (
        (*SWUNG, kb.Constraint("p", "(b.angle - 1)*(a.angle - 0.3)")),
        {"a.angle": 0.3, "b.angle": 1.0},
        r"at this position; nothing gives b\.angle inertia .* a singular position\. Start elsewhere",
    ),
}  # fmt: skip
ASKED = {
    "check": kb.check,
    "motion": lambda plant: plant.motion(*plant.start),
    "batch": lambda plant: plant.motion(*(np.tile(part, (3, 1)) for part in plant.start)),
    "step": lambda plant: plant.step(plant.start),
    "derivatives": lambda plant: plant.derivatives(*plant.start),
    "simulate": lambda plant: kb.simulate(plant, 0.01),
    "radau": lambda plant: kb.simulate(plant, 0.01, stepper=kb.Radau()),
    "linearise": kb.linearise,
    "frequencies": kb.frequencies,
}


@pytest.mark.parametrize("backend", [kb.Interpreted(), kb.Native()], ids=["interpreted", "native"])
@pytest.mark.parametrize("name", UNHELD)
def test_all_that_is_asked_of_a_motion_without_inertia_gives_one_answer(name, backend):
    """It names the body and the axis; a singular position is not blamed on the mass."""
    parts, hold, words = UNHELD[name]
    plant = kb.build(kb.System("s", parts, gravity=(0, 0, 0), start=kb.Start(hold=hold)), backend=backend)
    answers = set()
    for ask in ASKED.values():
        with pytest.raises(ConstraintError, match=words) as error:
            ask(plant)
        answers.add(str(error.value))
    assert len(answers) == 1
    assert "\n" not in answers.pop()


@pytest.mark.parametrize("seed", range(8))
def test_a_rod_along_any_axis_is_refused(seed):
    """Rounding may make its mass matrix regular; a run must not go on with that."""
    axis = kb.Axis(*np.random.default_rng(seed).normal(size=3))
    plant = kb.build(kb.System("s", (kb.Body("rod", kb.Rod(0.5, mass=1.0, axis=axis)),)), backend=kb.Interpreted())
    with pytest.raises(ConstraintError, match=r"s: the motion is not unique; .*\(rod, about its \["):
        kb.simulate(plant, 0.01)


def test_a_hinge_about_a_rods_own_axis_has_no_list_of_axes():
    system = kb.System("spinning", (kb.Body("rod", kb.Rod(1.0, mass=1.0), joint=kb.Revolute(kb.X)),))
    with pytest.raises(ConstraintError, match=r"rod\.angle") as caught:
        kb.simulate(system, 1.0)
    assert "()" not in str(caught.value)
