"""Code and output in the documentation: fenced blocks of a Markdown file, and how they are run."""

import io
import re
import shlex
import warnings
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from kalaba import load
from kalaba.cli.application import invoke
from kalaba.model.formats import LeftOutWarning

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TINY = re.compile(
    r"-?\d(\.\d+)?e-1\d.*"
)  # rounding differs between processors, and so does the row where it is largest
WALL = re.compile(r"in \d[\d.e-]* s, ")  # how long a run took
WANTED = 0  # exit code of a command that is shown


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block: its language, its text, and the line it starts on."""

    page: str
    language: str
    text: str
    line: int

    @property
    def label(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(path: Path) -> list[Block]:
    """All fenced blocks of a page, in order."""
    text, page = path.read_text(encoding="utf-8"), str(path.relative_to(ROOT))
    return [Block(page, found[1], found[2], text.count("\n", 0, found.start()) + 2) for found in FENCE.finditer(text)]


def run_page(page: Path, folder: Path) -> None:
    """Run the blocks of a page as its reader would, one after the other, with `folder` as the place for files.

    Python blocks share their names. A block of `text` after one is what it prints. A block of `console` holds commands
    after `$`, each followed by lines that it prints among others. A block of `yaml` is the file that its first line
    names, and must load.
    """
    names: dict[str, object] = {"__name__": "__example__", "folder": folder}
    printed = None
    for block in blocks(page):
        if block.language == "python":
            printed = run(block, names)
        elif block.language == "text" and printed is not None:
            assert scrubbed(printed) == scrubbed(block.text), f"{block.label}: prints something else"
            printed = None
        elif block.language == "console":
            run_commands(block)
        elif block.language == "yaml":
            load_file(block, folder)


def run(block: Block, names: dict[str, object]) -> str:
    """Run a block of Python and give what it prints; errors point at the page."""
    padded = "\n" * (block.line - 1) + block.text
    with redirect_stdout(io.StringIO()) as out:
        exec(compile(padded, str(ROOT / block.page), "exec"), names)
    return out.getvalue()


def run_commands(block: Block) -> None:
    """Run every `$ kalaba ...` of a block; the lines below it are among those printed."""
    for piece in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        command, *shown = piece.strip().splitlines()
        program, *arguments = shlex.split(command, comments=True)
        assert program == "kalaba", f"{block.label}: only kalaba's own commands are run"
        with redirect_stdout(io.StringIO()) as out, warnings.catch_warnings():
            warnings.simplefilter("default", LeftOutWarning)  # a command prints it as a line
            assert invoke(arguments) == WANTED, f"{block.label}: {command}"
        printed = scrubbed(out.getvalue()).splitlines()
        missing = [line for line in scrubbed("\n".join(shown)).splitlines() if line not in printed]
        assert missing == [], f"{block.label}: {command} does not print this"


def load_file(block: Block, folder: Path) -> None:
    """Write the file that a block shows, named in its first line, and load it."""
    named = re.match(r"# ([\w-]+\.yaml)\n", block.text)
    assert named, f"{block.label}: a file begins with its name, such as # my.yaml"
    path = folder / named[1]
    path.write_text(block.text, encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeftOutWarning)  # of a URDF that it extends
        load(str(path))


def scrubbed(text: str) -> str:
    """Text without what differs from computer to computer."""
    lines = (WALL.sub("in some time, ", TINY.sub("tiny", line)).rstrip() for line in text.strip().splitlines())
    return "\n".join(lines)
