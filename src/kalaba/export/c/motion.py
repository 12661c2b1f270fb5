"""The export of a machine's motion: accelerations and constraint forces at a state."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from kalaba.constrain.kernels.motion import motion
from kalaba.export.c.cases import SEED, near_start
from kalaba.export.c.contents import (
    SLACK,
    Entry,
    Export,
    Numbers,
    Trial,
    cost_lines,
    gap,
    machine_tables,
    parameters,
    sizes,
)
from kalaba.export.c.routine import routine
from kalaba.plant.choice import choose, keep_rows
from kalaba.space.arrays import Array
from kalaba.tolerances import C_AGREES

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant

OUTPUTS = ("acceleration", "constraint_force")
HEALTH = "health"


def motion_export(plant: Plant, prefix: str) -> Export:
    """v̇ and Qc from t, q, v, u, the choice of rows, and the parameters."""
    mask = (choose(plant, plant.inputs(*plant.start)).mask > 0).astype(float)
    function = _function(plant, mask)
    solve = routine(f"{prefix}_solve", function)
    arrays = tuple(name for name in solve.arguments if name not in {"t", HEALTH, *OUTPUTS})
    arguments = ", ".join(f"const double {name}[]" for name in arrays)
    results = ", ".join(f"double {name}[]" for name in OUTPUTS)
    prototype = f"double {prefix}_accelerations(\n    double t, {arguments},\n    {results})"
    tables = machine_tables(plant)
    inputs = len(plant.actuators) + len(plant.machine.sampled_inputs)
    return Export(
        prefix=prefix,
        title=f"{plant.system.name}: the constrained motion.",
        notes=_notes(plant, prefix, arrays, mask),
        tables=tuple(tables[name] for name in ("q", "v", "u", "rows", "p", "fixed")),
        macros=sizes(plant, prefix, INPUTS=(inputs, "numbers in u"), ROWS=(len(mask), "rows of the constraints")),
        numbers=(*parameters(plant, prefix), *_rows(plant, prefix, mask)),
        types=(),
        routines=(solve,),
        inner=(),
        entries=(Entry(prototype, _WHAT, (f"double {HEALTH}[1];", solve.call(t="&t"), f"return {HEALTH}[0];")),),
        cost=cost_lines(solve.cost),
        trial=_trial(plant, prefix, function),
    )


_EQUATIONS = (
    "M(q) v' + h(q, v) = B(q) u + applied + Qc with A(q, v, t) v' = b(q, v, t) and Qc = A^T lambda: "
    "lambda = G^-1 (b - A M^-1 Q), G = A M^-1 A^T over the rows that are kept, by L D L^T without square roots."
)
_ASSUMED = (
    "Assumed: q and v obey the constraints, and quaternions in q have length 1. There is no stabilisation: who "
    "integrates must bring q and v back to the constraints."
)
_WHAT = (
    "Gives the accelerations v' and the generalised constraint force Qc, both in the order of v. Returns the least "
    "pivot of the rows kept by default, as a part of its value at the start (1 without rows): below 0.1 the machine is "
    "near a position in which these rows depend on each other, and others should be kept. The arrays must not overlap."
)


def _notes(plant: Plant, prefix: str, arrays: tuple[str, ...], mask: Array) -> tuple[str, ...]:
    defaults = {"p": f"{prefix}_parameters", "rows": f"{prefix}_rows"}
    said = ", ".join(["t", *(defaults.get(name, name) for name in arrays), *OUTPUTS])
    notes = [
        _EQUATIONS,
        f"    double health = {prefix}_accelerations({said});",
        _ASSUMED,
    ]
    if mask.size:
        dropped = ", ".join(name for name, keep in zip(plant.constraints, mask, strict=True) if not keep)
        notes.append(
            f"rows: 1 keeps a row, 0 leaves it out. {prefix}_rows keeps a largest independent set, chosen at the "
            f"start{f'; left out: {dropped}' if dropped else ', here all of them'}."
        )
    if plant.is_singular:
        notes.append("The mass matrix alone is singular: M + w A^T A and Q + w A^T b take the places of M and Q.")
    return tuple(notes)


def _rows(plant: Plant, prefix: str, mask: Array) -> tuple[Numbers, ...]:
    if not mask.size:
        return ()
    text = "The rows that are kept: a largest independent set at the start."
    return (Numbers(f"{prefix}_rows", f"{prefix.upper()}_ROWS", tuple(mask.tolist()), plant.constraints, text),)


def _function(plant: Plant, mask: Array) -> ca.Function:
    """Motion with the arguments of the C function; no further force."""
    whole = motion(plant.equations, is_singular=plant.is_singular)
    at_start = plant.inputs(*plant.start)
    keep_rows(plant, at_start, mask)
    parts = np.split(at_start, np.cumsum([whole.numel_in(name) for name in plant.layout.sizes])[:-1])
    healthy = np.array(whole.call([*parts, plant.parameters])[whole.index_out("pivots")]).ravel()
    s = plant.equations.symbols
    rows = ca.SX.sym("rows", len(mask))
    arguments = {"q": s.q, "v": s.v, "t": s.t, "u": s.u, "mask": rows, "p": s.p, "f": ca.SX.zeros(s.v.shape[0])}
    outputs = whole(work=0, w=at_start[plant.layout.w], **arguments)
    health = ca.SX(1) if not mask.any() else ca.SX(ca.inf)
    for i in np.flatnonzero(mask):
        health = ca.fmin(health, outputs["pivots"][i] / healthy[i])
    named = {"t": s.t, "q": s.q, "v": s.v, "u": s.u, "rows": rows, "p": s.p}
    results = ca.cse([outputs[name] for name in OUTPUTS] + [health])
    return ca.Function("motion", list(named.values()), results, list(named), [*OUTPUTS, HEALTH])


def _trial(plant: Plant, prefix: str, function: ca.Function) -> Trial:
    rng = np.random.default_rng(SEED)
    states = near_start(plant, rng)
    n, k, held = len(states), len(plant.actuators), len(plant.machine.sampled_inputs)
    u = np.hstack([rng.normal(size=(n, k)), np.zeros((n, held))])
    stored = {"t": [[t] for _, t in states], "q": [s.q for s, _ in states], "v": [s.v for s, _ in states], "u": u}
    motions = [plant.motion(*state, t=t, actuation=row[:k]) for (state, t), row in zip(states, u, strict=True)]
    expected = {name: np.array([getattr(motion, name) for motion in motions]) for name in OUTPUTS}
    words = {"t": "given_t[k][0]", "rows": f"{prefix}_rows", "p": f"{prefix}_parameters"}
    inputs = [name for name in function.name_in() if function.numel_in(name)]
    said = [*(words.get(name, f"given_{name}[k]") for name in inputs), *OUTPUTS]
    return Trial(
        inputs=tuple((name, np.array(values, dtype=float)) for name, values in stored.items()),
        declarations=tuple(f"static double {name}[{array.shape[1]}];" for name, array in expected.items()),
        before=(),
        call=(f"(void){prefix}_accelerations({', '.join(said)});",),
        expected=tuple(expected.items()),
        note="Random states near the start, on the constraints, with random efforts.",
        tolerance=_tolerance(plant, function, stored, expected),
    )


def _tolerance(plant: Plant, function: ca.Function, stored: dict[str, Any], expected: dict[str, Array]) -> float:
    """C_AGREES, or what rounding leaves where M is badly conditioned: by how much two of our own evaluations differ."""
    mask = (plant.choice.mask > 0).astype(float)
    cases = zip(*stored.values(), strict=True)
    results = [function(**dict(zip(stored, case, strict=True)), rows=mask, p=plant.parameters) for case in cases]
    gaps = [
        gap(np.array([np.array(result[name]).ravel() for result in results]), array) for name, array in expected.items()
    ]
    return max(C_AGREES, SLACK * max(gaps))
