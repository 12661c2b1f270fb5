"""The C functions around the routines of a controller: the state from encoders, and the law on it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kalaba.export.c.contents import Entry
from kalaba.export.c.routine import Routine

if TYPE_CHECKING:
    from kalaba.export.c.encoders import Encoders

STATUS = ("OK", "OPEN", "NOT_FINITE")

_RESET = (
    "Finds the machine at the time t, standing still, near the configuration that it was exported for; call it once "
    "before the first sample. Returns a status, as {prefix}_servo does."
)
_SERVO = (
    "One sample: gives the motors' efforts, within their limits, for what the encoders read. Returns {PREFIX}_OK, or "
    "{PREFIX}_OPEN if rows are still open by more than {PREFIX}_LARGEST_GAP of their sizes before the last step or if "
    "that moves coordinates by more than {PREFIX}_LARGEST_STEP of theirs, or {PREFIX}_NOT_FINITE. Then efforts and the "
    "state known stay as they were, but for row_gap, encoder_gap and last_step: stop the machine."
)
_LAW = "The same law at a state that is known otherwise."


@dataclass(frozen=True, slots=True)
class Controller:
    """What the functions are written from."""

    prefix: str
    encoders: Encoders
    solve: Routine
    move: Routine
    law: Routine

    @property
    def rolls(self) -> bool:
        """Whether part of the configuration is carried on from sample to sample."""
        return self.encoders.needs_rolling

    @property
    def p(self) -> str:
        """The parameters as a further argument, where there are any."""
        return ", const double p[]" if len(self.encoders.plant.parameters) else ""

    @property
    def pass_p(self) -> str:
        """The parameters as they are handed on."""
        return ", p" if self.p else ""

    @property
    def has_rows(self) -> bool:
        """Whether there are rows at position level."""
        return not all(self.encoders.plant.machine.is_velocity_level)


def state_type(prefix: str) -> str:
    """The state that a caller keeps."""
    size = prefix.upper()
    return "\n".join(
        [
            "/* What is known from one sample to the next; the caller keeps it. */",
            "typedef struct {",
            "    double t; /* s, of the last sample */",
            f"    double q[{size}_COORDINATES];",
            f"    double v[{size}_VELOCITIES];",
            "    double row_gap; /* m, rad: largest residual of the structure before the last step */",
            "    double encoder_gap; /* m, rad: largest difference between encoders and solution */",
            "    double last_step; /* m, rad: largest change of a coordinate in the last step */",
            f"}} {prefix}_state;",
        ]
    )


def find_text(c: Controller) -> str:
    """The function that finds the state: a fixed number of steps, and a status."""
    x, size = c.prefix, c.prefix.upper()
    gaps = [("encoder", f"{size}_ENCODERS"), *([("row", f"{size}_POSITION_ROWS")] if c.has_rows else [])]
    lines = [
        f"static int {x}_find(",
        f"    double t, const double encoders[], const double rates[]{c.p}, int steps, {x}_state *state)",
        "{",
        f"    double q[2][{size}_COORDINATES], v[2][{size}_VELOCITIES];",
        *(f"    double {name}_gaps[{count}];" for name, count in gaps),
        "    int now = 0;",
        *_copies("state->q", "q[0]", f"{size}_COORDINATES"),
        *_copies("state->v", "v[0]", f"{size}_VELOCITIES"),
        "    for (int k = 0; k < steps; k++) {",
        f"        {c.solve.call(t='&t', q='q[now]', v='v[now]', q_next='q[1 - now]', v_next='v[1 - now]')}",
        "        now = 1 - now;",
        "    }",
        "    state->row_gap = 0.0;",
        "    state->encoder_gap = 0.0;",
        "    state->last_step = 0.0;",
        *(line for name, count in gaps for line in _largest(c.prefix, f"{name}_gap", f"{name}_gaps[i]", count)),
        *_largest(c.prefix, "last_step", "q[now][i] - q[1 - now][i]", f"{size}_COORDINATES"),
        f"    for (int i = 0; i < {size}_VELOCITIES; i++)",
        f"        if (!isfinite(v[now][i])) return {size}_NOT_FINITE;",
        *(_refused(c, "row_gaps[i]", f"LARGEST_GAP * {x}_row_sizes[i]", "POSITION_ROWS") if c.has_rows else []),
        *_refused(c, "q[now][i] - q[1 - now][i]", f"LARGEST_STEP * {x}_coordinate_sizes[i]", "COORDINATES"),
        *_copies("q[now]", "state->q", f"{size}_COORDINATES"),
        *_copies("v[now]", "state->v", f"{size}_VELOCITIES"),
        "    state->t = t;",
        f"    return {size}_OK;",
        "}",
    ]
    return "\n".join(lines)


def _largest(prefix: str, name: str, value: str, count: str) -> list[str]:
    """Lines that keep the largest size of some numbers, and leave where one is not finite."""
    return [
        f"    for (int i = 0; i < {count}; i++) {{",
        f"        const double size = fabs({value});",
        f"        if (!(size <= state->{name})) state->{name} = size;",
        f"        if (!isfinite(size)) return {prefix.upper()}_NOT_FINITE;",
        "    }",
    ]


def _refused(c: Controller, value: str, most: str, count: str) -> list[str]:
    """Lines that leave where a number is larger than it may be at the machine's size."""
    size = c.prefix.upper()
    return [
        f"    for (int i = 0; i < {size}_{count}; i++)",
        f"        if (fabs({value}) > {size}_{most}) return {size}_OPEN;",
    ]


def roll_text(c: Controller) -> str:
    """The function that carries the configuration on from the last sample: the midpoint rule on what wheels turned."""
    x, size = c.prefix, c.prefix.upper()
    row = [f"    double row_gaps[{size}_POSITION_ROWS];"] if c.has_rows else []
    first = c.solve.call(t="&state->t", q="state->q", v="state->v", v_next="v")
    return "\n".join(
        [
            f"static void {x}_roll(double t, const double encoders[]{c.p}, {x}_state *state)",
            "{",
            f"    double q[{size}_COORDINATES], q_next[{size}_COORDINATES];",
            f"    double v[{size}_VELOCITIES], step[{size}_VELOCITIES];",
            f"    double rates[{size}_ENCODERS] = {{0.0}}, encoder_gaps[{size}_ENCODERS];",
            *row,
            "    const double h = t - state->t, middle = state->t + h / 2.0;",
            "    if (!(h > 0.0)) return;",
            f"    {first}",
            f"    for (int i = 0; i < {size}_ENCODERS; i++) rates[i] = encoder_gaps[i] / h;",
            f"    {first}",
            f"    for (int i = 0; i < {size}_VELOCITIES; i++) step[i] = v[i] * (h / 2.0);",
            f"    {c.move.call(q='state->q', q_next='q')}",
            f"    {c.solve.call(t='&middle', v='state->v', v_next='v')}",
            f"    for (int i = 0; i < {size}_VELOCITIES; i++) step[i] = v[i] * h;",
            f"    {c.move.call(q='state->q', q_next='q')}",
            *_copies("q", "state->q", f"{size}_COORDINATES"),
            "}",
        ]
    )


def entries(c: Controller) -> tuple[Entry, ...]:
    """What users call: reset, servo, law."""
    x, size = c.prefix, c.prefix.upper()
    known = {"prefix": x, "PREFIX": size}
    reset = (
        f"double rates[{size}_ENCODERS] = {{0.0}};",
        *(line[4:] for line in _copies(f"{x}_start", "state->q", f"{size}_COORDINATES")),
        f"for (int i = 0; i < {size}_VELOCITIES; i++) state->v[i] = 0.0;",
        "state->t = t;",
        f"return {x}_find(t, encoders, rates{c.pass_p}, {size}_FIRST_STEPS, state);",
    )
    servo = (
        f"{x}_state next = *state;",
        f"double found[{size}_MOTORS];",
        *([f"{x}_roll(t, encoders{c.pass_p}, &next);"] if c.rolls else []),
        f"const int status = {x}_find(t, encoders, rates{c.pass_p}, {size}_STEPS, &next);",
        "state->row_gap = next.row_gap;",
        "state->encoder_gap = next.encoder_gap;",
        "state->last_step = next.last_step;",
        f"if (status != {size}_OK) return status;",
        c.law.call(t="&t", q="next.q", v="next.v", efforts="found"),
        f"for (int i = 0; i < {size}_MOTORS; i++)",
        f"    if (!isfinite(found[i])) return {size}_NOT_FINITE;",
        *(line[4:] for line in _copies("found", "efforts", f"{size}_MOTORS")),
        "*state = next;",
        f"return {size}_OK;",
    )
    arguments = "double t, const double encoders[]"
    return (
        Entry(f"int {x}_reset({arguments}{c.p}, {x}_state *state)", _RESET.format(**known), reset),
        Entry(
            f"int {x}_servo(\n    {arguments}, const double rates[]{c.p},\n    {x}_state *state, double efforts[])",
            _SERVO.format(**known),
            servo,
        ),
        Entry(
            f"void {x}_law(double t, const double q[], const double v[]{c.p}, double efforts[])",
            _LAW,
            (c.law.call(t="&t"),),
        ),
    )


def stacked(c: Controller) -> int:
    """How many numbers these functions keep on the stack, at most."""
    machine = c.encoders.plant.machine
    n, k = len(machine.coordinates) + len(machine.velocities), len(c.encoders.names)
    return 6 * n + 3 * k + len(machine.rows) + len(machine.actuators) + 16


def _copies(source: str, target: str, count: str) -> list[str]:
    return [f"    for (int i = 0; i < {count}; i++) {target}[i] = {source}[i];"]
