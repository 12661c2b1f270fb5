"""Places on disk: judged before the work is done, written whole or not at all."""

from __future__ import annotations

import glob
import os
import platform
import re
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from kalaba.boundary import as_path
from kalaba.errors import FileError

RUN_SUFFIXES = (".nc", ".csv", ".parquet")  # of files that hold a Run; known here without the packages that read them
RUN_SUFFIXES_IN_WORDS = f"{', '.join(RUN_SUFFIXES[:-1])} or {RUN_SUFFIXES[-1]}"


def check_place(path: str | Path, suffixes: Collection[str]) -> Path:
    """Refuse a place that cannot be written, before anything is done that takes time."""
    place = as_path(path, "save")
    known_suffix(place, suffixes)
    if not place.parent.is_dir():
        raise FileError(f"{place}: no directory {place.parent}. Make it first: mkdir -p {place.parent}")
    if place.is_dir():
        raise FileError(f"{place}: expected a file, got a directory. Give another name.")
    if place.exists() and not os.access(place, os.W_OK):
        raise FileError(f"{place}: cannot be written, the file is read-only. Give another name.")
    _beside(place).unlink()
    return place


def known_suffix(place: Path, suffixes: Collection[str]) -> str:
    """Give the suffix in lower case, or say which are known."""
    suffix = place.suffix.lower()
    if suffix not in suffixes:
        raise FileError(f"{place}: expected a name that ends in {', '.join(suffixes)}, got {suffix or 'no suffix'!r}.")
    return suffix


@contextmanager
def replacing(place: Path) -> Iterator[Path]:
    """Give a path beside a place to write to; the file is moved there if all went well, and removed if not.

    A file that is replaced keeps its mode; where the place is a link, the file that it leads to is replaced.
    """
    target = place.resolve() if place.is_symlink() else place
    beside = _beside(target)
    try:
        yield beside
        _flush(beside)
        beside.chmod(target.stat().st_mode & 0o7777 if target.exists() else 0o666 & ~_umask())
        beside.replace(target)
    except OSError as error:
        raise FileError(f"{place}: cannot be written, {first_line(error)}. Is the disk full?") from error
    finally:
        beside.unlink(missing_ok=True)


def create_text(place: Path, text: str) -> bool:
    """Write a text to a file of its own, whole or not at all; says whether it did: another process may be first."""
    beside = _beside(place)
    try:
        beside.write_text(text, encoding="utf-8")
        _flush(beside)
        beside.chmod(0o666 & ~_umask())
        os.link(beside, place)
    except FileExistsError:
        return False
    except OSError as error:
        raise FileError(f"{place}: cannot be written, {first_line(error)}. Is the disk full?") from error
    finally:
        beside.unlink(missing_ok=True)
    return True


def write_text(place: Path, text: str) -> Path:
    """Write a text, whole or not at all; gives its place."""
    with replacing(place) as beside:
        beside.write_text(text, encoding="utf-8")
    return place


def first_line(error: Exception) -> str:
    """What an error says, on one line and without a full stop."""
    text = str(error).strip() or type(error).__name__
    return text.splitlines()[0].rstrip(". ")


def _flush(path: Path) -> None:
    """Have the disk take all of a file, so that a move never puts an empty one in the place of a whole one."""
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def _beside(place: Path) -> Path:
    """Make an empty file in the directory of a place; what processes that were killed have left there goes."""
    _clear(place)
    prefix = f".{place.stem}.{host_mark()}-{os.getpid()}."
    try:
        handle, name = tempfile.mkstemp(prefix=prefix, suffix=place.suffix, dir=place.parent)
    except OSError as error:
        raise FileError(f"{place}: cannot be written, {str(error.strerror).lower()}. Give another place.") from error
    os.close(handle)
    return Path(name)


def host_mark() -> str:
    """A few letters for this computer: a process is known by its number here alone."""
    return sha256(platform.node().encode()).hexdigest()[:6]


def _clear(place: Path) -> None:
    """Remove what processes of this computer that no longer live left beside a place."""
    if os.name != "posix":
        return
    host = host_mark()
    left = re.compile(rf"\.{re.escape(place.stem)}\.{host}-(\d+)\.\w+{re.escape(place.suffix)}")
    for path in place.parent.glob(f".{glob.escape(place.stem)}.{host}-*"):
        if (match := left.fullmatch(path.name)) and not _is_alive(int(match[1])):
            path.unlink(missing_ok=True)


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it is another user's
        return True
    return True


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
