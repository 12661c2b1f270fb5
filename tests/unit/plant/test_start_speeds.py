"""Speeds that are asked for at the start: met to a billionth of the fastest, in the sizes of the machine."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import AssemblyError


def carts(size: float, speeds: dict[str, float]) -> kb.System:
    """Two carts that are held together."""
    parts = (
        *(kb.Body(name, kb.Box((size, size, size), mass=1.0), joint=kb.Prismatic(kb.X)) for name in ("a", "b")),
        kb.Constraint("together", "a.travel - b.travel"),
    )
    return kb.System("carts", parts, start=kb.Start(speed=speeds))


@pytest.mark.parametrize("size", [100.0, 1.0, 0.01])
@pytest.mark.parametrize("speed", [5.0, -0.2])
def test_speeds_that_contradict_by_more_than_a_billionth_are_refused(size, speed):
    """Three rows miss a contradiction by a third each: 1e-9 of the fastest are 3e-9 of the speed."""
    fast = speed * size * 1e3  # far above the machine's own rate
    met = kb.build(carts(size, {"a.travel": fast, "b.travel": fast * (1 + 1e-9)})).start.v
    assert met == pytest.approx([fast] * 2, rel=1e-8)
    with pytest.raises(AssemblyError, match=r"carts.start.speed: .* misses by"):
        kb.build(carts(size, {"a.travel": fast, "b.travel": fast * (1 + 1e-8)})).start  # noqa: B018


def test_one_speed_moves_what_hangs_together():
    assert kb.build(carts(1.0, {"a.travel": 2.0})).start.v == pytest.approx([2.0, 2.0], rel=1e-12)
    assert np.abs(kb.build(carts(1.0, {})).start.v).max() == 0.0


def test_a_free_body_begins_where_and_how_it_is_guessed():
    """On a seat that is moved and turned itself: its place in the world is meant."""
    seat = kb.Frame("seat", at=kb.Pose((1.0, 2.0, 3.0), rpy=(0.0, 0.0, np.pi / 2)))
    pose = kb.Pose((4.0, -1.0, 0.5), rpy=(0.3, -0.2, 0.7))
    load = kb.Body("load", kb.Box((1.0, 2.0, 3.0), mass=1.0), parent="seat")
    plant = kb.build(kb.System("free", (seat, load), start=kb.Start(guess={"load": pose})))
    found = plant.pose("load", plant.start.q)
    np.testing.assert_allclose(found.position, (4.0, -1.0, 0.5), atol=1e-12)
    roll, pitch, yaw = (np.array([np.cos(angle), np.sin(angle)]) for angle in (0.3, -0.2, 0.7))
    x = [[1, 0, 0], [0, roll[0], -roll[1]], [0, roll[1], roll[0]]]
    y = [[pitch[0], 0, pitch[1]], [0, 1, 0], [-pitch[1], 0, pitch[0]]]
    z = [[yaw[0], -yaw[1], 0], [yaw[1], yaw[0], 0], [0, 0, 1]]
    np.testing.assert_allclose(found.rotation, np.array(z) @ np.array(y) @ np.array(x), atol=1e-12)
