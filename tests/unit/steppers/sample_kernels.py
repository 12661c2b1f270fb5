"""Kernels of known problems, written with Numba; store[0] holds the lanes, store[1] and on what the problem needs."""

import ctypes
import os

import numpy as np
from numba import cfunc, types

from kalaba.compiled import Kernels
from kalaba.constrain.layout import Layout
from kalaba.native.batch import Code
from kalaba.native.machine_code import PLAIN

_POINTER = types.CPointer(types.double)
_PROTOTYPE = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_double)] * 3)


class Callback:
    """A Python function at an address, for runs in plain Python."""

    def __init__(self, function):
        self.callback = _PROTOTYPE(function)
        self.address = ctypes.cast(self.callback, ctypes.c_void_p).value


kernel = Callback if os.environ.get(PLAIN) else cfunc(types.void(_POINTER, _POINTER, _POINTER))


def slots(n_q, n_v, n_u=0, n_rows=0, lanes=1):
    """Give the layout of a problem that does not count its work."""
    return Layout(n_q, n_v, n_u, n_rows, lanes, n_work=0)


def code(function, lanes=1, *values):
    """Bind a kernel to its lanes and to numbers of its own."""
    return Code(
        function.address, np.repeat(np.array([[float(lanes)], *([v] for v in values)]), lanes, axis=1), function
    )


@kernel
def oscillator(inputs, outputs, store):
    """q̈ = -q + u."""
    lanes = int(store[0])
    for lane in range(lanes):
        q, v, u = inputs[lane], inputs[lanes + lane], inputs[3 * lanes + lane]
        outputs[lane] = v
        outputs[lanes + lane] = u - q
        outputs[2 * lanes + lane] = 0.0


# The same with its work counted, and what steppers with a scheme need; y = [work, q, v].


@kernel
def worked_oscillator(inputs, outputs, store):
    q, v, u = inputs[1], inputs[2], inputs[4]
    outputs[0] = u * v
    outputs[1] = v
    outputs[2] = u - q
    outputs[3] = 0.0


@kernel
def straight(inputs, outputs, store):
    """q ⊕ v = q + v."""
    outputs[0] = inputs[1] + inputs[2]


@kernel
def oscillator_tangent(inputs, outputs, store):
    """M = 1, C = 0, K = 1."""
    outputs[0], outputs[1], outputs[2] = 1.0, 0.0, 1.0


@kernel
def overdamped(inputs, outputs, store):
    """q̈ = -1e6 (v + q)."""
    q, v = inputs[1], inputs[2]
    outputs[0] = 0.0
    outputs[1] = v
    outputs[2] = -1e6 * (v + q)
    outputs[3] = 0.0


@kernel
def overdamped_tangent(inputs, outputs, store):
    """M = 1, C = K = 1e6."""
    outputs[0], outputs[1], outputs[2] = 1.0, 1e6, 1e6


@kernel
def wrong_tangent(inputs, outputs, store):
    """M = 1, and nothing of what resists."""
    outputs[0], outputs[1], outputs[2] = 1.0, 0.0, 0.0


def structural_oscillator():
    """Give the kernels of q̈ = -q + u, for one lane."""
    return Kernels(
        Layout(1, 1, 1),
        motion=code(worked_oscillator),
        displace=code(straight),
        tangent=code(oscillator_tangent),
    )


@kernel
def forced(inputs, outputs, store):
    """q̈ = -q (1 + cos(t)/2) - v³/10: time and speed enter."""
    q, v, t = inputs[0], inputs[1], inputs[2]
    outputs[0] = v
    outputs[1] = -q * (1.0 + 0.5 * np.cos(t)) - 0.1 * v * v * v
    outputs[2] = 0.0


@kernel
def exploding(inputs, outputs, store):
    """v̇ = v²: infinite at t = 1/v(0)."""
    lanes = int(store[0])
    for lane in range(lanes):
        v = inputs[lanes + lane]
        outputs[lane] = v
        outputs[lanes + lane] = v * v


@kernel
def square_root(inputs, outputs, store):
    """v̇ = √(-q): NaN as soon as q > 0."""
    outputs[0] = inputs[1]
    outputs[1] = np.sqrt(-inputs[0]) if inputs[0] <= 0.0 else np.nan


@kernel
def feedback(inputs, outputs, store):
    """u = -2 v, with gain store[1]."""
    outputs[0] = -store[1] * inputs[1]


@kernel
def above(inputs, outputs, store):
    """q - store[1 · lanes], per lane."""
    lanes = int(store[0])
    for lane in range(lanes):
        outputs[lane] = inputs[lane] - store[lanes + lane]


@kernel
def drifting(inputs, outputs, store):
    """v̇ = 0."""
    outputs[0] = inputs[1]
    outputs[1] = 0.0
    outputs[2] = 0.0


@kernel
def nothing_moves(inputs, outputs, store):
    """ẏ = 0."""
    outputs[0] = 0.0
    outputs[1] = 0.0
    outputs[2] = 0.0


# A pendulum of mass 1 and length 1 in x and y, g = 10, with φ = (x² + y² - 1)/2 and three rows of rank 1:
# x φ, y φ and 3 (φ + offset). The first two vanish where x = 0 and y = 0; an offset contradicts them, and so does a
# slip of the third one's speed.


@kernel
def pendulum_motion(inputs, outputs, store):
    lanes = int(store[0])
    for lane in range(lanes):
        x, y, p, w = inputs[lane], inputs[lanes + lane], inputs[2 * lanes + lane], inputs[3 * lanes + lane]
        phi, speed, square = (x * x + y * y - 1) / 2, x * p + y * w, p * p + w * w
        outputs[lane], outputs[lanes + lane] = p, w
        ax, ay, fx, fy = 0.0, -10.0, 0.0, 0.0
        for k in range(3):
            if k == 0:
                a, b, c, value = phi + x * x, x * y, -2 * p * speed - x * square, x * phi
            elif k == 1:
                a, b, c, value = x * y, phi + y * y, -2 * w * speed - y * square, y * phi
            else:
                a, b, c, value = 3 * x, 3 * y, -3 * square, 3 * (phi + store[lanes + lane])
            pivot = a * a + b * b
            if inputs[(7 + k) * lanes + lane] > 0:
                force = (c - a * ax - b * ay) / pivot
                fx, fy = a * force, b * force
            outputs[(6 + k) * lanes + lane] = pivot
            outputs[(9 + k) * lanes + lane] = abs(value)
        outputs[2 * lanes + lane], outputs[3 * lanes + lane] = ax + fx, ay + fy
        outputs[4 * lanes + lane], outputs[5 * lanes + lane] = fx, fy


@kernel
def pendulum_project(inputs, outputs, store):
    lanes = int(store[0])
    for lane in range(lanes):
        x, y, p, w = inputs[lane], inputs[lanes + lane], inputs[2 * lanes + lane], inputs[3 * lanes + lane]
        phi, speed = (x * x + y * y - 1) / 2, x * p + y * w
        outputs[lane], outputs[lanes + lane], outputs[2 * lanes + lane], outputs[3 * lanes + lane] = x, y, p, w
        for k in range(3):
            if k == 0:
                a, b, value, rate = phi + x * x, x * y, x * phi, p * phi + x * speed
            elif k == 1:
                a, b, value, rate = x * y, phi + y * y, y * phi, w * phi + y * speed
            else:
                a, b, value = 3 * x, 3 * y, 3 * (phi + store[lanes + lane])
                rate = 3 * speed + store[2 * lanes + lane]
            if inputs[(7 + k) * lanes + lane] > 0:
                square = a * a + b * b
                outputs[lane], outputs[lanes + lane] = x - a * value / square, y - b * value / square
                outputs[2 * lanes + lane], outputs[3 * lanes + lane] = p - a * rate / square, w - b * rate / square
            outputs[(4 + k) * lanes + lane] = value
            outputs[(7 + k) * lanes + lane] = rate


@kernel
def pendulum_rows(inputs, outputs, store):
    lanes = int(store[0])
    for lane in range(lanes):
        x, y = inputs[lane], inputs[lanes + lane]
        phi = (x * x + y * y - 1) / 2
        for i in range(4):
            outputs[i * lanes + lane] = 1.0 if i in (0, 3) else 0.0
        for k, value in enumerate((phi + x * x, x * y, 3 * x, x * y, phi + y * y, 3 * y)):
            outputs[(4 + k) * lanes + lane] = value


@kernel
def pendulum_lost(inputs, outputs, store):
    """Project nowhere: the residual store[1] stays."""
    for i in range(4):
        outputs[i] = inputs[i]
    for i in range(6):
        outputs[4 + i] = store[1] if i < 3 else 0.0


@kernel
def still_motion(inputs, outputs, store):
    """Nothing moves, and every row has the pivot 1: store[1] velocities, store[2] rows."""
    n, m = int(store[1]), int(store[2])
    for i in range(3 * n):
        outputs[i] = 0.0
    for k in range(m):
        outputs[3 * n + k] = 1.0
        outputs[3 * n + m + k] = 0.0


@kernel
def told_rows(inputs, outputs, store):
    """Answer store[1] numbers, M and A, that follow in the store."""
    for i in range(int(store[1])):
        outputs[i] = store[2 + i]


@kernel
def massless_rows(inputs, outputs, store):
    for i in range(10):
        outputs[i] = 0.0


def pendulum(lanes=1, offset=0.0, **others):
    """Give the pendulum's kernels, with `project=None` and the like to change them."""
    kernels = {
        "motion": code(pendulum_motion, lanes, offset),
        "project": code(pendulum_project, lanes, offset, 0.0),
        "rows": code(pendulum_rows, lanes),
    }
    return Kernels(slots(2, 2, 0, 3, lanes), **{**kernels, **others})
