"""The studio in a real browser: every machine opens, is seen and moves; what is drawn is what the run says."""

import contextlib
import http.server
import threading

import numpy as np
import pytest
import viser

import kalaba as kb
from browser.watcher import coloured
from kalaba.space.rotations import quaternion_of

pytestmark = pytest.mark.xdist_group("browser")  # one page for all of them
OFTEN = {"four-bar", "planar-parallel", "stewart", "flexible-four-bar"}
SWEPT = [name if name in OFTEN else pytest.param(name, marks=pytest.mark.long) for name, _ in kb.catalog()]
SHORT = 4.0  # s: the runs of the sweep; the slowest has begun to move by then
SEEN = 5e-4  # of the pixels: the smallest machine, far away in the run that it drives, covers more
MOVED = 5e-4  # of the pixels: what differs between two pictures of a machine that moves


@pytest.fixture
def four_bar(watcher):
    """The page on the four-bar in its own scenario."""
    studio = watcher.studio
    studio.duration, studio.panel.forces.value = None, True
    if studio.subject.name != "four-bar" or len(studio.run.time) < 400 or studio.values:
        studio.choose("four-bar")
        assert studio.wait(120)
    studio.seek(0.0)
    return watcher


def turned(before, after):
    """The largest change of any body's place, m, and of its quaternion together."""
    return max(np.abs(x - before[n][0]).max() + np.abs(e - before[n][1]).max() for n, (x, e) in after.items())


def changed(before, after):
    """The share of pixels that are not as they were."""
    return float(np.mean(np.abs(after - before).max(axis=2) > 0.1))


@contextlib.contextmanager
def served_page():
    """A page of somebody else on this computer, and its address."""
    handler = type("Empty", (http.server.BaseHTTPRequestHandler,), {"do_GET": _empty, "log_message": lambda *_: None})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/"
        server.shutdown()


def _empty(request):
    request.send_response(200)
    request.send_header("Content-Type", "text/html")
    request.end_headers()
    request.wfile.write(b"<html><body>another page</body></html>")


def of_plant(plant, q, frames):
    """Where forward kinematics has some frames."""
    poses = {frame: plant.pose(frame, q) for frame in frames}
    return {frame: (pose.position, quaternion_of(pose.rotation)) for frame, pose in poses.items()}


@pytest.mark.parametrize("name", SWEPT)
def test_every_machine_opens_is_seen_and_moves(watcher, name):
    studio, page = watcher.studio, watcher.page
    studio.duration, studio.panel.forces.value = SHORT, False  # forces are looked at elsewhere; here they cost time
    watcher.choose("machine", name)
    assert watcher.comes(lambda: studio.subject.name == name)  # what the page asked for reaches us by and by
    assert studio.wait(120)
    assert watcher.comes(page.get_by_text(f"{name} · ").first.is_visible)  # the title
    studio.seek(0.0)
    assert watcher.shows(studio.stage.poses)
    assert watcher.comes(lambda: coloured(watcher.photograph(f"{name}-0")) > SEEN)  # the page fades in
    before, rest = watcher.photograph(f"{name}-0"), studio.stage.poses()
    studio.set_speed(4.0)
    page.get_by_role("button", name="Play").click()
    moved = watcher.comes(lambda: turned(rest, studio.stage.poses()) > 0.05)
    seen = watcher.comes(lambda: changed(before, watcher.photograph(f"{name}-1")) > MOVED)
    studio.play(playing=False)
    studio.set_speed(1.0)
    assert moved
    assert seen
    assert watcher.shows(studio.stage.poses)
    watcher.photograph(f"{name}-1")


def test_scrubbing_to_two_seconds_shows_the_pose_of_that_time(four_bar):
    studio = four_bar.studio
    four_bar.write("time [s]", 2.0)
    run = studio.run
    index = int(np.argmin(np.abs(run.time - 2.0)))
    bodies = [body.name for body in run.plant.machine.bodies]
    assert four_bar.shows(lambda: of_plant(run.plant, run.q[index], bodies), 1e-6)
    assert studio.player.cursor == pytest.approx(2.0, abs=1e-9)


def test_a_parameter_slider_changes_the_result(four_bar):
    studio = four_bar.studio
    before, picture = studio.run, four_bar.photograph("slider-0")
    four_bar.tab("Change")
    four_bar.write("crank.length", 0.13)
    assert four_bar.comes(lambda: studio.run is not before and studio.wait(60))
    assert studio.values == {"crank.length": pytest.approx(0.13)}
    assert np.abs(studio.run.q[: len(before.q)] - before.q[: len(studio.run.q)]).max() > 0.01
    studio.seek(0.0)
    assert four_bar.shows(studio.stage.poses)
    assert changed(picture, four_bar.photograph("slider-1")) > MOVED
    four_bar.tab("Plots")


def test_dragging_by_the_mouse_keeps_loops_closed(four_bar):
    studio, page = four_bar.studio, four_bar.page
    four_bar.tab("Drag")
    four_bar.choose("frame", "coupler.tip")
    page.get_by_label("drag a frame").click()
    assert four_bar.comes(lambda: four_bar.on_screen("/handles", (0, 0, 0)))
    start = studio.run.plant.pose("coupler.tip", studio.shown).position
    reach = 0.16 * studio.stage.scene.size
    four_bar.pass_time(0.5)
    shaft, end = (four_bar.on_screen("/handles", (share * reach, 0, 0)) for share in (0.6, 1.2))
    page.mouse.move(*shaft)
    four_bar.pass_time(0.2)
    page.mouse.down()
    for share in np.linspace(0, 1, 8):
        page.mouse.move(*(np.array(shaft) + share * (np.array(end) - shaft)))
        four_bar.pass_time(0.05)
    assert studio.wait(30)
    page.mouse.up()
    four_bar.pass_time(0.3)
    assert studio.wait(30)
    four_bar.photograph("drag")
    plant, q = studio.run.plant, studio.shown
    assert np.linalg.norm(plant.pose("coupler.tip", q).position - start) > 1e-3
    assert np.abs(plant.residual(q)).max() <= 1e-12
    assert four_bar.shows(lambda: of_plant(plant, q, [body.name for body in plant.machine.bodies]))
    assert four_bar.comes(
        page.get_by_text("from the hand").is_visible
    )  # the residual, and how far the frame stays behind
    four_bar.tab("Plots")
    studio.seek(0.0)


def test_other_motors_are_chosen_on_the_page(watcher):
    studio = watcher.studio
    studio.duration = SHORT
    watcher.choose("machine", "five-bar")
    watcher.tab("Change")
    watcher.choose("motors", "3")
    assert len(studio.run.plant.actuators) == 3
    watcher.tab("Show")
    watcher.page.get_by_label("motors").last.click()
    watcher.pass_time(0.2)
    assert studio.wait(60)
    watcher.photograph("motors")
    watcher.page.get_by_label("motors").last.click()
    watcher.tab("Plots")


def test_the_page_asks_nothing_of_the_network(watcher):
    assert watcher.outside == []


# What another page can do with the studio's address: open its socket, read it as text, show it within itself.
ATTACK = """async ([socket, page]) => {
  const heard = await new Promise(done => {
    const wire = new WebSocket(socket, ["viser-v" + "VERSION"]);
    wire.onmessage = () => done("message");
    wire.onopen = () => done("open");
    wire.onerror = () => done("refused");
  });
  const read = await fetch(page).then(answer => answer.text().then(() => "read")).catch(() => "refused");
  return [heard, read];
}"""


def test_another_page_of_the_browser_gets_nothing_even_with_the_token(watcher):
    address = watcher.studio.address
    attack, places = ATTACK.replace("VERSION", viser.__version__), [address.replace("http", "ws").rstrip("/"), address]
    assert watcher.page.evaluate(attack, places) == ["open", "read"]  # which its own page may do
    with served_page() as elsewhere:
        other = watcher.page.context.browser.new_page()
        other.goto(elsewhere)
        assert other.evaluate(attack, places) == ["refused", "refused"]
        other.close()
    watcher.page.bring_to_front()


def test_the_studio_without_its_token_says_what_to_do(watcher):
    other = watcher.page.context.browser.new_page()
    answer = other.goto(f"http://127.0.0.1:{watcher.studio.server.get_port()}/")
    assert answer.status == 403
    assert "the whole address that was printed" in other.text_content("body")
    other.close()
    watcher.page.bring_to_front()
