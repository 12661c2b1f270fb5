"""Programs of blocks give what the functions of the whole machine give, whoever eliminates which row."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.constrain.kernels.limb_machine import LimbMachine
from kalaba.constrain.kernels.motion import motion_by_limbs
from kalaba.constrain.kernels.standard import STANDARD
from kalaba.constrain.layout import Layout
from kalaba.derive.equations import equations_of
from kalaba.derive.newton_euler import NewtonEuler
from kalaba.model.topology.partition import partition
from kalaba.native.build import build, load
from limbs import arm, star

HINGED_LOAD = kb.Body("load", kb.Solid(3.0, com=(0.1, 0, 0), inertia=(0.1, 0.2, 0.3)), joint=kb.Free())
LID = (
    kb.Body("lid", kb.Rod(0.3, mass=0.5), parent="load", at=(0, 0, 0.1), joint=kb.Revolute(kb.Y)),
    kb.Constraint("still", "lid.angle - 0.2*load.x"),
    kb.Output("sum", "arm0.link0.angle + arm1.link1.angle + lid.angle", "rad"),
)
MACHINES = {
    "welded": star(arm(6), kb.Weld(), 3),
    "one joint short": star(arm(5), kb.Weld(), 4),
    "redundant": star(arm(4), kb.Spherical(), 5),
    "hinged": star(arm(6, stiffness=3.0, damping=0.4, rest=0.1), kb.Revolute(kb.Y), 2, load=HINGED_LOAD, extra=LID),
    "many joints": star(arm(12, length=0.2), kb.Spherical(), 5),
    "distances": star(arm(2), kb.PointOnLine(kb.Z), 6),
}
SOLVING = ("motion", "motion_with_slack", "project")
READING = ("rows", "system_matrices", "observe", "normalise", "displace", "alignments")


class Case:
    """A machine with both ways to evaluate a function."""

    def __init__(self, system, width):
        self.plant = kb.build(system, backend=kb.Interpreted())
        self.machine = self.plant.machine
        self.layout = Layout.of(self.machine)
        self.blocks = LimbMachine(self.machine, partition(self.machine, 2), NewtonEuler())
        self.blocks.width = width
        self.equations = equations_of(self.machine, NewtonEuler())
        self.functions = {}

    def inputs(self, rng):
        x = rng.normal(size=self.layout.size)
        x[self.layout.q] = rng.normal(size=len(self.machine.coordinates))
        for first, _ in self.machine.quaternions:
            part = slice(1 + first, 5 + first)
            x[part] /= np.linalg.norm(x[part])
        x[self.layout.mask], x[self.layout.w] = 1.0, 1.0
        return x

    def whole(self, name, x):
        if name not in self.functions:
            self.functions[name] = STANDARD[name].whole(self.equations)
        function, x = self.functions[name], x.copy()
        x[self.layout.mask] = x[self.layout.mask] > 0
        sizes = [function.size1_in(i) for i in range(function.n_in() - 1)]
        results = function.call([*np.split(x, np.cumsum(sizes)[:-1]), self.plant.parameters])
        return {function.name_out(i): np.asarray(r.full()).ravel(order="F") for i, r in enumerate(results)}

    def kernel(self, name, lanes=1):
        blocks = self.blocks if lanes == 1 else self.blocks.one_by_one()
        return load(build(name, STANDARD[name].limbs(blocks), lanes))

    def by_blocks(self, kernel, x):
        values = kernel(np.repeat(x[:, None], kernel.lanes, axis=1), kernel.store(self.plant.parameters))
        assert np.array_equal(values, np.repeat(values[:, :1], kernel.lanes, axis=1))
        ends = np.cumsum([size for _, size in kernel.outputs])
        return dict(zip(dict(kernel.outputs), np.split(values[:, 0], ends[:-1]), strict=True))


def agree(found, expected, tolerance):
    for name, value in expected.items():
        if name == "pivots":  # of another order of elimination
            continue
        scale = max(1.0, np.abs(value).max(initial=0.0))
        assert np.abs(found[name] - value).max(initial=0.0) < tolerance * scale, name


@pytest.fixture(scope="module", params=MACHINES)
def case(request):
    return Case(MACHINES[request.param], width=4)


@pytest.mark.parametrize("name", READING)
def test_readings_are_those_of_the_whole_machine(case, name):
    kernel, rng = case.kernel(name), np.random.default_rng(1)
    for _ in range(3):
        x = case.inputs(rng)
        agree(case.by_blocks(kernel, x), case.whole(name, x), 1e-13)


def masks(case, rng):
    """All rows that are independent at a random state kept by their limbs; some handed up; some left out."""
    m = len(case.machine.rows)
    kept = np.ones(m)
    if len(case.machine.velocities) < m:
        kept[rng.permutation(m)[: m - len(case.machine.velocities) + 2]] = 0.0
    yield kept
    limb_rows = [row for kind in case.blocks.partition.kinds for share in kind.shares for row in share.rows]
    for handed in (1, 3, case.blocks.n_hub):
        mask = kept.copy()
        chosen = [row for row in rng.permutation(limb_rows) if mask[row] == 1.0][:handed]
        mask[chosen] = 2.0 + np.arange(len(chosen))
        yield mask
    mask[rng.permutation(m)[:2]] = 0.0
    yield mask


def well_conditioned(case, x):
    """Whether the rows that are on are far from dependent: else rounding, not the order, makes the difference."""
    found = case.whole("rows", x)
    n, m = len(case.machine.velocities), len(case.machine.rows)
    A = found["matrix"].reshape((m, n), order="F")[x[case.layout.mask] > 0]
    return np.linalg.cond(A @ np.linalg.solve(found["mass"].reshape((n, n)), A.T)) < 1e6


def own_rows_are_well_conditioned(case, x):
    found = case.whole("rows", x)
    n, m = len(case.machine.velocities), len(case.machine.rows)
    A, M = found["matrix"].reshape((m, n), order="F"), found["mass"].reshape((n, n))
    mask = x[case.layout.mask]
    for kind in case.blocks.partition.kinds:
        for share in kind.shares:
            rows = [row for row in share.rows if mask[row] == 1.0]
            columns = [share.v[j] for j in sorted(share.own_v)]
            own = A[np.ix_(rows, columns)]
            if len(rows) > len(columns):
                return False
            if rows and np.linalg.cond(own @ np.linalg.solve(M[np.ix_(columns, columns)], own.T)) > 1e6:
                return False
    return True


@pytest.mark.parametrize("name", SOLVING)
def test_the_motion_does_not_depend_on_who_eliminates_a_row(case, name):
    kernel, rng, tried = case.kernel(name), np.random.default_rng(2), 0
    for _ in range(60):
        x = case.inputs(rng)
        for mask in masks(case, rng):
            x[case.layout.mask] = mask
            if well_conditioned(case, x) and own_rows_are_well_conditioned(case, x):
                agree(case.by_blocks(kernel, x), case.whole(name, x), 1e-9)
                tried += 1
        if tried > 12:
            return
    assert tried > 3


def test_lanes_for_states_and_lanes_for_limbs_give_the_same_bits():
    system = MACHINES["welded"]
    wide, narrow, rng = Case(system, 4), Case(system, 1), np.random.default_rng(3)
    kernels = wide.kernel("motion"), narrow.kernel("motion"), narrow.kernel("motion", lanes=4)
    x = wide.inputs(rng)
    results = [case.by_blocks(kernel, x) for case, kernel in zip((wide, narrow, narrow), kernels, strict=True)]
    for name, value in results[0].items():
        assert np.array_equal(value, results[1][name]), name
        assert np.array_equal(value, results[2][name]), name


def test_baumgarte_feeds_back_in_every_limb():
    case, rng = Case(MACHINES["welded"], 4), np.random.default_rng(4)
    x, chosen = case.inputs(rng), kb.Baumgarte(20.0)
    program = motion_by_limbs(case.blocks, baumgarte=chosen)
    found = case.by_blocks(load(build("motion", program, 1)), x)
    plain = case.by_blocks(case.kernel("motion"), x)
    e = case.whole("system_matrices", x)
    n, m = len(case.machine.velocities), len(case.machine.rows)
    A = e["matrix"].reshape((m, n), order="F")
    change = A @ (found["acceleration"] - plain["acceleration"])
    wanted = -(2 * chosen.damping * chosen.frequency * e["rate"] + chosen.frequency**2 * e["value"])
    assert np.abs(change - wanted).max() < 1e-8 * np.abs(wanted).max()
