"""The door: a machine by its name in the catalogue or by the path of a file, everywhere a machine is named.

    name or path ──named──▶ Named ──system──▶ System
                                  └─scenario─▶ Scenario

What ends in a known suffix is a file, any other name one of the catalogue; `my.py:robot` is the
value `robot` of a Python file, which is run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from kalaba.boundary import as_path, check_arguments
from kalaba.errors import FileError, KalabaError, ModelError, near
from kalaba.model.formats import Described, LeftOutWarning, format_of, suffixes, tell
from kalaba.model.options import Choice, Option, Positive, settings
from kalaba.model.system import System
from kalaba.run.scenario import Scenario

if TYPE_CHECKING:
    from kalaba.robots.entry import Entry

DURATION = 5.0  # s: how long a machine is run whose file does not say
OWN = "own"
# What can be chosen for any scenario, beside the options of a machine.
RUN_OPTIONS: Mapping[str, Option] = MappingProxyType(
    {"duration": Option(OWN, Positive((OWN,)), f"seconds to simulate; {OWN}: as long as the scenario says")}
)
PYTHON = ".py"
CALLER_OF_LOAD = 6  # levels from `tell` up to the line that calls kb.load
NO_PARAMETERS: Mapping[str, float] = MappingProxyType({})
NO_OPTIONS: Mapping[str, Choice] = MappingProxyType({})


@dataclass(frozen=True)
class Named:
    """A machine by its name or path, before anything is chosen.

    Arguments:
        name: as it was typed
        options: what can be chosen, by name
        describe: all options by name → what is described
        entry: what the catalogue knows of it; None: it comes from a file
    """

    name: str
    options: Mapping[str, Option]
    describe: Callable[..., Described] = field(repr=False)
    entry: Entry | None = field(default=None, repr=False)

    @property
    def title(self) -> str:
        """The name in the catalogue, where it has one; else as it was typed."""
        return self.name if self.entry is None else self.entry.name

    def system(
        self, parameters: Mapping[str, float] = NO_PARAMETERS, options: Mapping[str, Choice] = NO_OPTIONS
    ) -> System:
        """The machine, with numbers and options that differ from its own."""
        if self.entry is not None:
            return _with(self.entry.build(**self.entry.machine_settings(options)), parameters)
        return _with(self._described(options).system, parameters)

    def scenario(
        self, parameters: Mapping[str, float] = NO_PARAMETERS, options: Mapping[str, Choice] = NO_OPTIONS
    ) -> Scenario:
        """What is to be run: the scenario of the catalogue or of the file; without one, no motor acts for 5 s.

        Beside the machine's own options it takes `duration`, s.
        """
        own = {key: value for key, value in options.items() if key in self.options or key not in RUN_OPTIONS}
        of_run = settings(self.name, RUN_OPTIONS, {key: value for key, value in options.items() if key not in own})
        described = self._described(own)
        if described.not_run:
            raise FileError(f"{self.name}: {described.not_run}")
        usual = described.scenario or Scenario(described.system, DURATION)
        duration = of_run["duration"]
        seconds = float(duration) if isinstance(duration, float | int) else usual.duration
        return replace(usual, system=_with(usual.system, parameters), duration=seconds)

    @cached_property
    def parameters(self) -> tuple[str, ...]:
        """Names of the machine's numbers, as it is without any choice."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LeftOutWarning)  # said when the machine itself is asked for
            return tuple(parameter.name for parameter in self.system().machine.parameters)

    def _described(self, options: Mapping[str, Choice]) -> Described:
        return self.describe(**settings(self.name, self.options, options))


def load(
    name: str | Path,
    parameters: Mapping[str, float] = NO_PARAMETERS,
    *,
    roots: str | Path | Sequence[str | Path] = (),
    **options: Choice,
) -> System:
    """Give a machine: of the catalogue by its name, or from a file by its path.

    What a file says and a System does not hold is told once, as a LeftOutWarning.

    Arguments:
        name: a name of kb.catalog(), or a path; its suffix says which kind of file it is
        parameters: numbers that differ from the machine's own, by path, in SI units
        roots: folders in which `package://` and `model://` are looked for, and that a file may read from beside its own
        options: options of the machine or of the kind of file, by name; `kalaba show NAME` lists them
    """
    check_arguments(load, locals())
    return named(name, roots).system(parameters, options)


def scenario(
    name: str | Path,
    parameters: Mapping[str, float] = NO_PARAMETERS,
    *,
    roots: str | Path | Sequence[str | Path] = (),
    **options: Choice,
) -> Scenario:
    """Give a machine with what is to be run on it: what `kalaba run` runs.

    Arguments:
        name: a name of kb.catalog(), or a path; its suffix says which kind of file it is
        parameters: numbers that differ from the machine's own, by path, in SI units
        roots: folders in which `package://` and `model://` are looked for, and that a file may read from beside its own
        options: options of the machine or of the kind of file, by name; `kalaba show NAME` lists them

    Returns:
        system, duration, stepper and control: `kb.simulate(scenario)` or `scenario.run()`
    """
    check_arguments(scenario, locals())
    return named(name, roots).scenario(parameters, options)


def named(name: str | Path, roots: str | Path | Sequence[str | Path] = ()) -> Named:
    """What a name or a path leads to; if it leads nowhere, say which names and files are near."""
    as_path(name, "load")
    text = str(name)
    path, value = _split(text)
    if is_file(text):
        return _of_file(text, path, value, _folders(roots))
    from kalaba.robots.catalogue import look_for  # late: files need none of its robots and laws

    entry = look_for(text)  # a DOI or an author lead to a machine too
    if entry is None:
        raise _unknown(text, path)
    return _of_entry(text, entry)


def is_file(name: str) -> bool:
    """Whether a text names a file and not a machine of the catalogue."""
    return _split(name)[0].suffix.lower() in suffixes()  # which no name of the catalogue has


def _of_entry(name: str, entry: Entry) -> Named:
    def describe(**options: object) -> Described:
        usual: Scenario = entry.scenario(**options)
        return Described(usual.system, usual)

    return Named(name, entry.choices, describe, entry)


def _of_file(name: str, path: Path, value: str, roots: tuple[Path, ...]) -> Named:
    """A file, which must be there; `value` is what it holds under a name, in a Python file."""
    kind = format_of(path)
    if kind.read is None:
        raise FileError(f"{path}: {kind.name} files are written only. Give the machine as .yaml or by its name.")
    if not path.is_file():
        raise FileError(f"{path}: no such file; {_near_files(path)}")
    read = kind.read

    def describe(**options: object) -> Described:
        described = read(path, roots, **options | ({"name": value} if value else {}))
        tell(path, described.notes, CALLER_OF_LOAD)
        return described

    return Named(name, kind.options, describe)


def _split(text: str) -> tuple[Path, str]:
    """The path, and the name of a value in a Python file: `my.py:robot`."""
    path, colon, value = text.rpartition(":")
    if colon and path.lower().endswith(PYTHON) and value.isidentifier():
        return Path(path), value
    return Path(text), ""


def _folders(roots: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    """Folders, which must be there."""
    folders = tuple(as_path(root, "roots") for root in ((roots,) if isinstance(roots, str | Path) else roots))
    for folder in folders:
        if not folder.is_dir():
            raise FileError(f"roots: no folder {folder}. Give folders that are there.")
    return folders


def _unknown(text: str, path: Path) -> KalabaError:
    """The error of a name that leads nowhere."""
    if path.is_file() or path.suffix or len(path.parts) > 1:
        what = "a file" if path.is_file() else "no machine of the catalogue and no file"
        expected = f"expected a file that ends in {', '.join(suffixes())}"
        return FileError(f"{text}: {what}; {expected}; {_near_files(path)}")
    return ModelError(f"no machine {text!r} in the catalogue; {_near_files(path)}")


def _near_files(path: Path) -> str:
    """Files beside a path, and names of the catalogue, that resemble it; first those that differ in their suffix."""
    same = [file for file in _files(path) if Path(file).stem == path.stem]
    from kalaba.robots.catalogue import ENTRIES

    return f"did you mean {', '.join(same)}?" if same else near(str(path), [*ENTRIES, *_files(path)])


def _files(path: Path) -> list[str]:
    """Files beside a path that may hold machines."""
    try:
        return [str(other) for other in path.parent.iterdir() if other.suffix.lower() in suffixes()]
    except OSError:  # no such folder, or not ours to read
        return []


def _with(system: System, parameters: Mapping[str, float]) -> System:
    return system.with_parameters(parameters) if parameters else system
