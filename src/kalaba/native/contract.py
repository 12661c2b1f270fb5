"""Contracts products and sums into fused multiply-adds, the same ones whatever the number of lanes."""

from collections import Counter

from kalaba.native.listing import Instruction, Listing, ListingWriter

_PRODUCTS = frozenset({"mul", "sq"})


def contract(listing: Listing) -> Listing:
    """Write a·b + c, a·b − c and c − a·b as one operation with one rounding.

    A product is taken in only if that sum is its one use, so no product is computed twice. In a sum of two products
    the second is taken in. Left to the compiler the choice could differ between scalar and vector code, and with it
    the last bit of a result.
    """
    uses = Counter(arg for instruction in listing.instructions for arg in instruction.args)
    uses.update(listing.results)
    writer = ListingWriter()
    moved: list[int] = []
    for instruction in listing.instructions:
        fused = _fused(instruction, listing.instructions, uses)
        moved.append(writer.add(fused.op, *(moved[arg] for arg in fused.args), number=fused.number))
    return writer.listing(tuple(moved[position] for position in listing.results))


def _fused(instruction: Instruction, instructions: tuple[Instruction, ...], uses: Counter[int]) -> Instruction:
    if instruction.op not in {"add", "sub"}:
        return instruction
    left, right = instruction.args
    for product, other, op in (
        (right, left, "fma" if instruction.op == "add" else "fnma"),
        (left, right, "fma" if instruction.op == "add" else "fms"),
    ):
        candidate = instructions[product]
        if candidate.op in _PRODUCTS and uses[product] == 1:
            return Instruction(op, (candidate.args[0], candidate.args[-1], other))
    return instruction
