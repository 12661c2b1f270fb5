"""Machines that can be as long as one likes: chains, four-bars in a row, and a ladder."""

import kalaba as kb

HINGE = kb.Revolute(kb.Z)
DOWN = (0.0, -9.81, 0.0)
AXES = (kb.X, kb.Y, kb.Z)
LINK = kb.Solid(1.0, com=(0.0, 0.5, 0.0), inertia=(0.09, 0.02, 0.08))


def chain(count: int) -> kb.System:
    """Hinges in a plane, one after the other."""
    return _hung("chain", [kb.Z] * count)


def chain_in_space(count: int) -> kb.System:
    """Hinges across each other, one after the other."""
    return _hung("chain-in-space", [AXES[i % 3] for i in range(count)])


def _hung(name: str, axes: list[kb.Axis]) -> kb.System:
    parts = [kb.Body("link0", LINK, joint=kb.Revolute(axes[0]))]
    for i, axis in enumerate(axes[1:], start=1):
        parts.append(kb.Body(f"link{i}", LINK, f"link{i - 1}", at=(0.0, 1.0, 0.0), joint=kb.Revolute(axis)))
    return kb.System(name, tuple(parts), gravity=DOWN)


def four_bars(count: int) -> kb.System:
    """Four-bars in a row, each sharing an upright with the next (IFToMM benchmark A02)."""
    parts: list[kb.Body | kb.Connection] = [
        kb.Body(f"up{i}", kb.Rod(1.0, mass=1.0, axis=kb.Y), at=(float(i), 0.0, 0.0), joint=HINGE)
        for i in range(count + 1)
    ]
    for i in range(count):
        parts.append(kb.Body(f"bar{i}", kb.Rod(1.0, mass=1.0, axis=kb.X), f"up{i}.tip", joint=HINGE))
        parts.append(kb.Connection(f"pin{i}", f"bar{i}.tip", parent=f"up{i + 1}.tip", joint=HINGE))
    start = kb.Start(hold={"up0.angle": 0.0}, speed={"up0.angle": -1.0})
    return kb.System("four-bars", tuple(parts), gravity=DOWN, start=start)


def ladder(count: int) -> kb.System:
    """Two chains side by side, joined by as many rungs: every loop shares links with the next."""
    parts: list[kb.Body | kb.Connection] = []
    for side, x in (("left", 0.0), ("right", 1.0)):
        parts.append(kb.Body(f"{side}0", kb.Rod(1.0, mass=1.0, axis=kb.Y), at=(x, 0.0, 0.0), joint=HINGE))
        parts += [
            kb.Body(f"{side}{i}", kb.Rod(1.0, mass=1.0, axis=kb.Y), f"{side}{i - 1}.tip", joint=HINGE)
            for i in range(1, count)
        ]
    for i in range(count):
        parts.append(kb.Body(f"rung{i}", kb.Rod(1.0, mass=1.0, axis=kb.X), f"left{i}.tip", joint=HINGE))
        parts.append(kb.Connection(f"pin{i}", f"rung{i}.tip", parent=f"right{i}.tip", joint=HINGE))
    return kb.System("ladder", tuple(parts), gravity=DOWN)
