"""A recorded callable as a list of plain steps, so that a file can hold it without holding code.

CasADi's own text of a function may name libraries to load; a step names one arithmetic operation and the earlier
steps it works on, so that reading it can do no more than arithmetic::

    ["input", 0]  ["const", 0.5]  ["mul", 0, 1]  ["sin", 2]  ["output", 3]
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kalaba.errors import ModelError
from kalaba.model.text.traced import Traced
from kalaba.space.instructions import ARITY, applied, instructions

if TYPE_CHECKING:
    import casadi as ca

Step = list[Any]  # an operation, then indices of earlier steps (a number for const)


def steps(traced: Traced) -> list[Step]:
    """List what a recorded function does, each step by the numbers of those before it."""
    import casadi as ca

    function = ca.Function.deserialize(traced.body)
    rows = function.sparsity_out(0).row()
    listed: list[Step] = []
    results: dict[int, int] = {}  # row → the step that gives it; one that is always zero may be missing
    for word, operands, (_, nonzero), constant in instructions(function):
        if word == "output":
            results[rows[nonzero]] = operands[0]
        elif word == "input":
            listed.append(["input", nonzero])
        elif word == "const":
            listed.append(["const", constant])
        elif word in ARITY:
            listed.append([word, *operands])
        else:
            named = ", ".join(traced.results)
            raise ModelError(
                f"callable with results {named!r}: expected arithmetic, got an operation that no file can hold: {word}."
            )
    zero = len(listed)
    return [*listed, ["const", 0.0], *(["output", results.get(row, zero)] for row in range(len(traced.results)))]


def recorded(arguments: tuple[str, ...], results: tuple[str, ...], listed: tuple[Any, ...]) -> Traced:
    """Make the recorded function that a list of steps describes."""
    import casadi as ca

    symbols = [ca.SX.sym(name) for name in arguments]
    values: list[ca.SX] = []
    outputs: list[ca.SX] = []
    for step in listed:
        try:
            values.append(_value(step, symbols, values))
        except (IndexError, KeyError, TypeError, ValueError, NotImplementedError) as error:
            raise ModelError(
                f"callable of {', '.join(arguments)}: expected an operation on earlier steps, got {step!r}."
            ) from error
        if step[0] == "output":
            outputs.append(values[-1])
    if len(outputs) != len(results):
        raise ModelError(f"callable of {', '.join(arguments)}: expected {len(results)} results, got {len(outputs)}.")
    stacked = ca.vertcat(*symbols) if symbols else ca.SX(0, 1)
    return Traced(arguments, results, ca.Function("traced", [stacked], [ca.vertcat(*outputs)]).serialize())


def _value(step: Step, symbols: list[ca.SX], values: list[ca.SX]) -> ca.SX:
    import casadi as ca

    word, *operands = step
    if word == "const":
        return ca.SX(float(operands[0]))
    chosen = [_earlier(symbols if word == "input" else values, index) for index in operands]
    if word in {"input", "output"}:
        return chosen[0]
    if len(chosen) != ARITY[word]:
        raise ValueError(word)
    return applied(word, chosen)


def _earlier(known: list[ca.SX], index: int) -> ca.SX:
    if index < 0:
        raise IndexError
    return known[index]
