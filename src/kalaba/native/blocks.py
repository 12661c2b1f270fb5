"""Programs of several functions, each called for many blocks of data in turn: what is alike is compiled once.

All numbers stand on a *board* of slots: the inputs first, then the outputs, then what the functions hand to each other.
A call reads its arguments from slots of the board and writes its results there. Slots that are added to, and the
outputs, are zero when the program begins.

Beside the functions, which are written as any other, such a program needs drivers: they fetch arguments, call, and put
results in their places, in plain loops over tables of slots. The store of its kernel holds one store for every call
(the prepared constants and scratch space of the function called), then the board, then room for one call's arguments
and results.
"""

from dataclasses import dataclass

import casadi
import numpy as np
from numpy.typing import NDArray

from kalaba.native.emitter import MAIN, PREPARE
from kalaba.native.operations import Lanes
from kalaba.native.program import Arrays, Segments

Slots = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Call:
    """A function with the arguments x and p and the results y (written) and z (added), called once per row of slots.

    Its first arguments may stand together on the board already, its first results stay together there: these are used
    in place, where `kept` says, and have no slots in x and y. Behind them there must be room for the others.

    With a `width` above 1 so many calls are made at once, on as many lanes; their number is then a multiple of it, and
    what is in place stands entry by entry, lane beside lane.
    """

    function: casadi.Function
    x: Slots  # (calls, n_x)
    y: Slots  # (calls, n_y)
    z: Slots  # (calls, n_z)
    p: Slots  # (calls, n_p): entries of the program's parameters, then of its constants
    when: Slots | None = None  # (calls,): not called where this slot of the board holds zero in all lanes
    x_kept: Slots | None = None  # (groups,): first slot of the arguments in place
    y_kept: Slots | None = None  # (groups,): first slot of the results in place
    width: int = 1

    @property
    def groups(self) -> int:
        """How often the machine code is called."""
        return len(self.x) // self.width

    @property
    def n_x_kept(self) -> int:
        """Arguments in place."""
        n: int = self.function.numel_in("x") - self.x.shape[1]
        return n

    @property
    def n_y_kept(self) -> int:
        """Results in place."""
        n: int = self.function.numel_out("y") - self.y.shape[1]
        return n


@dataclass(frozen=True, eq=False)
class BlockProgram(Arrays):
    """Calls in the order in which they are made."""

    name: str
    inputs: Segments
    outputs: Segments
    n_parameters: int
    constants: tuple[float, ...]  # parameters that never change
    n_zeroed: int  # slots after the outputs that begin as zero
    n_board: int  # slots in all
    calls: tuple[Call, ...]


@dataclass(frozen=True, slots=True)
class Placed:
    """A call of a program: its number, its function's store, and where the stores begin in that of the kernel."""

    number: int
    call: Call
    n_store: int
    first: int

    @property
    def names(self) -> tuple[str, str]:
        """Names of the function and of the one that prepares it."""
        return f"block{self.number}", f"block{self.number}_prepare"


def driver_text(program: BlockProgram, placed: list[Placed], lanes: Lanes) -> list[str]:
    """Write MAIN and PREPARE of a program, and the loops that they run."""
    writer = _Writer(program, placed, lanes)
    return [*writer.tables(), *(writer.loop(one) for one in placed), writer.main(), writer.prepare(), _COPY, _ZERO]


def room(program: BlockProgram) -> int:
    """Slots that the board and one call's arguments and results take."""
    return program.n_board + _widest(program)


def _widest(program: BlockProgram) -> int:
    sizes = [(c.width, c.x.shape[1], c.y.shape[1] + c.z.shape[1], c.p.shape[1]) for c in program.calls]
    return max((w * max(x + y, p) for w, x, y, p in sizes), default=0)


_COPY = """define internal void @copy_numbers(ptr noalias %from, ptr noalias %to, i64 %count) nounwind {
entry:
%none = icmp eq i64 %count, 0
br i1 %none, label %end, label %next
next:
%k = phi i64 [0, %entry], [%k1, %next]
%at = getelementptr double, ptr %from, i64 %k
%into = getelementptr double, ptr %to, i64 %k
%value = load double, ptr %at, align 8
store double %value, ptr %into, align 8
%k1 = add i64 %k, 1
%more = icmp ult i64 %k1, %count
br i1 %more, label %next, label %end
end:
ret void
}"""

_ZERO = """define internal void @zero_numbers(ptr %to, i64 %count) nounwind {
entry:
%none = icmp eq i64 %count, 0
br i1 %none, label %end, label %next
next:
%k = phi i64 [0, %entry], [%k1, %next]
%into = getelementptr double, ptr %to, i64 %k
store double 0.0, ptr %into, align 8
%k1 = add i64 %k, 1
%more = icmp ult i64 %k1, %count
br i1 %more, label %next, label %end
end:
ret void
}"""

_MOVE = """define internal void @NAME(ptr %board, ptr %line, ptr %slots, i64 %count) nounwind {
entry:
%none = icmp eq i64 %count, 0
br i1 %none, label %end, label %next
next:
%k = phi i64 [0, %entry], [%k1, %next]
%here = mul i64 %k, STRIDE
BODY
%k1 = add i64 %k, 1
%more = icmp ult i64 %k1, %count
br i1 %more, label %next, label %end
end:
ret void
}"""

_PLACE = """%row{l} = mul i64 %count, {l}
%entry{l} = add i64 %row{l}, %k
%which{l} = getelementptr i32, ptr %slots, i64 %entry{l}
%slot{l} = load i32, ptr %which{l}, align 4
%wide{l} = zext i32 %slot{l} to i64
%there{l} = mul i64 %wide{l}, LANES
%on_board{l} = getelementptr double, ptr %board, i64 %there{l}
%beside{l} = add i64 %here, {l}
%in_line{l} = getelementptr double, ptr %line, i64 %beside{l}"""

_BODIES = {
    "fetch": "%value{l} = load REAL, ptr %on_board{l}, align 8\nstore REAL %value{l}, ptr %in_line{l}, align 8",
    "put": "%value{l} = load REAL, ptr %in_line{l}, align 8\nstore REAL %value{l}, ptr %on_board{l}, align 8",
    "add_up": "%value{l} = load REAL, ptr %in_line{l}, align 8\n%before{l} = load REAL, ptr %on_board{l}, align 8\n"
    "%sum{l} = fadd REAL %before{l}, %value{l}\nstore REAL %sum{l}, ptr %on_board{l}, align 8",
}


def _mover(name: str, width: int, lanes: Lanes) -> str:
    """A function that moves numbers between the board and the arguments or results of a group of calls."""
    body = "\n".join(f"{_PLACE}\n{_BODIES[name]}".replace("{l}", str(lane)) for lane in range(width))
    text = _MOVE.replace("NAME", f"{name}{width}").replace("BODY", body)
    return (
        text.replace("STRIDE", str(width * lanes.count)).replace("LANES", str(lanes.count)).replace("REAL", lanes.real)
    )


class _Writer:
    """Knows where things stand in the store."""

    def __init__(self, program: BlockProgram, placed: list[Placed], lanes: Lanes) -> None:
        self.program, self.placed, self.lanes = program, placed, lanes
        self.board = sum(one.n_store * len(one.call.x) for one in placed)
        self.line = self.board + program.n_board

    def tables(self) -> list[str]:
        """The slots of every call, and the functions that move numbers by them."""
        slots = [
            _table(f"{one.names[0]}_{name}", getattr(one.call, name).ravel().tolist())
            for one in self.placed
            for name in ("x", "y", "z", "p", "when", "x_kept", "y_kept")
            if getattr(one.call, name) is not None
        ]
        widths = {one.call.width for one in self.placed}
        return [*slots, *(_mover(name, width, self.lanes) for name in _BODIES for width in sorted(widths))]

    def loop(self, one: Placed) -> str:
        """The function that makes all calls of one kind."""
        call, name, w = one.call, one.names[0], one.call.width
        lanes = w * self.lanes.count
        n_x, n_y, n_z = call.x.shape[1], call.y.shape[1], call.z.shape[1]
        lines = [
            f"define internal void @{name}_all(ptr %store) nounwind {{",
            "entry:",
            f"%board = getelementptr double, ptr %store, i64 {self.board * self.lanes.count}",
            "br label %next",
            "next:",
            "%k = phi i64 [0, %entry], [%k1, %done]",
            *(self._test(name, w) if call.when is not None else ["br label %make"]),
            "make:",
            *_row("x", name, n_x * w),
            *_row("y", name, n_y * w),
            *_row("z", name, n_z * w),
            *self._line("given", f"{name}_x_kept" if call.x_kept is not None else "", 0),
            *self._line("found", f"{name}_y_kept" if call.y_kept is not None else "", n_x * w),
            f"%given.rest = getelementptr double, ptr %given, i64 {call.n_x_kept * lanes}",
            f"%found.rest = getelementptr double, ptr %found, i64 {call.n_y_kept * lanes}",
            f"%added = getelementptr double, ptr %found.rest, i64 {n_y * lanes}",
            f"%step = mul i64 %k, {one.n_store * lanes}",
            f"%own.at = add i64 %step, {one.first * self.lanes.count}",
            "%own = getelementptr double, ptr %store, i64 %own.at",
            f"call void @fetch{w}(ptr %board, ptr %given.rest, ptr %x, i64 {n_x})",
            f"call void @{name}(ptr %given, ptr %found, ptr %own)",
            f"call void @put{w}(ptr %board, ptr %found.rest, ptr %y, i64 {n_y})",
            f"call void @add_up{w}(ptr %board, ptr %added, ptr %z, i64 {n_z})",
            "br label %done",
            "done:",
            "%k1 = add i64 %k, 1",
            f"%more = icmp ult i64 %k1, {call.groups}",
            "br i1 %more, label %next, label %end",
            "end:",
            "ret void",
            "}",
        ]
        return "\n".join(lines)

    def _line(self, what: str, table: str, behind: int) -> list[str]:
        """Where the arguments or the results of group %k stand: on the board, or in the room for one group."""
        lanes = self.lanes.count
        if not table:
            return [f"%{what} = getelementptr double, ptr %store, i64 {(self.line + behind) * lanes}"]
        return [
            f"%{what}.which = getelementptr i32, ptr @{table}, i64 %k",
            f"%{what}.slot = load i32, ptr %{what}.which, align 4",
            f"%{what}.wide = zext i32 %{what}.slot to i64",
            f"%{what}.there = mul i64 %{what}.wide, {lanes}",
            f"%{what} = getelementptr double, ptr %board, i64 %{what}.there",
        ]

    def _test(self, name: str, width: int) -> list[str]:
        """Skip a group where the flags of all its calls are zero in all lanes."""
        lanes, lines, flags = self.lanes, [f"%flag.first = mul i64 %k, {width}"], []
        for lane in range(width):
            flag = f"%flag{lane}"
            lines += [
                f"{flag}.entry = add i64 %flag.first, {lane}",
                f"{flag}.which = getelementptr i32, ptr @{name}_when, i64 {flag}.entry",
                f"{flag}.slot = load i32, ptr {flag}.which, align 4",
                f"{flag}.wide = zext i32 {flag}.slot to i64",
                f"{flag}.there = mul i64 {flag}.wide, {lanes.count}",
                f"{flag}.at = getelementptr double, ptr %board, i64 {flag}.there",
                f"{flag} = load {lanes.real}, ptr {flag}.at, align 8",
                f"{flag}.on = fcmp une {lanes.real} {flag}, {lanes.constant(0.0)}",
            ]
            if lanes.count > 1:
                lines += [
                    f"{flag}.bits = bitcast {lanes.truth} {flag}.on to i{lanes.count}",
                    f"{flag}.any = icmp ne i{lanes.count} {flag}.bits, 0",
                ]
            flags.append(f"{flag}.on" if lanes.count == 1 else f"{flag}.any")
        for lane in range(1, width):
            lines.append(f"%any{lane} = or i1 {flags[lane]}, {flags[0] if lane == 1 else f'%any{lane - 1}'}")
        return [*lines, f"br i1 {flags[0] if width == 1 else f'%any{width - 1}'}, label %make, label %done"]

    def main(self) -> str:
        """The function that runs the program."""
        lanes, program = self.lanes.count, self.program
        n_in, n_out = program.n_inputs, program.n_outputs
        lines = [
            f"define void @{MAIN}(ptr noalias %inputs, ptr noalias %outputs, ptr noalias %store) nounwind {{",
            f"%board = getelementptr double, ptr %store, i64 {self.board * lanes}",
            f"%results = getelementptr double, ptr %store, i64 {(self.board + n_in) * lanes}",
            f"call void @copy_numbers(ptr %inputs, ptr %board, i64 {n_in * lanes})",
            f"call void @zero_numbers(ptr %results, i64 {(n_out + program.n_zeroed) * lanes})",
            *(f"call void @{one.names[0]}_all(ptr %store)" for one in self.placed),
            f"call void @copy_numbers(ptr %results, ptr %outputs, i64 {n_out * lanes})",
            "ret void",
            "}",
        ]
        return "\n".join(lines)

    def prepare(self) -> str:
        """The function that prepares the constants of every call: parameters in, stores out."""
        lanes, program = self.lanes, self.program
        n, extra = program.n_parameters, len(program.constants)
        lines = [
            f"define void @{PREPARE}(ptr noalias %inputs, ptr %outputs, ptr %store) nounwind {{",
            f"%all = alloca double, i64 {max((n + extra) * lanes.count, 1)}, align 64",
            f"call void @copy_numbers(ptr %inputs, ptr %all, i64 {n * lanes.count})",
        ]
        for k, value in enumerate(program.constants):
            lines += [
                f"%c{k} = getelementptr double, ptr %all, i64 {(n + k) * lanes.count}",
                f"store {lanes.real} {lanes.constant(value)}, ptr %c{k}, align 8",
            ]
        lines.append(f"%line = getelementptr double, ptr %outputs, i64 {self.line * lanes.count}")
        for one in self.placed:
            name, n_p, w = one.names[0], one.call.p.shape[1], one.call.width
            for k in range(one.call.groups):
                store = f"%own{one.number}_{k}"
                slots = f"%p{one.number}_{k}"
                first = (one.first + k * one.n_store * w) * lanes.count
                lines += [
                    f"{store} = getelementptr double, ptr %outputs, i64 {first}",
                    f"{slots} = getelementptr i32, ptr @{name}_p, i64 {k * n_p * w}",
                    f"call void @fetch{w}(ptr %all, ptr %line, ptr {slots}, i64 {n_p})",
                    f"call void @{one.names[1]}(ptr %line, ptr {store}, ptr {store})",
                ]
        return "\n".join([*lines, "ret void", "}"])


def _row(kind: str, name: str, count: int) -> list[str]:
    """The slots of call %k."""
    return [
        f"%{kind}.first = mul i64 %k, {count}",
        f"%{kind} = getelementptr i32, ptr @{name}_{kind}, i64 %{kind}.first",
    ]


def _table(name: str, slots: list[int]) -> str:
    entries = ", ".join(f"i32 {slot}" for slot in slots) or "i32 0"
    return f"@{name} = internal constant [{max(len(slots), 1)} x i32] [{entries}]"
