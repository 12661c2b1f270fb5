"""Motions from equations written by hand, integrated by scipy far more sharply than what they are compared with."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import solve_ivp

import kalaba as kb

Array = NDArray[np.float64]
SHARP = kb.DormandPrince(rtol=3e-12, atol=3e-13)
G = 9.81


def integrate(rate: Callable[[float, Array], Sequence[float]], start: Sequence[float], times: Array) -> Array:
    """States at the times, one per row."""
    found = solve_ivp(rate, (0.0, times[-1]), start, "DOP853", t_eval=times, rtol=1e-12, atol=1e-13)
    assert found.success
    return np.asarray(found.y.T)


def poses(run: kb.Run, frames: Sequence[str]) -> Array:
    """Where frames are at every sample, (N, frames, 12): position, then the columns of the rotation.

    Not run["frame.x"], which on a Planar or Free body is the coordinate of that name.
    """
    plant, names = run.plant, tuple(frames)
    return np.array([[reading[:12] for reading in plant.watch(names, plant.inputs(q))] for q in run.q])


def positions(run: kb.Run, frame: str) -> Array:
    """Where a frame is at every sample, (N, 3)."""
    return poses(run, (frame,))[:, 0, :3]


def rotations(run: kb.Run, frame: str) -> Array:
    """How a frame is turned at every sample, (N, 3, 3)."""
    return poses(run, (frame,))[:, 0, 3:].reshape((-1, 3, 3)).transpose(0, 2, 1)
