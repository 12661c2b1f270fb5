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
def fill(  # noqa: PLR0913, PLR0917  (arrays and their sizes)
    corners: Array,
    light: Array,
    owners: Integers,
    count: int,
    nearest: Array,
    shades: Array,
    seen: Integers,
    height: int,
    width: int,
) -> None:
    """Put triangles into the buffers: `nearest` w, `shades` of light and `seen` owner of every pixel, row by row.

    corners (count, 3, 3) are x, y and w; light (count, 3) is interpolated between them, as w is. The parts a, b, c that
    the corners have in a pixel are linear in x and y; all are positive inside. Faces that look away are left out.
    """
    for k in range(count):
        x0, y0, w0 = corners[9 * k], corners[9 * k + 1], corners[9 * k + 2]
        x1, y1, w1 = corners[9 * k + 3], corners[9 * k + 4], corners[9 * k + 5]
        x2, y2, w2 = corners[9 * k + 6], corners[9 * k + 7], corners[9 * k + 8]
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
            for pixel in range(row * width + left, row * width + right + 1):
                if a >= 0.0 and b >= 0.0 and a + b <= 1.0 and w > nearest[pixel] * (1.0 + SURFACES_COINCIDE):
                    nearest[pixel] = w
                    shades[pixel] = a * light[3 * k] + b * light[3 * k + 1] + (1.0 - a - b) * light[3 * k + 2]
                    seen[pixel] = owners[k]
                a, b, w = a + a_x, b + b_x, w + w_x


@compiled_entry
def resolve(  # noqa: PLR0913, PLR0917  (arrays and their sizes)
    nearest: Array,
    shades: Array,
    seen: Integers,
    rows: int,
    columns: int,
    palette: Array,
    n_colours: int,
    finer: int,
    image: Array,
) -> None:
    """Colours and outlines of the buffers, averaged down into an image (rows / finer, columns / finer, 3).

    The last colour of the palette is that of no triangle. An outline lies on the nearer shape where another begins, or
    where one lies before itself.
    """
    part = 255.0 / finer**2
    for row in range(rows):
        for column in range(columns):
            pixel = row * columns + column
            owner, w = seen[pixel], nearest[pixel]
            shade = shades[pixel] if owner >= 0 else 1.0
            colour = owner if owner >= 0 else n_colours - 1
            for step in range(4):
                i, j = row + (step == 0) - (step == 1), column + (step == 2) - (step == 3)
                if 0 <= i < rows and 0 <= j < columns:
                    beside = i * columns + j
                    if w >= nearest[beside] and (seen[beside] != owner or w - nearest[beside] > CREASE * w):
                        shade *= OUTLINE
                        break
            at = 3 * (row // finer * (columns // finer) + column // finer)
            for channel in range(3):
                image[at + channel] += part * shade * palette[3 * colour + channel]


def picture(
    size: tuple[int, int], corners: Array, light: Array, owners: Integers, colours: Array, finer: int = 2
) -> NDArray[np.uint8]:
    """Triangles as an image (height, width, 3) on white, with outlines; drawn `finer` and averaged down.

    owners (T,) are indices into colours (n, 3), which are between 0 and 1.
    """
    width, height = size[0] * finer, size[1] * finer
    nearest, shades = np.zeros(height * width), np.ones(height * width)
    seen = np.full(height * width, NOTHING, dtype=np.int64)
    scaled = (corners * np.array([finer, finer, 1.0])).reshape(-1)
    fill(scaled, light.flatten(), owners.flatten(), len(corners), nearest, shades, seen, height, width)
    palette = np.concatenate([colours, np.ones((1, 3))])  # what no triangle covers is white
    image = np.zeros((size[1], size[0], 3))
    resolve(nearest, shades, seen, height, width, palette.flatten(), len(palette), finer, image.reshape(-1))
    return np.asarray(np.clip(image + 0.5, 0, 255), dtype=np.uint8)
