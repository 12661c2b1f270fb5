"""The kernels that a run calls, in one value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kalaba.constrain.layout import Layout
from kalaba.constrain.rows import Limbs
from kalaba.errors import NativeError
from kalaba.native.batch import Code
from kalaba.space.arrays import Array


class Units(NamedTuple):
    """How large the numbers of a machine are: what decides compares with these."""

    coordinates: Array  # (n_q,)
    velocities: Array  # (n_v,), times s
    gaps: Array  # (n_rows,): of how far rows are open
    strengths: Array  # (n_rows,): of what rows say
    rate: float  # 1/s: of a machine that rests

    @classmethod
    def plain(cls, layout: Layout) -> Units:
        """All 1."""
        rows = np.ones(layout.n_rows)
        return cls(np.ones(layout.n_q), np.ones(layout.n_v), rows, rows, 1.0)


@dataclass(frozen=True, slots=True, eq=False)
class Kernels:
    """What an integration calls; `project` stabilises, without it `normalise` keeps quaternions at length 1.

    Every kernel reads the packed input of `layout`, with one lane per run that goes on at once.
    """

    layout: Layout
    motion: Code
    rows: Code | None = None  # needed where there are constraint rows
    project: Code | None = None
    normalise: Code | None = None
    control: Code | None = None
    event: Code | None = None
    displace: Code | None = None  # needed by steppers with a scheme, and by implicit ones
    tangent: Code | None = None  # needed by those that solve equations
    limbs: Limbs | None = None  # of a machine whose kernels work limb by limb
    units: Units | None = None  # None = all 1

    def __post_init__(self) -> None:
        if self.layout.n_rows and self.rows is None:
            raise NativeError(f"{self.layout.n_rows} constraint rows need the kernel 'rows' to choose among them")
        if self.project is not None and self.normalise is not None:
            raise NativeError("give either 'project' or 'normalise': projection normalises too")
