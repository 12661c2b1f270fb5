"""Rates and accelerations of joints that move a frame as asked, and how near an arm is to a singular pose.

With the twist V = J v of a frame (linear velocity of its origin, then angular, in world axes)::

    v = J⁺ V            v̇ = J⁺ (V̇ − J̇ v)

J⁺ gives the smallest v. Lengths are counted in the machine's own length, or in a stated one: rows of linear velocity
divided by it, columns of travels multiplied. The measure of a pose is the smallest singular value of J so counted. It
is zero where the frame loses a direction that its joints otherwise give it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import casadi as ca
import numpy as np
from numpy.typing import ArrayLike

from kalaba import tolerances
from kalaba.boundary import check_arguments, shown
from kalaba.constrain.kernels.functions import expressions
from kalaba.errors import KinematicsError
from kalaba.kinematics.tree.chain import movers, tree_of
from kalaba.kinematics.tree.task import Target
from kalaba.plant.arguments import checked
from kalaba.space.arrays import Array
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant

TWIST = ("vx", "vy", "vz", "wx", "wy", "wz")


def measure(plant: Plant, frame: str, q: Array, length: float | None = None) -> float:
    """The smallest singular value of a frame's Jacobian; 0 where nothing moves it.

    Lengths are counted in `length` (m); None: in the machine's own.
    """
    moved = movers(plant.machine, frame)
    twists, steps = _counted(plant, plant.scales.length if length is None else length)
    scaled = plant.jacobian(frame, q)[:, moved] / twists[:, np.newaxis] * steps[moved]
    return float(np.linalg.svd(scaled, compute_uv=False).min()) if scaled.size else 0.0


def _counted(plant: Plant, length: float) -> tuple[Array, Array]:
    """Sizes of a twist and of the velocities where lengths are counted in a length."""
    travels = [velocity.unit == "m/s" for velocity in plant.machine.velocities]
    return np.array([length] * 3 + [1.0] * 3), np.where(travels, length, 1.0)


def rates(
    arm: System | Plant,
    frame: str,
    q: ArrayLike,
    twist: ArrayLike,
    singular: float = tolerances.SINGULAR_ARM,
    length: float | None = None,
) -> Array:
    """The smallest v that gives a frame a twist, v = J⁺ V.

    A pose whose measure is below `singular` is refused, and so is a twist that the joints cannot give.

    Arguments:
        arm: a machine without loops
        frame: name of the frame
        q: configuration, m and rad
        twist: linear velocity of the frame's origin, m/s, then angular velocity, rad/s, world axes
        singular: smallest measure that is accepted, 1
        length: what lengths are counted in, m; None: the machine's own length
    """
    check_arguments(rates, locals())
    plant = tree_of(arm, frame)
    if length is not None and not tolerances.SMALLEST_NUMBER <= length <= tolerances.LARGEST_NUMBER:
        raise KinematicsError(f"rates.length: expected a finite length above zero, m, got {shown(length)}.")
    counted_in = plant.scales.length if length is None else length
    return _solved(plant, frame, q, checked(twist, 6, "twist", TWIST), (singular, counted_in))


def accelerations(
    arm: System | Plant,
    frame: str,
    q: ArrayLike,
    v: ArrayLike,
    twist_rate: ArrayLike,
    singular: float = tolerances.SINGULAR_ARM,
) -> Array:
    """The smallest v̇ that gives a moving frame the rate V̇ of its twist, v̇ = J⁺ (V̇ − J̇ v).

    Arguments:
        arm: a machine without loops
        frame: name of the frame
        q: configuration, m and rad
        v: velocities, m/s and rad/s
        twist_rate: linear acceleration of the frame's origin, m/s², then angular, rad/s², world axes
        singular: smallest measure that is accepted, 1
    """
    check_arguments(accelerations, locals())
    plant = tree_of(arm, frame)
    needed = checked(twist_rate, 6, "twist_rate", TWIST) - drift(plant, frame, q, v)
    return _solved(plant, frame, q, needed, (singular, plant.scales.length))


def drift(plant: Plant, frame: str, q: ArrayLike, v: ArrayLike) -> Array:
    """(6,): J̇ v, the rate of a frame's twist while v stays as it is."""

    def trace(equations: Equations) -> list[ca.SX]:
        s = equations.symbols
        held = ca.SX.sym("held", len(plant.velocities))
        rate = ca.jtimes(ca.mtimes(equations.jacobian(frame), held), s.q, s.q_dot)
        return [ca.densify(ca.substitute(rate, held, s.v))]

    function = plant.function("twist_drift", lambda e: expressions(e, trace), frame)
    return function(plant.inputs(q, v))


def _solved(plant: Plant, frame: str, q: ArrayLike, twist: Array, bound: tuple[float, float]) -> Array:
    """J⁺ V on the joints that move the frame, after a look at the measure."""
    singular, length = bound
    J = plant.jacobian(frame, q)
    at = np.asarray(q, dtype=float)
    value = measure(plant, frame, at, length)
    if not value > singular:
        raise is_singular(plant, frame, Target(*plant.pose(frame, at)), (value, *bound))
    moved = movers(plant.machine, frame)
    twists, steps = _counted(plant, length)
    v = np.zeros(len(plant.velocities))
    scaled = J[:, moved] / twists[:, np.newaxis] * steps[moved]
    v[moved] = np.linalg.lstsq(scaled, twist / twists, rcond=None)[0] * steps[moved]
    missed = np.abs(J @ v - twist) / twists
    if missed.max() > tolerances.TWIST_MISSED * max(plant.scales.rate, float(np.abs(twist / twists).max())):
        worst = int(np.argmax(missed))
        raise KinematicsError(
            f"{plant.system.name}: {counted(int(moved.sum()), 'joint')} cannot move {frame} as asked; {TWIST[worst]} "
            f"misses by {missed[worst] * twists[worst]:.3g}. Ask for a twist that they can give."
        )
    return v


def is_singular(plant: Plant, frame: str, target: Target, measured: tuple[float, float, float]) -> KinematicsError:
    """Word the error for a singular pose; `measured` is the measure, the bound and the length that lengths count in."""
    value, bound, length = measured
    return KinematicsError(
        f"{plant.system.name}: {frame} at {target.text} is singular; its measure is {value:.3g}, below {bound:.3g} "
        f"(lengths in {length:g} m). Choose another pose, or a lower singular=."
    )
