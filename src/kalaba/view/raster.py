"""Triangles into pixels: a depth buffer in compiled code, so that what is nearer hides what is behind it.

A corner has its place in pixels and w = 1/depth, which is linear across the picture in perspective.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kalaba.native.machine_code import compiled_entry
from kalaba.space.arrays import Array
from kalaba.tolerances import SURFACES_COINCIDE, TRIANGLE_EDGE

Integers = NDArray[np.int64]
NOTHING = -1  # where no triangle is
OUTLINE = 0.45  # of the brightness, along the edges of shapes
CREASE = 0.02  # relative step in depth within a shape that gets an outline too


@compiled_entry
def fill(corners: Array, light: Array, owners: Integers, nearest: Array, shades: Array, seen: Integers) -> None:
    """Put triangles into the buffers: `nearest` w, `shades` of light and `seen` owner of every pixel.

    corners (T, 3, 3) are x, y and w; light (T, 3) is interpolated between them, as w is. The parts a, b, c that the
    corners have in a pixel are linear in x and y; all are positive inside. Faces that look away are left out.
    """
    height, width = nearest.shape
    for k in range(len(corners)):
        x0, y0, w0 = corners[k, 0, 0], corners[k, 0, 1], corners[k, 0, 2]
        x1, y1, w1 = corners[k, 1, 0], corners[k, 1, 1], corners[k, 1, 2]
        x2, y2, w2 = corners[k, 2, 0], corners[k, 2, 1], corners[k, 2, 2]
        area = (x1 - x0) * (y2 - y0) - (x2 - x0) * (y1 - y0)
        if area > -TRIANGLE_EDGE:  # rows count downwards, so that what is counter-clockwise has a negative area
            continue
        left, right = max(int(min(x0, x1, x2)), 0), min(int(max(x0, x1, x2)) + 1, width - 1)
        top, bottom = max(int(min(y0, y1, y2)), 0), min(int(max(y0, y1, y2)) + 1, height - 1)
        a_x, b_x = (y1 - y2) / area, (y2 - y0) / area
        w_x = a_x * w0 + b_x * w1 - (a_x + b_x) * w2
        for row in range(top, bottom + 1):
            x, y = left + 0.5, row + 0.5
            a = ((x1 - x) * (y2 - y) - (x2 - x) * (y1 - y)) / area
            b = ((x2 - x) * (y0 - y) - (x0 - x) * (y2 - y)) / area
            w = a * w0 + b * w1 + (1.0 - a - b) * w2
            for column in range(left, right + 1):
                if a >= 0.0 and b >= 0.0 and a + b <= 1.0 and w > nearest[row, column] * (1.0 + SURFACES_COINCIDE):
                    nearest[row, column] = w
                    shades[row, column] = a * light[k, 0] + b * light[k, 1] + (1.0 - a - b) * light[k, 2]
                    seen[row, column] = owners[k]
                a, b, w = a + a_x, b + b_x, w + w_x


@compiled_entry
def resolve(nearest: Array, shades: Array, seen: Integers, palette: Array, finer: int, image: Array) -> None:
    """Colours and outlines of the buffers, averaged down into an image (height, width, 3).

    An outline lies on the nearer shape where another begins, or where one lies before itself.
    """
    rows, columns = nearest.shape
    part = 255.0 / finer**2
    for row in range(rows):
        for column in range(columns):
            owner, w = seen[row, column], nearest[row, column]
            shade = shades[row, column] if owner >= 0 else 1.0
            for step in range(4):
                i, j = row + (step == 0) - (step == 1), column + (step == 2) - (step == 3)
                inside = 0 <= i < rows and 0 <= j < columns
                if inside and w >= nearest[i, j] and (seen[i, j] != owner or w - nearest[i, j] > CREASE * w):
                    shade *= OUTLINE
                    break
            for channel in range(3):
                image[row // finer, column // finer, channel] += part * shade * palette[owner, channel]


def picture(
    size: tuple[int, int], corners: Array, light: Array, owners: Integers, colours: Array, finer: int = 2
) -> NDArray[np.uint8]:
    """Triangles as an image (height, width, 3) on white, with outlines; drawn `finer` and averaged down.

    owners (T,) are indices into colours (n, 3), which are between 0 and 1.
    """
    width, height = size[0] * finer, size[1] * finer
    nearest, shades = np.zeros((height, width)), np.ones((height, width))
    seen = np.full((height, width), NOTHING, dtype=np.int64)
    scaled = np.ascontiguousarray(corners * np.array([finer, finer, 1.0]))
    fill(scaled, np.ascontiguousarray(light), np.ascontiguousarray(owners), nearest, shades, seen)
    palette = np.concatenate([colours, np.ones((1, 3))])  # nothing is white: it stands last, at index -1
    image = np.zeros((size[1], size[0], 3))
    resolve(nearest, shades, seen, palette, finer, image)
    return np.asarray(np.clip(image + 0.5, 0, 255), dtype=np.uint8)
