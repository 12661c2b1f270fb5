"""Gives kernels: from memory, from the disk, or newly built."""

import sys
import threading
from collections.abc import Callable
from dataclasses import asdict
from functools import cache
from hashlib import sha256
from pathlib import Path

import casadi

from kalaba.native import cache as disk
from kalaba.native.build import Built, build
from kalaba.native.compiled import Kernel
from kalaba.native.emitter import MAIN, PREPARE, VERSION
from kalaba.native.machine import host, load_object

_kernels: dict[str, Kernel] = {}  # of this process, by digest; machine code stays in memory until the process ends
_building = threading.RLock()
BESIDE = ("cli", "export", "results", "robots", "view")  # what they ask for is in the key


def kernel(
    name: str, key: str, trace: Callable[[], casadi.Function], lanes: int = 1, *, seldom: bool = False
) -> Kernel:
    """Give the kernel of a function.

    `key` says everything that the function depends on; `trace` makes the function, and is called only if no kernel
    with this name, key and number of lanes is at hand, in this process or on disk. One that runs `seldom` is made in a
    hurry: it runs at half the speed.
    """
    digest = _digest(name, f"{key} seldom" if seldom else key, lanes)
    found = _kernels.get(digest)
    if found is not None:
        return found
    with _building:
        if digest not in _kernels:
            _kernels[digest] = load(disk.read(digest) or _built(digest, name, trace, lanes, seldom=seldom))
        return _kernels[digest]


def _built(digest: str, name: str, trace: Callable[[], casadi.Function], lanes: int, *, seldom: bool) -> Built:
    built = build(name, trace(), lanes, seldom=seldom)
    disk.write(digest, built)
    return built


def load(built: Built) -> Kernel:
    """Put a compiled kernel into memory."""
    code = load_object(built.code)
    return Kernel(**asdict(built.layout), address=code.address(MAIN), prepare_address=code.address(PREPARE), code=code)


def _digest(name: str, key: str, lanes: int) -> str:
    """Hash everything that the machine code depends on."""
    this = host()
    parts = (name, key, _sources(), str(VERSION), this.llvm, this.triple, this.cpu, this.features, str(lanes))
    return sha256("\0".join(parts).encode()).hexdigest()


@cache
def _sources() -> str:
    """Tell versions of kalaba apart: by number, and while it is being changed by the state of its files.

    Without the files, a derivation corrected today would go on using yesterday's machine code. Packages that trace
    nothing themselves are left out.
    """
    package = sys.modules[__name__.partition(".")[0]]
    root = Path(__file__).parents[1]
    found = sorted(path for path in root.rglob("*.py") if path.relative_to(root).parts[0] not in BESIDE)
    states = [(path.relative_to(root), path.lstat()) for path in found]
    files = "\n".join(f"{path} {status.st_size} {status.st_mtime_ns}" for path, status in states)
    return f"{getattr(package, '__version__', '')} {sha256(files.encode()).hexdigest()}"
