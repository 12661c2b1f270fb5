"""Which method takes the steps of a run, and when another one does: explicit, or implicit where the motion is stiff."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from kalaba.compiled.engine import advance, advance_implicit, advance_structure
from kalaba.compiled.kernels import Kernels
from kalaba.compiled.trajectory import Change
from kalaba.compiled.workspace import Workspace, use_method
from kalaba.native.batch import Code
from kalaba.native.machine_code import Entry
from kalaba.steppers.stepper import Stepper
from kalaba.tolerances import METHOD_PAYS

TRIAL_STEPS = 20  # of the other method, before the two are compared
PATIENCE = 100  # implicit steps before the explicit method is tried again; twice as many after each trial in vain
MOST_PATIENCE = 12_800


class TangentKernels(NamedTuple):
    """What implicit steps call beside the kernels of explicit ones."""

    displace: Code
    tangent: Code


class Tally(NamedTuple):
    """How far a method came, and for how many operations."""

    time: float  # s
    operations: float


class Methods:
    """The methods of one run: the one in use, and the choice between two.

    A method that is tried goes on if it comes farther than the other one for the same number of operations. Counts
    decide, no clock: how a run is cut into chunks changes nothing.
    """

    def __init__(
        self,
        space: Workspace,
        kernels: Kernels,
        stepper: Stepper,
        tangent_kernels: Callable[[], TangentKernels] | None,
    ) -> None:
        self._space, self._kernels, self._explicit = space, kernels, stepper
        self._tangent_kernels = tangent_kernels
        self._implicit = stepper.if_stiff if tangent_kernels is not None else None
        self._memory = space.memory
        nodes = stepper.tableau.nodes
        self._memory["gauges"] = stepper.if_stiff is not None and nodes[-1] == nodes[-2]
        self.changes: list[Change] = []
        self.trials = 0  # of the implicit method, in vain
        self._in_use = stepper
        self._next_review = np.inf  # steps
        self._since = self._counts()
        self._other: Tally | None = None  # of the method before, while another one is on trial
        self._tried_at = 0.0  # s, when that began
        self._patience = PATIENCE

    @property
    def advance(self) -> Entry:
        """The compiled loop of the method in use."""
        if self._in_use.scheme is not None:
            return advance_structure
        return advance_implicit if self._in_use.tableau.diagonal else advance

    def steps_to_review(self, steps: int) -> int:
        """At most so many steps, until the method is to be reviewed."""
        return int(min(steps, self._next_review - self._memory["n_steps"][0]))

    def review(self) -> bool:
        """Change the method where it is due; say whether it was reviewed, so that the loop has to go on."""
        if not (self._memory["paused"][0] or self._memory["n_steps"][0] >= self._next_review):
            return False
        self._memory["paused"] = 0
        if self._implicit is None:  # stiff, and there is nothing to be done about it
            self._memory["gauges"] = 0
            return True
        is_implicit = self._in_use is self._implicit
        if self._other is None:
            self._try_other(is_implicit=is_implicit)
        else:
            self._decide(is_implicit=is_implicit)
        return True

    def _try_other(self, *, is_implicit: bool) -> None:
        """Put the other method on trial. What it has to beat is the last step, if that was explicit."""
        h, stages = float(self._memory["taken"][0]), len(self._explicit.tableau.nodes)
        self._other = self._so_far() if is_implicit else Tally(h, stages * self._kernels.motion.instructions)
        self._use(self._explicit if is_implicit else self._implicit)
        self._tried_at = float(self._memory["time"][0])
        self._next_review = self._memory["n_steps"][0] + TRIAL_STEPS

    def _decide(self, *, is_implicit: bool) -> None:
        """End a trial: the method that comes farther per operation goes on; a change back is tried later and later."""
        assert self._other is not None  # noqa: S101  (on trial)
        tried, other = self._so_far(), self._other
        is_better = tried.time * other.operations > METHOD_PAYS * other.time * tried.operations
        self._other = None
        self._patience = PATIENCE if is_better else min(2 * self._patience, MOST_PATIENCE)
        if is_better:
            rate = float(self._memory["stiffest"][0]) if is_implicit else 0.0
            self.changes.append(Change(self._tried_at, self._in_use.method, rate))
            self._memory["stiffest"] = rate
            self._since = self._counts()
        else:
            self.trials += is_implicit
            self._use(self._explicit if is_implicit else self._implicit)
        steps = int(self._memory["n_steps"][0])
        self._next_review = steps + self._patience if is_implicit == is_better else np.inf
        self._memory["n_stiff"] = -self._patience if is_implicit and not is_better else 0

    def _use(self, stepper: Stepper | None) -> None:
        assert stepper is not None  # noqa: S101  (there are two)
        if stepper.tableau.diagonal and self._kernels.tangent is None:
            assert self._tangent_kernels is not None  # noqa: S101  (there are two)
            displace, tangent = self._tangent_kernels()
            self._kernels = replace(self._kernels, displace=displace, tangent=tangent)
        self._in_use = stepper
        use_method(self._space, self._kernels, stepper)
        self._since = self._counts()

    def _counts(self) -> dict[str, float]:
        names = ("time", "n_steps", "n_rejected", "n_iterations", "n_tangents", "n_factors")
        return {name: float(self._memory[name][0]) for name in names}

    def _so_far(self) -> Tally:
        """What the method in use has done since it was put to use: motion kernels, tangents, factors and solutions."""
        done = {name: value - self._since[name] for name, value in self._counts().items()}
        tries, motion = done["n_steps"] + done["n_rejected"], self._kernels.motion.instructions
        if not self._in_use.tableau.diagonal:
            return Tally(done["time"], tries * len(self._in_use.tableau.nodes) * motion)
        size, tangent = self._kernels.layout.n_v + self._kernels.layout.n_rows, self._kernels.tangent
        assert tangent is not None  # noqa: S101  (the method in use calls it)
        operations = motion * (tries + done["n_iterations"]) + 2 * size**2 * done["n_iterations"]
        operations += tangent.instructions * done["n_tangents"] + size**3 / 3 * done["n_factors"]
        return Tally(done["time"], operations)
