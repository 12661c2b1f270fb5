"""A picture of a machine hides what is behind, keeps proportions, and has its up against gravity."""

import numpy as np
import pytest
from PIL import Image

import kalaba as kb
from kalaba.errors import FileError, ViewError
from kalaba.view.raster import NOTHING, fill, picture
from kalaba.view.scene import scene_of
from kalaba.view.still import MARGIN, camera_for
from unit.results.samples import small_run

SIZE = (120, 90)


def buffers(corners: list, light: float = 1.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Depth, shades and owners after some triangles, which own themselves."""
    return filled(corners, np.full(3 * len(corners), light))


def filled(corners: list, light: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    width, height = SIZE
    nearest, shades = np.zeros(width * height), np.ones(width * height)
    seen = np.full(width * height, NOTHING, dtype=np.int64)
    given, owners = np.array(corners, dtype=float).ravel(), np.arange(len(corners))
    fill(given, light, owners, len(corners), nearest, shades, seen, height, width)
    return tuple(buffer.reshape(height, width) for buffer in (nearest, shades, seen))


FAR = [(10, 10, 0.1), (10, 70, 0.1), (100, 70, 0.1)]
NEAR = [(20, 30, 0.2), (20, 70, 0.2), (60, 70, 0.2)]


@pytest.mark.parametrize("order", [[0, 1], [1, 0]])
def test_the_nearer_triangle_is_seen_whichever_comes_first(order):
    both = [FAR, NEAR]
    seen = buffers([both[i] for i in order])[2]
    assert seen[60, 30] == order.index(1)
    assert seen[65, 90] == order.index(0)
    assert seen[5, 5] == NOTHING


def test_a_triangle_covers_its_area():
    """60 by 90 pixels over two; along the edges one pixel in two is wrong at most."""
    covered = np.sum(buffers([FAR])[2] == 0)
    assert covered == pytest.approx(60 * 90 / 2, abs=110)


def test_a_face_that_looks_away_is_left_out():
    assert np.all(buffers([FAR[::-1]])[2] == NOTHING)


def test_light_goes_evenly_between_the_corners():
    shades = filled([FAR], np.array([0.0, 0.0, 1.0]))[1]
    assert shades[69, 55] == pytest.approx((55.5 - 10) / 90, abs=1e-12)


def test_what_is_empty_is_white_and_shapes_have_their_colour():
    colours = np.array([[1.0, 0.0, 0.0]])
    drawn = picture(SIZE, np.array([FAR], dtype=float), np.ones((1, 3)), np.zeros(1, dtype=np.int64), colours)
    assert drawn.shape == (90, 120, 3)
    assert tuple(drawn[2, 2]) == (255, 255, 255)
    assert tuple(drawn[60, 40]) == (255, 0, 0)


def test_every_corner_of_a_motion_is_inside_the_picture():
    run = small_run()
    scene = scene_of(run.plant, run.q[0])
    camera = camera_for(scene, run.q, SIZE)
    points = np.concatenate([np.concatenate(scene.corners(q)) for q in (run.q[0], run.q[-1])])
    seen = camera.project(points)
    room = MARGIN * np.array(SIZE)
    assert np.all(seen[:, :2] > room - 1e-6)
    assert np.all(seen[:, :2] < np.array(SIZE) - room + 1e-6)
    assert np.allclose(camera.axes @ camera.axes.T, np.eye(3), atol=1e-12)  # a metre is a metre in all directions


@pytest.mark.parametrize(("gravity", "rises"), [(-9.81, True), (9.81, False), (0.0, True)])
def test_up_in_the_picture_is_against_gravity(gravity, rises):
    body = kb.Body("bar", kb.Rod(0.5, mass=1.0, axis=kb.Z), joint=kb.Revolute(kb.X))
    plant = kb.build(kb.System("bar", parts=(body,), gravity=(0, 0, gravity)), backend=kb.Interpreted())
    camera = camera_for(scene_of(plant), plant.start.q[None], SIZE)
    low, high = camera.project(np.array([[0, 0, 0.0], [0, 0, 0.5]]))[:, 1]
    assert bool(high < low) is rises


def test_a_still_is_a_picture_that_is_not_blank(tmp_path):
    run = small_run()
    place = kb.still(run.plant, tmp_path / "machine.png", run.q[-1], SIZE)
    with Image.open(place) as drawn:
        assert drawn.size == SIZE
        shares = np.mean(np.asarray(drawn.convert("L")) < 250)
    assert 0.02 < shares < 0.9


def test_a_still_is_a_png(tmp_path):
    with pytest.raises(FileError, match=r"ends in \.png"):
        kb.still(small_run().plant, tmp_path / "machine.jpg")


def test_a_run_without_a_finite_pose_cannot_be_drawn():
    run = small_run()
    with pytest.raises(ViewError, match="no configuration of the run is finite"):
        camera_for(scene_of(run.plant, run.q[0]), np.full_like(run.q, np.nan), SIZE)
