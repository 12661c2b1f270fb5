"""A file that is read, and the files that it may lead to. Nothing is read from outside the folders that were given.

A model file names others: included files, meshes, packages. `Source` opens them by name, within its roots only
(symbolic links resolved first), of a sane size, and never one that is being read already.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path

from kalaba.errors import FileError

MOST_BYTES = 32 * 1024 * 1024  # of one file of text; robots' files are below 1 MB
MOST_INCLUDED = 32  # how deep files may include each other
PACKAGE = "package://"
MODEL = "model://"
FILE = "file://"


@dataclass
class Notes:
    """Collects what files say and a System does not hold: each thing once, with the places where it stands."""

    places: dict[str, list[str]] = field(default_factory=dict)

    def add(self, what: str, place: str = "") -> None:
        """Note a thing.

        Arguments:
            what: what is left out or changed, and what holds instead, in one line
            place: name of the element where it was met
        """
        self.places.setdefault(" ".join(what.split()), []).append(place)

    @property
    def lines(self) -> tuple[str, ...]:
        """One line per thing, with the first places."""
        return tuple(_line(what, [place for place in places if place]) for what, places in self.places.items())


SHOWN_PLACES = 6


def _line(what: str, places: list[str]) -> str:
    unique = list(dict.fromkeys(places))
    more = f" and {len(unique) - SHOWN_PLACES} more" if len(unique) > SHOWN_PLACES else ""
    return f"{what}: {', '.join(unique[:SHOWN_PLACES])}{more}" if unique else what


@dataclass(frozen=True)
class Source:
    """A file of text and where it may look for others.

    Arguments:
        path: the file
        roots: folders that it may read from, beside its own
        opened: files that led to this one, resolved; the last is this one's includer
        notes: collects what the file says and a System does not hold; shared by the files that it includes
    """

    path: Path
    roots: tuple[Path, ...] = ()
    opened: tuple[Path, ...] = ()
    notes: Notes = field(default_factory=Notes)

    def text(self) -> str:
        """Its text, UTF-8."""
        if not self.path.is_file():
            raise FileError(f"{self.path}: no such file{self._nearby()}")
        try:
            size = self.path.stat().st_size
            if size > MOST_BYTES:
                raise FileError(
                    f"{self.path}: {size / 1e6:.0f} MB of text; expected at most {MOST_BYTES / 1e6:.0f} MB. "
                    "Is it a model?"
                )
            return self.path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise FileError(f"{self.path}: expected text in UTF-8, got other bytes at {error.start}.") from error
        except OSError as error:
            raise FileError(f"{self.path}: cannot be read, {str(error.strerror).lower()}.") from error

    def _nearby(self) -> str:
        """The end of a message about a file that is not there: files beside it of a similar name."""
        try:
            beside = [path.name for path in self.folder.iterdir() if path.is_file()]
        except OSError:  # no such folder, or not ours to read
            beside = []
        close = get_close_matches(self.path.name, beside)
        return f"; did you mean {', '.join(close)}?" if close else ". Check the path."

    def including(self, name: str, where: str) -> Source:
        """A file that this one includes: read with the same roots and notes; circles are refused."""
        path = self.find(name, where)
        chain = (*self.opened, self.path.resolve())
        if path.resolve() in chain:
            raise FileError(f"{where}: {name} includes itself, by way of {self.path.name}. Break the circle.")
        if len(chain) > MOST_INCLUDED:
            raise FileError(f"{where}: files include each other {MOST_INCLUDED} deep; {name} is too much.")
        return replace(self, path=path, opened=chain)

    def find(self, name: str, where: str) -> Path:
        """The file that a name means: relative to this file, package:// or model:// below a root; FileError if none.

        Arguments:
            name: as it stands in the file
            where: place in the file, for messages
        """
        path = self.look_for(name, where)
        if path is None:
            folders = ", ".join(str(root) for root in (self.folder, *self.roots))
            raise FileError(f"{where}: no file {name!r} in {folders}. Give its folder with roots= (--root).")
        return path

    def look_for(self, name: str, where: str) -> Path | None:
        """The same; None if there is no such file. A name that leads out of the folders is refused."""
        for folder, relative in self._candidates(name):
            try:
                path = (folder / relative).resolve()
                is_file = path.is_file()
            except (OSError, ValueError, RuntimeError):  # names with NUL bytes, circles of links, names too long
                continue
            if is_file:
                if not any(path.is_relative_to(root.resolve()) for root in (self.folder, *self.roots)):
                    raise FileError(
                        f"{where}: {name!r} leads out of {self.folder}. Give its folder with roots= (--root)."
                    )
                return path
        return None

    def _candidates(self, name: str) -> list[tuple[Path, str]]:
        """Folders, and where below them it may be; package://NAME/rest is below a folder NAME, or below its parent."""
        for scheme in (PACKAGE, MODEL):
            if name.startswith(scheme):
                rest = name.removeprefix(scheme)
                package, _, inner = rest.partition("/")
                above = [folder.parent for folder in (self.folder, *self.folder.parents) if folder.name == package]
                named = [root for root in self.roots if root.name == package]
                return [
                    *((root, rest) for root in (*self.roots, *above, self.folder)),
                    *((root, inner) for root in named),
                ]
        relative = name.removeprefix(FILE)
        return [(self.folder, relative), *((root, relative) for root in self.roots)]

    @property
    def folder(self) -> Path:
        """Where it is."""
        return self.path.parent
