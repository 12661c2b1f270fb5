"""Film: a run of a machine as moving pictures, .gif or .mp4, or one picture of it, .png.

`film(run, "run.gif")` is all that a command needs: the place is judged first, `progress` is called for every picture.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kalaba.boundary import called, check_arguments
from kalaba.errors import FileError, ViewError
from kalaba.results.places import check_place, first_line, replacing
from kalaba.view.scene import scene_of
from kalaba.view.still import camera_for, check_size, image, still

if TYPE_CHECKING:
    from kalaba.results.run import Run

Image = NDArray[np.uint8]
FILMS = (".gif", ".mp4", ".png")
RATE = 20  # pictures per second
SIZE = (640, 480)  # pixels
LONGEST, SHORTEST = 10.0, 2.0  # s, of a film whose speed is not given
SPEEDS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0)
PALETTE = 160  # colours of a .gif
MOST_PICTURES = 100_000  # over an hour


@dataclass(frozen=True, slots=True)
class Timing:
    """How a run is laid out over a film."""

    speed: float  # seconds of the run per second of film
    times: NDArray[np.float64]  # of the run, one per picture


def film(
    run: Run,
    path: str | Path,
    speed: float | None = None,
    size: tuple[int, int] = SIZE,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Draw a run as a film, .gif or .mp4, or as one picture of its middle, .png; gives the path.

    An .mp4 needs ffmpeg.

    Arguments:
        run: the run
        path: where to write: .gif, .mp4 or .png
        speed: seconds of the run per second of film; without it 1, unless the film were longer than 10 s or shorter
            than 2 s
        size: width and height, pixels
        progress: called with the number of the picture and how many there are
    """
    check_arguments(film, locals(), ViewError)
    place = check_place(path, FILMS)
    check_size(size, "film")
    if place.suffix.lower() == ".png":
        return still(run.plant, place, run.q[len(run.q) // 2], size)
    if place.suffix.lower() == ".mp4":
        _ffmpeg(place)
    chosen = timing(run, speed)
    pictures = _counted(_pictures(run, chosen, size), len(chosen.times), progress)
    with replacing(place) as beside:
        if place.suffix.lower() == ".gif":
            _write_gif(pictures, beside)
        else:
            _write_mp4(pictures, beside, size, place)
    return place


def timing(run: Run, speed: float | None = None) -> Timing:
    """Which moments of a run a film shows."""
    if speed is not None and not (np.isfinite(speed) and speed > 0):
        raise ViewError(f"film: expected a speed above zero, got {speed!r}. 1 is as fast as it was.")
    whole = np.isfinite(run.q).all(axis=1)
    length = float(run.time[whole][-1] - run.time[0]) if whole.any() else 0.0
    chosen = float(speed) if speed is not None else _fitting(length)
    if length / chosen * RATE > MOST_PICTURES:
        raise ViewError(
            f"film: {length:g} s at a speed of {chosen:g} are {length / chosen * RATE:.3g} pictures; expected at most "
            f"{MOST_PICTURES}. Give a higher speed."
        )
    count = max(1, round(length / chosen * RATE))
    return Timing(chosen, run.time[0] + np.arange(count + 1) * length / count)


def _fitting(length: float) -> float:
    """The speed nearest to 1 at which a film is neither long nor short."""
    allowed = [speed for speed in SPEEDS if SHORTEST <= length / speed <= LONGEST]
    return min(allowed or SPEEDS, key=lambda speed: abs(np.log(speed)) if allowed else abs(np.log(length / speed / 5)))


def _pictures(run: Run, chosen: Timing, size: tuple[int, int]) -> Iterator[Image]:
    whole = np.isfinite(run.q).all(axis=1)
    scene = scene_of(run.plant, run.q[0])
    camera = camera_for(scene, run.q, size)
    caption = "" if chosen.speed == 1 else f"   speed {_words(chosen.speed)}"
    for time in chosen.times:
        q = run.q[whole][int(np.abs(run.time[whole] - time).argmin())]
        yield _captioned(image(scene, q, camera, size), f"{run.plant.system.name}   t = {time:.2f} s{caption}")


def _words(speed: float) -> str:
    return f"{speed:g}" if speed >= 1 else str(Fraction(speed).limit_denominator(100))


def _captioned(drawn: Image, text: str) -> Image:
    from PIL import Image as Images
    from PIL import ImageDraw, ImageFont

    canvas = Images.fromarray(drawn)
    ImageDraw.Draw(canvas).text((10, 8), text, fill=(70, 70, 70), font=ImageFont.load_default(13))
    return np.asarray(canvas)


def _counted(pictures: Iterable[Image], count: int, progress: Callable[[int, int], None] | None) -> Iterator[Image]:
    for number, drawn in enumerate(pictures, 1):
        if progress is not None:
            called(progress, "film: progress", number, count, error=ViewError)
        yield drawn


def _write_gif(pictures: Iterator[Image], path: Path) -> None:
    """All pictures in the colours of one palette, without dithering: what rests stays the same, and takes no room."""
    from PIL import Image as Images

    made = [Images.fromarray(drawn) for drawn in pictures]
    sample = Images.fromarray(np.concatenate([np.asarray(p) for p in made[:: max(1, len(made) // 6)]]))
    palette = sample.quantize(PALETTE, method=Images.Quantize.MEDIANCUT, dither=Images.Dither.NONE)
    flat = [picture.quantize(palette=palette, dither=Images.Dither.NONE) for picture in made]
    rest: dict[str, Any] = {"save_all": True, "append_images": flat[1:], "duration": round(1000 / RATE), "loop": 0}
    flat[0].save(path, format="GIF", optimize=False, **rest)


def _ffmpeg(place: Path) -> str:
    """Where ffmpeg is, or one line that offers what works without it."""
    program = shutil.which("ffmpeg")
    if program is None:
        raise FileError(f"{place}: an .mp4 needs ffmpeg, which is not installed. Try {place.with_suffix('.gif').name}.")
    return program


def _write_mp4(pictures: Iterator[Image], path: Path, size: tuple[int, int], place: Path) -> None:
    """Raw pictures through a pipe to ffmpeg."""
    source = ["-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", str(RATE), "-i", "-"]
    target = ["-pix_fmt", "yuv420p", "-crf", "22", "-movflags", "+faststart", "-f", "mp4", str(path)]
    command = [_ffmpeg(place), "-y", "-loglevel", "error", *source, *target]
    data = b"".join(drawn.tobytes() for drawn in pictures)
    done = subprocess.run(command, input=data, capture_output=True, check=False)  # noqa: S603  (our own words)
    if done.returncode != 0:
        said = first_line(RuntimeError(done.stderr.decode(errors="replace")))
        raise FileError(f"{place}: ffmpeg failed ({said}). Try {place.with_suffix('.gif').name}.")
