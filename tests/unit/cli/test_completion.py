"""Shell completion: what it offers, in a real bash, and that it is quick."""

import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kalaba.cli.choices import machine_names, names_and_files, run_files
from kalaba.robots.catalogue import ENTRIES

COMMAND = Path(sys.executable).with_name("kalaba")


def completed(words: str, folder: Path) -> list[str]:
    """What the installed command offers for the last word of a line, as bash asks it."""
    asked = {"_KALABA_COMPLETE": "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(len(words.split(" ")) - 1)}
    code = "from kalaba.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | asked, cwd=folder, capture_output=True, text=True, check=True
    )
    return ran.stdout.split()


def test_the_names_offered_are_those_of_the_catalogue():
    assert machine_names("") == list(ENTRIES)
    assert machine_names("two-arm-s") == ["two-arm-scissors", "two-arm-screw"]


def test_runs_and_folders_are_offered(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    (tmp_path / ".hidden.nc").touch()
    for name in ("run.nc", "table.csv", "notes.txt", "runs/one.parquet", "runs/two.nc"):
        (tmp_path / name).touch()
    assert run_files("") == ["run.nc", "runs/", "table.csv"]
    assert run_files("ru") == ["run.nc", "runs/"]
    assert run_files("runs/t") == ["runs/two.nc"]
    assert run_files(f"{tmp_path}/r") == [f"{tmp_path}/run.nc", f"{tmp_path}/runs/"]
    assert run_files("nowhere/") == []
    assert names_and_files("t") == [*machine_names("t"), "table.csv"]


def test_the_shell_is_offered_commands_machines_and_values(tmp_path):
    assert "compare" in completed("kalaba ", tmp_path)
    assert completed("kalaba run four", tmp_path) == ["four-bar"]
    assert completed("kalaba run four-bar --stepper r", tmp_path) == ["rk4", "radau"]
    assert completed("kalaba run four-bar --qu", tmp_path) == ["--quiet"]


@pytest.mark.parametrize(("command", "words"), [("plot", ["run.nc"]), ("report", ["run.nc"]), ("view", ["run.nc"])])
def test_the_shell_is_offered_saved_runs(tmp_path, command, words):
    for name in ("run.nc", "run.txt"):
        (tmp_path / name).touch()
    assert completed(f"kalaba {command} run", tmp_path) == words


def test_completion_loads_nothing_heavy_and_takes_less_than_half_a_second(tmp_path):
    """Processor time, which other work on the machine does not lengthen; a person notices half a second."""
    heavy = "{'numpy', 'casadi', 'numba', 'scipy', 'xarray', 'matplotlib', 'viser'}"
    code = f"import atexit, sys; atexit.register(lambda: print(sorted({heavy} & set(sys.modules)), file=sys.stderr))\n"
    asked = {"_KALABA_COMPLETE": "complete_bash", "COMP_WORDS": "kalaba run ", "COMP_CWORD": "2"}
    took = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        ran = subprocess.run(
            [sys.executable, "-c", code + "from kalaba.cli import main; main()"],
            env=os.environ | asked,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        took.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        assert ran.stdout.split() == list(ENTRIES)
        assert ran.stderr.strip() == "[]"
    assert min(took) < 0.5


@pytest.mark.skipif(shutil.which("bash") is None or not COMMAND.exists(), reason="needs bash and the installed command")
def test_a_bash_that_has_the_script_completes_a_machine():
    script = subprocess.run(
        [COMMAND, "--show-completion", "bash"],
        env=os.environ | {"_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    ask = f"{script}\nCOMP_WORDS=(kalaba run benn)\nCOMP_CWORD=2\n_kalaba_completion {COMMAND}\necho ${{COMPREPLY[@]}}"
    ran = subprocess.run(["bash", "-c", ask], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "bennett"
