"""What a stepper is: everything that a run asks of one, so that a new one costs a single file, anywhere.

An explicit Runge-Kutta method with a fixed step is a `FixedStepper` with a tableau; one that adapts its step to an
error estimate is an `AdaptiveStepper` with a tableau that has embedded weights, and whose stages may be diagonally
implicit; a method that solves for the
acceleration at the end of the step is a `StructuralStepper` with a `Scheme`. All of them run in the compiled loop. See
docs/extending.md.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf, isfinite
from typing import ClassVar, Protocol, Self

from kalaba.boundary import check_fields, shown
from kalaba.errors import IntegrationError
from kalaba.hints import is_real
from kalaba.space.number import measured
from kalaba.steppers.scheme import Scheme
from kalaba.steppers.tableau import EULER, ButcherTableau
from kalaba.tolerances import JOLT_FELT, JOLT_FELT_COARSE

SHARP_ORDER = 4  # and above: what a step leaves to projection is far below JOLT_FELT


@dataclass(frozen=True, slots=True)
class Pace:
    """How long steps are: all alike, or as long as an error estimate allows.

    An adapted step is taken when the root mean square of its error e is at most 1, measured in the machine's scales::

        e_i / (atol S_i + rtol |q_i - q_i(0)|)        of a coordinate, S_i its size: that of the machine, or 1 rad
        e_i / (atol S_i / T + rtol |v_i|)             of a velocity, T the duration of the run

    where |q_i - q_i(0)| and |v_i| are the largest so far.

    Arguments:
        step: s; of adapted steps the first one, 0: guessed from the motion at the start
        rtol: relative tolerance; None: the step is fixed
        atol: absolute tolerance, in parts of the machine's size
        max_step: longest of adapted steps, s
    """

    step: float
    rtol: float | None = None
    atol: float = 0.0
    max_step: float = inf

    @property
    def is_fixed(self) -> bool:
        """Whether all steps are alike."""
        return self.rtol is None


class Circumstances(Protocol):
    """What a stepper may ask about a run before it starts; steppers know no machine."""

    @property
    def name(self) -> str:
        """Name of the machine, which a refusal begins with."""

    @property
    def is_pushed(self) -> bool:
        """Whether a control law computes a force on every velocity, not only the efforts of motors."""

    @property
    def is_sampled(self) -> bool:
        """Whether Python functions are called at a fixed rate during the run."""

    @property
    def has_velocity_rows(self) -> bool:
        """Whether some constraint rows hold velocities only."""

    @property
    def feeds_back(self) -> bool:
        """Whether the stabilisation changes the equations of motion, as Baumgarte's does."""

    def stable_step(self) -> float:
        """Largest step at which central differences are stable at the start, 2/ω_max, s."""


class Stepper:
    """The contract of a stepper. Subclasses are frozen dataclasses whose fields are their settings.

    Every member has a default that suits an explicit Runge-Kutta method in the compiled loop, except `pace`.
    """

    __slots__ = ()

    name: ClassVar[str] = ""  # on the command line; "" = it has none there
    tableau: ClassVar[ButcherTableau] = EULER  # stages and dense output; a scheme needs the first stage only
    velocity_first: ClassVar[bool] = False  # q is stepped with the new velocity, N(q) v⁺, instead of by the stages
    scipy_class: ClassVar[str] = (
        ""  # implicit one-step class of scipy.integrate that takes the steps; "" = the compiled loop
    )
    has_step: ClassVar[bool] = False  # whether `step` is one of its settings

    @property
    def pace(self) -> Pace:
        """How long its steps are."""
        raise NotImplementedError(f"{type(self).__name__} must say its pace")

    @property
    def scheme(self) -> Scheme | None:
        """Coefficients of a method that solves for the acceleration; None = the stages of the tableau are all."""
        return None

    @property
    def kernels(self) -> tuple[str, ...]:
        """Functions of the machine that it calls beside those of every stepper: "displace", "tangent"."""
        if self.scheme is None and not self.tableau.diagonal:
            return ()
        return ("displace",) if self.scheme is not None and self.scheme.explicit else ("displace", "tangent")

    @property
    def is_explicit(self) -> bool:
        """Whether its tableau is the whole method, so that a loop in plain Python can take its steps."""
        return self.scheme is None and not self.scipy_class and not self.tableau.diagonal

    @property
    def method(self) -> str:
        """Name of the method that takes its steps, before it changes it."""
        return type(self).__name__

    @property
    def if_stiff(self) -> Stepper | None:
        """The stepper that goes on where the motion is stiff, and hands back where it is not; None = it stays."""
        return None

    @property
    def is_coarse(self) -> bool:
        """Whether the errors of speed that it leaves to projection are as large as a jolt at a singular position."""
        return False

    @property
    def jolt_felt(self) -> float:
        """Part of the speed: a projection that changes more corrects no error of this stepper, and is reported."""
        return JOLT_FELT if self.scipy_class or self.tableau.order >= SHARP_ORDER else JOLT_FELT_COARSE

    @property
    def words(self) -> str:
        """Its name and settings, as a Run records them."""
        return repr(self)

    def with_step(self, step: float) -> Self:
        """The same with another step, s."""
        raise IntegrationError(f"{type(self).__name__} chooses its own steps, so that none of {step:g} s can be set")

    def check(self, circumstances: Circumstances) -> None:
        """Refuse, by an IntegrationError that names the remedy, a run that it cannot do."""


@dataclass(frozen=True, slots=True)
class FixedStepper(Stepper):
    """A method whose steps are all alike.

    Arguments:
        step: time between states, s
    """

    step: float = measured("s", default=1e-3)

    has_step: ClassVar[bool] = True

    def __post_init__(self) -> None:
        positive(self, "step")
        check_fields(self, IntegrationError)

    @property
    def pace(self) -> Pace:
        """All steps alike."""
        return Pace(self.step)

    def with_step(self, step: float) -> Self:
        """The same with another step, s."""
        return replace(self, step=step)


@dataclass(frozen=True, slots=True)
class AdaptiveStepper(Stepper):
    """An embedded pair: the difference of its two orders is the error that adapts the step.

    Arguments:
        rtol: relative tolerance, of how far each coordinate has come and of each largest velocity
        atol: absolute tolerance, in parts of the machine's size
        first_step: s; None: guessed from the motion at the start
        max_step: longest step, s
    """

    rtol: float = 1e-8
    atol: float = 1e-10
    first_step: float | None = measured("s", default=None)
    max_step: float = measured("s", default=inf)

    def __post_init__(self) -> None:
        tolerances(self, self.rtol, self.atol)
        positive(self, "max_step", finite=False)
        if self.first_step is not None:
            positive(self, "first_step")
        check_fields(self, IntegrationError)
        if not self.tableau.embedded:
            raise IntegrationError(f"{type(self).__name__}: to adapt its step, its tableau needs embedded weights")

    @property
    def pace(self) -> Pace:
        """Steps as long as the tolerances allow."""
        return Pace(self.first_step or 0.0, self.rtol, self.atol, self.max_step)


@dataclass(frozen=True, slots=True)
class StructuralStepper(FixedStepper):
    """A method for structures: it collocates the acceleration, by the coefficients of its `scheme`.

    Arguments:
        step: time between states, s
    """

    @property
    def is_coarse(self) -> bool:
        """Rows met at position level leave their rates to projection."""
        return self.scheme is not None and self.scheme.index_3

    def check(self, circumstances: Circumstances) -> None:
        """Refuse a law on every coordinate, which its tangent does not know, and what `index_3` cannot hold."""
        name = circumstances.name
        if circumstances.is_pushed:
            raise IntegrationError(
                f"{name}: a law that pushes every coordinate needs a stepper such as kb.RungeKutta4, got {self!r}."
            )
        if self.scheme is None or not self.scheme.index_3:
            return
        if circumstances.has_velocity_rows:
            raise IntegrationError(
                f"{name}: formulation='arnold-bruls' takes rows at position level only, and this machine has rows of "
                "its velocities. Take formulation='acceleration'."
            )
        if circumstances.feeds_back:
            raise IntegrationError(f"{name}: formulation='arnold-bruls' closes the rows itself. Leave Baumgarte out.")


def positive(stepper: Stepper, name: str, *, finite: bool = True) -> None:
    """Refuse a setting that is not a number above 0, by its name."""
    value = getattr(stepper, name)
    if not is_real(value) or not (0 < value < inf if finite else value > 0):
        raise IntegrationError(f"{type(stepper).__name__}: {name} must be above 0, got {shown(value)}")


def tolerances(stepper: Stepper, relative: float, absolute: float) -> None:
    """Refuse tolerances that no step can meet: negative, not finite, or both 0."""
    are_numbers = all(is_real(value) and isfinite(value) and value >= 0 for value in (relative, absolute))
    if not are_numbers or not relative + absolute > 0:
        raise IntegrationError(
            f"{type(stepper).__name__}: rtol and atol must be 0 or above and not both 0, got "
            f"{shown(relative)} and {shown(absolute)}"
        )
