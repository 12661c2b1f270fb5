"""The reference lists what `import kalaba` shows: a page asks for groups of names, the build puts them in.

<!-- names: describing; the catalogue -->        those groups
<!-- names: others -->                           the groups that no other page asks for
"""  # noqa: INP001

import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import kalaba

HERE = Path(__file__).parent
MARKER = re.compile(r"^<!-- names: (.*) -->$", re.MULTILINE)
OTHERS = "others"
VALUES = {"X", "Y", "Z"}  # no docstring of their own; the page says what they are


def groups() -> dict[str, list[str]]:
    """Public names as dotted paths, under the comment that heads them in the stub."""
    text = (HERE.parent / "src" / "kalaba" / "__init__.pyi").read_text(encoding="utf-8")
    found: dict[str, list[str]] = {}
    for comment, home, name in re.findall(r"^(?:# (.*)|from ([\w.]+) import (\w+) as \w+)$", text, re.MULTILINE):
        if comment:
            found[comment] = []
        elif name not in VALUES:
            found[next(reversed(found))].append(f"{home}.{name}")
    return found


def asked() -> set[str]:
    """Groups that some page asks for by name."""
    pages = (path.read_text(encoding="utf-8") for path in HERE.glob("reference*.md"))
    return {name for page in pages for marker in MARKER.findall(page) for name in marker.split("; ")} - {OTHERS}


def on_page_markdown(markdown: str, **_: object) -> str:
    """Put the names in; mkdocs calls this for every page."""
    return MARKER.sub(lambda marker: _listing(marker[1].split("; ")), markdown)


def _listing(wanted: list[str]) -> str:
    known = groups()
    chosen = [name for name in known if name not in asked()] if wanted == [OTHERS] else wanted
    return "\n\n".join(part for name in chosen for part in (f"## {_title(name)}", *_entries(known[name])))


def _entries(paths: list[str]) -> Iterator[str]:
    """Directives of mkdocstrings; a module such as `kb.path` gives one for each public name not listed before."""
    modules, listed = [], {path for known in groups().values() for path in known}
    for path in paths:
        public = next(name for name, home in kalaba._NAMES.items() if ".".join(home) == path)  # noqa: SLF001
        value = getattr(kalaba, public)
        if isinstance(value, ModuleType):
            modules.append((public, value))
        else:
            yield f"::: {path}"
    for public, module in modules:
        yield f"## kb.{public}"
        yield (module.__doc__ or "").strip()
        for name in module.__all__:
            own = getattr(module, name)
            if isinstance(own, ModuleType) or not (own.__doc__ and hasattr(own, "__name__")):
                continue
            if (path := f"{own.__module__}.{own.__name__}") not in listed:
                listed.add(path)
                yield f"::: {path}"


def _title(words: str) -> str:
    return words[0].upper() + words[1:]
