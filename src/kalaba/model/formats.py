"""Kinds of files that hold machines, by suffix. What a kind is, and the table of those that are known.

A kind of file is one value, `Format`, with a function that reads and a function that writes (or None). The
package's own are in the room `files/`, one module per kind, imported when a file of that suffix is met; a program of
yours adds its own with `register`. The table stands here, below the room, so that a System can save itself.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from kalaba.boundary import as_path
from kalaba.errors import FileError

if TYPE_CHECKING:
    from kalaba.model.options import Choice, Option
    from kalaba.model.system import System
    from kalaba.plant.laws import Control, Controller
    from kalaba.run.scenario import Scenario

# Suffix → module of the package whose FORMAT reads and writes it.
MODULES: dict[str, str] = {
    ".yaml": "kalaba.files.yaml",
    ".yml": "kalaba.files.yaml",
    ".json": "kalaba.files.yaml",
    ".urdf": "kalaba.files.urdf",
    ".xacro": "kalaba.files.urdf",
    ".xml": "kalaba.files.mjcf",
    ".sdf": "kalaba.files.sdf",
    ".world": "kalaba.files.sdf",
    ".py": "kalaba.files.python_file",
    **dict.fromkeys((".nc", ".csv", ".parquet"), "kalaba.files.saved_run"),
}
CALLER_OF_SAVE = 4  # levels from `tell` up to the line that calls system.save
CONTROLS = "kalaba.files.yaml.held"  # writes control laws as text
NAMES = "kalaba.files.named"  # finds machines by their names and paths
_FORMATS: dict[str, Format] = {}


@dataclass(frozen=True)
class Described:
    """What a file describes.

    Arguments:
        system: the machine
        scenario: what is to be run on it, where the file says so; its system is `system`
        notes: what the file says and a System does not hold, or holds otherwise: one line each
        not_run: why it cannot be run although a System is there: one line; "": it can
    """

    system: System
    scenario: Scenario | None = None
    notes: tuple[str, ...] = ()
    not_run: str = ""


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file.

    Arguments:
        name: what people call it, such as "URDF"
        suffixes: endings of its files, in lower case, with the dot
        read: a path, folders that the file may refer to, and every option by its name → what it describes; None: it is
            written only
        write: a System or a Scenario, and a path to write to → lines that say what the format cannot hold; None: it is
            read only
        options: what can be chosen when a file is read, by name: `kb.load(path, name=value)`, `--set name=value`
    """

    name: str
    suffixes: tuple[str, ...]
    read: Callable[..., Described] | None = None
    write: Callable[[System | Scenario, Path], tuple[str, ...]] | None = None
    options: Mapping[str, Option] = field(default_factory=dict)


def register(added: Format) -> None:
    """Make a kind of file known under its suffixes; it takes the place of one that was known.

    Arguments:
        added: the kind of file
    """
    for suffix in added.suffixes:
        _FORMATS[suffix] = added


def suffixes() -> tuple[str, ...]:
    """Endings of all files that are known."""
    return tuple(dict.fromkeys((*MODULES, *_FORMATS)))


def written_suffixes() -> tuple[str, ...]:
    """Endings of files that are written."""
    return tuple(suffix for suffix in suffixes() if format_of(Path(f"model{suffix}")).write is not None)


def format_of(path: Path) -> Format:
    """Give the kind of a file, by its suffix."""
    suffix = path.suffix.lower()
    if suffix not in _FORMATS and suffix in MODULES:
        register(import_module(MODULES[suffix]).FORMAT)
    if suffix not in _FORMATS:
        known = ", ".join(suffixes())
        raise FileError(f"{path}: expected a file that ends in {known}, got {suffix or 'no suffix'!r}.")
    return _FORMATS[suffix]


def control_as_text(system: System, control: Controller) -> str:
    """A control law of a machine as text, for the file of a run; "" for one that no file holds."""
    return str(import_module(CONTROLS).to_text(system, control))


def control_from_text(text: str, system: System) -> Control:
    """The control law that such a text describes."""
    control: Control = import_module(CONTROLS).from_text(text, system)
    return control


def scenario_of_name(name: str | Path, options: Mapping[str, Choice]) -> Scenario:
    """What is to be run on a machine of the catalogue or of a file, for rooms below those."""
    found: Scenario = import_module(NAMES).named(name).scenario({}, options)
    return found


class LeftOutWarning(UserWarning):
    """A file says what a System does not hold, or a System has what a kind of file does not: each thing by name.

    Arguments:
        what: the file, or all that there is to say
        notes: one line per thing, which follow as a list
    """

    def __init__(self, what: str, notes: tuple[str, ...] = ()) -> None:
        self.what, self.notes = what, notes
        listed = "".join(f"\n- {note}" for note in notes)
        super().__init__(f"{what}: {notes[0]}" if len(notes) == 1 else f"{what}:{listed}" if notes else what)


def save(described: System | Scenario, path: str | Path) -> Path:
    """Write a machine, or what is to be run on one, to a file; its suffix says which kind. Gives the path."""
    place = as_path(path, "save")
    kind = format_of(place)
    if kind.write is None:
        raise FileError(f"{place}: {kind.name} files are read only. Save the machine as .yaml.")
    tell(place, kind.write(described, place), CALLER_OF_SAVE)
    return place


def tell(place: Path, notes: tuple[str, ...], stacklevel: int) -> None:
    """Warn once of what was left out or changed, at the line of the caller so many levels up."""
    if notes:
        warnings.warn(LeftOutWarning(place.name, notes), stacklevel=stacklevel)
