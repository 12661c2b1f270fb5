"""A recorded callable as a list of plain steps, so that a file can hold it without holding code.

CasADi's own text of a function may name libraries to load; a step names one arithmetic operation and the earlier
steps it works on, so that reading it can do no more than arithmetic::

    ["input", 0]  ["const", 0.5]  ["mul", 0, 1]  ["sin", 2]  ["output", 3]
"""

from __future__ import annotations

from typing import Any

from kalaba.errors import ModelError
from kalaba.model.text.traced import Traced

Step = list[Any]  # an operation, then indices of earlier steps (a number for const)

UNARY = (
    *(
        "neg",
        "exp",
        "log",
        "sqrt",
        "sq",
        "twice",
        "inv",
        "fabs",
        "sign",
        "floor",
        "ceil",
        "not",
        "erf",
        "log1p",
        "expm1",
    ),
    *("log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh"),
)
BINARY = (
    *("add", "sub", "mul", "div", "pow", "constpow", "fmod", "remainder", "copysign", "fmin", "fmax", "atan2", "hypot"),
    *("lt", "le", "eq", "ne", "and", "or", "if_else_zero"),
)


def steps(traced: Traced) -> list[Step]:
    """List what a recorded function does, each step by the numbers of those before it."""
    import casadi as ca

    function, words = ca.Function.deserialize(traced.body), _words()
    rows = function.sparsity_out(0).row()
    found: list[Step] = []
    slots: dict[int, int] = {}  # which step a slot of CasADi's work vector holds now
    results: dict[int, int] = {}  # which step gives a result; one that is always zero may be missing
    for k in range(function.n_instructions()):
        operation, inputs = function.instruction_id(k), function.instruction_input(k)
        outputs = function.instruction_output(k)
        if operation == ca.OP_OUTPUT:
            results[rows[outputs[1]]] = slots[inputs[0]]
            continue
        if operation == ca.OP_INPUT:
            found.append(["input", inputs[1]])
        elif operation == ca.OP_CONST:
            found.append(["const", function.instruction_constant(k)])
        elif operation in words:
            found.append([words[operation], *(slots[slot] for slot in inputs)])
        else:
            named = ", ".join(traced.results)
            raise ModelError(
                f"callable with results {named!r}: expected arithmetic, got an operation that no file can hold."
            )
        slots[outputs[0]] = len(found) - 1
    zero = len(found)
    return [*found, ["const", 0.0], *(["output", results.get(row, zero)] for row in range(len(traced.results)))]


def recorded(arguments: tuple[str, ...], results: tuple[str, ...], listed: tuple[Any, ...]) -> Traced:
    """Make the recorded function that a list of steps describes."""
    import casadi as ca

    symbols = [ca.SX.sym(name) for name in arguments]
    values: list[Any] = []
    outputs: list[Any] = []
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


def _value(step: Step, symbols: list[Any], values: list[Any]) -> Any:  # noqa: ANN401
    import casadi as ca

    word, *operands = step
    if word == "const":
        return ca.SX(float(operands[0]))
    chosen = [_earlier(symbols if word == "input" else values, index) for index in operands]
    if word in {"input", "output"}:
        return chosen[0]
    operation = {word: number for number, word in _words().items()}[word]
    return ca.SX.unary(operation, *chosen) if word in UNARY else ca.SX.binary(operation, *chosen)


def _earlier(known: list[Any], index: int) -> Any:  # noqa: ANN401
    if index < 0:
        raise IndexError
    return known[index]


def _words() -> dict[int, str]:
    import casadi as ca

    return {getattr(ca, f"OP_{word.upper()}"): word for word in (*UNARY, *BINARY)}
