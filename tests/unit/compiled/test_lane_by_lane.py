"""A part of a step does to each of five lanes what it does to that lane alone, whatever stands in memory."""

import numpy as np
import pytest

from kalaba.compiled.kernels import Units
from kalaba.compiled.memory import MEMORY, NAN, RUNNING
from kalaba.constrain.layout import Layout
from kalaba.steppers import RungeKutta4, SemiImplicitEuler
from kalaba.tolerances import PROJECTION_LOST
from unit.compiled.as_python import as_python, memory_of

LANES = 5  # no other size: n_q = 3, n_v = 2, three rows, two motors
N_Q, N_V, N_U, M = 3, 2, 2, 3
UNITS = Units(
    np.array([2.0, 3.0, 0.7]), np.array([1.5, 0.4]), np.array([1.0, 2.0, 0.5]), np.array([0.5, 3.0, 1.0]), 2.0
)
SEEDS = range(4)
SIGNED = {"y", "trial", "between", "stages", "raw", "before"}
BETWEEN = {"between", "raw", "residual", "speed_change", "flag", "active", "stages"}  # the same within a step
SCRATCH = {
    "inputs",
    "rates",
    "settled",
    "listed",
    "values",
    "controls",
}  # of lanes that are done, left as they are by others


def layout(lanes):
    return Layout(N_Q, N_V, N_U, M, lanes)


def of_lanes(function, lanes):
    """A kernel that does the same in every lane."""
    return lambda inputs: [np.stack([function(lane.copy()) for lane in inputs.reshape(-1, lanes).T], axis=1)]


def motion(inputs):
    """Rates, forces, pivots and gaps that depend on every slot of the state and on time."""
    mixed = np.sin(np.arange(layout(1).outputs["motion"]) + inputs[: layout(1).size] @ np.arange(1, layout(1).size + 1))
    mixed[-2 * M : -M] = np.abs(mixed[-2 * M : -M]) ** 40  # some pivots have all but vanished
    mixed[-M:] = np.abs(mixed[-M:])
    return mixed


def project(inputs):
    """Half way to a place, with residuals that are small in some lanes."""
    y = inputs[: layout(1).n_y]
    residual = 1e-3 * PROJECTION_LOST * np.abs(np.sin(1e3 * y[: 2 * M]))
    return np.concatenate([y[:1], y[1:] - 0.3 * np.sin(y[1:]), residual])


def rows(inputs):
    q = inputs[layout(1).q]
    return np.concatenate(
        [np.diag([2.0, 3.0]).ravel(), np.outer([1.0, np.cos(q[0])], [1.0, 0.5, np.sin(q[1])]).ravel()]
    )


def control(inputs):
    return np.array([np.cos(inputs[1]), inputs[4] * inputs[2]])


def event(inputs):
    return np.array([np.sin(3.0 * inputs[1]) - 0.2])


KERNELS = {"motion": motion, "project": project, "rows": rows, "control": control, "event": event}


def fields_of(memory, arrays):
    """The arrays of a workspace that have a place for each lane."""
    of_each = {
        name: array for name, array in vars(arrays).items() if np.ndim(array) and array.shape[-1] == memory.lanes
    }
    return {name: array for name, array in of_each.items() if name in MEMORY.names}


def random_numbers(arrays, rng):
    """Put numbers that a run might have come to where each lane has a place."""
    for name, array in arrays.items():
        if array.dtype == np.float64:
            array[:] = (
                rng.normal(size=array.shape)
                if name in {"y", "trial", "between", "stages", "raw", "before"}
                else rng.random(array.shape)
            )
    lane_count = arrays["status"].shape[0]
    arrays["status"][:] = np.where(rng.random(lane_count) < 0.8, RUNNING, NAN)
    arrays["active"][:] = rng.integers(0, 2, lane_count)
    arrays["flag"][:] = rng.integers(0, 2, lane_count)
    arrays["rank"][:] = rng.integers(-1, 2, lane_count)
    arrays["samples"][:] = rng.integers(0, 3, lane_count)
    arrays["worst_row"][:] = rng.integers(-1, M, lane_count)
    arrays["stop"][:] = np.where(rng.random(lane_count) < 0.5, np.inf, 0.3 + 0.1 * rng.random(lane_count))


def pair(stepper, seed):
    """Five lanes, and each of them alone."""
    spaces = []
    rng = np.random.default_rng(seed)
    for lanes in (LANES, *[1] * LANES):
        kernels = {name: of_lanes(function, lanes) for name, function in KERNELS.items()}
        memory, arrays = memory_of(
            layout(lanes), stepper, np.ones((layout(1).n_y, lanes)), 0.6, UNITS, save_every=0.13, **kernels
        )
        memory.time, memory.ahead, memory.taken, memory.next_sample, memory.n_steps = 0.3, 0.45, 0.15, 3, 2
        memory.next_step = 0.15
        spaces.append((memory, arrays))
    together = fields_of(*spaces[0])
    random_numbers(together, rng)
    mask = spaces[0][1].inputs[layout(1).mask]
    mask[:] = rng.random(mask.shape) < 0.6
    for lane, (_, arrays) in enumerate(spaces[1:]):
        for name, array in together.items():
            getattr(arrays, name)[..., 0] = array[..., lane]
    return spaces


PARTS = [
    ("engine", "start", ()),
    ("engine", "is_over", ()),
    ("engine", "accept", ()),
    ("choice", "watch", ()),
    ("choice", "choose_again", ()),
    ("choice", "settle_step", ()),
    ("explicit", "take_stages", ()),
    ("explicit", "prepare_dense", (0.45, 0.15)),
    ("explicit", "interpolate", (0.15, 0.4)),
    ("pace", "stays_finite", ("stages",)),
    ("pace", "widen", ()),
    ("pace", "_keep_pivots", ()),
    ("samples", "record_state", ()),
    ("samples", "look", ("trial", 0.45)),
    ("samples", "locate", ()),
    ("samples", "record_inside", ()),
]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("stepper", [RungeKutta4(0.15), SemiImplicitEuler(0.15)], ids=["rk4", "euler"])
@pytest.mark.parametrize(("module", "name", "words"), PARTS, ids=[part[1] for part in PARTS])
def test_a_lane_among_others_is_as_it_is_alone(module, name, words, stepper, seed):
    plain = as_python()
    (memory, arrays), *alone = pair(stepper, seed)
    if name == "record_state":
        memory.time = 0.39
    if name == "is_over":
        memory.time = 0.6

    def run(of, its):
        of.time = memory_time
        given = [plain.memory.floats(of[word]) if isinstance(word, str) else word for word in words]
        getattr(getattr(plain, module), name)(of, *given)

    memory_time = float(memory.time)
    run(memory, arrays)
    for lane, (single, own) in enumerate(alone):
        run(single, own)
        for field in fields_of(memory, arrays).keys() - (SCRATCH | BETWEEN if module == "samples" else SCRATCH):
            np.testing.assert_array_equal(
                getattr(own, field)[..., 0], getattr(arrays, field)[..., lane], err_msg=f"{field} of lane {lane}"
            )
