"""Opening a studio: a server on this computer alone unless told otherwise, and a browser where there is a screen."""

from __future__ import annotations

import contextlib
import errno
import os
import socket
import sys
import webbrowser
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kalaba.errors import ViewError
from kalaba.view.studio.guard import Guard, guarding, is_loopback
from kalaba.view.studio.session import Studio
from kalaba.view.studio.subject import Subject, subject_of

if TYPE_CHECKING:
    from kalaba.model.system import System
    from kalaba.plant.plant import Plant
    from kalaba.results.run import Run
    from kalaba.run.scenario import Scenario

HOST = "127.0.0.1"
PORT = 8080
PORTS = 100  # that are tried, from the one asked for on
TAKEN = {errno.EADDRINUSE, errno.EACCES}

Say = Callable[[str], None]


def studio(  # noqa: PLR0913  (one argument per choice)
    machine: Subject | str | Path | System | Plant | Run | Scenario,
    *,
    host: str = HOST,
    port: int = PORT,
    driven: Scenario | None = None,
    duration: float | None = None,
    browser: bool = False,
    say: Say | None = None,
) -> Studio:
    """Open a page that shows a machine or a run in motion, and return it; it lives until `close` or the program's end.

    Needs the extra: pip install 'kalaba[view]'.

    Arguments:
        machine: a name of the catalogue, a path of a machine or a run, a System, a Plant, a Scenario or a Run
        host: address to serve on; the page is for this computer alone unless it says otherwise, and always for those
            alone who have its address with the token in it
        port: port to serve on; the next free one is taken if it is in use
        driven: the Scenario that a Run came from, so that it can be simulated again
        duration: of every simulation, s; the scenario's own if not given
        browser: open one where there is a screen
        say: called with lines of text: where the page is, and what is worth a warning
    """
    check_viser()
    hear: Say = (lambda _: None) if say is None else say
    subject = subject_of(machine, driven)
    guard = Guard(host)
    server = _server(guard, port)
    if server.get_port() != port and port != 0:
        hear(f"port {port} is in use; took {server.get_port()}")
    if not is_loopback(host):
        hear(
            f"warning: {host} lets everyone on the network who has the address below see and change this machine, and "
            "listen on the way; leave --host out to stop that"
        )
    opened = Studio(server, guard, subject, duration)
    hear(f"studio: {opened.address}")
    if browser and has_screen() and not webbrowser.open(guard.address_for_once(server.get_port())):
        hear("no browser found; open that address in one")
    return opened


def check_viser() -> None:
    """Say how to install what the page needs, if it is not there."""
    if find_spec("viser") is None:
        raise ViewError("the studio needs viser, which is not installed. Try: pip install 'kalaba[view]'")


def has_screen() -> bool:
    """Whether a window can be opened: not on a machine without a display."""
    return sys.platform in {"darwin", "win32"} or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _server(guard: Guard, port: int) -> Any:
    import viser

    free = _free_port(guard.host, port)
    with quietly():
        with guarding(guard):
            server = viser.ViserServer(host=guard.host, port=free, label="kalaba", verbose=False)
        if not guard.stands:
            server.stop()
            raise ViewError(
                f"viser {viser.__version__} serves in a way that cannot be guarded, so the studio stays closed. "
                "Try: pip install 'viser>=1.1,<1.2'"
            )
    server.gui.configure_theme(
        control_width="large", show_logo=False, show_share_button=False, brand_color=(0, 114, 178)
    )
    server.gui.main_panel.dock_right()
    server.scene.world_axes.visible = False
    return server


def _free_port(host: str, port: int) -> int:
    """The first port from the one asked for on that nobody uses; 0 leaves the choice to the system."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for tried in [0] if port == 0 else range(port, min(port + PORTS, 65536)):
        with socket.socket(family) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind((host, tried))
            except OSError as error:
                if error.errno in TAKEN:
                    continue
                raise ViewError(
                    f"host {host}: expected an address of this computer ({error.strerror}). Try 127.0.0.1."
                ) from error
            return tried
    raise ViewError(f"port {port}: no free port up to {port + PORTS - 1}. Name another from 1024 on.")


@contextlib.contextmanager
def quietly() -> Iterator[None]:
    """Keep the server library's own banner off the terminal."""
    import rich

    console = rich.get_console()
    before, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = before
