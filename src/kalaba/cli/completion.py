"""What the shell offers on Tab: machines of the catalogue and saved runs, found without loading any heavy package."""

from __future__ import annotations

import re
from pathlib import Path

RUNS = (".nc", ".csv", ".parquet")
ENTRY = re.compile(r"^\s+(\w+)\.ENTRY,$", re.MULTILINE)


def machine_names(incomplete: str) -> list[str]:
    """Names of the catalogue that begin so.

    They are read from the text of the catalogue: importing it costs a second, and a shell asks at every Tab.
    """
    text = (Path(__file__).parents[1] / "robots" / "catalogue.py").read_text(encoding="utf-8")
    names = (module.replace("_", "-") for module in ENTRY.findall(text))
    return [name for name in names if name.startswith(incomplete)]


def run_files(incomplete: str) -> list[str]:
    """Saved runs whose path begins so, and the folders on the way to others."""
    folder, slash, start = incomplete.rpartition("/")
    try:
        found = sorted(Path(folder + slash or ".").iterdir())
    except OSError:  # no such folder, or not ours to read: nothing to offer
        return []
    begins = [path for path in found if path.name.startswith(start) and (start or path.name[0] != ".")]
    offered = ((path, "/" if path.is_dir() else "") for path in begins if path.is_dir() or path.suffix in RUNS)
    return [folder + slash + path.name + end for path, end in offered]


def names_and_files(incomplete: str) -> list[str]:
    """Both, for commands that take either."""
    return [*machine_names(incomplete), *run_files(incomplete)]
