"""Machines with limbs that are alike, small enough to be derived whole as well."""

import numpy as np

import kalaba as kb


def arm(joints, length=0.5, **spring):
    """Hinges about z, y, x, y, z, ... in turn, each with a motor; the last body has a tip."""
    axes, parts, parent = (kb.Z, kb.Y, kb.X, kb.Y, kb.Z, kb.X), [], "world"
    for i in range(joints):
        solid = kb.Solid(
            1.5 - 0.1 * (i % 6),
            com=(length / 2, 0.02, 0.01),
            inertia=(0.02, 0.05, 0.06, 0.001, 0.002, 0.003),
            tip=(length, 0.03 * i, 0),
        )
        parts.append(kb.Body(f"link{i}", solid, parent=parent, joint=kb.Revolute(axes[i % len(axes)])))
        parts.append(kb.Actuator(f"motor{i}", f"link{i}.angle", limit=100.0))
        parent = f"link{i}.tip"
    if spring:
        parts.append(kb.Spring("spring", "link0.angle", **spring))
    return kb.System("arm", parts=tuple(parts))


def star(arms, joint, n, *, load=None, extra=(), shift=0.0):
    """`n` arms of one kind around a load, each joined to it where its tip happens to be."""
    rng = np.random.default_rng(5)
    parts = [load or kb.Body("load", kb.Box((0.3, 0.2, 0.1), mass=4.0))]
    count = sum(isinstance(part, kb.Body) for part in arms.parts)
    guess = {"load": kb.Pose((0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3))}
    for k in range(n):
        at = kb.Pose((np.cos(k + shift), np.sin(k + shift), 0.1 * k), rpy=(0, 0, float(k)))
        parts.append(arms.place(f"arm{k}", at=at))
        guess |= {f"arm{k}.link{i}.angle": float(rng.normal()) for i in range(count)}
        parts.append(kb.Connection(f"grip{k}", f"arm{k}.link{count - 1}.tip", "load", at=kb.AsFound(), joint=joint))
    return kb.System("star", parts=(*parts, *extra), start=kb.Start(hold=guess))
