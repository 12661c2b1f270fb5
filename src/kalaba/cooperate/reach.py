"""Can each arm reach its grasp, and can it push there in every direction? Each arm alone, by assembly."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from kalaba import tolerances
from kalaba.constrain.rows import independent_rows
from kalaba.constrain.solvers import row_metric
from kalaba.cooperate.grasp import Grasp, tool_of
from kalaba.errors import AssemblyError, ConstraintError
from kalaba.joints import Free
from kalaba.model.parts import Body, Connection, Frame, Start
from kalaba.model.solids import Solid
from kalaba.model.system import Placement, System
from kalaba.native.backend import Interpreted
from kalaba.plant.plant import Plant, build
from kalaba.plant.scales import Geometry
from kalaba.plant.start import find_configuration, widest_gap
from kalaba.space.arrays import Array
from kalaba.space.number import is_number
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.pose import Pose

NEARBY = 0.1  # rad, or of the arm's length: how far the configurations lie that tell the rank a grasp has elsewhere
PROBES = 4  # configurations nearby
TRIES = 40  # starts from which an arm that stands alone is led to its grasp


class Seat(NamedTuple):
    """Where a grasp is: in the world, and seen from the base of its arm."""

    in_world: NumericPose
    in_base: NumericPose


def check_reach(
    system: System, objects: System, arms: Sequence[Placement], grasps: Sequence[Grasp]
) -> dict[str, float]:
    """Refuse an arm that cannot reach its grasp, or that is singular there.

    Gives guesses for arms that do not get there straight from where they start: together, several of them would seek
    for long.

    An arm stands alone before a seat that is put where its grasp is; equal arms share one model. Left to the assembly
    of the whole are arms that stand on other arms or start at a frame's pose, and objects that come to their arms.
    """
    by_name = {arm.name: arm for arm in arms}
    alone = [g for g in grasps if by_name[g.arm].parent in objects.machine.frames and _starts_plainly(system, g.arm)]
    seats = _seats(objects, by_name, [g for g in alone if isinstance(g.at, Pose)])
    held = {key for key, _ in objects.start.hold}
    models: dict[Any, Plant] = {}
    guesses: dict[str, float] = {}
    for grasp in alone:
        if isinstance(grasp.at, Pose) and not held & _frames_of_first(objects):
            continue
        arm = by_name[grasp.arm]
        key = (arm.system, arm.parameters, tool_of(arm, grasp), grasp.joint)
        if key not in models:
            models[key] = _model(arm, grasp)
        guesses |= _check_arm(models[key], grasp, seats.get(grasp), system)
    return guesses


def _starts_plainly(system: System, arm: str) -> bool:
    """Tell whether the start gives numbers only for an arm: poses would have to be seen from its base."""
    start = system.machine.start
    return all(is_number(value) for key, value in (*start.hold, *start.guess) if key.startswith(f"{arm}."))


def _frames_of_first(objects: System) -> set[str]:
    """Frames on the body that is carried."""
    first = next(part.name for part in objects.parts if isinstance(part, Body))
    frames = objects.machine.frames
    return {name for name, frame in frames.items() if frame.body == frames[first].body}


def _seats(objects: System, arms: dict[str, Placement], grasps: list[Grasp]) -> dict[Grasp, Seat]:
    """Where each grasp is while the objects are at their start."""
    if not grasps:
        return {}
    bases = [Frame(f"base_{i}_", arms[g.arm].parent, arms[g.arm].at) for i, g in enumerate(grasps)]
    seats = [Frame(f"seat_{i}_", g.body, g.at) for i, g in enumerate(grasps) if isinstance(g.at, Pose)]
    plant = build(objects.add(*bases, *seats), backend=Interpreted())
    q, placed = plant.start.q, {}
    for grasp, base, seat in zip(grasps, bases, seats, strict=True):
        in_world = plant.pose(seat.name, q)
        placed[grasp] = Seat(in_world, in_world.seen_from(plant.pose(base.name, q)))
    return placed


def _model(arm: Placement, grasp: Grasp) -> Plant:
    """The arm before a free seat, joined as it holds."""
    placed = arm.system.place("arm", parameters=arm.parameters)
    size = Geometry(System(arm.system.name, (placed,)).machine)
    mass, length = size.mass or 1.0, size.length or 1.0
    parts = (
        placed,
        Body("seat", Solid(mass, inertia=(mass * length**2,) * 3), joint=Free()),
        Connection("grip", f"arm.{tool_of(arm, grasp)}", parent="seat", joint=grasp.joint),
    )
    return build(System(arm.system.name, parts), backend=Interpreted())


def _check_arm(plant: Plant, grasp: Grasp, seat: Seat | None, system: System) -> dict[str, float]:
    """The joints of an arm at its grasp, where it does not get there at the first try."""
    start = _start(system, grasp.arm, seat)
    closed, problem = find_configuration(plant, start, 1)
    is_straight = closed.is_closed
    if not is_straight:
        closed, problem = find_configuration(plant, start, TRIES)
    _, gap, unit = widest_gap(plant, closed, problem)
    is_near = bool((np.abs(closed.residual) < tolerances.CREEPING_GRASP * problem.sizes.rows).all())
    value, is_singular = _conditioning(plant, closed.q)
    where = f"{system.name}.{grasp.arm}"
    if not closed.is_closed and not (is_near and is_singular):
        wanted = "" if seat is None else f" at {_text(seat.in_world)}"
        raise AssemblyError(
            f"{where}: cannot reach its grasp of {grasp.body}{wanted}; gap {gap:.3g} {unit}. "
            "Move the base, the object or the grasp, or guess other joint angles."
        )
    if is_singular:
        raise ConstraintError(
            f"{where}: the grasp of {grasp.body} is singular, smallest singular value {value:.2g} of the largest. "
            "Move the base or the grasp, start the arm elsewhere, or give check=False."
        )
    joints = [i for i, _ in plant.machine.scalar_pairs if plant.coordinates[i].startswith("arm.")]
    return {} if is_straight else {f"{grasp.arm}.{plant.coordinates[i][4:]}": float(closed.q[i]) for i in joints}


def _start(system: System, arm: str, seat: Seat | None) -> Start:
    """The arm's part of the start, and the seat held where it is."""

    def of_arm(entries: Any) -> dict[str, Any]:  # noqa: ANN401  (values of any kind pass through)
        return {f"arm.{key.removeprefix(f'{arm}.')}": value for key, value in entries if key.startswith(f"{arm}.")}

    whole = system.machine.start
    held = of_arm(whole.hold)
    if seat is not None:
        held["seat"] = seat.in_base.as_pose
    return Start(hold=held, guess=of_arm(whole.guess))


def _text(place: NumericPose) -> str:
    """A pose for people: position, and roll, pitch, yaw."""
    R = place.rotation
    rpy = np.arctan2(R[2, 1], R[2, 2]), np.arcsin(np.clip(-R[2, 0], -1, 1)), np.arctan2(R[1, 0], R[0, 0])
    position, turned = (
        ", ".join(f"{round(entry, 12) + 0.0:.4g}" for entry in three) for three in (place.position, rpy)
    )
    return f"({position}), rpy ({turned})"


def _conditioning(plant: Plant, q: Array) -> tuple[float, bool]:
    """Smallest singular value of the grasp rows' arm block over the largest, and whether it vanishes just here.

    How many there should be is seen at configurations nearby: a plane arm never meets all rows of a weld.
    """
    rng = np.random.default_rng(5)
    rank = 0
    for _ in range(PROBES):
        moved = q.copy()
        for i, _ in plant.machine.scalar_pairs:
            moved[i] += NEARBY * plant.scales.coordinates[i] * rng.normal()
        rank = max(rank, int(np.sum(_values(plant, moved) > tolerances.SINGULAR_GRASP)))
    if rank == 0:
        return 1.0, False
    value = float(_values(plant, q)[rank - 1])
    return value, value < tolerances.SINGULAR_GRASP


def _values(plant: Plant, q: Array) -> Array:
    """Singular values of the arm block of the grasp rows along the arm's freedoms, the largest 1.

    Rows have unit length, so that metres and radians count alike; one that nearly vanishes stays short.
    """
    mine = [i for i, name in enumerate(plant.velocities) if name.startswith("arm.")]
    is_grip = np.array([row.startswith("grip.") for row in plant.constraints])
    problem = plant.problem(plant.inputs(q))
    sizes = plant.scales.sizes
    A, M = sizes.of_rows(problem.matrix)[:, mine], sizes.of_metric(problem.mass)[np.ix_(mine, mine)]
    own_rows = A[~is_grip]
    block = A[is_grip] @ independent_rows(row_metric(M, own_rows), own_rows).free_directions()
    lengths = np.linalg.norm(block, axis=1)
    block /= np.maximum(lengths, tolerances.ROW_STRETCHED * max(float(lengths.max(initial=0.0)), 1e-300))[:, None]
    sigma = np.linalg.svd(block, compute_uv=False)
    return np.asarray(sigma / max(float(sigma.max(initial=0.0)), 1e-300))
