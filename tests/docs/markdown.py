"""Code and output in the documentation: fenced blocks of a Markdown file."""

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


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


def run(block: Block, folder: Path) -> None:
    """Run a block of Python with `folder` as the place for its files; errors point at the page."""
    padded = "\n" * (block.line - 1) + block.text
    exec(compile(padded, str(ROOT / block.page), "exec"), {"__name__": "__example__", "folder": folder})
