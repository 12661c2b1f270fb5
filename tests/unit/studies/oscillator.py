"""A mass on a spring, x = x0 cos(ω t) with ω² = k/m, and functions that worker processes can import."""

import os
import time

import numpy as np

import kalaba as kb

STIFFNESS, AT = 40.0, 0.1
SPEED = "peak(abs(rate(mass.travel)))"


def machine():
    mass = kb.Body("mass", kb.Box((0.1, 0.1, 0.1), 2.0), joint=kb.Prismatic(kb.X))
    spring = kb.Spring("spring", "mass.travel", stiffness=STIFFNESS)
    motor = kb.Actuator("motor", "mass.travel")
    return kb.System("oscillator", (mass, spring, motor), gravity=(0, 0, 0), start=kb.Start(hold={"mass.travel": AT}))


def study(samples=40, **more):
    """Its mass varies; the largest speed is x0 sqrt(k/m)."""
    usual = {
        "vary": {"mass.mass": kb.uniform(1.0, 3.0)},
        "measure": {"speed": SPEED},
        "samples": samples,
        "duration": 3.0,
        "stepper": kb.RungeKutta4(0.01),
        "seed": 7,
    }
    return kb.Study(machine(), **{**usual, **more})


def fastest(masses):
    return AT * np.sqrt(STIFFNESS / np.asarray(masses))


def slow(run):
    """A measure that takes a while, and no processor."""
    time.sleep(0.02)
    return float(run.q[-1, 0])


def deadly(run):
    """A measure that ends its process for samples with a large mass."""
    if run.system.machine.parameters and parameter(run, "mass.mass") > 2.9:
        os._exit(9)
    return 1.0


def parameter(run, name):
    return next(p.value for p in run.plant.machine.parameters if p.name == name)


def files(folder):
    """What a folder of results holds, to the bit."""
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.suffix == ".parquet"}
