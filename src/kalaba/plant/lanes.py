"""A standard function of a native Plant on many states, as many at a time as there are lanes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from kalaba.native.backend import slices
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant

LANES = 8  # states that a kernel works on at a time


def run_lanes(plant: Plant, name: str, fields: Mapping[str, Array], outputs: Sequence[str]) -> list[Array]:
    """Named outputs of a function, each (count, width), at fields that are (count, width) or (width,) for all states.

    Fields have the names of `constrain/layout.py`; those that are not given are zero, and w is that of the machine.
    """
    from kalaba.native.batch import Code, Piece, Slots, batch  # which loads the loops

    kernel, store = plant.lanes(name, LANES)
    layout, places = plant.layout, slices(dict(kernel.outputs))
    firsts = {"q": layout.q.start, "v": layout.v.start, "f": layout.f.start, "u": layout.u.start}
    firsts |= {"t": layout.t, "mask": layout.mask.start, "w": layout.w.start}
    values = {"w": plant.row_weights, **fields}
    parts = [places[output] for output in outputs]
    results = [np.empty((len(fields["q"]), part.stop - part.start)) for part in parts]
    batch(
        Code(kernel.address, store, kernel),
        Slots(kernel.n_inputs, kernel.n_outputs, kernel.lanes),
        [Piece(firsts[field], array) for field, array in values.items()],
        [Piece(part.start, array) for part, array in zip(parts, results, strict=True)],
        plant.backend.threads,
    )
    return results
