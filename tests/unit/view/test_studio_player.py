"""A player: the cursor on a run's time."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.view.studio.camera import cell_size, view_of
from kalaba.view.studio.player import Player
from kalaba.view.studio.plotting import MOST, lines
from kalaba.view.studio.quantities import Quantity


@pytest.fixture(scope="module")
def run():
    top = kb.Body("top", kb.Solid(1.0, inertia=(1.0, 2.0, 3.0)))
    system = kb.System("top", (top,), gravity=(0, 0, 0), start=kb.Start(speed={"top": (1, 0, 0, 0.1, 3.0, 0.2)}))
    return kb.simulate(system, 0.5, save_every=0.1)


def test_a_sample_is_shown_as_it_is(run):
    player = Player(run)
    for time, q in zip(run.time, run.q, strict=True):
        player.seek(time)
        assert player.q == pytest.approx(q, abs=1e-15)


def test_between_samples_places_are_lines_and_quaternions_unit(run):
    player = Player(run)
    player.seek(0.25)
    assert player.q[:3] == pytest.approx((run.q[2, :3] + run.q[3, :3]) / 2)
    assert np.linalg.norm(player.q[3:]) == pytest.approx(1.0)


def test_time_passes_only_while_playing_and_begins_again(run):
    player = Player(run, speed=2.0)
    player.advance(0.1)
    assert player.cursor == pytest.approx(0.2)
    player.is_playing = False
    player.advance(0.1)
    assert player.cursor == pytest.approx(0.2)
    player.is_playing = True
    player.advance(0.2)
    assert player.cursor == pytest.approx(0.1)  # 0.6 of 0.5 s


def test_the_cursor_stays_on_the_run(run):
    player = Player(run)
    player.seek(9.0)
    assert player.cursor == 0.5
    assert player.index == len(run.time) - 1
    player.seek(-1.0)
    assert player.cursor == 0.0


def test_a_plot_has_a_stroke_at_the_cursor_and_few_points():
    time = np.linspace(0, 10, 5001)
    quantity = Quantity("x", "m", ("x",), np.sin(time)[:, None])
    t, x, stroke = lines(quantity, time, 3.21)
    assert len(t) <= MOST + 3
    assert np.all(np.diff(t) >= 0)
    assert t[stroke == 1.0] == pytest.approx([3.21])
    assert x[stroke == 1.0] == pytest.approx(np.sin(3.21), abs=1e-3)  # of a line between samples


def test_a_camera_has_the_whole_box_in_sight_whatever_is_flat():
    for extents in ([1, 2, 3], [1, 0.01, 1], [2, 2, 0.0], [0.0, 1, 1]):
        low, high = np.zeros(3), np.array(extents, dtype=float)
        view = view_of(low, high)
        towards = view.target - view.position
        distance = np.linalg.norm(towards)
        corners = np.array([[x, y, z] for x in (0, high[0]) for y in (0, high[1]) for z in (0, high[2])])
        away = corners - view.position
        cosines = away @ towards / distance / np.linalg.norm(away, axis=1)
        assert np.arccos(np.clip(cosines, -1, 1)).max() < view.angle / 2


@pytest.mark.parametrize(("size", "cell"), [(1.0, 0.1), (2.2, 0.2), (5.4, 0.5), (60.0, 5.0)])
def test_cells_of_the_ground_have_round_sizes(size, cell):
    assert cell_size(size) == pytest.approx(cell)
