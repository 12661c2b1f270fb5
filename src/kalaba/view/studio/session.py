"""Studio: a page that shows one machine at a time, plays it, and simulates it again when it is changed."""

from __future__ import annotations

import threading
import time as clock
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kalaba.errors import ExpressionError, KalabaError
from kalaba.native.notices import told
from kalaba.results.run import Run
from kalaba.run.simulate import simulate
from kalaba.space.arrays import Array
from kalaba.view.scene import scene_of
from kalaba.view.studio.arrows import Forces
from kalaba.view.studio.drag import Dragged, drag
from kalaba.view.studio.gizmo import Gizmo
from kalaba.view.studio.guard import Guard
from kalaba.view.studio.panel import Panel
from kalaba.view.studio.player import Player
from kalaba.view.studio.quantities import Quantity, quantities
from kalaba.view.studio.stage import Stage
from kalaba.view.studio.subject import Subject, machine_names, subject_by_name, subject_of_named
from kalaba.view.studio.titles import said_of, title_of
from kalaba.view.studio.worker import Worker

TICK = 1 / 30  # s between two pictures
PANEL_TICK = 0.2  # s between two moves of the slider and of the plots' lines
TRACED = 3  # end points whose ways are drawn at first, at most


class Studio:
    """A machine on a page. `address` is where a browser finds it; `close` ends it."""

    def __init__(self, server: Any, guard: Guard, subject: Subject, duration: float | None = None) -> None:
        self.server = server
        self.guard = guard  # who may talk to the server
        self.subject = subject
        self.duration = duration  # s: of every run that is simulated here; None: the scenarios' own
        self.lock = threading.RLock()
        self.worker = Worker(self._failed)
        self.stage = Stage(server)
        self.gizmo = Gizmo(server, self._pulled)
        self.player: Player = None  # type: ignore[assignment]
        self.quantities: tuple[Quantity, ...] = ()
        self.values: dict[str, float] = {}
        self._forces: Forces | None = None
        self._dragged: Dragged | None = None
        self._said: list[str] = []
        self._ended = threading.Event()
        self.panel = Panel(self, machine_names())
        self._open(lambda: subject)
        self._ticker = threading.Thread(target=self._tick, name="studio clock", daemon=True)
        self._ticker.start()

    @property
    def address(self) -> str:
        """Where a browser finds the page; the token in it lets whoever has it in."""
        return self.guard.address(self.server.get_port())

    @property
    def run(self) -> Run:
        """The run that is shown."""
        return self.player.run

    def wait(self, timeout: float = 120.0) -> bool:
        """Wait until everything that was asked for is on the page.

        Arguments:
            timeout: longest wait, s
        """
        return self.worker.wait(timeout)

    def serve(self) -> None:
        """Stay until the studio is closed or the program is interrupted."""
        try:
            while not self._ended.wait(1.0):
                pass
        except KeyboardInterrupt:
            self.close()

    def close(self) -> None:
        """End the page."""
        from kalaba.view.studio.serving import quietly  # which makes a Studio

        self._ended.set()
        self.worker.stop()
        self._ticker.join(timeout=5.0)
        with quietly():
            self.server.stop()

    # what the page asks for

    def choose(self, name: str) -> None:
        """Show another machine of the catalogue in its own scenario.

        Arguments:
            name: name of the machine
        """
        self._open(lambda: subject_by_name(name), name)

    def switch(self, options: Mapping[str, Any]) -> None:
        """Show the same machine with other options: other motors, another allocation, another control.

        Arguments:
            options: options of the machine by name; others have their defaults
        """
        opened = self.subject.named
        if opened is not None:
            self._open(lambda: subject_of_named(opened, options), self.subject.name)

    def tune(self, values: dict[str, float]) -> None:
        """Simulate again with other numbers.

        Arguments:
            values: {parameter: value} in the parameters' own units
        """
        self.worker.submit("tune", lambda: self._tune(values))

    def toggle(self) -> None:
        """Play, or pause."""
        if self.player is None:
            return
        with self.lock:
            self._release()
            self.player.is_playing = not self.player.is_playing
            self._show(panel=True)

    def play(self, *, playing: bool) -> None:
        """Play or pause.

        Arguments:
            playing: whether it plays
        """
        if self.player is not None and self.player.is_playing != playing:
            self.toggle()

    def seek(self, time: float) -> None:
        """Show the machine at a time, and pause there.

        Arguments:
            time: of the run, s
        """
        if self.player is None:
            return
        with self.lock:
            self._release()
            self.player.is_playing = False
            self.player.seek(time)
            self._show(panel=True)

    def set_speed(self, speed: float) -> None:
        """Play slower or faster.

        Arguments:
            speed: seconds of the run per second
        """
        if self.player is None:
            return
        self.player.speed = speed

    def look(self) -> None:
        """Have the whole run in sight."""
        if self.player is None:
            return
        self.stage.look(self.run)

    def trace(self, frame: str) -> None:
        """Draw the way of a frame through the run.

        Arguments:
            frame: name of the frame
        """
        scene = self.stage.scene
        if scene is not None:
            placed = scene.places.at(self.run.q)
            self.stage.trace(frame, placed.positions[:, scene.places.index[frame]])

    def plot_expression(self, text: str) -> None:
        """Plot any expression of the machine.

        Arguments:
            text: an expression such as "crank.angle"
        """
        if self.player is None:
            return
        try:
            values = self.run[text]
        except (ExpressionError, KalabaError) as error:
            self._say(f"{error}")
            return
        self.quantities = (*self.quantities, Quantity(text, "", (text,), np.asarray(values)[:, None]))
        self.panel.put_run(self.run, self.quantities)
        self.panel.quantities[0].value = text
        self.panel.draw_plots()

    def redraw_forces(self) -> None:
        """Draw the arrows that are asked for; they are worked out behind the page."""
        if self.player is None:
            return
        self.worker.submit("forces", self._find_forces)

    def grab(self, frame: str | None, *, turns: bool = False) -> None:
        """Pause and put handles on a frame by which it can be pulled; None lets go of it.

        Arguments:
            frame: name of the frame; None: none
            turns: whether it can be turned too
        """
        with self.lock:
            if self.player is None:
                return
            if frame is None or self.stage.scene is None:
                self._release()
                self._show(panel=True)
                return
            self.player.is_playing = False
            self._show(panel=True)
            self.gizmo.put(frame, self.run.plant.pose(frame, self.shown), self.stage.scene.size, turns=turns)

    def pull(self, frame: str, position: ArrayLike, rotation: ArrayLike | None = None) -> Dragged:
        """Pull a frame to a place; the machine follows with its loops closed.

        Arguments:
            frame: name of the frame
            position: where its origin is pulled to, m, world axes
            rotation: where its axes are pulled to, (3, 3); None: any
        """
        with self.lock:
            self.player.is_playing = False
            dragged = drag(self.run.plant, frame, self.shown, position, rotation)
            self._dragged = dragged
            self.stage.point([])
            self.stage.show(dragged.q)
            self.panel.residual.content = f"residual {dragged.residual:.1e}, {dragged.gap:.3g} m from the hand"
            return dragged

    def run_from_here(self) -> None:
        """Simulate from the configuration that is shown, from rest."""
        if self.player is None:
            return
        q = self.shown
        self.worker.submit("tune", lambda: self._put_run(self._from(q)))

    @property
    def shown(self) -> Array:
        """The configuration that is shown."""
        return self._dragged.q if self._dragged is not None else self.player.q

    def end_frames(self) -> list[str]:
        """Frames that carry nothing further, at the ends of the machine's chains."""
        machine = self.run.plant.machine
        used = {body.parent for body in machine.bodies} | {body.name for body in machine.bodies}
        ends = [n for n, f in machine.frames.items() if f.body >= 0 and n not in used]
        carried = {machine.body_of(body.parent) for body in machine.bodies}
        ends = [n for n in ends if machine.body_of(n) not in carried]
        return ends or [machine.bodies[-1].name]

    # behind the page

    def _open(self, find: Callable[[], Subject], name: str = "") -> None:
        self._say(f"Building and simulating {name or self.subject.name} ...")
        self.worker.submit("open", lambda: self._put(find()))

    def _put(self, subject: Subject) -> None:
        subject = subject if self.duration is None else replace(subject, duration=self.duration)
        with told(self._say):
            run = subject.first_run()
        scene = scene_of(run.plant, run.q[0])
        with self.lock:
            speed = 1.0 if self.player is None else self.player.speed
            self._release()
            self.subject, self.values, self._forces = subject, {}, None
            self.player = Player(run, speed=speed)
            self.quantities = quantities(run)
            self.stage.put(scene, run)
            self.panel.put(subject, run)
            for frame in self.end_frames()[:TRACED]:
                self.trace(frame)
            self._describe()
            self._show(panel=True)
        self._find_forces()

    def _tune(self, values: dict[str, float]) -> None:
        began = clock.perf_counter()
        run = self.subject.run_with(values)
        self.values = values
        self._put_run(run)
        self._say(f"simulated again in {1e3 * (clock.perf_counter() - began):.0f} ms")

    def _from(self, q: Array) -> Run:
        stepper = {} if self.subject.stepper is None else {"stepper": self.subject.stepper}
        plant, start = self.run.plant, (q, np.zeros(len(self.run.plant.velocities)))
        return simulate(plant, self.subject.duration, start, control=self.subject.control, check=False, **stepper)

    def _put_run(self, run: Run) -> None:
        """Go on with another run of the same machine."""
        scene = scene_of(run.plant, run.q[0])
        with self.lock:
            self._release()
            self._forces = None if self._forces is None else replace(self._forces, scene=scene, run=run)
            self.player.take(run)
            self.quantities = quantities(run)
            self.stage.fit(scene)
            for frame in self.stage.traced:
                self.trace(frame)
            self.panel.put_run(run, self.quantities)
            self._describe()
            self._show(panel=True)

    def _find_forces(self) -> None:
        kinds = self._kinds()
        scene = self.stage.scene
        if kinds and scene is not None and (self._forces is None or self._forces.run is not self.run):
            self._forces = Forces.of(scene, self.run)
        with self.lock:
            self._show()

    def _kinds(self) -> tuple[str, ...]:
        reactions = ("reaction",) if self.panel.forces.value else ()
        return (*reactions, *(("motor force", "motor torque") if self.panel.motors.value else ()))

    def _pulled(self, frame: str, position: Array, rotation: Array | None) -> None:
        self.worker.submit("pull", lambda: self._follow(frame, position, rotation))

    def _follow(self, frame: str, position: Array, rotation: Array | None) -> None:
        dragged = self.pull(frame, position, rotation)
        if not self.gizmo.is_held:
            self.gizmo.move(self.run.plant.pose(frame, dragged.q))

    def _release(self) -> None:
        self.gizmo.remove()
        self._dragged = None
        if self.player is not None:
            self.panel.dragging.value = False

    def _tick(self) -> None:
        """The clock of the page."""
        before, panel = clock.perf_counter(), 0.0
        while not self._ended.wait(TICK):
            now = clock.perf_counter()
            passed, before = now - before, now
            with self.lock:
                if self.player is None or not self.player.is_playing or self._ended.is_set():
                    continue
                self.player.advance(passed)
                self._show(panel=now - panel > PANEL_TICK)
            panel = now if now - panel > PANEL_TICK else panel

    def _show(self, *, panel: bool = False) -> None:
        if self.player is None:
            return
        if self._dragged is None:
            self.stage.show(self.player.q)
            kinds = self._kinds()
            fresh = self._forces is not None and self._forces.run is self.run
            self.stage.point(self._forces.drawn(self.player.index, kinds) if self._forces and fresh and kinds else [])
        if panel:
            self.panel.show_time(self.player.cursor, playing=self.player.is_playing)

    def _describe(self) -> None:
        self._said = said_of(self.subject, self.run)
        self.panel.say(title_of(self.subject, self.run), self._said)

    def _say(self, line: str) -> None:
        title = "kalaba" if self.player is None else title_of(self.subject, self.run)
        self.panel.say(title, [*self._said, line])

    def _failed(self, error: BaseException) -> None:
        self._say(f"**{error if isinstance(error, KalabaError) else repr(error)}**")
