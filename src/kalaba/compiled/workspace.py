"""The workspace of an integration: its record of fields and the arrays whose addresses the record holds."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from kalaba.compiled.explicit import coefficients
from kalaba.compiled.kernels import Kernels, Units
from kalaba.compiled.memory import MEMORY
from kalaba.compiled.schedule import Schedule
from kalaba.constrain.layout import Layout
from kalaba.errors import NativeError
from kalaba.native import aligned_zeros
from kalaba.native.batch import Code
from kalaba.native.kernels import address
from kalaba.native.machine_code import Floats, record
from kalaba.steppers.scheme import Scheme
from kalaba.steppers.stepper import Pace, Stepper
from kalaba.tolerances import ON_GRID, ROW_NOTHING, SAME_TIME

KEPT_CHOICES = 1000
SCHEME_EXPONENT = 3  # of h in the error estimate of a scheme, whose order is 2
IMPLICIT_EULER = Scheme(beta=1.0, gamma=1.0)  # a stage of a diagonally implicit method, from its own base
EPS = float(np.finfo(np.float64).eps)

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Workspace:
    """The record (one entry) and the arrays whose addresses it holds, by the names of its fields."""

    memory: npt.NDArray[np.void]
    arrays: Arrays


def workspace(kernels: Kernels, stepper: Stepper, schedule: Schedule, y: Floats) -> Workspace:
    """Make everything the loop works on, at the start of the run; `y` has shape (n_y, lanes)."""
    units = Units.plain(kernels.layout) if kernels.units is None else kernels.units
    arrays: Arrays = {
        **_step_arrays(kernels, y),
        **_scales(units, stepper.pace, schedule, y),
        **_row_arrays(kernels),
        **_units(units),
        **_lane_arrays(kernels.layout.lanes, schedule.start),
        **_sample_arrays(kernels, schedule.n_samples + 1),  # one more for an event
    }
    if kernels.limbs is not None:
        names = ("limb_row_ends", "limb_rows", "limb_column_ends", "limb_columns")
        arrays |= dict(zip(names, kernels.limbs[0], strict=True))
    method = _method(kernels, stepper)
    arrays |= method.arrays
    fields: dict[str, float] = {
        **_sizes(kernels, schedule),
        **_times(stepper, schedule),
        **method.fields,
        **{name: address(array) for name, array in arrays.items() if name not in method.arrays},
        **_code("motion", kernels.motion),
        **_code("control", kernels.control),
        **_code("settle", kernels.project or kernels.normalise),
        **_code("rows", kernels.rows),
        **_code("event", kernels.event),
    }
    fields["own_rate"] = units.rate
    fields |= _parts(kernels.layout, fields)
    return Workspace(record(MEMORY, fields), arrays)


def _parts(layout: Layout, fields: Mapping[str, float]) -> dict[str, float]:
    """Addresses of what stands within the arrays that kernels read and write, at the places that the layout says."""
    within = {
        "inputs": {"mask": layout.mask.start, "u": layout.u.start},
        "rates": {"v_rates": layout.n_y - layout.n_v, **layout.places("motion")},
        "settled": layout.places("project"),
        "listed": layout.places("rows"),
        "tangents": layout.places("tangent"),
    }
    return {
        name: fields[array] + 8 * place * layout.lanes
        for array, places in within.items()
        if array in fields
        for name, place in places.items()
    }


def use_method(space: Workspace, kernels: Kernels, stepper: Stepper) -> None:
    """Let the loop go on by the method of another stepper."""
    method = _method(kernels, stepper)
    space.arrays.update(method.arrays)  # which keeps them alive
    for name in method.fields.keys() & set(MEMORY.names or ()):
        space.memory[name] = method.fields[name]


class _Method(NamedTuple):
    """What the record holds of a method: its coefficients, and the arrays of one of its steps."""

    arrays: Arrays
    fields: dict[str, float]


def _method(kernels: Kernels, stepper: Stepper) -> _Method:
    layout, tableau = kernels.layout, stepper.tableau
    arrays: Arrays = {
        **coefficients(tableau),
        "stages": np.zeros((len(tableau.nodes) + 2, layout.n_y, layout.lanes)),
    }
    fields: dict[str, float] = {
        "velocity_first": stepper.velocity_first,
        "needs_end": not tableau.dense,
        "exponent": 1 + min(tableau.order, tableau.embedded_order),
        "n_stages": len(tableau.nodes),
        "stage_gamma": tableau.diagonal,
    }
    if stepper.scheme is not None or tableau.diagonal:
        arrays |= _tangent_arrays(kernels, stepper)
        fields |= {**_scheme(stepper.scheme or IMPLICIT_EULER), "started": 0, "tangent_step": 0.0, "step_before": 0.0}
        fields |= {**_code("displace", kernels.displace), **_code("tangent", kernels.tangent)}
        if stepper.scheme is not None:
            fields["exponent"] = SCHEME_EXPONENT
    fields |= {name: address(array) for name, array in arrays.items()}
    return _Method(arrays, fields | _parts(layout, fields))


def _code(name: str, code: Code | None) -> dict[str, int]:
    return {name: code.address, f"{name}_store": address(code.store)} if code else {}


def _sizes(kernels: Kernels, schedule: Schedule) -> dict[str, int]:
    layout = kernels.layout
    return {
        "n_y": layout.n_y,
        "n_work": layout.n_work,
        "n_v": layout.n_v,
        "n_u": kernels.layout.n_u,
        "lanes": kernels.layout.lanes,
        "entries": layout.n_y * kernels.layout.lanes,
        "n_samples": schedule.n_samples,
        "n_rows": layout.n_rows,
        "projecting": kernels.project is not None,
        "kept_choices": KEPT_CHOICES,
        "n_limbs": len(kernels.limbs[0][0]) - 1 if kernels.limbs else 0,
        "hub_rows": kernels.limbs[1] if kernels.limbs else 0,
    }


def _times(stepper: Stepper, schedule: Schedule) -> dict[str, float]:
    rounding = 4 * EPS * max(abs(schedule.start), abs(schedule.end))
    times = {"start": schedule.start, "end": schedule.end, "save_every": schedule.save_every}
    times |= {"time": schedule.start, "origin": schedule.start}
    pace = stepper.pace
    if pace.rtol is None:
        return times | {"step": pace.step, "slack": ON_GRID * pace.step + rounding}
    times |= {"relative": pace.rtol, "max_step": pace.max_step}
    slack = SAME_TIME * min(schedule.save_every, 1.0) + rounding
    return times | {"next_step": pace.step, "slack": slack}


def _step_arrays(kernels: Kernels, y: Floats) -> Arrays:
    inputs = aligned_zeros(kernels.layout.size, kernels.layout.lanes)
    inputs[kernels.layout.w] = 1.0
    return {
        "inputs": inputs,
        "rates": aligned_zeros(kernels.layout.outputs["motion"], kernels.layout.lanes),
        "controls": aligned_zeros(kernels.layout.n_u, kernels.layout.lanes),
        "y": np.array(y, order="C"),
        "trial": np.array(y, order="C"),
        "between": np.zeros(y.shape),
        "raw": np.zeros(y.shape),
    }


def _scales(units: Units, pace: Pace, schedule: Schedule, y: Floats) -> Arrays:
    """What errors are measured against: atol in parts of each size, for a velocity per duration of the run.

    A velocity that is off by so much leads astray by atol in the whole run.
    """
    first_v = len(y) - len(units.velocities)
    n_work = first_v - len(units.coordinates)
    floors = np.concatenate([np.ones(n_work), pace.atol * units.coordinates, pace.atol * units.velocities])
    floors[first_v:] /= max(schedule.end - schedule.start, np.finfo(float).tiny)
    origins = np.array(y, order="C")
    origins[first_v:] = 0.0
    sizes = np.concatenate([np.ones(n_work), units.coordinates, units.velocities])
    return {"floors": floors, "origins": origins, "extents": np.abs(y - origins), "sizes": sizes}


def _scheme(scheme: Scheme) -> dict[str, float]:
    numbers = ("beta", "gamma", "alpha_m", "alpha_f", "inertia", "collocation", "error_constant", "offset")
    flags = ("carries", "explicit", "index_3")
    values = {name: float(getattr(scheme, name)) for name in numbers}
    return values | {name: int(getattr(scheme, name)) for name in flags}


def _tangent_arrays(kernels: Kernels, stepper: Stepper) -> Arrays:
    has = {"displace": kernels.displace is not None, "tangent": kernels.tangent is not None}
    if kernels.layout.lanes != 1 or not all(has[name] for name in stepper.kernels):
        raise NativeError(f"{type(stepper).__name__} needs one lane and the kernels 'displace' and 'tangent'")
    n, m = kernels.layout.n_v, kernels.layout.n_rows
    vectors = ("acceleration", "acceleration_before", "acceleration_next", "true_acceleration", "collocated", "excess")
    return {
        **{name: np.zeros(n) for name in vectors},
        "stage_base": np.zeros(kernels.layout.n_y),
        "held": np.zeros(kernels.layout.n_u),
        "multipliers": np.zeros(m),
        "correction": np.zeros(n + m),
        "effective": np.zeros((n + m, n + m)),
        "exchanges": np.zeros(n + m, dtype=np.int64),
        "tangents": aligned_zeros(kernels.layout.outputs["tangent"], 1),
    }


def _row_arrays(kernels: Kernels) -> Arrays:
    n, m, lanes = kernels.layout.n_v, kernels.layout.n_rows, kernels.layout.lanes
    return {
        "settled": aligned_zeros(kernels.layout.outputs["project"], lanes),
        "listed": aligned_zeros(kernels.layout.outputs["rows"], lanes),
        "references": np.zeros((m, lanes)),
        "first_pivots": np.zeros((m, lanes)),
        "largest_pivots": np.zeros((m, lanes)),
        "mass": np.zeros((n, n)),
        "row_copy": np.zeros((m, n)),
        "row_weights": np.zeros(m),
        "row_sizes": np.zeros((m, lanes)),
        "row_least": np.zeros(m),
        "chosen": np.zeros(m),
        "choices": np.zeros((KEPT_CHOICES, 3)),
    }


def _units(units: Units) -> Arrays:
    return {
        "gap_units": np.array(units.gaps, dtype=np.float64),
        "row_units": np.array(units.strengths, dtype=np.float64),
        "q_units": np.array(units.coordinates, dtype=np.float64),
        "v_units": np.array(units.velocities, dtype=np.float64),
        "per_v_unit": 1.0 / np.array(units.velocities, dtype=np.float64),
        "row_nothing": ROW_NOTHING * units.gaps / units.strengths,
    }


def _lane_arrays(lanes: int, start: float) -> Arrays:
    integers = {"status": 0, "active": 0, "flag": 0, "row": -1, "rank": -1, "worst_row": -1, "samples": 0}
    floats = {"reached": start, "residual": 0.0, "worst": 0.0, "worst_time": start, "jolt": 0.0, "jolt_time": start}
    floats |= {"values": 0.0, "before": np.nan, "stop": np.inf, "speed_change": 0.0}
    return {**_filled(integers, lanes, np.int64), **_filled(floats, lanes, np.float64)}


def _filled(values: Mapping[str, float], lanes: int, kind: type[np.generic]) -> Arrays:
    """Arrays with one value in all lanes."""
    rows = np.repeat(np.array([*values.values()], dtype=kind)[:, None], lanes, axis=1)
    return dict(zip(values, rows, strict=True))


def _sample_arrays(kernels: Kernels, samples: int) -> Arrays:
    layout, lanes = kernels.layout, kernels.layout.lanes
    return {
        "sample_time": np.zeros((samples, lanes)),
        "sample_y": np.zeros((samples, layout.n_y, lanes)),
        "sample_acceleration": np.zeros((samples, layout.n_v, lanes)),
        "sample_force": np.zeros((samples, layout.n_v, lanes)),
        "sample_actuation": np.zeros((samples, kernels.layout.n_u, lanes)),
        "sample_gap": np.zeros((samples, lanes)),
        "sample_gap_row": np.zeros((samples, lanes), dtype=np.int64),
    }
