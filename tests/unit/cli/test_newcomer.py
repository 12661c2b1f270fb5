"""A stranger's gripper from a URDF to a run in another folder, by commands alone."""

import warnings

import pytest

from kalaba.cli.application import invoke

SIDES = {"left": -1.0, "right": 1.0}
BAR = (
    '<inertial><origin xyz="{x} 0 0.03"/><mass value="0.03"/>'
    '<inertia ixx="1e-5" ixy="0" ixz="0" iyy="1e-5" iyz="0" izz="2e-6"/></inertial>'
)


def joint(name: str, ends: tuple[str, str], origin: str, kind: str = "revolute", more: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><parent link="{ends[0]}"/><child link="{ends[1]}"/>'
        f'<origin xyz="{origin}"/><axis xyz="0 1 0"/>{more}</joint>'
    )


def limit(effort: float) -> str:
    return f'<limit lower="-0.8" upper="0.8" effort="{effort}" velocity="2"/>'


def gripper() -> str:
    """Each finger on two knuckles, of which the inner one ends at a pin that stays open; the right one mimics."""
    text = '<link name="base"/>'
    for side, sign in SIDES.items():
        links = [f"{side}-{word}" for word in ("outer", "finger", "inner")]
        text += "".join(f'<link name="{name}">{BAR.format(x=sign * 0.01)}</link>' for name in links)
        mimic = '<mimic joint="left-outer_joint" multiplier="-1"/>' if side == "right" else ""
        text += joint(f"{side}-outer_joint", ("base", links[0]), f"{sign * 0.04} 0 0", more=limit(10) + mimic)
        text += joint(f"{side}-finger_joint", (links[0], links[1]), f"{sign * 0.02} 0 0.06", more=limit(0))
        text += joint(f"{side}-inner_joint", ("base", links[2]), f"{sign * 0.015} 0 0.01", more=limit(0))
        for name, link, origin in (
            ("knuckle_pin", links[2], f"{sign * 0.02} 0 0.06"),
            ("finger_pin", links[1], f"{-sign * 0.025} 0 0.01"),
        ):
            text += f'<link name="{side}-{name}"/>'
            text += joint(f"{side}-{name}_joint", (link, f"{side}-{name}"), origin, "fixed")
    return f'<robot name="gripper">{text}</robot>'


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "gripper.urdf").write_text(gripper())
    (tmp_path / "elsewhere").mkdir()
    return tmp_path


def test_a_gripper_is_closed_run_drawn_exported_and_run_elsewhere(folder, monkeypatch, capsys):
    def said(*arguments: str) -> str:
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            assert invoke(arguments) == 0
        return capsys.readouterr().out

    assert "frames coincide, so it may have loops" in said("check", "gripper.urdf")
    loops = said("check", "gripper.urdf", "--suggest-loops")
    (folder / "gripper.loops.yaml").write_text(loops)
    closed = ("gripper.urdf", "--loops", "gripper.loops.yaml")
    assert "rank: 4, freedoms: 1" in said("check", *closed)
    assert "right_outer.angle" not in loops
    assert "angle = -left_outer.angle" in said("show", *closed)
    assert "accuracy: good" in said("run", *closed, "--duration", "0.2")
    said("view", "run.nc", "-o", "still.png")
    assert (folder / "still.png").stat().st_size > 1000
    said("export", *closed, "-o", "elsewhere/gripper.yaml")
    monkeypatch.chdir(folder / "elsewhere")
    yaml = folder / "elsewhere" / "gripper.yaml"
    law = 'control: {left_outer_joint.motor: "0.05 - 0.05*rate(left_outer.angle)"}'
    yaml.write_text(yaml.read_text().replace("run: {duration: 5 s}", f"run: {{duration: 0.2 s, {law}}}"))
    assert law in yaml.read_text()
    assert "freedoms: 1" in said("run", "gripper.yaml")
