"""A seal on a file: the SHA-256 of all of it, written into it, so that what opens is what was saved.

A file has one seal: `kalaba-sha256:` and 64 digits, where its format has a place for it, else at its end (readers of
HDF5 pass over what follows their data). The hash is of the whole file with zeros for its digits. It is checked before
anything else looks at the file: a damaged one can keep other readers busy for ever, or give other numbers.
"""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from kalaba.errors import FileError

if TYPE_CHECKING:
    from typing_extensions import Buffer

MARK = b"kalaba-sha256:"
LONG = 1_000_000  # bytes
OPEN = MARK + b"0" * 64  # of a file that is being made


def write_sealed(path: Path, *parts: Buffer, place: int) -> None:
    """Write the parts of a file one after the other; the open seal is in the last `OPEN` of the part `place`.

    Parts are neither joined nor copied: a long run has many megabytes. Those of one are hashed while they are written.
    """
    sizes = [memoryview(part).nbytes for part in parts]
    at = sum(sizes[:place]) + bytes(parts[place]).rindex(OPEN) + len(MARK)
    with path.open("wb") as file:
        if sum(sizes) < LONG:
            file.writelines(parts)
            digest = _digest(parts)
        else:
            with ThreadPoolExecutor(1) as beside:
                hashed = beside.submit(_digest, parts)
                file.writelines(parts)
                digest = hashed.result()
        file.seek(at)
        file.write(digest)


def _digest(parts: Sequence[Buffer]) -> bytes:
    whole = sha256()
    for part in parts:
        whole.update(part)
    return whole.hexdigest().encode()


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
