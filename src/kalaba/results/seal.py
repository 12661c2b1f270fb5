"""A seal on a file: the SHA-256 of all of it, written into it, so that what opens is what was saved.

A file has one seal: `kalaba-sha256:` and 64 digits, where its format has a place for it, else at its end (readers of
HDF5 pass over what follows their data). The hash is of the whole file with zeros for its digits. It is checked before
anything else looks at the file: a damaged one can keep other readers busy for ever, or give other numbers.
"""

from __future__ import annotations

import mmap
from hashlib import sha256
from pathlib import Path

from kalaba.errors import FileError

MARK = b"kalaba-sha256:"
OPEN = MARK + b"0" * 64  # of a file that is being made


def sealed(content: bytes) -> bytes:
    """Close the seal of a file; one that has no place for it gets it at its end."""
    if OPEN not in content:
        content += OPEN
    at = content.rindex(OPEN) + len(MARK)
    return content[:at] + sha256(content).hexdigest().encode() + content[at + 64 :]


def check_seal(path: Path) -> bool:
    """Refuse a file whose seal is broken; say whether it has one."""
    if path.stat().st_size == 0:
        return False
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        at = content.rfind(MARK)
        if at < 0:
            return False
        at += len(MARK)
        with memoryview(content) as view, view[:at] as before, view[at + 64 :] as after:
            digest = sha256(before)
            digest.update(b"0" * 64)
            digest.update(after)
            if digest.hexdigest().encode() != bytes(view[at : at + 64]):
                raise FileError(f"{path}: the file has changed since kalaba wrote it, or was cut. Write it again.")
    return True
