"""A type checker and an editor see the real type of every public name, and take what people write."""

import ast
import inspect
import json
import re
import runpy
import subprocess
import sys
import textwrap
from dataclasses import MISSING, fields, is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import kalaba as kb

ROOT = Path(__file__).resolve().parents[2]
ROOMS = tuple(name for name in kb.__all__ if isinstance(getattr(kb, name), ModuleType))
BOXES = ("System", "Equations", "Plant", "Run")  # what people hold in their hands: their members count too
SCRIPT = Path(__file__).with_name("user_script.py")
FIRST = 3  # line of a script that shows the first name
# Names whose type means anything by `Any`, with the reason.
ANYTHING = {
    "Equations.steps": "each method's own, matrices or lists of them",
    "Plant.output": "a float at one state, an array of one number per state in a batch",
    "joints.direction": "a dataclass field, whose type is that of its class",
    "view.Studio.__init__": "the server is viser's, an extra that need not be installed",
}
# A line that is wrong each, for a checker that would find nothing in the script of `user_script.py` either.
MISTAKES = """import kalaba as kb

kb.Solid()
kb.Rod(0.3, mass=1.0, axis="x")
kb.Connection("pin", "rocker.tip", at=0.45)
kb.Revolute(kb.Z, limits=1.0)
kb.Start(hold={"crank": None})
kb.Constraint("shut", 3)
kb.Sampled(lambda t: [t], rate=100.0)
kb.simulate("four-bar", 1.0)
kb.LeastSquares(weights=1.0)
"""


def names() -> list[str]:
    """Every public name as a user writes it, the rooms' own names, constructors and the boxes' members included."""
    below = [f"{room}.{name}" for room in ROOMS for name in getattr(kb, room).__all__]
    members = [f"{box}.{name}" for box in BOXES for name in vars(getattr(kb, box)) if name[0] != "_"]
    return [*kb.__all__, *below, *members, *(f"{name}.__init__" for name in classes())]


def classes() -> dict[str, type]:
    """Public classes, those of the rooms included, under the first of their names."""
    shown = {name: getattr(kb, name) for name in kb.__all__}
    shown |= {f"{room}.{name}": getattr(shown[room], name) for room in ROOMS for name in shown[room].__all__}
    first = {value: name for name, value in reversed(shown.items()) if isinstance(value, type)}
    return {name: value for value, name in first.items()}


def expression(name: str) -> str:
    """A name as a script reads it: members of the boxes from a value, so that properties show what they give."""
    first, _, member = name.partition(".")
    return name if first in BOXES and member not in {"", "__init__"} else f"kb.{name}"


@pytest.fixture(scope="module")
def script(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("user") / "script.py"
    boxes = ", ".join(f"{box}: kb.{box}" for box in BOXES)
    shown = "".join(f"    reveal_type({expression(name)})\n" for name in names())
    path.write_text(f"import kalaba as kb\ndef look({boxes}) -> None:\n{shown}", "utf-8")
    return path


def mypy(path: Path, *options: str) -> str:
    """What mypy says of a file, with no settings but those given."""
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--config-file=", "--follow-imports=silent"]
    said = subprocess.run([*command, *options, str(path)], capture_output=True, text=True, check=False, cwd=path.parent)
    return said.stdout


def pyright(path: Path) -> list[dict[str, Any]]:
    """What pyright says of a file."""
    checker = Path(sys.executable).with_name("basedpyright")
    if not checker.exists():
        pytest.skip("basedpyright is a tool of development")
    command = [str(checker), "--outputjson", "--pythonpath", sys.executable, str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=False, cwd=path.parent)
    return json.loads(said.stdout)["generalDiagnostics"]


def errors(said: list[dict[str, Any]]) -> dict[int, str]:
    """The errors among what pyright says, by line."""
    return {entry["range"]["start"]["line"] + 1: entry["message"] for entry in said if entry["severity"] == "error"}


def test_mypy_knows_every_name(script: Path):
    said = mypy(script)
    types = re.findall(r'Revealed type is "(.*)"', said)
    assert ": error:" not in said, said
    assert len(types) == len(names())
    assert [name for name, kind in zip(names(), types, strict=True) if kind in {"Any", "types.ModuleType | Any"}] == []


def test_pyright_sees_no_any_in_a_public_type(script: Path):
    revealed = [entry for entry in pyright(script) if entry["severity"] == "information"]
    types = {names()[entry["range"]["start"]["line"] + 1 - FIRST]: entry["message"] for entry in revealed}
    assert set(types) == set(names())
    loose = {name for name, text in types.items() if re.search(r"\b(Any|Unknown)\b", _without_shapes(text))}
    assert loose - set(ANYTHING) == set()
    assert set(ANYTHING) - loose == set()  # a reason that is no longer needed goes


@pytest.fixture(scope="module", params=["README.md", "user_script.py"])
def written(request, tmp_path_factory) -> Path:
    """What people write, in a directory of its own: this repository's settings are not theirs."""
    path = tmp_path_factory.mktemp("written") / "script.py"
    text = SCRIPT.read_text("utf-8")
    if request.param == "README.md":
        blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "README.md").read_text("utf-8"), re.MULTILINE | re.DOTALL)
        text = "\n".join(blocks)
    assert "kb.simulate(" in text
    path.write_text(text, "utf-8")
    return path


def test_mypy_accepts_what_people_write(written: Path):
    assert "Success" in (said := mypy(written, "--strict")), said


def test_pyright_accepts_what_people_write(written: Path):
    assert errors(pyright(written)) == {}


def test_what_people_write_runs():
    systems = [value for value in runpy.run_path(str(SCRIPT)).values() if isinstance(value, kb.System)]
    assert {system.name for system in systems} >= {"four-bar", "dual", "platform", "bent"}


def test_mistakes_are_found(tmp_path: Path):
    path = tmp_path / "mistakes.py"
    path.write_text(MISTAKES, "utf-8")
    wrong = set(range(FIRST, len(MISTAKES.splitlines()) + 1))
    assert {int(line) for line in re.findall(r"mistakes.py:(\d+): error:", mypy(path))} == wrong
    assert set(errors(pyright(path))) == wrong


def written_constructor(kind: type) -> ast.FunctionDef | None:
    """The last `__init__` under `if TYPE_CHECKING` of a class: with overloads, the one that they are of."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(kind))).body[0]
    guarded = [part for part in tree.body if isinstance(part, ast.If) and ast.unparse(part.test) == "TYPE_CHECKING"]
    found = [part for block in guarded for part in block.body if getattr(part, "name", "") == "__init__"]
    return found[-1] if found else None


def constructors() -> list[str]:
    """Public dataclasses whose constructor is written out for type checkers, because it takes more than the fields."""
    return [name for name, kind in classes().items() if is_dataclass(kind) and written_constructor(kind) is not None]


def test_some_constructors_are_written_out():
    assert {"System", "Body", "Start", "Revolute", "Beam"} <= set(constructors())


@pytest.mark.parametrize("name", constructors())
def test_awritten_constructor_is_that_of_the_dataclass(name: str):
    """The names, their order and their defaults."""
    kind = classes()[name]
    arguments = written_constructor(kind).args
    rest = arguments.args[1:]
    defaults = [MISSING] * (len(rest) - len(arguments.defaults))
    defaults += [eval(ast.unparse(default), vars(sys.modules[kind.__module__])) for default in arguments.defaults]
    made = [field for field in fields(kind) if field.init]
    assert [argument.arg for argument in rest] == [field.name for field in made]
    assert defaults == [
        field.default if field.default_factory is MISSING else field.default_factory() for field in made
    ]


def _without_shapes(text: str) -> str:
    """What a checker says of a type, without shapes and types of arrays that NumPy itself leaves open."""
    return re.sub(r"tuple\[Any, \.\.\.\]|dtype\[Any\]", "open", text.partition(" is ")[2])
