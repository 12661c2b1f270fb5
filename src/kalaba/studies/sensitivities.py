"""How much each number that was varied matters to each measure.

Of samples drawn by `SobolIndices`: the share of the measure's variance that goes back to the number alone (first order)
and with all others (total), by `scipy.stats.sobol_indices`. Of others: rank correlations, which see what is monotonic.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.space.arrays import Array
from kalaba.studies.sampling import SobolIndices

if TYPE_CHECKING:
    import pandas as pd

    from kalaba.studies.study import Study


def sensitivities(study: Study, table: pd.DataFrame, measures: tuple[str, ...]) -> pd.DataFrame:
    """A row per measure and number: `first` and `total`, or `rank_correlation`; and the samples that they are of."""
    import pandas as pd

    rule = study.drawn_by
    by_indices = isinstance(rule, SobolIndices) and len(table) == study.count
    index = pd.MultiIndex.from_product([measures, list(study.vary)], names=["measure", "variable"])
    rows: list[dict[str, Any]] = []
    for name in measures:
        if by_indices:
            rows += _sobol(table[name].to_numpy(), rule.base, len(study.vary))  # type: ignore[attr-defined]
        else:
            rows += [_ranked(table[variable].to_numpy(), table[name].to_numpy()) for variable in study.vary]
    return pd.DataFrame(rows, index=index)


def _sobol(values: Array, base: int, variables: int) -> list[dict[str, Any]]:
    """Indices of values in the order of the sets; points of which a value is missing are left out of all sets."""
    from scipy.stats import sobol_indices

    sets = values.reshape(variables + 2, base)
    whole = sets[:, np.isfinite(sets).all(axis=0)]
    used = 1 << (whole.shape[1].bit_length() - 1) if whole.shape[1] else 0  # what scipy takes: a power of 2
    if used < 2:
        return [{"first": np.nan, "total": np.nan, "samples": 0} for _ in range(variables)]
    A, B, *mixed = whole[:, :used]
    functions = {"f_A": A[np.newaxis], "f_B": B[np.newaxis], "f_AB": np.array(mixed)[:, np.newaxis]}
    found = sobol_indices(func=functions, n=used)
    pairs = zip(np.ravel(found.first_order), np.ravel(found.total_order), strict=True)
    return [{"first": float(s), "total": float(t), "samples": used * (variables + 2)} for s, t in pairs]


def _ranked(varied: Array, values: Array) -> dict[str, Any]:
    """Spearman's rank correlation over the samples that have a value."""
    from scipy.stats import spearmanr

    kept = np.isfinite(values)
    count = int(kept.sum())
    if count < 3 or np.ptp(values[kept]) == 0 or np.ptp(varied[kept]) == 0:
        return {"rank_correlation": np.nan, "samples": count}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of values that are nearly the same
        return {"rank_correlation": float(spearmanr(varied[kept], values[kept]).statistic), "samples": count}
