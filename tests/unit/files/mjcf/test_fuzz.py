"""Mutated MJCF files: a System, or a KalabaError that begins with the file; bounded in time, memory and folder."""

import random
import re
import time
from collections import Counter
from pathlib import Path

import pytest

import memory
from kalaba.errors import KalabaError
from kalaba.files.mjcf import read
from kalaba.files.source import Source
from unit.files.mjcf.test_reading import ARM, CUBE, in_world

BODY = '<body name="a" pos="0 0 1"><freejoint/><geom type="box" size=".1 .2 .3"/>'
MIXED = in_world(
    '<frame euler="0 90 0"><replicate count="3" offset="0 0 1" euler="0 0 30"><body name="p">'
    '<joint type="ball" name="o"/><geom size=".1" shellinertia="true"/></body></replicate></frame>'
    f'{BODY}<body name="b"><joint name="j" range="-1 1" springdamper="1 1"/><geom type="mesh" mesh="cube"/>'
    '<site name="s" zaxis="1 0 1"/></body></body>'
    '<body name="c"><joint name="k" type="slide" ref=".2" frictionloss="1"/><inertial pos="0 0 0" mass="1" '
    'fullinertia="1 1 1 0 0 .1"/><site name="t" axisangle="1 0 0 30"/></body>',
    '<asset><mesh name="cube" file="cube.obj" inertia="convex"/></asset><include file="more.xml"/>'
    '<default><default class="x"><joint damping="1"/></default></default>'
    '<tendon><fixed name="f" stiffness="1"><joint joint="j" coef="2"/><joint joint="k" coef="1"/></fixed>'
    '<spatial name="r"><site site="s"/><site site="t"/></spatial></tendon>'
    '<equality><connect body1="b" body2="c" anchor="0 0 0"/><weld body1="a" body2="c"/><tendon tendon1="r"/>'
    '<joint joint1="j" joint2="k" polycoef="0 1 2"/></equality>'
    '<actuator><position joint="j" gear="3" kp="2"/><motor tendon="f"/><motor site="s" gear="0 0 1"/></actuator>'
    '<keyframe><key name="start" qpos="1 0 0 0 1 0 0 0 1 0 0 0 0 0 1 1 0 0 0 .1 .2"/></keyframe>',
)
SEEDS = (ARM, MIXED, MIXED)
WORDS = (
    *(
        "",
        "nan",
        "inf",
        "-1",
        "0",
        "1e308",
        "1e-320",
        "0 0",
        "0 0 0",
        "1 0 0 0",
        "9" * 400,
        "../secret.xml",
        "/etc/passwd",
    ),
    *("world", "a b", "é", "t", "a", "j", "true", "auto", "free", "ball", "mesh", "plane", "capsule", "x", "400000"),
)
TAGS = (
    "body",
    "joint",
    "freejoint",
    "geom",
    "site",
    "frame",
    "replicate",
    "include",
    "default",
    "compiler",
    "inertial",
)
TAGS += (
    "option",
    "equality",
    "weld",
    "tendon",
    "fixed",
    "spatial",
    "actuator",
    "motor",
    "asset",
    "flexcomp",
    "keyframe",
)
KEYS = (
    "name",
    "class",
    "childclass",
    "type",
    "file",
    "pos",
    "euler",
    "count",
    "mass",
    "size",
    "fromto",
    "mesh",
    "ref",
    "axis",
)
MUTATED = 500
LONGEST = 5.0  # s of one file; one takes milliseconds


def mutated(rng: random.Random) -> str:
    """A file with some attributes, elements and letters changed, lost, doubled or moved."""
    text = rng.choice(SEEDS)
    for _ in range(rng.randint(1, 4)):
        values = list(re.finditer(r'"([^"]*)"', text)) or [re.match("", text)]
        elements = list(re.finditer(r"<[^<>]*>", text)) or [re.match("", text)]
        value, element, other = rng.choice(values), rng.choice(elements), rng.choice(elements)
        match rng.randrange(8):
            case 0 | 1:
                text = f'{text[: value.start()]}"{rng.choice(WORDS)}"{text[value.end() :]}'
            case 2:
                text = text[: element.start()] + text[element.end() :]
            case 3:
                text = text[: element.start()] + other.group() + text[element.start() :]
            case 4:
                text = text[: element.start()] + f"<{rng.choice(TAGS)}/>" + text[element.start() :]
            case 5:
                added = f' {rng.choice(KEYS)}="{rng.choice(WORDS)}"'
                text = (
                    re.sub(r"(?<=\w)(?=/?>)", added, text, count=1)
                    if rng.random() < 0.1
                    else _keyed(text, element, added)
                )
            case 6:
                text = text.replace(f"<{rng.choice(TAGS)} ", f"<{rng.choice(TAGS)} ", rng.randint(1, 2))
            case _:
                place = rng.randrange(len(text) + 1)
                text = text[:place] + rng.choice("<>/&\"'\0 9-.é") + text[place + rng.randint(0, 3) :]
    return text


def _keyed(text: str, element: re.Match, added: str) -> str:
    end = element.end() - (2 if element.group().endswith("/>") else 1)
    return text[:end] + added + text[end:]


def outcome(text: str, folder: Path) -> str:
    path = folder / "m.xml"
    path.write_bytes(text.encode())
    try:
        read(path)
    except KalabaError as error:
        is_placed = str(error).startswith(("m.xml", "more.xml", str(path)))
        return "KalabaError" if is_placed else f"without its place: {error}"
    return "System"


def fuzz(count: int, folder: Path, monkeypatch, seed: int) -> Counter:
    inside = folder / "robot"
    inside.mkdir()
    (folder / "secret.xml").write_text("<any/>", encoding="utf-8")
    (inside / "more.xml").write_text('<any><option gravity="0 0 -1"/></any>', encoding="utf-8")
    (inside / "cube.obj").write_text(CUBE, encoding="utf-8")
    opened: list[Path] = []
    text_of, bytes_of = Source.text, Path.read_bytes
    monkeypatch.setattr(Source, "text", lambda self: opened.append(self.path) or text_of(self))
    monkeypatch.setattr(Path, "read_bytes", lambda self: opened.append(self) or bytes_of(self))
    rng, outcomes = random.Random(seed), Counter()
    with memory.below(memory.FILES):
        for _ in range(count):
            text, started = mutated(rng), time.process_time()
            outcomes[outcome(text, inside)] += 1
            assert time.process_time() - started < LONGEST, text
    assert set(outcomes) <= {"System", "KalabaError"}
    assert {path.resolve().parent for path in opened} == {inside.resolve()}
    return outcomes


def test_mutated_files_are_read_or_refused_with_their_place(tmp_path, monkeypatch):
    outcomes = fuzz(MUTATED, tmp_path, monkeypatch, seed=14)
    assert min(outcomes["System"], outcomes["KalabaError"]) > MUTATED // 10  # both happen


@pytest.mark.long
def test_ten_thousand_mutated_files_are_read_or_refused(tmp_path, monkeypatch):
    fuzz(10_000, tmp_path, monkeypatch, seed=2014)
