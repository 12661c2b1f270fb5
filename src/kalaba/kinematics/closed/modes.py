"""All ways to assemble a machine with some displacements held: Newton's method from random configurations.

Rows φ(q) = 0 of a loop have several solutions; which of them a machine is in is decided when it is put together. Starts
are drawn from the whole range of every joint, each is closed (see `plant/assembly.py`), and what was found before
is put aside.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba import tolerances
from kalaba.boundary import check_arguments, check_whole
from kalaba.constrain.kernels.functions import expressions
from kalaba.constrain.rows import Sizes, independent_rows
from kalaba.constrain.solvers import row_metric
from kalaba.errors import AssemblyError, ModelError, near
from kalaba.model.parts import Held, Start
from kalaba.plant.assembly import close
from kalaba.plant.guess import first_guess
from kalaba.plant.plant import build
from kalaba.plant.start import find_configuration, widest_gap
from kalaba.space.arrays import Array
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant
    from kalaba.plant.start import Closing

NOTHING: Mapping[str, Held] = MappingProxyType({})
MOST_TRIES = 100_000
SEED = 6


@dataclass(frozen=True, slots=True, eq=False)
class AssemblyMode:
    """One way to put a machine together.

    Arguments:
        q: configuration, (n_q,)
        hits: how many starts led here; where it is 1 for some mode, more tries may find more modes
    """

    q: Array
    hits: int


def assembly_modes(
    system: System | Plant, hold: Mapping[str, Held] = NOTHING, tries: int = 200, frame: str | None = None
) -> tuple[AssemblyMode, ...]:
    """All configurations that close every row with `hold` kept, the nearest to the start's guess first.

    `hold` is that of a Start. Hold the motors and these are the solutions of forward kinematics; hold a frame and they
    are the working modes that reach it. What must be left is finitely many positions. Two configurations are one if
    every frame's origin and the centre of mass are at the same places, so that a rod's spin about itself makes no
    difference; with `frame`, if that frame has the same pose. Starts are random, the same at every call; a search
    proves nothing, but `hits` tell how well the modes were covered. Limits of joints are not looked at.

    Arguments:
        system: the machine
        hold: displacements with numbers (m, rad), frames with Poses
        tries: how many starts
        frame: compare configurations by the pose of this frame alone
    """
    check_arguments(assembly_modes, locals())
    plant = build(system)
    check_whole(tries, "tries", 1, MOST_TRIES)
    if frame is not None and frame not in plant.machine.frames:
        raise ModelError(f"{plant.system.name}: no frame {frame!r}; {near(frame, plant.machine.frames)}")
    start = Start(hold=hold, guess=_guess(plant, hold))
    nearest, problem = find_configuration(plant, start, tries=1)
    places = _Places(plant, frame)
    modes: list[tuple[Array, Array, int]] = []  # q, places, hits
    for guess in _starts(plant, start, tries):
        closed = close(problem, guess)
        widest = [np.max(np.abs(one.residual) / problem.sizes.rows, initial=0.0) for one in (closed, nearest)]
        if widest[0] < widest[1]:
            nearest = closed
        if closed.is_closed and not problem.flipped(closed.q):
            _note(modes, closed.q, places.at(closed.q))
    if not modes:
        row, gap, unit = widest_gap(plant, nearest, problem)
        raise AssemblyError(
            f"{plant.system.name}: no way to assemble it with {', '.join(hold) or 'nothing'} held in "
            f"{counted(tries, 'try')}; smallest gap {gap:.3g} {unit} at {row}. Hold other values, or give more tries=."
        )
    free = min(_freedoms_left(problem, q, places.moved(q)) for q, _, _ in modes)
    if free:
        raise ModelError(
            f"{plant.system.name}: {counted(free, 'freedom')} left with {', '.join(hold) or 'nothing'} held, so "
            f"that there are endless configurations. Hold {free} more."
        )
    origin = places.at(first_guess(plant))
    modes.sort(key=lambda mode: float(np.linalg.norm(mode[1] - origin)))
    return tuple(AssemblyMode(q, hits) for q, _, hits in modes)


def _guess(plant: Plant, hold: Mapping[str, Held]) -> dict[str, float]:
    """The machine's own start as a guess, without what is held."""
    q = first_guess(plant)
    return {name: float(q[i]) for i, name in enumerate(plant.coordinates) if name not in hold}


def _note(modes: list[tuple[Array, Array, int]], q: Array, at: Array) -> None:
    """Add a configuration, or count it with the one that it is."""
    for k, (known, place, hits) in enumerate(modes):
        if np.abs(place - at).max(initial=0.0) < tolerances.SAME_SOLUTION:
            modes[k] = (known, place, hits + 1)
            return
    modes.append((q, at, 1))


def _starts(plant: Plant, start: Start, tries: int) -> Iterator[Array]:
    """The guess, then configurations from all over: any angle, any attitude, travels as long as the machine is wide."""
    machine, rng = plant.machine, np.random.default_rng(SEED)
    at = first_guess(plant, start)
    yield at
    scales = plant.scales
    width = np.ptp(_Places(plant, None).at(at)[:-3].reshape(-1, 3), axis=0).max(initial=0.0)
    reach = scales.length * (float(width) or 1.0)
    held = {name for name, _ in start.hold}
    for _ in range(tries - 1):
        q = at.copy()
        for i, _ in machine.scalar_pairs:
            if plant.coordinates[i] not in held:
                is_angle = machine.coordinates[i].unit == "rad"
                q[i] = rng.uniform(-np.pi, np.pi) if is_angle else at[i] + rng.uniform(-reach, reach)
        for i, _ in machine.quaternions:
            turned = rng.normal(size=4)
            q[i : i + 4] = turned / np.linalg.norm(turned)
        yield q


class _Places:
    """What tells configurations apart: every frame's origin and the first moment, or one frame's pose."""

    def __init__(self, plant: Plant, frame: str | None) -> None:
        self.plant = plant
        self.frame = frame

    def _values(self, equations: Equations) -> ca.SX:
        kinematics = equations.kinematics
        if self.frame is not None:
            pose = kinematics.frame(self.frame)
            return ca.vertcat(pose.position, ca.vec(pose.rotation))
        origins = [kinematics.frame(name).position for name in equations.machine.frames]
        return ca.vertcat(*origins, equations.first_moment)

    @cached_property
    def sizes(self) -> Array:
        """Of what tells configurations apart: the machine's length, its mass times it, and 1 for a rotation."""
        scales = self.plant.scales
        if self.frame is not None:
            return np.array([scales.length] * 3 + [1.0] * 9)
        origins = 3 * len(self.plant.machine.frames)
        return scales.length * np.array([1.0] * origins + [scales.mass] * 3)

    def at(self, q: Array) -> Array:
        """All of it in one line, in the machine's sizes."""
        return self._evaluate("places", lambda equations: [self._values(equations)], q) / self.sizes

    def moved(self, q: Array) -> Array:
        """Its derivative along the velocities, one column per velocity, in the machine's sizes."""
        gradient = self._evaluate("places_moved", lambda e: [ca.vec(e.symbols.gradient(self._values(e)))], q)
        slopes = gradient.reshape((-1, len(self.plant.velocities)), order="F")
        return np.asarray(slopes * self.plant.scales.velocities / self.sizes[:, np.newaxis])

    def _evaluate(self, name: str, trace: Callable[[Equations], list[ca.SX]], q: Array) -> Array:
        function = self.plant.function(name, lambda e: expressions(e, trace), self.frame or "", seldom=True)
        return function(self.plant.inputs(q))


def _freedoms_left(problem: Closing, q: Array, moved: Array) -> int:
    """How many freedoms the rows of a problem leave that move what tells configurations apart."""
    free, scales = ~problem.fixed, problem.plant.scales
    _, matrix, metric = problem.evaluate(q)
    sizes = Sizes(problem.sizes.rows, scales.velocities)
    A, M = sizes.of_rows(matrix)[:, free], sizes.of_metric(metric)[np.ix_(free, free)]
    motions = independent_rows(row_metric(M, A), A).free_directions()
    sigma = np.linalg.svd(moved[:, free] @ motions, compute_uv=False)
    return int((sigma > tolerances.FRAME_MOVES).sum())
