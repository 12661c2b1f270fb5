"""From a CasADi function to an object file."""

from dataclasses import dataclass

import casadi

from kalaba.native.compiled import Layout
from kalaba.native.contract import contract
from kalaba.native.cut import LONGEST_PIECE, cut
from kalaba.native.emitter import module_text
from kalaba.native.hoist import hoist
from kalaba.native.lanes import Lanes
from kalaba.native.machine import compile_module, host
from kalaba.native.program import read_program
from kalaba.native.reciprocal import share_reciprocals


@dataclass(frozen=True, slots=True)
class Built:
    """A compiled kernel that is not yet in memory."""

    layout: Layout
    code: bytes


def build(name: str, function: casadi.Function, lanes: int, longest_piece: int = LONGEST_PIECE) -> Built:
    """Read, hoist, contract, cut, write and compile a function."""
    in_lanes, fused = Lanes(lanes), host().fused
    program = read_program(function)
    hoisted = hoist(share_reciprocals(program.listing))
    main, prepare = contract(hoisted.main), contract(hoisted.prepare)
    n_constants = len(prepare.results)
    main_cut = cut(main, n_constants, longest_piece)
    prepare_cut = cut(prepare, n_constants, longest_piece)
    layout = Layout(
        name=name,
        lanes=lanes,
        inputs=program.inputs,
        outputs=program.outputs,
        n_parameters=program.n_parameters,
        n_constants=n_constants,
        n_work=max(main_cut.n_work, prepare_cut.n_work),
        instructions=main.count_operations(),
    )
    return Built(layout, compile_module(module_text(main_cut, prepare_cut, in_lanes, fused=fused)))
