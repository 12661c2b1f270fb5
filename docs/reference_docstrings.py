"""Docstrings for the reference: plain text with `code`, equations, and sections such as `Arguments:`."""  # noqa: INP001

import re

import griffe

ALONE = re.compile(r"^::\n\n", re.MULTILINE)  # an equation comes first: nothing to announce
SECTION = re.compile(r"^(Arguments|Returns|Raises|Yields):$")
TITLE = re.compile(r"^[\w\s-]+:$")  # a line that would be taken for the title of a section
MARKUP = re.compile(r"`[^`]*`|[\[*<]")  # code, or a sign that Markdown would take for its own
NAMED = re.compile(r"^( {4}\S+: )(.*)$")  # an argument and what is said of it
COLON = "&#58;"  # which no title ends with


class PlainText(griffe.Extension):
    """Escape what Markdown would read into a docstring, and write `::` as the `:` that it reads as."""

    def on_instance(self, *, obj: griffe.Object, **_: object) -> None:
        """Mend one docstring."""
        if obj.docstring is not None:
            obj.docstring.value = plain_text(obj.docstring.value)


def plain_text(text: str) -> str:
    """A docstring as Markdown: equations stay as they are, the words of sections and paragraphs are escaped."""
    lines, is_section = [], False
    for line in ALONE.sub("", text).split("\n"):
        is_indented = line.startswith("    ")
        if line and not is_indented:
            is_section = bool(SECTION.match(line))
        if is_indented and not is_section:
            lines.append(line)
        elif is_indented and (named := NAMED.match(line)):
            lines.append(named[1] + _escaped(named[2]))
        else:
            lines.append(line if is_section else _announced(_escaped(line)))
    return "\n".join(lines)


def _announced(line: str) -> str:
    """`...::` before an equation as `...:`."""
    if not line.endswith("::"):
        return line
    return f"{line[:-2]}{COLON}" if TITLE.match(line[:-1]) else line[:-1]


def _escaped(line: str) -> str:
    return MARKUP.sub(lambda sign: sign[0] if sign[0].startswith("`") else f"\\{sign[0]}", line)
