"""A file beside a URDF that closes its loops: kalaba YAML without `extends`, or the YAML of Extended URDF.

The latter names pairs of frames that coincide, in all (6d) or in their origins alone (3d)::

    closed_loop: [[rod_end, lever_end]]
    type: [3d]

A frame is a link, or a joint: then the link that it moves. Reference: Batto et al. (2025), arXiv:2504.04767.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from kalaba.errors import near
from kalaba.files.yaml.reading import read_source
from kalaba.files.yaml.tree import Document, parse, shown
from kalaba.joints import Joint, Spherical, Weld
from kalaba.model.parts import Connection

if TYPE_CHECKING:
    from kalaba.files.source import Source
    from kalaba.files.urdf.machine import Robot
    from kalaba.model.system import System

LOOPS = "closed_loop"
TYPES: Mapping[str, Joint] = {"6d": Weld(), "3d": Spherical()}
CHANGES = ("joint_name", "joint_type")  # that a joint of the URDF is of another kind


def added(system: System, source: Source, robot: Robot) -> System:
    """A machine with what a file of loops adds; its joints start at zero, where it is drawn, if limits allow."""
    drawn = replace(system, start=system.start.over(robot.drawn_start()))
    document = parse(source)
    if isinstance(document.data, Mapping) and LOOPS in document.data and "kalaba" not in document.data:
        return drawn.add(*_coinciding(document, source, robot))
    return read_source(source, drawn).system


def _coinciding(document: Document, source: Source, robot: Robot) -> Iterator[Connection]:
    """Frames that coincide, as Extended URDF writes them."""
    data = document.data
    for key in data:
        if key in CHANGES:
            raise document.error((key,), "joints of other kinds are not read. Write them as the URDF's own joints.")
        if key not in {LOOPS, "type"}:
            source.notes.add("entries of the file of loops, left out", str(key))
    pairs, kinds = data[LOOPS], data.get("type", [])
    if not isinstance(pairs, list) or not isinstance(kinds, list) or len(kinds) not in {0, len(pairs)}:
        raise document.error((LOOPS,), "expected a list of pairs, and a type for each.")
    for number, pair in enumerate(pairs, start=1):
        place = (LOOPS, number - 1)
        if not isinstance(pair, list) or len(pair) != 2:
            raise document.error(place, f"expected two names of frames, got {shown(pair)}.")
        kind = str(kinds[number - 1]).lower() if kinds else "6d"
        if kind not in TYPES:
            raise document.error(("type", number - 1), f"expected 6d or 3d, got {shown(kind)}.")
        parent, child = (_frame(name, document, place, robot) for name in pair)
        yield Connection(f"loop{number}", child, parent, joint=TYPES[kind])


def _frame(name: Any, document: Document, place: tuple[str | int, ...], robot: Robot) -> str:  # noqa: ANN401  (any YAML)
    if name in robot.frames:
        return robot.frames[name]
    if name in robot.joints:
        return robot.frames[robot.joints[name].child]
    raise document.error(place, f"no link or joint {shown(name)}; {near(str(name), [*robot.frames, *robot.joints])}.")
