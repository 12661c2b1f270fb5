"""The export of a controller: encoders in, motors' efforts out, at a fixed cost per sample."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba.constrain.kernels.functions import bounded
from kalaba.control.exportable import Exportable, exportable
from kalaba.errors import ControlError
from kalaba.export.c.cases import SEED, along
from kalaba.export.c.contents import (
    SLACK,
    Export,
    Numbers,
    Trial,
    cost_lines,
    gap,
    listed,
    machine_tables,
    parameters,
    sizes,
)
from kalaba.export.c.encoders import encoders_of
from kalaba.export.c.routine import Cost, routine
from kalaba.export.c.servo_entries import STATUS, Controller, entries, find_text, roll_text, stacked, state_type
from kalaba.plant.laws import Law
from kalaba.plant.start import closing
from kalaba.space.arrays import Array
from kalaba.tolerances import C_AGREES, SERVO_LARGEST_GAP, SERVO_LARGEST_STEP

if TYPE_CHECKING:
    from kalaba.control.allocation import Allocation
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State
    from kalaba.run.scenario import Scenario

STEPS = 4  # of Newton's method at a sample; three close what 1 ms opens, the last is for the velocity
FIRST_STEPS = 40  # from the start to wherever the machine is when it is switched on
EPSILON = float(np.finfo(float).eps)
SAMPLE = 1e-3  # s, between the state known and the one asked for, in the cases


def servo_export(
    plant: Plant, prefix: str, scenario: Scenario | None, allocation: Allocation | None, encoders: tuple[str, ...]
) -> Export:
    """The law of a scenario's control on a state that follows from the encoders."""
    control = _control(plant, scenario, allocation)
    start = control.start(plant)
    law = _law(plant, control, start)
    law_function = _law_function(plant, law)
    read = encoders_of(plant, encoders).holding(law_function)
    traced = {"solve": read.solve(), "move": read.move(), "law_at": law_function}
    solve, move, law_at = (routine(f"{prefix}_{name}", function) for name, function in traced.items())
    c = Controller(prefix, read, solve, move, law_at)
    tables = machine_tables(plant)
    return Export(
        prefix=prefix,
        title=f"{plant.system.name}: a controller that reads encoders.",
        notes=_notes(c, control.described(law)),
        tables=(
            listed("encoders, and their rates in the same order", read.names, read.remarks),
            replace(tables["motors"], heading="efforts, of the motors"),
            tables["q"],
            tables["v"],
            tables["rows"],
            tables["p"],
            tables["fixed"],
        ),
        macros=_macros(c),
        numbers=(*parameters(plant, prefix), _start(c, start), *_sizes(c)),
        types=(state_type(prefix),),
        routines=(solve, *([move] if c.rolls else []), law_at),
        inner=(find_text(c), *([roll_text(c)] if c.rolls else [])),
        entries=entries(c),
        cost=cost_lines(_cost(c), stacked(c), f" for {prefix}_servo"),
        trial=_trial(c, law, along(plant, control, scenario, np.random.default_rng(SEED))),
    )


def _control(plant: Plant, scenario: Scenario | None, allocation: Allocation | None) -> Exportable:
    """The control of a scenario, with another allocation if one is asked for."""
    name = plant.system.name
    if not plant.actuators:
        raise ControlError(f"{name}: a controller needs motors, and there are none. Add an Actuator.")
    if scenario is None or scenario.control is None:
        remedy = "Export a Scenario: kb.Scenario(system, duration, control=kb.servo(system, goals))"
        raise ControlError(f"{name}: a controller needs goals, and nothing says what the motors are to do. {remedy}.")
    control = exportable(scenario.control, name)
    return control if allocation is None else control.with_allocation(plant, allocation)


def _law(plant: Plant, control: Exportable, start: State) -> Law:
    """The law in expressions; what needs a solver or Python at every sample is refused."""
    name = plant.system.name
    if reason := control.refusal(plant):
        raise ControlError(f"{name}: {reason}")
    law = control.law(plant, start)
    if not isinstance(law, Law):
        raise ControlError(f"{name}: its control is a sampled Python function and has no C export. Use kb.servo(...).")
    if law.pushes is not None:
        raise ControlError(f"{name}: its control pushes where no motor does, and has no C export. Use kb.servo(...).")
    return law


def _law_function(plant: Plant, law: Law) -> ca.Function:
    """The motors' efforts within their limits; sampled forces are not known to a controller and count as zero."""
    equations, s = plant.equations, plant.equations.symbols
    mask = ca.SX(ca.DM((plant.choice.mask > 0).astype(float)))
    efforts = law.inputs(equations, mask)[: len(plant.actuators)]
    bounds = (bound.tolist() for bound in law.range(plant))
    efforts = [bounded(effort, low, high) for effort, low, high in zip(efforts, *bounds, strict=True)]
    alone = ca.substitute([ca.vertcat(*efforts)], [s.u], [ca.SX.zeros(s.u.shape[0])])
    return ca.Function("law", [s.t, s.q, s.v, s.p], [ca.densify(ca.cse(alone)[0])], ["t", "q", "v", "p"], ["efforts"])


def _macros(c: Controller) -> tuple[tuple[str, str, str], ...]:
    plant, size = c.encoders.plant, c.prefix.upper()
    position = sum(not level for level in plant.machine.is_velocity_level)
    numbers = [
        *sizes(plant, c.prefix, ENCODERS=(len(c.encoders.names), "numbers in encoders and in rates")),
        (f"{size}_MOTORS", str(len(plant.actuators)), "numbers in efforts"),
        (f"{size}_POSITION_ROWS", str(position), "rows at position level"),
        (f"{size}_STEPS", str(STEPS), "of Newton's method at a sample"),
        (f"{size}_FIRST_STEPS", str(FIRST_STEPS), "of Newton's method at the reset"),
        (
            f"{size}_LARGEST_GAP",
            repr(SERVO_LARGEST_GAP),
            "of a row's size: what it may be open by before the last step",
        ),
        (f"{size}_LARGEST_STEP", repr(SERVO_LARGEST_STEP), "of a coordinate's size: what the last step may move"),
    ]
    said = ("all is well", "rows are open: the encoders contradict the structure, or it moved too far", "no number")
    return (
        *numbers,
        *((f"{size}_{word}", str(i), text) for i, (word, text) in enumerate(zip(STATUS, said, strict=True))),
    )


def _start(c: Controller, start: State) -> Numbers:
    plant = c.encoders.plant
    text = "The configuration near which the machine is looked for at the reset: it tells the working mode."
    return Numbers(
        f"{c.prefix}_start", f"{c.prefix.upper()}_COORDINATES", tuple(start.q.tolist()), plant.coordinates, text
    )


def _sizes(c: Controller) -> Iterator[Numbers]:
    """What gaps of rows and steps of coordinates are measured by: the machine's own length, or 1 rad."""
    plant, x, size = c.encoders.plant, c.prefix, c.prefix.upper()
    if c.has_rows:
        position = [not moving for moving in plant.machine.is_velocity_level]
        rows = tuple(name for name, is_at in zip(plant.constraints, position, strict=True) if is_at)
        text = "What gaps of the rows are measured by: the machine's size in m, or 1 rad."
        yield Numbers(
            f"{x}_row_sizes", f"{size}_POSITION_ROWS", tuple(plant.scales.rows[position].tolist()), rows, text
        )
    text = "What steps of the coordinates are measured by, in the same way."
    lengths = tuple(plant.scales.coordinates.tolist())
    yield Numbers(f"{x}_coordinate_sizes", f"{size}_COORDINATES", lengths, plant.coordinates, text)


def _cost(c: Controller) -> Cost:
    cost = c.solve.cost * STEPS + c.law.cost
    return cost + c.solve.cost * 3 + c.move.cost * 2 if c.rolls else cost


_GIVEN = (
    "t counts from the beginning of the goals. Encoders are continuous: they count turns. Other numbers in p change "
    "what the law knows of the machine; the goals and the choice of rows are those of the export."
)
_SAMPLE = (
    f"Each sample takes {STEPS} Newton steps from the last state, each the least squares of the encoders' errors among "
    "the displacements that close the rows, and of the errors of their rates among the velocities that keep them: with "
    "more encoders than freedoms all of them count, and the structure holds exactly. Then comes the law. Rows are open "
    "by state.row_gap before the last step, and the encoders contradict each other by state.encoder_gap."
)
_ROLLING = (
    "Part of the configuration is known from rolling only: it is carried on from sample to sample by the midpoint "
    "rule, and errors add up as in all odometry. Where the state is known better, call the law with it."
)


def _notes(c: Controller, law: str) -> tuple[str, ...]:
    plant, x = c.encoders.plant, c.prefix
    p = f", {x}_parameters" if c.p else ""
    kept = c.encoders.kept
    dropped = ", ".join(name for name, keep in zip(plant.constraints, kept, strict=True) if not keep)
    notes = [
        law,
        "\n".join(
            [
                f"    {x}_state state;",
                f"    int status = {x}_reset(t, encoders{p}, &state);    once, at rest",
                f"    status = {x}_servo(t, encoders, rates{p}, &state, efforts);    at every sample",
            ]
        ),
        _GIVEN,
        _SAMPLE,
    ]
    if c.rolls:
        notes.append(_ROLLING)
    if c.encoders.held:
        names = ", ".join(plant.velocities[i] for i in c.encoders.held)
        notes.append(f"No encoder tells of {names}, and the law does not read it: held as at the start.")
    if dropped:
        notes.append(f"Rows that depend on the others, chosen at the start and left out: {dropped}.")
    if plant.machine.sampled_inputs:
        notes.append(f"Taken as zero: {', '.join(plant.machine.sampled_inputs)}.")
    return tuple(notes)


def _trial(c: Controller, law: Law, states: list[tuple[State, float]]) -> Trial:
    """Encoders of known states, with the state of a sample before as the one known; efforts by CasADi's interpreter."""
    plant, x = c.encoders.plant, c.prefix
    s, at = plant.equations.symbols, _law_function(plant, law)
    rates = ca.mtimes(c.encoders.matrix, s.v)[: len(c.encoders.names)]
    readings = ca.Function("e", [s.q, s.v, s.p], [c.encoders.values, rates])
    read = [[np.array(part).ravel() for part in readings(*state, plant.parameters)] for state, _ in states]
    before = [s.q if c.rolls else closing(plant).retract(s.q, -SAMPLE * s.v) for s, _ in states]
    efforts = np.array([np.array(at(t, *state, plant.parameters)).ravel() for state, t in states])
    said = "the encoders of a state along the way, started from where the machine was 1 ms before."
    p = f", {x}_parameters" if c.p else ""
    stored = {
        "t": [[t] for _, t in states],
        "encoders": [e for e, _ in read],
        "rates": [rate for _, rate in read],
        "before": before,
    }
    copy = f"for (int i = 0; i < {x.upper()}_"
    return Trial(
        inputs=tuple((name, np.array(values)) for name, values in stored.items()),
        declarations=(f"static {x}_state state;", f"static double efforts[{len(plant.actuators)}];"),
        before=(
            "state.t = given_t[k][0];",
            f"{copy}COORDINATES; i++) state.q[i] = given_before[k][i];",
            f"{copy}VELOCITIES; i++) state.v[i] = 0.0;",
            f"{copy}MOTORS; i++) efforts[i] = NAN;",
        ),
        call=(f"(void){x}_servo(given_t[k][0], given_encoders[k], given_rates[k]{p}, &state, efforts);",),
        expected=(("efforts", efforts),),
        note="On the state itself, as rolling adds up errors." if c.rolls else f"Each case: {said}",
        tolerance=_tolerance(plant, at, states, efforts),
    )


def _tolerance(plant: Plant, law: ca.Function, states: list[tuple[State, float]], efforts: Array) -> float:
    """C_AGREES, or what rounding does where gains are high beside the efforts: how much one bit in q changes these."""
    rng = np.random.default_rng(SEED)
    other = [
        law(t, state.q * (1 + EPSILON * rng.choice([-1, 1], len(state.q))), state.v, plant.parameters)
        for state, t in states
    ]
    return max(C_AGREES, SLACK * gap(np.array([np.array(result).ravel() for result in other]), efforts))
