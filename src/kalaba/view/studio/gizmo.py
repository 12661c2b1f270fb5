"""Gizmo: handles on a frame by which a hand pulls it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from kalaba.space.arrays import Array
from kalaba.space.rotations import quaternion_of, rotation_of

if TYPE_CHECKING:
    from kalaba.space.numeric_pose import NumericPose

Pulled = Callable[[str, Array, Array | None], None]
NAME = "/handles"
SIZE = 0.16  # of the machine's size


class Gizmo:
    """Handles in the scene; `pulled` is called with the frame and where the hand has it."""

    def __init__(self, server: Any, pulled: Pulled) -> None:
        self._server, self._pulled = server, pulled
        self._handle: Any = None
        self.is_held = False

    def put(self, frame: str, pose: NumericPose, size: float, *, turns: bool) -> None:
        """Put the handles on a frame."""
        self.remove()
        self._handle = self._server.scene.add_transform_controls(
            NAME,
            scale=SIZE * size,
            disable_rotations=not turns,
            depth_test=False,
            position=pose.position,
            wxyz=quaternion_of(pose.rotation),
        )
        self._handle.on_update(lambda event: self._moved(event, frame, turns=turns))

    def _moved(self, event: Any, frame: str, *, turns: bool) -> None:
        self.is_held = event.phase != "end"
        target = event.target
        rotation = rotation_of(np.array(target.wxyz)) if turns else None
        self._pulled(frame, np.array(target.position), rotation)

    def move(self, pose: NumericPose) -> None:
        """Put the handles where the frame really is."""
        if self._handle is not None:
            self._handle.position, self._handle.wxyz = pose.position, quaternion_of(pose.rotation)

    def remove(self) -> None:
        """Take the handles away."""
        if self._handle is not None:
            self._handle.remove()
            self._handle = None
        self.is_held = False
