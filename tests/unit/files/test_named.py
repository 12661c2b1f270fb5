"""A machine is named by the catalogue or by a path; what leads nowhere is said in one line with near names."""

import pytest

import kalaba as kb
from kalaba.errors import FileError, KalabaError, ModelError
from kalaba.files import Described, Format, register
from kalaba.files.named import is_file, named
from kalaba.model import formats
from kalaba.model.formats import LeftOutWarning
from kalaba.model.options import OneOf, Option

ROBOT = """
import kalaba as kb
robot = kb.System("pendulum", parts=(kb.Body("rod", kb.Rod(0.5, mass=1.0), joint=kb.Revolute(kb.Y)),
                                     kb.Actuator("motor", "rod.angle"), kb.Parameter("stroke", 0.1)))
demo = kb.Scenario(robot, 0.5, control={"motor": "stroke*sin(t)"})
"""


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.py").write_text(ROBOT)
    return tmp_path / "my.py"


@pytest.fixture
def toy():
    """A kind of file from outside, with an option; it is forgotten afterwards."""

    def read(path, roots, *, base):
        part = kb.Body("rod", kb.Rod(1.0, mass=1.0), joint=kb.Free() if base == "free" else kb.Revolute(kb.Y))
        return Described(kb.System(path.stem, parts=(part,)), notes=(f"colours are left out: {len(roots)}",))

    register(Format("toy", (".toy",), read, options={"base": Option("fixed", OneOf(("fixed", "free")), "its base")}))
    yield
    del formats._FORMATS[".toy"]


def test_a_name_a_path_and_a_value_of_a_file_are_opened(file):
    assert kb.load("four-bar") == kb.load("four-bar", {})
    assert kb.load(file).name == kb.load("my.py").name == kb.load("my.py:robot").name == "pendulum"
    assert kb.scenario("my.py").control == {"motor": "stroke*sin(t)"}
    assert kb.scenario("my.py:robot").control is None  # a System alone is let go
    assert kb.scenario("my.py:robot").duration == 5.0


def test_parameters_and_the_duration_are_set(file):
    chosen = kb.scenario("my.py", {"stroke": 0.02, "rod.mass": 2.0}, duration=0.2)
    assert chosen.duration == 0.2
    assert dict(chosen.system.parameters) == {"stroke": 0.02, "rod.mass": 2.0}
    assert (
        kb.load("my.py", {"rod.mass": 3.0}).machine.parameters
        == named("my.py").system({"rod.mass": 3.0}).machine.parameters
    )
    assert kb.scenario("four-bar", duration=1).duration == 1.0
    with pytest.raises(ModelError, match=r"^my\.py\.duration: expected a number above 0 or 'own', got 0"):
        kb.scenario("my.py", duration=0)
    with pytest.raises(ModelError, match=r"^my\.py: no option 'duration'"):
        kb.load("my.py", duration=1.0)


def test_options_reach_the_reader_and_what_is_left_out_is_told_once(file, toy):
    file.with_name("arm.toy").touch()
    with pytest.warns(LeftOutWarning, match=r"^arm\.toy: colours are left out: 1$") as told:
        free = kb.load("arm.toy", base="free", roots=file.parent)
    assert [warning.filename for warning in told] == [__file__]  # the line that loads it
    assert len(free.machine.velocities) == 6
    with pytest.warns(LeftOutWarning):
        assert len(kb.load("arm.toy").machine.velocities) == 1
    with pytest.raises(ModelError, match=r"^arm\.toy\.base: expected 'fixed' or 'free', got 'afloat'; its base\.$"):
        kb.load("arm.toy", base="afloat")
    assert named("arm.toy").parameters  # asked for without a word of what is left out


@pytest.mark.parametrize(
    ("name", "kind", "words"),
    [
        ("mi.py", FileError, r"^mi\.py: no such file; did you mean my\.py\?"),
        ("nowhere/my.py", FileError, r"^nowhere/my\.py: no such file; "),
        ("four-baz", ModelError, r"^no machine 'four-baz' in the catalogue; did you mean four-bar"),
        ("my", ModelError, r"^no machine 'my' in the catalogue; did you mean my\.py"),
        ("my.pz", FileError, r"^my\.pz: no machine of the catalogue and no file; expected a file that ends in "),
        ("notes.txt", FileError, r"^notes\.txt: a file; expected a file that ends in "),
        ("my.py:robt", FileError, r"^my\.py: no 'robt' in it; did you mean robot\?"),
        ("my.py:kb", FileError, r"^my\.py: expected kb to be a kb\.System or a kb\.Scenario, got .*; "),
    ],
)
def test_what_leads_nowhere_is_said_with_near_names(file, name, kind, words):
    file.with_name("notes.txt").touch()
    with pytest.raises(kind, match=words) as caught:
        kb.load(name)
    assert "\n" not in str(caught.value)


def test_roots_must_be_folders(file):
    with pytest.raises(FileError, match=r"^roots: no folder nowhere\. Give folders that are there\.$"):
        kb.load("my.py", roots=("nowhere",))


def test_a_name_of_the_catalogue_is_no_file():
    assert not is_file("four-bar")
    assert is_file("my.py:robot")
    assert is_file("run.nc")
    assert not is_file("10.21656/1000-0887.420223")


def test_a_scenario_runs(file):
    scenario = kb.scenario("my.py")
    run = scenario.run()
    assert run.time[-1] == pytest.approx(0.5)
    same = kb.simulate(scenario)
    assert (same.q == run.q).all()
    short = kb.simulate(scenario, 0.1, save_every=0.05, control={"motor": 0.0})
    assert len(short.time) == 3
    assert not short.actuation.any()
    assert run.system == scenario.system


def test_a_format_that_is_only_written_is_not_read(tmp_path):
    register(Format("ink", (".ink",), write=lambda _, __: ()))
    try:
        (tmp_path / "a.ink").touch()
        with pytest.raises(KalabaError, match="ink files are written only"):
            kb.load(tmp_path / "a.ink")
    finally:
        del formats._FORMATS[".ink"]
