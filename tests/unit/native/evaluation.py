"""Evaluates CasADi functions natively and by CasADi itself, past all caches; makes random functions."""

import casadi as ca
import numpy as np

from kalaba.native.build import build, load
from kalaba.native.kernels import Kernel
from kalaba.native.program import Listing, value_of


def compiled(function: ca.Function, lanes: int = 1, longest_piece: int = 4000) -> Kernel:
    return load(build(function.name(), function, lanes, longest_piece))


def natively(function: ca.Function, inputs, parameters=(), lanes: int = 1, longest_piece: int = 4000) -> np.ndarray:
    """Evaluate at every column of `inputs` (slots, states), `lanes` at a time; gives (slots, states)."""
    kernel = compiled(function, lanes, longest_piece)
    store = kernel.store(parameters)
    inputs = np.atleast_2d(np.asarray(inputs, dtype=float))
    padded = np.pad(inputs, ((0, 0), (0, -inputs.shape[1] % lanes)), mode="edge")
    starts = range(0, padded.shape[1], lanes)
    results = [kernel(padded[:, start : start + lanes], store) for start in starts]
    return np.concatenate(results, axis=1)[:, : inputs.shape[1]]


def by_casadi(function: ca.Function, inputs, parameters=()) -> np.ndarray:
    """The same in CasADi's virtual machine; p must be the last input."""
    inputs = np.atleast_2d(np.asarray(inputs, dtype=float))
    names = [name for name in function.name_in() if name != "p"]
    ends = np.cumsum([function.numel_in(name) for name in names])[:-1]
    given = [ca.DM(parameters)] if "p" in function.name_in() else []
    columns = []
    for column in inputs.T:
        results = function.call([*(ca.DM(part) for part in np.split(column, ends)), *given])
        columns.append(np.concatenate([np.asarray(r.full()).ravel(order="F") for r in results]))
    return np.array(columns).T


def ulps_apart(found, expected) -> np.ndarray:
    """Distance in units in the last place; 0 where both are NaN or the same infinity."""
    same = (found == expected) | (np.isnan(found) & np.isnan(expected))
    with np.errstate(invalid="ignore", over="ignore"):
        distance = np.abs(found - expected) / np.spacing(np.abs(expected))
    return np.where(same, 0.0, np.where(np.isnan(distance), np.inf, distance))


def random_function(seed: int, length: int, n_inputs: int = 8, n_parameters: int = 5) -> ca.Function:
    """A function of x and p with some `length` operations of many kinds, its values of ordinary size."""
    random = np.random.default_rng(seed)
    x, p = ca.SX.sym("x", n_inputs), ca.SX.sym("p", n_parameters)
    values = [*ca.vertsplit(x), *ca.vertsplit(p)]
    kinds = [
        *[lambda a, b: a * b + 0.3] * 3,
        *[lambda a, b: a - b * a] * 3,
        lambda a, b: a * b - b,
        lambda a, b: 0.5 * a + b,
        lambda a, b: a / (2 + b * b),
        lambda a, b: ca.sin(a) + ca.cos(a) * b,
        lambda a, b: ca.cos(3 * a),
        lambda a, b: ca.sqrt(1 + a * a) - b,
        lambda a, b: ca.if_else(a < b, a, -b),
        lambda a, b: ca.fmin(a, b) + ca.exp(-a * a),
        lambda a, b: ca.atan2(a, b + 2),
    ]
    while len(values) < length // 3:
        a, b = (values[-1 - random.integers(min(len(values), 60))] for _ in range(2))
        value = kinds[random.integers(len(kinds))](a, b)
        values.append(value / (1 + ca.fabs(value)) if random.random() < 0.5 else ca.tanh(value))
    outputs = [ca.vertcat(*values[-20:]), ca.reshape(ca.vertcat(*values[len(values) // 2 :][:6]), 2, 3)]
    return ca.Function("random", [x, p], ca.cse(outputs), ["x", "p"], ["y", "z"])


MEANING = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "neg": np.negative,
    "sq": np.square,
    "twice": lambda x: x + x,
    "inv": lambda x: 1.0 / x,
    "fabs": np.abs,
    "sin": np.sin,
    "cos": np.cos,
}


def evaluate_listing(listing: Listing, inputs) -> np.ndarray:
    """The results of a listing, one operation of NumPy after the other."""
    values: list[np.float64] = []
    with np.errstate(all="ignore"):
        for op, args, number in listing.instructions:
            if op == "constant":
                values.append(np.float64(value_of(number)))
            elif op == "input":
                values.append(np.float64(inputs[number]))
            else:
                values.append(MEANING[op](*(values[arg] for arg in args)))
    return np.array([values[position] for position in listing.results])
