"""Divides once by a divisor that several quotients share: x/d and y/d become x·(1/d) and y·(1/d).

CasADi writes x·(1/d) as x/d again, so the eliminations, which divide once a pivot, arrive here with a division for
every entry of a row: 107 in place of 17 on a machine of 12 rows, a fifth of the time of 8 lanes.
"""

from collections import Counter

from kalaba.native.listing import Listing, ListingWriter


def share_reciprocals(listing: Listing) -> Listing:
    """Write every division by a shared divisor as a product; the last bit of the quotient may differ."""
    uses = Counter(instruction.args[1] for instruction in listing.instructions if instruction.op == "div")
    writer = ListingWriter()
    moved: list[int] = []
    for instruction in listing.instructions:
        args = [moved[arg] for arg in instruction.args]
        if instruction.op == "div" and uses[instruction.args[1]] > 1:
            moved.append(writer.add("mul", args[0], writer.add("inv", args[1])))
        else:
            moved.append(writer.add(instruction.op, *args, number=instruction.number))
    return writer.listing(tuple(moved[position] for position in listing.results))
