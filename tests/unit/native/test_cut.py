"""Cutting a long list changes how it is compiled and nothing else."""

import numpy as np
import pytest

from kalaba.native.contract import contract
from kalaba.native.cut import cut
from kalaba.native.hoist import hoist
from kalaba.native.program import read_program
from unit.native.evaluation import compiled, natively, random_function

STATES = np.random.default_rng(7).uniform(-1, 1, (8, 8))
PARAMETERS = np.random.default_rng(8).uniform(-1, 1, 5)


@pytest.mark.parametrize("longest", [1, 7, 100, 900])
@pytest.mark.parametrize("lanes", [1, 8])
def test_a_cut_function_gives_the_same_bits(longest, lanes):
    function = random_function(9, 600)
    whole = natively(function, STATES, PARAMETERS, lanes)
    np.testing.assert_array_equal(natively(function, STATES, PARAMETERS, lanes, longest), whole)


def test_pieces_are_no_longer_than_asked():
    listing = contract(hoist(read_program(random_function(10, 2000)).listing).main)
    pieces = cut(listing, 0, 100).pieces
    operations = [sum(bool(instruction.args) for instruction in piece.instructions) for piece in pieces]
    assert max(operations) <= 100
    assert sum(operations) == listing.count_operations()


def test_work_slots_are_used_again():
    listing = contract(hoist(read_program(random_function(11, 6000)).listing).main)
    result = cut(listing, 50, 200)
    handed_over = [write.slot for piece in result.pieces for write in piece.writes if write.array == "store"]
    assert min(handed_over) == 50
    assert max(handed_over) == 50 + result.n_work - 1
    assert result.n_work < len(handed_over) / 3


def test_an_uncut_function_needs_no_work_space():
    assert compiled(random_function(12, 100)).n_work == 0
