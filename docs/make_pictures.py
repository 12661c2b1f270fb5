"""Make the pictures of the documentation: python docs/make_pictures.py."""  # noqa: INP001

from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import kalaba as kb
from kalaba.plant.plant import build
from kalaba.results.run import Run
from kalaba.robots.catalogue import scenario
from kalaba.run.simulate import simulate
from kalaba.view.figures import overview
from kalaba.view.still import still

HERE = Path(__file__).parent
LINKS = {"crank": "#0072B2", "coupler": "#D55E00", "rocker": "#009E73"}  # Okabe and Ito
JOINTS = ("crank", "coupler", "rocker", "rocker.tip")  # where each link begins, and the last one ends
INSTANTS = 8  # ghosts over one turn of the crank
PAGES = (  # whose machine is drawn, what their code calls it, and the picture
    ("tutorial-5-two-arms.md", "cell", "two-arms.png"),
    ("how-to-mobile-arms.md", "machine", "mobile-arms.png"),
    ("how-to-object-chain.md", "cell", "object-chain.png"),
    ("how-to-satellite.md", "machine", "satellite.png"),
    ("how-to-platform-speeds.md", "plant", "three-rps.png"),
    ("how-to-four-legs.md", "plant", "four-legs.png"),
)


def one_run() -> Run:
    """Run the catalogue's four-bar as its scenario says."""
    chosen = scenario("four-bar")
    return simulate(chosen.system, 2.2, control=chosen.control, save_every=2e-3)


def joint_positions(run: Run) -> np.ndarray:
    """Give x and z of every joint at every sample."""
    return np.array([[run[f"{joint}.{axis}"] for axis in "xz"] for joint in JOINTS]).transpose(2, 0, 1)


def draw_linkage(axes: Axes, run: Run) -> None:
    """Draw the links at instants of one turn, the last one strong, and the curve of the coupler's middle."""
    places = joint_positions(run)
    angle = run["crank.angle"]
    last = len(angle) - 1
    first = int(np.searchsorted(angle, angle[last] - 2 * np.pi))
    wanted = np.linspace(angle[first], angle[last], INSTANTS + 1)[1:]
    for sample in np.searchsorted(angle[: last + 1], wanted):
        is_last = sample >= last - 1
        for index, (name, colour) in enumerate(LINKS.items()):
            x, z = places[min(sample, last), index : index + 2].T
            style = {"alpha": 1.0, "lw": 5, "label": name} if is_last else {"alpha": 0.2, "lw": 3}
            axes.plot(x, z, "-o", color=colour, ms=4, **style)
    middle = places[first:, 1:3].mean(axis=1)
    axes.plot(*middle.T, color="0.35", lw=1, ls="--", label="path of the coupler's middle")
    for pivot in (places[0, 0], places[0, 3]):
        axes.plot(*pivot, "^", color="0.2", ms=13, zorder=0)
    axes.set_aspect("equal")
    axes.set(xlabel="x [m]", ylabel="z [m]", ylim=(-0.24, 0.46))
    axes.legend(loc="upper left", fontsize=8, frameon=False, ncols=2)


def draw_histories(above: Axes, below: Axes, run: Run) -> None:
    """Draw speeds of the links and the motor's torque."""
    for name, colour in LINKS.items():
        above.plot(run.time, run[f"rate({name}.angle)"], color=colour, lw=1.3, label=name)
    above.set_ylabel("rate [rad/s]")
    below.plot(run.time, run["motor"], color="0.1", lw=1.3)
    below.set(xlabel="time [s]", ylabel="motor [N·m]")
    for axes in (above, below):
        axes.grid(visible=True, color="0.9", linewidth=0.7)


def four_bar(path: Path) -> None:
    """Draw the linkage of the README, with what its motor does."""
    run = one_run()
    figure = Figure(figsize=(9.6, 3.9), layout="constrained")
    left, right = figure.subfigures(1, 2, width_ratios=(1.35, 1))
    draw_linkage(left.subplots(), run)
    draw_histories(*right.subplots(2, 1, sharex=True), run)
    for axes in figure.axes:
        axes.spines[["top", "right"]].set_visible(False)
    figure.savefig(path, dpi=110)


def machine_of(page: str, name: str, path: Path) -> None:
    """Draw the machine that a page describes, from its own first block of code, which calls it `name`."""
    text = (HERE / page).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    exec(text.partition("```python\n")[2].partition("```")[0], names)  # noqa: S102  (our own page)
    still(build(names[name]), path, size=(760, 560))


def swing(path: Path) -> None:
    """Draw the overview of chapter 3's run."""
    figure = overview(simulate(scenario("four-bar").system, 5.0))
    figure.savefig(path, dpi=80)


def wrong_model(path: Path) -> None:
    """Draw how far a platform is from its circle when its law takes all masses for 0.8 of what they are.

    Servo control alone, with a robust term, and with an estimate of what is missing.
    """
    plant = kb.build(kb.load("pus-upu"))
    centre = tuple(plant.pose("platform", plant.start.q).position)
    goal = kb.follow("platform", kb.path.circle(0.2, 0.125, 0.25, centre=centre))
    model = {p.name: 0.8 * p.value for p in plant.machine.parameters if p.name.endswith(".mass")}
    corrections = {"servo alone": None, "robust": kb.Robust(6.0, 0.01), "adaptive": kb.Adaptive(1e4)}
    runs = {
        name: kb.simulate(plant, 2.0, control=kb.servo(plant, goal, model=model, correction=correction))
        for name, correction in corrections.items()
    }
    kb.plot.save(kb.plot.tracking_error(runs, goal), path)


if __name__ == "__main__":
    four_bar(HERE / "four-bar.png")
    wrong_model(HERE / "wrong-model.png")
    for page, name, picture in PAGES:
        machine_of(page, name, HERE / picture)
    swing(HERE / "swing.png")
