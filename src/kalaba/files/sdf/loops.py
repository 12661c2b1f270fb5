"""Loops of an SDF file: which joints form the tree, which close loops, and axes that the file's digits set askew.

A planar loop closed in space has rows that depend on others only while its axes are parallel. Files round rotations to
six digits or so: hinges of one loop whose axes are parallel to that are made parallel, and it is noted; a mechanism
whose axes are truly askew keeps them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np

from kalaba.files.sdf.hinges import Hinge
from kalaba.files.source import Notes
from kalaba.model.names import WORLD
from kalaba.tolerances import AXES_PARALLEL, COMPUTED_TURN

STRAIGHTENED = f"axes in a loop that are parallel to within {AXES_PARALLEL:g} rad are made parallel"


def split(hinges: Sequence[Hinge], links: Iterable[str], standing: Iterable[str]) -> tuple[list[Hinge], list[Hinge]]:
    """Joints of the tree with the fewest coordinates, and joints that close loops, both in the order of the file.

    Arguments:
        hinges: all joints
        links: names of all links
        standing: those that are parts of the world
    """
    group = {name: name for name in (WORLD, *links)}

    def top(name: str) -> str:
        while group[name] != name:
            group[name] = group[group[name]]
            name = group[name]
        return name

    for name in standing:
        group[top(name)] = top(WORLD)
    in_tree = set()
    for hinge in sorted(hinges, key=lambda hinge: (hinge.freedoms, not hinge.is_driven)):
        one, other = top(hinge.parent), top(hinge.child)
        if one != other:
            group[one] = other
            in_tree.add(hinge.name)
    return [h for h in hinges if h.name in in_tree], [h for h in hinges if h.name not in in_tree]


def straightened(tree: Sequence[Hinge], cut: Sequence[Hinge], notes: Notes) -> dict[str, Hinge]:
    """All joints by name; of each loop those whose axes are parallel but for digits have the same axis."""
    hinges = {hinge.name: hinge for hinge in (*tree, *cut)}
    paths = _Paths(tree)
    for closing in cut:
        around = {*paths.between(closing.parent, closing.child), closing.name}
        loop = [name for name, hinge in hinges.items() if name in around and hinge.axes]
        for place, name in enumerate(loop):
            for other in loop[:place]:
                one, two = hinges[other].axes[0], hinges[name].axes[0]
                sine = float(np.linalg.norm(np.cross(one, two)))
                if 0.0 < sine < AXES_PARALLEL:
                    same = one * float(np.sign(one @ two))
                    hinges[name] = replace(hinges[name], axes=(same, *hinges[name].axes[1:]))
                    if sine > COMPUTED_TURN:  # else it is rounding
                        notes.add(STRAIGHTENED, name)
                    break
    return hinges


class _Paths:
    """Ways through a forest of joints."""

    def __init__(self, tree: Sequence[Hinge]) -> None:
        beside: dict[str, list[tuple[str, str]]] = {}
        for hinge in tree:
            beside.setdefault(hinge.parent, []).append((hinge.child, hinge.name))
            beside.setdefault(hinge.child, []).append((hinge.parent, hinge.name))
        self._above: dict[str, tuple[str, str]] = {}  # link → the one above it, and the joint between
        for root in (WORLD, *beside):
            if root not in self._above:
                self._above[root] = ("", "")
                self._descend(root, beside)

    def _descend(self, root: str, beside: Mapping[str, list[tuple[str, str]]]) -> None:
        waiting = [root]
        while waiting:
            here = waiting.pop()
            for there, joint in beside.get(here, ()):
                if there not in self._above:
                    self._above[there] = (here, joint)
                    waiting.append(there)

    def _up(self, link: str) -> list[str]:
        joints = []
        while link and self._above.get(link, ("", ""))[0]:
            link, joint = self._above[link]
            joints.append(joint)
        return joints

    def between(self, one: str, other: str) -> list[str]:
        """Joints on the way from one link to another."""
        first, second = self._up(one), self._up(other)
        shared = set(first) & set(second)
        return [joint for joint in (*first, *reversed(second)) if joint not in shared]
