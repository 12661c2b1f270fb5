"""What is drawn does not depend on how large a machine is: a millionth of a metre or ten thousand metres."""

import numpy as np
import pytest

import kalaba as kb
from kalaba.view.figures.comparing import compare
from kalaba.view.figures.histories import coordinate_panels, force_panels, momentum_panels, velocity_panels
from kalaba.view.figures.tracks import path_panels
from kalaba.view.scene import scene_of
from kalaba.view.studio.camera import cell_size, view_of
from kalaba.view.studio.quantities import quantities
from sizes import scaled

LENGTHS = [1e-6, 1e4]


HINGE = kb.Revolute(-kb.Y)


def simulated(length: float) -> kb.Run:
    """A slider-crank that falls: metres, angles, forces and torques."""
    parts = (
        kb.Body("crank", kb.Rod(0.3, mass=2.0), joint=HINGE),
        kb.Body("rod", kb.Rod(0.8, mass=1.0), parent="crank.tip", joint=HINGE),
        kb.Body("ram", kb.Box((0.1, 0.1, 0.1), mass=3.0), joint=kb.Prismatic(kb.X)),
        kb.Connection("pin", "rod.tip", parent="ram", joint=HINGE),
    )
    start = kb.Start(hold={"crank.angle": 1.0}, guess={"rod.angle": -1.3, "ram.travel": 0.9})
    return kb.simulate(scaled(kb.System("press", parts, start=start), length, length**3), 0.2, save_every=0.02)


@pytest.fixture(scope="module")
def metre() -> kb.Run:
    return simulated(1.0)


def lines(run: kb.Run) -> list[tuple[str, tuple[str, ...]]]:
    frames = tuple(body.name for body in run.plant.machine.bodies)
    panels = [coordinate_panels(run), velocity_panels(run), force_panels(run), momentum_panels(run)]
    panels.append(path_panels(run, frames))
    return [(panel.title, tuple(curve.name for curve in panel.curves)) for group in panels for panel in group]


@pytest.mark.parametrize("length", LENGTHS)
def test_the_same_lines_move(metre, length):
    run = simulated(length)
    assert len(lines(metre)) > 4
    assert lines(run) == lines(metre)
    assert [(q.title, q.unit, q.names) for q in quantities(run)] == [
        (q.title, q.unit, q.names) for q in quantities(metre)
    ]
    assert len(compare({"one": run, "other": run}).axes) == len(compare({"one": metre, "other": metre}).axes)


@pytest.mark.parametrize("length", LENGTHS)
def test_a_scene_and_its_camera_are_as_large_as_the_machine(metre, length):
    run = simulated(length)
    assert scene_of(run.plant).size == pytest.approx(length * scene_of(metre.plant).size, rel=1e-9)
    low, high = -np.ones(3), np.ones(3)
    near, far = view_of(length * low, length * high), view_of(low, high)
    np.testing.assert_allclose(near.position, length * far.position, rtol=1e-12)
    assert cell_size(length * 3.0) == pytest.approx(length * cell_size(3.0))
