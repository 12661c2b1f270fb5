"""A list of instructions does what its function does, and the table of operations is CasADi's."""

import casadi as ca
import numpy as np
import pytest

from kalaba.space.instructions import ARITY, applied, instructions
from unit.native.evaluation import random_function


def again(function: ca.Function) -> ca.Function:
    """A function made anew from its instructions."""
    symbols = [ca.SX.sym(name, function.sparsity_in(name)) for name in function.name_in()]
    results = [ca.SX(function.sparsity_out(k)) for k in range(function.n_out())]
    values: list[ca.SX] = []
    for word, operands, (which, entry), constant in instructions(function):
        if word == "output":
            results[which].nz[entry] = values[operands[0]]
        elif word == "input":
            values.append(symbols[which].nz[entry])
        else:
            values.append(ca.SX(constant) if word == "const" else applied(word, [values[k] for k in operands]))
    return ca.Function("again", symbols, results)


@pytest.mark.parametrize("seed", [3, 4, 5])
def test_a_function_made_anew_from_its_instructions_is_the_same(seed):
    function = random_function(seed, 900)
    rng = np.random.default_rng(seed)
    x, p = rng.normal(size=function.numel_in("x")), rng.normal(size=function.numel_in("p"))
    for expected, got in zip(function(x, p), again(function)(x, p), strict=True):
        assert np.array_equal(np.array(expected), np.array(got))


@pytest.mark.parametrize(("word", "arity"), ARITY.items())
def test_every_operation_of_the_table_is_listed_by_its_word_and_reads_so_many_values(word, arity):
    x, y = ca.SX.sym("x"), ca.SX(2.5) if word == "constpow" else ca.SX.sym("y")
    listed = list(instructions(ca.Function("f", ca.symvar(ca.vertcat(x, y)), [applied(word, [x, y][:arity])])))
    *_, operation, output = listed
    assert (operation.word, output.word) == (word, "output")
    assert sorted(operation.operands) == list(range(len(listed) - 2))[-arity:]
    assert output.operands == (len(listed) - 2,)


def test_a_copy_is_the_value_that_it_copies():
    x = ca.SX.sym("x", 2)
    listed = list(instructions(ca.Function("f", [x], [applied("lift", [x[0], x[1]]) * x[1]])))
    assert listed[-2].word == "mul"
    assert set(listed[-2].operands) == {0, 1}


def test_an_operation_that_is_no_arithmetic_is_told_by_its_name():
    x = ca.SX.sym("x")
    words = [instruction.word for instruction in instructions(ca.Function("f", [x], [ca.erfinv(x)]))]
    assert words == ["input", "erfinv", "output"]
    assert "erfinv" not in ARITY
