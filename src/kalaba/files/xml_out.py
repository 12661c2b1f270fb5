"""XML that is written: elements with attributes, a text or elements in them."""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from kalaba.space.arrays import Array

Content = str | float | Array


@dataclass
class Tag:
    """An element that is written: attributes in order, elements in it, or a text."""

    name: str
    attributes: dict[str, Content] = field(default_factory=dict)
    children: list[Tag] = field(default_factory=list)
    text: Content = ""

    def add(self, tag: str, /, **attributes: Content) -> Tag:
        """An element in this one."""
        child = Tag(tag, dict(attributes))
        self.children.append(child)
        return child

    def say(self, tag: str, text: Content, /, **attributes: Content) -> Tag:
        """An element in this one that holds a text."""
        child = self.add(tag, **attributes)
        child.text = text
        return child

    def lines(self, depth: int = 0) -> list[str]:
        """As text."""
        said = "".join(f" {key}={quoteattr(_text(value))}" for key, value in self.attributes.items())
        indent, text = "  " * depth, escape(_text(self.text))
        if text:
            return [f"{indent}<{self.name}{said}>{text}</{self.name}>"]
        if not self.children:
            return [f"{indent}<{self.name}{said}/>"]
        inner = [line for child in self.children for line in child.lines(depth + 1)]
        return [f"{indent}<{self.name}{said}>", *inner, f"{indent}</{self.name}>"]


def _text(value: Content) -> str:
    if isinstance(value, str):
        return value
    return " ".join(repr(float(entry) + 0.0) for entry in np.atleast_1d(value))
