"""What parts that are alike compute is put together, and no value changes by it."""

import math
import random

import casadi as ca
import numpy as np
import pytest

import kalaba as kb
from kalaba.constrain.kernels.standard import STANDARD
from kalaba.model.topology.partners import partners
from kalaba.native.build import build, leaves, load
from kalaba.native.program import Instruction, ListingWriter, bits_of, read_program
from kalaba.native.twins import with_twins
from unit.native.evaluation import evaluate_listing as evaluate

LEAVES = 6
OPERATIONS = {
    "add": 2,
    "sub": 2,
    "mul": 2,
    "div": 2,
    "neg": 1,
    "sq": 1,
    "twice": 1,
    "fabs": 1,
    "cos": 1,
    "sin": 1,
    "inv": 1,
}


def halves(seed, count):
    """A list of operations made twice, on the inputs of each half, then sums and differences of both halves."""
    draw, writer = random.Random(seed), ListingWriter()
    common = writer.constant(-1.5)
    sides = [[writer.add("input", number=k), writer.add("input", number=k + LEAVES)] for k in range(LEAVES)]
    pairs = [*sides, [common, common]]
    for _ in range(count):
        op = draw.choice([*OPERATIONS])
        chosen = [draw.choice(pairs) for _ in range(OPERATIONS[op])]
        if op in {"div", "inv"}:  # by nothing near zero
            square = [writer.add("sq", position) for position in chosen[-1]]
            chosen[-1] = [writer.add("sub", position, common) for position in square]
        pairs.append([writer.add(op, *(pair[side] for pair in chosen)) for side in (0, 1)])
        if draw.random() < 0.2:  # what both halves say together, with the other sign from the other side
            left, right = draw.choice(pairs)
            apart = writer.add("sub", left, right)
            pairs.append([apart, writer.add("neg", apart)])
    results = [position for pair in pairs for position in pair]
    return writer.listing(tuple(results))


def swapped():
    """The inputs of one half are the partners of those of the other."""
    one, other = ([Instruction("input", number=k + first) for k in range(LEAVES)] for first in (0, LEAVES))
    return dict(zip(one + other, other + one, strict=True))


@pytest.mark.parametrize("seed", range(30))
def test_values_are_the_same_to_the_bit(seed):
    listing = halves(seed, 60)
    inputs = np.random.default_rng(seed).normal(size=2 * LEAVES)
    again = with_twins(listing, swapped())
    np.testing.assert_array_equal(evaluate(again, inputs), evaluate(listing, inputs))
    assert again.twins


@pytest.mark.parametrize("seed", range(10))
def test_partners_that_are_none_change_no_value(seed):
    listing, draw = halves(seed, 60), random.Random(seed)
    inputs = [Instruction("input", number=k) for k in range(2 * LEAVES)]
    others = draw.sample(inputs, len(inputs))
    values = np.random.default_rng(seed).normal(size=2 * LEAVES)
    nonsense = {a: b for one, two in zip(others[::2], others[1::2], strict=True) for a, b in ((one, two), (two, one))}
    np.testing.assert_array_equal(evaluate(with_twins(listing, nonsense), values), evaluate(listing, values))


@pytest.mark.parametrize("seed", range(10))
def test_nothing_between_twins_reads_the_first(seed):
    listing = with_twins(halves(seed, 60), swapped())
    for first, second in listing.twins:
        between = listing.instructions[first + 1 : second + 1]
        assert all(first not in instruction.args for instruction in between)


def test_differences_with_either_sign_are_one_value():
    x, y, z = (ca.SX.sym(name) for name in "xyz")
    program = read_program(ca.Function("f", [ca.vertcat(x, y, z)], [ca.vertcat((x - y) * z, z + (y - x) * z)]))
    listing = with_twins(program.listing, {})
    assert (program.listing.count_operations(), listing.count_operations()) == (5, 3)
    np.testing.assert_array_equal(evaluate(listing, [3.0, 5.0, 2.0]), [-4.0, 6.0])


def test_the_zero_of_a_difference_has_no_sign():
    writer = ListingWriter()
    x, y = writer.add("input", number=0), writer.add("input", number=1)
    ahead = writer.add("sub", x, y)
    listing = with_twins(writer.listing((writer.add("sub", y, x), ahead)), {})
    assert [math.copysign(1.0, zero) for zero in evaluate(listing, [2.0, 2.0])] == [1.0, 1.0]


def test_functions_that_read_the_sign_of_a_zero_are_left_alone():
    writer = ListingWriter()
    x, y = writer.add("input", number=0), writer.add("input", number=1)
    listing = writer.listing((writer.add("atan2", writer.add("neg", writer.add("sub", x, y)), y),))
    assert with_twins(listing, {}) is listing


def test_negative_constants_are_those_of_the_positive_ones():
    writer = ListingWriter()
    x = writer.add("input", number=0)
    results = tuple(writer.add("mul", x, writer.constant(number)) for number in (2.0, -2.0, math.nan, -math.inf))
    listing = with_twins(writer.listing(results), {})
    np.testing.assert_array_equal(evaluate(listing, [3.0]), [6.0, -6.0, math.nan, -math.inf])
    assert bits_of(-2.0) not in {entry.number for entry in listing.instructions if entry.op == "constant"}


@pytest.mark.parametrize("name", ["dual-mobile-arm", "five-bar", "planar-parallel"])
def test_a_machine_with_parts_alike_has_partners(name):
    """The kernel that computes twins together gives what the one without them gives, to rounding."""
    plant = kb.build(kb.load(name))
    known = partners(plant.machine)
    function = STANDARD["motion"].whole(plant.equations)
    alone, together = (load(build("motion", function, 1, partners=each)) for each in ({}, known))
    inputs = plant.pack(*plant.start)
    values = [kernel(inputs, kernel.store(plant.parameters))[:, 0] for kernel in (alone, together)]
    np.testing.assert_allclose(values[0], values[1], rtol=0, atol=1e-12 * np.abs(values[0]).max())
    program = read_program(function)
    twins = with_twins(program.listing, leaves(program, known)).twins
    assert len(twins) > program.listing.count_operations() / 10


def test_the_arms_of_a_machine_are_partners():
    machine = kb.load("dual-mobile-arm").machine
    names = [coordinate.name for coordinate in machine.coordinates]
    found = {names[a]: names[b] for a, b in partners(machine)["q"].items()}
    assert found == {
        name: name.replace("left", "right") if "left" in name else name.replace("right", "left") for name in names
    }


def test_a_third_part_alike_has_no_partner():
    machine = kb.load("delta").machine
    assert len(partners(machine)["q"]) * 3 == 2 * len([c for c in machine.coordinates if "platform" not in c.name])
