"""The export of a parallel robot in the speeds of its platform: G, H and h at a state."""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba.export.c.cases import SEED, near_start
from kalaba.export.c.export import (
    Entry,
    Export,
    Table,
    Trial,
    cost_lines,
    listed,
    machine_tables,
    parameters,
    sizes,
)
from kalaba.export.c.routine import routine

if TYPE_CHECKING:
    from kalaba.control.platform_space import PlatformSpace

OUTPUTS = ("force_map", "inertia", "bias")  # names of PlatformModel
WHAT = (
    "Gives G (speeds by forces), H (speeds by speeds), both column by column, and h (speeds) with G [u; lambda] = "
    "H s' + h at a state that obeys the constraints. The arrays must not overlap."
)


def platform_export(space: PlatformSpace, prefix: str) -> Export:
    """G, H and h from t, q, v and the parameters."""
    plant, function = space.plant, _function(space)
    solve = routine(f"{prefix}_solve", function)
    arrays = tuple(name for name in solve.arguments if name not in {"t", *OUTPUTS})
    arguments = ", ".join(f"const double {name}[]" for name in arrays)
    results = ", ".join(f"double {name}[]" for name in OUTPUTS)
    tables = machine_tables(plant)
    forms = (
        listed("s, the speeds of the platform", space.speeds, [""] * len(space.speeds)),
        listed("forces: motors, then loads lambda of rows", space.forces, [""] * len(space.forces)),
    )
    shown: tuple[Table, ...] = (*forms, *(tables[name] for name in ("q", "v", "p", "fixed")))
    more = {"SPEEDS": (len(space.speeds), "rows of G"), "FORCES": (len(space.forces), "columns of G")}
    return Export(
        prefix=prefix,
        title=f"{plant.system.name}: the motion in the speeds of {space.split.frame}.",
        notes=("G [u; lambda] = H s' + h with v = T s, where the legs follow the platform.",),
        tables=shown,
        macros=sizes(plant, prefix, **more),
        numbers=parameters(plant, prefix),
        types=(),
        routines=(solve,),
        inner=(),
        entries=(
            Entry(
                f"void {prefix}_platform(\n    double t, {arguments},\n    {results})",
                WHAT,
                (solve.call(t="&t"),) if "t" in solve.arguments else ("(void)t;", solve.call()),
            ),
        ),
        cost=cost_lines(solve.cost),
        trial=_trial(space, prefix, arrays),
    )


def _function(space: PlatformSpace) -> ca.Function:
    e, s = space.equations, space.equations.symbols
    load_free = ca.substitute(e.platform_bias, s.u, ca.SX.zeros(s.u.shape[0]))  # sampled forces count as zero
    results = ca.cse([ca.vec(ca.densify(part)) for part in (e.force_map, e.platform_inertia, load_free)])
    return ca.Function("platform", [s.t, s.q, s.v, s.p], results, ["t", "q", "v", "p"], list(OUTPUTS))


def _trial(space: PlatformSpace, prefix: str, arrays: tuple[str, ...]) -> Trial:
    states = near_start(space.plant, np.random.default_rng(SEED))
    stored = {"t": [[t] for _, t in states], "q": [s.q for s, _ in states], "v": [s.v for s, _ in states]}
    models = [space.model(state, t) for state, t in states]
    expected = {name: np.array([getattr(model, name).ravel(order="F") for model in models]) for name in OUTPUTS}
    words = {"p": f"{prefix}_parameters"}
    said = ["given_t[k][0]", *(words.get(name, f"given_{name}[k]") for name in arrays), *OUTPUTS]
    return Trial(
        inputs=tuple((name, np.array(values, dtype=float)) for name, values in stored.items()),
        declarations=tuple(f"static double {name}[{array.shape[1]}];" for name, array in expected.items()),
        before=(),
        call=(f"{prefix}_platform({', '.join(said)});",),
        expected=tuple(expected.items()),
        note="Random states near the start, on the constraints.",
    )
