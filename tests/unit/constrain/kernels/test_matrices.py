"""What rows are chosen from: a row of speeds makes way for the row of positions whose rate it is, in any order."""

import numpy as np
import pytest

import kalaba as kb

PLACE = "slide.travel - 0.3*cos(crank.angle)"
ROWS = {"speed": f"rate({PLACE})", "place": PLACE}


def tied(names) -> kb.System:
    """A slider that a crank drives, tied twice: by where it is and by how fast it goes."""
    return kb.System(
        "tied",
        (
            kb.Body("crank", kb.Rod(0.3, mass=1.0), joint=kb.Revolute(kb.Y)),
            kb.Body("slide", kb.Solid(2.0), joint=kb.Prismatic(kb.X)),
            kb.Constraint("rows", {name: ROWS[name] for name in names}),
        ),
        start=kb.Start(hold={"crank.angle": 0.7}, guess={"slide.travel": 0.23}),
    )


@pytest.mark.parametrize("names", [("speed", "place"), ("place", "speed")])
def test_a_row_of_positions_is_kept_whatever_stands_first(names):
    plant = kb.build(tied(names))
    assert plant.choice.mask.tolist() == [float(name == "place") for name in names]
    run = kb.simulate(plant, 2.0, stepper=kb.RungeKutta4(0.02))  # the speeds alone drift by 1e-6
    gap = run["slide.travel"] - 0.3 * np.cos(run["crank.angle"])
    assert np.abs(gap).max() < 1e-14
