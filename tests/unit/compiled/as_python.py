"""Compiled functions as plain Python on the memory of a real workspace, with kernels written in Python."""

import ctypes
import importlib
import pkgutil
from types import SimpleNamespace

import numpy as np

import kalaba.compiled
from kalaba.compiled import Kernels, Schedule
from kalaba.compiled.workspace import workspace
from kalaba.native.batch import Code

_PROTOTYPE = ctypes.CFUNCTYPE(None, *[ctypes.POINTER(ctypes.c_double)] * 3)


def modules():
    return [
        importlib.import_module(f"kalaba.compiled.{info.name}")
        for info in pkgutil.iter_modules(kalaba.compiled.__path__)
    ]


def as_python():
    """The modules of `kalaba.compiled` by their names; what is no entry runs as Python."""
    return SimpleNamespace(**{module.__name__.rpartition(".")[2]: module for module in modules()})


def python_kernel(function, reads, writes):
    """A function of an array that gives an array, as a kernel that reads and writes so many numbers."""

    def kernel(inputs, outputs, _store):
        values = function(np.ctypeslib.as_array(inputs, (reads,)).copy())
        np.ctypeslib.as_array(outputs, (writes,))[:] = np.concatenate([np.ravel(value) for value in values])

    callback = _PROTOTYPE(kernel)
    return Code(ctypes.cast(callback, ctypes.c_void_p).value, np.zeros((1, 1)), callback)


def memory_of(  # noqa: PLR0913  (what a run is made of)
    layout, stepper, y, end=10.0, units=None, *, start=0.0, save_every=None, **functions
):
    """The record and the arrays of a run about to begin; each kernel is a function of the packed input."""
    writes = {name: size * layout.lanes for name, size in (layout.outputs | {"displace": layout.n_q}).items()}
    functions = {"motion": lambda _: [np.zeros(writes["motion"])]} | functions
    codes = {
        name: python_kernel(function, layout.size * layout.lanes, writes[name]) for name, function in functions.items()
    }
    kernels, schedule = Kernels(layout, units=units, **codes), Schedule(end, save_every or end, start)
    space = workspace(kernels, stepper, schedule, np.array(y, dtype=float).reshape(layout.n_y, layout.lanes))
    return space.memory[0], SimpleNamespace(**space.arrays, kernels=kernels)
