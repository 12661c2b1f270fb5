"""Single steps from any state, for loops written in Python: the engine on a workspace that is set back before each."""

from functools import partial
from math import inf

import numpy as np

from kalaba.compiled.direct_step import DIRECT, take
from kalaba.compiled.engine import advance
from kalaba.compiled.kernels import Kernels
from kalaba.compiled.schedule import Schedule
from kalaba.compiled.trajectory import Status
from kalaba.compiled.workspace import workspace
from kalaba.native.kernels import address
from kalaba.native.machine_code import Floats, record
from kalaba.steppers.stepper import FixedStepper


class SingleStep:
    """The step of an explicit method, with rows, projection and failures as in a run; the next knows nothing of it.

    The arrays belong to it: threads need one each.
    """

    def __init__(self, kernels: Kernels, stepper: FixedStepper, weight: Floats | float = 1.0) -> None:
        layout = kernels.layout
        space = workspace(kernels, stepper, Schedule(end=1.0, save_every=1.0), np.zeros((layout.n_y, 1)))
        self._alive = kernels, space  # the record holds addresses of their code and arrays
        self.record, self.n_q, arrays = space.memory, layout.n_q, space.arrays
        self._state, inputs = arrays["y"][:, 0], arrays["inputs"][:, 0]
        self._held, self._mask = inputs[layout.u], inputs[layout.mask]
        inputs[layout.w] = weight
        self._references, self._sizes = arrays["references"][:, 0], arrays["row_sizes"]
        self._extents = arrays["extents"]
        self._status, self._rank, self._row = arrays["status"], arrays["rank"], arrays["row"]
        self.record["end"] = inf
        self.record["next_sample"] = self.record["n_samples"]  # none is ever due
        fields = ("time", "origin", "step", "since_origin", "n_steps")
        self._time, self._origin, self._step, self._since_origin, self._n_steps = (self.record[f] for f in fields)

    def keep_rows(self, mask: Floats, references: Floats, rank: int) -> None:
        """Start with these rows, whose pivots were `references` where they were chosen; others are chosen as needed."""
        self._mask[:], self._references[:], self._rank[0] = mask, references, rank
        self._sizes[:] = 0.0

    def take(self, y: Floats, held: Floats, t: float, h: float) -> Status:
        """Step from y = [work, q, v] at t to t + h with held inputs; `state` is then where it ended."""
        self._state[:], self._held[:], self._extents[:] = y, held, 0.0
        self._time[0], self._origin[0], self._step[0] = t, t, h
        self._since_origin[0], self._n_steps[0], self._status[0], self._row[0] = 0, 1, Status.RUNNING, -1
        advance(self.record, inf, 1)
        return Status(int(self._status[0]))

    @property
    def state(self) -> Floats:
        """Where the last step ended, [work, q, v]; its start if it failed."""
        return self._state

    @property
    def n_choices(self) -> int:
        """How often rows were chosen in all steps so far."""
        return int(self.record["n_choices"][0])

    @property
    def row(self) -> int:
        """The row that a failure speaks of, else -1."""
        return int(self._row[0])


class DirectStep:
    """A SingleStep in one call (`direct_step.take`), whose steps all start with the same rows.

    Write `q`, `v` and `u`, call `run` with t and h, and read `following` if `is_taken[0]` is 1.
    """

    def __init__(
        self, single: SingleStep, rows: tuple[Floats, Floats, int], n_driven: int, quaternions: tuple[int, ...]
    ) -> None:
        """Start with rows given by their mask, their pivots where they were chosen, and their rank.

        An actuation has `n_driven` numbers; quaternions begin at these slots of q.
        """
        n_v = int(single.record["n_v"][0])
        self.q, self.v, self.u = np.zeros(single.n_q), np.zeros(n_v), np.zeros(n_driven)
        self.following = np.zeros(single.n_q + n_v)
        arrays = {
            "q": self.q,
            "v": self.v,
            "u": self.u,
            "following": self.following,
            "first_mask": np.array(rows[0], dtype=np.float64),
            "first_references": np.array(rows[1], dtype=np.float64),
            "quaternions": np.array(quaternions, dtype=np.int64),
        }
        fields = {"loop": advance.address, "n_q": single.n_q, "n_driven": n_driven}
        fields |= {"first_rank": rows[2], "n_quaternions": len(quaternions)}
        own = record(DIRECT, fields | {name: address(array) for name, array in arrays.items()})
        self._alive = single, own, arrays
        self.is_taken = own["is_taken"]
        self.run = partial(take.code, address(own), address(single.record))
