"""Linear models of a machine at rest, on the constraints' tangent space.

T spans the velocities that the rows allow, and S d is the velocity that a displacement d brings with it where rows at
velocity level depend on the configuration (see `plant/derivatives.py`). From rest a machine gets to displacements D z:
those along T, and those to which S carries them, and so on; D is T for rows at position level and for wheels that roll.
As many coordinates as D has columns are taken as independent (coordinate partitioning), and of their rates as many as
there are freedoms; with D and T scaled so that these are z and w themselves, S so that it leaves w alone::

    δq = N D z        δv = T w + S z        x = (z, w)        ẋ = A x + B u + c        y = C x + D_u u

    A = | S_z      T_z    |        B = |   0    |        C = | y_q N D + y_v S    y_v T |
        | ∂ẇ/∂z    ∂ẇ/∂w |            | ∂ẇ/∂u |

S_z and T_z are the rows of S and T that belong to z: 0 and 1 where D is T. u is what is added to the actuation of the
state, y what is added to the outputs. c is zero about an equilibrium.

Reference: Wehage and Haug (1982), J. Mech. Des. 104, 247-255 (partitioning); Negrut and Ortiz (2006), J. Comput.
Nonlinear Dyn. 1, 230-239 (linearisation of constrained systems); Neimark and Fufaev (1972), Dynamics of Nonholonomic
Systems, chapter VII (small motions with rows at velocity level).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from kalaba.analyse.at_rest import Actuation, Rest, balance_at, plant_of, state_at_rest
from kalaba.boundary import check_arguments
from kalaba.constrain.kernels.functions import expressions
from kalaba.errors import ConstraintError, ControlError, KalabaError, ModelError
from kalaba.native.backend import Interpreted
from kalaba.plant.derivatives import Slopes, slopes
from kalaba.plant.laws import read
from kalaba.space.arrays import Array
from kalaba.tolerances import CARRIED_AWAY, POLE_AT_ZERO
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.derive.equations import Equations
    from kalaba.model.system import System
    from kalaba.model.text.expressions import Expression
    from kalaba.plant.plant import Plant
    from kalaba.plant.state import State

POLE_DIGITS = 12  # of the fastest pole: those that differ by less stand in the order of their imaginary parts


@dataclass(frozen=True)
class Linear:
    """A linear model ẋ = A x + B u + c, y = C x + D u of small motions about a state at rest.

    Arguments:
        name: name of the machine
        A: (k, k); k is 2 f with f freedoms, and more where rows at velocity level depend on the configuration
        B: (k, inputs)
        C: (outputs, k)
        D: (outputs, inputs)
        states: the independent coordinates, then their rates
        inputs: names of u
        outputs: names of y
        tangent: T, (n_v, f): the velocities that go with the independent ones
        displacements: D, (n_v, k − f): the displacements that go with the independent ones; T unless k is above 2 f
        drift: c, (k,): zero about an equilibrium
        is_equilibrium: whether the state is one
    """

    name: str
    A: Array
    B: Array
    C: Array
    D: Array
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    tangent: Array = field(repr=False)
    displacements: Array = field(repr=False)
    drift: Array = field(repr=False)
    is_equilibrium: bool = True

    @property
    def poles(self) -> NDArray[np.complex128]:
        """Eigenvalues of A in 1/s, slowest first; s = −ζω ± iω√(1 − ζ²) for a damped oscillation."""
        poles = np.linalg.eigvals(self.A).astype(complex)
        size = np.abs(poles)
        alike = np.round(size / (size.max(initial=0.0) or 1.0), POLE_DIGITS)
        return np.asarray(poles[np.lexsort((poles.real, poles.imag, alike))])

    @property
    def hertz(self) -> Array:
        """|s|/2π of every pole."""
        return np.asarray(np.abs(self.poles) / (2 * np.pi))

    @property
    def damping(self) -> Array:
        """−Re s/|s| of every pole: negative where it grows, 0 for poles at zero."""
        poles = self.poles
        size = np.abs(poles)
        moving = size > POLE_AT_ZERO * size.max(initial=0.0)
        return np.where(moving, -poles.real / np.where(moving, size, 1.0), 0.0)

    def to_control(self) -> Any:  # noqa: ANN401  (python-control has no types)
        """The model as a StateSpace of python-control, signals named."""
        try:
            import control
        except ImportError as error:
            raise KalabaError(
                f"{self.name}: to_control needs python-control, which is not installed. pip install control"
            ) from error
        labels = {"states": self.states, "inputs": self.inputs, "outputs": self.outputs}
        return control.ss(
            self.A, self.B, self.C, self.D, **{key: [_plain(n) for n in names] for key, names in labels.items()}
        )

    def __str__(self) -> str:
        """A few lines for people."""
        rest = "an equilibrium" if self.is_equilibrium else "a state that is no equilibrium"
        lines = [f"{self.name}: linear about {rest}; {counted(len(self.states), 'state')}"]
        lines += [f"  {kind}: {', '.join(getattr(self, kind)) or 'none'}" for kind in ("states", "inputs", "outputs")]
        poles = ", ".join(f"{s.real:.4g}{s.imag:+.4g}i" for s in self.poles if s.imag >= 0)
        return "\n".join([*lines, f"  poles (1/s): {poles}"])


def _plain(name: str) -> str:
    """python-control keeps the dot for signals of subsystems."""
    return name.replace(".", "_")


def linearise(
    system: System | Plant,
    at: State | None = None,
    inputs: str | Sequence[str] = "actuators",
    outputs: str | Sequence[str] = "outputs",
    actuation: Actuation = None,
) -> Linear:
    """Linearise a machine about a state at rest under held actuation.

    Warns if the state is no equilibrium. Rows must not move by themselves.

    Arguments:
        system: a System or a Plant
        at: a State at rest; the start if not given
        inputs: "actuators" for all motors, or names of some
        outputs: "outputs" for the machine's outputs, or names and expressions; the name of an input may be one of them
        actuation: efforts of the motors, {motor: value} or one number per motor (N, N·m)
    """
    check_arguments(linearise, locals())
    plant = plant_of(system)
    q, rest = state_at_rest(plant, at), Rest(plant, actuation)
    balance = balance_at(rest, q)
    packed = rest.packed(q)
    motion = slopes(plant, packed)
    _check_steady(plant, motion)
    sizes = motion.rows.sizes.velocities[:, np.newaxis]
    tangent = motion.rows.free_directions() / sizes
    reached = _reached(tangent, motion.following * sizes.T / sizes)
    placed = _independent(reached)
    moving = [placed[j] for j in _independent(tangent[placed])]
    displacements = sizes * reached @ np.linalg.inv(sizes[placed] * reached[placed])
    T = sizes * tangent @ np.linalg.inv(sizes[moving] * tangent[moving])
    S = motion.following @ displacements
    S = S - T @ S[moving]
    by_z, by_w = motion.by_q @ displacements + motion.by_v @ S, motion.by_v @ T
    motors = _inputs(plant, inputs)
    A = np.block([[S[placed], T[placed]], [by_z[moving], by_w[moving]]])
    B = np.vstack([np.zeros((len(placed), len(motors))), motion.by_force[moving] @ plant.actuation_map(q)[:, motors]])
    names = tuple(plant.actuators[j] for j in motors)
    labels, by_state, D = _outputs(plant, plant.outputs if outputs == "outputs" else outputs, names, packed)
    n = len(plant.velocities)
    C = np.hstack([by_state[:, :n] @ displacements + by_state[:, n:] @ S, by_state[:, n:] @ T])
    drift = np.zeros(len(A))
    if not balance.is_equilibrium:
        acceleration = plant.motion(q, np.zeros(n), actuation=rest.actuation).acceleration
        drift[len(placed) :] = acceleration[moving]
    states = _state_names(plant, placed, moving)
    return Linear(plant.system.name, A, B, C, D, states, names, labels, T, displacements, drift, balance.is_equilibrium)


def _check_steady(plant: Plant, motion: Slopes) -> None:
    """Refuse rows at position level whose rate at rest is another beside the state: they depend on time."""
    is_placed = ~np.array(plant.machine.is_velocity_level, dtype=bool)
    for row in np.flatnonzero(is_placed & (motion.rate_by_q != 0.0).any(axis=1)):
        raise ConstraintError(
            f"{plant.system.name}: {plant.constraints[row]} depends on time, so that a linear model would too. "
            "Leave t out of it."
        )


def _reached(tangent: Array, following: Array) -> Array:
    """Orthonormal displacements to which small motions from rest lead: T, S T, S² T ... as far as they are new.

    All of them in the machine's sizes.
    """
    reached = tangent
    size = float(np.linalg.norm(following))
    while size > 0.0 and reached.shape[1] < len(reached):
        carried = following @ reached
        beyond, lengths, _ = np.linalg.svd(carried - reached @ (reached.T @ carried), full_matrices=False)
        is_new = lengths > CARRIED_AWAY * size
        if not is_new.any():
            break
        reached = np.linalg.qr(np.hstack([reached, beyond[:, is_new]]))[0]
    return reached


def _independent(directions: Array) -> list[int]:
    """Coordinates that tell all others: the best conditioned by pivoting, in declared order."""
    from scipy.linalg import qr

    n, f = directions.shape
    return list(range(n)) if n == f else sorted(int(j) for j in qr(directions.T, mode="r", pivoting=True)[1][:f])


def _state_names(plant: Plant, placed: list[int], moving: list[int]) -> tuple[str, ...]:
    """Names of small displacements, then of their rates; a quaternion's are turns about the body's axes."""
    columns = {j: plant.coordinates[i] for i, j in plant.machine.scalar_pairs}
    for _, first in plant.machine.quaternions:
        for k, axis in enumerate("xyz"):
            columns[first + k] = f"{plant.velocities[first + k].rpartition('.')[0]}.turn_{axis}"
    rates = [plant.velocities[j] for j in moving]
    return (
        *(columns[j] for j in placed),
        *(f"rate({name})" if name in plant.coordinates else name for name in rates),
    )


def _inputs(plant: Plant, inputs: str | Sequence[str]) -> list[int]:
    """Indices of the motors that are inputs."""
    names = plant.actuators if inputs == "actuators" else (inputs,) if isinstance(inputs, str) else tuple(inputs)
    try:
        return list(plant.motors(names, "inputs"))
    except ControlError as error:
        raise ModelError(str(error)) from None


def _outputs(
    plant: Plant, outputs: str | Sequence[str], inputs: tuple[str, ...], packed: Array
) -> tuple[tuple[str, ...], Array, Array]:
    """Labels, (∂y/∂q N, ∂y/∂v) and D of some outputs."""
    labels = (outputs,) if isinstance(outputs, str) else tuple(outputs)
    n = len(plant.velocities)
    D = np.array([[float(name == text) for name in inputs] for text in labels]).reshape((len(labels), len(inputs)))
    entries: list[Expression | None] = []
    for text in labels:
        declared = next((output.value for output in plant.machine.outputs if output.name == text), None)
        entries.append(None if text in inputs else declared or read(plant, text, "outputs"))

    def output_slopes(equations: Equations) -> list[ca.SX]:
        s = equations.symbols
        values = [ca.SX(0) if entry is None else equations.kinematics.value(entry) for entry in entries]
        y = ca.vertcat(*values) if values else ca.SX(0, 1)
        return [ca.vec(ca.densify(ca.horzcat(s.gradient(y), ca.jacobian(y, s.v))))]

    function = Interpreted().evaluator(
        "output_slopes", plant.key, lambda: expressions(plant.equations, output_slopes), plant.parameters
    )
    return labels, function(packed).reshape((len(labels), 2 * n), order="F"), D
