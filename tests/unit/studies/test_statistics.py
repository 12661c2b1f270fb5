"""Statistics of studies agree with closed forms; searches find what is known to be the worst."""

import dataclasses
import os
import sys

import numpy as np
import pandas as pd
import pytest

import kalaba as kb
from kalaba.studies.sensitivities import sensitivities
from unit.studies.oscillator import AT, STIFFNESS, deadly, fastest, study

A, B = 7.0, 0.1  # of Ishigami's function sin x + A sin² y + B z⁴ sin x, each uniform in ±π
VARIANCE = A**2 / 8 + B * np.pi**4 / 5 + B**2 * np.pi**8 / 18 + 0.5
FIRST = np.array([0.5 * (1 + B * np.pi**4 / 5) ** 2, A**2 / 8, 0.0]) / VARIANCE
TOTAL = FIRST + np.array([1, 0, 1]) * 8 * B**2 * np.pi**8 / 225 / VARIANCE
ISHIGAMI = f"sin(x) + {A}*sin(y)^2 + {B}*z^4*sin(x) + 0*final(t)"


def ishigami(base):
    around = kb.uniform(-np.pi, np.pi)
    return kb.Study(
        "four-bar", dict.fromkeys("xyz", around), {"f": "final(t)"}, sampling=kb.studies.SobolIndices(base), seed=1
    )


def values_of(design):
    x, y, z = design.T
    return np.sin(x) + A * np.sin(y) ** 2 + B * z**4 * np.sin(x)


def test_indices_are_those_of_ishigamis_function():
    one = ishigami(16384)
    table = pd.DataFrame(one.design, columns=list("xyz")).assign(f=values_of(one.design))
    found = sensitivities(one, table, ("f",)).loc["f"]
    assert found["first"].to_numpy() == pytest.approx(FIRST, abs=0.01)
    assert found["total"].to_numpy() == pytest.approx(TOTAL, abs=0.01)
    assert set(found["samples"]) == {16384 * 5}


def test_points_of_which_a_value_is_missing_are_left_out_of_all_sets():
    one = ishigami(4096)
    table = pd.DataFrame(one.design, columns=list("xyz")).assign(f=values_of(one.design))
    table.loc[::701, "f"] = np.nan
    found = sensitivities(one, table, ("f",)).loc["f"]
    assert found["first"].to_numpy() == pytest.approx(FIRST, abs=0.03)
    assert set(found["samples"]) == {2048 * 5}
    table["f"] = np.nan
    assert sensitivities(one, table, ("f",)).loc["f", "first"].isna().all()


def test_indices_of_a_study_that_is_run_are_those_of_its_measure(tmp_path):
    """Ishigami's function as a measure of parameters of a machine."""
    system = study().scenario.system.add(*(kb.Parameter(name, 0.5) for name in "xyz"))
    around = kb.uniform(-np.pi, np.pi)
    one = kb.Study(
        system,
        dict.fromkeys("xyz", around),
        {"f": ISHIGAMI},
        sampling=kb.studies.SobolIndices(64),
        seed=1,
        duration=0.02,
        stepper=kb.RungeKutta4(0.01),
    )
    results = one.run(tmp_path, workers=1)
    assert results.table["f"].to_numpy() == pytest.approx(values_of(one.design), abs=1e-12)
    found = results.sensitivities.loc["f"]
    assert found["total"].to_numpy() == pytest.approx(TOTAL, abs=0.2)  # 64 points are few
    assert found["first"].to_numpy() == pytest.approx(FIRST, abs=0.2)


def test_the_mean_of_a_measure_is_that_of_its_distribution(tmp_path):
    """E[x0 sqrt(k/m)] over m uniform in (1, 3) is x0 sqrt(k) (sqrt 3 - 1); its mean square x0² k ln 3 / 2."""
    results = study(128, sampling=kb.studies.LatinHypercube()).run(tmp_path, workers=1)
    spread = results.summary.loc["speed"]
    mean = AT * np.sqrt(STIFFNESS) * (np.sqrt(3) - 1)
    # strata leave 1/128 of the variable's spread to chance, and peaks are missed by 6e-4 at most
    assert spread["mean"] == pytest.approx(mean, rel=2e-3)
    deviation = np.sqrt(AT**2 * STIFFNESS * np.log(3) / 2 - mean**2)
    assert spread["std"] == pytest.approx(deviation, rel=2e-2)


def test_rank_correlations_of_what_is_monotonic_are_one(tmp_path):
    vary = {"mass.mass": kb.uniform(1, 3), "mass.size.x": kb.uniform(0.1, 0.2)}
    found = study(24, vary=vary).run(tmp_path, workers=1).sensitivities["rank_correlation"]
    assert found["speed", "mass.mass"] == pytest.approx(-1.0, abs=1e-12)
    assert abs(found["speed", "mass.size.x"]) < 0.7  # of 24 samples, by chance, in one of 10,000


@pytest.mark.parametrize(("smallest", "mass"), [(False, 1.0), (True, 3.0)])
def test_the_search_finds_the_lightest_and_the_heaviest_mass(smallest, mass):
    found = study().search("speed", smallest=smallest, evaluations=100, workers=1)
    # the largest speed changes by 17 to 50 percent per kg; the search ends within a few percent of the range
    assert found.values["mass.mass"] == pytest.approx(mass, abs=0.1)
    assert found.value == pytest.approx(fastest(found.values["mass.mass"]), rel=6e-4)
    assert found.evaluations <= 100
    assert found.run.status.ending.value == "done"
    assert np.abs(found.run["rate(mass.travel)"]).max() == found.value


def test_processes_search_as_this_process_does_and_failures_are_never_the_worst(monkeypatch):
    one = study(vary={"mass.mass": kb.uniform(-1.0, 3.0)})
    here = one.search("speed", smallest=True, evaluations=32, workers=1)
    assert here.failed > 0
    assert here.value > 0
    assert one.search("speed", smallest=True, evaluations=32, workers=2).values == here.values
    with pytest.raises(kb.KalabaError, match="none of 16 runs has a speed"):
        study(vary={"mass.mass": kb.choice([-1.0])}).search("speed", evaluations=16, workers=1)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    deadly_one = study(vary={"mass.mass": kb.choice([2.95])}, measure={"x": deadly})
    with pytest.raises(kb.KalabaError, match="a worker process died"):
        deadly_one.search("x", evaluations=8, workers=2)
    with pytest.raises(kb.KalabaError, match="did you mean speed"):
        dataclasses.replace(one, seed=2).search("sped")
