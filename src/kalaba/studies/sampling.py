"""How samples are drawn: points of the unit cube, one row per sample, that follow from the study alone.

The points come from NumPy's generators and `scipy.stats.qmc`. All of them are drawn at once wherever they are needed,
so that a sample is the same whoever evaluates it, and when.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from kalaba.boundary import check_fields, check_whole
from kalaba.errors import ModelError
from kalaba.space.arrays import Array
from kalaba.studies.variables import Variable

MOST_SAMPLES = 100_000_000
MOST_DRAWN = 1_000_000_000  # numbers: 8 GB
USUAL_SAMPLES = 1000
INNERMOST = 2.0**-53  # nearer to the faces of the cube no point lies


class Sampling:
    """A way to draw samples. One of your own is a frozen dataclass with `points`."""

    __slots__ = ()

    def count(self, variables: Sequence[Variable], samples: int | None) -> int:
        """How many samples there are, where so many are asked for; None: nobody said."""
        return USUAL_SAMPLES if samples is None else samples

    def points(self, variables: Sequence[Variable], count: int, seed: int) -> Array:
        """Points of the unit cube, (count, variables)."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Grid(Sampling):
    """Every combination of all values, the last variable changing fastest; variables are `choice` or `spaced`."""

    def count(self, variables: Sequence[Variable], samples: int | None) -> int:
        """As many as there are combinations."""
        lengths = _lengths(variables)
        if samples not in {None, prod(lengths)}:
            raise ModelError(
                f"Study.samples: the grid has {prod(lengths)} combinations, got {samples}. Leave samples out."
            )
        return prod(lengths)

    def points(self, variables: Sequence[Variable], count: int, seed: int) -> Array:
        """The middles of equal parts of the cube."""
        lengths = _lengths(variables)
        places = np.indices(lengths).reshape(len(lengths), -1).T
        return np.asarray((places + 0.5) / np.array(lengths))


@dataclass(frozen=True, slots=True)
class Random(Sampling):
    """Independent samples; those of a smaller study are the first of a larger one."""

    def points(self, variables: Sequence[Variable], count: int, seed: int) -> Array:
        """Points drawn one after the other."""
        return np.random.default_rng(seed).random((count, len(variables)))


@dataclass(frozen=True, slots=True)
class LatinHypercube(Sampling):
    """Samples of which each variable's are spread evenly over its quantiles: fewer give the same mean as sharply."""

    def points(self, variables: Sequence[Variable], count: int, seed: int) -> Array:
        """One point in each of `count` slices along every axis."""
        from scipy.stats import qmc

        return np.asarray(qmc.LatinHypercube(len(variables), seed=np.random.default_rng(seed)).random(count))


@dataclass(frozen=True, slots=True)
class Sobol(Sampling):
    """A scrambled Sobol sequence: evenly spread over all variables together; best for powers of 2."""

    def points(self, variables: Sequence[Variable], count: int, seed: int) -> Array:
        """The first points of the sequence."""
        return _sobol(len(variables), count, seed)


@dataclass(frozen=True, slots=True)
class SobolIndices(Sampling):
    """The samples that Sobol's sensitivity indices ask for: base x (variables + 2) of them.

    Sets A and B of `base` points each, then A with each variable in turn from B (Saltelli et al. 2010, Comput. Phys.
    Commun. 181, 259-270), as `scipy.stats.sobol_indices` takes them.

    Arguments:
        base: points of each set, a power of 2
    """

    base: int = 1024

    def __post_init__(self) -> None:
        check_fields(self)
        check_whole(self.base, "SobolIndices.base", 2, MOST_SAMPLES)
        if self.base & (self.base - 1):
            raise ModelError(f"SobolIndices.base: expected a power of 2 such as 1024, got {self.base}.")

    def count(self, variables: Sequence[Variable], samples: int | None) -> int:
        """As many as the sets have."""
        total = self.base * (len(variables) + 2)
        if samples not in {None, total}:
            raise ModelError(f"Study.samples: the indices take {total} samples, got {samples}. Leave samples out.")
        return total

    def points(self, variables: Sequence[Variable], count: int, seed: int) -> Array:
        """A, B, and A with one column of B for each variable."""
        d = len(variables)
        both = _sobol(2 * d, self.base, seed)
        A, B = both[:, :d], both[:, d:]
        mixed = [np.where(np.arange(d) == column, B, A) for column in range(d)]
        return np.concatenate([A, B, *mixed])


SAMPLINGS: tuple[type[Sampling], ...] = (Grid, Random, LatinHypercube, Sobol, SobolIndices)


def usual_sampling(variables: Sequence[Variable], samples: int | None) -> Sampling:
    """How a study is sampled that does not say: values alone are a grid, unless a number of samples is given."""
    return Grid() if samples is None and all(variable.values for variable in variables) else Random()


def drawn(sampling: Sampling, variables: Sequence[Variable], count: int, seed: int) -> Array:
    """The numbers of all samples, (count, variables)."""
    points = np.clip(sampling.points(variables, count, seed), INNERMOST, 1.0 - INNERMOST)
    return np.column_stack([variable.quantile(points[:, i]) for i, variable in enumerate(variables)])


def check_size(count: int, variables: int) -> None:
    """Refuse a study that is too large to be drawn."""
    check_whole(count, "Study.samples", 1, MOST_SAMPLES)
    if count * variables > MOST_DRAWN:
        raise ModelError(
            f"Study.samples: {count:,} samples of {variables} numbers are more than memory holds. Take fewer."
        )


def _lengths(variables: Sequence[Variable]) -> tuple[int, ...]:
    if not all(variable.values for variable in variables):
        raise ModelError(
            "Study.vary: a grid has values, not distributions. Give kb.choice([...]) or kb.spaced(low, high, count)."
        )
    return tuple(len(variable.values) for variable in variables)


def _sobol(dimensions: int, count: int, seed: int) -> Array:
    from scipy.stats import qmc

    most = qmc.Sobol.MAXDIM
    if dimensions > most:
        raise ModelError(f"Study.vary: Sobol sequences have at most {most} dimensions, here are {dimensions}.")
    sequence: Any = qmc.Sobol(dimensions, seed=np.random.default_rng(seed))
    return np.asarray(sequence.random_base2(max(count - 1, 0).bit_length())[:count])
