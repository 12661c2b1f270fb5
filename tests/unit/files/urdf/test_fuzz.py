"""Mutated files: a System, or a KalabaError that begins with the place; never anything else, never a hang."""

import random
import time
from collections import Counter

import pytest

import memory
from kalaba.errors import KalabaError
from kalaba.files.source import Source
from kalaba.files.urdf.machine import read
from unit.files.urdf.test_reading import ARM, ENDS, LOOPS, four_bar

SEEDS = (ARM, four_bar(LOOPS["URDF+"]), four_bar(LOOPS["urdfdom"]), four_bar(ENDS))
WORDS = (
    "",
    "nan",
    "inf",
    "-1",
    "1e308",
    "1e-320",
    "0 0",
    "0 0 0 0",
    "../../etc/passwd",
    "world",
    "a b",
    "é",
    "0x10",
    "t",
)
TAGS = ("link", "joint", "limit", "mimic", "inertia", "loop", "mesh filename='package://../x'", "constraint", "origin")
MUTATED = 400
LONGEST = 5.0  # s per file; one takes milliseconds


def mutated(rng: random.Random) -> str:
    """A file with some pieces changed, lost, doubled or swapped."""
    text = rng.choice(SEEDS)
    little = 20  # characters, of which nothing is left to change
    for _ in range(rng.randint(1, 4)):
        if len(text) < little:
            break
        i, j = sorted(rng.randrange(len(text)) for _ in range(2))
        match rng.randrange(7):
            case 0:  # a number or a name
                values = [k for k in range(len(text)) if text[k] == '"']
                k = rng.choice(values or [0])
                end = text.find('"', k + 1)
                text = text[: k + 1] + rng.choice(WORDS) + text[end:] if end > 0 else text
            case 1:
                text = text[:i] + text[min(j, i + 40) :]
            case 2:
                text = text[:j] + text[i : min(j, i + 200)] + text[j:]
            case 3:
                text = text[:i] + rng.choice("<>/&\"'\0 9-.é") + text[i:]
            case 4:
                k = text.find("<", i)
                text = text[:k] + f"<{rng.choice(TAGS)}/>" + text[k:] if k > 0 else text
            case 5:
                names = ("base", "wrist", "crank", "rocker", "shoulder", "rail", "revolute", "fixed", "prismatic")
                text = text.replace(rng.choice(names), rng.choice(names), rng.randint(1, 3))
            case _:
                text = text[:i]
    return text


def outcome(text: str, folder) -> str:
    """What came of a file. A problem begins with the file."""
    path = folder / "m.urdf"
    path.write_bytes(text.encode())
    try:
        read(path, base="free" if len(text) % 2 else "fixed")
    except KalabaError as error:
        return "KalabaError" if str(error).startswith(("m.urdf", str(path))) else f"no place: {error}"
    return "System"


def fuzz(count: int, folder, monkeypatch, seed: int) -> Counter:
    rng, opened, outcomes = random.Random(seed), [], Counter()
    text_of = Source.text
    monkeypatch.setattr(Source, "text", lambda self: opened.append(self.path) or text_of(self))
    with memory.below(memory.FILES):
        for _ in range(count):
            text = mutated(rng)
            started = time.process_time()
            outcomes[outcome(text, folder)] += 1
            assert time.process_time() - started < LONGEST
    assert set(outcomes) == {"System", "KalabaError"}
    assert {path.parent for path in opened} == {folder}
    return outcomes


def test_mutated_files_are_read_or_refused_with_their_place(tmp_path, monkeypatch):
    outcomes = fuzz(MUTATED, tmp_path, monkeypatch, seed=14)
    assert min(outcomes["System"], outcomes["KalabaError"]) > MUTATED // 20  # both happen


@pytest.mark.long
def test_ten_thousand_mutated_files_are_read_or_refused(tmp_path, monkeypatch):
    fuzz(10_000, tmp_path, monkeypatch, seed=2014)
