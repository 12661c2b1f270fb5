"""How each operation is written in LLVM's language; the meaning is CasADi's own, for zero, NaN and infinity too.

The lines of a template define {r}, the result, and helpers named after it, from the operands {x}, {y} and {z}.
REAL is the type of a value, TRUTH of a comparison, SUFFIX ends an intrinsic's name; ZERO and ONE are numbers.
"""

from functools import cache

from kalaba.native.lanes import Lanes
from kalaba.native.library import FUNCTIONS, on_lanes

_INTRINSIC = "{r} = call REAL @llvm.NAME.SUFFIX(REAL {x})"
_INTRINSIC_OF_TWO = "{r} = call REAL @llvm.NAME.SUFFIX(REAL {x}, REAL {y})"
_INTRINSIC_OF_THREE = "{r} = call REAL @llvm.NAME.SUFFIX(REAL {x}, REAL {y}, REAL {z})"

_COMPARISON = """\
{r}.is = fcmp RELATION REAL {x}, {y}
{r} = select TRUTH {r}.is, REAL ONE, REAL ZERO"""

_LOGIC = """\
{r}.x = fcmp une REAL {x}, ZERO
{r}.y = fcmp une REAL {y}, ZERO
{r}.is = CONNECTIVE TRUTH {r}.x, {r}.y
{r} = select TRUTH {r}.is, REAL ONE, REAL ZERO"""

_NOT = """\
{r}.is = fcmp oeq REAL {x}, ZERO
{r} = select TRUTH {r}.is, REAL ONE, REAL ZERO"""

_IF_ELSE_ZERO = """\
{r}.is = fcmp oeq REAL {x}, ZERO
{r} = select TRUTH {r}.is, REAL ZERO, REAL {y}"""

_SIGN = """\
{r}.below = fcmp olt REAL {x}, ZERO
{r}.above = fcmp ogt REAL {x}, ZERO
{r}.rest = select TRUTH {r}.above, REAL ONE, REAL {x}
{r} = select TRUTH {r}.below, REAL MINUS, REAL {r}.rest"""

_EXTREME = """\
{r}.is = fcmp RELATION REAL {y}, {x}
{r}.of = select TRUTH {r}.is, REAL {y}, REAL {x}
{r}.nan = fcmp uno REAL {x}, {x}
{r} = select TRUTH {r}.nan, REAL {y}, REAL {r}.of"""

_NEGATED_PRODUCT = "{r}.minus = fneg REAL {x}\n{r} = call REAL @llvm.fma.SUFFIX(REAL {r}.minus, REAL {y}, REAL {z})"
_NEGATED_SUMMAND = "{r}.minus = fneg REAL {z}\n{r} = call REAL @llvm.fma.SUFFIX(REAL {x}, REAL {y}, REAL {r}.minus)"

_TEMPLATES = {
    "add": "{r} = fadd REAL {x}, {y}",
    "sub": "{r} = fsub REAL {x}, {y}",
    "mul": "{r} = fmul REAL {x}, {y}",
    "div": "{r} = fdiv REAL {x}, {y}",
    "neg": "{r} = fneg REAL {x}",
    "sq": "{r} = fmul REAL {x}, {x}",
    "twice": "{r} = fadd REAL {x}, {x}",
    "inv": "{r} = fdiv REAL ONE, {x}",
    "fma": _INTRINSIC_OF_THREE.replace("NAME", "fma"),
    "fms": _NEGATED_SUMMAND,
    "fnma": _NEGATED_PRODUCT,
    "sqrt": _INTRINSIC.replace("NAME", "sqrt"),
    "fabs": _INTRINSIC.replace("NAME", "fabs"),
    "floor": _INTRINSIC.replace("NAME", "floor"),
    "ceil": _INTRINSIC.replace("NAME", "ceil"),
    "copysign": _INTRINSIC_OF_TWO.replace("NAME", "copysign"),
    "lt": _COMPARISON.replace("RELATION", "olt"),
    "le": _COMPARISON.replace("RELATION", "ole"),
    "eq": _COMPARISON.replace("RELATION", "oeq"),
    "ne": _COMPARISON.replace("RELATION", "une"),
    "not": _NOT,
    "and": _LOGIC.replace("CONNECTIVE", "and"),
    "or": _LOGIC.replace("CONNECTIVE", "or"),
    "if_else_zero": _IF_ELSE_ZERO,
    "sign": _SIGN,
    "fmin": _EXTREME.replace("RELATION", "olt"),
    "fmax": _EXTREME.replace("RELATION", "ogt"),
}

_WITHOUT_HARDWARE = {  # on processors without a fused multiply-add, where the intrinsic is a slow call
    "fma": "{r}.xy = fmul REAL {x}, {y}\n{r} = fadd REAL {r}.xy, {z}",
    "fms": "{r}.xy = fmul REAL {x}, {y}\n{r} = fsub REAL {r}.xy, {z}",
    "fnma": "{r}.xy = fmul REAL {x}, {y}\n{r} = fsub REAL {z}, {r}.xy",
}


SUPPORTED = frozenset(_TEMPLATES) | frozenset(FUNCTIONS)
"""The operations that can be written."""


@cache
def templates(lanes: Lanes, *, fused: bool) -> dict[str, str]:
    """Give the templates of all operations for a number of lanes, ready for str.format."""
    chosen = _TEMPLATES if fused else {**_TEMPLATES, **_WITHOUT_HARDWARE}
    calls = {name: _library_call(name, arity, lanes) for name, arity in FUNCTIONS.items()}
    return {op: lanes.typed(_with_numbers(template, lanes)) for op, template in {**chosen, **calls}.items()}


def declarations(lanes: Lanes) -> str:
    """Declare the intrinsics that the templates use."""
    intrinsics = {"fma": 3, "sqrt": 1, "fabs": 1, "floor": 1, "ceil": 1, "copysign": 2}
    declared = [
        f"declare {lanes.real} @llvm.{name}.{lanes.suffix}({', '.join([lanes.real] * arity)})"
        for name, arity in intrinsics.items()
    ]
    return "\n".join(declared)


def _library_call(name: str, arity: int, lanes: Lanes) -> str:
    operands = ("REAL {x}", "REAL {y}")[:arity]
    return f"{{r}} = call REAL @{on_lanes(name, lanes)}({', '.join(operands)})"


def _with_numbers(template: str, lanes: Lanes) -> str:
    for word, value in (("ZERO", 0.0), ("ONE", 1.0), ("MINUS", -1.0)):
        template = template.replace(word, lanes.constant(value))
    return template
