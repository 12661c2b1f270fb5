"""Callables as expressions: a Python function is called once with a recorder and kept as a CasADi function.

The function receives `m`; `m["crank.angle"]` is the value of any expression of the grammar, `m["rate(...)"]` a
rate, `m["t"]` the time. What it returns (a number, a sequence, or a dict of rows) is recorded, so that models with
callables can be compared, hashed, pickled and cached like those with text.

A file holds it as a list of plain steps. CasADi's own text of a function may name libraries to load; a step names one
arithmetic operation and the earlier steps it works on, so that reading it can do no more than arithmetic::

    ["input", 0]  ["const", 0.5]  ["mul", 0, 1]  ["sin", 2]  ["output", 3]
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import casadi as ca

from kalaba.errors import ModelError
from kalaba.space.instructions import ARITY, applied, instructions
from kalaba.units import counted

Step = list[Any]  # an operation, then indices of earlier steps (a number for const)


@dataclass(frozen=True, slots=True)
class Traced:
    """A recorded function: the expressions it reads, the names of its results, and its serialised body."""

    arguments: tuple[str, ...]
    results: tuple[str, ...]  # names; a single unnamed result is called ""
    body: str

    def reads(self, index: int) -> tuple[str, ...]:
        """The arguments that one result depends on."""
        pattern = ca.Function.deserialize(self.body).jac_sparsity(0, 0)
        return tuple(text for column, text in enumerate(self.arguments) if pattern.has_nz(index, column))

    def __call__(self, values: list[Any]) -> list[Any]:
        """Evaluate on CasADi values, one per argument; give one value per result."""
        stacked = ca.vertcat(*values) if values else ca.SX(0, 1)
        return ca.vertsplit(ca.Function.deserialize(self.body)(stacked))  # type: ignore[no-any-return]


class Recorder:
    """Gives a symbol for every expression that is asked for."""

    def __init__(self) -> None:
        self.symbols: dict[str, ca.SX] = {}

    def __getitem__(self, text: str) -> ca.SX:
        return self.symbols.setdefault(text, ca.SX.sym(text))


Recorded: TypeAlias = "ca.SX | float | Sequence[ca.SX | float] | Mapping[str, ca.SX | float]"
Traceable = Callable[[Recorder], Recorded]


def trace(function: Traceable, what: str) -> Traced:
    """Record a function of the machine's expressions; `what` names it in errors."""
    recorder = Recorder()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # CasADi's, about NumPy's functions on its symbols
            returned = function(recorder)
    except (TypeError, NotImplementedError, RuntimeError) as error:  # math.sin(symbol), if symbol > 0, ...
        raise ModelError(
            f"{what}: the callable cannot be recorded ({str(error).splitlines()[0]}). It is called once with symbols: "
            "use NumPy's functions on them and no `if`."
        ) from error
    named: dict[str, ca.SX | float] = dict(returned) if isinstance(returned, Mapping) else dict(_numbered(returned))
    try:
        outputs = [ca.SX(value) for value in named.values()]
    except NotImplementedError as error:
        raise ModelError(f"{what}: expected numbers or expressions from the callable, got {returned!r}.") from error
    if not outputs or any(output.numel() != 1 for output in outputs):
        raise ModelError(f"{what}: expected one number per row from the callable, got {returned!r}.")
    symbols = ca.vertcat(*recorder.symbols.values()) if recorder.symbols else ca.SX(0, 1)
    body = ca.Function("traced", [symbols], [ca.densify(ca.vertcat(*outputs))])
    if not all(math.isfinite(instruction.constant) for instruction in instructions(body)):  # math.sin(symbol) is NaN
        raise ModelError(
            f"{what}: the callable makes a number that is not finite. Use NumPy's functions on symbols, not math's."
        )
    return Traced(tuple(recorder.symbols), tuple(named), body.serialize())


def _numbered(returned: Any) -> list[tuple[str, Any]]:
    is_sequence = isinstance(returned, list | tuple)
    return [(str(index), value) for index, value in enumerate(returned)] if is_sequence else [("", returned)]


def steps(traced: Traced) -> list[Step]:
    """List what a recorded function does, each step by the numbers of those before it."""
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
        raise ModelError(
            f"callable of {', '.join(arguments)}: expected {counted(len(results), 'result')}, got {len(outputs)}."
        )
    stacked = ca.vertcat(*symbols) if symbols else ca.SX(0, 1)
    return Traced(arguments, results, ca.Function("traced", [stacked], [ca.vertcat(*outputs)]).serialize())


def _value(step: Step, symbols: list[ca.SX], values: list[ca.SX]) -> ca.SX:
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
