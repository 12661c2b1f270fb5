"""A law in limb form sums over limbs, solves on the hub, and gives each limb its part."""

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.constrain.kernels.laws import law_by_limbs
from kalaba.constrain.kernels.limb_machine import LimbMachine
from kalaba.constrain.layout import Layout
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.model.topology.partition import partition
from kalaba.native.build import build, load
from limbs import arm, star

GUST = kb.Force("gust", "load", force=kb.Sampled(lambda t, q, v: (t, 0.0, 0.0), rate=100.0))
WINCH = kb.Actuator("winch", "load.z")
NUMBERS = (0.7, -1.3)


class Mean:
    """Every motor gives its joint's angle less the mean over all limbs, and a number of the law; the winch gives it."""

    def __init__(self, limbs, apart):
        self.limbs, self.apart = limbs, apart

    def pattern(self, share):
        return share.u[0] % 2 if self.apart else None

    def shared(self, kinematics, numbers):
        return {"offset": ca.vertcat(numbers, kinematics.scalar("load.x") * kinematics.symbols.t)}

    def up(self, limb):
        q = limb.share.equations.symbols.q[limb.share.own_q]
        gain = ca.vertcat(*limb.constants([[1.0 + motor for motor in row] for row in limb.motors]))
        return {"q": q, "scaled": gain * q}, {"sum": q}

    def across(self, hub, sums):
        mean = sums["sum"] / self.limbs
        return [hub.read("offset", [[1]])[0]], {"mean": mean}

    def down(self, limb, kept, solved):
        entries = [[k % 2 * 2] for k, _ in enumerate(limb.share.shares)]  # the first number, or x t, in turn
        return ca.vertsplit(kept["scaled"] + kept["q"] - solved["mean"] + limb.read("offset", entries))


@pytest.mark.parametrize("apart", [False, True])
@pytest.mark.parametrize("width", [1, 4])
def test_the_stages_read_what_the_others_leave(width, apart):
    limbs, joints = 5, 3
    machine = star(arm(joints), kb.Spherical(), limbs, extra=(WINCH, GUST)).machine
    whole = LimbMachine(machine, partition(machine, 2), NewtonEuler())
    whole.width = width
    kernel = load(build("law", law_by_limbs(whole, Mean(limbs, apart), 2), 1))
    layout, names = Layout.of(machine), [c.name for c in machine.coordinates]
    x = np.random.default_rng(4).normal(size=layout.size)
    parameters = [p.value for p in machine.free_parameters]
    free = [*[-np.inf] * len(machine.actuators), *[np.inf] * len(machine.actuators)]
    values = kernel(x[:, None], kernel.store([*parameters, *NUMBERS, *free]))[:, 0]
    q = np.array([[x[layout.q][names.index(f"arm{k}.link{i}.angle")] for i in range(joints)] for k in range(limbs)])
    motors = [a.name for a in machine.actuators]
    places = np.array([[motors.index(f"arm{k}.motor{i}") for i in range(joints)] for k in range(limbs)])
    turns = np.zeros(limbs, dtype=int)
    for group in ([0, 2, 4], [1, 3]) if apart else ([0, 1, 2, 3, 4],):
        turns[group] = np.arange(len(group)) % 2
    offset = np.where(turns == 0, NUMBERS[0], x[layout.q][names.index("load.x")] * x[layout.t])
    expected = (1 + places) * q + q - q.mean(axis=0) + offset[:, None]
    assert np.abs(values[places] - expected).max() < 1e-13
    assert values[motors.index("winch")] == NUMBERS[1]
    assert np.array_equal(values[len(motors) :], x[layout.u][len(motors) :])  # sampled forces pass through
