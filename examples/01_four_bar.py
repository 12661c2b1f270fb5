"""Describe a machine with a loop, examine it, simulate it, read the result.

A four-bar linkage in a vertical plane: crank, coupler and rocker between two pivots on the ground.
"""

import tempfile
from pathlib import Path

import numpy as np

import kalaba as kb

# A Body sits on a frame of its parent and is moved by a joint; together the bodies form a tree. A positive angle about
# -Y lifts a link that lies along x.
hinge = kb.Revolute(-kb.Y)
bodies = (
    kb.Body("crank", kb.Rod(0.15, mass=0.3), parent="world", joint=hinge),
    kb.Body("coupler", kb.Rod(0.40, mass=0.8), parent="crank.tip", joint=hinge),
    kb.Body("rocker", kb.Rod(0.30, mass=0.6), parent="coupler.tip", joint=hinge),
)

# A Connection closes the loop. It speaks the same words as a Body: the child sits on the parent at `at`, free to move
# as the joint allows. What the joint forbids becomes constraint rows.
pin = kb.Connection("pin", "rocker.tip", parent="world", at=(0.45, 0, 0), joint=hinge)
motor = kb.Actuator("motor", "crank.angle", limit=2.0)

# The start holds the crank and guesses the rest, roughly: kalaba closes the loop.
start = kb.Start(hold={"crank.angle": 1.0}, guess={"coupler.angle": -0.5, "rocker.angle": -2.0})
four_bar = kb.System("four-bar", parts=(*bodies, pin, motor), start=start)

# A hinge in space takes five freedoms away, and the machine is flat: three of the five rows say nothing here.
mobility = kb.check(four_bar)
print(mobility)
print("coordinates:", ", ".join(kb.build(four_bar).coordinates))
print("assembled start:", kb.build(four_bar).start.q.round(4))

# Text is read in one grammar everywhere. The law is compiled and evaluated at every stage of every step.
run = kb.simulate(four_bar, 5.0, control={"motor": "0.2*(10 - rate(crank.angle))"})
print(f"\n{run.status.ending.value} after {run.effort.steps} steps")
print(f"widest gap {run.worst.value:.1e} m in {run.worst.row}")

# Read any expression at every sample; a motor, a row or an output by its name.
turns = (run["crank.angle"][-1] - 1.0) / (2 * np.pi)
swing = np.degrees(np.ptp(run["atan2(rocker.z - rocker.tip.z, rocker.x - rocker.tip.x)"]))
print(f"crank: {turns:.2f} turns; rocker swings by {swing:.1f} degrees; torque up to {run['motor'].max():.2f} N*m")

# What the motor put in is in the motion now, but for the error of the steps.
error = np.abs(run.energy_balance).max()
print(f"energy gained minus work done: at most {error:.1e} J of {np.abs(run.work).max():.2f} J")

# Other numbers need no new build, and a run can be kept with names, units and where it came from.
longer = kb.build(four_bar).with_parameters({"crank.length": 0.16})
with tempfile.TemporaryDirectory() as folder:
    file = kb.simulate(longer, 1.0).save(Path(folder) / "four-bar.nc")
    print("kept:", list(kb.open_run(file).data.data_vars)[:4], "...")

assert (mobility.rank, mobility.freedoms) == (2, 1)
assert run.worst.value < 1e-13  # rounding of lengths below 1 m
assert error < 2e-6 * run.work.max()  # the default tolerance is 1e-6
# The rocker's extremes, by the law of cosines at the ground pivot where crank and coupler lie in one line.
ground, rocker = 0.45, 0.30
angles = [np.arccos((ground**2 + rocker**2 - reach**2) / (2 * ground * rocker)) for reach in (0.40 - 0.15, 0.40 + 0.15)]
assert abs(swing - np.degrees(angles[1] - angles[0])) < 0.1  # samples every 10 ms miss the very extremes
