"""Keyframes of an MJCF file: one named `start` says where the machine starts, as files written here have it."""

from __future__ import annotations

import numpy as np

from kalaba.files.mjcf.machine import Assembly
from kalaba.files.mjcf.placing import unit
from kalaba.files.tree import as_pose
from kalaba.files.xml_tree import Element
from kalaba.space.numeric_pose import NumericPose
from kalaba.space.rotations import rotation_of

START = "start"
NUMBERS = {"free": 7, "ball": 4, "hinge": 1, "slide": 1}


def take_start(assembly: Assembly) -> None:
    """Put the numbers of the keyframe `start` in the place of the pose that the file draws; note all others."""
    for key in assembly.document.section("keyframe"):
        if key.get("name") == START and "qpos" in key.attributes:
            _take(assembly, key)
        else:
            assembly.notes.add(
                f"keyframes are left out, but for one named {START}: the start is the pose that the file draws",
                key.get("name") or key.tag,
            )


def _take(assembly: Assembly, key: Element) -> None:
    joints = [(link, joint) for link in assembly.tree.links for joint in link.joints]
    numbers = key.numbers("qpos", sum(NUMBERS[joint.kind] for _, joint in joints))
    place = 0
    for link, joint in joints:
        mine = np.array(numbers[place : place + NUMBERS[joint.kind]])
        place += len(mine)
        here = assembly.joints[joint.name][1]
        if joint.kind == "free":
            pose = NumericPose(mine[:3], rotation_of(unit(key, mine[3:], "qpos")))
            assembly.guess[assembly.body_names[link.name]] = as_pose(pose)
        elif joint.kind == "ball":
            turned = unit(key, mine, "qpos").tolist()
            assembly.guess |= {f"{here}.q{label}": entry for label, entry in zip("wxyz", turned, strict=True)}
        else:
            assembly.guess[here] = float(mine[0])
