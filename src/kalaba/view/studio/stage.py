"""Stage: a scene on a viser server. Bodies are nodes that are moved; what bends gets new corners."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from kalaba.space.arrays import Array
from kalaba.space.rotations import quaternion_of
from kalaba.view.sheet import COLOURS
from kalaba.view.studio.camera import cell_size, view_of

if TYPE_CHECKING:
    from kalaba.results.run import Run
    from kalaba.view.scene import Scene, Shape
    from kalaba.view.studio.arrows import Arrow

Colour = tuple[int, int, int]
ROOT = "/machine"
NEUTRAL: Colour = (92, 97, 106)
AXES = (0.05, 0.0035)  # length and radius of the frames' axes, of the machine's size
ARROW = (0.004, 0.011, 0.03)  # radius of shaft and head and length of head, of the machine's size
KINDS: dict[str, Colour] = {"reaction": (0, 0, 0), "motor force": (213, 94, 0), "motor torque": (204, 121, 167)}
BODY_COLOURS = tuple(colour for colour in COLOURS if colour != "#000000")
LOOKS = 12  # samples of a run that the camera is set by


def rgb(colour: str) -> Colour:
    """#0072B2 as three whole numbers."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


class Stage:
    """What stands in the page's window."""

    def __init__(self, server: Any) -> None:
        self.server = server
        self.scene: Scene | None = None
        self.q: Array | None = None
        self._bodies: dict[str, Any] = {}
        self._meshes: dict[str, Any] = {}
        self._axes: Any = None
        self._traces: dict[str, Any] = {}
        self._arrows: dict[str, Any] = {}
        self._shows_frames = False

    def put(self, scene: Scene, run: Run) -> None:
        """Show another machine: build its nodes, the ground and the arrows' places, and set the camera."""
        with self.server.atomic():
            self.server.scene.remove_by_name(ROOT)
            self._bodies, self._meshes, self._traces, self._arrows = {}, {}, {}, {}
            for shape in scene.shapes:
                self._add(shape)
            self.scene = scene
            self._add_axes()
            self._add_arrows()
        self.look(run)

    def fit(self, scene: Scene) -> None:
        """The same machine with other numbers: new corners for the same shapes."""
        same = self.scene is not None and [s.name for s in scene.shapes] == [s.name for s in self.scene.shapes]
        self.scene = scene
        with self.server.atomic():
            for shape in scene.shapes:
                if same and len(self._meshes[shape.name].vertices) == len(shape.vertices):
                    self._meshes[shape.name].vertices = shape.vertices
                else:
                    self._add(shape)

    def show(self, q: ArrayLike) -> None:
        """Put every body where it is at a configuration."""
        assert self.scene is not None  # noqa: S101  (nothing is shown before it is put)
        self.q = np.array(q, dtype=float)
        placed = self.scene.places.at(self.q)
        where = self.scene.places.index
        with self.server.atomic():
            for name, node in self._bodies.items():
                node.position = placed.positions[where[name]]
                node.wxyz = quaternion_of(placed.rotations[where[name]])
            for index, corners in self.scene.bent(self.q).items():
                self._meshes[self.scene.shapes[index].name].vertices = corners
            if self._shows_frames:
                self._move_axes()

    def poses(self) -> dict[str, tuple[Array, Array]]:
        """Position and quaternion of every body's node, as the server holds them."""
        return {name: (np.array(node.position), np.array(node.wxyz)) for name, node in self._bodies.items()}

    def show_frames(self, *, visible: bool) -> None:
        """Show the axes of all frames, or hide them."""
        self._shows_frames = visible
        if visible:
            self._move_axes()
        self._axes.visible = visible

    def trace(self, frame: str, path: Array) -> None:
        """Draw the way (N, 3) of a frame; it replaces the one drawn before."""
        self.untrace(frame)
        colour = rgb(COLOURS[len(self._traces) % len(COLOURS)])
        points = np.stack([path[:-1], path[1:]], axis=1)
        name = f"{ROOT}/trace of {frame}"
        self._traces[frame] = self.server.scene.add_line_segments(
            name, points.astype(np.float32), colour, thickness=2.0, thickness_units="screen"
        )

    def untrace(self, frame: str | None = None) -> None:
        """Remove the way of a frame, or all ways."""
        for name in [frame] if frame else list(self._traces):
            if name in self._traces:
                self._traces.pop(name).remove()

    @property
    def traced(self) -> tuple[str, ...]:
        """The frames whose ways are drawn."""
        return tuple(self._traces)

    def point(self, drawn: list[tuple[Arrow, Array]]) -> None:
        """Draw forces as arrows, each with the end it is drawn to."""
        with self.server.atomic():
            for kind, handle in self._arrows.items():
                mine = [(arrow.origin, end) for arrow, end in drawn if arrow.kind == kind]
                if mine:
                    handle.points = np.array(mine, dtype=np.float32)
                handle.visible = bool(mine)

    def look(self, run: Run) -> None:
        """Turn every camera so that the whole run is in sight, and lay the ground under it."""
        assert self.scene is not None  # noqa: S101  (nothing is drawn before a scene is set)
        chosen = run.q[np.unique(np.linspace(0, len(run.time) - 1, LOOKS).astype(int))]
        low, high = self.scene.bounds(chosen[np.isfinite(chosen).all(axis=1)])
        view = view_of(low, high)
        for camera in (self.server.initial_camera, *(c.camera for c in self.server.get_clients().values())):
            camera.position, camera.look_at, camera.fov = view.position, view.target, view.angle
        cell = cell_size(float(np.linalg.norm(high - low)))
        middle = np.array([*((low + high) / 2)[:2], low[2] - 1e-3 * self.scene.size])
        side = cell * 2 * round(2.0 * float(np.linalg.norm(high - low)) / cell)
        self.server.scene.add_grid(
            f"{ROOT}/ground",
            width=side,
            height=side,
            position=cell * np.round(middle / cell) * [1, 1, 0] + middle * [0, 0, 1],
            cell_size=cell,
            section_size=5 * cell,
            cell_color=(228, 230, 234),
            section_color=(204, 208, 214),
            fade_distance=4 * side,
            shadow_opacity=0.12,
        )

    def _add(self, shape: Shape) -> None:
        if shape.body not in self._bodies:
            self._bodies[shape.body] = self.server.scene.add_frame(f"{ROOT}/{shape.body}", show_axes=False)
        colour = NEUTRAL if shape.colour < 0 else rgb(BODY_COLOURS[shape.colour % len(BODY_COLOURS)])
        if shape.tint is not None:
            red, green, blue = (round(255 * part) for part in shape.tint)
            colour = (red, green, blue)
        self._meshes[shape.name] = self.server.scene.add_mesh_simple(
            f"{ROOT}/{shape.body}/{shape.name}", shape.vertices, shape.faces.astype(np.uint32), color=colour
        )

    def _add_axes(self) -> None:
        assert self.scene is not None  # noqa: S101  (nothing is drawn before a scene is set)
        count, size = len(self.scene.frames), self.scene.size
        still = np.tile([1.0, 0.0, 0.0, 0.0], (count, 1))
        self._axes = self.server.scene.add_batched_axes(
            f"{ROOT}/frames", still, np.zeros((count, 3)), axes_length=AXES[0] * size, axes_radius=AXES[1] * size
        )
        self._axes.visible = self._shows_frames

    def _move_axes(self) -> None:
        if self.scene is None or self.q is None:
            return
        placed = self.scene.framed(self.q)
        self._axes.batched_positions = placed.positions.astype(np.float32)
        self._axes.batched_wxyzs = np.array([quaternion_of(R) for R in placed.rotations], dtype=np.float32)

    def _add_arrows(self) -> None:
        assert self.scene is not None  # noqa: S101  (nothing is drawn before a scene is set)
        shaft, head, length = (share * self.scene.size for share in ARROW)
        for kind, colour in KINDS.items():
            self._arrows[kind] = self.server.scene.add_arrows(
                f"{ROOT}/{kind}",
                np.array([[[0, 0, 0], [0, 0, 1e-3]]], dtype=np.float32),
                colour,
                shaft_radius=shaft,
                head_radius=head,
                head_length=length,
                visible=False,
            )
