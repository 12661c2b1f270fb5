"""Every command takes a file in place of a name of the catalogue, and a saved run in place of a machine."""

import json

import pytest

import kalaba as kb
from kalaba.cli.application import invoke

ROBOT = """
import kalaba as kb
robot = kb.System("pendulum", parts=(kb.Body("rod", kb.Rod(0.5, mass=1.0), joint=kb.Revolute(kb.Y)),
                                     kb.Actuator("motor", "rod.angle"), kb.Parameter("push", 0.1)))
demo = kb.Scenario(robot, 0.5, control={"motor": "push*sin(t)"})
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A Python file with a machine, and a saved run of it."""
    place = tmp_path_factory.mktemp("mine")
    (place / "my.py").write_text(ROBOT)
    (place / "other.py").write_text(ROBOT.replace("mass=1.0", "mass=2.0"))
    kb.scenario(place / "my.py").run().save(place / "run.nc")
    return place


@pytest.fixture(autouse=True)
def there(folder, monkeypatch):
    monkeypatch.chdir(folder)


def asked(capsys, *arguments) -> str:
    assert invoke(arguments) == 0
    captured = capsys.readouterr()
    assert captured.err == ""
    return captured.out


@pytest.mark.parametrize("name", ["my.py", "my.py:robot", "run.nc"])
def test_show_check_and_derive_take_files(capsys, name):
    out = asked(capsys, "show", name)
    assert "pendulum: " in out
    assert "rod.mass" in out
    assert f"source: {name}" in out
    assert "freedoms: 1" in asked(capsys, "check", name)
    assert "pendulum: " in asked(capsys, "derive", name, "--method", "kane")


def test_run_takes_files_with_parameters_and_the_numbers_of_its_laws(capsys):
    printed = json.loads(asked(capsys, "run", "my.py", "--json", "--set", "push=0.4", "--set", "duration=0.2"))
    assert printed["name"] == "pendulum"
    assert printed["simulated"] == pytest.approx(0.2)
    usual = json.loads(asked(capsys, "run", "my.py", "--json", "--duration", "0.2"))
    assert printed["actuation"]["value"] == pytest.approx(4 * usual["actuation"]["value"], rel=1e-12)  # push is linear


def test_a_saved_run_is_run_again_with_other_numbers(capsys):
    kb.scenario("my.py").run().save("saved.nc")
    asked(capsys, "run", "saved.nc", "--set", "rod.mass=2", "-o", "again.nc", "--quiet")
    expected = kb.scenario("other.py").run()
    assert kb.open_run("again.nc").q[-1] == pytest.approx(expected.q[-1], abs=1e-12)  # the same code and steps


@pytest.mark.parametrize(
    ("flag", "value", "words"),
    [
        ("--stabilisation", "baumgarte", "Baumgarte(frequency=50.0, damping=1.0)"),
        ("--stabilisation", "none", "NoStabilisation()"),
        ("--save-every", "0.1", "0.1"),
    ],
)
def test_numerics_of_a_run_are_chosen(capsys, flag, value, words):
    asked(capsys, "run", "four-bar", "--duration", "0.2", flag, value, "-o", "chosen.nc", "--quiet")
    assert words in kb.open_run("chosen.nc").effort.settings.values()


def test_the_solver_is_chosen(capsys):
    asked(
        capsys, "run", "four-bar", "--duration", "0.02", "--solver", "kkt", "--step", "0.01", "-o", "kkt.nc", "--quiet"
    )
    assert kb.open_run("kkt.nc").plant.solver == kb.KKT()


def test_files_are_compared(capsys):
    printed = json.loads(asked(capsys, "compare", "my.py", "other.py", "--duration", "0.2", "--json"))
    assert [variant["values"] for variant in printed["variants"]] == [{"machine": "my.py"}, {"machine": "other.py"}]
    first, second = printed["variants"]
    assert first["peaks"]["rod.angle"] > second["peaks"]["rod.angle"]  # the push drives the lighter one farther
    assert invoke(["compare", "my.py", "my.py"]) == 2
    assert "my.py is named twice" in capsys.readouterr().err
    assert invoke(["compare", "my.py"]) == 2
    assert "Or name a second machine" in capsys.readouterr().err


def test_report_view_and_export_take_files(capsys):
    asked(capsys, "report", "my.py", "-o", "report.html", "--quiet", "--step", "0.01")
    asked(capsys, "report", "run.nc", "-o", "report.html", "--quiet")
    assert invoke(["report", "run.nc", "--solver", "kkt"]) == 2
    assert "--solver kkt: run.nc is a run that was made" in capsys.readouterr().err
    asked(capsys, "view", "my.py:robot", "--duration", "0.1", "-o", "still.png")
    for name in ("my.py", "run.nc"):
        for suffix in (".tex", ".py", ".c"):
            assert "written: " in asked(capsys, "export", name, "-o", f"exported{suffix}")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("show", "mi.py"), "mi.py: no such file; did you mean my.py"),
        (("run", "my.py:demmo"), "my.py: no 'demmo' in it; did you mean demo?"),
        (
            ("check", "my.py", "--set", "pusch=1"),
            "--set pusch=1: my.py has no option or parameter 'pusch'; did you mean push",
        ),
        (("run", "my.py", "--loops", "x.yaml"), "--loops x.yaml: my.py has no option 'loops'; "),
        (("check", "my.py", "--root", "nowhere"), "roots: no folder nowhere."),
    ],
)
def test_what_is_wrong_is_one_line(capsys, arguments, words):
    assert invoke(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1
    assert words in captured.err
