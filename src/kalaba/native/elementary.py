"""Third stage, elementary functions: those of the C library on several lanes, and our own sine and cosine.

The C library's functions are called lane by lane, by their addresses in this process.

Sine and cosine are computed together, branch-free up to |x| = 10⁶ and equal in the last bit for any number of lanes.
Cody and Waite's reduction takes x to r in [−π/4, π/4]::

    n = round(2x/π)        r = ((x − n·P₁) − n·P₂) − n·P₃        P₁ + P₂ + P₃ = π/2 to 119 bits

P₁ and P₂ have 33 bits each, so n·P₁ and n·P₂ are exact as long as n has 20. With z = r²::

    sin r = r + r·z·S(z)        cos r = 1 + z·C(z)

and the quadrant n mod 4 says which of the two is wanted and with what sign. Adding 1.5·2⁵² rounds to an integer that
then stands in the low bits of the sum. Beyond 10⁶ the C library takes over, in the lanes concerned only.

Reference for the parts of π/2 and the coefficients: fdlibm, e_rem_pio2.c, k_sin.c and k_cos.c (Sun Microsystems, 1993).
"""

import ctypes
import sys
from collections.abc import Iterable, Iterator

from kalaba.errors import NativeError
from kalaba.native.operations import FUNCTIONS, CodeWriter, Lanes, on_lanes

LARGEST_REDUCED = 1e6
_ROUNDER = 1.5 * 2**52
_TWO_OVER_PI = 0.6366197723675814
_PARTS_OF_HALF_PI = (1.57079632673412561417, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
_SINE = (
    *(1.58969099521155010221e-10, -2.50507602534068634195e-08, 2.75573137070700676789e-06),
    *(-1.98412698298579493134e-04, 8.33333333332248946124e-03, -1.66666666666666324348e-01),
)
_COSINE = (
    *(-1.13596475577881948265e-11, 2.08757232129817482790e-09, -2.75573143513906633035e-07),
    *(2.48015872894767294178e-05, -1.38888888888741095749e-03, 4.16666666666666019037e-02, -0.5),
)

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
            if hasattr(library, spelling):  # the only way to ask ctypes for a symbol that may not be there
                address = ctypes.cast(getattr(library, spelling), ctypes.c_void_p).value
                if address:
                    return address
    raise NativeError(f"the C library has no function {name}; use backend=Interpreted()")


_QUADRANT = """\
%bits = bitcast REAL {n} to WHOLE
%next = add WHOLE %bits, {one}
%low = and WHOLE %bits, {one}
%odd = icmp ne WHOLE %low, {zero}
%sin.half = and WHOLE %bits, {two}
%cos.half = and WHOLE %next, {two}
%sin.sign = shl WHOLE %sin.half, {shift}
%cos.sign = shl WHOLE %cos.half, {shift}
%sin.size = select TRUTH %odd, REAL {c}, REAL {s}
%cos.size = select TRUTH %odd, REAL {s}, REAL {c}
%sin.bits = bitcast REAL %sin.size to WHOLE
%cos.bits = bitcast REAL %cos.size to WHOLE
%sin.flip = xor WHOLE %sin.bits, %sin.sign
%cos.flip = xor WHOLE %cos.bits, %cos.sign
%sin.near = bitcast WHOLE %sin.flip to REAL
%cos.near = bitcast WHOLE %cos.flip to REAL"""

_BEYOND = """\
%size = call REAL @llvm.fabs.SUFFIX(REAL %x)
%far = fcmp oge REAL %size, {limit}
{any}
br i1 %any, label %beyond, label %done, !prof !0
beyond:
%sin.libm = call REAL @{sin}(REAL %x)
%cos.libm = call REAL @{cos}(REAL %x)
%sin.far = select TRUTH %far, REAL %sin.libm, REAL %sin.near
%cos.far = select TRUTH %far, REAL %cos.libm, REAL %cos.near
br label %done
done:
%sin = phi REAL [%sin.near, %entry], [%sin.far, %beyond]
%cos = phi REAL [%cos.near, %entry], [%cos.far, %beyond]
%half = insertvalue {{REAL, REAL}} undef, REAL %sin, 0
%both = insertvalue {{REAL, REAL}} %half, REAL %cos, 1
ret {{REAL, REAL}} %both"""


def sincos_symbol(lanes: Lanes) -> str:
    """Give the name of the function of sine and cosine on a number of lanes."""
    return f"sincos{lanes.count}"


def sincos_definition(lanes: Lanes, *, fused: bool) -> str:
    """Define the function that gives sine and cosine of a value as a pair."""
    code = CodeWriter(lanes, fused=fused)
    constant = lanes.constant
    n_shifted, r = _reduced(code, "%x")
    z = code.operate("sq", r)
    s = code.operate("fma", code.operate("mul", r, z), _polynomial(code, _SINE, z), r)
    s = code.operate("copysign", s, r)  # for r = −0, where the sum above gives +0
    c = code.operate("fma", z, _polynomial(code, _COSINE, z), constant(1.0))
    zero, one, two, shift = (lanes.same("i64", str(number)) for number in (0, 1, 2, 62))
    quadrant = _QUADRANT.format(n=n_shifted, s=s, c=c, zero=zero, one=one, two=two, shift=shift)
    beyond = _BEYOND.format(
        limit=constant(LARGEST_REDUCED), any=_any(lanes), sin=on_lanes("sin", lanes), cos=on_lanes("cos", lanes)
    )
    body = "\n".join(["entry:", *code.lines, quadrant, beyond])
    declaration = "" if lanes.count == 1 else f"declare i1 @llvm.vector.reduce.or.v{lanes.count}i1(TRUTH)\n"
    head = f"define internal {{REAL, REAL}} @{sincos_symbol(lanes)}(REAL %x) noinline nounwind"
    return lanes.typed(f"{declaration}{head} {{\n{body}\n}}")


def _reduced(code: CodeWriter, x: str) -> tuple[str, str]:
    """Write the reduction; give 1.5·2⁵² + n and r."""
    rounder = code.lanes.constant(_ROUNDER)
    n_shifted = code.operate("fma", x, code.lanes.constant(_TWO_OVER_PI), rounder)
    n = code.operate("sub", n_shifted, rounder)
    r = x
    for part in _PARTS_OF_HALF_PI:
        r = code.operate("fnma", n, code.lanes.constant(part), r)
    return n_shifted, r


def _polynomial(code: CodeWriter, coefficients: tuple[float, ...], z: str) -> str:
    """Write a polynomial by Horner's rule, highest coefficient first."""
    first, *rest = coefficients
    value = code.lanes.constant(first)
    for coefficient in rest:
        value = code.operate("fma", value, z, code.lanes.constant(coefficient))
    return value


def _any(lanes: Lanes) -> str:
    if lanes.count == 1:
        return "%any = or i1 %far, %far"
    return f"%any = call i1 @llvm.vector.reduce.or.v{lanes.count}i1(TRUTH %far)"
