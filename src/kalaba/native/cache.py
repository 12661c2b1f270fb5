"""Compiled code on disk, kernels and loops: one file each, in a directory that is private to the user.

A file is a mark, a SHA-256 and the content that was kept under its name; the hash is of the name and the content, so
that a file under another's name is as good as damaged. A kernel's content is the length of the header, the header (the
layout as JSON) and the object file; a loop's is the object file. Whoever can write such a file can run code as the
user, so a directory that others can write to is left alone. Files appear whole or not at all: they are written beside
their place and moved there. No state of the directory stops a run or changes a number: what cannot be read is compiled
again.
"""

import json
import logging
import os
import sys
import tempfile
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path

from kalaba.native.kernels import Built, Layout

VARIABLE = "KALABA_CACHE_DIR"
LARGEST_TOTAL = 500_000_000  # bytes; the files used longest ago go first
_MARK = b"kalaba kernel 2\n"
KERNEL, LOOP = ".kernel", ".loop"  # endings of names: of a CasADi function, of functions of Python
_DIGEST_SIZE = 32
_LENGTH_SIZE = 4

_log = logging.getLogger(__name__)


def directory() -> Path:
    """Where kernels are kept: KALABA_CACHE_DIR, or the platform's place for a user's caches."""
    if chosen := os.environ.get(VARIABLE):
        return Path(chosen)
    if sys.platform == "win32":
        base = Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        base = Path.home() / "Library" / "Caches"
    else:
        base = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return base / "kalaba"


def read(digest: str) -> Built | None:
    """Give a kernel from the disk; None if it is not there, or not whole."""
    content = fetch(f"{digest}{KERNEL}")
    if content is None:
        return None
    end = _LENGTH_SIZE + int.from_bytes(content[:_LENGTH_SIZE], "little")
    fields = json.loads(content[_LENGTH_SIZE:end])
    for name in ("inputs", "outputs"):
        fields[name] = tuple((segment, size) for segment, size in fields[name])
    return Built(Layout(**fields), content[end:])


def write(digest: str, built: Built) -> None:
    """Keep a kernel."""
    header = json.dumps(asdict(built.layout)).encode()
    keep(f"{digest}{KERNEL}", len(header).to_bytes(_LENGTH_SIZE, "little") + header + built.code)


def fetch(name: str) -> bytes | None:
    """Give what was kept under a name; None if it is not there, or not whole."""
    try:
        path = _private(directory()) / name
        packed = path.read_bytes()
    except (OSError, RuntimeError) as error:  # RuntimeError: the user has no home directory
        _log.debug("code %s is not cached: %s", name, error)
        return None
    start = len(_MARK) + _DIGEST_SIZE
    if packed[:start] != _MARK + _hash(name, packed[start:]):
        _log.debug("code %s is damaged and will be compiled again", path)
        with suppress(OSError):
            path.unlink(missing_ok=True)
        return None
    with suppress(OSError):
        os.utime(path)
    return packed[start:]


def keep(name: str, content: bytes) -> None:
    """Keep a content under a name; a disk that refuses costs the next process a compilation, nothing more."""
    packed = _MARK + _hash(name, content) + content
    try:
        home = directory()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        _place(packed, _private(home) / name)
        _account.add(len(packed))
        if _account.is_due:
            _tidy(home)
            _account.settle()
    except (OSError, RuntimeError) as error:
        _log.debug("code %s cannot be cached: %s", name, error)


def _hash(name: str, content: bytes) -> bytes:
    return sha256(name.encode() + b"\0" + content).digest()


def _private(home: Path) -> Path:
    """Insist that nobody else can write to a directory."""
    if os.name == "posix":
        status = home.stat()
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise PermissionError(f"{home} can be written to by others; make it your own (chmod 700)")
    return home


def _place(content: bytes, path: Path) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix="new-", suffix=path.suffix)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class _Account:
    """Bytes written by this process since it last looked at all files, which takes a while where there are many."""

    def __init__(self) -> None:
        self.since: int | None = None  # None: it has not looked yet

    @property
    def is_due(self) -> bool:
        return self.since is None or self.since > LARGEST_TOTAL // 20

    def add(self, size: int) -> None:
        self.since = None if self.since is None else self.since + size

    def settle(self) -> None:
        self.since = 0


_account = _Account()


def _tidy(home: Path) -> None:
    """Remove the files used longest ago until the rest fits."""
    files = []
    for path in (*home.glob(f"*{KERNEL}"), *home.glob(f"*{LOOP}")):
        with suppress(OSError):  # another process may have removed it
            files.append((path.stat(), path))
    excess = sum(status.st_size for status, _ in files) - LARGEST_TOTAL
    for status, path in sorted(files, key=lambda entry: entry[0].st_mtime):
        if excess <= 0:
            break
        path.unlink(missing_ok=True)
        excess -= status.st_size
