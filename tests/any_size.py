"""What a machine gives, free of units: numbers that are the same for the same machine at any size."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import kalaba as kb
from kalaba.errors import KalabaError
from kalaba.model.units import actuator_units
from kalaba.space.configuration import displaced
from sizes import factor, scaled

Size = tuple[float, float, float]  # how many times longer, heavier and slower
# About 1 µm and 1e-18 kg, 10 km and 1e12 kg of a machine of 1 m and 1 kg; in the same gravity, and with the same times.
# Powers of two scale numbers without rounding, so that what rounding decides is decided alike.
SIZES: dict[str, Size] = {
    "micrometre": (2.0**-20, 2.0**-60, 2.0**-10),
    "ten kilometres": (2.0**14, 2.0**40, 2.0**7),
    "micrometre, same times": (2.0**-20, 2.0**-60, 1.0),
    "ten kilometres, same times": (2.0**13, 2.0**40, 1.0),
}
HINGE = kb.Revolute(-kb.Y)


def slider_crank() -> kb.System:
    """Lengths and angles, a spring, a motor and a loop."""
    return kb.System(
        "slider",
        (
            kb.Body("crank", kb.Rod(0.1, mass=0.5), joint=HINGE),
            kb.Body("rod", kb.Rod(0.3, mass=0.4), parent="crank.tip", joint=HINGE),
            kb.Body("piston", kb.Solid(1.0, inertia=(1e-3,) * 3), joint=kb.Prismatic(kb.X, limits=(0.1, 0.5))),
            kb.Connection("wrist", "rod.tip", parent="piston", joint=HINGE),
            kb.Spring("cushion", "piston.travel", stiffness=200.0, damping=0.5, rest=0.3),
            kb.Actuator("pusher", "piston.travel", limit=40.0),
        ),
        start=kb.Start(hold={"crank.angle": 0.5}, guess={"rod.angle": -0.7, "piston.travel": 0.38}),
    )


def balls() -> kb.System:
    """Free bodies joined by rows of metres and of angles."""
    solid = kb.Solid(1.0, inertia=(0.02, 0.03, 0.04))
    return kb.System(
        "balls",
        (
            kb.Body("a", solid),
            kb.Body("b", solid),
            kb.Frame("a1", "a", (-0.5, 0, 0)),
            kb.Frame("a2", "a", (0.5, 0, 0)),
            kb.Frame("b1", "b", (-0.4, 0, 0)),
            kb.Connection("c1", "a1", joint=kb.Spherical()),
            kb.Connection("c2", "b1", parent="a2", joint=kb.Universal(kb.Y, kb.Z)),
        ),
        start=kb.Start(guess={"a": kb.Pose((0.5, 0, 0)), "b": kb.Pose((1.4, 0, 0), rpy=(0, 0, 0.3))}),
    )


def legs() -> kb.System:
    """A platform on five bars of constant length, which leave it one freedom."""
    top = ((0.3, 0, 0), (-0.15, 0.26, 0), (-0.15, -0.26, 0))
    base = ((0.5, 0.2, 0), (0.5, -0.2, 0), (-0.1, 0.55, 0), (-0.45, 0.35, 0), (-0.42, -0.36, 0))
    parts: list[Any] = [kb.Body("p", kb.Solid(5.0, inertia=(0.1, 0.12, 0.2)))]
    for i, (foot, corner) in enumerate(zip(base, (0, 0, 1, 1, 2), strict=True)):
        length = float(np.linalg.norm(np.add(top[corner], (0, 0, 0.7)) - np.array(foot)))
        parts.append(kb.Frame(f"t{i}", "p", top[corner]))
        parts.append(kb.Connection(f"leg{i}", f"t{i}", at=foot, joint=kb.Distance(length)))
    return kb.System("legs", tuple(parts), start=kb.Start(guess={"p": kb.Pose((0, 0, 0.7))}))


def hung() -> kb.System:
    """A load on a rope."""
    parts = (
        kb.Body("p", kb.Solid(5.0, inertia=(0.1, 0.12, 0.2))),
        kb.Frame("e", "p", (0.3, 0.1, 0.2)),
        kb.Connection("rope", "e", at=(0, 0, 2), joint=kb.Distance(1.0)),
    )
    return kb.System("hung", parts, start=kb.Start(guess={"p": kb.Pose((0, 0.2, 0.9))}))


def bricard() -> kb.System:
    """Six hinges in a ring, whose rows depend on each other while it is closed."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], dtype=float)
    axes, parts, parent = [kb.Y, kb.Z, kb.X] * 2, list[Any](), "world"
    for i in range(5):
        along = corners[i + 1] - corners[i]
        inertia = [1.01 / 12] * 3
        inertia[int(np.argmax(np.abs(along)))] = 0.02 / 12
        solid = kb.Solid(1.0, com=tuple(along / 2), inertia=tuple(inertia), tip=tuple(along))
        parts.append(kb.Body(f"b{i}", solid, parent=parent, joint=kb.Revolute(axes[i])))
        parent = f"b{i}.tip"
    ring = kb.Connection("close", "b4.tip", at=(0, 0, 1), joint=kb.Revolute(kb.X))
    return kb.System("bricard", (*parts, ring), gravity=(0, -9.81, 0))


def five_bar() -> kb.System:
    """Two motors that move a point."""
    return kb.System(
        "five",
        (
            kb.Body("c1", kb.Rod(0.2, mass=1.0), joint=HINGE),
            kb.Body("r1", kb.Rod(0.35, mass=1.0), parent="c1.tip", joint=HINGE),
            kb.Body("c2", kb.Rod(0.22, mass=1.0), at=(0.3, 0, 0), joint=HINGE),
            kb.Body("r2", kb.Rod(0.33, mass=1.0), parent="c2.tip", joint=HINGE),
            kb.Connection("pin", "r1.tip", parent="r2.tip", joint=HINGE),
            kb.Actuator("m1", "c1.angle", limit=30.0),
            kb.Actuator("m2", "c2.angle", limit=30.0),
        ),
        start=kb.Start(hold={"c1.angle": 2.0, "c2.angle": 1.0}, guess={"r1.angle": -1.0, "r2.angle": 1.0}),
    )


def wrist_arm() -> kb.System:
    """Six hinges with a spherical wrist on a travel along x."""
    axes = (kb.Z, kb.Y, kb.Y, kb.X, kb.Y, kb.X)
    tips = ((0, 0, 0.3), (0.4, 0, 0.05), (0.35, 0.02, 0), (0.1, 0, 0), (0.1, 0, 0), (0.08, 0, 0))
    parts, parent = list[Any](), "world"
    for i, (axis, tip) in enumerate(zip(axes, tips, strict=True)):
        solid = kb.Solid(1.0, com=tip, inertia=(0.01, 0.01, 0.01), tip=tip)
        parts.append(kb.Body(f"l{i}", solid, parent=parent, joint=kb.Revolute(axis)))
        parent = f"l{i}.tip"
    return kb.System("arm", tuple(parts))


def massless() -> kb.System:
    """A four-bar whose coupler has no mass: rows of metres and of angles stand in for its inertia."""
    return kb.System(
        "massless",
        (
            kb.Body("crank", kb.Rod(0.15, mass=0.3), joint=HINGE),
            kb.Body("coupler", kb.Solid(0.0, tip=(0.4, 0, 0))),
            kb.Body("rocker", kb.Rod(0.3, mass=0.6), at=(0.45, 0, 0), joint=HINGE),
            kb.Connection("a", "coupler", parent="crank.tip", joint=HINGE),
            kb.Connection("b", "coupler.tip", parent="rocker.tip", joint=HINGE),
        ),
        start=kb.Start(hold={"crank.angle": 1.0}, guess={"rocker.angle": 1.2, "coupler": kb.Pose((0.08, 0, 0.12))}),
    )


def gantry() -> kb.System:
    """Two travels and two hinges: more joints than its point needs."""
    box = kb.Box((0.1, 0.1, 0.1), mass=2.0)
    return kb.System(
        "gantry",
        (
            kb.Body("x", box, joint=kb.Prismatic(kb.X, limits=(-1.0, 1.0))),
            kb.Body("y", box, parent="x", joint=kb.Prismatic(kb.Y, limits=(-1.0, 1.0))),
            kb.Body("a", kb.Rod(0.4, mass=1.0), parent="y", joint=kb.Revolute(kb.Z)),
            kb.Body("b", kb.Rod(0.3, mass=1.0), parent="a.tip", joint=kb.Revolute(kb.Z)),
        ),
        start=kb.Start(hold={"a.angle": 0.3, "b.angle": 0.9}),
    )


STUDIES: dict[str, Callable[[], kb.System]] = {
    build.__name__: build for build in (slider_crank, balls, legs, hung, bricard, five_bar, wrist_arm, massless, gantry)
}


def all_results(system: kb.System, size: Size) -> dict[str, Any]:
    """Every call on the machine at a size; a refusal counts as a result, by its kind."""
    plant = kb.build(scaled(system, *size))
    results: dict[str, Any] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # not in equilibrium, coarse: the same at every size
        for name, call in CALLS.items():
            try:
                results[name] = call(plant, size)
            except KalabaError as error:
                results[name] = type(error).__name__
    return results


def of_units(coordinates: Any, size: Size) -> np.ndarray:
    """How many times larger each of some coordinates is."""
    return np.array([factor(coordinate.unit, size) for coordinate in coordinates])


def free(plant: kb.Plant, state: Any, size: Size) -> tuple[np.ndarray, np.ndarray]:
    """A state without units."""
    return state.q / of_units(plant.machine.coordinates, size), state.v / of_units(plant.machine.velocities, size)


def start(plant: kb.Plant, size: Size) -> Any:
    return free(plant, plant.start, size)


def check(plant: kb.Plant, size: Size) -> Any:
    found = kb.check(plant)
    dependent = tuple(row for row, _ in found.dependencies)
    numbers = (found.rank, found.freedoms, found.freedoms_nearby)
    return numbers, found.smallest_singular_value, dependent, found.on_manifold_only, found.non_unique_reactions


def row_choice(plant: kb.Plant, size: Size) -> Any:
    return plant.choice.mask


def motion(plant: kb.Plant, size: Size) -> Any:
    return plant.motion(*plant.start).acceleration / of_units(plant.machine.velocities, size) * size[2]


def equilibrium(plant: kb.Plant, size: Size) -> Any:
    state = kb.equilibrium(plant)
    return free(plant, state, size)[0], kb.frequencies(plant, state).hertz * size[2]


def linear(plant: kb.Plant, size: Size) -> Any:
    found = kb.linearise(plant)
    rates = np.abs(found.poles) * size[2]
    return found.states, rates[rates > 1e-2 * rates.max(initial=0.0)]  # double poles at zero are known to √rounding


def duration(plant: kb.Plant, size: Size) -> float:
    """Half of the machine's own time, s."""
    return 0.5 * (plant.scales.time or size[2])


def adaptive_run(plant: kb.Plant, size: Size) -> Any:
    stepper = kb.DormandPrince(rtol=1e-7, atol=1e-9)
    span = duration(plant, size)
    run = kb.simulate(plant, span, stepper=stepper, save_every=span / 5, check=False)
    ended = run.status.ending.value, Steps(run.effort.steps), len(run.effort.choices)
    return ended, free(plant, kb.State(run.q[-1], run.v[-1]), size)


def default_run(plant: kb.Plant, size: Size) -> Any:
    span = duration(plant, size)
    run = kb.simulate(plant, span, save_every=span / 20)
    ended = run.status.ending.value, Steps(run.effort.steps), run.accuracy.verdict.value
    return ended, free(plant, kb.State(run.q[-1], run.v[-1]), size)


def structural_run(plant: kb.Plant, size: Size) -> Any:
    span = duration(plant, size) / 5
    stepper = kb.GeneralisedAlpha(step=span / 40)
    run = kb.simulate(plant, span, stepper=stepper, save_every=span / 5, check=False)
    return run.status.ending.value, free(plant, kb.State(run.q[-1], run.v[-1]), size)


def projection(plant: kb.Plant, size: Size) -> Any:
    rng = np.random.default_rng(0)
    units = of_units(plant.machine.velocities, size)
    away, faster = 1e-3 * rng.normal(size=(2, len(units))) * units
    q, v = plant.start
    return free(plant, plant.project(kb.State(displaced(plant.machine, q, away * size[2]), v + faster)), size)


def reactions(plant: kb.Plant, size: Size) -> Any:
    found = [plant.reaction(c.name, *plant.start) for c in plant.machine.connections[:2]]
    force, torque = factor("N", size), factor("N*m", size)
    return tuple((one.force / force, one.torque / torque, tuple(one.is_unique)) for one in found)


def last_frame(plant: kb.Plant) -> str:
    """A frame on the last body that has one."""
    return next(name for name, frame in reversed(plant.machine.frames.items()) if frame.body >= 0)


def singularity(plant: kb.Plant, size: Size) -> Any:
    if not plant.actuators:
        return ()
    found = kb.singularity(plant, last_frame(plant), plant.start.q)
    return found.serial, found.parallel, found.freedoms


def servo(plant: kb.Plant, size: Size) -> Any:
    if not plant.actuators:
        return ()
    span = duration(plant, size) / 2
    law = kb.servo(plant, kb.posture(), frequency=2 / span)
    run = kb.simulate(plant, span, control=law, stepper=kb.RungeKutta4(span / 40), save_every=span / 5)
    efforts = run.actuation / [factor(unit, size) for unit in actuator_units(plant.machine)]
    return run.status.ending.value, efforts, free(plant, kb.State(run.q[-1], run.v[-1]), size)[0]


def inverse_kinematics(plant: kb.Plant, size: Size) -> Any:
    if plant.constraints:
        return ()
    frame, units = last_frame(plant), of_units(plant.machine.coordinates, size)
    q = plant.start.q.copy()
    for i, _ in plant.machine.scalar_pairs:
        q[i] += 0.1 * units[i]
    found = kb.inverse_kinematics(plant, frame, plant.pose(frame, q))
    return found.q / units, found.measure


CALLS: dict[str, Callable[[kb.Plant, Size], Any]] = {
    call.__name__: call
    for call in (
        *(start, check, row_choice, motion, equilibrium, linear, adaptive_run, default_run, structural_run),
        *(projection, reactions, singularity, servo, inverse_kinematics),
    )
}


class Steps(int):
    """How many steps a run took: where errors are at rounding, as in free fall, a few more or less."""


def differ(here: Any, there: Any) -> bool:
    """Whether two results are not the same but for rounding, which runs multiply."""
    if isinstance(here, Steps) and isinstance(there, Steps):
        return abs(here - there) > 2 + 0.1 * here
    if isinstance(here, tuple) and isinstance(there, tuple):
        return len(here) != len(there) or any(differ(a, b) for a, b in zip(here, there, strict=True))
    if (
        isinstance(here, str | int)
        or isinstance(there, str | int)
        or isinstance(here, tuple) != isinstance(there, tuple)
    ):
        return type(here) is not type(there) or here != there
    a, b = np.asarray(here), np.asarray(there)
    return a.shape != b.shape or not np.allclose(a, b, rtol=1e-7, atol=1e-8 * max(1.0, np.abs(a).max(initial=0.0)))


def differences(system: kb.System, sizes: tuple[str, ...] = tuple(SIZES)) -> list[str]:
    """The calls that give something else at another size, by size, name and result."""
    here, said = all_results(system, (1.0, 1.0, 1.0)), []
    for word in sizes:
        there = all_results(system, SIZES[word])
        said += [f"{word}: {name} {here[name]} {there[name]}" for name in here if differ(here[name], there[name])]
    return said
