"""Functions of a machine's packed input: how one is made, and those that give any expression of the machine.

Inputs are those of `constrain/layout.py`, in its order. Both backends evaluate these functions: CasADi's interpreter as
they are, native code compiled from them. The functions that every Plant has are in the files beside this one, each with
its form for the whole machine and, where there is one, its form limb by limb (`limb_machine.py`); `standard.py` lists
them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import casadi as ca

from kalaba.constrain.elimination import MassFactor, factorise, stack
from kalaba.constrain.forest import tree_inertia
from kalaba.constrain.layout import INPUTS, Layout
from kalaba.constrain.ordering import shortest_order
from kalaba.tolerances import VELOCITY_ROW_LENGTH

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations


def traced(
    name: str, equations: Equations, outputs: dict[str, ca.SX], extra: dict[str, ca.SX], numbers: ca.SX | None = None
) -> ca.Function:
    """A function of the packed input; `extra` are the symbols that stand for inputs other than those of the equations.

    `numbers` are further symbols, put after the parameters.
    """
    s = equations.symbols
    p = s.p if numbers is None else ca.vertcat(s.p, numbers)
    symbols = {"q": s.q, "v": s.v, "t": s.t, "u": s.u, "p": p, **extra}
    sizes = Layout.of(equations.machine).sizes
    arguments = [symbols[key] if key in symbols else ca.SX.sym(key, sizes[key]) for key in INPUTS]
    expressions = [ca.densify(ca.vec(entry)) for entry in ca.cse(list(outputs.values()))]
    return ca.Function(name, arguments, expressions, list(INPUTS), list(outputs))


def free_inputs(equations: Equations) -> dict[str, ca.SX]:
    """Symbols for the inputs that no equations have: work, f, mask and w."""
    sizes = Layout.of(equations.machine).sizes
    return {name: ca.SX.sym(name, sizes[name]) for name in ("work", "f", "mask", "w")}


def metric(equations: Equations, extra: dict[str, ca.SX], *, is_singular: bool) -> ca.SX:
    """M, or M + AᵀwA over the rows that are on where M alone is singular (Udwadia-Phohomsiri)."""
    if not is_singular:
        return equations.mass_matrix
    A = equations.constraint_matrix
    return equations.mass_matrix + ca.mtimes(A.T, ca.mtimes(ca.diag(extra["mask"] * extra["w"]), A))


def mass_factor(equations: Equations, extra: dict[str, ca.SX], *, is_singular: bool) -> MassFactor:
    """The factors of M, or of the metric that stands in for it where it is singular."""
    if not is_singular:
        return tree_inertia(equations, equations.constraint_matrix).factor
    stand_in = metric(equations, extra, is_singular=True)
    return factorise(stand_in, order=shortest_order(stand_in, equations.constraint_matrix))


def position_rows(equations: Equations, values: ca.SX) -> ca.SX:
    """Blank out the rows at velocity level."""
    blanked = [ca.SX(0) if moving else values[i] for i, moving in enumerate(equations.rows.is_velocity_level)]
    return stack(blanked)


def row_lengths(equations: Equations) -> ca.SX:
    """A with the lengths by which rows are chosen.

    Rows at velocity level are made short: where one says the same as rows at position level, those are kept, since
    they alone bring the configuration back.
    """
    matrix = ca.SX(equations.constraint_matrix)
    for i, moving in enumerate(equations.rows.is_velocity_level):
        if moving:
            matrix[i, :] *= VELOCITY_ROW_LENGTH
    return matrix


def expressions(equations: Equations, values: Callable[[Equations], list[ca.SX]]) -> ca.Function:
    """Any expressions of the machine: a control law, an event, a recorded quantity."""
    return traced("expressions", equations, {"values": stack(values(equations))}, {})


def law_values(
    equations: Equations, values: Callable[[Equations, ca.SX, ca.SX], list[ca.SX]], count: int = 0
) -> ca.Function:
    """Expressions that also read which rows are kept (1) or not (0), and `count` numbers that follow the parameters."""
    extra, numbers = free_inputs(equations), ca.SX.sym("numbers", count)
    efforts = values(equations, ca.gt(extra["mask"], 0), numbers)
    return traced("law", equations, {"values": stack(efforts)}, extra, numbers)


def watch(equations: Equations, names: tuple[str, ...]) -> ca.Function:
    """Named scalars (value and gradient) and frames (position, rotation, Jacobian), for starts and readings."""
    outputs: dict[str, ca.SX] = {}
    for index, name in enumerate(names):
        if name in equations.machine.frames:
            pose = equations.kinematics.frame(name)
            entry = ca.vertcat(pose.position, ca.vec(pose.rotation), ca.vec(equations.jacobian(name)))
        else:
            value = equations.kinematics.scalar(name)
            entry = ca.vertcat(value, equations.symbols.gradient(value).T)
        outputs[f"entry{index}"] = entry
    return traced("watch", equations, outputs, {})


def bounded(effort: ca.SX, lowest: ca.SX | float, highest: ca.SX | float) -> ca.SX:
    """An effort cut off at its bounds; unlike fmin and fmax this keeps NaN. An infinite number cuts nothing off."""
    is_open_above, is_open_below = (isinstance(bound, float) and math.isinf(bound) for bound in (highest, lowest))
    upper = effort if is_open_above else ca.if_else(ca.gt(effort, highest), highest, effort)
    return upper if is_open_below else ca.if_else(ca.lt(upper, lowest), lowest, upper)
