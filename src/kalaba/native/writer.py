"""Writes the body of one LLVM function, one operation after the other."""

from kalaba.native.lanes import Lanes
from kalaba.native.operations import templates


class CodeWriter:
    """Collects the lines of a function and names its values."""

    def __init__(self, lanes: Lanes, *, fused: bool) -> None:
        self.lanes = lanes
        self.lines: list[str] = []
        self._templates = templates(lanes, fused=fused)
        self._values = 0

    def fresh(self) -> str:
        """Give a name that no value has yet."""
        self._values += 1
        return f"%v{self._values}"

    def operate(self, op: str, *operands: str) -> str:
        """Append an operation on one to three operands and give the name of its result."""
        result = self.fresh()
        x, y, z = (*operands, "", "")[:3]
        self.lines.append(self._templates[op].format(r=result, x=x, y=y, z=z))
        return result

    def load(self, array: str, slot: int) -> str:
        """Append the reading of a slot and give the name of the value."""
        result = self.fresh()
        self.lines.append(self._place(result, array, slot))
        self.lines.append(f"{result} = load {self.lanes.real}, ptr {result}.at, align 8")
        return result

    def store(self, value: str, array: str, slot: int) -> None:
        """Append the writing of a value into a slot."""
        place = self.fresh()
        self.lines.append(self._place(place, array, slot))
        self.lines.append(f"store {self.lanes.real} {value}, ptr {place}.at, align 8")

    def _place(self, name: str, array: str, slot: int) -> str:
        return f"{name}.at = getelementptr double, ptr %{array}, i64 {slot * self.lanes.count}"
