"""Laying out the record and the arrays of an integration."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from kalaba.compiled.kernels import Kernels, Layout
from kalaba.compiled.memory import MEMORY
from kalaba.compiled.schedule import Schedule
from kalaba.compiled.steps import Stepper, coefficients
from kalaba.errors import NativeError
from kalaba.native import aligned_zeros
from kalaba.native.batch import Code
from kalaba.native.machine_code import Floats
from kalaba.steppers import GeneralisedAlpha, Structural
from kalaba.steppers.dormand_prince import DormandPrince
from kalaba.steppers.semi_implicit_euler import SemiImplicitEuler

KEPT_CHOICES = 1000
SAME_TIME = 1e-9  # of a fixed step
SAME_ADAPTIVE_TIME = 1e-12  # of save_every
EPS = float(np.finfo(np.float64).eps)

Arrays = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True, slots=True, eq=False)
class Room:
    """The record (one entry) and the arrays whose addresses it holds, by the names of its fields."""

    memory: npt.NDArray[np.void]
    arrays: Arrays


def allocate(kernels: Kernels, stepper: Stepper, schedule: Schedule, y: Floats) -> Room:
    """Make everything the loop works on, at the start of the run; `y` has shape (n_y, lanes)."""
    layout = kernels.layout
    arrays: Arrays = {
        **coefficients(stepper),
        **_step_arrays(layout, y, len(stepper.tableau.nodes)),
        **_row_arrays(layout),
        **_lane_arrays(layout.lanes, schedule.start),
        **_sample_arrays(layout, schedule.n_samples + 1),  # one more for an event
    }
    if kernels.limbs is not None:
        names = ("limb_row_ends", "limb_rows", "limb_column_ends", "limb_columns")
        arrays |= dict(zip(names, kernels.limbs[0], strict=True))
    if isinstance(stepper, Structural):
        arrays |= _structural_arrays(kernels, stepper)
    fields: dict[str, float] = {
        **_sizes(kernels, stepper, schedule),
        **(_scheme(stepper) if isinstance(stepper, Structural) else {}),
        **_times(stepper, schedule),
        **{name: array.ctypes.data for name, array in arrays.items()},
        **_code("motion", kernels.motion),
        **_code("control", kernels.control),
        **_code("settle", kernels.project or kernels.normalise),
        **_code("rows", kernels.rows),
        **_code("event", kernels.event),
        **_code("displace", kernels.displace),
        **_code("tangent", kernels.tangent),
    }
    fields["mask"] = fields["inputs"] + 8 * layout.mask.start * layout.lanes
    memory = np.zeros(1, dtype=MEMORY)
    for name, value in fields.items():
        memory[name] = value
    return Room(memory, arrays)


def _code(name: str, code: Code | None) -> dict[str, int]:
    return {name: code.address, f"{name}_store": code.store.ctypes.data} if code else {}


def _sizes(kernels: Kernels, stepper: Stepper, schedule: Schedule) -> dict[str, int]:
    layout, tableau = kernels.layout, stepper.tableau
    return {
        "n_y": layout.n_y,
        "n_v": layout.n_v,
        "n_u": layout.n_u,
        "lanes": layout.lanes,
        "entries": layout.n_y * layout.lanes,
        "velocity_first": isinstance(stepper, SemiImplicitEuler),
        "needs_end": not tableau.dense,
        "exponent": 1 + min(tableau.order, tableau.embedded_order),
        "n_stages": len(tableau.nodes),
        "n_samples": schedule.n_samples,
        "n_rows": layout.n_rows,
        "projecting": kernels.project is not None,
        "kept_choices": KEPT_CHOICES,
        "n_limbs": len(kernels.limbs[0][0]) - 1 if kernels.limbs else 0,
        "seats": kernels.limbs[1] if kernels.limbs else 0,
    }


def _times(stepper: Stepper, schedule: Schedule) -> dict[str, float]:
    rounding = 4 * EPS * max(abs(schedule.start), abs(schedule.end))
    times = {"start": schedule.start, "end": schedule.end, "save_every": schedule.save_every}
    times |= {"time": schedule.start, "origin": schedule.start}
    if isinstance(stepper, DormandPrince):
        times |= {"relative": stepper.rtol, "absolute": stepper.atol, "max_step": stepper.max_step}
        slack = SAME_ADAPTIVE_TIME * min(schedule.save_every, 1.0) + rounding
        return times | {"next_step": stepper.first_step or 0.0, "slack": slack}
    if isinstance(stepper, GeneralisedAlpha) and stepper.rtol is not None:
        times |= {"relative": stepper.rtol, "absolute": stepper.atol, "max_step": stepper.max_step}
        slack = SAME_ADAPTIVE_TIME * min(schedule.save_every, 1.0) + rounding
        return times | {"next_step": stepper.step, "slack": slack}
    return times | {"step": stepper.step, "slack": SAME_TIME * stepper.step + rounding}


def _step_arrays(layout: Layout, y: Floats, stages: int) -> Arrays:
    inputs = aligned_zeros(layout.n_inputs, layout.lanes)
    inputs[layout.weight] = 1.0
    return {
        "inputs": inputs,
        "rates": aligned_zeros(layout.outputs["motion"], layout.lanes),
        "controls": aligned_zeros(layout.n_u, layout.lanes),
        "y": np.array(y, order="C"),
        "trial": np.array(y, order="C"),
        "between": np.zeros(y.shape),
        "raw": np.zeros(y.shape),
        "stages": np.zeros((stages + 2, *y.shape)),
    }


def _scheme(stepper: Structural) -> dict[str, float]:
    scheme = stepper.scheme
    numbers = ("beta", "gamma", "alpha_m", "alpha_f", "inertia", "collocation", "error_constant", "offset")
    flags = ("carries", "explicit", "index_3")
    return {"structural": 1, "exponent": 3, **{name: float(getattr(scheme, name)) for name in (*numbers, *flags)}}


def _structural_arrays(kernels: Kernels, stepper: Structural) -> Arrays:
    layout = kernels.layout
    if layout.lanes != 1 or kernels.displace is None or (kernels.tangent is None and not stepper.scheme.explicit):
        raise NativeError(f"{type(stepper).__name__} needs one lane and the kernels 'displace' and 'tangent'")
    n, m = layout.n_v, layout.n_rows
    vectors = ("acceleration", "acceleration_before", "acceleration_next", "true_acceleration", "collocated", "excess")
    return {
        **{name: np.zeros(n) for name in vectors},
        "held": np.zeros(layout.n_u),
        "multipliers": np.zeros(m),
        "correction": np.zeros(n + m),
        "effective": np.zeros((n + m, n + m)),
        "pivots": np.zeros(n + m, dtype=np.int64),
        "tangents": aligned_zeros(layout.outputs["tangent"], 1),
    }


def _row_arrays(layout: Layout) -> Arrays:
    n, m, lanes = layout.n_v, layout.n_rows, layout.lanes
    return {
        "settled": aligned_zeros(layout.outputs["project"], lanes),
        "listed": aligned_zeros(layout.outputs["rows"], lanes),
        "references": np.zeros((m, lanes)),
        "mass": np.zeros((n, n)),
        "row_copy": np.zeros((m, n)),
        "row_weights": np.zeros(m),
        "row_sizes": np.zeros((m, lanes)),
        "row_least": np.zeros(m),
        "chosen": np.zeros(m),
        "choices": np.zeros((KEPT_CHOICES, 3)),
    }


def _lane_arrays(lanes: int, start: float) -> Arrays:
    integers = {"status": 0, "active": 0, "flag": 0, "row": -1, "rank": -1, "worst_row": -1, "samples": 0}
    floats = {"reached": start, "found": 0.0, "worst": 0.0, "worst_time": start, "jolt": 0.0, "jolt_time": start}
    floats |= {"values": 0.0, "before": np.nan, "stop": np.inf}
    return {
        **{name: np.full(lanes, value, dtype=np.int64) for name, value in integers.items()},
        **{name: np.full(lanes, value, dtype=np.float64) for name, value in floats.items()},
    }


def _sample_arrays(layout: Layout, samples: int) -> Arrays:
    lanes = layout.lanes
    return {
        "sample_time": np.zeros((samples, lanes)),
        "sample_y": np.zeros((samples, layout.n_y, lanes)),
        "sample_acceleration": np.zeros((samples, layout.n_v, lanes)),
        "sample_force": np.zeros((samples, layout.n_v, lanes)),
        "sample_actuation": np.zeros((samples, layout.n_u, lanes)),
        "sample_gap": np.zeros((samples, lanes)),
        "sample_gap_row": np.zeros((samples, lanes), dtype=np.int64),
    }
