"""The derived equations as numpy functions, and a small Newton assembly: an oracle that uses nothing above derive/."""

from functools import cached_property

import casadi as ca
import numpy as np

from kalaba.derive.equations import Equations, derive
from kalaba.model.system import System

DEPENDENT = 1e-9  # singular values below this part of the greatest are rounding: dependent rows lie at 1e-15
FIELDS = ("mass_matrix", "bias", "gravity", "constraint_matrix", "constraint_rhs")


class Numeric:
    """The equations of a machine at its own parameters; for machines without quaternions (v = q̇)."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.machine = system.machine
        self.coordinates = tuple(c.name for c in self.machine.coordinates)
        self.parameters = [parameter.value for parameter in self.machine.free_parameters]

    @cached_property
    def equations(self) -> Equations:
        return derive(self.system)

    @cached_property
    def _functions(self) -> dict[str, ca.Function]:
        values = {name: getattr(self.equations, name) for name in FIELDS} | {"residual": self.equations.rows.value}
        s = self.equations.symbols
        return {name: ca.Function(name, [s.q, s.v, s.t, s.p], [ca.densify(x)]) for name, x in values.items()}

    def __call__(self, name: str, q: np.ndarray, v: np.ndarray | None = None, t: float = 0.0) -> np.ndarray:
        speed = np.zeros(len(q)) if v is None else v
        value = self._functions[name](q, speed, t, self.parameters).full()
        return value if value.shape[1] > 1 else value[:, 0]

    def guess(self) -> np.ndarray:
        """Where the start puts the machine before its loops are closed."""
        start = self.machine.start
        return np.array([{**dict(start.guess), **dict(start.hold)}.get(name, 0.0) for name in self.coordinates])

    def assembled(self) -> np.ndarray:
        """Close the loops from the guess, what is held kept: Newton with least squares."""
        q = self.guess()
        free = np.array([name not in dict(self.machine.start.hold) for name in self.coordinates])
        for _ in range(50):
            residual = self("residual", q)
            if np.abs(residual).max(initial=0.0) < 1e-14:
                break
            A = self("constraint_matrix", q)
            q[free] -= np.linalg.lstsq(A[:, free], residual, rcond=DEPENDENT)[0]
        return q

    def rank(self, q: np.ndarray) -> int:
        """The number of independent rows at q."""
        sizes = np.linalg.svd(self("constraint_matrix", q), compute_uv=False)
        return int((sizes > DEPENDENT * sizes[0]).sum())
