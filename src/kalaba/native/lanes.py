"""LLVM's notation for a value in one lane or several: the types, the constants, the names of intrinsics."""

from dataclasses import dataclass

from kalaba.errors import NativeError
from kalaba.native.listing import bits_of

LANE_COUNTS = (1, 4, 8)


@dataclass(frozen=True, slots=True)
class Lanes:
    """A number of states computed side by side: a scalar, or a vector with one element a lane."""

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
