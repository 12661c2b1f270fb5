"""The studio without a browser: what the server holds is what the run says."""

import socket
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import kalaba as kb
from kalaba.errors import ViewError
from kalaba.robots.catalogue import ENTRIES
from kalaba.space.rotations import rotation_of
from kalaba.view.studio import serving
from kalaba.view.studio.arrows import Forces, arrows
from kalaba.view.studio.drag import drag
from kalaba.view.studio.quantities import quantities
from kalaba.view.studio.subject import subject_by_name, subject_of
from kalaba.view.studio.titles import title_of
from unit.results.samples import small_run

DRAWN = 1e-6  # m, and of unit vectors: what the page promises


@pytest.fixture(scope="module")
def page():
    opened = kb.studio("four-bar", port=0)
    assert opened.wait(120)
    yield opened
    opened.close()


USUAL = ENTRIES["four-bar"].settings({})


@pytest.fixture
def page_of_four_bar(page):
    if page.subject.name != "four-bar" or page.subject.options != USUAL or page.values:
        page.choose("four-bar")
        assert page.wait(120)
    return page


def drawn_as(opened, q):
    """Whether every node of the page is where forward kinematics has its body."""
    plant = opened.run.plant
    for frame, (position, quaternion) in opened.stage.poses().items():
        pose = plant.pose(frame, q)
        if np.abs(position - pose.position).max() > DRAWN:
            return False
        if np.abs(rotation_of(quaternion) - pose.rotation).max() > DRAWN:
            return False
    return True


def test_scrubbing_shows_the_pose_of_that_time(page_of_four_bar):
    opened = page_of_four_bar
    opened.seek(2.0)
    index = int(np.argmin(np.abs(opened.run.time - 2.0)))
    assert opened.run.time[index] == pytest.approx(2.0)
    assert drawn_as(opened, opened.run.q[index])
    assert not drawn_as(opened, opened.run.q[index + 1])  # a hundredth of a second later is told apart
    assert opened.panel.time.value == pytest.approx(2.0)


def test_play_moves_the_bodies_and_pause_holds_them(page_of_four_bar):
    opened = page_of_four_bar
    opened.seek(0.5)
    before = opened.stage.poses()["coupler"][0]
    opened.play(playing=True)
    time.sleep(0.4)
    opened.play(playing=False)
    held = opened.stage.poses()["coupler"][0]
    time.sleep(0.2)
    assert np.abs(held - before).max() > 1e-3
    assert np.array_equal(opened.stage.poses()["coupler"][0], held)


def test_other_numbers_give_the_run_that_simulate_gives(page_of_four_bar):
    opened = page_of_four_bar
    opened.tune({"crank.length": 0.12})
    assert opened.wait(60)
    chosen = kb.scenario("four-bar")
    fresh = kb.build(chosen.system).with_parameters({"crank.length": 0.12})
    assert np.array_equal(opened.run.q, kb.simulate(fresh, chosen.duration, control=chosen.control).q)
    opened.seek(1.0)
    assert drawn_as(opened, opened.player.q)
    crank = next(shape for shape in opened.stage.scene.shapes if shape.name == "crank")
    assert np.ptp(crank.vertices, axis=0).max() == pytest.approx(0.12)
    opened.tune({})
    assert opened.wait(60)


def test_the_title_says_freedoms_and_worst_residual(page_of_four_bar):
    title = title_of(page_of_four_bar.subject, page_of_four_bar.run)
    assert title.startswith("four-bar · 1 freedom · ≤ ")
    assert float(title.rpartition(" ")[2]) == pytest.approx(page_of_four_bar.run.worst.value, rel=0.06)


@pytest.mark.parametrize(
    ("name", "frame", "reaches"),
    [
        ("stewart", "platform", True),
        ("two-arm-carry", "load", True),
        ("planar-parallel", "leg1.link_b.tip", True),
        ("four-bar", "coupler.tip", False),
        ("bennett", "bar2.tip", False),
    ],
)
def test_a_pull_keeps_every_loop_closed(name, frame, reaches):
    plant = kb.build(kb.load(name))
    q, there = plant.start.q, plant.pose(frame, plant.start.q).position
    for move in ([0.02, 0.01, 0.0], [0.03, 0.02, 0.0]):
        found = drag(plant, frame, q, there + move)
        assert found.residual <= 1e-12
        assert np.abs(plant.residual(found.q)).max() <= 1e-12
        assert found.gap < 1e-6 or not reaches
        assert found.gap <= np.linalg.norm(plant.pose(frame, q).position - there - move) + 1e-12
        q = found.q
    assert np.abs(q - plant.start.q).max() > 1e-3


def test_a_pull_out_of_reach_stops_short(page_of_four_bar):
    opened = page_of_four_bar
    opened.seek(1.0)
    found = opened.pull("crank.tip", (9.0, 0.0, 9.0))
    assert found.residual <= 1e-12
    assert found.gap > 8.0
    assert drawn_as(opened, found.q)
    assert "residual" in opened.panel.residual.content
    opened.seek(1.0)
    assert drawn_as(opened, opened.run.q[100])


def test_a_pull_can_turn_a_frame_too():
    plant = kb.build(kb.load("stewart"))
    pose = plant.pose("platform", plant.start.q)
    turned = rotation_of(np.array([np.cos(0.05), 0.0, 0.0, np.sin(0.05)])) @ pose.rotation
    found = drag(plant, "platform", plant.start.q, pose.position, turned)
    assert np.abs(plant.pose("platform", found.q).rotation - turned).max() < 1e-8
    assert found.residual <= 1e-12


def test_arrows_are_the_reactions_and_the_motors_efforts():
    subject = replace(subject_by_name("stewart"), duration=0.2)
    run = subject.first_run()
    from kalaba.view.scene import scene_of

    scene, index = scene_of(run.plant, run.q[0]), 10
    found = {arrow.name: arrow for arrow in arrows(scene, run, index)}
    reaction = run.plant.reaction(
        "ball1", run.q[index], run.v[index], t=run.time[index], actuation=run.actuation[index]
    )
    assert found["ball1"].vector == pytest.approx(reaction.force)
    assert found["ball1"].origin == pytest.approx(run.plant.pose("leg1.rod", run.q[index]).position)
    motors = [found[name] for name in run.plant.actuators]
    assert [np.linalg.norm(arrow.vector) for arrow in motors] == pytest.approx(np.abs(run.actuation[index]))
    longest = max(np.linalg.norm(end - a.origin) for a, end in Forces.of(scene, run).drawn(index, ("reaction",)))
    assert longest <= 0.25 * scene.size


def test_rows_that_are_expressions_show_the_force_on_what_they_hold():
    # A mass that slides freely, held in place against gravity by a row: the force is its weight.
    puck = kb.Body("puck", kb.Solid(2.0), joint=kb.Prismatic(kb.Z))
    run = kb.simulate(kb.System("held", (puck, kb.Constraint("stay", "puck.travel"))), 0.05)
    from kalaba.view.scene import scene_of

    (arrow,) = arrows(scene_of(run.plant), run, 3)
    assert arrow.vector == pytest.approx((0.0, 0.0, 2.0 * 9.81))


def test_quantities_have_units_and_leave_out_what_rests():
    run = kb.simulate(kb.load("four-bar"), 0.2)
    labels = [quantity.label for quantity in quantities(run)]
    assert "coordinates [rad]" in labels
    assert "constraint force [N·m]" in labels
    assert not any(label.startswith("motors") for label in labels)  # nobody drives it
    for quantity in quantities(run):
        assert quantity.values.shape == (len(run.time), len(quantity.names))


def test_options_are_switched_and_simulated(page):
    page.choose("five-bar")
    assert page.wait(120)
    assert len(page.run.plant.actuators) == 2
    page.switch({"motors": 3})
    assert page.wait(120)
    assert len(page.run.plant.actuators) == 3
    assert page.panel.switches.handles["motors"].value == "3"


def test_what_goes_wrong_is_said_on_the_page(page):
    page.choose("no-such-machine")
    assert page.wait(60)
    assert "no-such-machine" in page.panel.header.content


def test_an_expression_can_be_plotted(page_of_four_bar):
    opened = page_of_four_bar
    opened.plot_expression("2*crank.angle")
    assert opened.panel.plots[0].quantity.values[:, 0] == pytest.approx(2 * opened.run["crank.angle"])
    opened.plot_expression("crnk.angle")
    assert "crank.angle" in opened.panel.header.content


def test_frames_and_traces_are_shown_on_request(page_of_four_bar):
    opened = page_of_four_bar
    opened.stage.show_frames(visible=True)
    opened.seek(1.0)
    where = opened.stage.scene.frames.index("coupler.tip")
    there = opened.run.plant.pose("coupler.tip", opened.player.q).position
    assert opened.stage._axes.batched_positions[where] == pytest.approx(there, abs=1e-6)  # of 32-bit numbers
    opened.trace("coupler.tip")
    assert "coupler.tip" in opened.stage.traced
    opened.stage.untrace()
    assert opened.stage.traced == ()


def test_a_run_goes_on_from_where_it_was_pulled(page_of_four_bar):
    opened = page_of_four_bar
    opened.seek(0.0)
    start = opened.run.plant.pose("crank.tip", opened.player.q).position
    found = opened.pull("crank.tip", start + np.array([0.0, 0.0, 0.03]))
    opened.run_from_here()
    assert opened.wait(60)
    assert opened.run.q[0] == pytest.approx(found.q)
    assert np.abs(opened.run.v[0]).max() < 1e-12
    opened.tune({})
    assert opened.wait(60)


def test_a_saved_run_is_shown_and_simulated_again_with_other_numbers(tmp_path, page):
    chosen = kb.scenario("four-bar")
    kb.simulate(chosen.system, 0.3, control=chosen.control).save(tmp_path / "run.nc")
    subject = subject_of(tmp_path / "run.nc")
    page._open(lambda: subject)
    assert page.wait(60)
    page.seek(0.3)
    assert drawn_as(page, page.run.q[-1])
    page.tune({"crank.mass": 0.5})
    assert page.wait(60)
    heavier = kb.simulate(kb.load("four-bar", {"crank.mass": 0.5}), 0.3, control=chosen.control)
    assert page.run.q[-1] == pytest.approx(heavier.q[-1], abs=1e-12)  # the same run, bit for bit but for the text
    page.tune({})
    assert page.wait(60)


def test_a_run_that_began_elsewhere_is_simulated_again_from_there(tmp_path):
    run = kb.simulate(kb.load("four-bar"), 0.2)
    onward = kb.simulate(run.plant, 0.1, start=run.end)
    onward.save(tmp_path / "onward.nc")
    again = subject_of(kb.open_run(tmp_path / "onward.nc")).run_with({})
    assert again.q[-1] == pytest.approx(onward.q[-1], abs=1e-9)  # the start is projected again, which rounds


def test_a_run_of_a_controller_says_why_its_numbers_are_fixed(tmp_path):
    small_run().save(tmp_path / "run.nc")
    assert "a file holds no Python functions, which gust had" in subject_of(str(tmp_path / "run.nc")).fixed
    run = kb.scenario("four-bar").run(0.02)
    driven = replace(run, effort=replace(run.effort, settings={"control": "Servo(goals=...)"}))
    assert "keeps its control in words alone: Servo(goals=...)" in subject_of(driven).fixed


def test_only_the_latest_of_waiting_jobs_is_done(page):
    held, done = threading.Event(), []
    page.worker.submit("first", lambda: held.wait(10) and None)
    for k in range(5):
        page.worker.submit("slider", lambda k=k: done.append(k))
    held.set()
    assert page.wait(10)
    assert done == [4]


def test_a_port_in_use_is_passed_over_and_said():
    with socket.socket() as busy:
        busy.bind(("127.0.0.1", 0))
        busy.listen()
        port, said = busy.getsockname()[1], []
        opened = kb.studio(kb.load("four-bar"), port=port, duration=0.1, say=said.append)
        try:
            assert opened.server.get_port() > port
            assert said[0] == f"port {port} is in use; took {opened.server.get_port()}"
            assert said[-1] == f"studio: {opened.address}"
            assert opened.wait(60)
        finally:
            opened.close()


def test_another_host_than_this_computer_is_warned_of():
    said = []
    opened = kb.studio(kb.load("four-bar"), host="0.0.0.0", port=0, duration=0.1, say=said.append)
    opened.wait(60)
    opened.close()
    assert any(line.startswith("warning") and "0.0.0.0" in line for line in said)
    assert serving.is_loopback("127.0.0.1")
    assert serving.is_loopback("localhost")
    assert serving.is_loopback("::1")
    assert not serving.is_loopback("192.168.1.4")


def test_a_host_that_is_not_ours_is_refused_in_one_line():
    with pytest.raises(ViewError, match=r"expected an address of this computer"):
        kb.studio(kb.load("four-bar"), host="203.0.113.7", port=0)


def test_a_missing_viser_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(serving, "find_spec", lambda _: None)
    with pytest.raises(ViewError, match=r"pip install 'kalaba\[view\]'"):
        kb.studio("four-bar")


def test_what_is_no_machine_is_refused():
    with pytest.raises(ViewError, match="expected a catalogue's name"):
        subject_of(3.0)
