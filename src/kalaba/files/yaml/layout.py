"""Data → YAML text that reads well: what is short stands on one line, names line up, nothing is quoted without need."""

from __future__ import annotations

import json
import math
import re
from textwrap import wrap
from typing import Any

from kalaba.files.yaml.tree import scalar

WIDTH = 120
WIDEST_NAME = 24  # names up to this length line up
_INNER = r"[^#:,\[\]{}\"'`\\&!|>%@\x00-\x1f]*"
_PLAIN = re.compile(rf"[A-Za-z0-9_.(/+°µ]{_INNER}|-[A-Za-z0-9_.(]{_INNER}")  # no quotes needed, in a flow map either
_UNUSUAL = r"\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff"  # characters that are escaped
_ESCAPED = re.compile(f"[{_UNUSUAL}]")
_PROSE = re.compile(rf"[^\s{_UNUSUAL}]+(?: [^\s{_UNUSUAL}]+)*")  # words with one space between them


def laid_out(data: dict[str, Any]) -> str:
    """A whole file."""
    return "".join(f"{line}\n" for key, value in data.items() for line in _section(key, value))


def laid_out_json(data: dict[str, Any]) -> str:
    """A whole file as JSON, which has no infinite numbers: they are texts."""
    return json.dumps(_finite(data), indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_finite(entry) for entry in value]
    return _scalar(value) if isinstance(value, float) and not math.isfinite(value) else value


def _section(key: str, value: Any) -> list[str]:
    """A section: parts one under the other."""
    if isinstance(value, dict) and value and (key in _BLOCKS or not _fits(f"{_scalar(key)}: {flow(value)}", 0)):
        return [f"{_scalar(key)}:", *_block(value, 2)]
    return _entry(key, value, 0, 0)


_BLOCKS = {
    "systems",
    "parameters",
    "place",
    "bodies",
    "frames",
    "connections",
    "constraints",
    "actuators",
    "thrusters",
    "springs",
    "rotors",
    "forces",
    "outputs",
    "start",
}


def _block(entries: dict[str, Any], indent: int) -> list[str]:
    names = [_scalar(name) for name in entries]
    longest = max(map(len, names))
    widest = longest if longest <= WIDEST_NAME else 0
    lined = all(_fits(f"{' ' * widest}: {flow(value)}", indent) for value in entries.values())
    lines: list[str] = []
    for key, value in entries.items():
        lines += _entry(key, value, indent, widest if lined else 0)
    return lines


def _entry(key: str, value: Any, indent: int, widest: int) -> list[str]:
    """A key with its value, on one line if it fits."""
    name, margin = _scalar(key), " " * indent
    line = f"{margin}{f'{name}:'.ljust(widest + 1)} {flow(value)}"
    if len(line) <= WIDTH or not value:
        return [line]
    if isinstance(value, dict):
        return [f"{margin}{name}:", *_block(value, indent + 2)]
    if isinstance(value, list):
        return [f"{margin}{name}:", *_items(value, indent + 2)]
    if isinstance(value, str) and _PROSE.fullmatch(value):
        inner = " " * (indent + 2)
        wrapped = wrap(value, WIDTH - len(inner), break_long_words=False, break_on_hyphens=False)
        return [f"{margin}{name}: >-", *(f"{inner}{piece}" for piece in wrapped)]
    return [line]


def _items(values: list[Any], indent: int) -> list[str]:
    """A list: as many to a line as fit if they are scalars, else one per line."""
    margin = " " * indent
    if any(isinstance(value, dict | list) for value in values):
        return [line for value in values for line in _item(value, indent)]
    lines, line = [], f"{margin}["
    for index, value in enumerate(values):
        text = flow(value) + ("]" if index == len(values) - 1 else ",")
        if len(line) + len(text) + 1 > WIDTH and line.strip() not in {"", "["}:
            lines.append(line.rstrip())
            line = f"{margin} "
        line += text if line.endswith(("[", " ")) else f" {text}"
    return [*lines, line]


def _item(value: Any, indent: int) -> list[str]:
    """One entry of a list, behind a dash."""
    margin, line = " " * indent, flow(value)
    if not isinstance(value, dict) or indent + 2 + len(line) <= WIDTH:
        return [f"{margin}- {line}"]
    first, *others = _block(value, indent + 2)
    return [f"{margin}- {first.lstrip()}", *others]


def _fits(text: str, indent: int) -> bool:
    return indent + len(text) <= WIDTH


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_scalar(key)}: {flow(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return _scalar(value)


def _scalar(value: Any) -> str:
    """A scalar, quoted only where it would be read as something else."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "-.inf" if value < 0 else ".inf"
    if isinstance(value, int):
        return repr(value)
    text = str(value)
    is_plain = _PLAIN.fullmatch(text) and text == text.strip() and isinstance(scalar(text), str) and "  " not in text
    if is_plain and not _ESCAPED.search(text):
        return text
    return json.dumps(text, ensure_ascii=bool(_ESCAPED.search(text)))
