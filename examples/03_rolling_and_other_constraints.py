"""Constraints on velocities: a skate, a rolling wheel, a speed that is kept; with answers known by hand.

A Constraint is an expression that stays zero. With `rate(...)` in it the row is kept at velocity level: nothing says
where the machine may be, only how it may move.
"""

import numpy as np

import kalaba as kb

# A skate on a slope. It may slide along its edge and turn, but not go sideways: rows that no function of position
# can replace. The slope is gravity with a part along x.
slope, g, spin = 0.2, 9.81, 3.0
downhill = (g * np.sin(slope), 0.0, -g * np.cos(slope))
skate = kb.System(
    "skate",
    parts=(
        kb.Body("sled", kb.Box((0.3, 0.05, 0.1), mass=2.0), joint=kb.Planar(kb.Z)),
        kb.Constraint("edge", "rate(sled.x)*sin(sled.angle) - rate(sled.y)*cos(sled.angle)"),
    ),
    gravity=downhill,
    start=kb.Start(speed={"sled.angle": spin}),
)
run = kb.simulate(skate, 4.0)

# It goes across the slope on a cycloid and, on the whole, not down at all.
a = g * np.sin(slope) / (2 * spin**2)
phase = spin * run.time
off = np.abs(run["sled.x"] - a * np.sin(phase) ** 2).max()
off = max(off, np.abs(run["sled.y"] - a * (phase - np.sin(2 * phase) / 2)).max())
across, down = run["sled.y"][-1], run["sled.x"].max()
print(f"skate: {across:.3f} m across, {down:.3f} m down at most; off the cycloid by {off:.1e} m")

# A wheel that rolls down. Here rolling could be written as x = radius*angle as well; a callable does it for a change.
# It is called once with symbols: use NumPy's functions and no `if`. Across the normal Y the first travel is along z,
# the second along x (see docs/notation.md); q= locks the first and gives the others to declared coordinates.
wheel = kb.System(
    "wheel",
    parts=(
        kb.Parameter("radius", 0.3, "m", "of the wheel"),
        kb.Body("rim", kb.Cylinder("radius", 0.05, mass=1.0, axis=kb.Y), joint=kb.Planar(kb.Y, q=(0, "x", "roll"))),
        kb.Constraint("rolling", lambda m: m["rate(x)"] - m["radius"] * m["rate(roll)"]),
    ),
    coordinates=("x", "roll"),
    gravity=downhill,
)
rolling = kb.simulate(wheel, 1.0)
print(f"wheel: {rolling['x'][-1]:.4f} m in 1 s, constraint force {rolling.constraint_force[-1].round(4)}")

# A row may be nonlinear in the velocities: a stone thrown sideways that keeps its speed.
stone = kb.System(
    "stone",
    parts=(
        kb.Body("stone", kb.Solid(0.5), joint=kb.Planar(kb.Y, q=("z", "x", 0))),
        kb.Constraint("speed", "rate(x)^2 + rate(z)^2 - 4"),
    ),
    coordinates=("x", "z"),
    start=kb.Start(speed={"x": 2.0, "z": 0.0}),
)
flight = kb.simulate(stone, 1.0)
speed = flight["sqrt(rate(x)^2 + rate(z)^2)"]
print(f"stone: speed {speed.min():.12f} to {speed.max():.12f} m/s while it falls {-flight['z'][-1]:.3f} m")

# A constraint that does work: `work` adds forces by coordinate beyond the ideal one, here the edge's drag.
drag = kb.Constraint("edge", skate.parts[1].zero, work={"sled.x": "-rate(sled.x)", "sled.y": "-rate(sled.y)"})
braked = kb.simulate(kb.System("braked", (skate.parts[0], drag), gravity=downhill, start=skate.start), 4.0)
print(f"braked skate: work {braked.work[-1]:.3f} J, energy balance {np.abs(braked.energy_balance).max():.1e} J")

assert off < 1e-6  # the default tolerance
assert np.abs(run.observed["speed_residual"]).max() < 1e-13
assert abs(rolling["x"][-1] - g * np.sin(slope) / 1.5 / 2) < 1e-10  # a disc rolls with 2/3 of the slope's pull
assert np.abs(speed - 2.0).max() < 1e-12
assert np.abs(flight.energy_balance).max() < 1e-9  # the row does work, and the books know it
assert braked.work[-1] < 0
assert np.abs(braked.energy_balance).max() < 1e-6
