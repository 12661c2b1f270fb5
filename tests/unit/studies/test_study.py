"""A sample depends on the study and its number alone; results are those of single runs, to the bit."""

import json
import pickle
import warnings

import numpy as np
import pytest

import kalaba as kb
from kalaba.studies.evaluate import Chunk, evaluate
from kalaba.studies.running import chunk_size
from unit.studies.oscillator import SPEED, fastest, files, machine, parameter, study


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    return study().run(tmp_path_factory.mktemp("study") / "results", workers=1)


def test_measures_agree_with_the_closed_form(results):
    # samples lie 0.01 s apart and ω is at most 6.4 /s: the largest speed is missed by (ω Δt / 2)²/2 of it at most
    assert results.table["speed"].to_numpy() == pytest.approx(fastest(results.table["mass.mass"]), rel=6e-4)
    assert list(results.table.columns) == ["mass.mass", "speed", "status", "end", "error"]
    assert list(results.table.index) == list(range(40))
    assert set(results.table["status"]) == {"done"}
    assert results.is_complete
    assert results.failed.empty


def test_a_case_is_the_sample_again_to_the_bit(results):
    for run in (results.case(17), kb.open_study(results.path).case(17), study().case(17)):
        assert parameter(run, "mass.mass") == results.table.loc[17, "mass.mass"]
        assert np.abs(run["rate(mass.travel)"]).max() == results.table.loc[17, "speed"]
        assert run.accuracy.words  # judged, as `simulate` judges


def test_samples_are_runs_of_simulate_to_the_bit():
    one = study()
    values = one.values(3)
    run = kb.simulate(machine().with_parameters(values), 3.0, stepper=kb.RungeKutta4(0.01))
    bare = one.simulated(values)
    for name in ("time", "q", "v", "acceleration", "work"):
        assert getattr(run, name).tobytes() == getattr(bare, name).tobytes()


def test_borders_of_chunks_do_not_matter(results):
    one = study().resolved
    tables = [
        evaluate(one, Chunk(0, first, one.design[first : first + size])) for first, size in ((0, 1), (1, 7), (8, 32))
    ]
    rows = [row for table in tables for row in table.to_pylist()]
    whole = results.folder.read().to_pylist()
    assert rows == whole


def test_a_study_pickles_as_its_fields():
    one = study()
    assert one.design.size
    copy = pickle.loads(pickle.dumps(one))
    assert copy == one
    assert "design" not in vars(copy)
    assert copy.design.tobytes() == one.design.tobytes()


def test_a_study_of_a_name_is_that_of_its_scenario(tmp_path):
    usual = {"vary": {"crank.mass": kb.choice([0.2, 0.3])}, "measure": {"m": "peak(motor)"}, "duration": 0.05}
    by_name = kb.Study("four-bar", **usual).run(tmp_path / "a", workers=1)
    by_scenario = kb.Study(kb.scenario("four-bar"), **usual).run(tmp_path / "b", workers=1)
    assert [path.read_bytes() for path in by_name.path.iterdir()] == [
        p.read_bytes() for p in by_scenario.path.iterdir()
    ]
    assert by_name.study.case(1)["motor"].max() == by_name.table.loc[1, "m"]
    assert kb.open_study(by_name.path).case(1)["motor"].max() == by_name.table.loc[1, "m"]


def test_what_the_machine_does_not_know_is_refused_before_anything_is_run(tmp_path):
    for more, words in (
        ({"vary": {"mass.mas": kb.uniform(1, 2)}}, "did you mean mass.mass"),
        ({"measure": {"speed": "peak(mass.travl)"}}, "did you mean mass.travel"),
        ({"duration": None}, "expected Study.duration"),
    ):
        with pytest.raises(kb.KalabaError, match=words):
            study(**more).run(tmp_path / "results", workers=1)
    with pytest.raises(kb.KalabaError, match="did you mean four-bar"):
        kb.Study("fourbar", {"a": kb.uniform(0, 1)}, {"x": "final(t)"}).run(tmp_path / "results")


def test_samples_that_fail_are_recorded_and_do_not_stop_the_rest(tmp_path):
    """A negative mass is refused, a stiff spring diverges, a measure raises; the others are as they were."""

    def measured(run):
        return 1.0 / (parameter(run, "spring.stiffness") - 30.0)

    one = study(
        samples=None,
        vary={"mass.mass": kb.choice([-1.0, 2.0]), "spring.stiffness": kb.choice([20.0, 30.0, 1e9])},
        measure={"speed": SPEED, "bad": measured},
    )
    results = one.run(tmp_path / "results", workers=1)
    table = results.table
    assert list(table["status"]) == ["refused"] * 3 + ["done", "unmeasured", table["status"][5]]
    assert table["status"][5] in {"not finite", "residual growth"}
    assert "mass" in table["error"][0]
    assert "ZeroDivisionError" in table["error"][4]
    assert "stopped at t" in table["error"][5]
    assert table["speed"].notna().tolist() == [False] * 3 + [True, False, False]
    assert list(results.failed.index) == [0, 1, 2, 4, 5]
    assert table.loc[5, "spring.stiffness"] == 1e9
    assert results.summary.loc["speed", "count"] == 1
    assert list(results.worst().index) == [3]
    assert results.case(5).status.failed


def test_structural_numbers_may_vary_and_are_told_once(tmp_path):
    """A position of 0 is no symbol of the compiled code, one of 0.1 is."""
    arm = kb.Body("arm", kb.Rod(0.5, 1.0), joint=kb.Revolute(kb.Y))
    system = kb.System("arm", (arm, kb.Frame("tool", "arm", at=(0.3, 0, 0))))
    one = kb.Study(system, {"tool.at.y": kb.choice([0.1, 0.2])}, {"y": "final(tool.y)"}, duration=0.1)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        table = one.run(tmp_path / "results", workers=1).table
    assert (table["error"] == "").all()
    assert table["y"].to_numpy() == pytest.approx([0.1, 0.2])
    assert len([one for one in said if issubclass(one.category, kb.plant.RebuildWarning)]) == 1


def test_worst_are_the_largest_and_smallest(results):
    assert list(results.worst(3)["speed"]) == sorted(results.table["speed"])[:-4:-1]
    assert list(results.worst(3, "speed", smallest=True)["speed"]) == sorted(results.table["speed"])[:3]
    with pytest.raises(kb.KalabaError, match="did you mean speed"):
        results.worst(3, "sped")


def test_progress_is_told_from_none_to_all(tmp_path):
    seen = []
    study(10).run(tmp_path / "results", workers=1, progress=seen.append)
    assert (seen[0].done, seen[0].left, seen[-1].done, seen[-1].count) == (0, None, 10, 10)
    spread = seen[-1].measures["speed"]
    values = kb.open_study(tmp_path / "results").table["speed"].to_numpy()
    assert spread == pytest.approx((10, values.mean(), values.std(), values.min(), values.max()))


def test_the_manifest_is_json_that_says_which_study_it_is(results):
    manifest = json.loads((results.path / "study.json").read_text())
    assert manifest["study"]["vary"] == {"mass.mass": {"kind": "Uniform", "low": 1.0, "high": 3.0}}
    assert manifest["study"]["measure"] == {"speed": SPEED}
    assert (manifest["samples"], manifest["study"]["seed"], manifest["name"]) == (40, 7, "oscillator")
    assert manifest["chunks"] == len(files(results.path))


def test_a_study_is_made_again_of_its_manifest(results):
    opened = kb.open_study(results.path).study
    assert (opened.vary, opened.measure, opened.seed, opened.count) == (study().vary, study().measure, 7, 40)
    assert opened.scenario == study().scenario


@pytest.mark.parametrize(("seconds", "size"), [(1e-9, 2500), (0.001, 2000), (0.1, 20), (1.0, 2), (60.0, 1)])
def test_a_chunk_takes_seconds_and_every_process_has_several(seconds, size):
    assert chunk_size(100_000, seconds, 10) == min(size, 2500)
    assert chunk_size(8, seconds, 2) == 1
