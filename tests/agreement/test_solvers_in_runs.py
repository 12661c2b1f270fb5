"""One truth in every solver: all solvers, backends and steppers give the same run, whatever the rows depend on.

`python tests/agreement/test_solvers_in_runs.py` prints the table of the whole catalogue: the worst disagreement of each
way to run with the compiled loop at a tight tolerance, and where it is.
"""

import warnings
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import kalaba as kb
from kalaba.robots.catalogue import ENTRIES
from kalaba.steppers import Stepper

SOLVERS = (kb.MaskedLDL(), kb.UdwadiaKalaba(), kb.KKT(), kb.NullSpace())
DURATION = 0.02
SHARP = kb.DormandPrince(rtol=1e-12, atol=1e-13)
RK4, RADAU = kb.RungeKutta4(1e-3), kb.Radau(rtol=1e-9, atol=1e-11)
PLAIN = (RK4, kb.DormandPrince(rtol=1e-10, atol=1e-12), kb.Auto())  # which the plain loop takes too
# How far runs may be apart, of the largest number of the state. The same method on the same rows: rounding, times the
# condition of the rows and of beams' mass matrices. Another method: its own error over 20 ms, tolerance per step for
# those that adapt, h² or h (times the highest frequency of the catalogue's beams, some 1e3 rad/s) for the others.
SAME, ADAPTIVE, DEFAULT, SECOND, FIRST = 1e-9, 1e-7, 1e-6, 1e-3, 1e-2
FINE = 1e-4
OTHERS = {
    kb.Auto(): DEFAULT,
    kb.DormandPrince(rtol=1e-10, atol=1e-12): ADAPTIVE,
    RADAU: ADAPTIVE,
    kb.GeneralisedAlpha(FINE): SECOND,
    kb.HHT(FINE): SECOND,
    kb.Newmark(FINE): SECOND,
    kb.WilsonTheta(FINE): SECOND,
    kb.SemiImplicitEuler(FINE): FIRST,
}
SMALL = 6  # velocities: Radau in plain Python takes its time, and beams of kHz take minutes of it
WELDED = ("dual-mobile-arm", {"path": False, "closure": "weld"})
EVERYDAY = (WELDED, ("bennett", {}), ("four-bar", {}), ("sarrus", {}))
WHOLE = (*((name, {}) for name in ENTRIES), WELDED)


def moved(run: kb.Run) -> np.ndarray:
    return np.hstack([run.q, run.v])


def difference(run: kb.Run, expected: np.ndarray) -> float:
    return float(np.abs(moved(run) - expected).max() / max(1.0, np.abs(expected).max()))


def simulate(plant: kb.Plant, stepper: Stepper) -> kb.Run:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of jolts and deflections: not the question here
        return kb.simulate(plant, DURATION, stepper=stepper, save_every=DURATION / 4)


class Way(NamedTuple):
    """A way to run, how far it is from the compiled loop, and how far it may be."""

    solver: str
    backend: str
    stepper: str
    apart: float
    allowed: float


def ways(name: str, options: dict) -> Iterator[Way]:
    """Every stepper in the compiled loop against a sharp one; solvers and backends against the same method in it."""
    system = kb.load(name, **options)
    native = kb.build(system)
    is_small = len(native.velocities) < SMALL and all(body.solid.beam is None for body in native.machine.bodies)
    sharp, compiled = moved(simulate(native, SHARP)), {stepper: moved(simulate(native, stepper)) for stepper in PLAIN}
    for stepper, allowed in OTHERS.items():
        apart = difference(simulate(native, stepper), sharp)
        yield Way("MaskedLDL", "Native", type(stepper).__name__, apart, allowed)
    for backend, solver in product((kb.Native(), kb.Interpreted()), SOLVERS):
        plant = kb.build(system, backend=backend, solver=solver)
        words = type(solver).__name__, type(backend).__name__
        if not plant.is_native:
            for stepper, expected in compiled.items():
                yield Way(*words, type(stepper).__name__, difference(simulate(plant, stepper), expected), SAME)
        if not plant.is_native and is_small:
            yield Way(*words, "Radau", difference(simulate(plant, RADAU), sharp), ADAPTIVE)


def check(name: str, options: dict) -> None:
    failing = [way for way in ways(name, options) if not way.apart < way.allowed]
    assert not failing


@pytest.mark.parametrize(("name", "options"), EVERYDAY)
def test_all_ways_to_run_agree(name, options):
    check(name, options)


@pytest.mark.long
@pytest.mark.parametrize(("name", "options"), WHOLE)
def test_all_ways_to_run_agree_over_the_catalogue(name, options):
    check(name, options)


def welded_twice() -> tuple[kb.System, kb.System]:
    """A bent arm of two bodies welded to each other; and the same with the weld said again by a connection.

    All rows of the connection are rounding: the bodies cannot move against each other.
    """
    solid = kb.Solid(1.5, com=(0.2, 0.1, 0.05), inertia=(0.1, 0.12, 0.14))
    at, seat = kb.Pose((0.31, 0.17, -0.23), rpy=(0.4, -0.9, 0.3)), kb.Pose((0.11, -0.27, 0.19), rpy=(0.7, 0.2, -0.5))
    turn, turned = (Rotation.from_euler("xyz", pose.rpy) for pose in (at, seat))
    x, y, z, w = (turn * turned).as_quat()
    there = kb.Pose(tuple(np.array(at.position) + turn.apply(seat.position)), quaternion=(w, x, y, z))
    once = (
        kb.Body("a", solid, joint=kb.Revolute((1, 2, 3))),
        kb.Body("b", solid, parent="a", at=at, joint=kb.Weld()),
        kb.Frame("f", "b", seat),
    )
    return kb.System("once", once), kb.System("twice", (*once, kb.Connection("again", "f", parent="a", at=there)))


@pytest.mark.parametrize("backend", [kb.Native(), kb.Interpreted()])
@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_rows_that_are_pure_rounding_change_nothing(solver, backend):
    once, twice = welded_twice()
    free, plant = kb.build(once), kb.build(twice, backend=backend, solver=solver)
    expected = free.motion([0.3], [1.0]).acceleration
    for noise in (0.0, 1e-9, 1e-3):
        assert plant.motion([0.3], [1.0 + noise]).acceleration == pytest.approx(
            free.motion([0.3], [1.0 + noise]).acceleration, rel=1e-12
        )
    assert plant.motion([0.3], [1.0]).acceleration == pytest.approx(expected, rel=1e-12)
    run, alone = (kb.simulate(p, DURATION, start=([0.3], [1.0]), stepper=RK4) for p in (plant, free))
    assert run.q == pytest.approx(alone.q, rel=1e-12)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9])
def test_radau_takes_rows_that_depend_on_the_manifold(tolerance):
    plant = kb.build(kb.load("bennett"))
    expected = kb.simulate(plant, 0.3, stepper=SHARP, save_every=0.05)
    run = kb.simulate(plant, 0.3, stepper=kb.Radau(rtol=tolerance, atol=tolerance / 100), save_every=0.05)
    assert np.abs(run.q - expected.q).max() < tolerance  # steps of this accuracy, some ten of them
    assert run.worst is not None
    assert run.worst.value < 1e-11


def test_the_plain_loop_says_what_it_chose_and_names_the_row_that_contradicts():
    """Two rows that agree until 5 ms and part then: the run ends there and names one of them."""
    slide = kb.System(
        "slide",
        parts=(
            kb.Body("block", kb.Box((0.1, 0.1, 0.1), mass=1.0), joint=kb.Prismatic(kb.X)),
            kb.Constraint("first", "block.travel - t"),
            kb.Constraint("second", "block.travel - t - max(0, t - 0.005)^3"),
        ),
        start=kb.Start(speed={"block.travel": 1.0}),
    )
    endings = {}
    for backend in (kb.Native(), kb.Interpreted()):
        run = kb.simulate(kb.build(slide, backend=backend), 0.02, stepper=kb.RungeKutta4(1e-3), check=False)
        endings[type(backend).__name__] = (run.status.ending, run.status.time, run.status.message)
        assert run.effort.choices[0] == (0.0, 1)
    assert endings["Native"] == endings["Interpreted"]


def table() -> None:
    """Print the worst disagreement of each way to run over the catalogue."""
    worst: dict[tuple[str, ...], tuple[float, str]] = {}
    for name, options in WHOLE:
        for *words, apart, _ in ways(name, options):
            key, machine = tuple(words), f"{name} (weld)" if options else name
            worst[key] = max(worst.get(key, (0.0, "")), (apart, machine))
    for (solver, backend, stepper), (apart, machine) in sorted(worst.items()):
        print(f"{solver:14} {backend:12} {stepper:18} {apart:8.1e}  {machine}", flush=True)  # noqa: T201


if __name__ == "__main__":
    table()
