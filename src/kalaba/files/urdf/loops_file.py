"""A file beside a URDF that closes its loops: kalaba YAML without `extends`, or the YAML of Extended URDF.

The latter names pairs of frames that coincide, in all (6d) or in their origins alone (3d), the joints that motors
drive, and joints that are of another kind than the URDF says::

    closed_loop: [[rod_end, lever_end]]
    type: [3d]
    name_mot: [motor_hip]
    joint_name: [rod_ball, lever_cross]
    joint_type: [SPHERICAL, UJOINT_XY]

A frame is a link, or a joint: then the link that it moves. Reference: Batto et al. (2025), arXiv:2504.04767; keys and
values as `example_parallel_robots/loader_tools.py` of https://github.com/Gepetto/example-parallel-robots reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kalaba.errors import near
from kalaba.files.urdf.machine import AS_WRITTEN, CROSSES, Changes
from kalaba.files.yaml.reading import read_source
from kalaba.files.yaml.tree import Document, parse, shown
from kalaba.joints import Joint, Spherical, Weld
from kalaba.model.parts import Connection
from kalaba.units import counted

if TYPE_CHECKING:
    from kalaba.files.source import Source
    from kalaba.files.urdf.machine import Robot
    from kalaba.model.system import System

LOOPS, LOOP_TYPES = "closed_loop", "type"
MOTORS = "name_mot"
JOINTS, JOINT_TYPES = "joint_name", "joint_type"
READ = {LOOPS, LOOP_TYPES, MOTORS, JOINTS, JOINT_TYPES}
TYPES: Mapping[str, Joint] = {"6d": Weld(), "3d": Spherical()}
CHANGED: Mapping[str, str] = {  # as that file calls a type → as the reader of URDF does
    "SPHERICAL": "spherical",
    "FIXED": "fixed",
    **{cross.replace("cross ", "UJOINT_"): cross for cross in CROSSES},
}


@dataclass(frozen=True)
class LoopsFile:
    """A file of loops, opened.

    Arguments:
        source: the file
        document: what it says
        is_extended_urdf: whether it is that format; else kalaba YAML
    """

    source: Source
    document: Document
    is_extended_urdf: bool

    @property
    def changes(self) -> Changes:
        """What it changes of the tree itself."""
        if not self.is_extended_urdf:
            return AS_WRITTEN
        names, kinds = (self._list(key) for key in (JOINTS, JOINT_TYPES))
        if len(names) != len(kinds):
            raise self.document.error((JOINTS,), f"expected a {JOINT_TYPES} for each, got {len(kinds)}.")
        for place, kind in enumerate(kinds):
            if kind not in CHANGED:
                known = ", ".join(CHANGED)
                raise self.document.error((JOINT_TYPES, place), f"expected one of {known}, got {shown(kind)}.")
        motors = self.document.data.get(MOTORS)
        types = {str(name): CHANGED[kind] for name, kind in zip(names, kinds, strict=True)}
        if motors is None or isinstance(motors, str):  # a text is a part of the names, as older files have it
            return Changes(types, motors)
        return Changes(types, tuple(map(str, self._list(MOTORS))))

    def added(self, system: System, robot: Robot) -> System:
        """The machine with what it adds; its joints start at zero, where it is drawn, if limits allow."""
        drawn = replace(system, start=system.start.over(robot.drawn_start()))
        if not self.is_extended_urdf:
            return read_source(self.source, drawn).system
        for key in self.document.data:
            if key not in READ:
                self.source.notes.add("entries of the file of loops, left out", str(key))
        for key in (JOINTS, MOTORS):
            names = self.document.data.get(key)
            for place, name in enumerate(names if isinstance(names, list) else ()):
                self._known(name, (key, place), robot.joints, "joint")
        return drawn.add(*self._coinciding(robot))

    def _list(self, key: str) -> list[Any]:
        content = self.document.data.get(key, [])
        if not isinstance(content, list):
            raise self.document.error((key,), f"expected a list, got {shown(content)}.")
        return content

    def _coinciding(self, robot: Robot) -> Iterator[Connection]:
        """Frames that coincide."""
        document, pairs, kinds = self.document, self._list(LOOPS), self._list(LOOP_TYPES)
        if len(kinds) not in {0, len(pairs)}:
            raise document.error(
                (LOOP_TYPES,), f"expected a type for each of {counted(len(pairs), 'pair')}, got {len(kinds)}."
            )
        for number, pair in enumerate(pairs, start=1):
            place = (LOOPS, number - 1)
            if not isinstance(pair, list) or len(pair) != 2:
                raise document.error(place, f"expected two names of frames, got {shown(pair)}.")
            kind = str(kinds[number - 1]).lower() if kinds else "6d"
            if kind not in TYPES:
                raise document.error((LOOP_TYPES, number - 1), f"expected 6d or 3d, got {shown(kind)}.")
            parent, child = (self._frame(name, place, robot) for name in pair)
            yield Connection(f"loop{number}", child, parent, joint=TYPES[kind])

    def _frame(self, name: Any, place: tuple[str | int, ...], robot: Robot) -> str:  # noqa: ANN401  (any YAML)
        self._known(name, place, [*robot.frames, *robot.joints], "link or joint")
        return robot.frames[name if name in robot.frames else robot.joints[name].child]

    def _known(self, name: Any, place: tuple[str | int, ...], names: Collection[str], what: str) -> None:  # noqa: ANN401
        if name not in names:
            raise self.document.error(place, f"no {what} {shown(name)}; {near(str(name), names)}")


def opened(source: Source) -> LoopsFile:
    """Open a file of loops."""
    document = parse(source)
    data = document.data
    return LoopsFile(source, document, isinstance(data, Mapping) and LOOPS in data and "kalaba" not in data)
