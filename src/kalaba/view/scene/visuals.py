"""Shapes that a model gives for pictures, as meshes; those in files are read by trimesh, which is an extra."""

from __future__ import annotations

import warnings
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from kalaba.model.appearance import BoxShape, CylinderShape, MachineVisual, MeshShape, SphereShape
from kalaba.model.formats import LeftOutWarning
from kalaba.results.places import first_line
from kalaba.space.rotations import from_pose, rotation_of
from kalaba.view.scene.meshes import Mesh, ball, bar, box

if TYPE_CHECKING:
    from collections.abc import Callable

    from kalaba.model.appearance import Shape

MOST_BYTES = 100 * 1024 * 1024  # of a mesh file


def visual_mesh(visual: MachineVisual) -> Mesh | None:
    """The mesh of a shape in its frame; None: its file cannot be read, which is said once."""
    mesh = _MESHES[type(visual.shape)](visual.shape)
    if mesh is None or not len(mesh.faces):
        return None
    position, quaternion = from_pose(visual.at, float)
    return mesh.moved(position, rotation_of(quaternion))


def _box(shape: BoxShape) -> Mesh:
    return box(shape.size)


def _cylinder(shape: CylinderShape) -> Mesh:
    half = max(shape.length, 1e-9) / 2 * np.array([0.0, 0.0, 1.0])
    return bar(-half, half, shape.radius)


def _sphere(shape: SphereShape) -> Mesh:
    return ball(shape.radius)


def _file(shape: MeshShape) -> Mesh | None:
    mesh = _triangles(shape.file)
    return None if mesh is None else Mesh(mesh.vertices * np.array(shape.scale), mesh.faces)


@lru_cache(maxsize=256)
def _triangles(file: str) -> Mesh | None:
    """Triangles of a file; what cannot be read is warned of once."""
    path = Path(file)
    try:
        import trimesh
    except ImportError:
        _warn("shapes in mesh files are not drawn without the extra meshes. Try: pip install 'kalaba[meshes]'")
        return None
    if not path.is_file() or path.stat().st_size > MOST_BYTES:
        _warn(f"{path.name}: no such mesh file, or too large; it is not drawn. Looked for it at {path}.")
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = trimesh.load_mesh(path)
    except Exception as error:  # noqa: BLE001  (trimesh's readers raise errors of every kind)
        _warn(f"{path.name}: this mesh cannot be read and is not drawn ({first_line(error)}).")
        return None
    return Mesh(np.array(loaded.vertices, dtype=np.float64), np.array(loaded.faces, dtype=np.int64))


def _warn(text: str) -> None:
    warnings.warn(text, LeftOutWarning, stacklevel=2)


_MESHES: dict[type[Shape], Callable[..., Mesh | None]] = {
    BoxShape: _box,
    CylinderShape: _cylinder,
    SphereShape: _sphere,
    MeshShape: _file,
}
