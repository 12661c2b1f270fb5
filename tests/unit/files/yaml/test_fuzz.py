"""Files with random damage give a machine or one line with the place: no traceback, no hang, no file from elsewhere."""

import builtins
import io
import os
import random
import re
import time
from pathlib import Path

import pytest

import kalaba as kb
import memory
from kalaba.errors import KalabaError
from kalaba.files.yaml.reading import read
from kalaba.files.yaml.writing import write
from kalaba.robots.catalogue import scenario

LONGEST = 10.0  # s per file, on a busy computer; files of this size take some 20 ms
PIECES = (
    *("{", "}", "[", "]", ":", ",", "- ", "&a ", "*a", "!!python/name:os.system", "? ", "|", ">", "%YAML 1.1", "---"),
    *(
        "null",
        "true",
        ".nan",
        ".inf",
        "-1",
        "0",
        "1e400",
        "1e-400",
        "9" * 500,
        "0.1 m",
        "3 furlong",
        "2 N*m",
        "1e99 deg",
    ),
    *("world", "../../../etc/passwd", "/etc/passwd", "extends: /etc/passwd\n", "systems: {a: ../x.yaml}\n", "<<: *a"),
    *(
        "sin(",
        "(" * 300,
        "a" * 3000,
        "x^" * 400,
        "\x00",
        "\x1b",
        "\ud800",
        "\u2028",
        "\ufeff",
        "'",
        '"',
        "\\",
        "#",
        "\t",
    ),
    *(
        "extends: seed.yaml\n",
        "place: {z: z}\n",
        "order: []\n",
        "remove: [crank]\n",
        "steps: [[input, 99]]",
        "kalaba: 2\n",
    ),
)


def seeds(folder: Path) -> list[str]:
    """Texts of sound files: loops, placed systems, beams, callables, servo control."""
    hinge = kb.Revolute(-kb.Y)
    leg = kb.System("leg", parts=(kb.Body("rod", kb.Rod(0.7, mass=1.0), joint=hinge), kb.Frame("foot", "rod.tip")))
    odd = kb.System(
        "odd",
        coordinates=("a",),
        parts=(
            kb.Parameter("g", 9.8, "m/s^2", "gravity"),
            leg.place("one", at=kb.Pose((0, 0, 1), rpy=(0, 0, 1.0)), parameters={"rod.mass": 2.0}),
            kb.Body("cam", kb.Cylinder("g/98", 0.1, mass=1), joint=kb.Revolute(kb.Z, q="2*a")),
            kb.Connection("held", "one.foot", parent="cam", joint=kb.Distance(0.3)),
            kb.Constraint("called", lambda m: {"p": m["a"] ** 2 - m["cam.angle"]}),
            kb.Force("pull", "cam", force=("sin(t)", 0, 1)),
            kb.Spring("soft", "a", stiffness=3.0),
        ),
        start=kb.Start(guess={"cam": kb.Pose((0, 0, 1))}),
    )
    machines = [odd, *(scenario(name) for name in ("four-bar", "flexible-four-bar", "planar-parallel", "two-arm-peg"))]
    machines.append(scenario("two-drive-carry"))
    texts = []
    for machine in machines:
        write(machine, folder / "seed.yaml")
        texts.append((folder / "seed.yaml").read_text(encoding="utf-8"))
    return texts


def damaged(text: str, rng: random.Random) -> str:
    """A text with some damage."""
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        lines, place = text.splitlines(keepends=True), rng.randrange(len(text) + 1)
        match rng.randrange(8):
            case 0:
                text = text[:place] + rng.choice(PIECES) + text[place:]
            case 1:
                text = text[:place] + text[place + rng.randrange(1, 30) :]
            case 2 if lines:
                text = "".join(line for line in lines if line is not rng.choice(lines))
            case 3 if lines:
                text = "".join([*lines, rng.choice(lines)])
            case 4:
                words = re.findall(r"[\w.]+", text) or ["x"]
                text = text.replace(rng.choice(words), rng.choice((rng.choice(words), rng.choice(PIECES))), 1)
            case 5 if lines:
                rng.shuffle(lines)
                text = "".join(lines)
            case 6:
                text = text[:place]
            case _:
                text = text[:place] + chr(rng.randrange(1, 0x3000)) + text[place + 1 :]
    return text


def refusal(path: Path) -> str:
    """Why a file is refused; nothing if it is read. Any other exception is a failure."""
    try:
        read(path)
    except KalabaError as error:
        return str(error) or "no message"
    return ""


def read_damaged(texts: list[str], folder: Path, numbers: range, monkeypatch: pytest.MonkeyPatch) -> tuple[int, int]:
    """How many files were read, and how many refused."""
    opened: set[str] = set()
    path = folder / "damaged.yaml"

    def watched(of):
        def open_watched(file, *args, **kwargs):
            opened.add(os.fspath(file) if not isinstance(file, int) else "")
            return of(file, *args, **kwargs)

        return open_watched

    counts = [0, 0]
    for number in numbers:
        rng = random.Random(number)
        text = damaged(rng.choice(texts), rng)
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        begun = time.perf_counter()
        with monkeypatch.context() as patch:
            patch.setattr(builtins, "open", watched(builtins.open))
            patch.setattr(io, "open", watched(io.open))
            message = refusal(path)
        assert "\n" not in message, (number, message)
        assert not message or "damaged.yaml" in message, (number, message)
        counts[bool(message)] += 1
        assert time.perf_counter() - begun < LONGEST, number
    inside = {str(folder)}
    assert {
        name for name in opened if "passwd" in name or ("x.yaml" in name and str(Path(name).parent) not in inside)
    } == set()
    return counts[0], counts[1]


def test_damaged_files_are_read_or_refused_on_one_line(tmp_path, monkeypatch):
    texts = seeds(tmp_path)
    with memory.below(memory.FILES):
        counts = read_damaged(texts, tmp_path, range(300), monkeypatch)
    assert min(counts) > 20  # both happen: the damage is neither all fatal nor all harmless


@pytest.mark.long
def test_ten_thousand_damaged_files_are_read_or_refused_on_one_line(tmp_path, monkeypatch):
    texts = seeds(tmp_path)
    with memory.below(memory.FILES):
        counts = read_damaged(texts, tmp_path, range(10_000, 20_000), monkeypatch)
    assert min(counts) > 500
