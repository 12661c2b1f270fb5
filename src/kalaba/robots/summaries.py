"""What the catalogue lists: every machine by its name, with one line; its module is the name with underscores."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

SUMMARIES: Mapping[str, str] = MappingProxyType(
    {
        "dual-mobile-arm": (
            "two mobile arms carry one load, cut at its middle: 12 coordinates, 6 rows of structure, 6 of path"
        ),
        "planar-parallel": (
            "three legs of two links hold one point in a plane: 12 coordinates, 10 rows, 2 freedoms, 3 motors"
        ),
        "four-bar": "crank and rocker in a vertical plane, closed by a hinge in space: 5 rows, 1 freedom",
        "five-bar": "two arms of two links that hold one point in a vertical plane; 2 freedoms, two motors or three",
        "bennett": "Bennett's four hinges in space: 5 rows of rank 2 on the manifold, 1 freedom against the count",
        "sarrus": "Sarrus's two legs that guide a platform straight up: 5 rows of rank 4, 1 freedom against the count",
        "delta": "three arms and parallelograms carry a platform that cannot turn; 3 freedoms, three motors",
        "stewart": "six legs of changing length carry a platform: 24 velocities, 18 rows, 6 freedoms, six motors",
        "pus-upu": (
            "six sliders and a middle leg hold a platform: 27 velocities, 22 rows, 5 freedoms, six motors or five"
        ),
        "puma560": "serial arm of six hinges with a spherical wrist and the usual published inertias",
        "two-arm-carry": "two six-hinge arms carry one rigid load: 6 freedoms, 12 motors",
        "two-arm-scissors": "two arms hold two blades that a hinge joins: 7 freedoms",
        "two-arm-peg": "two arms put a round peg into a block: 8 freedoms",
        "two-arm-keyed-peg": "two arms put a peg with a key into a block: 7 freedoms",
        "two-arm-screw": "two arms turn a bolt in a nut: 7 freedoms",
        "three-arm-screw": "three arms hold a nut, a bolt in its thread and a sleeve that slides on it: 9 freedoms",
        "n-arm-carry": "a ring of arms carries one disc by its rim: 6 freedoms with any number of arms",
        "differential-drive": (
            "a platform rolls on two driven wheels and a castor: 3 rows of rolling without slip, 2 freedoms, 2 motors"
        ),
        "two-drive-carry": (
            "two wheeled robots carry one load, each by a hinge on its nose: 16 rows of rank 13, 3 freedoms, 4 motors"
        ),
        "floating-flexible-arm": (
            "carrier afloat with two flexible links and a load, in a plane: 6 coordinates and the links' modes"
        ),
        "flexible-arm-3d": (
            "space arm of six hinges, two tubes that bend in two planes and twist, on a satellite that flies free"
        ),
        "flexible-four-bar": (
            "crank and rocker joined by a thin strip that bends, closed by a hinge: 5 rows, 1 freedom and modes"
        ),
        "spinning-beam": (
            "a beam spun up about its root by a prescribed angle; with foreshortening it stiffens, without it diverges"
        ),
    }
)
