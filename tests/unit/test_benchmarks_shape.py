from importlib import import_module
from pathlib import Path

import benchmarks
import numpy as np
import pytest
from benchmarks.__main__ import COLUMNS
from benchmarks.bars import AtMost, Faster, as_data, seconds
from benchmarks.catalogue import BEFORE, LONG_ARMS
from benchmarks.chain_machines import chain, chain_in_space, four_bars, ladder
from benchmarks.chains import BUILDS as LONG_BUILDS
from benchmarks.cooperation import BUILDS, CARRY, consistent, power, states_near
from benchmarks.machine import TO_PEER, States
from benchmarks.probes import PROBES

import kalaba as kb
from kalaba.robots.catalogue import ENTRIES

PEERS = {"contenders", "dynamics", "runs"}  # they import engines that need not be installed
MODULES = {path.stem for path in Path(benchmarks.__file__).parent.glob("*.py")} - {"__init__"}
RANDOM = np.random.default_rng(3)


def test_a_bar_counts_as_met_at_its_limit():
    assert Faster("run", 1.0, "peer", 10.0, 10.0).met
    assert not Faster("run", 1.0, "peer", 9.99, 10.0).met
    assert AtMost("build", 2.0, 2.0, "s").met
    assert not AtMost("build", 2.01, 2.0, "s").met


def test_every_bar_fills_every_column_and_becomes_data():
    for bar in (Faster("run", 1.0, "peer", 5.0, 10.0), AtMost("memory", 285.0, 500.0, "MB")):
        assert len(bar.cells) == len(COLUMNS)
        assert as_data(bar)["met"] is bar.met


def test_a_residual_stands_beside_the_rate_it_belongs_to():
    for bar in (Faster("run", 1.0, "peer", 5.0, 10.0, 3e-15), AtMost("step", 2e-6, 3e-6, "s", 3e-15)):
        assert bar.cells[COLUMNS.index("residual")] == "3.0e-15"


def test_what_could_not_be_measured_is_a_bar_that_is_not_met():
    assert AtMost("build", float("nan"), 1.03, "").cells[-1] == "NO"
    assert AtMost("build", float("nan"), 1.03, "s").cells[-1] == "NO"


def test_the_figures_from_before_are_those_of_the_whole_catalogue():
    assert set(BEFORE["operations"]) == set(ENTRIES)
    assert set(ENTRIES) >= LONG_ARMS


def test_times_are_told_in_a_unit_that_suits_them():
    assert [seconds(value) for value in (5e-7, 0.012, 3.0)] == ["0.5 µs", "12 ms", "3 s"]


def test_peers_measure_an_elevation_from_the_link_before_and_downwards():
    q = np.zeros(12)
    q[9:12] = 0.3, 0.5, 0.4
    assert np.allclose(TO_PEER @ q, [*[0.0] * 9, -0.3, -0.2, 0.1], atol=1e-15)


def test_power_is_the_same_in_the_peers_coordinates():
    states = States(*RANDOM.normal(size=(3, 5, 12)))
    ours, theirs = (np.sum(f * v, axis=1) for f, v in ((states.force, states.v), (states.peer_force, states.peer_v)))
    assert np.allclose(ours, theirs, atol=1e-13)  # sums of twelve products of size one


def test_the_growth_of_a_cost_is_its_exponent():
    sizes = (2, 4, 8, 16, 32)
    assert np.isclose(power(sizes, [3e-6 * n**1.3 for n in sizes]), 1.3, atol=1e-12)
    assert power(sizes, [1e-5 + 1e-6 * n for n in sizes]) < 1.0  # what every call costs makes it flatter


def test_random_states_of_arms_that_carry_obey_the_grasps_after_projection():
    plant = kb.build(kb.load(CARRY, arms=2), backend=kb.Interpreted())
    near = states_near(plant, 2)
    assert np.allclose(np.linalg.norm(near.q[:, -4:], axis=1), 1.0, atol=1e-15)
    assert np.abs(plant.residual(near.q[0])).max() > 1e-3
    for q, v in zip(*(getattr(consistent(plant, near), name) for name in ("q", "v")), strict=True):
        assert np.abs(plant.residual(q)).max() < 1e-13
        assert np.abs(plant.velocity_residual(q, v)).max() < 1e-13
        assert np.abs(v).max() > 1e-2  # there is speed left to compare engines at


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_benchmark_finds_what_it_imports_from_kalaba(name):
    if name in PEERS:
        pytest.importorskip("mujoco")
        pytest.importorskip("pinocchio")
    import_module(f"benchmarks.{name}")


def test_every_build_that_is_timed_has_its_probe():
    assert {f"carry_{arms}" for arms in BUILDS} <= set(PROBES)


@pytest.mark.parametrize("make", [chain, chain_in_space, four_bars, ladder])
def test_long_machines_stand_where_they_are_drawn(make):
    """All joints at zero close every loop, and each machine has as many bodies as its length says."""
    plant = kb.build(make(3), backend=kb.Interpreted())
    assert np.abs(plant.residual(np.zeros(len(plant.coordinates)))).max(initial=0.0) < 1e-15
    assert len(plant.machine.bodies) == {"four-bars": 7, "ladder": 9}.get(plant.system.name, 3)


def test_a_probe_builds_long_machines_by_name():
    assert all(callable(make) and count > 10 and limit > 0 for make, count, limit in LONG_BUILDS.values())


def test_chains_are_the_same_in_the_peer():
    pytest.importorskip("pinocchio")
    from benchmarks.peers.pinocchio_chain import pinocchio_chain

    q, v, force = RANDOM.normal(size=(3, 6))
    for make in (chain, chain_in_space):
        found = kb.build(make(6)).motion(q, v, force).acceleration
        assert np.allclose(found, pinocchio_chain(make(6)).acceleration(q, v, force), rtol=1e-10)
