"""Why a step of time fails, in words: for one step (`plant.step`) and for runs."""

from __future__ import annotations

from typing import NamedTuple


class Failure(NamedTuple):
    """What happened and what to do; `{row}` is the row that it speaks of, `{step}` and `{law}` what a user gave."""

    what: str
    remedy: str

    def words(self, when: str, row: str, step: str, drive: str) -> str:
        """A line for people.

        `row` is "" where none is known; `step` and `drive` are what the user calls the step and what drives the motors,
        the latter "" where nothing does.
        """
        law = f", or check the {drive}" if drive else ""
        return f"{self.what.format(row=row or 'a row')}{when}. {self.remedy.format(step=step, law=law)}."


NOT_FINITE = Failure("the state is no longer finite", "Try a smaller {step}{law}")
STEP_UNDERFLOW = Failure("steps fall below rounding", "Look for a jump in the forces; if stiff, try kb.Radau()")
RESIDUAL_GROWTH = Failure(
    "projection cannot close {row}", "Try a smaller {step}, or the machine is where it cannot go on"
)
INCONSISTENT = Failure("no motion obeys all rows; {row} contradicts the others", "Remove one of them")
UNSOLVED = Failure(
    "Newton's method finds no end of the step",
    "Try a smaller {step}, kb.GeneralisedAlpha(rtol=1e-5), or near a singular position its formulation='arnold-bruls'",
)
SINGULAR = Failure(
    "rows that held a motion without inertia do not hold it here",
    "Keep away from this singular position, or give every body mass",
)
STEP_LIMIT = Failure("the limit of steps is reached", "Raise max_steps, or look for what makes steps so short")
INTERRUPTED = Failure("interrupted", "Samples until then are kept")
TIME_LIMIT = Failure("the limit of wall time is reached", "Raise max_time, or ask for less accuracy")
