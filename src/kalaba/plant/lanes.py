"""A function of a native Plant on many states, as many at a time as there are lanes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from kalaba.native.backend import slices
from kalaba.space.arrays import Array

if TYPE_CHECKING:
    import casadi as ca

    from kalaba.derive.equations import Equations
    from kalaba.plant.plant import Plant

LANES = 8  # states that a kernel works on at a time
Fields = Mapping[str, Array]
Output = str | tuple[str, slice]  # an output of a function, or some of its numbers


class Traced(NamedTuple):
    """A function of a machine that is no standard one; `label` tells its code apart from others' of this name."""

    name: str
    trace: Callable[[Equations], ca.Function]
    label: str = ""


class Parameters(NamedTuple):
    """Parameters that differ from state to state: which of a machine's free ones, and their values."""

    indices: tuple[int, ...]
    values: Array  # (count, indices)


def run_lanes(
    plant: Plant,
    function: str | Traced,
    fields: Fields,
    outputs: Sequence[Output],
    parameters: Parameters | None = None,
) -> list[Array]:
    """Outputs of a function, each (count, width), at fields that are (count, width) or (width,) for all states.

    Fields have the names of `constrain/layout.py`; q is (count, n_q). Those that are not given are zero, and w is that
    of the machine. A function is a standard one by its name, or traced.
    """
    from kalaba.native.batch import Code, Piece, Slots, Varied, batch  # which loads the loops

    kernel, store = plant.lanes(function, LANES) if isinstance(function, str) else plant.traced_lanes(function, LANES)
    layout, places = plant.layout, slices(dict(kernel.outputs))
    firsts = {"q": layout.q.start, "v": layout.v.start, "f": layout.f.start, "u": layout.u.start}
    firsts |= {"t": layout.t, "mask": layout.mask.start, "w": layout.w.start}
    values = {"w": plant.row_weights, **fields}
    parts = [part_of(places, output) for output in outputs]
    results = [np.empty((len(fields["q"]), part.stop - part.start)) for part in parts]
    varied = None
    if parameters is not None:
        columns = zip(parameters.indices, parameters.values.T, strict=True)
        pieces = [Piece(index, np.ascontiguousarray(column)[:, np.newaxis]) for index, column in columns]
        varied = Varied(plant.parameters, pieces)
    batch(
        Code(kernel.address, store, kernel, prepare=kernel.prepare_address),
        Slots(kernel.n_inputs, kernel.n_outputs, kernel.lanes),
        [Piece(firsts[field], array) for field, array in values.items()],
        [Piece(part.start, array) for part, array in zip(parts, results, strict=True)],
        plant.backend.threads,
        varied,
    )
    return results


def part_of(places: Mapping[str, slice], output: Output) -> slice:
    """Where an output stands among all that a function gives."""
    if isinstance(output, str):
        return places[output]
    whole = places[output[0]]
    first, end, _ = output[1].indices(whole.stop - whole.start)
    return slice(whole.start + first, whole.start + end)
