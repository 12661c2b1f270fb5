"""Third stage, the words: values on lanes and operations in LLVM's language.

What an operation means is CasADi's own, for zero, NaN and infinity too. The lines of a template define {r}, the result,
and helpers named after it, from the operands {x}, {y} and {z}. REAL is the type of a value, TRUTH of a comparison,
SUFFIX ends an intrinsic's name; ZERO and ONE are numbers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from kalaba.errors import NativeError
from kalaba.native.program import bits_of
from kalaba.space.instructions import ARITY

LANE_COUNTS = (1, 2, 4, 8)  # states, or values, side by side

FUNCTIONS = {
    name: ARITY[name]
    for name in (
        *("exp", "log", "log1p", "expm1", "sin", "cos", "tan", "asin", "acos", "atan"),
        *("sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf"),
        *("pow", "atan2", "fmod", "remainder", "hypot"),
    )
}
"""The functions taken from the C library and the number of their arguments."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """A number of states computed side by side: a scalar, or a vector with one element per lane."""

    count: int

    def __post_init__(self) -> None:
        if self.count not in LANE_COUNTS:
            raise NativeError(f"{self.count} lanes are not supported; choose one of {LANE_COUNTS}")

    @property
    def real(self) -> str:
        """The type of a value."""
        return self.of("double")

    @property
    def truth(self) -> str:
        """The type of a comparison."""
        return self.of("i1")

    @property
    def whole(self) -> str:
        """The type of an integer as wide as a double."""
        return self.of("i64")

    @property
    def suffix(self) -> str:
        """The ending of an intrinsic's name."""
        return "f64" if self.count == 1 else f"v{self.count}f64"

    def of(self, element: str) -> str:
        """Give the type with this element in every lane."""
        return element if self.count == 1 else f"<{self.count} x {element}>"

    def constant(self, value: float) -> str:
        """Give a number, the same in every lane, in exact notation."""
        return self.same("double", f"0x{bits_of(value):016X}")

    def constants(self, *values: float) -> str:
        """Give a number for each lane."""
        return f"<{', '.join(f'double 0x{bits_of(value):016X}' for value in values)}>"

    def same(self, element: str, literal: str) -> str:
        """Give a literal, the same in every lane."""
        return literal if self.count == 1 else f"<{', '.join([f'{element} {literal}'] * self.count)}>"

    def typed(self, text: str) -> str:
        """Put the types in for the words REAL, TRUTH, WHOLE and SUFFIX."""
        for word, notation in (
            ("REAL", self.real),
            ("TRUTH", self.truth),
            ("WHOLE", self.whole),
            ("SUFFIX", self.suffix),
        ):
            text = text.replace(word, notation)
        return text


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


def on_lanes(name: str, lanes: Lanes) -> str:
    """Give the name of a function of the C library on all lanes of a value."""
    return f"lanes{lanes.count}_{name}"


class CodeWriter:
    """Collects the lines of a function and names its values."""

    def __init__(self, lanes: Lanes, *, fused: bool) -> None:
        self.lanes = lanes
        self.lines: list[str] = []
        self._fused = fused
        self._values = 0

    def fresh(self) -> str:
        """Give a name that no value has yet."""
        self._values += 1
        return f"%v{self._values}"

    def operate(self, op: str, *operands: str, lanes: Lanes | None = None) -> str:
        """Append an operation on one to three operands and give the name of its result."""
        result = self.fresh()
        x, y, z = (*operands, "", "")[:3]
        template = templates(lanes or self.lanes, fused=self._fused)[op]
        self.lines.append(template.format(r=result, x=x, y=y, z=z))
        return result

    def load(self, array: str, slot: int, lanes: Lanes | None = None) -> str:
        """Append the reading of a slot, or of several side by side, and give the name of the value."""
        result = self.fresh()
        self.lines.append(self._place(result, array, slot))
        self.lines.append(f"{result} = load {(lanes or self.lanes).real}, ptr {result}.at, align 8")
        return result

    def joined(self, values: Sequence[str]) -> str:
        """Append the making of a vector of some numbers."""
        vector, real = "undef", Lanes(len(values)).real
        for place, value in enumerate(values):
            result = self.fresh()
            self.lines.append(f"{result} = insertelement {real} {vector}, double {value}, i32 {place}")
            vector = result
        return vector

    def chosen(self, vector: str, lanes: Lanes, places: tuple[int, int]) -> str:
        """Append the taking of two numbers from a vector, as a vector."""
        result = self.fresh()
        mask = f"<2 x i32> <i32 {places[0]}, i32 {places[1]}>"
        self.lines.append(f"{result} = shufflevector {lanes.real} {vector}, {lanes.real} undef, {mask}")
        return result

    def part(self, vector: str, place: int, lanes: Lanes) -> str:
        """Append the taking of one number from a vector."""
        result = self.fresh()
        self.lines.append(f"{result} = extractelement {lanes.real} {vector}, i32 {place}")
        return result

    def store(self, value: str, array: str, slot: int) -> None:
        """Append the writing of a value into a slot."""
        place = self.fresh()
        self.lines.append(self._place(place, array, slot))
        self.lines.append(f"store {self.lanes.real} {value}, ptr {place}.at, align 8")

    def _place(self, name: str, array: str, slot: int) -> str:
        return f"{name}.at = getelementptr double, ptr %{array}, i64 {slot * self.lanes.count}"
