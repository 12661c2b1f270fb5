"""Runs to write: a short one of a small machine with everything in it, on the interpreted backend."""

from functools import cache

import numpy as np

import kalaba as kb
from kalaba.results.run import Effort, Ending, Run, Status, Worst

simulate = kb.simulate  # as it is, before a test puts something else in its place


def gust(t, q, v):
    return (0.1, 0.0, 0.0)


@cache
def small_run() -> Run:
    """A driven four-bar with a quaternion, a sampled force and an output beside it."""
    hinge = kb.Revolute(-kb.Y)
    system = kb.System(
        "sample",
        coordinates=("energy",),  # a name that a table uses for itself
        parts=(
            kb.Body("crank", kb.Rod(0.15, mass=0.3), joint=hinge),
            kb.Body("coupler", kb.Rod(0.40, mass=0.8), parent="crank.tip", joint=hinge),
            kb.Body("rocker", kb.Rod(0.30, mass=0.6), parent="coupler.tip", joint=hinge),
            kb.Connection("pin", "rocker.tip", at=(0.45, 0, 0), joint=hinge),
            kb.Body("ball", kb.Box((0.1, 0.1, 0.2), mass=1.0)),
            kb.Body("slide", kb.Solid(1.0), joint=kb.Prismatic(kb.X, q="2*energy")),
            kb.Actuator("motor", "crank.angle", limit=2.0),
            kb.Force("gust", "ball", force=kb.Sampled(gust, 100.0)),
            kb.Output("height", "rocker.z", "m"),
        ),
        start=kb.Start(hold={"crank.angle": 1.0}, guess={"coupler.angle": -0.5, "rocker.angle": -2.0}),
    )
    plant = kb.build(system, backend=kb.Interpreted())
    return simulate(plant, 0.05, control={"motor": "0.2*(10 - rate(crank.angle))"}, stepper=kb.RungeKutta4(5e-3))


def broken_run() -> Run:
    """A run that broke off, with numbers that are none."""
    whole = small_run()
    bad = whole.q.copy()
    bad[-1] = np.nan
    status = Status(Ending.NOT_FINITE, 0.03, "sample: stopped at t = 0.03 s: …")
    effort = Effort(3, 1, ((0.0, 2), (0.02, 1)), 0.5, whole.effort.settings, (2e-4, 0.02), jolt_felt=1e-3)
    copies = (whole.v, whole.acceleration, whole.constraint_force, whole.actuation, whole.inputs)
    return Run(whole.plant, whole.time, bad, *copies, status, effort, Worst(1.0, "pin.x", 0.02), whole.work)
