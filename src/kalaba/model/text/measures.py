"""Measures of a run as text: expressions whose values are reductions over time, such as `peak(abs(cut.x)) / load.mass`.

    text ─parse_measure→ MeasureText ─reduced→ one number per reduction ─value→ one number

A reduction takes samples of a quantity, (N,), at increasing times. Integrals over time go by the trapezoidal rule and
values between samples along straight lines. Beside reductions a measure has numbers and parameters only.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

import numpy as np

from kalaba.errors import ExpressionError
from kalaba.model.text.evaluation import Values, evaluate_tree
from kalaba.model.text.grammar import CONSTANTS, REDUCTIONS, TIME, Reduction, read_measure
from kalaba.model.text.syntax import Distance, Name, Node, Rate, postorder
from kalaba.space.arrays import Array

CACHED_TEXTS = 256


@dataclass(frozen=True, slots=True)
class MeasureText:
    """A measure that was read. Made by `parse_measure`.

    Arguments:
        text: as written
        tree: what is worked out of the reductions, each of which is a name in it
        reductions: what is taken of the run
    """

    text: str
    tree: Node = field(repr=False)
    reductions: tuple[Reduction, ...] = field(repr=False)

    @property
    def parameters(self) -> frozenset[str]:
        """Names beside the reductions, which must be parameters."""
        words = {node.name for node in postorder(self.tree) if isinstance(node, Name)}
        return frozenset(words - {reduction.text for reduction in self.reductions} - set(CONSTANTS))

    def value(self, numbers: Mapping[str, float]) -> float:
        """The measure, of the values of its reductions and parameters by name; not finite where it has no value."""
        with np.errstate(all="ignore"):
            values = {name: np.float64(number) for name, number in numbers.items()}
            return float(evaluate_tree(self.tree, self.text, Values(values)))


@lru_cache(maxsize=CACHED_TEXTS)
def parse_measure(text: str) -> MeasureText:
    """Read a measure, in which a run must be reduced to numbers."""
    tree, reductions = read_measure(text)
    words = ", ".join(REDUCTIONS)
    if not reductions:
        raise ExpressionError("expected a number per run", text, 0, f"take one of {words}, such as peak(abs(...))")
    for node in postorder(tree):
        if isinstance(node, Rate | Distance) or (isinstance(node, Name) and node.name == TIME):
            raise ExpressionError("a value that changes over time", text, node.position, f"put it into one of {words}")
    return MeasureText(text, tree, reductions)


def reduced(reduction: Reduction, time: Array, samples: tuple[Array, ...]) -> float:
    """One number of the samples of what a reduction is taken of, (N,) each; nan where there is none."""
    if reduction.comparison:
        return _first(time, samples, reduction.comparison)
    if reduction.word == "at":
        return float(np.interp(samples[1][0], time, samples[0], left=np.nan, right=np.nan))
    return REDUCED[reduction.word](time, samples[0])


def _mean(time: Array, values: Array) -> float:
    """∫ x dt / T; of one sample its value."""
    span = time[-1] - time[0]
    area = np.sum(0.5 * (values[1:] + values[:-1]) * np.diff(time))
    return float(area / span) if span > 0 else float(values[0])


REDUCED: Mapping[str, Callable[[Array, Array], float]] = MappingProxyType(
    {
        "peak": lambda _, values: float(np.max(values)),
        "rms": lambda time, values: float(np.sqrt(_mean(time, values**2))),
        "mean": _mean,
        "final": lambda _, values: float(values[-1]),
    }
)


def _first(time: Array, samples: tuple[Array, ...], comparison: str) -> float:
    """When a condition first holds, s; nan: it never does."""
    left, right = samples
    above = left - right if comparison.startswith(">") else right - left
    holds = above >= 0.0 if comparison.endswith("=") else above > 0.0
    if not holds.any():
        return float("nan")
    at = int(np.argmax(holds))
    if at == 0:
        return float(time[0])
    before, after = above[at - 1], above[at]
    return float(time[at - 1] + (time[at] - time[at - 1]) * -before / (after - before))
