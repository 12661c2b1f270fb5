"""Whatever a command writes to: a terminal of any encoding, a closed stream, a reader that leaves, a full disk."""

import os
import subprocess
import sys

import pytest

COMMAND = (sys.executable, "-c", "from kalaba.cli import main; main()")
LINES = [["list"], ["derive", "four-bar"], ["show", "four-bar"], ["papers", "Sun"], ["--help"]]


def told(line, redirection, **environment):
    """Exit code and stderr of a command line in a shell with a redirection."""
    script = f'"$@" {redirection}'
    done = subprocess.run(
        ["/bin/sh", "-c", script, "sh", *COMMAND, *line],
        capture_output=True,
        env=os.environ | environment,
        check=False,
        timeout=120,
    )
    return done.returncode, done.stdout, done.stderr.decode("ascii", "replace")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_a_terminal_that_is_not_utf_8_gets_what_it_can_show(line, encoding):
    environment = {"PYTHONIOENCODING": encoding, "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "LC_ALL": "C"}
    code, written, said = told(line, "", **environment)
    assert (code, said) == (0, "")
    assert written.decode(encoding)


def test_what_such_a_terminal_cannot_show_is_written_as_its_number():
    _, whole, _ = told(["derive", "four-bar"], "", PYTHONIOENCODING="utf-8")
    _, plain, _ = told(["derive", "four-bar"], "", PYTHONIOENCODING="ascii")
    dot = "\N{COMBINING DOT ABOVE}"
    assert whole.decode().count(dot) == plain.count(dot.encode("ascii", "backslashreplace")) > 0


@pytest.mark.parametrize("redirection", [">&-", ">&- 2>&-", "<&- >&-"])
@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_a_closed_stdout_is_no_problem(line, redirection):
    assert told(line, redirection) == (0, b"", "")


def test_a_file_is_whole_where_stdout_is_closed(tmp_path):
    import kalaba as kb

    path = tmp_path / "run.nc"
    assert told(["run", "four-bar", "--duration", "0.1", "-o", str(path)], ">&-") == (0, b"", "")
    assert kb.open_run(path).time[-1] == pytest.approx(0.1)


@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_a_reader_that_leaves_hears_no_complaint(line):
    _, first, said = told(line, "| head -1")
    assert first.count(b"\n") == 1
    assert said == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full here")  # noqa: PTH110
@pytest.mark.parametrize("line", LINES, ids=" ".join)
def test_a_full_disk_behind_stdout_is_one_line(line):
    code, _, said = told(line, "> /dev/full")
    assert code == 2
    assert said.endswith("No space left on device\n")
    assert said.count("\n") == 1
