"""How the length of a step follows from its error: the controller of every adaptive stepper, compiled or not."""

from math import inf

STRETCH = 1.01  # a step may grow by this to land on the end at once
SAFETY = 0.9
SHRINK, GROW = 0.2, 10.0  # limits of the change from one step to the next
MEMORY = 0.04  # β of the PI controller
SMALLEST_ERROR = 1e-4  # an error taken as smaller would let one lucky step decide the next
FIRST_PROBE = 1e-6  # of the run: how far the motion is looked at to guess the first step
FIRST_LONGEST = 1e3  # probes: the longest first step
STIFF_STEPS, MILD_STEPS = 15, 6  # in a row: what makes a motion stiff, and no longer so
HALVINGS = 60  # of a step: the time of an event is then known to rounding
FIRST_ERROR = 0.01  # which the guess of the first step aims at


def next_factor(error: float, previous: float, exponent: int) -> float:
    """Give the factor from this accepted step to the next, by the PI controller.

    With k = `exponent`, of h in the error estimate::

        factor = 0.9 e^-(1/k - 3β/4) e_before^β        within 0.2 and 10

    Reference: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.2, and their code DOPRI5.
    """
    factor: float = (
        SAFETY * max(error, 1e-10) ** (0.75 * MEMORY - 1.0 / exponent) * max(previous, SMALLEST_ERROR) ** MEMORY
    )
    return min(GROW, max(SHRINK, factor))


def retry_factor(error: float, exponent: int) -> float:
    """Give the factor by which a rejected step is tried again; a step that ended in NaN is cut by the most."""
    if not error < inf:
        return SHRINK
    factor: float = SAFETY * error ** (0.75 * MEMORY - 1.0 / exponent)
    return max(SHRINK, factor)


def first_length(rate: float, change: float, probe: float, exponent: int) -> float:
    """Guess the first step from the size of ẏ, `rate`, and of its change per second along a short `probe`.

    Reference: Hairer, Nørsett and Wanner, Solving Ordinary Differential Equations I, II.4, "Starting Step Size".
    """
    slope = max(rate, change)
    if not slope < inf:
        return probe
    longest = FIRST_LONGEST * probe
    length: float = (FIRST_ERROR / slope) ** (1.0 / exponent) if slope > 0.0 else longest
    return max(probe, min(longest, length))
