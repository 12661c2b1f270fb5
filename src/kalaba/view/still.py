"""Still: a picture of a machine at a configuration, from the shapes of its scene, shaded and in true proportions."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from kalaba.boundary import check_arguments, check_whole
from kalaba.errors import ViewError
from kalaba.plant.arguments import checked_configuration
from kalaba.results.places import check_place, replacing
from kalaba.space.arrays import Array
from kalaba.tolerances import PICTURE_FLAT
from kalaba.view.raster import picture
from kalaba.view.scene import Scene, scene_of
from kalaba.view.sheet import COLOURS

if TYPE_CHECKING:
    from kalaba.plant.plant import Plant

Image = NDArray[np.uint8]
STILLS = (".png",)
SIZE = (960, 720)  # pixels
LEAST_PIXELS, MOST_PIXELS = 8, 8192
MARGIN = 0.06  # of the picture, on every side
DISTANCE = 5.0  # of the eye, in diagonals of the machine
AZIMUTH, ELEVATION = -55.0, 22.0  # degrees, of the eye
POSES = 24  # of a motion that the picture must hold
AMBIENT = 0.5
NEUTRAL = (0.62, 0.62, 0.64)
PALE = 0.25  # of white in the colours of bodies, so that shades show


@dataclass(frozen=True, slots=True)
class Camera:
    """An eye that looks at a point, and how its view lies in the picture."""

    target: Array  # m
    axes: Array  # (3, 3): rows right, up, towards the eye
    distance: float  # m
    scale: float  # pixels per metre at the target
    middle: tuple[float, float]  # pixels

    def project(self, points: Array) -> Array:
        """Places in the picture and 1/depth."""
        seen = (points - self.target) @ self.axes.T
        w = 1.0 / np.maximum(self.distance - seen[:, 2], 1e-9 * self.distance)
        x = self.middle[0] + self.scale * self.distance * seen[:, 0] * w
        y = self.middle[1] - self.scale * self.distance * seen[:, 1] * w
        return np.column_stack([x, y, w])


def still(plant: Plant, path: str | Path, q: ArrayLike | None = None, size: tuple[int, int] = SIZE) -> Path:
    """Draw a machine at a configuration into a .png.

    Arguments:
        plant: the machine, built
        path: where to write, .png
        q: configuration, one number per coordinate (m, rad); the start if not given
        size: width and height, pixels
    """
    check_arguments(still, locals(), ViewError)
    from PIL import Image as Images

    place = check_place(path, STILLS)
    check_size(size, "still")
    shown = plant.start.q if q is None else checked_configuration(q, plant.machine)
    scene = scene_of(plant, shown)
    drawn = image(scene, shown, camera_for(scene, shown[None], size), size)
    with replacing(place) as beside:
        Images.fromarray(drawn).save(beside, optimize=True)
    return place


def check_size(size: tuple[int, int], what: str) -> None:
    """Refuse pictures without a point, and those that no memory holds."""
    for name, pixels in zip(("width", "height"), size, strict=True):
        check_whole(pixels, f"{what}: size: {name} in pixels", LEAST_PIXELS, MOST_PIXELS, ViewError)


def image(scene: Scene, q: Array, camera: Camera, size: tuple[int, int], finer: int = 2) -> Image:
    """Pixels of a scene at a configuration."""
    corners, light, owners = [], [], []
    for index, (points, shape) in enumerate(zip(scene.corners(q), scene.shapes, strict=True)):
        corners.append(camera.project(points)[shape.faces])
        light.append(_light(points, shape.faces, camera)[shape.faces])
        owners.append(np.full(len(shape.faces), index, dtype=np.int64))
    colours = np.array([_colour(shape.colour) if shape.tint is None else shape.tint for shape in scene.shapes])
    return picture(size, np.concatenate(corners), np.concatenate(light), np.concatenate(owners), colours, finer)


def camera_for(scene: Scene, motion: Array, size: tuple[int, int]) -> Camera:
    """An eye that sees a machine whole at all configurations of a motion, its up against gravity."""
    finite = motion[np.isfinite(motion).all(axis=1)]
    if not len(finite):
        raise ViewError(f"{scene.plant.system.name}: no configuration of the run is finite, so nothing can be drawn.")
    chosen = finite[np.unique(np.linspace(0, len(finite) - 1, POSES).astype(int))]
    points = np.concatenate([np.concatenate(scene.corners(q)) for q in chosen])
    low, high = points.min(axis=0), points.max(axis=0)
    target, diagonal = (low + high) / 2, float(np.linalg.norm(high - low)) or 1.0
    frames = scene.framed(chosen).positions.reshape(-1, 3)  # solids may be thick where the mechanism is flat
    axes = _axes(_up(scene.plant), np.ptp(frames, axis=0))
    wide = Camera(target, axes, DISTANCE * diagonal, 1.0, (0.0, 0.0))
    seen = wide.project(points)[:, :2]
    extent, middle = np.ptp(seen, axis=0), (seen.min(axis=0) + seen.max(axis=0)) / 2
    room = np.array(size) * (1 - 2 * MARGIN)
    scale = float(np.min(room / np.maximum(extent, 1e-9 * diagonal)))
    centre = np.array(size) / 2 - scale * middle
    return Camera(target, axes, DISTANCE * diagonal, scale, (float(centre[0]), float(centre[1])))


def _up(plant: Plant) -> Array:
    """Against gravity; z where nothing has weight."""
    values = {p.name: p.value for p in plant.machine.parameters}
    gravity = np.array([values.get(f"gravity.{axis}", 0.0) for axis in "xyz"])
    size = float(np.linalg.norm(gravity))
    return -gravity / size if size > 0 else np.array([0.0, 0.0, 1.0])


def _axes(up: Array, extent: Array) -> Array:
    """Right, up and towards the eye. A machine that is flat is seen across its plane, a little from the side."""
    azimuth, elevation = AZIMUTH, ELEVATION
    thin = int(np.argmin(extent))
    if extent[thin] < PICTURE_FLAT * extent.max() and np.sort(extent)[1] > PICTURE_FLAT * extent.max():
        along = np.eye(3)[thin]
        if abs(along @ up) > 0.9:
            azimuth, elevation = -75.0, 58.0
        else:
            azimuth, elevation = (-72.0, 12.0) if thin == 1 else (-18.0, 12.0)
    helper = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    first = helper - (helper @ up) * up
    first /= np.linalg.norm(first)
    second = np.cross(up, first)
    a, e = np.radians(azimuth), np.radians(elevation)
    towards = np.cos(e) * (np.cos(a) * first + np.sin(a) * second) + np.sin(e) * up
    right = np.cross(up, towards)
    right /= np.linalg.norm(right)
    return np.array([right, np.cross(towards, right), towards])


def _light(points: Array, faces: NDArray[np.int64], camera: Camera) -> Array:
    """Brightness of every corner, from the mean normal of its faces: edges stay sharp where corners stand twice."""
    a, b, c = points[faces].transpose(1, 0, 2)
    normals = np.zeros_like(points)
    across = np.cross(b - a, c - a)
    for axis in range(3):
        weights = np.tile(across[:, axis], 3)
        normals[:, axis] = np.bincount(faces.T.ravel(), weights, len(points))
    normals /= np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
    lamp = camera.axes.T @ np.array([-0.45, 0.65, 0.61])  # over the viewer's left shoulder
    return np.asarray(AMBIENT + (1 - AMBIENT) * np.clip(normals @ lamp, 0.0, 1.0))


def _colour(index: int) -> Array:
    if index < 0:
        return np.array(NEUTRAL)
    text = COLOURS[index % len(COLOURS)]
    full = np.array([int(text[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.asarray(PALE + (1 - PALE) * full)
