"""A file may extend another, of any kind, and place machines of others; circles and far folders are refused."""

from pathlib import Path

import pytest

import kalaba as kb
from kalaba.errors import FileError
from kalaba.files.yaml.reading import read
from kalaba.model import formats
from kalaba.model.formats import Described, Format, register

HINGE = kb.Revolute(-kb.Y)
GRIPPER = kb.System(
    "gripper",
    parts=(
        kb.Body("crank", kb.Rod(0.15, mass=0.3), joint=HINGE),
        kb.Body("finger", kb.Rod(0.40, mass=0.8), parent="crank.tip", joint=HINGE),
        kb.Frame("spare", "crank"),
        kb.Actuator("motor", "crank.angle"),
    ),
    start=kb.Start(guess={"crank.angle": 0.4, "finger.angle": 0.2}),
    gravity=(0, 0, -1),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with a file of a kind from outside, which `read` gives as a gripper with a note."""
    monkeypatch.setattr(formats, "_FORMATS", dict(formats._FORMATS))
    register(Format("Grip", (".grip",), lambda path, roots, **_: Described(GRIPPER, notes=("colours left out",))))
    (tmp_path / "gripper.grip").write_text("")
    return tmp_path


def load(folder, text, name="machine.yaml", roots=()):
    (folder / name).write_text(text, encoding="utf-8")
    return read(folder / name, roots)


def test_a_file_of_another_kind_is_extended_changed_and_closed(folder):
    described = load(
        folder,
        """\
kalaba: 1
extends: gripper.grip
remove: [spare]
bodies:
  finger: {rod: {length: 0.5 m, mass: 0.9 kg}}        # replaces the solid; parent and joint stay
connections:
  pin: {child: finger.tip, at: [0.3 m, 0, 0], joint: {revolute: -y}}
set: {crank.mass: 200 g}
start: {guess: {finger.angle: -2.5 rad}, hold: {crank.angle: 1 rad}}
""",
    )
    finger = kb.Body("finger", kb.Rod(0.5, mass=0.9), parent="crank.tip", joint=HINGE)
    expected = kb.System(
        "gripper",
        parts=(
            GRIPPER.parts[0],
            finger,
            GRIPPER.parts[3],
            kb.Connection("pin", "finger.tip", at=(0.3, 0, 0), joint=HINGE),
        ),
        start=kb.Start(hold={"crank.angle": 1.0}, guess={"finger.angle": -2.5}),
        gravity=(0, 0, -1),
        parameters={"crank.mass": 0.2},
    )
    assert described.system == expected
    assert described.notes == ("colours left out",)
    assert read(described.system.save(folder / "whole.yaml")).system == expected


def test_machines_of_files_and_of_the_file_itself_are_placed(folder):
    (folder / "pair.yaml").write_text(
        "kalaba: 1\nsystems: {one: gripper.grip}\nplace: {left: one, right: {system: one, at: [0, 1 m, 0]}}\n"
    )
    described = load(
        folder,
        """\
kalaba: 1
systems:
  both: pair.yaml
  leg: {bodies: {rod: {rod: {length: 1 m, mass: 1 kg}, joint: {revolute: x}}}}
  legs:
    place: {a: leg, b: {system: leg, set: {rod.length: 50 cm}, start: {hold: {rod.angle: 90 deg}}}}
place:
  arms: both
  base: {system: legs, at: {position: [0, 0, 1 m], rpy: [0, 0, 90 deg]}}
""",
    )
    names = [body.name for body in described.system.machine.bodies]
    assert names == [
        *("arms.left.crank", "arms.left.finger", "arms.right.crank", "arms.right.finger", "base.a.rod", "base.b.rod")
    ]
    assert read(described.system.save(folder / "again.yaml")).system == described.system


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("extends: gripper.grip\nremove: [spar]", r"3: remove: .*no part 'spar' to remove; did you mean spare"),
        (
            "extends: gripper.grip\nframes: {crank: world}",
            "3: frames.crank: the file that is extended has it as a Body",
        ),
        ("extends: ../secret.grip", r"2: extends: '\.\./secret\.grip' leads out of"),
        ("extends: machine.yaml", "2: extends: machine.yaml includes itself"),
        ("systems: {a: other.yaml}", "includes itself, by way of other.yaml"),
        ("extends: gripper.xyz", "2: extends: .*expected a file that ends in"),
        ("systems: {a: {place: {b: a}}}", "2: systems.a.place.b.system: no system 'a'"),
    ],
)
def test_files_that_lead_astray_are_refused(text, message, folder):
    (folder.parent / "secret.grip").write_text("")
    (folder / "gripper.xyz").write_text("")
    (folder / "other.yaml").write_text("kalaba: 1\nextends: machine.yaml\n")
    with pytest.raises(FileError, match=message):
        load(folder, f"kalaba: 1\n{text}\n")


def test_links_out_of_the_folder_are_refused_unless_their_root_is_given(folder, tmp_path_factory):
    far = tmp_path_factory.mktemp("far")
    (far / "far.grip").write_text("")
    (folder / "near.grip").symlink_to(far / "far.grip")
    text = "kalaba: 1\nextends: near.grip\n"
    with pytest.raises(FileError, match="leads out of"):
        load(folder, text)
    assert load(folder, text, roots=(far,)).system == GRIPPER


def test_placements_cannot_grow_without_end(tmp_path):
    systems = ["  s0: {frames: {f: world}}"]
    systems += [f"  s{i}: {{place: {{a: s{i - 1}, b: s{i - 1}, c: s{i - 1}, d: s{i - 1}}}}}" for i in range(1, 30)]
    with pytest.raises(
        FileError, match=r"machine\.yaml:\d+: systems\.s6\.place: expected at most 5000 parts in a file"
    ):
        load(tmp_path, "kalaba: 1\nsystems:\n" + "\n".join(systems) + "\n")


def test_a_package_of_the_house_reads_its_own_files_by_suffix(tmp_path):
    assert formats.format_of(Path("x.YAML")).name == "kalaba YAML"
    assert formats.format_of(Path("x.yml")) is formats.format_of(Path("x.json"))
