"""Forward dynamics of single states at the least cost of a call from Python."""

from __future__ import annotations

import threading
from math import isfinite
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.backend import Native, NativeFunction
from kalaba.constrain.solvers import MaskedLDL, Motion
from kalaba.forward import health_bounds, motion_name
from kalaba.vectors import UNIT

if TYPE_CHECKING:
    from kalaba.plant import Plant


class Quick:
    """One native call; gives None where the general way must look: other shapes, NaN, rows that are not as chosen."""

    def __init__(self, plant: Plant) -> None:
        self.is_used = isinstance(plant.solver, MaskedLDL) and isinstance(plant.backend, Native)
        self._plant, self._threads = plant, threading.local()
        self._q, self._v, self._u = (len(plant.coordinates),), (len(plant.velocities),), (len(plant.actuators),)
        self._t, self._n = plant.layout.t, len(plant.velocities)
        self._quaternions = tuple(slice(first, first + 4) for first, _ in plant.machine.quaternions)

    def __call__(self, q: Any, v: Any, force: Any, t: float, actuation: Any) -> Motion | None:  # noqa: ANN401
        """Evaluate, or give None."""
        if not self.is_used or getattr(q, "shape", None) != self._q or getattr(v, "shape", None) != self._v:
            return None
        if (force is not None and np.shape(force) != self._v) or (
            actuation is not None and np.shape(actuation) != self._u
        ):
            return None
        at = self._arrays()
        at.q[:], at.v[:], at.inputs[self._t] = q, v, t
        for part in self._quaternions:
            e = at.q[part]
            if abs(e @ e - 1.0) > UNIT:
                return None
        at.f[:] = 0.0 if force is None else force
        at.u[:] = 0.0 if actuation is None else actuation
        at.run()
        found = at.result.copy()
        if not at.is_healthy() or not isfinite(at.ones @ found):
            return None
        return Motion(found[: self._n], found[self._n :])

    def _arrays(self) -> _Arrays:
        try:
            return self._threads.arrays  # type: ignore[no-any-return]
        except AttributeError:
            self._threads.arrays = _Arrays(self._plant)
            return self._threads.arrays  # type: ignore[no-any-return]


class _Arrays:
    """The arrays of one thread: views into a kernel's inputs and outputs, made once."""

    def __init__(self, plant: Plant) -> None:
        layout, choice, function = plant.layout, plant.choice, plant.standard(motion_name(plant))
        assert isinstance(function, NativeFunction)  # noqa: S101  (only native plants are quick)
        outputs, bound = function.outputs, function.bind()
        bound.inputs[layout.mask] = choice.mask
        bound.inputs[layout.w] = plant.weight if plant.is_singular else 1.0
        self.inputs, self.run, self._bound = bound.inputs, bound.run, bound
        self.q, self.v, self.f = bound.inputs[layout.q], bound.inputs[layout.v], bound.inputs[layout.f]
        self.u = bound.inputs[layout.u][: len(plant.actuators)]
        self.result = bound.outputs[outputs["acceleration"].start : outputs["constraint_force"].stop]
        self.ones = np.ones(len(self.result))
        self.health = bound.outputs[outputs["pivots"].start :]  # pivots, gaps, and slack if rows are left out
        self.low, self.high = health_bounds(choice, len(self.health))
        self._above, self._below = (np.ones(len(self.health), dtype=bool) for _ in range(2))

    def is_healthy(self) -> bool:
        """Whether the rows are as they were when they were chosen; false for NaN."""
        np.greater_equal(self.health, self.low, out=self._above)
        np.less_equal(self.health, self.high, out=self._below)
        return b"\0" not in self._above.tobytes() and b"\0" not in self._below.tobytes()
