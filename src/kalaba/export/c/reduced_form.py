"""The export of a machine in fewer velocities, those of a platform or of objects: its matrices at a state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import casadi as ca
import numpy as np

from kalaba.export.c.cases import SEED, near_start
from kalaba.export.c.contents import Entry, Export, Table, Trial, cost_lines, machine_tables, parameters, sizes
from kalaba.export.c.routine import routine

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State
    from kalaba.space.arrays import Array

BY_COLUMN = "Matrices stand column by column. The state must obey the constraints. The arrays must not overlap."


@dataclass(frozen=True, eq=False)
class ReducedForm:
    """A form of a machine's equations as C needs it.

    Arguments:
        plant: the machine
        equations: with the symbols of the expressions
        word: the name of the C function
        title: what the form is
        law: its equation
        results: the matrices by name
        lists: names of velocities and forces
        counts: macros with their numbers and remarks
        expected: the matrices in numbers at a state and a time
    """

    plant: Plant
    equations: Equations
    word: str
    title: str
    law: str
    results: Mapping[str, ca.SX]
    lists: tuple[Table, ...]
    counts: Mapping[str, tuple[int, str]]
    expected: Callable[[State, float], Mapping[str, Array]]


def reduced_export(form: ReducedForm, prefix: str) -> Export:
    """All matrices from t, q, v and the parameters."""
    plant, names = form.plant, tuple(form.results)
    solve = routine(f"{prefix}_solve", _function(form))
    arrays = tuple(name for name in solve.arguments if name not in {"t", *names})
    arguments = ", ".join(f"const double {name}[]" for name in arrays)
    results = ", ".join(f"double {name}[]" for name in names)
    tables = machine_tables(plant)
    shapes = ", ".join(f"{name} ({value.shape[0]} x {value.shape[1]})" for name, value in form.results.items())
    return Export(
        prefix=prefix,
        title=f"{plant.system.name}: {form.title}.",
        notes=(form.law,),
        tables=(*form.lists, *(tables[name] for name in ("q", "v", "p", "fixed"))),
        macros=sizes(plant, prefix, **form.counts),
        numbers=parameters(plant, prefix),
        types=(),
        routines=(solve,),
        inner=(),
        entries=(
            Entry(
                f"void {prefix}_{form.word}(\n    double t, {arguments},\n    {results})",
                f"Gives {shapes}. {BY_COLUMN}",
                (solve.call(t="&t"),) if "t" in solve.arguments else ("(void)t;", solve.call()),
            ),
        ),
        cost=cost_lines(solve.cost),
        trial=_trial(form, prefix, arrays),
    )


def _function(form: ReducedForm) -> ca.Function:
    s = form.equations.symbols
    at_rest = ca.SX.zeros(s.u.shape[0])  # sampled forces count as zero
    values = [ca.vec(ca.densify(ca.substitute(value, s.u, at_rest))) for value in form.results.values()]
    return ca.Function(form.word, [s.t, s.q, s.v, s.p], ca.cse(values), ["t", "q", "v", "p"], list(form.results))


def _trial(form: ReducedForm, prefix: str, arrays: tuple[str, ...]) -> Trial:
    states = near_start(form.plant, np.random.default_rng(SEED))
    stored = {"t": [[t] for _, t in states], "q": [s.q for s, _ in states], "v": [s.v for s, _ in states]}
    models = [form.expected(state, t) for state, t in states]
    expected = {name: np.array([np.ravel(model[name], order="F") for model in models]) for name in form.results}
    words = {"p": f"{prefix}_parameters"}
    said = ["given_t[k][0]", *(words.get(name, f"given_{name}[k]") for name in arrays), *form.results]
    return Trial(
        inputs=tuple((name, np.array(values, dtype=float)) for name, values in stored.items()),
        declarations=tuple(f"static double {name}[{array.shape[1]}];" for name, array in expected.items()),
        before=(),
        call=(f"{prefix}_{form.word}({', '.join(said)});",),
        expected=tuple(expected.items()),
        note="Random states near the start, on the constraints.",
    )
