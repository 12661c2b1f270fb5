"""Forward dynamics of single states at the least cost of a call from Python."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.constrain.solvers import Motion
from kalaba.native.backend import NativeFunction
from kalaba.plant.choice import health_bounds, keep_rows
from kalaba.plant.forward import motion_name
from kalaba.tolerances import QUATERNION_UNIT

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant


class Quick:
    """One native call; gives None where the general way must look: other shapes, NaN, rows that are not as chosen."""

    def __init__(self, plant: Plant) -> None:
        self.is_used = plant.is_native
        self._plant, self._threads = plant, threading.local()
        self._q, self._v, self._u = (len(plant.coordinates),), (len(plant.velocities),), (len(plant.actuators),)
        self._t, self._n = plant.layout.t, len(plant.velocities)

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
        if force is not None or at.is_pushed:
            at.f[:] = 0.0 if force is None else force
            at.is_pushed = force is not None
        if actuation is not None or at.is_driven:
            at.u[:] = 0.0 if actuation is None else actuation
            at.is_driven = actuation is not None
        if not at.run():
            return None
        found = at.result.copy()
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
        from kalaba.native.watched import Watch, watched

        layout, choice, function = plant.layout, plant.choice, plant.standard(motion_name(plant))
        assert isinstance(function, NativeFunction)  # noqa: S101  (only native plants are quick)
        outputs, bound = function.outputs, function.bind()
        keep_rows(plant, bound.inputs, choice.mask)
        self.inputs, self.is_pushed, self.is_driven = bound.inputs, False, False
        self.q, self.v, self.f = bound.inputs[layout.q], bound.inputs[layout.v], bound.inputs[layout.f]
        self.u = bound.inputs[layout.u][: len(plant.actuators)]
        results = slice(outputs["acceleration"].start, outputs["constraint_force"].stop)
        self.result, first = bound.outputs[results], outputs["pivots"].start
        low, high = health_bounds(choice, len(bound.outputs) - first)  # of pivots, gaps, and slack if rows are left out
        units = tuple(layout.q.start + quaternion for quaternion, _ in plant.machine.quaternions)
        watch = Watch(units, QUATERNION_UNIT, first, low, high, results.stop)
        self.run, self._alive = watched(function.kernel, (bound.inputs, bound.outputs, bound.store), watch)
