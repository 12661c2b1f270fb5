"""Panel: everything on the page that is not the scene. It calls the studio and holds no state of its own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kalaba.view.studio.player import SPEEDS
from kalaba.view.studio.plotting import Plot
from kalaba.view.studio.tuning import Switches, Tuning

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.view.studio.quantities import Quantity
    from kalaba.view.studio.session import Studio
    from kalaba.view.studio.subject import Subject

NONE = "none"
OWN = "(given)"


class Panel:
    """The handles of the page."""

    def __init__(self, studio: Studio, names: tuple[str, ...]) -> None:
        self._studio, self._gui = studio, studio.server.gui
        gui = self._gui
        self.header = gui.add_markdown("")
        self.machine = gui.add_dropdown("machine", (OWN, *names), initial_value=OWN)
        self.machine.on_update(self._on_machine)
        with gui.add_folder("Time"):
            self.play = gui.add_button("Pause", icon="player-pause")
            self.time = gui.add_slider("time [s]", 0.0, 1.0, 0.01, 0.0)
            self.speed = gui.add_dropdown("speed", tuple(f"{s:g}×" for s in SPEEDS), initial_value="1×")
        self.play.on_click(lambda _: studio.toggle())
        self.time.on_update(self._on_time)
        self.speed.on_update(lambda _: studio.set_speed(float(self.speed.value.removesuffix("×"))))
        tabs = gui.add_tab_group()
        with tabs.add_tab("Plots") as self._plot_tab:
            self._add_plots()
        with tabs.add_tab("Change"):
            self.switches = Switches(gui, gui.add_folder("Options"), studio.switch)
            self.tuning = Tuning(gui, gui.add_folder("Parameters"), studio.tune)
        with tabs.add_tab("Show"):
            self._add_show()
        with tabs.add_tab("Drag"):
            self._add_assembly()

    def _add_plots(self) -> None:
        gui = self._gui
        self.quantities = [gui.add_dropdown(f"plot {i}", (NONE,)) for i in (1, 2)]
        self.expression = gui.add_text("expression", "", hint="any expression of the machine, as in run[...]")
        self.plots = [Plot(gui), Plot(gui)]
        for handle in self.quantities:
            handle.on_update(self._on_quantity)
        self.expression.on_update(self._on_expression)

    def _add_show(self) -> None:
        gui, studio = self._gui, self._studio
        self.forces = gui.add_checkbox("constraint forces", initial_value=True)
        self.motors = gui.add_checkbox("motors", initial_value=False)
        self.frames = gui.add_checkbox("frames", initial_value=False)
        self.trace = gui.add_dropdown("trace", (NONE,))
        clear = gui.add_button("Clear traces")
        look = gui.add_button("Whole machine in sight", icon="focus-2")
        for handle in (self.forces, self.motors):
            handle.on_update(lambda _: studio.redraw_forces())
        self.frames.on_update(lambda _: studio.stage.show_frames(visible=self.frames.value))
        self.trace.on_update(self._on_trace)
        clear.on_click(lambda _: studio.stage.untrace())
        look.on_click(lambda _: studio.look())

    def _add_assembly(self) -> None:
        gui, studio = self._gui, self._studio
        self.dragging = gui.add_checkbox("drag a frame", initial_value=False)
        self.dragged = gui.add_dropdown("frame", (NONE,))
        self.turning = gui.add_checkbox("turn it too", initial_value=False)
        self.residual = gui.add_markdown("Take a frame and pull: the machine follows, its loops stay closed.")
        onward = gui.add_button("Simulate from here")
        for handle in (self.dragging, self.dragged, self.turning):
            handle.on_update(self._on_dragging)
        onward.on_click(lambda _: studio.run_from_here())

    def put(self, subject: Subject, run: Run) -> None:
        """Fill in what belongs to another machine."""
        self.machine.value = subject.name if subject.named is not None and subject.named.entry is not None else OWN
        self.switches.put(subject)
        self.tuning.put(subject)
        frames = tuple(name for name in run.plant.machine.frames if name != "world")
        self.trace.options = (NONE, *frames)
        self.trace.value = NONE
        self.dragging.value = False
        self.dragged.options = tuple(n for n in frames if run.plant.machine.body_of(n) >= 0)
        self.dragged.value = self._studio.end_frames()[0] if self._studio.end_frames() else frames[0]
        self.put_run(run, self._studio.quantities)

    def put_run(self, run: Run, quantities: tuple[Quantity, ...]) -> None:
        """Fill in what belongs to another run of the same machine."""
        self.time.max = float(run.time[-1]) or 1e-9  # s: a slider needs some length
        self.time.step = self.time.max / max(len(run.time) - 1, 1)
        labels = [quantity.label for quantity in quantities]
        for handle, first in zip(self.quantities, (0, len(labels) - 1), strict=True):
            chosen = handle.value if handle.value in labels else labels[first]
            handle.options = (NONE, *labels)
            handle.value = chosen
        self.draw_plots()

    def draw_plots(self) -> None:
        """Draw what is chosen."""
        known = {quantity.label: quantity for quantity in self._studio.quantities}
        run, cursor = self._studio.player.run, self._studio.player.cursor
        with self._plot_tab:
            for handle, plot in zip(self.quantities, self.plots, strict=True):
                if handle.value in known:
                    plot.put(known[handle.value], run.time, cursor)
                else:
                    plot.remove()

    def say(self, title: str, lines: list[str]) -> None:
        """Write the title and what is to be said below it."""
        self._gui.set_panel_label(title)
        self.header.content = "\n\n".join(lines)

    def show_time(self, cursor: float, *, playing: bool) -> None:
        """Move the slider and the plots' lines, and name the button."""
        self.time.value = float(min(cursor, self.time.max))
        self.play.label, self.play.icon = ("Pause", "player-pause") if playing else ("Play", "player-play")
        for plot in self.plots:
            plot.move(cursor)

    def _on_machine(self, event: Any) -> None:
        if event.client is not None and self.machine.value != OWN:
            self._studio.choose(self.machine.value)

    def _on_time(self, event: Any) -> None:
        if event.client is not None:
            self._studio.seek(self.time.value)

    def _on_quantity(self, event: Any) -> None:
        if event.client is not None:
            self.draw_plots()

    def _on_expression(self, event: Any) -> None:
        if event.client is not None and self.expression.value.strip():
            self._studio.plot_expression(self.expression.value.strip())

    def _on_trace(self, event: Any) -> None:
        if event.client is not None and self.trace.value != NONE:
            self._studio.trace(self.trace.value)

    def _on_dragging(self, event: Any) -> None:
        if event.client is not None:
            self._studio.grab(self.dragged.value if self.dragging.value else None, turns=self.turning.value)
