"""From a CasADi function, or a program of several, to an object file."""

from dataclasses import dataclass

import casadi

from kalaba.native.blocks import BlockProgram
from kalaba.native.compiled import Layout
from kalaba.native.contract import contract
from kalaba.native.cut import LONGEST_PIECE, Cut, cut
from kalaba.native.driver import Placed, driver_text, room
from kalaba.native.emitter import MAIN, PREPARE, Entry, module_text
from kalaba.native.hoist import hoist
from kalaba.native.lanes import Lanes
from kalaba.native.machine import compile_module, host
from kalaba.native.program import Program, read_program
from kalaba.native.reciprocal import share_reciprocals


@dataclass(frozen=True, slots=True)
class Built:
    """A compiled kernel that is not yet in memory."""

    layout: Layout
    code: bytes


@dataclass(frozen=True, slots=True)
class _Pieces:
    """A function ready to be written: what it does, what prepares its constants, and the room that both need."""

    program: Program
    main: Cut
    prepare: Cut
    n_constants: int
    operations: int

    @property
    def n_work(self) -> int:
        return max(self.main.n_work, self.prepare.n_work)


def build(
    name: str,
    function: casadi.Function | BlockProgram,
    lanes: int,
    longest_piece: int = LONGEST_PIECE,
    *,
    seldom: bool = False,
) -> Built:
    """Read, hoist, contract, cut, write and compile a function."""
    if isinstance(function, BlockProgram):
        layout, text = _blocks_text(name, function, lanes, longest_piece)
    else:
        layout, text = _function_text(name, function, lanes, longest_piece)
    return Built(layout, compile_module(text, seldom=seldom))


def _function_text(name: str, function: casadi.Function, lanes: int, longest_piece: int) -> tuple[Layout, str]:
    in_lanes, fused = Lanes(lanes), host().fused
    found = _pieces(function, longest_piece)
    layout = Layout(
        name=name,
        lanes=lanes,
        inputs=found.program.inputs,
        outputs=found.program.outputs,
        n_parameters=found.program.n_parameters,
        n_constants=found.n_constants,
        n_work=found.n_work,
        instructions=found.operations,
    )
    entries = (Entry(MAIN, found.main, in_lanes), Entry(PREPARE, found.prepare, in_lanes))
    return layout, module_text(entries, fused=fused)


def _pieces(function: casadi.Function, longest_piece: int) -> _Pieces:
    program = read_program(function)
    hoisted = hoist(share_reciprocals(program.listing))
    main, prepare = contract(hoisted.main), contract(hoisted.prepare)
    n = len(prepare.results)
    cuts = cut(main, n, longest_piece), cut(prepare, n, longest_piece)
    return _Pieces(program, *cuts, n, main.count_operations())


def _blocks_text(name: str, program: BlockProgram, lanes: int, longest_piece: int) -> tuple[Layout, str]:
    """Write every function of a program once, with loops that call them."""
    in_lanes, fused = Lanes(lanes), host().fused
    placed: list[Placed] = []
    entries: list[Entry] = []
    first = operations = 0
    for number, call in enumerate(program.calls):
        found = _pieces(call.function, longest_piece)
        placed.append(Placed(number, call, found.n_constants + found.n_work, first))
        in_group, (main, prepare) = Lanes(call.width * lanes), placed[-1].names
        entries.append(Entry(main, found.main, in_group, is_internal=True))
        entries.append(Entry(prepare, found.prepare, in_group, is_internal=True))
        first += placed[-1].n_store * len(call.x)
        operations += found.operations * len(call.x)
    layout = Layout(
        name=name,
        lanes=lanes,
        inputs=program.inputs,
        outputs=program.outputs,
        n_parameters=program.n_parameters,
        n_constants=first,
        n_work=room(program),
        instructions=operations,
    )
    drivers = driver_text(program, placed, in_lanes)
    return layout, module_text(entries, fused=fused, drivers=drivers)
