"""Scene: a machine as shapes that can be drawn, and where they are at a configuration. Knows no screen."""

from kalaba.view.scene.machine import Scene, Shape, scene_of
from kalaba.view.scene.places import Placed

__all__ = ["Placed", "Scene", "Shape", "scene_of"]
