"""The floating arm with flexible links against its reference, and the classic spin-up of a beam."""

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import kalaba as kb
from kalaba.run.checks import DeformationWarning

DATA = Path(__file__).parent / "data" / "floating-flexible-arm" / "case_a.npz"
SHARP = kb.DormandPrince(rtol=1e-10, atol=1e-12)
CLOSE = 1e-8  # m and rad; asked is 1e-6, seen 5e-11
ONE, TWO, FIVE = {"modes": 1}, {"modes": 2}, {"modes": 5}
SHORTER = {"modes": 5, "foreshortening": True}
RUNS = {
    "cf1_full": ONE,
    "cf2_full": TWO,
    "cf5_full": FIVE,
    "cf5_full_foreshort": SHORTER,
    "cf1_eq7": {"modes": 1, "com": "eq7"},
    "carrier_fixed": {"carrier": "fixed"},
    "carrier_k0.1": {"carrier": 0.1},
    "carrier_k1": {"carrier": 1},
    "carrier_k10": {"carrier": 10},
    "carrier_k100": {"carrier": 100},
}


@cache
def reference() -> dict[str, np.ndarray]:
    with np.load(DATA) as file:
        return dict(file)


@cache
def simulated(**options: object) -> kb.Run:
    scenario = kb.scenario("floating-flexible-arm", **options)
    return kb.simulate(scenario.system, 1.0, stepper=SHARP, control=scenario.control, save_every=2e-4)


def tips(run: kb.Run) -> np.ndarray:
    return np.column_stack([run["link2.tip_deflection"], run["link3.tip_deflection"]])


@pytest.mark.parametrize("name", RUNS)
def test_tips_and_angles_equal_the_reference(name):
    run, data = simulated(**RUNS[name]), reference()
    assert np.allclose(run.time[::10], data["t"], rtol=0, atol=1e-12)
    assert np.abs(tips(run)[::10] - data[f"{name}_tips"]).max() < CLOSE
    if f"{name}_theta" in data:
        assert np.abs(run.q[::10, 2:6] - data[f"{name}_theta"]).max() < CLOSE


@pytest.mark.parametrize(
    ("options", "case", "peaks"),
    [
        (ONE, "a", (217.65, 92.99)),
        (TWO, "a", (230.73, 95.23)),
        (FIVE, "a", (234.18, 95.15)),
        (SHORTER, "a", (242.15, 89.49)),
        (ONE, "b", (202.66, 85.41)),
        (TWO, "b", (214.40, 86.50)),
        (FIVE, "b", (218.03, 86.84)),
        (SHORTER, "b", (226.30, 85.52)),
    ],
)
def test_peaks_are_those_of_the_table(options, case, peaks):
    found = 1e3 * np.abs(tips(simulated(**options, case=case))).max(axis=0)
    assert np.abs(found - peaks).max() < 0.01


def test_the_paper_s_difference_between_numbers_of_modes_is_that_of_two_and_five():
    """Printed for 1 and 5 modes: 6.4 mm = 3.1 % of the peak. The stored runs of other code say what the entry says."""
    data = reference()
    for one, two, five in (
        [1e3 * tips(simulated(**options))[::10, 0] for options in (ONE, TWO, FIVE)],
        [1e3 * data[f"cf{modes}_full_tips"][:, 0] for modes in (1, 2, 5)],
    ):
        peak = np.abs(five).max()
        assert peak - np.abs(one).max() == pytest.approx(16.5, abs=0.05)
        assert 1 - np.abs(one).max() / peak == pytest.approx(0.071, abs=0.0005)
        assert np.abs(two - five).max() == pytest.approx(6.36, abs=0.02)  # samples of 2 ms
        assert np.abs(two - five).max() / peak == pytest.approx(0.027, abs=0.0005)
        assert np.abs(one - five).max() > 42.0


@pytest.mark.parametrize(("carrier", "degrees"), [(0.1, -20.3), (1, -4.39), (10, -0.496), (100, -0.050)])
def test_the_carrier_turns_less_the_heavier_it_is(carrier, degrees):
    found = np.degrees(simulated(carrier=carrier)["theta1"][-1])
    assert found == pytest.approx(degrees, abs=0.05 if carrier == 0.1 else 0.005)


@pytest.mark.parametrize("options", [ONE, FIVE, SHORTER])
def test_momentum_stays_zero(options):
    """Over the largest momentum of one body, which is that of the carrier's answer to the arm."""
    run = simulated(**options)
    carrier = np.abs(2000.0 * run.v[:, :2]).max()
    assert np.abs(run.observed["momentum"]).max() < 1e-10 * max(carrier, 1.0)


@pytest.mark.parametrize("options", [ONE, FIVE, SHORTER, {"modes": 2, "base": "attitude"}, {"carrier": "fixed"}])
def test_energy_is_the_work_of_the_motors(options):
    run = simulated(**options)
    assert np.abs(run.energy_balance).max() < 1e-9 * np.abs(run.work).max()


def test_energy_work_and_the_way_of_the_carrier_equal_the_reference():
    run, data = simulated(**ONE), reference()
    assert np.abs(run.energy[::10] - data["cf1_full_E"]).max() < 1e-6
    assert np.abs(run.work[::10] - data["cf1_full_W"]).max() < 1e-6
    assert np.abs(run.q[::10, :2] - data["cf1_full_rc"]).max() < CLOSE


def test_a_rigid_rotation_does_no_work():
    plant = kb.build(kb.load("floating-flexible-arm", modes=3, foreshortening=True))
    rng = np.random.default_rng(0)
    q = plant.start.q + 0.1 * rng.normal(size=plant.start.q.shape)
    turning = np.zeros(len(plant.velocities))
    turning[2:6] = 1.0
    assert np.abs(turning @ plant.actuation_map(q)).max() < 1e-15


def test_generalised_forces_are_the_corrected_ones_of_the_paper():
    """Q = [0, 0, −τ2, τ2−τ3, τ3−τ4, τ4, −τ3 φ2′(l2), −τ4 φ3′(l3)]; φ′(l) = 1.3765 / l for the first mode."""
    plant = kb.build(kb.load("floating-flexible-arm", modes=1))
    B = plant.actuation_map(plant.start.q)
    slope = 1.3765053 / 5
    expected = [[0, 0, -1, 1, 0, 0, 0, 0], [0, 0, 0, -1, 1, 0, -slope, 0], [0, 0, 0, 0, -1, 1, 0, -slope]]
    assert np.abs(B.T - expected).max() < 1e-7


@pytest.mark.parametrize("options", [{}, {"com": "eq7"}, {"base": "fixed"}, {"base": "attitude"}, {"carrier": 0.1}])
def test_the_centre_of_mass_starts_at_the_origin_undeformed(options):
    plant = kb.build(kb.load("floating-flexible-arm", modes=1, **options))
    q = plant.start.q
    assert np.allclose(q[2:], [0, np.pi / 4, -np.pi / 2, -np.pi / 4, 0, 0], rtol=0, atol=1e-14)
    scale = options.get("carrier", 1.0)
    at = {name: plant.pose(name, q).position[:2] for name in ("link2", "link3", "link3.tip", "load")}
    link, turn = 34.75, np.array([np.cos(q[5]), np.sin(q[5])])
    moment = 2000 * scale * q[:2] + link * (at["link2"] + at["link3"]) / 2 + link * (at["link3"] + at["link3.tip"]) / 2
    assert np.abs(moment + at["load"] + turn).max() < 1e-9


@pytest.mark.parametrize("base", ["free", "attitude", "fixed"])
def test_three_classes_of_base(base):
    run = simulated(modes=1, base=base)
    start = run.q[0]
    moved = np.abs(run.q[:, :3] - start[:3]).max(axis=0)
    assert (moved[:2] > 1e-3).all() == (base != "fixed")
    assert (moved[2] > 1e-3) == (base == "free")
    force = np.abs(run.observed["momentum"][:, :2]).max()
    assert (force < 1e-9) == (base != "fixed")


def test_a_spun_up_beam_lags_and_comes_back():
    scenario = kb.scenario("spinning-beam")
    run = kb.simulate(scenario.system, 20.0, stepper=SHARP)
    tip = run["beam.tip_deflection"]
    assert tip.min() == pytest.approx(-0.576, abs=5e-4)
    assert run.time[np.argmin(tip)] == pytest.approx(6.8, abs=0.05)
    assert np.abs(tip[run.time > 15.0]).max() < 5e-3
    assert run["rate(beam.angle)"][-1] == pytest.approx(6.0, abs=1e-12)


def test_without_foreshortening_a_spun_up_beam_diverges_and_says_so():
    system = kb.load("spinning-beam", foreshortening=False)
    with pytest.warns(DeformationWarning, match=r"spinning-beam: beam bends by .* of its length, past 0\.2 from t = 7"):
        run = kb.simulate(system, 12.0, stepper=SHARP)
    assert np.abs(run["beam.tip_deflection"]).max() > 100.0
