"""A film shows the run from its start to its end, at a speed that is said, in a file of sensible size."""

import shutil
from dataclasses import replace

import numpy as np
import pytest
from PIL import Image

import kalaba as kb
from kalaba.errors import FileError, ViewError
from kalaba.view.film import RATE, timing
from unit.results.samples import broken_run, small_run

SIZE = (160, 120)


@pytest.mark.parametrize(
    ("seconds", "speed", "pictures"), [(5.0, 1.0, 101), (1.0, 0.5, 41), (20.0, 2.0, 201), (0.05, 0.02, 51)]
)
def test_a_film_is_neither_long_nor_short(seconds, speed, pictures):
    run = small_run()
    found = timing(replace(run, time=np.linspace(0, seconds, len(run.time))))
    assert found.speed == speed
    assert len(found.times) == pictures
    assert (found.times[0], found.times[-1]) == (0.0, pytest.approx(seconds))


def test_a_gif_moves_and_says_how_far_it_is(tmp_path):
    told = []
    place = kb.film(small_run(), tmp_path / "run.gif", speed=0.1, size=SIZE, progress=lambda *n: told.append(n))
    assert told[0] == (1, 11)
    assert told[-1] == (11, 11)
    with Image.open(place) as moving:
        assert moving.size == SIZE
        assert moving.info["duration"] == 1000 // RATE
        first = np.asarray(moving.convert("L"), dtype=float)
        moving.seek(moving.n_frames - 1)
        last = np.asarray(moving.convert("L"), dtype=float)
    assert np.mean(np.abs(first - last)) > 0.1


def test_a_gif_of_five_seconds_stays_below_5_megabytes(tmp_path):
    """A fifth of the 101 pictures of such a film is drawn, which move further from one to the next than all would."""
    run = small_run()
    slow = replace(run, time=np.linspace(0, 5.0, len(run.time)))
    place = kb.film(slow, tmp_path / "run.gif", speed=5.0)
    assert 5 * place.stat().st_size < 5e6
    with Image.open(place) as moving:
        assert moving.size == (640, 480)


@pytest.mark.skipif(shutil.which("ffmpeg") is None, reason="an .mp4 is made by ffmpeg")
def test_an_mp4_is_written(tmp_path):
    place = kb.film(small_run(), tmp_path / "run.mp4", speed=0.1, size=SIZE)
    assert place.read_bytes()[4:8] == b"ftyp"
    assert [entry.name for entry in tmp_path.iterdir()] == ["run.mp4"]


def test_without_ffmpeg_a_gif_is_offered(tmp_path, monkeypatch):
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(FileError, match=r"needs ffmpeg, which is not installed. Try run.gif."):
        kb.film(small_run(), tmp_path / "run.mp4")
    assert list(tmp_path.iterdir()) == []


def test_a_png_is_one_picture(tmp_path):
    with Image.open(kb.film(small_run(), tmp_path / "run.png", size=SIZE)) as drawn:
        assert drawn.size == SIZE


def test_a_run_that_broke_off_is_shown_as_far_as_it_went(tmp_path):
    run = broken_run()
    assert timing(run).times[-1] == pytest.approx(run.time[-2])
    assert kb.film(run, tmp_path / "run.gif", speed=0.1, size=SIZE).stat().st_size > 1000


@pytest.mark.parametrize("speed", [0.0, -1.0, float("nan")])
def test_a_speed_is_above_zero(tmp_path, speed):
    with pytest.raises(ViewError, match=r"expected a (speed above zero|number or None)"):
        kb.film(small_run(), tmp_path / "run.gif", speed=speed)


def test_another_suffix_is_refused(tmp_path):
    with pytest.raises(FileError, match=r"ends in \.gif, \.mp4, \.png"):
        kb.film(small_run(), tmp_path / "run.avi")
