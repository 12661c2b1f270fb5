"""Runs whose every bit is compared: in this process, in others, in threads, with any cache."""

import sys
from hashlib import sha256

import kalaba as kb

FIELDS = ("time", "q", "v", "acceleration", "constraint_force", "actuation", "work", "inputs")


def digest(run):
    """One number for all numbers of a run."""
    whole = sha256()
    for name in FIELDS:
        whole.update(getattr(run, name).tobytes())
    return whole.hexdigest()


def digests():
    """Of runs that go through all loops: adaptive, fixed, structural, implicit, sampled, plain."""
    four_bar = kb.load("four-bar")
    law = {"motor": "0.2*(10 - rate(crank.angle))"}
    runs = (
        kb.simulate(four_bar, 0.3, control=law),
        kb.simulate(four_bar, 0.3, control=law, stepper=kb.RungeKutta4(1e-3)),
        kb.simulate(kb.load("flexible-four-bar"), 0.05, stepper=kb.GeneralisedAlpha(1e-4)),
        kb.simulate(four_bar, 0.1, stepper=kb.Radau()),
        kb.simulate(four_bar, 0.2, control=kb.Sampled(lambda t, _q, _v: [0.1 * t], 200.0)),
        kb.simulate(kb.build(four_bar, backend=kb.Interpreted()), 0.05),
    )
    return tuple(digest(run) for run in runs)


if __name__ == "__main__":
    sys.stdout.write("\n".join(digests()))
