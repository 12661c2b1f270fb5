"""Pressing: the rows by which a law makes grasps press on a body with a force that is asked for.

Where the objects are to accelerate by s̈, the rows of arm i act on it by Qc = M (T s̈ + γ) + bias − applied − B τ. So the
pressing force f of `grasp_forces.py` is linear in the torques, whatever the motion::

    f = yᵀ Qc = yᵀ (M (T s̈ + γ) + bias − applied) − yᵀ B τ        y = 1/n Σ X_i (c − r_i)/ρ

One such row stands below W τ = H s̈ + τ_b for each body that is pressed; what is left open is shared as ever.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import casadi as ca
import numpy as np

from kalaba.boundary import checked_pairs, shown
from kalaba.cooperate.equations import ObjectEquations, object_equations
from kalaba.cooperate.grasp_forces import (
    arm_of,
    connection_of,
    grasp_point,
    grasped_bodies,
    transmitted,
)
from kalaba.errors import ControlError, near
from kalaba.hints import is_real
from kalaba.plant.laws import read
from kalaba.plant.reaction import wrench_map
from kalaba.tolerances import DEPENDENT_FORCES, FORCE_REACHED, GRASPS_APART
from kalaba.units import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kalaba.cooperate.object_space import ObjectSpace
    from kalaba.derive.equations import Equations
    from kalaba.kinematics.objects.holding import Hold, Split
    from kalaba.model.text.expressions import Expression
    from kalaba.plant.state import State

Force = float | str  # N, or an expression of t and parameters
Squeeze = Force | Mapping[str, Force] | tuple[tuple[str, Force], ...] | None


@dataclass(frozen=True)
class Press:
    """A body that its grasps press on."""

    body: str
    holds: tuple[Hold, ...]
    force: float | Expression  # N

    @property
    def numbers(self) -> tuple[float, ...]:
        """What a law can change without being traced again: the force, where it is a number."""
        return (self.force,) if isinstance(self.force, float) else ()

    @property
    def shape(self) -> str:
        """All but its numbers."""
        return f"{self.body} {'' if isinstance(self.force, float) else self.force.canonical}"

    def pattern(self, equations: Equations) -> list[ca.SX]:
        """1/n (c − r_i)/ρ of each grasp."""
        points = ca.horzcat(*(grasp_point(equations, hold) for hold in self.holds))
        count = len(self.holds)
        inward = ca.repmat(ca.sum2(points) / count, 1, count) - points
        spread = ca.sqrt(ca.sumsqr(inward) / count)
        return list(ca.horzsplit(inward / (count * spread)))

    def weights(self, equations: Equations, view: Split) -> ca.SX:
        """The y with f = yᵀ Qc, (n_v,)."""
        y = ca.SX(equations.symbols.v.shape[0], 1)
        for hold, inward in zip(self.holds, self.pattern(equations), strict=True):
            y[list(arm_of(view, hold).follow)] += transmitted(equations, view, hold, ca.vertcat(inward, ca.SX(3, 1)))
        return y


def checked_squeeze(squeeze: Squeeze) -> Force | tuple[tuple[str, Force], ...] | None:
    """One force, or pairs of body and force."""
    if squeeze is None or isinstance(squeeze, str):
        return squeeze
    if isinstance(squeeze, Mapping | tuple):
        pairs = checked_pairs(squeeze, "Carry.squeeze", "a force in N, or {body: force}", ControlError)
        return tuple((body, _force(force)) for body, force in pairs)
    return _force(squeeze)


def _force(force: object) -> Force:
    if isinstance(force, str):
        return force
    if not is_real(force) or not np.isfinite(float(cast("float", force))):
        raise ControlError(f"Carry.squeeze: expected a force in N or an expression of t, got {shown(force)}.")
    return float(cast("float", force))


def presses(space: ObjectSpace, squeeze: Force | tuple[tuple[str, Force], ...] | None) -> tuple[Press, ...]:
    """The bodies that are pressed, from what a user wrote."""
    if squeeze is None:
        return ()
    machine, view = space.plant.machine, space.split
    bodies = grasped_bodies(machine, view)
    if not isinstance(squeeze, tuple):
        if len(bodies) != 1:
            held = f"there are {', '.join(bodies)}; give squeeze={{body: force}}" if bodies else "there is none"
            raise ControlError(f"Carry.squeeze: expected one body that several grasps hold, in {machine.name} {held}.")
        squeeze = ((next(iter(bodies)), squeeze),)
    for body, _ in squeeze:
        if body not in bodies:
            raise ControlError(f"Carry.squeeze: no body {body!r} that several grasps hold; {near(body, bodies)}")
    return tuple(
        Press(body, tuple(view.holds[i] for i in bodies[body]), _read(space, body, force)) for body, force in squeeze
    )


def _read(space: ObjectSpace, body: str, force: Force) -> float | Expression:
    if not isinstance(force, str):
        return force
    expression = read(space.plant, force, f"Carry.squeeze, {body}")
    parameters = {parameter.name for parameter in space.plant.machine.parameters}
    if expression.frames or expression.has_rate or expression.names - parameters:
        raise ControlError(f"Carry.squeeze, {body}: expected an expression of t and parameters, got {force!r}.")
    return expression


def pressed(
    equations: Equations,
    model: ObjectEquations,
    view: Split,
    wanted: ca.SX,
    pressing: Sequence[Press],
    numbers: ca.SX,
) -> tuple[ca.SX, ca.SX]:
    """Rows (presses, k) and right sides with which the torques press as asked, while the objects accelerate by s̈."""
    load = ca.mtimes(equations.mass_matrix, ca.mtimes(model.velocity_map, wanted) + model.convective)
    load += equations.bias - equations.applied_force
    rows, sides, at = [], [], 0
    for press in pressing:
        y = press.weights(equations, view)
        if isinstance(press.force, float):
            force, at = numbers[at], at + 1
        else:
            force = equations.kinematics.value(press.force)
        rows.append(ca.mtimes(y.T, equations.actuation_map))
        sides.append(ca.dot(y, load) - force)
    return ca.vertcat(*rows), ca.vertcat(*sides)


def check_presses(space: ObjectSpace, pressing: Sequence[Press], motors: tuple[int, ...], start: State) -> None:
    """Refuse a grasp that slips along its part of the pattern, grasps at one point, and motors that cannot press."""
    plant, view, equations = space.plant, space.split, space.plant.equations
    s = equations.symbols
    model = object_equations(equations, view)
    for press in pressing:
        pattern = press.pattern(equations)
        parts = [ca.horzcat(*pattern), ca.horzcat(*(grasp_point(equations, hold) for hold in press.holds))]
        parts += [wrench_map(equations, connection_of(plant.machine, hold)) for hold in press.holds]
        found = [np.array(part) for part in ca.Function("at", [s.q, s.v, s.t, s.p], parts)(*start, 0, plant.parameters)]
        if np.ptp(found[1], axis=1).max() < GRASPS_APART * plant.scales.reach:
            raise ControlError(f"Carry.squeeze: the grasps of {press.body} are at one point, so there is no line.")
        for hold, push, E in zip(press.holds, found[0].T, found[2:], strict=True):
            sized = E * plant.scales.twist[:, np.newaxis]
            aim = np.concatenate([push, np.zeros(3)]) * plant.scales.twist
            if (
                np.abs(sized @ np.linalg.lstsq(sized, aim, rcond=None)[0] - aim).max()
                > FORCE_REACHED * np.abs(aim).max()
            ):
                raise ControlError(
                    f"Carry.squeeze: {hold.name} slips as it presses on {press.body}. Hold by a Weld or a Spherical."
                )
    rows, _ = pressed(equations, model, view, ca.SX(model.bias.shape[0], 1), pressing, ca.SX(len(pressing), 1))
    whole = ca.vertcat(model.force_map, rows)[:, list(motors)]
    W = np.array(ca.Function("W", [s.q, s.v, s.t, s.p], [whole])(*start, 0, plant.parameters))
    lengths = np.linalg.norm(W, axis=1, keepdims=True)
    sigma = np.linalg.svd(W / np.where(lengths > 0, lengths, 1.0), compute_uv=False)
    if len(motors) < len(W) or not sigma[-1] > DEPENDENT_FORCES * sigma[0]:
        bodies = ", ".join(press.body for press in pressing)
        raise ControlError(
            f"Carry.squeeze: {counted(len(motors), 'motor')} of the arms cannot move the object and press on {bodies}. "
            "Add motors, or leave squeeze= out."
        )
