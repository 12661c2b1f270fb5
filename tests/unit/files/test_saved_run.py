"""A saved run is a machine too: it can be loaded, checked, run again and exported."""

from dataclasses import replace

import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.run.again import from_words, made, scenario_of
from kalaba.steppers import KINDS
from unit.results.samples import small_run


@pytest.mark.parametrize("suffix", [".nc", ".csv", ".parquet"])
def test_a_saved_run_gives_its_machine_and_runs_again(tmp_path, suffix):
    scenario = replace(kb.scenario("four-bar", {"crank.mass": 0.5}), duration=0.2, stepper=kb.RungeKutta4(2e-3))
    run = scenario.run()
    path = run.save(tmp_path / f"run{suffix}")
    assert kb.load(path) == scenario.system == run.system
    again = kb.scenario(path)
    assert (again.duration, again.stepper, again.save_every) == (0.2, kb.RungeKutta4(2e-3), 0.01)
    assert (again.run().q == run.q).all()


def test_a_run_that_began_elsewhere_holds_its_machine_but_no_scenario(tmp_path):
    run = kb.simulate(kb.load("four-bar"), 0.05)
    path = kb.simulate(run.plant, 0.05, start=run.end).save(tmp_path / "onward.nc")
    assert kb.load(path) == run.system
    with pytest.raises(FileError, match=r"onward\.nc: the run began elsewhere than its machine does"):
        kb.scenario(path)


def test_a_run_of_functions_holds_its_machine_but_no_scenario(tmp_path):
    run = small_run()
    path = run.save(tmp_path / "run.nc")
    assert kb.load(path).name == "sample"
    with pytest.raises(FileError, match=r"a file holds no Python functions, which gust had"):
        kb.scenario(path)
    simple = kb.simulate(kb.load("four-bar"), 0.02)
    driven = replace(simple, effort=replace(simple.effort, settings={"control": "Servo(goals=(Follow(…),))"}))
    with pytest.raises(kb.KalabaError, match=r"keeps its control in words alone: Servo\(goals"):
        scenario_of(driven)


def test_a_run_of_a_controller_is_run_again_from_its_file(tmp_path):
    scenario = kb.scenario("pus-upu", duration=0.02)
    run = scenario.run()
    again = kb.scenario(run.save(tmp_path / "servo.nc"))
    assert type(again.control) is type(scenario.control) is kb.control.Servo
    assert (again.run().q == run.q).all()
    copy = kb.open_run(tmp_path / "servo.nc").save(tmp_path / "copy.nc")  # a file that is saved again keeps the law
    assert kb.scenario(copy).control == again.control


def test_every_stepper_is_read_back_from_its_words():
    for kind in KINDS:
        assert from_words(kind().words, KINDS) == kind()
    for text in (
        "",
        "Mine(step=1)",
        "RungeKutta4(step=open('x'))",
        "RungeKutta4(0.1)",
        "1 +",
        "RungeKutta4(steep=1.0)",
    ):
        assert from_words(text, KINDS) is None


def test_how_a_run_was_made_is_read_from_the_run_itself():
    run = kb.scenario("four-bar").run(0.02)
    assert made(run).start is None
    assert made(run).control == {"motor": "0.2*(10 - rate(crank.angle))"}
