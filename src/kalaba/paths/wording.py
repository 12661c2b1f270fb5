"""Texts of kalaba's expressions, put together from numbers and other texts."""

from __future__ import annotations

from collections.abc import Iterable

from kalaba.model.text.expressions import Name, parse, unparse
from kalaba.model.text.grammar import TIME
from kalaba.model.text.syntax import postorder


def weighted_sum(constant: float, terms: Iterable[tuple[float, str]]) -> str:
    """The sum constant + Σ weight · text, without what is zero; weights of one text are added up."""
    weights: dict[str, float] = {}
    for weight, text in terms:
        weights[text] = weights.get(text, 0.0) + weight
    pieces = [repr(constant)] if constant else []
    pieces += [text if weight == 1 else f"{weight!r}*{text}" for text, weight in weights.items() if weight]
    return " + ".join(pieces).replace("+ -", "- ") or "0"


def at_time(text: str, time: str) -> str:
    """A text with another text in place of t."""
    expression = parse(text)
    places = sorted(n.position for n in postorder(expression.tree) if isinstance(n, Name) and n.name == TIME)
    pieces, end = [], 0
    for place in places:
        pieces += [expression.text[end:place], time]
        end = place + len(TIME)
    return unparse(parse("".join([*pieces, expression.text[end:]])).tree)
