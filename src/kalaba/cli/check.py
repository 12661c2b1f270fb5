"""`kalaba check`: how a machine can move, and which of its rows say nothing new."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from kalaba.cli.choices import JsonFlag, NameArgument, QuietFlag, SetFlag, read_settings

if TYPE_CHECKING:
    from kalaba.analyse.mobility import Mobility


def check(name: NameArgument, *, given: SetFlag = None, as_json: JsonFlag = False, quiet: QuietFlag = False) -> None:
    """Examine a machine at its start: freedoms, rank, rows that depend on others, conditioning.

    Example: kalaba check four-bar
    """
    from kalaba.analyse.mobility import check as examine
    from kalaba.cli.terminal import console, print_json
    from kalaba.robots.catalogue import load

    settings = read_settings(name, given)
    found = examine(load(name, settings.parameters, **settings.options))
    if quiet:  # a machine that cannot be assembled has raised by now
        return
    if as_json:
        print_json(asdict(found))
        return
    out = console()
    for line in lines(found):
        out.print(line, markup=False)


def lines(found: Mobility) -> list[str]:
    """What is printed, line by line."""
    from kalaba.results.notebook import combination

    nearby = f" ({found.freedoms_nearby} nearby)" if found.freedoms_nearby != found.freedoms else ""
    sizes = f"coordinates: {found.coordinates}, velocities: {found.velocities}, rows: {len(found.rows)}"
    said = [f"machine: {found.name}", f"{sizes}, rank: {found.rank}, freedoms: {found.freedoms}{nearby}"]
    for row, terms in found.dependencies:
        closed = ", only while the loop is closed" if row in found.on_manifold_only else ""
        said.append(f"dependent: {row} = {combination(terms)}{closed}")
    if found.rows:
        said.append(
            f"conditioning: smallest singular value {found.smallest_singular_value:.3g}, from {found.weakest_row}"
        )
    if found.non_unique_reactions:
        said.append(f"reactions that are not unique: {', '.join(found.non_unique_reactions)}")
    if found.unique_reactions:
        said.append(f"reactions that are unique: {', '.join(found.unique_reactions)}")
    if found.is_mass_singular:
        said.append("mass: some motion has no inertia of its own; the rows determine it")
    return said
