"""Callables as expressions: a Python function is called once with a recorder and kept as a CasADi function.

The function receives `m`; `m["crank.angle"]` is the value of any expression of the grammar, `m["rate(...)"]` a
rate, `m["t"]` the time. What it returns (a number, a sequence, or a dict of rows) is recorded, so that models with
callables can be compared, hashed, pickled and cached like those with text.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kalaba.errors import ModelError
from kalaba.space.instructions import instructions


@dataclass(frozen=True, slots=True)
class Traced:
    """A recorded function: the expressions it reads, the names of its results, and its serialised body."""

    arguments: tuple[str, ...]
    results: tuple[str, ...]  # names; a single unnamed result is called ""
    body: str

    def reads(self, index: int) -> tuple[str, ...]:
        """The arguments that one result depends on."""
        import casadi as ca

        pattern = ca.Function.deserialize(self.body).jac_sparsity(0, 0)
        return tuple(text for column, text in enumerate(self.arguments) if pattern.has_nz(index, column))

    def __call__(self, values: list[Any]) -> list[Any]:
        """Evaluate on CasADi values, one per argument; give one value per result."""
        import casadi as ca

        stacked = ca.vertcat(*values) if values else ca.SX(0, 1)
        return ca.vertsplit(ca.Function.deserialize(self.body)(stacked))  # type: ignore[no-any-return]


class _Recorder:
    """Gives a symbol for every expression that is asked for."""

    def __init__(self) -> None:
        self.symbols: dict[str, Any] = {}

    def __getitem__(self, text: str) -> Any:  # noqa: ANN401
        import casadi as ca

        return self.symbols.setdefault(text, ca.SX.sym(text))


def trace(function: Callable[[Any], Any], what: str) -> Traced:
    """Record a function of the machine's expressions; `what` names it in errors."""
    import casadi as ca

    recorder = _Recorder()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # CasADi's, about NumPy's functions on its symbols
            found = function(recorder)
    except (TypeError, NotImplementedError, RuntimeError) as error:  # math.sin(symbol), if symbol > 0, ...
        raise ModelError(
            f"{what}: the callable cannot be recorded ({str(error).splitlines()[0]}). It is called once with symbols: "
            "use NumPy's functions on them and no `if`."
        ) from error
    named = dict(found) if isinstance(found, Mapping) else dict(_numbered(found))
    try:
        outputs = [ca.SX(value) for value in named.values()]
    except NotImplementedError as error:
        raise ModelError(f"{what}: expected numbers or expressions from the callable, got {found!r}.") from error
    if not outputs or any(output.numel() != 1 for output in outputs):
        raise ModelError(f"{what}: expected one number a row from the callable, got {found!r}.")
    symbols = ca.vertcat(*recorder.symbols.values()) if recorder.symbols else ca.SX(0, 1)
    body = ca.Function("traced", [symbols], [ca.densify(ca.vertcat(*outputs))])
    if not all(math.isfinite(instruction.constant) for instruction in instructions(body)):  # math.sin(symbol) is NaN
        raise ModelError(
            f"{what}: the callable makes a number that is not finite. Use NumPy's functions on symbols, not math's."
        )
    return Traced(tuple(recorder.symbols), tuple(named), body.serialize())


def _numbered(found: Any) -> list[tuple[str, Any]]:  # noqa: ANN401
    is_sequence = isinstance(found, list | tuple)
    return [(str(index), value) for index, value in enumerate(found)] if is_sequence else [("", found)]
