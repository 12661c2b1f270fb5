"""Laws that whole runs obey: energy, momentum, closed rows, order of convergence."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

import kalaba as kb
from machines import closed_systems, random_system

CLOSED = 1e-14
SHARP = kb.DormandPrince(rtol=1e-11, atol=1e-12)


def coasting(name: str, speed: float) -> kb.System:
    """A linkage without gravity, its first joint at a speed."""
    system = replace(kb.load(name), gravity=(0, 0, 0))
    first = system.machine.coordinates[0].name
    return replace(system, start=replace(system.start, speed={first: speed}))


@pytest.mark.parametrize(("name", "speed"), [("bennett", 1.0), ("bennett", 4.5), ("sarrus", 0.4), ("sarrus", 0.75)])
def test_linkages_with_dependent_rows_keep_energy_and_stay_closed(name, speed):
    run = kb.simulate(coasting(name, speed), 2.0, stepper=kb.RungeKutta4(1e-3), save_every=1e-3)
    assert np.abs(run.v).max() <= 5.0
    kinetic = run.observed["kinetic"]
    assert np.ptp(kinetic) <= 1e-8 * kinetic.max()
    assert np.abs(run.residual).max() <= CLOSED
    assert run.worst is not None
    assert run.worst.value <= CLOSED


@pytest.mark.parametrize("name", ["four-bar", "five-bar", "planar-parallel", "puma560", "bennett", "sarrus"])
def test_energy_gained_is_work_done(name):
    case = kb.scenario(name)
    run = kb.simulate(case.system, 0.5, control=case.control, stepper=SHARP)
    exchanged = max(np.ptp(run.energy), np.abs(run.work).max(), np.ptp(run.observed["kinetic"]))
    assert np.abs(run.energy_balance).max() < 1e-8 * exchanged


@given(closed_systems(max_bodies=4, max_loops=2))
@settings(max_examples=6, suppress_health_check=[HealthCheck.too_slow])
def test_random_machines_with_loops_keep_their_books(machine):
    system, state = machine
    plant = kb.build(system)
    assume(not plant.is_singular and np.linalg.cond(plant.mass_matrix(state.q)) < 1e6)
    run = kb.simulate(plant, 0.05, start=(state.q, 0.1 * state.v), stepper=SHARP, check=False)
    assume(not run.status.failed)
    exchanged = max(1.0, np.ptp(run.energy), np.ptp(run.observed["kinetic"]), np.abs(run.work).max())
    assert np.abs(run.energy_balance).max() < 1e-6 * exchanged
    if plant.constraints:
        assert np.abs(run.residual).max() < 1e-12 * max(1.0, np.abs(run.q).max())


def floating_machines(count: int) -> list[kb.System]:
    """Random trees on a free base without gravity, those whose every motion has inertia."""
    found: list[kb.System] = []
    for seed in range(100):
        arm = replace(random_system(seed, 3), gravity=(0, 0, 0))
        base = kb.Body("base", kb.Box((0.4, 0.5, 0.6), mass=8.0))
        system = kb.System("floating", parts=(base, arm.place("arm", parent="base")), gravity=(0, 0, 0))
        plant = kb.build(system, backend=kb.Interpreted())
        inside = {*system.machine.displacements, *plant.coordinates}
        tied = any(spring.displacement.names - inside for spring in system.machine.springs)  # to the world
        if not tied and not plant.is_singular and np.linalg.cond(plant.mass_matrix(plant.start.q)) < 1e6:
            found.append(system)
        if len(found) == count:
            break
    return found


def test_momentum_of_a_floating_machine_is_kept():
    machines = floating_machines(4)
    assert len(machines) == 4
    for system in machines:
        plant = kb.build(system)
        v = np.random.default_rng(4).normal(size=len(plant.velocities)) * 0.3
        run = kb.simulate(plant, 0.2, start=(plant.start.q, v), stepper=SHARP)
        momentum = run.observed["momentum"]
        assert np.abs(momentum - momentum[0]).max() < 1e-8 * max(1.0, np.abs(momentum[0]).max())


@pytest.mark.parametrize(
    ("stepper", "order", "steps"),
    [(kb.RungeKutta4, 4, (4e-3, 2e-3)), (kb.SemiImplicitEuler, 1, (1e-3, 5e-4))],
)
def test_steppers_converge_with_their_order_on_a_closed_chain(stepper, order, steps):
    case = kb.scenario("five-bar")
    plant = kb.build(case.system)

    def end(method: object) -> np.ndarray:
        return kb.simulate(plant, 0.4, control=case.control, stepper=method).q[-1]

    exact = end(SHARP)
    errors = [np.abs(end(stepper(h)) - exact).max() for h in steps]
    assert abs(np.log2(errors[0] / errors[1]) - order) < 0.25


def test_projection_keeps_what_drifts_without_it():
    plant = kb.build(kb.load("four-bar"))
    free = kb.simulate(plant, 2.0, stabilisation=kb.NoStabilisation())
    damped = kb.simulate(plant, 2.0, stabilisation=kb.Baumgarte(frequency=50.0))
    kept = kb.simulate(plant, 2.0)
    assert np.abs(kept.residual).max() <= CLOSED
    assert np.abs(damped.residual).max() < np.abs(free.residual).max()
    assert np.abs(free.residual).max() > 1e-13


@pytest.mark.parametrize("offset", [1e-7, 1e-6, 1e-5, 1e-4])
def test_a_step_that_ends_beside_a_singular_position_keeps_energy_and_loop(offset):
    """A parallelogram passes its flat position, where all rows but one vanish, at 0.2 s."""
    hinge, angle = kb.Revolute(-kb.Y), 0.6 + offset
    parts = (
        kb.Body("crank", kb.Rod(0.2, mass=0.3), joint=hinge),
        kb.Body("coupler", kb.Rod(0.4, mass=0.8), parent="crank.tip", joint=hinge),
        kb.Body("rocker", kb.Rod(0.2, mass=0.6), parent="coupler.tip", joint=hinge),
        kb.Connection("pin", "rocker.tip", at=(0.4, 0, 0), joint=hinge),
    )
    guess = {"coupler.angle": -angle, "rocker.angle": angle - np.pi}
    start = kb.Start(hold={"crank.angle": angle}, guess=guess, speed={"crank.angle": -3.0})
    run = kb.simulate(kb.System("parallelogram", parts, gravity=(0, 0, 0), start=start), 0.3, save_every=1e-3)
    assert np.ptp(run.energy) < 1e-5 * run.energy[0]
    assert np.abs(run.residual).max() < 1e-10


LOOSE = (kb.Auto(rtol=1e-3, atol=1e-6), kb.Radau(rtol=1e-3, atol=1e-6), kb.RungeKutta4(0.05))


@pytest.mark.parametrize("backend", [kb.Native(), kb.Interpreted()], ids=["native", "interpreted"])
@pytest.mark.parametrize("stepper", LOOSE, ids=lambda stepper: type(stepper).__name__)
@pytest.mark.parametrize("name", ["four-bar", "bennett"])
def test_a_stop_holds_to_rounding_however_long_the_steps(name, stepper, backend):
    """The event is found on the states that are recorded: projected ones, not those between two steps."""
    plant = kb.build(kb.load(name), backend=backend)
    angle = plant.coordinates[0]
    goal = float(plant.start.q[0]) - 0.1
    run = kb.simulate(plant, 2.0, stepper=stepper, stop=f"{angle} < {goal!r}", check=False)
    assert run.status.ending.value == "stopped"
    assert abs(run.q[-1, 0] - goal) < 1e-13  # bisected to the last bits of time
    assert np.abs(run.residual).max() < 1e-13
