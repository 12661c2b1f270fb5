"""The kernels of one machine and the layout of the arrays they share."""

from dataclasses import dataclass

from kalaba.constrain.rows import Limbs
from kalaba.errors import NativeError
from kalaba.native.batch import Code


@dataclass(frozen=True, slots=True)
class Layout:
    """Where things stand in a kernel's inputs, q | v | t | u | force | mask | weight, each slot `lanes` wide."""

    n_q: int
    n_v: int
    n_u: int = 0  # held or computed actuation
    n_rows: int = 0  # constraint rows
    lanes: int = 1
    pushed: bool = False  # u ends with the generalised force: a law computes it too

    @property
    def n_y(self) -> int:
        """Size of the state y = [q, v]."""
        return self.n_q + self.n_v

    @property
    def time(self) -> int:
        """Slot of t."""
        return self.n_y

    @property
    def actuation(self) -> slice:
        """Slots of u."""
        return slice(self.n_y + 1, self.n_y + 1 + self.n_u)

    @property
    def force(self) -> slice:
        """Slots of the generalised force added by the caller."""
        return slice(self.actuation.stop, self.actuation.stop + (0 if self.pushed else self.n_v))

    @property
    def mask(self) -> slice:
        """Slots of the row mask."""
        return slice(self.force.stop, self.force.stop + self.n_rows)

    @property
    def weight(self) -> int:
        """Slot of the mass weight."""
        return int(self.mask.stop)

    @property
    def n_inputs(self) -> int:
        """Slots in all."""
        return self.weight + 1

    @property
    def outputs(self) -> dict[str, int]:
        """How many slots each kernel writes."""
        return {
            "motion": self.n_y + self.n_v + 2 * self.n_rows,  # ẏ, Qc, pivots, gap
            "project": self.n_y + 2 * self.n_rows,  # y, residual, speed residual
            "normalise": self.n_y,
            "rows": self.n_v * self.n_v + self.n_rows * self.n_v,  # M and A, column by column
            "tangent": 3 * self.n_v * self.n_v + self.n_rows * (3 * self.n_v + 1),  # M, C, K, A, values, C_A, K_A
            "control": self.n_u,
            "event": 1,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Kernels:
    """What an integration calls; `project` stabilises, without it `normalise` keeps quaternions at length 1."""

    layout: Layout
    motion: Code
    rows: Code | None = None  # needed where there are constraint rows
    project: Code | None = None
    normalise: Code | None = None
    control: Code | None = None
    event: Code | None = None
    displace: Code | None = None  # needed by steppers for structures
    tangent: Code | None = None  # needed by those that solve equations
    limbs: Limbs | None = None  # of a machine whose kernels work limb by limb

    def __post_init__(self) -> None:
        if self.layout.n_rows and self.rows is None:
            raise NativeError(f"{self.layout.n_rows} constraint rows need the kernel 'rows' to choose among them")
        if self.project is not None and self.normalise is not None:
            raise NativeError("give either 'project' or 'normalise': projection normalises too")
