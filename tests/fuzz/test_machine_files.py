"""A damaged YAML or JSON file of a machine is a machine, or refused in one line, in time."""
# ruff: noqa: E501, T201  (tables read along their rows; counts are printed)

import random
from collections.abc import Callable
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

import kalaba as kb
from fuzz.outcomes import Tally

MACHINES = ("four-bar", "delta", "two-arm-screw", "differential-drive")
PIECES = (b"\0", b"[", b"{", b"[[[[", b"\xff", b"\r", b": ", b"- ", b"&a ", b"*a", b"!!x ", b"\xe2\x80\xa8", b"'", b'"')
VALUES = (
    b"&a [*a, *a]", b"&a {b: *a}", b"*nothing", b"? [1, 2]", b"!!python/object/apply:os.system ['echo']", b"<<: *x", b"---", b"%YAML 9.9", b"\t- x", b"2001-99-99",
    b"2020-01-01", b"0x", b"1_0:99:99", b"!!binary abc", b"!!timestamp x", b"!!set {a}", b"!!omap [a]", b"!!int abc", b"!!float z", b"{}: {}", b"[]: 1", b"null", b"|\n  a",
    b"!", b'"\\xZZ"', b"!!merge x", b"9" * 5000, b"1e999", b"-.inf", b".nan", b"{a: 1}", b"true", b"x" * 5000, b"(" * 400, b"0 m", b"-1 kg", b"1 parsec",
)  # fmt: skip


def lines(content: bytes, change: Callable[[list[bytes]], object]) -> bytes:
    split = content.split(b"\n")
    change(split)
    return b"\n".join(split)


def cut(content: bytes, rng: random.Random) -> bytes:
    return content[: rng.randrange(len(content))]


def flipped(content: bytes, rng: random.Random) -> bytes:
    changed = bytearray(content)
    for _ in range(rng.choice((1, 1, 3, 20))):
        changed[rng.randrange(len(changed))] ^= 1 << rng.randrange(8)
    return bytes(changed)


def inserted(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(len(content))
    return content[:place] + rng.choice(PIECES) + content[place + rng.choice((0, 1)) :]


def without_a_line(content: bytes, rng: random.Random) -> bytes:
    return lines(content, lambda split: split.pop(rng.randrange(len(split))))


def with_a_line_twice(content: bytes, rng: random.Random) -> bytes:
    return lines(content, lambda split: split.insert(rng.randrange(len(split)), rng.choice(split)))


def shifted(content: bytes, rng: random.Random) -> bytes:
    place = rng.randrange(content.count(b"\n") + 1)
    return lines(content, lambda split: split.insert(place, rng.choice((b" ", b"    ", b"\t")) + split.pop(place)))


def with_another_value(content: bytes, rng: random.Random) -> bytes:
    def change(split: list[bytes]) -> None:
        place = rng.choice([number for number, line in enumerate(split) if b":" in line])
        split[place] = split[place].split(b":")[0] + b": " + rng.choice(VALUES)

    return lines(content, change)


def nested(content: bytes, rng: random.Random) -> bytes:
    count, opening = rng.choice((50, 500, 5000, 100_000)), rng.choice((b"[", b"{a: ", b"- ", b"a:\n "))
    place = rng.choice((0, len(content), content.find(b"\n") + 1))
    return content[:place] + opening * count + rng.choice((b"", b"]" * count)) + content[place:]


def multiplied(content: bytes, rng: random.Random) -> bytes:
    """Aliases of aliases, nine times as many on each line."""
    letters = "abcdefghijkl"
    more = (f"{b}: &{b} [{','.join([f'*{a}'] * 9)}]" for a, b in pairwise(letters))
    return "\n".join(["a: &a [x,x,x]", *more, ""]).encode() + rng.choice((content, b""))


def in_other_letters(content: bytes, rng: random.Random) -> bytes:
    return content.decode().encode(rng.choice(("utf-16", "utf-32", "cp037")), "replace")


def noise(content: bytes, rng: random.Random) -> bytes:
    return rng.randbytes(rng.choice((0, 1, 10, 1000)))


DAMAGES = (
    cut, flipped, flipped, inserted, inserted, without_a_line, with_a_line_twice, shifted, with_another_value, with_another_value, nested, multiplied,
    in_other_letters, noise,
)  # fmt: skip


@cache
def whole(name: str, suffix: str) -> bytes:
    return kb.scenario(name).save(f"whole{suffix}").read_bytes()


def fuzzed(count: int, seed: int) -> Tally:
    """Machines from files, each damaged in one way."""
    tally, rng = Tally(), random.Random(seed)
    for _ in range(count):
        suffix, damage = rng.choice((".yaml", ".yaml", ".yaml", ".json")), rng.choice(DAMAGES)
        place = Path(f"damaged{suffix}")
        place.write_bytes(damage(whole(rng.choice(MACHINES), suffix), rng))
        tally.judge(lambda place=place: kb.scenario(place).system.machine, f"{damage.__name__}{suffix}")
    return tally


def test_a_damaged_file_of_a_machine_is_refused_in_one_line(seed):
    tally = fuzzed(100, seed)
    assert tally.wrong == []
    assert tally.counts["refused"] > 50
    assert tally.counts["done"] > 0


@pytest.mark.long
def test_a_thousand_damaged_files_of_machines(seed, capsys):
    tally = fuzzed(1000, seed)
    with capsys.disabled():
        print(f"\n{tally.report('damaged files of machines', seed)}")
    assert tally.wrong == []
