"""The C library's elementary functions: their addresses in this process, and their use on several lanes."""

import ctypes
import sys
from collections.abc import Iterable, Iterator

from kalaba.errors import NativeError
from kalaba.native.lanes import Lanes

_OF_ONE = (
    *("exp", "log", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan"),
    *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf"),
)
_OF_TWO = ("pow", "atan2", "fmod", "remainder", "hypot")

FUNCTIONS = {**dict.fromkeys(_OF_ONE, 1), **dict.fromkeys(_OF_TWO, 2)}
"""The functions taken from the C library and the number of their arguments."""

_FILES = {"linux": ("libm.so.6", None), "win32": ("ucrtbase", "msvcrt")}  # None: the process itself


def symbol(name: str) -> str:
    """Give the name under which machine code calls a function; our own, so that LLVM takes no liberties with it."""
    return f"kalaba_{name}"


def addresses() -> dict[str, int]:
    """Give the address of every function by its symbol."""
    libraries = list(_libraries())
    return {symbol(name): _address(libraries, name) for name in FUNCTIONS}


def declarations(names: Iterable[str]) -> str:
    """Declare functions of the C library."""
    return "\n".join(_declaration(name) for name in sorted(names))


def definitions(lanes: Lanes, names: Iterable[str]) -> str:
    """Define functions of the C library on all lanes of a value, one lane after the other."""
    return "\n".join(_on_lanes(name, lanes) for name in sorted(names))


def on_lanes(name: str, lanes: Lanes) -> str:
    """Give the name of a function on all lanes of a value."""
    return f"lanes{lanes.count}_{name}"


def _declaration(name: str) -> str:
    return f"declare double @{symbol(name)}({', '.join(['double'] * FUNCTIONS[name])}) nounwind"


def _on_lanes(name: str, lanes: Lanes) -> str:
    operands = ("%x", "%y")[: FUNCTIONS[name]]
    lines = [
        f"define internal {lanes.real} @{on_lanes(name, lanes)}({_typed(lanes.real, operands)}) noinline nounwind {{"
    ]
    if lanes.count == 1:
        lines += [f"%r = call double @{symbol(name)}({_typed('double', operands)})", "ret double %r", "}"]
        return "\n".join(lines)
    result = "undef"
    for k in range(lanes.count):
        for operand in operands:
            lines.append(f"{operand}{k} = extractelement {lanes.real} {operand}, i32 {k}")
        lines.append(f"%f{k} = call double @{symbol(name)}({_typed('double', [f'{o}{k}' for o in operands])})")
        lines.append(f"%r{k} = insertelement {lanes.real} {result}, double %f{k}, i32 {k}")
        result = f"%r{k}"
    return "\n".join([*lines, f"ret {lanes.real} {result}", "}"])


def _typed(kind: str, operands: Iterable[str]) -> str:
    return ", ".join(f"{kind} {operand}" for operand in operands)


def _libraries() -> Iterator[ctypes.CDLL]:
    for file in _FILES.get(sys.platform, (None,)):
        try:
            yield ctypes.CDLL(file)
        except OSError:
            continue


def _address(libraries: list[ctypes.CDLL], name: str) -> int:
    for library in libraries:
        for spelling in (name, f"_{name}"):  # Windows exports _hypot
            if hasattr(library, spelling):
                address = ctypes.cast(getattr(library, spelling), ctypes.c_void_p).value
                if address:
                    return address
    raise NativeError(f"the C library has no function {name}; use backend=Interpreted()")
