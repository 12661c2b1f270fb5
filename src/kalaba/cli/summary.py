"""What is said of a run: sizes, time, the worst residual, the energy balance, the largest force."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from kalaba.model.units import actuator_units, row_units
from kalaba.space.arrays import Array
from kalaba.tolerances import OVERRUN
from kalaba.units import force_unit

if TYPE_CHECKING:
    from kalaba.results.run import Run


SAMPLES = 500  # at which motors in place of rows are worked out at most


class Peak(NamedTuple):
    """The largest value of some named quantities."""

    name: str
    value: float
    unit: str
    time: float  # s


class Overrun(NamedTuple):
    """Joints that left their limits: nothing stops a joint there."""

    name: str  # of the displacement that went the farthest, of its range
    limits: tuple[float, float]
    unit: str
    left: float  # s, when it first was beyond them
    beyond: float  # the farthest
    others: int  # how many more joints left theirs

    @property
    def words(self) -> str:
        """In words."""
        low, high = self.limits
        more = f"; so do {self.others} more" if self.others > 1 else "; so does 1 more" if self.others else ""
        return (
            f"{self.name} leaves {low:.4g} to {high:.4g} {self.unit} at {self.left:.4g} s and is {self.beyond:.4g} "
            f"{self.unit} beyond at most{more}; nothing stops a joint"
        )


@dataclass(frozen=True, slots=True)
class Summary:
    """A run in a few numbers."""

    name: str
    coordinates: int
    velocities: int
    rows: int
    rank: int  # at the start
    final_rank: int
    simulated: float  # s
    wall_time: float  # s
    steps: int
    rejected: int
    residual: Peak | None  # over every step; None without rows
    energy_error: float  # J, the largest |energy gained − work done|
    energy_exchanged: float  # J, the largest of what was gained and done
    constraint_force: Peak | None
    actuation: Peak | None
    needed: Peak | None  # of motors that would stand in for rows which lead the machine; None if there are none
    push: Peak | None  # of a law that pushes every coordinate
    carrying: Peak | None  # force of a grasp on its object, where arms carry one
    internal: Peak | None  # the part of a grasp's force that moves nothing
    pressing: dict[str, tuple[float, float]]  # N, by body with several grasps: the least and the largest
    goals: Peak | None  # how far it was from them; None without goals
    overrun: Overrun | None  # None: every joint kept its limits
    shortfalls: int  # how often motors were asked for more than they may give
    start_energy_loss: float  # J, in the impact at the start
    jolt: float  # the largest part of the speed that a projection changed
    jolt_time: float  # s
    accuracy: str  # in words
    doubt: str  # what makes it doubtful; "" = nothing does
    method: str  # what took the steps and why, in words
    is_stiff: bool  # whether stability limited explicit steps
    jolt_cause: str  # in words
    jolt_is_felt: bool  # more than the stepper's error
    status: str
    message: str

    @property
    def freedoms(self) -> int:
        """Freedoms at the start."""
        return self.velocities - self.rank

    def lines(self) -> list[str]:
        """Lines to print."""
        velocities = f", velocities: {self.velocities}" if self.velocities != self.coordinates else ""
        rank = f"{self.rank}" if self.final_rank == self.rank else f"{self.rank}, {self.final_rank} at the end"
        rejected = f" and {self.rejected} rejected" if self.rejected else ""
        said = [
            f"machine: {self.name}",
            f"coordinates: {self.coordinates}{velocities}, rows: {self.rows}, rank: {rank}, freedoms: {self.freedoms}",
            f"time: {self.simulated:g} s simulated in {self.wall_time:.3g} s, {self.steps} steps{rejected}",
            *([f"stiff: {self.method}"] if self.is_stiff else []),
            f"worst residual: {_peak(self.residual)}" if self.residual else "worst residual: none, there are no rows",
            f"energy balance: {self.energy_error:.2g} J off at most, {self.energy_exchanged:.3g} J exchanged",
        ]
        if self.start_energy_loss:
            said.append(f"impact: {self.start_energy_loss:.3g} J of kinetic energy lost at the start")
        said += [f"peak force: {_peak(peak)} ({whose})" for peak, whose in self._forces() if peak]
        said += self._grasp_lines()
        if self.goals:
            said.append(
                f"goals: missed by {self.goals.value:.2g} {self.goals.unit} at most, at {self.goals.time:.4g} s"
            )
        if self.overrun:
            said.append(f"limits: {self.overrun.words}")
        if self.jolt_is_felt:
            said.append(
                f"jolt: projection changed the speed by {self.jolt:.2g} of it at {self.jolt_time:.4g} s; "
                f"{self.jolt_cause}"
            )
        said.append(f"accuracy: {self.accuracy}")
        if self.doubt:
            said.append(f"doubtful: {self.doubt}")
        if self.status != "done":
            said.append(f"ended: {self.status} at {self.simulated:g} s")
        return said

    def _forces(self) -> tuple[tuple[Peak | None, str], ...]:
        """The largest forces, each with what gives it."""
        return (
            (self.constraint_force, "constraints"),
            (self.actuation, "motors"),
            (self.needed, "motors needed in place of the rows that lead it"),
            (self.push, "pushed, as no motor does"),
        )

    def _grasp_lines(self) -> list[str]:
        """What grasps carry and press, where arms carry an object."""
        if not self.carrying or not self.internal:
            return []
        pressing = (f"pressing on {body}: {low:.6g} to {high:.6g} N" for body, (low, high) in self.pressing.items())
        return [f"grasps: carrying {_peak(self.carrying)}; internal {_peak(self.internal)}", *pressing]

    def plain(self) -> dict[str, Any]:
        """The same as data."""
        entries = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {key: e._asdict() if isinstance(e, Peak | Overrun) else e for key, e in entries.items()} | {
            "freedoms": self.freedoms
        }


def summarise(run: Run, goals: Sequence[Any] = ()) -> Summary:
    """Say what matters of a run, and how far it was from the goals that it had."""
    plant, machine = run.plant, run.plant.machine
    ranks = [rank for _, rank in run.effort.choices] or [plant.choice.rank if plant.constraints else 0]
    units = dict(zip(plant.constraints, row_units(machine), strict=True))
    worst = run.worst
    return Summary(
        name=plant.system.name,
        coordinates=len(plant.coordinates),
        velocities=len(plant.velocities),
        rows=len(plant.constraints),
        rank=ranks[0],
        final_rank=ranks[-1],
        simulated=float(run.status.time),
        wall_time=run.effort.wall_time,
        steps=run.effort.steps,
        rejected=run.effort.rejected,
        residual=None if worst is None else Peak(worst.row, worst.value, units.get(worst.row, ""), worst.time),
        energy_error=_most(run.energy_balance),
        energy_exchanged=max(_most(run.energy - run.energy[0]), _most(run.work)),
        constraint_force=_largest(
            run, run.constraint_force, plant.velocities, [force_unit(velocity.unit) for velocity in machine.velocities]
        ),
        actuation=_largest(run, run.actuation, plant.actuators, list(actuator_units(machine))),
        needed=_needed(run),
        push=_largest(run, run.push, plant.velocities, [force_unit(velocity.unit) for velocity in machine.velocities]),
        **_grasps(run),
        goals=_missed(run, goals),
        overrun=_overrun(run),
        shortfalls=len(run.shortfalls),
        start_energy_loss=run.start_energy_loss,
        jolt=run.effort.jolt[0],
        jolt_time=run.effort.jolt[1],
        accuracy=run.accuracy.words,
        doubt="" if run.status.failed else run.accuracy.cause,
        method=run.effort.method,
        is_stiff=run.effort.is_stiff,
        jolt_cause=run.judgement.jolt_cause,
        jolt_is_felt=run.effort.jolt_is_felt,
        status=run.status.ending.value,
        message=run.status.message,
    )


def _needed(run: Run) -> Peak | None:
    """The largest effort of motors that would do what rows do which prescribe a motion in time; none where one acts."""
    from kalaba.control.driven_rows import motors_in_place

    efforts = motors_in_place(run, SAMPLES)
    if efforts is None or not np.isfinite(efforts.actuation).any():
        return None
    sample, motor = np.unravel_index(int(np.nanargmax(np.abs(efforts.actuation))), efforts.actuation.shape)
    unit = actuator_units(run.plant.machine)[motor]
    return Peak(run.plant.actuators[motor], float(efforts.actuation[sample, motor]), unit, float(efforts.time[sample]))


def _grasps(run: Run) -> dict[str, Any]:
    """What grasps carry and press, where a Carry leads the objects."""
    if not str(run.effort.settings.get("control", "")).startswith("Carry("):
        return {"carrying": None, "internal": None, "pressing": {}}
    from kalaba.cooperate.grasp_forces import grasp_forces

    forces = grasp_forces(run)
    sizes = (np.linalg.norm(part[:, :, :3], axis=2) for part in (forces.carrying, forces.internal))
    carrying, internal = (_largest(run, size, forces.grasps, ["N"] * len(forces.grasps)) for size in sizes)
    pressing = {body: (float(f.min()), float(f.max())) for body, f in forces.squeeze.items()}
    return {"carrying": carrying, "internal": internal, "pressing": pressing}


def _missed(run: Run, goals: Sequence[Any]) -> Peak | None:
    """The largest distance from the goals; the largest angle where they are all angles."""
    if not goals:
        return None
    from kalaba.control.tracking_errors import goal_errors

    unit, values = next(iter(goal_errors(run, goals).items()))
    worst = int(np.nanargmax(values))
    return Peak("goals", float(values[worst]), unit, float(run.time[worst]))


def _overrun(run: Run) -> Overrun | None:
    """The joint that went the farthest beyond its limits, as part of their range; of those that are coordinates."""
    places = {coordinate.name: index for index, coordinate in enumerate(run.plant.machine.coordinates)}
    left: list[tuple[float, Overrun]] = []
    for body in run.plant.machine.bodies:
        if body.joint.limits is None or body.displacements[0].name not in places:
            continue
        moved, (low, high) = body.displacements[0], body.joint.limits
        values = run.q[:, places[moved.name]]
        beyond = np.maximum(low - values, values - high)
        size = high - low if np.isfinite(high - low) else np.ptp(values) + min(abs(low), abs(high))
        is_out = beyond > OVERRUN * size
        if is_out.any():
            farthest, first = float(np.nanmax(beyond)), float(run.time[np.argmax(is_out)])
            left.append((farthest / size, Overrun(moved.name, (low, high), moved.unit, first, farthest, 0)))
    if not left:
        return None
    return max(left, key=lambda pair: pair[0])[1]._replace(others=len(left) - 1)


def _most(values: Array) -> float:
    """The largest size among the finite values."""
    return float(np.max(np.abs(values[np.isfinite(values)]), initial=0.0))


def _largest(run: Run, values: Array, names: tuple[str, ...], units: list[str]) -> Peak | None:
    """The largest entry in size; None where all are zero."""
    if not values.size or not np.any(values):
        return None
    sample, index = np.unravel_index(int(np.nanargmax(np.abs(values))), values.shape)
    return Peak(names[index], float(values[sample, index]), units[index], float(run.time[sample]))


def _peak(peak: Peak) -> str:
    return f"{peak.value:.4g} {peak.unit}".rstrip() + f" in {peak.name} at {peak.time:.4g} s"
