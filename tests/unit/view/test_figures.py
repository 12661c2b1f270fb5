"""Every function of `kb.plot` draws what a run holds, in true proportions, and leaves matplotlib as it was."""

import os
import subprocess
import sys
from dataclasses import replace
from functools import cache

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.figure import Figure

import kalaba as kb
from kalaba.errors import FileError, ViewError
from kalaba.view import figures
from kalaba.view.figures.beams import deflections
from kalaba.view.figures.comparing import compared, readings
from kalaba.view.figures.reading import positions, values_of
from kalaba.view.figures.tracks import end_points, path_panels
from unit.results.samples import broken_run, small_run

GRAVITY = 9.81


@cache
def beam_run() -> kb.Run:
    """A cantilever that is let go, bent by its own weight."""
    solid = kb.Beam(1.0, kb.Rectangle(0.02, 0.02), density=2700, young=70e9, shapes=kb.ClampedFree(3))
    parts = (kb.Body("beam", solid, joint=kb.Weld()),)
    system = kb.System("cantilever", parts=parts, gravity=(0, -GRAVITY, 0))
    plant = kb.build(system, backend=kb.Interpreted())
    return kb.simulate(plant, 0.5, stepper=kb.RungeKutta4(1e-3), save_every=2e-3)


@pytest.mark.parametrize(
    "name",
    ["overview", "coordinates", "speeds", "outputs", "paths", "motors", "forces", "residuals", "energy", "momentum"],
)
def test_each_function_gives_a_figure_that_can_be_saved(tmp_path, name):
    figure = getattr(kb.plot, name)(small_run())
    assert isinstance(figure, Figure)
    assert all(axes.get_xlabel() and axes.get_ylabel() for axes in figure.axes if axes.get_visible())
    assert kb.plot.save(figure, tmp_path / "plot.png").stat().st_size > 5_000


@pytest.mark.parametrize(
    "name", ["coordinates", "speeds", "paths", "motors", "forces", "residuals", "energy", "momentum"]
)
def test_a_run_that_broke_off_is_drawn_as_far_as_it_went(tmp_path, name):
    assert kb.plot.save(getattr(kb.plot, name)(broken_run()), tmp_path / "plot.svg").stat().st_size > 5_000


def test_matplotlib_is_left_as_it_was():
    before = dict(mpl.rcParams)
    kb.plot.overview(small_run())
    assert dict(mpl.rcParams) == before


def test_no_window_and_no_current_figure_is_made():
    code = (
        "import sys; from unit.results.samples import small_run; import kalaba as kb; kb.plot.overview(small_run());"
        "sys.exit('matplotlib.pyplot' in sys.modules)"
    )
    command = [sys.executable, "-W", "ignore", "-c", code]
    done = subprocess.run(command, check=False, env={**os.environ, "PYTHONPATH": "tests"})
    assert done.returncode == 0


def test_a_path_has_equal_scales_and_the_radius_of_its_crank():
    run = small_run()
    figure = kb.plot.paths(run, ["crank.tip"])
    assert figure.axes[0].get_aspect() == 1.0
    line = figure.axes[0].lines[0]
    assert figure.axes[0].get_xlabel() == "x [m]"
    assert figure.axes[0].get_ylabel() == "z [m]"
    np.testing.assert_allclose(np.hypot(line.get_xdata(), line.get_ydata()), 0.15, rtol=1e-12)


def test_a_motion_in_space_is_seen_from_three_sides_and_end_points_carry_nothing():
    run = small_run()
    assert end_points(run.plant.machine) == ("rocker.tip", "ball", "slide")
    assert len(path_panels(run, ["crank.tip"])) == 1
    assert len(path_panels(run, ["crank.tip", "ball"])) == 1  # both stay in the plane of x and z


def test_a_loop_that_ends_on_the_ground_shows_what_moves_between():
    run = small_run()
    loop = kb.System("loop", run.plant.system.parts[:4], start=run.plant.system.start)
    plant = kb.build(loop, backend=kb.Interpreted())
    figure = kb.plot.paths(kb.simulate(plant, 0.02, stepper=kb.RungeKutta4(5e-3)))
    assert {line.get_label() for line in figure.axes[0].lines} >= {"crank.tip", "coupler.tip"}


def test_rows_at_velocity_level_show_their_rates():
    wheel = kb.Body("sled", kb.Box((1, 1, 1), mass=1.0), joint=kb.Planar(kb.Z))
    blade = kb.Constraint("blade", "rate(sled.y)*cos(sled.angle) - rate(sled.x)*sin(sled.angle)")
    system = kb.System("sled", parts=(wheel, blade), start=kb.Start(speed={"sled.angle": 1.0, "sled.x": 1.0}))
    run = kb.simulate(kb.build(system, backend=kb.Interpreted()), 0.1, stepper=kb.RungeKutta4(1e-2))
    assert [axes.get_title(loc="left") for axes in kb.plot.residuals(run).axes] == ["rates of the residuals"]


def test_positions_are_those_of_the_plant():
    run = small_run()
    found = positions(run, ["rocker.tip", "ball"])
    for frame, place in found.items():
        np.testing.assert_allclose(place[-1], run.plant.pose(frame, run.q[-1]).position, atol=1e-14)


def test_expressions_read_at_once_are_those_read_one_by_one():
    run = small_run()
    texts = ["crank.angle", "rate(rocker.angle)", "distance(crank.tip, ball)", "motor", "height", "pin.x", "sin(t)"]
    found = values_of(run, texts)
    for text in texts:
        np.testing.assert_allclose(found[text], run[text], rtol=1e-12, atol=1e-14)
    index = run.plant.velocities.index("crank.angle")
    np.testing.assert_array_equal(
        values_of(run, ["constraint_force:crank.angle"])["constraint_force:crank.angle"],
        run.constraint_force[:, index],
    )


def test_residuals_stand_on_a_logarithmic_scale():
    assert {axes.get_yscale() for axes in kb.plot.residuals(small_run()).axes} == {"log"}


def test_modes_show_tips_their_parts_and_the_natural_frequencies():
    run = beam_run()
    tips = deflections(run)["beam.tip_deflection"]
    np.testing.assert_allclose(tips, 1e3 * run.q[:, :3].sum(axis=1), atol=1e-12)  # shapes are 1 at the tip
    figure = kb.plot.modes(run)
    assert [axes.get_title(loc="left") for axes in figure.axes] == [
        *("tip deflections", "modes of beam", "spectrum of the tips")
    ]
    spectrum = figure.axes[-1].lines[0]
    heard = spectrum.get_xdata()[np.argmax(spectrum.get_ydata())]
    first = 1.8751040687**2 / (2 * np.pi) * np.sqrt(70e9 * 0.02**2 / 12 / 2700)  # of a slender cantilever, 1 m long
    assert heard == pytest.approx(first, abs=1 / 0.5)  # one line of a spectrum of 0.5 s


def drawn(axes):
    """What the lines of some axes show: their values by the names in the legend."""
    return {line.get_label(): line.get_ydata() for line in axes.lines}


def test_modes_are_drawn_in_the_millimetres_of_their_axes():
    run = beam_run()
    tips, parts, _ = kb.plot.modes(run).axes
    assert (tips.get_ylabel(), parts.get_ylabel()) == ("deflection [mm]", "modal coordinate [mm]")
    np.testing.assert_allclose(drawn(tips)["beam.tip_deflection"], 1e3 * run.q[:, :3].sum(axis=1), atol=1e-12)
    for i, name in enumerate(("mode1", "mode2", "mode3")):
        np.testing.assert_allclose(drawn(parts)[name], 1e3 * run.q[:, i], atol=1e-12)


def test_a_spectrum_shows_the_amplitude_of_a_motion():
    """One mode that swings for ten periods has its amplitude at its frequency."""
    run, size, count = beam_run(), 3e-3, 250
    q = np.zeros((count + 1, 3))
    q[:, 0] = size * np.sin(2 * np.pi * 10 * np.arange(count + 1) / count)
    spectrum = kb.plot.modes(replace(run, q=q, v=np.zeros((count + 1, 3)))).axes[-1]
    assert spectrum.get_ylabel() == "amplitude [mm]"
    line = spectrum.lines[0]
    peak = int(np.argmax(line.get_ydata()))
    assert line.get_xdata()[peak] == pytest.approx(10 / (count * (run.time[1] - run.time[0])), rel=1e-9)
    assert line.get_ydata()[peak] == pytest.approx(1e3 * size, rel=0.01)  # windows of even length miss by 1/count


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("coordinates", lambda run: dict(zip(run.plant.coordinates, run.q.T, strict=True))),
        ("speeds", lambda run: dict(zip(run.plant.velocities, run.v.T, strict=True))),
        ("motors", lambda run: dict(zip(run.plant.actuators, run.actuation.T, strict=True))),
        ("forces", lambda run: dict(zip(run.plant.velocities, run.constraint_force.T, strict=True))),
        ("outputs", lambda run: {name: run[name] for name in run.plant.outputs}),
    ],
)
def test_curves_have_the_values_of_the_run(name, values):
    run = small_run()
    wanted, seen = values(run), 0
    for axes in getattr(kb.plot, name)(run).axes:
        for label, y in drawn(axes).items():
            for one in (part for part in label.split(", ") if part in wanted):  # curves that coincide share a line
                np.testing.assert_allclose(y, wanted[one], rtol=0, atol=1e-9 * np.abs(wanted[one]).max())
                seen += 1
    assert seen >= 1


@pytest.mark.parametrize(
    ("name", "run", "words"),
    [
        ("modes", small_run, "sample: no body is a beam"),
        ("motors", beam_run, "cantilever: the machine has no motors"),
        ("forces", beam_run, "cantilever: the machine has no constraints"),
        ("residuals", beam_run, "cantilever: the machine has no constraints"),
        ("papers", small_run, "sample: no figures of a paper are known for it; there are some for dual-mobile-arm"),
    ],
)
def test_what_a_run_does_not_hold_is_said_in_one_line(name, run, words):
    with pytest.raises(ViewError) as caught:
        getattr(kb.plot, name)(run())
    assert str(caught.value).startswith(words)
    assert "\n" not in str(caught.value)


def test_a_frame_that_does_not_exist_is_named():
    with pytest.raises(ViewError, match=r"no frame 'crank.tp'; did you mean crank.tip"):
        kb.plot.paths(small_run(), ["crank.tp"])


def test_a_place_that_cannot_be_written_is_refused(tmp_path):
    figure = kb.plot.energy(small_run())
    with pytest.raises(FileError, match="no directory"):
        kb.plot.save(figure, tmp_path / "nowhere" / "plot.png")


def test_a_run_looks_the_same_in_every_panel_also_where_others_lie_on_it():
    time = np.linspace(0, 1, 50)
    names = ["control=first", "control=second", "control=third", "control=fourth, a longer one"]
    sizes = [1.0, 2.0, 2.0, 2.0]
    runs = [(n, time, {"x": figures.comparing.Reading("m", k * time)}) for n, k in zip(names, sizes, strict=True)]
    (axes,) = figures.comparing.compared("sample", runs).axes
    first, others = axes.lines
    assert others.get_label() == "control=second and 2 more"
    assert first.get_color() != others.get_color()


def test_runs_are_compared_by_outputs_and_motors_and_what_rests_is_said():
    time = np.linspace(0, 1, 50)
    own = {
        "x": figures.comparing.Reading("m", np.sin(time)),
        "z": figures.comparing.Reading("m", 0.7 + 1e-15 * time),
        "motor": figures.comparing.Reading("N", 5 * time, is_motor=True),
        "idle": figures.comparing.Reading("N", 1e-13 * time, is_motor=True),
    }
    other = own | {"x": figures.comparing.Reading("m", np.cos(time))}
    figure = compared("two", [("a", time, own), ("b", time, other)])
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["x", "motor"]
    assert [line.get_label() for line in figure.axes[0].lines] == ["a", "b"]
    assert [line.get_label() for line in figure.axes[1].lines] == ["a, b"]
    assert figure.get_supxlabel() == "at rest in all runs: z, idle"


def test_of_many_quantities_those_that_differ_are_compared_and_motors_have_room():
    time = np.linspace(0, 1, 50)
    kind = figures.comparing.Reading
    own = {f"x{i}": kind("m", np.sin(time)) for i in range(20)} | {
        f"motor{i}": kind("N", time, is_motor=True) for i in range(12)
    }
    other = own | {"x17": kind("m", np.cos(time)), "motor11": kind("N", 2 * time, is_motor=True)}
    figure = compared("two", [("a", time, own), ("b", time, other)])
    titles = [axes.get_title(loc="left") for axes in figure.axes]
    assert len(titles) == 9
    assert {"x17", "motor11"} <= set(titles)
    assert sum(title.startswith("motor") for title in titles) == 7


def test_a_run_is_read_by_its_outputs_and_motors():
    assert set(readings(small_run())) == {"height", "motor"}
    assert isinstance(kb.plot.compare({"one": small_run(), "other": small_run()}), Figure)
    with pytest.raises(ViewError, match="expected runs by name"):
        kb.plot.compare({})


def test_the_error_of_a_goal_is_wanted_minus_found():
    """A mass that a law takes for 1.6 of its 2 kg hangs g (2/1.6 − 1)/ω² too low in the end."""
    body = kb.Body("load", kb.Solid(2.0), joint=kb.Prismatic(kb.Z))
    lift = kb.System("lift", parts=(body, kb.Actuator("motor", "load.travel")), gravity=(0, 0, -GRAVITY))
    goal, plant = kb.follow("load.travel", "0.1*sin(t)"), kb.build(lift, backend=kb.Interpreted())
    runs = {
        name: kb.simulate(plant, 0.5, control=kb.servo(plant, goal, model={"load.mass": 1.6}, correction=correction))
        for name, correction in (("plain", None), ("robust", kb.Robust(6.0, 0.01)))
    }
    found = kb.control.goal_errors(runs["plain"], goal)["m"]
    wanted = 0.1 * np.sin(runs["plain"].time)
    np.testing.assert_allclose(found, np.abs(wanted - runs["plain"]["load.travel"]), atol=1e-15)
    figure = kb.plot.tracking_error(runs, goal)
    assert figure.axes[0].get_yscale() == "log"
    plain, robust = (line.get_ydata()[-1] for line in figure.axes[0].lines)
    assert robust < plain / 10


def test_momentum_is_read_by_words_and_drawn_with_its_change():
    """A body that flies under gravity: m g t along z is gained, and what it turns with is kept."""
    block = kb.Body("block", kb.Box((0.1, 0.2, 0.3), mass=2.0), joint=kb.Free())
    start = kb.Start(speed={"block": (1.0, 0, 0, 0, 0, 3.0)})
    system = kb.System("flight", (block,), gravity=(0, 0, -GRAVITY), start=start)
    run = kb.simulate(kb.build(system, backend=kb.Interpreted()), 0.2, stepper=kb.RungeKutta4(1e-2))
    assert run["momentum.x"] == pytest.approx(2.0)
    assert run["momentum.z"] == pytest.approx(-2.0 * GRAVITY * run.time)
    assert run["momentum.rz"] == pytest.approx(3.0 * 2.0 * (0.1**2 + 0.2**2) / 12)
    titles = {axes.get_title(loc="left"): axes for axes in kb.plot.momentum(run).axes}
    assert list(titles) == [
        *("linear momentum", "change of the linear momentum", "angular momentum", "change of the angular momentum"),
    ]
    assert drawn(titles["linear momentum"])["z"][-1] == pytest.approx(-2.0 * GRAVITY * 0.2)
    assert titles["change of the angular momentum"].get_ylabel() == "|change| [kg·m²/s]"


def test_a_frame_called_momentum_keeps_its_words():
    body = kb.Body("momentum", kb.Box((0.1, 0.1, 0.1), mass=2.0), joint=kb.Prismatic(kb.X))
    system = kb.System("odd", (body,), gravity=(0, 0, 0), start=kb.Start(speed={"momentum.travel": 0.5}))
    run = kb.simulate(kb.build(system, backend=kb.Interpreted()), 0.1, stepper=kb.RungeKutta4(1e-2))
    assert run["momentum.x"] == pytest.approx(0.5 * run.time)
