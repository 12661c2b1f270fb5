"""Docstrings for the reference: they are plain text with `code` and equations, and Markdown is to take them so."""  # noqa: INP001

import re

import griffe

ANNOUNCED = re.compile(r"::$", re.MULTILINE)  # an equation follows, indented
ALONE = re.compile(r"^::\n\n", re.MULTILINE)  # it comes first: nothing to announce
PLAIN = re.compile(r"^(?!    ).+$", re.MULTILINE)  # lines that are no equation
MARKUP = re.compile(r"`[^`]*`|[\[*<]")  # code, or a sign that Markdown would take for its own


class PlainText(griffe.Extension):
    """Escape what Markdown would read into a docstring, and write `::` as the `:` that it reads as."""

    def on_instance(self, *, obj: griffe.Object, **_: object) -> None:
        """Mend one docstring."""
        if obj.docstring is not None:
            text = ANNOUNCED.sub(":", ALONE.sub("", obj.docstring.value))
            obj.docstring.value = PLAIN.sub(lambda line: MARKUP.sub(_escaped, line[0]), text)


def _escaped(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith("`") else f"\\{found[0]}"
