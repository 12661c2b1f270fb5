"""Machines that others have computed before, for the page docs/validation.md: python -m benchmarks.validation."""

from benchmarks.validation import (
    bricard,
    cantilever,
    four_bars,
    governor,
    heavy_top,
    pendulum,
    rolling_disk,
    slider_crank,
    spin_up,
    squeezer,
)
from benchmarks.validation.problem import Problem

PROBLEMS: tuple[Problem, ...] = (
    pendulum.PROBLEM,
    *four_bars.PROBLEMS,
    squeezer.PROBLEM,
    bricard.PROBLEM,
    governor.PROBLEM,
    slider_crank.PROBLEM,
    heavy_top.PROBLEM,
    rolling_disk.PROBLEM,
    spin_up.PROBLEM,
    cantilever.PROBLEM,
)
