"""SDF: poses relative to any frame, every joint, loops as rows; what a file gets wrong is said with its line."""

import math

import numpy as np
import pytest

import kalaba as kb
import memory
from kalaba.errors import FileError, KalabaError
from kalaba.files.sdf.machine import read


def link(name, pose="", mass=1.0, inertial="0.25 0 0 0 0 0"):
    inertia = "".join(
        f"<i{k}>{v}</i{k}>" for k, v in zip(("xx", "yy", "zz", "xy"), (0.02, 0.03, 0.025, 0.001), strict=True)
    )
    return (
        f'<link name="{name}">{pose}<inertial><pose>{inertial}</pose><mass>{mass}</mass>'
        f"<inertia>{inertia}</inertia></inertial></link>"
    )


def joint(name, kind, parent, child, axis="0 -1 0", *, more="", pose=""):  # noqa: PLR0913  (one per entry)
    return (
        f'<joint name="{name}" type="{kind}">{pose}<parent>{parent}</parent><child>{child}</child>'
        f"<axis><xyz>{axis}</xyz>{more}</axis></joint>"
    )


def model(content, name="robot", version="1.9"):
    return f'<sdf version="{version}"><model name="{name}">{content}</model></sdf>'


ARM = (
    link("upper", "<pose>0 0 1 0 0 0</pose>"),
    link("lower", "<pose>0.5 0 1 0 0.3 0</pose>", 2.0),
    joint("shoulder", "revolute", "world", "upper", more="<limit><effort>5</effort></limit>"),
    joint("elbow", "revolute", "upper", "lower", more="<dynamics><damping>0.1</damping></dynamics>"),
)
SOLID = {"inertia": (0.02, 0.03, 0.025, 0.001, 0, 0), "com": (0.25, 0, 0)}
BY_HAND = kb.System(
    "by hand",
    parts=(
        kb.Body("upper", kb.Solid(1.0, **SOLID), at=(0, 0, 1), joint=kb.Revolute(-kb.Y)),
        kb.Body("lower", kb.Solid(2.0, **SOLID), "upper", kb.Pose((0.5, 0, 0), rpy=(0, 0.3, 0)), kb.Revolute(-kb.Y)),
        kb.Actuator("shoulder.motor", "upper.angle", 5.0),
        kb.Spring("elbow.damper", "lower.angle", damping=0.1),
    ),
)


@pytest.fixture
def described(tmp_path):
    def opened(text, name="robot.sdf", **options):
        (tmp_path / name).write_text(text)
        return read(tmp_path / name, **options)

    return opened


def agree(one, other, signs=(1.0, 1.0)):
    """Whether two machines have the same mass matrix and bias at random states, velocities counted with signs."""
    first, second = (kb.build(system, backend=kb.Interpreted()) for system in (one, other))
    rng, S = np.random.default_rng(1), np.diag(signs)
    for _ in range(3):
        q, v = rng.uniform(-1, 1, (2, len(signs)))
        M, h = second.mass_matrix(S @ q), second.bias(S @ q, S @ v)
        assert first.mass_matrix(q) == pytest.approx(S @ M @ S, abs=1e-13)  # some ten roundings of numbers near one
        assert first.bias(q, v) == pytest.approx(S @ h, abs=1e-12)


def test_a_model_is_the_machine_written_by_hand(described):
    system = described(model("".join(ARM))).system
    agree(system, BY_HAND)
    assert [part for part in system.parts if isinstance(part, kb.Actuator | kb.Spring)] == list(BY_HAND.parts[2:])


def test_a_joint_used_from_its_child_moves_by_the_same_angle(described):
    turned = (
        *ARM[:3],
        ARM[3].replace("<parent>upper</parent><child>lower</child>", "<parent>lower</parent><child>upper</child>"),
    )
    pose = "<pose relative_to='lower'/>"  # where the joint is: the child's frame by default
    system = described(
        model("".join(turned).replace('type="revolute"><parent>lower', f'type="revolute">{pose}<parent>lower'))
    ).system
    plant = kb.build(system, backend=kb.Interpreted())
    assert len(plant.velocities) == 2
    # the axis is given in the joint's frame, which is lower's: the same line; the angle is that of upper against lower
    agree(system, BY_HAND, (1.0, -1.0))


@pytest.mark.parametrize(
    "lower",
    [
        "<pose relative_to='upper'>0.5 0 0 0 0.3 0</pose>",
        "<pose relative_to='tip'>0 0 0 0 0.3 0</pose>",
        f"<pose relative_to='tip' degrees='true'>0 0 0 0 {math.degrees(0.3)!r} 0</pose>",
        f"<pose relative_to='tip' rotation_format='quat_xyzw'>0 0 0 0 {math.sin(0.15)!r} 0 {math.cos(0.15)!r}</pose>",
        "<pose relative_to='elbow'/>",
    ],
)
def test_poses_relative_to_any_frame_are_the_same_pose(described, lower):
    frame = '<frame name="tip" attached_to="upper"><pose>0.5 0 0 0 0 0</pose></frame>'
    elbow = ARM[3]
    if "elbow" in lower:
        elbow = elbow.replace('type="revolute">', 'type="revolute"><pose relative_to="tip">0 0 0 0 0.3 0</pose>')
    system = described(model(ARM[0] + link("lower", lower, 2.0) + frame + ARM[2] + elbow)).system
    agree(system, BY_HAND)
    assert "tip" in system.machine.frames


def test_nested_and_included_models_are_placed(described, tmp_path):
    (tmp_path / "hand").mkdir()
    hand = link("palm", "<pose>0.1 0 0 0 0 0</pose>") + '<frame name="wrist"><pose>-0.2 0 0 0 0 0</pose></frame>'
    (tmp_path / "hand" / "model.sdf").write_text(model(hand, "hand"))
    include = "<include><uri>model://hand</uri><name>grip</name><placement_frame>wrist</placement_frame>"
    include += "<pose relative_to='lower'>0.5 0 0 0 0 0</pose></include>"
    weld = '<joint name="mount" type="fixed"><parent>lower</parent><child>grip::palm</child></joint>'
    system = described(model("".join(ARM) + include + weld)).system
    plant = kb.build(system, backend=kb.Interpreted())
    tip = plant.pose("grip_palm", plant.start.q).position - plant.pose("lower", plant.start.q).position
    assert np.linalg.norm(tip) == pytest.approx(0.5 + 0.2 + 0.1, abs=1e-15)
    assert len(plant.velocities) == 2


LOOP = (
    link("crank", "<pose>0 0 0 0 0 0</pose>"),
    link("coupler", "<pose>0 0 0.3 0 0 0</pose>"),
    link("rocker", "<pose>0.5 0 0 0 0 0</pose>"),
    joint("base", "revolute", "world", "crank"),
    joint("top", "revolute", "crank", "coupler"),
    joint("pivot", "revolute", "world", "rocker"),
)


@pytest.mark.parametrize(("kind", "rows"), [("revolute", 5), ("ball", 3)])
def test_a_loop_is_rows_and_stays_closed(described, kind, rows):
    close = joint("pin", kind, "coupler", "rocker", pose="<pose>0 0 0.3 0 0 0</pose>")
    system = described(model("".join(LOOP) + close)).system
    mobility = kb.check(system)
    assert (mobility.velocities, len(mobility.rows), mobility.freedoms) == (3, rows, 1)
    run = kb.simulate(system, 0.5)
    assert run.worst.value <= 1e-13  # m, as the machine's own loops are kept
    assert abs(run.energy_balance).max() < 1e-6 * np.ptp(run.observed["kinetic"])  # the tolerance of Auto


def test_a_planar_loop_keeps_its_freedom_when_digits_set_an_axis_askew(described):
    close = joint("pin", "ball", "coupler", "rocker", pose="<pose>0 0 0.3 0 0 0</pose>")
    askew = ("".join(LOOP) + close).replace("0 0 0.3 0 0 0</pose><in", "0 0 0.3 1e-7 0 0</pose><in")
    result = described(model(askew))
    assert kb.check(result.system).freedoms == 1
    assert any("made parallel: robot::top" in note for note in result.notes)
    truly = askew.replace("1e-7", "1e-2")
    assert kb.check(described(model(truly)).system).freedoms == 0


def test_a_gearbox_is_a_row(described):
    gear = (
        '<joint name="gear" type="gearbox"><parent>rotor</parent><child>arm</child>'
        "<gearbox_reference_body>base</gearbox_reference_body><gearbox_ratio>0.1</gearbox_ratio>"
        "<axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 1</xyz></axis2></joint>"
    )
    parts = link("base") + link("rotor", inertial="0 0 0 0 0 0") + link("arm") + joint("fix", "fixed", "world", "base")
    parts += joint("ip", "revolute", "base", "rotor", "0 0 1") + joint("op", "revolute", "arm", "base", "0 0 -1") + gear
    system = described(model(parts)).system
    plant = kb.build(system, backend=kb.Interpreted())
    q = np.array([1.0, -0.1]) if plant.coordinates == ("rotor.angle", "arm.angle") else np.array([-0.1, 1.0])
    assert plant.residual(q, 0.0) == pytest.approx([0.0], abs=1e-15)  # θ₂ = −ratio θ₁
    assert kb.check(system).freedoms == 1


def test_every_joint_has_its_freedoms(described):
    two = "<axis2><xyz>{}</xyz></axis2></joint>"
    kinds = {"fixed": 0, "continuous": 1, "prismatic": 1, "screw": 1, "ball": 3, "universal": 2, "revolute2": 2}
    for kind, freedoms in kinds.items():
        for second in ("1 0 0", "1 0 0.5") if freedoms == 2 else ("",):
            text = joint("j", kind, "world", "a", "0 0 1", pose="<pose>0.1 0 0 0 0 0</pose>")
            text = text.replace("</axis></joint>", "</axis>" + two.format(second)) if second else text
            system = described(model(link("a") + text)).system
            assert len(system.machine.velocities) == freedoms, kind
            M = kb.build(system, backend=kb.Interpreted()).mass_matrix(
                np.array([1.0, 0, 0, 0] if kind == "ball" else [0.1] * freedoms)
            )
            assert (np.linalg.eigvalsh(M) > 0).all() if freedoms else True


def test_a_screw_advances_by_its_pitch(described):
    for tag, value in (("screw_thread_pitch", 0.02), ("thread_pitch", -2 * math.pi / 0.02)):
        text = joint("j", "screw", "world", "a", "0 0 1").replace("<parent>", f"<{tag}>{value!r}</{tag}><parent>")
        plant = kb.build(described(model(link("a") + text)).system, backend=kb.Interpreted())
        assert plant.pose("a", np.array([2 * math.pi])).position[2] == pytest.approx(0.02, rel=1e-14)


def test_a_model_floats_unless_it_is_tied_or_static(described):
    free = described(model(link("a", "<pose>1 2 3 0.1 0.2 0.3</pose>")))
    plant = kb.build(free.system, backend=kb.Interpreted())
    assert len(plant.velocities) == 6
    assert plant.pose("a", plant.start.q).position == pytest.approx((1, 2, 3), abs=1e-15)
    assert described(model(link("a")), base="fixed").system.machine.velocities == ()
    static = described(model("<static>1</static>" + link("a") + link("b") + joint("j", "revolute", "a", "b")))
    assert static.system.machine.bodies == ()
    assert {"a", "b"} <= set(static.system.machine.frames)


def test_a_world_has_its_gravity_and_several_models(described):
    text = model(link("a")).replace("<model", '<world name="w"><gravity>0 0 -1.6</gravity><model', 1)
    text = text.replace("</sdf>", f'<model name="other">{link("a", "<pose>5 0 0 0 0 0</pose>")}</model></world></sdf>')
    system = described(text).system
    assert system.gravity == (0, 0, -1.6)
    assert [body.name for body in system.machine.bodies] == ["robot_a", "other_a"]


def test_what_is_left_out_is_named(described):
    text = "".join(ARM).replace("<inertial>", "<visual name='v'/><collision name='c'/><inertial>", 1)
    notes = described(model(text + "<plugin name='p'/>" + '<link name="bare"/>')).notes
    assert any("left out: <collision>" in note for note in notes)
    assert any("left out: <plugin>" in note for note in notes)
    assert any("without <inertial>: 1 kg" in note and "bare" in note for note in notes)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<robot/>", r"robot\.sdf:1: <robot>: expected an <sdf>\. Is it an SDF\?"),
        ("<sdf version='1.9'/>", r"expected a <model> in it, got none"),
        ("<sdf version='x'><model name='a'/></sdf>", r"version: expected one such as 1\.6, got 'x'"),
        (model(joint("j", "revolute", "world", "none")), r"<joint j>: no link or frame 'none'; known names: j"),
        (model(link("a") + joint("j", "hinge", "world", "a")), r"type: expected one of fixed, .*got 'hinge'"),
        (model(link("a") + joint("j", "revolute", "a", "a")), r"expected two links, got"),
        (model(link("a") + joint("j", "revolute", "world", "a", "0 0 0")), r"axis: expected a direction"),
        (model(link("a", "<pose relative_to='b'/>") + link("b", "<pose relative_to='a'/>")), r"in a ring, through"),
        (model(link("a", "<pose>0 0</pose>")), r"pose: expected 6 finite numbers, got '0 0'"),
        (model(link("a", mass=-1)), r"expected a mass of zero or more, got -1 kg"),
        (model(link("a") + link("a")), r"a second element of that name"),
        (model("<frame name='f' attached_to='g'/><frame name='g' attached_to='f'/>" + link("a")), r"in a ring"),
        (model(link("a") + "<include/>"), r"<include>: expected a <uri> in it, got none"),
        (model(link("a") + joint("g", "gearbox", "world", "a")), r"expected a hinge along its axis between"),
    ],
)
def test_what_a_file_gets_wrong_is_one_line_with_its_place(described, text, words):
    with pytest.raises(FileError, match=words) as caught:
        described(text)
    assert "\n" not in str(caught.value)


def test_an_include_that_leads_out_or_is_not_there(described, tmp_path):
    (tmp_path / "outside.sdf").write_text(model(link("a")))
    (tmp_path / "inside").mkdir()
    with pytest.raises(FileError, match="leads out of"):
        described(model(link("b") + "<include><uri>../outside.sdf</uri></include>"), "inside/robot.sdf")
    missing = described(model(link("b") + "<include><uri>model://nobody</uri></include>"))
    assert any("not in the folders that were given" in note for note in missing.notes)
    with pytest.raises(FileError, match="includes itself"):
        described(model(link("b") + "<include><uri>robot.sdf</uri></include>"))


WORDS = (
    "0",
    "-1",
    "nan",
    "1e308",
    "",
    "world",
    "__model__",
    "robot",
    "a::b",
    "<",
    "&x;",
    "revolute",
    "ball",
    "gearbox",
    "🙂",
    "1e-320",
)


def mutated(text, rng):
    """A text with a few random changes: characters, words, pieces left out, doubled or moved."""
    for _ in range(rng.integers(1, 5)):
        place, length = int(rng.integers(len(text) + 1)), int(rng.integers(1, 40))
        piece = text[place : place + length]
        other = int(rng.integers(len(text) + 1))
        kind = rng.integers(5)
        if kind == 0:
            text = text[:place] + text[place + length :]
        elif kind == 1:
            text = text[:place] + piece + text[place:]
        elif kind == 2:
            text = text[:other] + piece + text[other:]
        elif kind == 3:
            text = text[:place] + WORDS[int(rng.integers(len(WORDS)))] + text[place + length // 4 :]
        else:
            numbers = [i for i, c in enumerate(text) if c.isdigit()]
            at = numbers[int(rng.integers(len(numbers)))] if numbers else 0
            text = text[:at] + WORDS[int(rng.integers(len(WORDS)))] + text[at + 1 :]
    return text


def fuzz(described, count, seed):
    gear = (
        '<joint name="gear" type="gearbox"><parent>crank</parent><child>rocker</child><gearbox_reference_body>world'
        "</gearbox_reference_body><gearbox_ratio>0.1</gearbox_ratio><axis><xyz>0 1 0</xyz></axis>"
        "<axis2><xyz>0 1 0</xyz></axis2></joint>"
    )
    whole = model("".join(LOOP) + joint("pin", "ball", "coupler", "rocker", pose="<pose>0 0 0.3 0 0 0</pose>") + gear)
    whole = whole.replace("</model>", '<frame name="f" attached_to="crank"><pose relative_to="top"/></frame></model>')
    rng, read_as_machines, said = np.random.default_rng(seed), 0, []
    with memory.below(memory.FILES):
        for _ in range(count):
            try:
                described(mutated(whole, rng))
                read_as_machines += 1
            except KalabaError as error:
                said.append(str(error))
    assert not [line for line in said if "\n" in line or "robot.sdf" not in line]
    assert 0 < read_as_machines < count


def test_mutated_files_are_machines_or_errors_with_their_place(described):
    fuzz(described, 300, 14)


@pytest.mark.long
def test_ten_thousand_mutated_files_are_machines_or_errors_with_their_place(described):
    fuzz(described, 10_000, 15)
