"""A real browser on the studio's page: what it shows, read back and photographed."""

import io
import re
import time
from pathlib import Path

import numpy as np

PICTURES = Path(__file__).resolve().parents[2] / "build" / "screenshots"  # not in git
NODES = """names => {
  const nodes = window.__viserMutable ? window.__viserMutable.nodeRefFromName : {};
  return names.map(name => {
    const node = nodes["/machine/" + name];
    return node ? [...node.position.toArray(), ...node.quaternion.toArray()] : null;
  });
}"""
# Where a point of a node, in its own axes, is on the screen.
ON_SCREEN = """([name, point]) => {
  const {nodeRefFromName, camera} = window.__viserMutable;
  const node = nodeRefFromName[name];
  if (!node) return null;
  node.updateWorldMatrix(true, false);
  const there = node.position.clone().set(...point);
  node.localToWorld(there).project(camera);
  const box = document.querySelector("canvas").getBoundingClientRect();
  return [box.left + box.width * (there.x + 1) / 2, box.top + box.height * (1 - there.y) / 2];
}"""
TWO_FRAMES = "() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"


class Watcher:
    """One studio and one page of a browser that shows it."""

    def __init__(self, studio, page):
        self.studio, self.page = studio, page
        self.outside = []  # requests that leave this computer
        page.on("request", self._note)
        page.goto(studio.address)
        page.wait_for_function("() => window.__viserMutable && window.__viserMutable.camera", timeout=60_000)
        self.row("time [s]").wait_for()

    def _note(self, request):
        if not request.url.startswith((self.studio.address, "data:", "blob:")):
            self.outside.append(request.url)

    def pass_time(self, seconds):
        """Wait while the browser draws: without a screen it draws, and hears of the server, only when asked to."""
        until = time.monotonic() + seconds
        while True:
            self.page.evaluate(TWO_FRAMES)
            if time.monotonic() > until:
                return

    def comes(self, true, patience=40.0):
        """Wait until a function says yes; False if that does not come."""
        until = time.monotonic() + patience
        while time.monotonic() < until:
            if true():
                return True
            self.pass_time(0.1)
        return False

    def row(self, label):
        """The line of the panel that bears a label."""
        text = re.compile(rf"^{re.escape(label)}( \[.*\])?$")  # a number's label has its unit
        return self.page.locator("label", has_text=text).first.locator("xpath=ancestor::div[1]/..")

    def tab(self, name):
        self.page.get_by_role("tab", name=name).click()

    def write(self, label, value):
        """Write a number beside a slider, as a user does."""
        box = self.row(label).locator("input").last
        box.fill(str(value))
        box.press("Enter")

    def choose(self, label, option):
        """Choose from a list of the panel."""
        self.row(label).locator("input").first.click()
        self.page.get_by_role("option", name=option, exact=True).click()
        self.pass_time(0.6)  # until the server has heard of it
        assert self.studio.wait(180)

    def poses(self, names):
        """Position and quaternion (w, x, y, z) of nodes in the browser; None for those that are not there."""
        found = self.page.evaluate(NODES, list(names))
        return [None if n is None else (np.array(n[:3]), np.array([n[6], *n[3:6]])) for n in found]

    def shows(self, expected, tolerance=1e-6):
        """Wait until the browser has every body where `expected`, a function, says; False if that does not come."""

        def agrees():
            wanted = expected()
            return all(
                pose is not None
                and np.abs(pose[0] - position).max() < tolerance
                and min(np.abs(pose[1] - quaternion).max(), np.abs(pose[1] + quaternion).max()) < tolerance
                for pose, (position, quaternion) in zip(self.poses(wanted), wanted.values(), strict=True)
            )

        return self.comes(agrees)

    def on_screen(self, node, point):
        return self.page.evaluate(ON_SCREEN, [node, list(point)])

    def photograph(self, name):
        """The scene as numbers (height, width, 3), kept as a picture of the whole page too."""
        import matplotlib.image

        self.pass_time(0.0)
        PICTURES.mkdir(parents=True, exist_ok=True)
        shot = self.page.screenshot(path=PICTURES / f"{name}.png")
        box = self.page.locator("canvas").first.bounding_box()
        pixels = matplotlib.image.imread(io.BytesIO(shot), format="png")[..., :3]
        return pixels[:, : int(box["width"])]


def coloured(pixels):
    """The share of pixels that are neither white, grey nor black: the bodies."""
    return float(np.mean(np.ptp(pixels, axis=2) > 0.15))
