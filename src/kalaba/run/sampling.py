"""Python functions sampled at a fixed rate: a control law, or a force."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.boundary import called, shown
from kalaba.errors import ControlError, near
from kalaba.hints import is_real_array
from kalaba.model.acting import Sampled
from kalaba.plant.laws import Limited, limited
from kalaba.results.run import Shortfall
from kalaba.space.arrays import Array
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.plant.laws import Law
    from kalaba.plant.plant import Plant


@dataclass
class Sampler:
    """A sampled function at work: when it is due, what it drives, its discrete state."""

    source: Sampled
    part: slice  # of the held inputs
    names: tuple[str, ...]
    limits: Array
    state: Any
    count: int = 0
    short: list[Shortfall] = field(default_factory=list)  # where it asked for more than motors give
    held: list[Array] = field(default_factory=list)  # what was held from each sample on

    @property
    def due(self) -> float:
        """Time of the next sample."""
        return self.count * self.source.period

    def sample(self, t: float, q: Array, v: Array) -> Array:
        """Call the function and check what it returns."""
        if self.source.state is None:
            returned = called(self.source.function, f"Sampled at t = {t:g}", t, q, v, error=ControlError)
        else:
            pair = called(self.source.function, f"Sampled at t = {t:g}", t, q, v, self.state, error=ControlError)
            if not isinstance(pair, tuple | list) or len(pair) != 2:
                raise ControlError(f"Sampled at t = {t:g}: expected (values, state), got {shown(pair)}.")
            returned, self.state = pair
        self.count += 1
        missing = returned.missing if isinstance(returned, Limited) else np.zeros(len(self.names))
        if isinstance(returned, Mapping):
            for name in returned:
                if name not in self.names:
                    raise ControlError(f"Sampled at t = {t:g}: no input {name!r}; {near(name, self.names)}")
            returned = [returned.get(name, 0.0) for name in self.names]
        plain = returned.efforts if isinstance(returned, Limited) else returned
        values = np.atleast_1d(np.asarray(plain, dtype=float)) if is_real_array(plain) else np.full(0, np.nan)
        if values.shape != (len(self.names),) or not np.isfinite(values).all():
            raise ControlError(
                f"Sampled at t = {t:g}: expected {counted(len(self.names), 'finite number')}, got {shown(returned)}."
            )
        given = limited(Limited(values, missing), -self.limits, self.limits)
        self.short += [Shortfall(t, self.names[i], float(given.missing[i])) for i in np.flatnonzero(given.missing)]
        self.held.append(given.efforts)
        return given.efforts

    def replayed(self) -> Sampler:
        """One that gives again what this one gave, sample by sample, then the last; the function is not called."""
        values = chain(self.held, repeat(self.held[-1] if self.held else np.zeros(len(self.names))))
        source = Sampled(lambda _t, _q, _v: next(values), self.source.rate)
        return replace(self, source=source, state=None, count=0, short=[], held=[])


def samplers(plant: Plant, control: Law | Sampled | None) -> list[Sampler]:
    """All sampled functions of a run: the control, and Force parts."""
    made = []
    motors = len(plant.actuators)
    if isinstance(control, Sampled):
        made.append(Sampler(control, slice(0, motors), plant.actuators, plant.limits, control.state))
    inputs = plant.machine.sampled_inputs
    for force in plant.machine.forces:
        for half in ("force", "torque"):
            source = getattr(force, half)
            if isinstance(source, Sampled):
                first = motors + inputs.index(f"{force.name}.{half}.x")
                part = slice(first, first + 3)
                made.append(Sampler(source, part, ("x", "y", "z"), np.full(3, np.inf), source.state))
    return made
