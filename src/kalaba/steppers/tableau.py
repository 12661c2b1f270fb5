"""The coefficients of an explicit or diagonally implicit Runge-Kutta method, which check their own order."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations_with_replacement
from math import isclose, prod

import numpy as np

from kalaba.boundary import check_fields
from kalaba.errors import IntegrationError
from kalaba.space.arrays import Array
from kalaba.tolerances import ORDER_CONDITION

Row = tuple[float, ...]
Tree = tuple["Tree", ...]  # a rooted tree: the trees that hang on its root

DENSE_POWERS = 4  # of θ, at most, in a dense output


@dataclass(frozen=True, slots=True)
class ButcherTableau:
    """A Runge-Kutta method with s stages, explicit or, from the second stage on, diagonally implicit.

    From y at t to the state one step h later::

        k_i = f(t + c_i h, y + h Σ_j a_ij k_j)        j < i, or j ≤ i with a_ii = γ
        y⁺  = y + h Σ_i b_i k_i                        of order p
        e   = h Σ_i (b_i - b̂_i) k_i                    error estimate, b̂ of order p̂
        y(t + θh) = y + h Σ_i k_i Σ_j d_ij θ^j         dense output, j = 1, 2, ...; of order p*

    A tableau without dense output is interpolated by the cubic through both ends' states and rates. Row sums and the
    order conditions of every rooted tree are checked at construction.

    Reference: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, II.1, II.2 and II.6.

    Arguments:
        nodes: c, one per stage
        matrix: a, one row per stage: the first is empty, the i-th has i-1 entries, and one more, γ, if implicit
        weights: b, one per stage
        order: p, of the step
        embedded: b̂; empty: no error estimate
        embedded_order: p̂, of the embedded weights
        dense: d, one row per stage; empty: no dense output
        dense_order: p*, of the dense output
    """

    nodes: Row
    matrix: tuple[Row, ...]
    weights: Row
    order: int
    embedded: Row = ()
    embedded_order: int = 0
    dense: tuple[Row, ...] = ()
    dense_order: int = 0

    def __post_init__(self) -> None:
        check_fields(self, IntegrationError)
        self._check_stages()
        stages = len(self.nodes)
        for name in ("weights", "embedded", "dense"):
            if len(getattr(self, name)) not in ({stages} if name == "weights" else {0, stages}):
                raise IntegrationError(f"{name} of a tableau of {stages} stages has {len(getattr(self, name))} entries")
        if any(len(row) > DENSE_POWERS for row in self.dense):
            raise IntegrationError(f"a dense output takes powers of θ up to {DENSE_POWERS}")
        for stage, (node, row) in enumerate(zip(self.nodes, self.matrix, strict=True), 1):
            if not isclose(sum(row), node, rel_tol=0.0, abs_tol=ORDER_CONDITION):
                raise IntegrationError(f"stage {stage}: the coefficients of a sum to {sum(row)}, but c is {node}")
        self._check("weights", self.weights, self.order)
        if self.embedded:
            self._check("embedded", self.embedded, self.embedded_order)
        if self.dense:
            for part in (0.3, 0.8, 1.0):
                self._check(f"dense output at {part}", self.dense_weights(part), self.dense_order, part)

    def _check_stages(self) -> None:
        stages = len(self.nodes)
        lengths, explicit = [len(row) for row in self.matrix], list(range(stages))
        if not stages or lengths not in (explicit, [0, *range(2, stages + 1)]):
            raise IntegrationError(
                f"a tableau of {stages} stages needs rows of 0 to {stages - 1} coefficients in a, "
                "or from the second on one more for γ"
            )
        if lengths != explicit and (len({row[-1] for row in self.matrix[1:]}) > 1 or not self.diagonal > 0):
            raise IntegrationError("the implicit stages of a tableau need one γ above 0")

    @property
    def diagonal(self) -> float:
        """Give γ, which multiplies the rate of a stage in its own equation; 0 = all stages are explicit."""
        return self.matrix[-1][-1] if len(self.matrix[-1]) == len(self.nodes) else 0.0

    def dense_weights(self, part: float) -> Row:
        """Give the weights b(θ) of the dense output at the part θ of a step."""
        return tuple(sum(value * part**power for power, value in enumerate(row, 1)) for row in self.dense)

    def square_matrix(self) -> Array:
        """Give a as a square array, zeros above the diagonal."""
        stages = len(self.nodes)
        return np.array([[*row, *[0.0] * (stages - len(row))] for row in self.matrix]).reshape(stages, stages)

    def _check(self, name: str, weights: Row, order: int, part: float = 1.0) -> None:
        """Hold Σ_i b_i(θ) Φ_i(τ) = θ^|τ| / γ(τ) for every rooted tree τ of up to `order` nodes."""
        for size in range(1, order + 1):
            for tree in _trees(size):
                value = float(np.dot(weights, _elementary(tree, self.square_matrix())))
                wanted = part**size / _density(tree)
                if not isclose(value, wanted, rel_tol=0.0, abs_tol=ORDER_CONDITION):
                    raise IntegrationError(f"{name}: a condition of order {size} gives {value}, expected {wanted}")


@cache
def _trees(size: int) -> tuple[Tree, ...]:
    return tuple(dict.fromkeys(tuple(sorted(forest)) for forest in _forests(size - 1)))


def _forests(size: int, largest: int | None = None) -> Iterator[Tree]:
    """Yield the ways to hang trees with `size` nodes in all, none above `largest`, on one root."""
    if size == 0:
        yield ()
    for head in range(min(size, largest or size), 0, -1):
        for count in range(1, size // head + 1):
            for same in combinations_with_replacement(_trees(head), count):
                for rest in _forests(size - count * head, head - 1) if head > 1 else [()] * (size == count * head):
                    yield (*same, *rest)


def _nodes(tree: Tree) -> int:
    return 1 + sum(_nodes(branch) for branch in tree)


def _density(tree: Tree) -> int:
    return _nodes(tree) * prod(_density(branch) for branch in tree)


def _elementary(tree: Tree, matrix: Array) -> Array:
    """Give Φ_i(τ) = Π over branches of Σ_j a_ij Φ_j(branch), for each stage i."""
    weights = np.ones(len(matrix))
    for branch in tree:
        weights = weights * (matrix @ _elementary(branch, matrix))
    return weights


# One stage, the rate at the start of the step. Methods that are no tableau keep this much of a step; between steps they
# are interpolated by the cubic through both ends.
EULER = ButcherTableau(nodes=(0.0,), matrix=((),), weights=(1.0,), order=1)
