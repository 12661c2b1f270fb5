"""Two arms carry one load: a System placed twice, loops closed by ball joints, a wish as a constraint.

The wish is met by the force it needs. That force is then turned into motor torques.
"""

import numpy as np

import kalaba as kb

# One arm, described once: a turret that turns about the vertical, and two links. Its names are its own.
lift = kb.Revolute(-kb.Y)
arm = kb.System(
    "arm",
    parts=(
        kb.Body("turret", kb.Cylinder(0.05, 0.4, mass=2.0), joint=kb.Revolute(kb.Z)),
        kb.Body("upper", kb.Rod(0.5, mass=1.5), parent="turret", at=(0, 0, 0.4), joint=lift),
        kb.Body("fore", kb.Rod(0.5, mass=1.0), parent="upper.tip", joint=lift),
        kb.Actuator("turn", "turret.angle"),
        kb.Actuator("shoulder", "upper.angle"),
        kb.Actuator("elbow", "fore.angle"),
    ),
    start=kb.Start(guess={"upper.angle": 1.2, "fore.angle": -1.6}),
)

# Placed twice, the right one facing the left. The load floats (a Body's joint is Free unless said otherwise), and two
# ball joints hold its ends: 3 + 3 + 6 velocities, 6 rows.
cell = kb.System(
    "cell",
    parts=(
        arm.place("left"),
        arm.place("right", at=kb.Pose((1.6, 0, 0), rpy=(0, 0, np.pi))),
        kb.Body("load", kb.Cylinder(radius=0.03, length=0.4, mass=3.0, axis=kb.X)),
        kb.Frame("end1", parent="load", at=(-0.2, 0, 0)),
        kb.Frame("end2", parent="load", at=(0.2, 0, 0)),
        kb.Connection("grip1", "left.fore.tip", parent="end1", joint=kb.Spherical()),
        kb.Connection("grip2", "right.fore.tip", parent="end2", joint=kb.Spherical()),
    ),
    start=kb.Start(guess={"load": kb.Pose((0.8, 0, 0.6))}),
)
print(kb.check(cell))

# The wish: the load's middle goes up and down, level and straight. To kalaba it is a row like any other. Its one
# freedom left is the load's spin between the balls.
wish = kb.Constraint(
    "wish",
    {
        "x": "load.x - 0.8",
        "y": "load.y",
        "z": "load.z - 0.6 - 0.1*(1 - cos(2*t))",
        "level": "end2.z - end1.z",
        "straight": "end2.y - end1.y",
    },
)
wished = cell.add(wish)
print(kb.check(wished))
run = kb.simulate(wished, 2 * np.pi)
height = 0.6 + 0.1 * (1 - np.cos(2 * run.time))
miss = np.abs(run["load.z"] - height).max()
print(f"the load misses its path by at most {miss:.1e} m, the grips open by at most {run.worst.value:.1e} m")

# `constraint_force` is what the rows of grips and wish do together, one number per velocity. The motors can supply the
# wish's part if  B u + (rows of the grips)' multipliers  equals it.
free = kb.build(cell)
sample = 150
q, v, t = run.q[sample], run.v[sample], run.time[sample]
grips, _ = free.constraint(q, v, t)
both = np.hstack([free.actuation_map(q), grips.T])
solution, *_ = np.linalg.lstsq(both, run.constraint_force[sample])
torques = solution[: len(free.actuators)]
print("motor torques:", dict(zip(free.actuators, torques.round(2).tolist(), strict=True)))

# With these torques the machine without the wish accelerates as it did with it.
driven = free.motion(q, v, t=t, actuation=torques)
off = np.abs(driven.acceleration - run.acceleration[sample]).max()
print(f"acceleration by motors differs from the wished one by {off:.1e}")

# What the grips carry, as forces on the arms' tips: together the load's weight and what speeds it up.
carried = sum(-free.reaction(grip, q, v, t=t, actuation=torques).force for grip in ("grip1", "grip2"))
print("on the load:", np.round(carried, 6), "N")

assert miss < 1e-12
assert run.worst.value < 1e-12
assert off < 1e-9
assert np.allclose(carried, 3.0 * np.array([0, 0, 0.4 * np.cos(2 * t) + 9.81]), atol=1e-8)
