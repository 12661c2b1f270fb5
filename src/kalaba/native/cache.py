"""Compiled kernels on disk: one file each, in a directory that is private to the user.

A file is a mark, the SHA-256 of all that follows, the length of the header, the header (the layout as JSON) and the
object file. Whoever can write such a file can run code as the user, so a directory that others can write to is left
alone. Files appear whole or not at all: they are written beside their place and moved there.
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
_MARK = b"kalaba kernel 1\n"
_SUFFIX = ".kernel"
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
    try:
        path = _private(directory()) / f"{digest}{_SUFFIX}"
        content = path.read_bytes()
    except OSError as error:
        _log.debug("kernel %s is not cached: %s", digest, error)
        return None
    built = _unpacked(content)
    if built is None:
        _log.debug("kernel %s is damaged and will be built again", path)
        path.unlink(missing_ok=True)
        return None
    with suppress(OSError):
        os.utime(path)
    return built


def write(digest: str, built: Built) -> None:
    """Keep a kernel; a disk that refuses costs the next process a build, nothing more."""
    try:
        home = directory()
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        content = _packed(built)
        _place(content, _private(home) / f"{digest}{_SUFFIX}")
        _account.add(len(content))
        if _account.is_due:
            _tidy(home)
            _account.settle()
    except OSError as error:
        _log.debug("kernel %s cannot be cached: %s", digest, error)


def _private(home: Path) -> Path:
    """Insist that nobody else can write to a directory."""
    if os.name == "posix":
        status = home.stat()
        if status.st_uid != os.getuid() or status.st_mode & 0o022:
            raise PermissionError(f"{home} can be written to by others; make it your own (chmod 700)")
    return home


def _place(content: bytes, path: Path) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix="new-", suffix=_SUFFIX)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def _packed(built: Built) -> bytes:
    header = json.dumps(asdict(built.layout)).encode()
    body = len(header).to_bytes(_LENGTH_SIZE, "little") + header + built.code
    return _MARK + sha256(body).digest() + body


def _unpacked(content: bytes) -> Built | None:
    start = len(_MARK) + _DIGEST_SIZE
    body = content[start:]
    if content[:start] != _MARK + sha256(body).digest():
        return None
    end = _LENGTH_SIZE + int.from_bytes(body[:_LENGTH_SIZE], "little")
    fields = json.loads(body[_LENGTH_SIZE:end])
    for name in ("inputs", "outputs"):
        fields[name] = tuple((segment, size) for segment, size in fields[name])
    return Built(Layout(**fields), body[end:])


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
    files = [(path.stat(), path) for path in home.glob(f"*{_SUFFIX}")]
    excess = sum(status.st_size for status, _ in files) - LARGEST_TOTAL
    for status, path in sorted(files, key=lambda entry: entry[0].st_mtime):
        if excess <= 0:
            break
        path.unlink(missing_ok=True)
        excess -= status.st_size
