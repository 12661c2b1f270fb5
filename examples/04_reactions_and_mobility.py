"""Rows that depend on each other: what kalaba reports, which reactions are unique, which are not.

Dependent rows are a normal case. The motion is the same whichever of them are kept; the forces between the rows are not
determined by rigid bodies alone, and kalaba says which.
"""

import numpy as np

import kalaba as kb

# A door hung on two balls. Both hold it up, so nothing tells how they share its weight: 6 rows of rank 5.
width, height, mass, g = 0.8, 1.6, 20.0, 9.81
leaf = kb.Body("door", kb.Solid(mass, com=(width / 2, 0, 0), inertia=(5.0, 6.0, 1.2)))
low, high = -height / 2, height / 2
door = kb.System(
    "door",
    parts=(
        leaf,
        kb.Frame("low", parent="door", at=(0, 0, low)),
        kb.Frame("high", parent="door", at=(0, 0, high)),
        kb.Connection("bottom", "low", at=(0, 0, low), joint=kb.Spherical()),
        kb.Connection("top", "high", at=(0, 0, high), joint=kb.Spherical()),
    ),
)
found = kb.check(door)
print(found)
print("unique:", ", ".join(found.unique_reactions), "| not unique:", ", ".join(found.non_unique_reactions))

# The wrench on the child at the child frame's origin, in world axes. Components that are not unique are flagged; their
# sum is unique again.
plant = kb.build(door)
top, bottom = (plant.reaction(name, *plant.start) for name in ("top", "bottom"))
print("top:   ", top.force.round(3), "unique:", top.is_unique[:3])
print("bottom:", bottom.force.round(3), "unique:", bottom.is_unique[:3])

# Let the top ball slide along the vertical, and every row counts: 3 + 2 rows of rank 5, the bottom carries it all.
sliding = door.remove("top").add(kb.Connection("top", "high", at=(0, 0, high), joint=kb.PointOnLine(kb.Z)))
settled = kb.build(sliding)
carried = settled.reaction("bottom", *settled.start)
print("sliding top: bottom", carried.force.round(3), "unique:", carried.is_unique[:3])

# The motion is the same, since consistent rows leave it no choice.
push = {"high": (0, 30.0, 0, 0, 0, 0), "low": (0, 10.0, 0, 0, 0, 4.0)}
first, second = (p.motion(*p.start, wrenches=push).acceleration for p in (plant, settled))

# Bennett's linkage: four hinges in space whose rows depend on each other only while the loop is closed. Counting says
# that it is rigid (3 velocities, 5 rows); it moves.
bennett = kb.check(kb.load("bennett"))
print(bennett)
run = kb.simulate(kb.load("bennett"), 2.0)
kept = np.abs(run.energy - run.energy[0]).max()
print(f"energy drifts by {kept:.1e} J in {run.effort.steps} steps; rows were chosen {len(run.effort.choices)} times")

# Rows that cannot all be met are refused by name: there is no least-squares compromise.
impossible = kb.load("four-bar").add(
    kb.Constraint("fast", "rate(crank.angle) - 1"), kb.Constraint("slow", "rate(crank.angle) - 2")
)
try:
    kb.build(impossible).start  # noqa: B018  (assembled when asked for)
except kb.KalabaError as error:
    print("refused:", error)
    refusal = str(error)

assert (found.rank, found.freedoms) == (5, 1)
assert found.non_unique_reactions == ("bottom.z", "top.z")
assert top.is_unique.tolist()[:3] == [True, True, False]
assert np.isclose(top.force[0], -mass * g * width / 2 / height)  # moments about the bottom ball
assert np.isclose(top.force[2] + bottom.force[2], mass * g)
assert carried.is_unique.all()
assert np.isclose(carried.force[2], mass * g)
assert np.allclose(first, second, atol=1e-10)
assert len(bennett.on_manifold_only) == 3
assert kept < 1e-6
assert "fast" in refusal or "slow" in refusal
