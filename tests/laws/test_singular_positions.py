"""Through singular positions: a tighter tolerance gives a better answer, from any start and however many rows vanish.

A row of four-bars with links of one length is a row of parallelograms, and its motion that of one pendulum; lying flat,
each of them could go on crossed. Sarrus's legs are singular flat and stretched.
"""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import kalaba as kb
from kalaba.plant.reference import RowsInUse
from kalaba.plant.state import State
from kalaba.results.run import Ending

HINGE = kb.Revolute(kb.Z)
TOLERANCES = (1e-6, 1e-8, 1e-10, 1e-11, 1e-12)
# Of the tolerance of a step: what some hundred of them add up to in a motion that parts from its neighbours by as much.
ADDS_UP = 300.0


def four_bars(count: int) -> kb.System:
    """IFToMM's problem A02: uprights of 1 m that turn together, rods between their tips, 1 kg each."""
    uprights = [
        kb.Body(f"v{i}", kb.Rod(1.0, mass=1.0, axis=kb.Y), at=(float(i), 0, 0), joint=HINGE) for i in range(count + 1)
    ]
    rods: list[kb.Body | kb.Connection] = []
    for i in range(count):
        rods.append(kb.Body(f"h{i}", kb.Rod(1.0, mass=1.0, axis=kb.X), parent=f"v{i}.tip", joint=HINGE))
        rods.append(kb.Connection(f"c{i}", f"h{i}.tip", parent=f"v{i + 1}.tip", joint=HINGE))
    return kb.System(f"four-bars-{count}", (*uprights, *rods), gravity=(0, -9.81, 0))


def upright(plant: kb.Plant, angle: float, speed: float) -> State:
    """All uprights at one angle, the rods level."""
    signs = np.array([1.0 if name.startswith("v") else -1.0 for name in plant.coordinates])
    return State(angle * signs, speed * signs)


def pendulum(count: int, angle: float, speed: float, time: np.ndarray) -> np.ndarray:
    """The angle of the uprights, by the one equation of their motion."""
    rate = 9.81 * ((count + 1) / 2 + count) / ((count + 1) / 3 + count)
    solution = solve_ivp(
        lambda _, y: (y[1], rate * np.sin(y[0])),
        (0, time[-1]),
        (angle, speed),
        t_eval=time,
        method="DOP853",
        rtol=3e-14,
        atol=1e-15,
    )
    return np.asarray(solution.y[0])


def stepper(tolerance: float) -> kb.DormandPrince:
    return kb.DormandPrince(rtol=tolerance, atol=0.1 * tolerance)


def errors(plant: kb.Plant, count: int, angle: float, speed: float, duration: float) -> dict[float, float]:
    """How far the first upright is off at each tolerance; every run comes to its end without a jolt."""
    found = {}
    for tolerance in TOLERANCES:
        run = kb.simulate(
            plant, duration, start=upright(plant, angle, speed), stepper=stepper(tolerance), save_every=0.05
        )
        assert run.status.ending is Ending.DONE
        assert run.effort.jolt[0] < 1e-6  # rounding, of some 1e-16 over the square of how near steps end
        found[tolerance] = float(np.abs(run["v0.angle"] - pendulum(count, angle, speed, run.time)).max())
    return found


@pytest.mark.parametrize("count", [1, 2, 10, pytest.param(40, marks=pytest.mark.long)])
def test_a_tighter_tolerance_is_better_through_the_flat_position(count):
    plant = kb.build(four_bars(count))
    for angle, speed in ((0.1, -5.0), (0.36, -4.0), (0.49, 0.8), (0.88, 0.0), (1.4, 4.0), (1.53, 5.0)):
        off = errors(plant, count, angle, speed, duration=4.0)
        assert all(error < ADDS_UP * tolerance for tolerance, error in off.items()), (angle, speed, off)


@pytest.mark.parametrize("count", [1, 10])
@pytest.mark.parametrize("beside", [1e-2, 1e-3, 1e-5, -1e-3])
def test_a_start_beside_the_flat_position_is_like_any_other(count, beside):
    plant = kb.build(four_bars(count))
    for speed in (2.0, -2.0):
        off = errors(plant, count, np.pi / 2 - beside, speed, duration=1.5)
        assert all(error < ADDS_UP * tolerance for tolerance, error in off.items()), (speed, off)


@pytest.mark.parametrize(("elevation", "speed"), [(0.4, 2.0), (1.0, 0.0), (1.0, -3.0), (1.2, 2.0)])
def test_sarrus_passes_flat_and_stretched_at_any_tolerance(elevation, speed):
    bent = np.pi - 2 * elevation
    start = kb.Start(
        hold={"leg1.lower.angle": elevation},
        speed={"leg1.lower.angle": speed},
        guess={
            "leg1.upper.angle": bent,
            "leg2.lower.angle": elevation,
            "leg2.upper.angle": bent,
            "platform.angle": elevation - np.pi,
        },
    )
    plant = kb.build(replace(kb.load("sarrus"), start=start))
    runs = {
        tolerance: kb.simulate(
            plant, 2.0, stepper=kb.DormandPrince(rtol=tolerance, atol=0.01 * tolerance), save_every=0.05
        )
        for tolerance in (1e-8, 1e-9, 1e-10, 1e-11, 1e-12)
    }
    exchanged = np.ptp(runs[1e-12].observed["kinetic"])
    for tolerance, run in runs.items():
        assert run.status.ending is Ending.DONE
        assert run.effort.jolt[0] < 1e-6
        assert np.abs(run.energy_balance).max() < 1000 * tolerance * exchanged
    off = [np.abs(runs[tolerance].q - runs[1e-12].q).max() for tolerance in (1e-8, 1e-9, 1e-10, 1e-11)]
    assert all(after < before / 3 for before, after in pairwise(off)), off


@pytest.mark.parametrize("tolerance", [1e-8, 1e-12])
def test_the_plain_loop_passes_as_the_compiled_one_does(tolerance):
    """The same steps but for those that rounding decides, and the same motion."""
    system = four_bars(2)
    native, plain = kb.build(system), kb.build(system, solver=kb.KKT())
    start = upright(native, 0.3, -1.0)
    runs = [kb.simulate(plant, 1.2, start=start, stepper=stepper(tolerance)) for plant in (native, plain)]
    assert abs(runs[0].effort.steps - runs[1].effort.steps) <= 2
    assert np.abs(runs[0].q - runs[1].q).max() < 10 * tolerance


@pytest.mark.parametrize("name", ["four-bar", "stewart", "bennett"])
def test_what_projection_leaves_of_an_error_obeys_the_rows(name):
    """P e moves along the rows, is P of itself, and with e along the rows it is e; quaternions stay unit."""
    plant = kb.build(kb.load(name))
    state = plant.start
    rows = RowsInUse(plant)
    rows.watch(state, 0.0, is_start=True)
    rng = np.random.default_rng(3)
    error = State(1e-9 * rng.normal(size=len(state.q)), 1e-9 * rng.normal(size=len(state.v)))
    left = rows.tangent_part(state, 0.0, error)
    A = plant.problem(plant.inputs(*state)).matrix
    assert np.abs(A @ left.v).max() < 1e-20
    again = rows.tangent_part(state, 0.0, left)
    for once, twice in zip(left, again, strict=True):
        assert twice == pytest.approx(once, abs=1e-7 * np.abs(once).max())
    moved = plant.residual(state.q + left.q)
    assert np.abs(moved - plant.residual(state.q)).max() < 1e-15  # of second order
    for i, _ in plant.machine.quaternions:
        assert abs(state.q[i : i + 4] @ left.q[i : i + 4]) < 1e-20
